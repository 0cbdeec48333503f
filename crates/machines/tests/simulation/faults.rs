//! What goes wrong between the controllers and the servers that they talk to, as clients that do it.

use kube::{Client, client::Body};

/// A server that takes requests and never answers.
pub fn never() -> Client {
    let service = tower::service_fn(|_: http::Request<Body>| {
        std::future::pending::<Result<http::Response<Body>, std::convert::Infallible>>()
    });
    Client::new(service, "default")
}

/// A cluster in which somebody who has to agree to the eviction of pods named `slow-*` never does.
pub fn with_slow_evictions(hosted: Client) -> Client {
    let service = tower::service_fn(move |request: http::Request<Body>| {
        let hosted = hosted.clone();
        async move {
            let path = request.uri().path();
            if path.contains("/pods/slow-") && path.ends_with("/eviction") {
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
