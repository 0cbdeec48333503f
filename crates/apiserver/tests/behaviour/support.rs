//! A server in memory, driven by the test's own runtime.

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyperplane_access::User;
use hyperplane_apiserver::{Controllers, Entropy, Server, Settings, Shared};
use hyperplane_seams::Clock;
use hyperplane_store::Memory;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// Where virtual time begins.
const START: &str = "2026-01-02T03:04:05Z";

/// A running server.
pub(crate) struct World {
    pub(crate) server: Server,
}

impl World {
    /// A server that has just begun.
    pub(crate) async fn new() -> Self {
        Self::with_store_limits(hyperplane_store::Limits::default()).await
    }

    /// The same with other limits of the store.
    pub(crate) async fn with_store_limits(limits: hyperplane_store::Limits) -> Self {
        let mut settings = settings();
        settings.store_limits = limits;
        Self::open(settings, |controllers| controllers).await
    }

    /// A server that leaves to others what a controller manager does; `clients` are the authorities of clients.
    pub(crate) async fn without_manager(clients: &str) -> Self {
        let mut settings = settings();
        settings.client_certificates = clients.to_owned();
        Self::open(settings, |controllers| controllers.split().0).await
    }

    async fn open(settings: Settings, choose: impl FnOnce(Controllers) -> Controllers) -> Self {
        let (server, writer, controllers) = Server::open(&Shared::new(), settings, Memory).unwrap();
        tokio::spawn(writer.run());
        tokio::spawn(choose(controllers).run(CancellationToken::new()));
        server.bootstrap().await.unwrap();
        Self { server }
    }

    /// Sends a request as the administrator.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        content_type: &str,
        body: impl Into<Bytes>,
    ) -> (StatusCode, Value) {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", content_type)
            .header("user-agent", "test/1.0")
            .extension(User::admin())
            .body(Full::new(body.into()))
            .unwrap();
        let response = self.server.clone().oneshot(request).await.unwrap();
        let status = response.status();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        let value = serde_json::from_slice(&bytes)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned()));
        (status, value)
    }

    /// A watch.
    pub(crate) async fn watch(&self, path: &str) -> Watch {
        let request = Request::get(path)
            .extension(User::admin())
            .body(Full::new(Bytes::new()))
            .unwrap();
        let response = self.server.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), 200);
        Watch {
            body: response.into_body(),
            buffer: Vec::new(),
        }
    }

    /// GET.
    pub(crate) async fn get(&self, path: &str) -> (StatusCode, Value) {
        self.send("GET", path, "", "").await
    }

    /// POST of JSON.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> (StatusCode, Value) {
        self.send("POST", path, "application/json", body.to_string()).await
    }
}

fn settings() -> Settings {
    Settings::new(Clock::anchored(START.parse().unwrap()), Entropy::seeded(1))
}

/// The events of a watch.
pub(crate) struct Watch {
    body: hyperplane_apiserver::Body,
    buffer: Vec<u8>,
}

impl Watch {
    /// The next event; none when the watch has ended.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return Some(serde_json::from_slice(&line).unwrap());
            }
            let frame = self.body.frame().await?.unwrap();
            self.buffer.extend_from_slice(&frame.into_data().unwrap());
        }
    }

    /// The types of all events that there are until the watch ends.
    pub(crate) async fn words(mut self) -> Vec<String> {
        let mut words = Vec::new();
        while let Some(event) = self.next().await {
            words.push(event["type"].as_str().unwrap().to_owned());
        }
        words
    }
}
