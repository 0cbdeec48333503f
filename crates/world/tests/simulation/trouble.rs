//! Trouble between operators and API servers, by chance from the seed: conflicts, errors, answers that never come, watches
//! that end or were too late, and processes that die in the midst of a write. A write may be done although its answer says
//! otherwise.

use std::{
    future::pending,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use futures::StreamExt as _;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, BodyStream, Full, StreamBody, combinators::UnsyncBoxBody};
use hyperplane_runtime::{BoxError, Random};
use kube::{Client, client::Body};
use serde_json::json;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tower::service_fn;

/// The longest that a watch lives while there is trouble.
const LONGEST_WATCH: Duration = Duration::from_secs(40);

/// How much goes wrong. Cheap to clone; clones share it.
#[derive(Clone)]
pub struct Trouble(Arc<Mutex<State>>);

struct State {
    random: Random,
    /// Of a hundred requests, how many go wrong.
    percent: u64,
    /// Ends every watch that is open.
    cut: CancellationToken,
    doom: Option<Doom>,
}

/// The end of a process in the midst of its work.
struct Doom {
    /// How many writes are still done before.
    writes: u64,
    /// Whether the last one is done, too.
    is_after_effect: bool,
    /// Says that the time has come.
    token: CancellationToken,
}

/// What becomes of one request.
#[derive(Clone, Copy)]
enum Fate {
    Good,
    /// The answer is this one, and nothing was done.
    Refused(StatusCode),
    /// It is done, and the connection breaks before the answer.
    Broken,
    /// It is done, and nothing is heard any more.
    Silent,
}

type Answer = Response<UnsyncBoxBody<Bytes, BoxError>>;

impl Trouble {
    /// None, for now.
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(State {
            random: Random::named(seed, "trouble"),
            percent: 0,
            cut: CancellationToken::new(),
            doom: None,
        })))
    }

    /// From now on so many requests of a hundred go wrong. Watches that are open end here.
    pub fn set(&self, percent: u64) {
        let mut state = self.0.lock().unwrap();
        state.percent = percent;
        std::mem::take(&mut state.cut).cancel();
    }

    /// Gives a token that is cancelled when so many more writes were done: the next one gets no answer, and is done or not.
    pub fn doom(&self, writes: u64, is_after_effect: bool) -> CancellationToken {
        let token = CancellationToken::new();
        self.0.lock().unwrap().doom = Some(Doom {
            writes,
            is_after_effect,
            token: token.clone(),
        });
        token
    }

    /// Nobody dies any more.
    pub fn spare(&self) {
        self.0.lock().unwrap().doom = None;
    }

    /// A client that has this trouble.
    pub fn between(&self, client: Client) -> Client {
        let trouble = self.clone();
        let service = service_fn(move |request: Request<Body>| trouble.clone().pass(client.clone(), request));
        Client::new(service, "default")
    }

    async fn pass(self, client: Client, request: Request<Body>) -> Result<Answer, BoxError> {
        let is_watch = request.uri().query().is_some_and(|query| query.contains("watch=true"));
        let is_write = request.method() != Method::GET;
        if let Some(doom) = self.last(is_write) {
            if doom.is_after_effect {
                drop(client.send(request).await);
            }
            doom.token.cancel();
            return pending().await;
        }
        let fate = self.fate(is_write, is_watch);
        if let Fate::Refused(code) = fate {
            return Ok(refusal(code));
        }
        let end = is_watch.then(|| self.end_of_watch());
        let answer = client.send(request).await?;
        match fate {
            Fate::Broken => Err("the connection was reset".into()),
            Fate::Silent => pending().await,
            Fate::Good | Fate::Refused(_) => Ok(answer.map(|body| bounded(body, end))),
        }
    }

    /// Counts a write, and says whether it is the last one.
    fn last(&self, is_write: bool) -> Option<Doom> {
        let mut state = self.0.lock().unwrap();
        let doom = state.doom.as_mut().filter(|_| is_write)?;
        if doom.writes > 0 {
            doom.writes -= 1;
            return None;
        }
        state.doom.take()
    }

    fn fate(&self, is_write: bool, is_watch: bool) -> Fate {
        let mut state = self.0.lock().unwrap();
        let percent = state.percent;
        if percent == 0 || state.random.below(100) >= percent {
            return Fate::Good;
        }
        match state.random.below(10) {
            0..4 if is_write => Fate::Refused(StatusCode::CONFLICT),
            // What it wants to go on from is forgotten.
            0..4 if is_watch => Fate::Refused(StatusCode::GONE),
            0..6 => Fate::Refused(StatusCode::INTERNAL_SERVER_ERROR),
            6 => Fate::Refused(StatusCode::TOO_MANY_REQUESTS),
            7 => Fate::Silent,
            _ => Fate::Broken,
        }
    }

    /// When a watch ends that begins now: after a while if there is trouble, and when the trouble changes.
    fn end_of_watch(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut state = self.0.lock().unwrap();
        let life = (state.percent > 0).then(|| state.random.up_to(LONGEST_WATCH));
        let cut = state.cut.clone();
        async move {
            match life {
                Some(life) => drop(cut.run_until_cancelled(sleep(life)).await),
                None => cut.cancelled().await,
            }
        }
    }
}

/// A body that ends when something is over, wherever it is.
fn bounded(body: Body, end: Option<impl Future<Output = ()> + Send + 'static>) -> UnsyncBoxBody<Bytes, BoxError> {
    match end {
        None => body.map_err(BoxError::from).boxed_unsync(),
        Some(end) => {
            let frames = BodyStream::new(body.map_err(BoxError::from)).take_until(Box::pin(end));
            StreamBody::new(frames).boxed_unsync()
        }
    }
}

fn refusal(code: StatusCode) -> Answer {
    let reason = match code {
        StatusCode::CONFLICT => "Conflict",
        StatusCode::GONE => "Expired",
        StatusCode::TOO_MANY_REQUESTS => "TooManyRequests",
        _ => "InternalError",
    };
    let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code.as_u16(),
        "reason": reason, "message": "trouble"});
    let body = Full::new(Bytes::from(status.to_string())).map_err(|never| match never {});
    let answer = Response::builder()
        .status(code)
        .header("content-type", "application/json");
    answer.body(body.boxed_unsync()).unwrap()
}
