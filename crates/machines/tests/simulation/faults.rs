//! What goes wrong between the controllers and the servers that they talk to, as clients that do it.
#![allow(dead_code, reason = "each test target takes the part that it needs")]

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use futures::StreamExt as _;
use http_body_util::{BodyExt as _, BodyStream, StreamBody};
use kube::{Client, client::Body};
use tokio::sync::watch;

/// A server that takes requests and never answers.
pub fn never() -> Client {
    let service = tower::service_fn(|_: http::Request<Body>| {
        std::future::pending::<Result<http::Response<Body>, std::convert::Infallible>>()
    });
    Client::new(service, "default")
}

/// A cluster that never answers while it is silent, and in which somebody who has to agree to the eviction of pods named
/// `slow-*` never does.
pub fn with_silence(hosted: Client, is_silent: Arc<AtomicBool>) -> Client {
    let service = tower::service_fn(move |request: http::Request<Body>| {
        let (hosted, is_silent) = (hosted.clone(), is_silent.load(Ordering::Relaxed));
        async move {
            let path = request.uri().path();
            if is_silent || path.contains("/pods/slow-") && path.ends_with("/eviction") {
                std::future::pending::<()>().await;
            }
            hosted.send(request).await
        }
    });
    Client::new(service, "default")
}

/// A client to whom nothing is told of a resource after its first list.
pub fn without_watches(client: Client, plural: &'static str) -> Client {
    let service = tower::service_fn(move |request: http::Request<Body>| {
        let client = client.clone();
        async move {
            if is_watch(&request, plural) {
                std::future::pending::<()>().await;
            }
            client.send(request).await
        }
    });
    Client::new(service, "default")
}

/// A client to whom the watch of a resource tells nothing while it lags, and all of it afterwards.
pub fn with_lag(client: Client, plural: &'static str, is_lagging: watch::Receiver<bool>) -> Client {
    let service = tower::service_fn(move |request: http::Request<Body>| {
        let (client, is_lagging) = (client.clone(), is_lagging.clone());
        async move {
            let is_watch = is_watch(&request, plural);
            let answer = client.send(request).await?;
            let late = |body: Body| {
                let frames = BodyStream::new(body).then(move |frame| after_lag(is_lagging.clone(), frame));
                StreamBody::new(frames).boxed_unsync()
            };
            Ok::<_, kube::Error>(answer.map(|body| if is_watch { late(body) } else { body.boxed_unsync() }))
        }
    });
    Client::new(service, "default")
}

async fn after_lag<T>(mut is_lagging: watch::Receiver<bool>, frame: T) -> T {
    let ended = is_lagging.wait_for(|is_lagging| !is_lagging).await;
    drop(ended.expect("who says whether it lags outlives the world"));
    frame
}

fn is_watch(request: &http::Request<Body>, plural: &str) -> bool {
    let uri = request.uri();
    let is_watch = uri.query().is_some_and(|query| query.contains("watch=true"));
    is_watch && uri.path().rsplit('/').next() == Some(plural)
}
