//! What goes wrong between the controllers and the servers that they talk to, as clients that do it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use kube::{Client, client::Body};

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
            let is_watch = request.uri().query().is_some_and(|query| query.contains("watch=true"));
            if is_watch && request.uri().path().ends_with(plural) {
                std::future::pending::<()>().await;
            }
            client.send(request).await
        }
    });
    Client::new(service, "default")
}
