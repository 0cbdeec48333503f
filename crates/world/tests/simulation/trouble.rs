//! Trouble between operators and API server, by chance from the seed: conflicts, errors, answers that never come, watches
//! that end. A write may be done although its answer says otherwise.

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
        })))
    }

    /// From now on so many requests of a hundred go wrong.
    pub fn set(&self, percent: u64) {
        self.0.lock().unwrap().percent = percent;
    }

    /// A client that has this trouble.
    pub fn between(&self, client: Client) -> Client {
        let trouble = self.clone();
        let service = service_fn(move |request: Request<Body>| trouble.clone().pass(client.clone(), request));
        Client::new(service, "default")
    }

    async fn pass(self, client: Client, request: Request<Body>) -> Result<Answer, BoxError> {
        let is_watch = request.uri().query().is_some_and(|query| query.contains("watch=true"));
        let fate = self.fate(request.method() != Method::GET);
        if let Fate::Refused(code) = fate {
            return Ok(refusal(code));
        }
        let life = self.life().filter(|_| is_watch);
        let answer = client.send(request).await?;
        match fate {
            Fate::Broken => Err("the connection was reset".into()),
            Fate::Silent => pending().await,
            Fate::Good | Fate::Refused(_) => Ok(answer.map(|body| bounded(body, life))),
        }
    }

    fn fate(&self, is_write: bool) -> Fate {
        let mut state = self.0.lock().unwrap();
        let percent = state.percent;
        if percent == 0 || state.random.below(100) >= percent {
            return Fate::Good;
        }
        match state.random.below(10) {
            0..4 if is_write => Fate::Refused(StatusCode::CONFLICT),
            0..6 => Fate::Refused(StatusCode::INTERNAL_SERVER_ERROR),
            6 => Fate::Refused(StatusCode::TOO_MANY_REQUESTS),
            7 => Fate::Silent,
            _ => Fate::Broken,
        }
    }

    /// How long a watch lives that begins now.
    fn life(&self) -> Option<Duration> {
        let mut state = self.0.lock().unwrap();
        (state.percent > 0).then(|| state.random.up_to(LONGEST_WATCH))
    }
}

/// A body that ends after a while, wherever it is.
fn bounded(body: Body, life: Option<Duration>) -> UnsyncBoxBody<Bytes, BoxError> {
    match life {
        None => body.map_err(BoxError::from).boxed_unsync(),
        Some(life) => {
            let frames = BodyStream::new(body.map_err(BoxError::from)).take_until(sleep(life));
            StreamBody::new(frames).boxed_unsync()
        }
    }
}

fn refusal(code: StatusCode) -> Answer {
    let reason = match code {
        StatusCode::CONFLICT => "Conflict",
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
