//! One case on one server: sends its steps, checks what comes back against what the case expects, and hands out the
//! answers. It knows neither recordings nor other servers.

use std::{collections::BTreeMap, time::Duration};

use http::{Method, Request, Response, StatusCode, header};
use kube::client::Body;
use serde_json::{Value, json};
use thiserror::Error;
use tokio::time::{Instant, sleep, timeout};

use crate::{
    answer::{self, Answer, Content, EventStream},
    body::NotHexadecimal,
    canonical::Canonical,
    difference::{Difference, Path},
    pattern,
    table::{Case, Step},
    target::{self, Caller, Target},
    variables::Variables,
};

/// The field manager of all writes is the part before the slash.
const USER_AGENT: &str = "conformance/1";

/// How long the head of an answer may take.
const HEAD_LIMIT: Duration = Duration::from_secs(30);

/// How long controllers may take until the answer is the expected one.
const EVENTUAL_LIMIT: Duration = Duration::from_secs(30);

/// How long to wait before asking again.
const EVENTUAL_PAUSE: Duration = Duration::from_millis(100);

/// What an API server answers with 429 while the watch cache of a kind fills, as it does after every start and for every
/// new definition. Clients ask again, and so does a case: it is an answer about the server's state, not about the request.
const STORAGE_INITIALIZING: &str = "storage is (re)initializing";

/// What became of a case.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The answers to the compared steps, up to the first that could not be read.
    pub answers: Vec<Answer>,
    /// What was not as expected.
    pub failures: Vec<Failure>,
}

/// A step that went wrong.
#[derive(Debug)]
pub struct Failure {
    /// Which part of the case, and which step of it, counted from 1.
    pub step: String,
    /// Why, in lines.
    pub reasons: Vec<String>,
}

/// Why a step has no answer.
#[derive(Debug, Error)]
pub enum Error {
    /// The step is not a method and a path.
    #[error("{0:?} is no request: write a method, a blank and a path")]
    Request(String),
    /// The body is unusable.
    #[error(transparent)]
    Body(#[from] NotHexadecimal),
    /// The caller or the client is unusable.
    #[error(transparent)]
    Target(#[from] target::Error),
    /// The client could not send.
    #[error("the request cannot be sent: {0}")]
    Send(#[from] kube::Error),
    /// No answer came.
    #[error("no answer came for {} seconds", HEAD_LIMIT.as_secs())]
    Silent,
    /// The answer is unreadable.
    #[error(transparent)]
    Answer(#[from] answer::Error),
    /// No step opened this stream.
    #[error("no step opened the stream {0:?}")]
    Stream(String),
}

/// Runs a case.
pub async fn case(target: &dyn Target, canonical: &Canonical, case: &Case) -> Outcome {
    let mut scene = Scene::new(target, canonical, case);
    let mut outcome = Outcome::default();
    match scene.prepare(case).await {
        Ok(()) => scene.play(&case.steps, &mut outcome).await,
        Err(failure) => outcome.failures.push(failure),
    }
    for step in &case.cleanup {
        // What it should take away may never have been made.
        drop(scene.ask(step).await);
    }
    outcome
}

/// A running case.
struct Scene<'a> {
    target: &'a dyn Target,
    canonical: &'a Canonical,
    variables: Variables,
    streams: BTreeMap<String, EventStream>,
}

impl<'a> Scene<'a> {
    fn new(target: &'a dyn Target, canonical: &'a Canonical, case: &Case) -> Self {
        Self {
            target,
            canonical,
            variables: Variables::of_case(&case.id),
            streams: BTreeMap::new(),
        }
    }

    /// Makes the namespace and takes the steps of the setup, which must succeed.
    async fn prepare(&mut self, case: &Case) -> Result<(), Failure> {
        let mut steps = Vec::new();
        if case.needs_namespace() {
            steps.push(Step {
                request: "POST /api/v1/namespaces".to_owned(),
                body: Some(json!({"metadata": {"name": "${ns}"}})),
                ..Step::default()
            });
        }
        steps.extend_from_slice(&case.setup);
        for (index, step) in steps.iter().enumerate() {
            let (answer, mut reasons) = self.take(step).await;
            let is_success = answer.as_ref().is_some_and(|it| (200..300).contains(&it.status));
            if step.status.is_none() && !is_success {
                reasons.push(format!("is no success: {answer:?}"));
            }
            if !reasons.is_empty() {
                return Err(failure("setup", index, step, reasons));
            }
        }
        Ok(())
    }

    async fn play(&mut self, steps: &[Step], outcome: &mut Outcome) {
        for (index, step) in steps.iter().enumerate() {
            let (answer, reasons) = self.take(step).await;
            let is_over = answer.is_none();
            outcome.answers.extend(answer);
            if !reasons.is_empty() {
                outcome.failures.push(failure("step", index, step, reasons));
            }
            if is_over {
                break;
            }
        }
    }

    /// Asks, again if that was asked for or if the server was not ready, and gives the last answer with the reasons why it
    /// is not the expected one.
    async fn take(&mut self, step: &Step) -> (Option<Answer>, Vec<String>) {
        let start = Instant::now();
        loop {
            let variables = self.variables.clone();
            let (answer, reasons) = match self.ask(step).await {
                Ok(mut answer) => {
                    answer.content = self.canonical.in_order(answer.content);
                    let reasons = self.check(step, &answer);
                    (Some(answer), reasons)
                }
                Err(error) => (None, vec![error.to_string()]),
            };
            let is_initializing = answer.as_ref().is_some_and(is_initializing);
            let ask_again = is_initializing || (step.eventually && !reasons.is_empty());
            if !ask_again || start.elapsed() > EVENTUAL_LIMIT {
                return (answer, reasons);
            }
            self.variables = variables;
            sleep(EVENTUAL_PAUSE).await;
        }
    }

    async fn ask(&mut self, step: &Step) -> Result<Answer, Error> {
        if let Some(name) = &step.on {
            let stream = self.streams.get_mut(name).ok_or_else(|| Error::Stream(name.clone()))?;
            return Ok(Answer {
                content: read_events(stream, step).await?,
                ..Answer::default()
            });
        }
        let response = self.send(step).await?;
        let mut answer = answer::head(&response);
        let mut stream = EventStream::new(Body::empty());
        if response.status().is_success() && (step.events.is_some() || step.open.is_some()) {
            stream = EventStream::new(response.into_body());
            answer.content = read_events(&mut stream, step).await?;
        } else {
            answer.content = answer::read(response.into_body()).await?;
        }
        if let Some(name) = &step.open {
            self.streams.insert(name.clone(), stream);
        }
        Ok(answer)
    }

    async fn send(&self, step: &Step) -> Result<Response<Body>, Error> {
        let mut request = self.request(step)?;
        let caller = Caller::of_table(step.caller.as_ref(), &self.variables)?;
        let client = self.target.prepare(&caller, &mut request)?;
        let response = timeout(HEAD_LIMIT, client.send(request)).await;
        Ok(response.map_err(|_| Error::Silent)??)
    }

    fn request(&self, step: &Step) -> Result<Request<Body>, Error> {
        let line = self.variables.in_text(&step.request);
        let invalid = || Error::Request(line.clone());
        let (method, path) = line.split_once(' ').ok_or_else(invalid)?;
        let bytes = step.body().bytes(&self.variables)?;
        let mut builder = Request::builder()
            .method(Method::from_bytes(method.as_bytes()).map_err(|_| invalid())?)
            .uri(path)
            .header(header::USER_AGENT, USER_AGENT)
            .header(header::ACCEPT, step.accept.as_deref().unwrap_or("application/json"));
        if let Some(media_type) = media_type(step, &bytes) {
            builder = builder.header(header::CONTENT_TYPE, media_type);
        }
        for (name, value) in &step.headers {
            builder = builder.header(name, self.variables.in_text(value));
        }
        builder.body(Body::from(bytes)).map_err(|_| invalid())
    }

    fn check(&mut self, step: &Step, answer: &Answer) -> Vec<String> {
        let mut reasons = Vec::new();
        if let Some(expected) = step.status
            && expected != answer.status
        {
            let body = content_value(&answer.content).unwrap_or_default();
            let status = Difference::new(
                &Path::root().field("status"),
                Some(&expected.into()),
                Some(&answer.status.into()),
            );
            reasons.push(format!("{status}\n        with     {body}"));
        }
        for (name, expected) in &step.answer {
            let value = answer.headers.get(name).map(|values| values.join("\n").into());
            let found = pattern::check(expected, value.as_ref(), &mut self.variables);
            reasons.extend(found.iter().map(|it| format!("header {name}: {it}")));
        }
        let expected = step.events.clone().map(Value::Array).or_else(|| step.expect.clone());
        if let Some(expected) = expected {
            let value = content_value(&answer.content);
            let found = pattern::check(&expected, value.as_ref(), &mut self.variables);
            reasons.extend(found.iter().map(ToString::to_string));
        }
        reasons
    }
}

fn is_initializing(answer: &Answer) -> bool {
    answer.status == StatusCode::TOO_MANY_REQUESTS.as_u16()
        && matches!(&answer.content, Content::Json(body) if body["message"] == STORAGE_INITIALIZING)
}

/// The media type of a step, JSON for a body that does not say; an empty one sends none.
fn media_type<'a>(step: &'a Step, bytes: &[u8]) -> Option<&'a str> {
    match step.media_type.as_deref() {
        Some("") => None,
        Some(media_type) => Some(media_type),
        None => (!bytes.is_empty()).then_some("application/json"),
    }
}

async fn read_events(stream: &mut EventStream, step: &Step) -> Result<Content, Error> {
    let count = step.events.as_ref().map_or(0, Vec::len);
    Ok(match (step.end, count) {
        (true, _) => Content::LastEvents(stream.read_all().await?),
        (false, 0) => Content::Empty,
        (false, count) => Content::Events(stream.read(count).await?),
    })
}

fn content_value(content: &Content) -> Option<Value> {
    match content {
        Content::Empty => None,
        Content::Json(value) => Some(value.clone()),
        Content::Text(text) => Some(text.clone().into()),
        Content::Events(events) | Content::LastEvents(events) => Some(Value::Array(events.clone())),
    }
}

fn failure(part: &str, index: usize, step: &Step, reasons: Vec<String>) -> Failure {
    Failure {
        step: format!("{part} {}: {}", index + 1, step.title()),
        reasons,
    }
}
