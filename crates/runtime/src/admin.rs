//! Health, metrics and diagnostics, from request to response. It reads shared state and opens no socket: the binary
//! binds it where it likes.

use std::{
    convert::Infallible,
    future::{Ready, ready},
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::Duration,
};

use http::{Method, Request, Response, StatusCode, header::CONTENT_TYPE};
use serde_json::json;
use tokio::time::Instant;
use tower::Service;

use crate::{
    fence::{Fence, Leadership},
    inbox::Inbox,
    metrics::Metrics,
    store::{SharedStore, lock},
    stores::Stores,
};

/// A controller whose loop has not gone round for this long is dead or stuck.
const HEARTBEAT_LIMIT: Duration = Duration::from_mins(1);
/// What Prometheus wants to hear for the OpenMetrics text format.
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Answers `/healthz`, `/readyz`, `/metrics` and `/debug/state`. Cheap to clone.
#[derive(Clone)]
pub struct Admin {
    stores: Arc<Stores>,
    inboxes: Arc<Mutex<Vec<Arc<Inbox>>>>,
    fence: Fence,
    metrics: Metrics,
}

impl Admin {
    pub(crate) const fn new(
        stores: Arc<Stores>,
        inboxes: Arc<Mutex<Vec<Arc<Inbox>>>>,
        fence: Fence,
        metrics: Metrics,
    ) -> Self {
        Self {
            stores,
            inboxes,
            fence,
            metrics,
        }
    }

    /// The answer to a request for a path.
    pub fn respond(&self, method: &Method, path: &str) -> Response<String> {
        if !matches!(*method, Method::GET | Method::HEAD) {
            return answer(
                StatusCode::METHOD_NOT_ALLOWED,
                "text/plain",
                "only GET is served here\n".to_owned(),
            );
        }
        match path {
            "/healthz" => verdict(&self.ailments()),
            "/readyz" => verdict(&self.missing()),
            "/metrics" => answer(StatusCode::OK, OPENMETRICS, self.measure()),
            "/debug/state" => answer(StatusCode::OK, "application/json", self.state()),
            _ => answer(
                StatusCode::NOT_FOUND,
                "text/plain",
                "try /healthz, /readyz, /metrics or /debug/state\n".to_owned(),
            ),
        }
    }

    fn inboxes(&self) -> Vec<Arc<Inbox>> {
        lock(&self.inboxes).clone()
    }

    /// Controllers that do not go round. Liveness is theirs: that HTTP answers proves nothing.
    fn ailments(&self) -> Vec<String> {
        let inboxes = self.inboxes();
        let stuck = inboxes.iter().filter(|inbox| inbox.heartbeat_age() > HEARTBEAT_LIMIT);
        stuck
            .map(|inbox| format!("controller {} is silent for {:?}", inbox.name, inbox.heartbeat_age()))
            .collect()
    }

    /// What is not there yet.
    fn missing(&self) -> Vec<String> {
        let stores = self.stores.all();
        let unsynced = stores.iter().filter(|store| !store.is_synced());
        let mut missing: Vec<String> = unsynced
            .map(|store| format!("watch {} has no first list", store.status().watch))
            .collect();
        if self.fence.leadership() == Leadership::Unknown {
            missing.push("the lease was not read".to_owned());
        }
        missing
    }

    fn measure(&self) -> String {
        for inbox in self.inboxes() {
            inbox.measure();
        }
        for store in self.stores.all() {
            let status = store.status();
            self.metrics.cached_objects(&status.watch, status.objects);
        }
        self.metrics.render()
    }

    fn state(&self) -> String {
        let leadership = match self.fence.leadership() {
            Leadership::Unknown => json!({"state": "unknown"}),
            Leadership::Standby => json!({"state": "standby"}),
            Leadership::Leader { until, transitions } => {
                let left = until.saturating_duration_since(Instant::now());
                json!({"state": "leader", "expiresInSeconds": left.as_secs(), "transitions": transitions})
            }
        };
        let stores = self.stores.all();
        let inboxes = self.inboxes();
        let state = json!({
            "leadership": leadership,
            "watches": stores.iter().map(SharedStore::status).collect::<Vec<_>>(),
            "controllers": inboxes.iter().map(|inbox| inbox.status()).collect::<Vec<_>>(),
        });
        format!("{state:#}\n")
    }
}

impl<B> Service<Request<B>> for Admin {
    type Response = Response<String>;
    type Error = Infallible;
    type Future = Ready<Result<Response<String>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        ready(Ok(self.respond(request.method(), request.uri().path())))
    }
}

fn verdict(complaints: &[String]) -> Response<String> {
    if complaints.is_empty() {
        answer(StatusCode::OK, "text/plain", "ok\n".to_owned())
    } else {
        answer(
            StatusCode::SERVICE_UNAVAILABLE,
            "text/plain",
            complaints.join("\n") + "\n",
        )
    }
}

fn answer(status: StatusCode, content_type: &'static str, body: String) -> Response<String> {
    let response = Response::builder().status(status).header(CONTENT_TYPE, content_type);
    response.body(body).expect("a status and a constant header are valid")
}
