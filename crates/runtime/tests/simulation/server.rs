//! The in-memory API server as a tower service: routes, verbs, and the faults that a network adds.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use hyper::body::Bytes;
use hyperplane_runtime::{BoxError, Clock, Random};
use kube::{Client, client::Body};
use serde_json::{Value, json};
use tokio::{sync::watch, time::Instant};
use tokio_util::sync::CancellationToken;
use tower::service_fn;

use crate::{
    state::{Id, Line, Refusal, State},
    streams,
};

pub type Answer = Response<UnsyncBoxBody<Bytes, BoxError>>;

/// How unkind the network is, in percent per request, and when a process dies.
#[derive(Clone, Copy, Default)]
pub struct Faults {
    pub percent: u64,
    pub is_watch_flaky: bool,
}

/// A process is to die at its n-th request: before it takes effect, or after it but before the answer.
#[derive(Clone)]
pub struct Crash {
    pub at_request: usize,
    pub is_after_effect: bool,
    pub token: CancellationToken,
}

#[derive(Clone)]
pub struct Server(pub Arc<Shared>);

pub struct Shared {
    pub inner: Mutex<Inner>,
    pub revisions: watch::Sender<u64>,
    pub clock: Clock,
    pub start: Instant,
}

pub struct Inner {
    pub state: State,
    pub random: Random,
    pub faults: Faults,
    pub trace: Vec<Line>,
    pub violations: Vec<String>,
    pub crash: Option<Crash>,
    pub requests: usize,
    pub partitioned: Option<String>,
    /// How this server says that a version is too old: as an answer, or inside of the stream. Both exist in the field.
    pub is_gone_an_answer: bool,
}

/// What a request is about.
pub struct Route {
    pub plural: String,
    pub namespace: String,
    pub name: String,
    pub subresource: Option<String>,
    pub query: Vec<(String, String)>,
}

impl Server {
    pub fn new(seed: u64, clock: Clock) -> Self {
        Self(Arc::new(Shared {
            inner: Mutex::new(Inner {
                state: State::default(),
                random: Random::named(seed, "server"),
                faults: Faults::default(),
                trace: Vec::new(),
                violations: Vec::new(),
                crash: None,
                requests: 0,
                partitioned: None,
                is_gone_an_answer: seed.is_multiple_of(2),
            }),
            revisions: watch::Sender::new(0),
            clock,
            start: Instant::now(),
        }))
    }

    pub fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A client for one process.
    pub fn client(&self, actor: &str) -> Client {
        let (server, actor) = (self.clone(), actor.to_owned());
        let service = service_fn(move |request: Request<Body>| {
            let (server, actor) = (server.clone(), actor.clone());
            async move { server.handle(&actor, request).await }
        });
        Client::new(service, "default")
    }

    /// A direct change of the state by a user, with its line in the trace.
    pub fn act<T>(&self, verb: &'static str, id: &Id, act: impl FnOnce(&mut State) -> T) -> T {
        let mut inner = self.lock();
        let result = act(&mut inner.state);
        let revision = inner.state.revision;
        self.note(&mut inner, "user", verb, &label(id), revision.to_string());
        drop(inner);
        self.0.revisions.send_replace(revision);
        result
    }

    pub fn note(&self, inner: &mut Inner, actor: &str, verb: &'static str, object: &str, result: String) {
        inner.trace.push(Line {
            at: self.0.start.elapsed().as_millis(),
            actor: actor.to_owned(),
            verb,
            object: object.to_owned(),
            result,
        });
    }

    async fn handle(&self, actor: &str, request: Request<Body>) -> Result<Answer, BoxError> {
        let (parts, body) = request.into_parts();
        let route = Route::parse(&parts.uri);
        let body = body.collect_bytes().await?;
        let fault = self.draw(parts.method != Method::GET);
        tokio::time::sleep(fault.delay).await;
        self.hold_partitioned(actor).await;
        if let Some(Refusal(code, reason)) = fault.refusal {
            self.note(&mut self.lock(), actor, "fault", &route.label(), code.to_string());
            return Ok(status(code, reason));
        }
        if self.crash_point(false) {
            return std::future::pending().await;
        }
        if route.is_watch() {
            self.note(
                &mut self.lock(),
                actor,
                "watch",
                &route.label(),
                route.get("resourceVersion"),
            );
            return Ok(streams::watch(self, &route));
        }
        let answer = self.perform(actor, &parts.method, &parts.headers, &route, &body);
        if self.crash_point(true) {
            return std::future::pending().await;
        }
        tokio::time::sleep(fault.delay_after).await;
        if fault.is_answer_lost {
            return Err("the connection was reset".into());
        }
        Ok(answer)
    }

    /// A process that is cut off gets no answer; its requests wait, as packets may.
    async fn hold_partitioned(&self, actor: &str) {
        while self.lock().partitioned.as_deref() == Some(actor) {
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
    }

    fn crash_point(&self, is_after_effect: bool) -> bool {
        let mut inner = self.lock();
        if !is_after_effect {
            inner.requests += 1;
        }
        let requests = inner.requests;
        match &inner.crash {
            Some(crash) if crash.is_after_effect == is_after_effect && requests == crash.at_request => {
                crash.token.cancel();
                true
            }
            _ => false,
        }
    }

    fn perform(&self, actor: &str, method: &Method, headers: &http::HeaderMap, route: &Route, body: &[u8]) -> Answer {
        let mut inner = self.lock();
        if *method != Method::GET {
            check_fence(&mut inner, actor, route);
        }
        let now = self.0.clock.now().to_string();
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let content_type = headers
            .get("content-type")
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let id = route.id(&body);
        let state = &mut inner.state;
        let (verb, result) = match (method.as_str(), content_type) {
            ("GET", _) if route.name.is_empty() => ("list", Ok(list(state, route))),
            ("GET", _) => ("get", state.objects.get(&id).cloned().ok_or(Refusal(404, "NotFound"))),
            ("POST", _) => ("create", state.create(&id, body)),
            ("PUT", _) => ("update", state.update(&id, body)),
            ("DELETE", _) => ("delete", state.delete(&id, &body["preconditions"], &now)),
            (_, "application/apply-patch+yaml") => {
                let manager = route.get("fieldManager");
                ("apply", state.apply(&id, &body, &manager, route.subresource.as_deref()))
            }
            _ => ("patch", merge(state, &id, &body)),
        };
        let outcome = match &result {
            Ok(object) => object["metadata"]["resourceVersion"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            Err(Refusal(code, _)) => code.to_string(),
        };
        self.note(&mut inner, actor, verb, &label(&id), outcome);
        let revision = inner.state.revision;
        drop(inner);
        self.0.revisions.send_replace(revision);
        match result {
            Ok(object) => json_answer(200, &object),
            Err(Refusal(code, reason)) => status(code, reason),
        }
    }

    fn draw(&self, is_write: bool) -> Fault {
        let mut inner = self.lock();
        let percent = inner.faults.percent;
        let random = &mut inner.random;
        let mut fault = Fault {
            delay: random.up_to(Duration::from_millis(15)),
            delay_after: random.up_to(Duration::from_millis(5)),
            refusal: None,
            is_answer_lost: false,
        };
        if random.below(100) < percent {
            match random.below(7) {
                0 => fault.refusal = Some(Refusal(500, "InternalError")),
                1 => fault.refusal = Some(Refusal(429, "TooManyRequests")),
                2 if is_write => fault.refusal = Some(Refusal(409, "Conflict")),
                3 => fault.delay = Duration::from_secs(20) + random.up_to(Duration::from_secs(30)),
                4 => fault.delay_after = random.up_to(Duration::from_secs(40)),
                5 => fault.is_answer_lost = true,
                _ => fault.delay = random.up_to(Duration::from_secs(3)),
            }
        }
        fault
    }
}

struct Fault {
    delay: Duration,
    delay_after: Duration,
    refusal: Option<Refusal>,
    is_answer_lost: bool,
}

/// Nobody may write after another process holds the lease. The lease itself is guarded by its version.
fn check_fence(inner: &mut Inner, actor: &str, route: &Route) {
    if route.plural == "leases" {
        return;
    }
    let lease = ("leases".to_owned(), "system".to_owned(), "runner".to_owned());
    let lease = inner.state.objects.get(&lease);
    let holder = lease
        .and_then(|lease| lease["spec"]["holderIdentity"].as_str())
        .unwrap_or_default();
    if !holder.is_empty() && holder != actor {
        let violation = format!("{actor} wrote {} while {holder} held the lease", route.label());
        inner.violations.push(violation);
    }
}

fn merge(state: &mut State, id: &Id, patch: &Value) -> Result<Value, Refusal> {
    if let (Some(version), Some(live)) = (patch["metadata"]["resourceVersion"].as_str(), state.objects.get(id))
        && live["metadata"]["resourceVersion"] != version
    {
        return Err(Refusal(409, "Conflict"));
    }
    state.edit(id, |object| merge_values(object, patch))
}

fn merge_values(target: &mut Value, patch: &Value) {
    let Some(fields) = patch.as_object() else {
        *target = patch.clone();
        return;
    };
    for (name, field) in fields {
        if field.is_null() {
            if let Some(object) = target.as_object_mut() {
                object.remove(name);
            }
        } else {
            merge_values(&mut target[name], field);
        }
    }
}

fn list(state: &State, route: &Route) -> Value {
    let items: Vec<&Value> = state
        .objects
        .iter()
        .filter(|(id, object)| route.selects(id, object))
        .map(|(_, object)| object)
        .collect();
    json!({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": state.revision.to_string()}, "items": items})
}

impl Route {
    fn parse(uri: &http::Uri) -> Self {
        let mut parts: Vec<&str> = uri.path().split('/').filter(|part| !part.is_empty()).collect();
        parts.drain(..if parts[0] == "api" { 2 } else { 3 });
        let namespace = if parts[0] == "namespaces" && parts.len() > 2 {
            parts.drain(..2).nth(1).unwrap_or_default().to_owned()
        } else {
            String::new()
        };
        let query = uri.query().unwrap_or_default();
        let part = |index: usize| parts.get(index).map(|part| (*part).to_owned());
        Self {
            plural: part(0).unwrap_or_default(),
            namespace,
            name: part(1).unwrap_or_default(),
            subresource: part(2),
            query: query
                .split('&')
                .filter_map(|pair| pair.split_once('='))
                .map(|(name, value)| (name.to_owned(), value.replace("%3D", "=").replace("%2F", "/")))
                .collect(),
        }
    }

    pub fn get(&self, name: &str) -> String {
        let found = self.query.iter().find(|(found, _)| found == name);
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    }

    /// Whether an object belongs to this collection and matches its selector, which is one `key=value` at most.
    pub fn selects(&self, id: &Id, object: &Value) -> bool {
        let selector = self.get("labelSelector");
        let matches = selector
            .split_once('=')
            .is_none_or(|(label, value)| object["metadata"]["labels"][label] == value);
        id.0 == self.plural && (self.namespace.is_empty() || id.1 == self.namespace) && matches
    }

    fn id(&self, body: &Value) -> Id {
        let name = if self.name.is_empty() {
            body["metadata"]["name"].as_str().unwrap_or_default()
        } else {
            &self.name
        };
        (self.plural.clone(), self.namespace.clone(), name.to_owned())
    }

    fn is_watch(&self) -> bool {
        !self.get("watch").is_empty()
    }

    fn label(&self) -> String {
        label(&self.id(&Value::Null))
    }
}

pub fn label((plural, namespace, name): &Id) -> String {
    format!("{plural}/{namespace}/{name}")
}

pub fn json_answer(code: u16, body: &Value) -> Answer {
    let body = Full::new(Bytes::from(body.to_string()))
        .map_err(Into::into)
        .boxed_unsync();
    Response::builder()
        .status(code)
        .body(body)
        .expect("a code and a body are valid")
}

pub fn status(code: u16, reason: &str) -> Answer {
    json_answer(
        code,
        &json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": reason}),
    )
}
