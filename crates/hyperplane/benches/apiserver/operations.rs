//! The operations, as requests. The objects are ConfigMaps with a kibibyte of data: small, plain, and the same for both.

use std::sync::Arc;

use anyhow::Result;
use bytes::Bytes;
use http::{Method, Request, header::CONTENT_TYPE};
use http_body_util::Full;
use serde_json::json;

use crate::{
    CONNECTIONS,
    connection::Connection,
    fan_out,
    load::{self, Make},
    measurement::{Measured, Sizes},
    server::Server,
};

/// Bytes of data in an object.
const DATA: usize = 1024;

/// What is measured, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Create an object.
    Create,
    /// Replace an object.
    Update,
    /// Apply an object from the server's side.
    Apply,
    /// Read an object.
    Get,
    /// Read ten thousand objects at once.
    List,
    /// Write an object that a hundred watchers see.
    Watch,
}

/// All of them.
pub const ALL: [Operation; 6] = [
    Operation::Create,
    Operation::Update,
    Operation::Apply,
    Operation::Get,
    Operation::List,
    Operation::Watch,
];

impl Operation {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Apply => "apply",
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
        }
    }

    /// Does it over some connections.
    pub async fn run(self, server: &Server, sizes: &Sizes, connections: u64) -> Result<Measured> {
        let objects = sizes.objects(connections);
        let (count, make): (u64, Make) = match self {
            Self::Create => (objects, Arc::new(move |number| create(connections, number))),
            Self::Update => (objects, Arc::new(move |number| update(connections, number))),
            Self::Apply => (objects, Arc::new(move |number| apply(connections, number))),
            Self::Get => (
                sizes.gets(connections),
                Arc::new(move |number| get(connections, number % objects)),
            ),
            Self::List => (Sizes::lists(connections), Arc::new(|_| list())),
            Self::Watch => return fan_out::run(server, connections, sizes.watched(connections)).await,
        };
        load::run(server, connections, count, make).await
    }
}

/// Makes the namespaces, one for each number of connections and one for watchers.
pub async fn prepare(server: &Server) -> Result<()> {
    let mut connection = Connection::open(&server.door).await?;
    let namespaces = CONNECTIONS
        .map(namespace)
        .into_iter()
        .chain([fan_out::NAMESPACE.to_owned()]);
    for namespace in namespaces {
        let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
        let request = request(Method::POST, "/api/v1/namespaces", "application/json", body.to_string());
        connection.send(request).await?;
    }
    Ok(())
}

fn namespace(connections: u64) -> String {
    format!("bench-{connections}")
}

/// Asks whether the server is ready.
pub fn ready() -> Request<Full<Bytes>> {
    request(Method::GET, "/readyz", "", String::new())
}

/// Creates an object in a namespace.
pub fn create_in(namespace: &str, number: u64) -> Request<Full<Bytes>> {
    let path = format!("/api/v1/namespaces/{namespace}/configmaps");
    request(Method::POST, &path, "application/json", object(number, "created"))
}

fn create(connections: u64, number: u64) -> Request<Full<Bytes>> {
    create_in(&namespace(connections), number)
}

fn update(connections: u64, number: u64) -> Request<Full<Bytes>> {
    let path = object_path(connections, number);
    request(Method::PUT, &path, "application/json", object(number, "updated"))
}

fn apply(connections: u64, number: u64) -> Request<Full<Bytes>> {
    let path = format!("{}?fieldManager=bench&force=true", object_path(connections, number));
    let media = "application/apply-patch+yaml";
    request(Method::PATCH, &path, media, object(number, "applied"))
}

fn get(connections: u64, number: u64) -> Request<Full<Bytes>> {
    request(Method::GET, &object_path(connections, number), "", String::new())
}

fn list() -> Request<Full<Bytes>> {
    let path = format!("/api/v1/namespaces/{}/configmaps", namespace(CONNECTIONS[2]));
    request(Method::GET, &path, "", String::new())
}

fn object_path(connections: u64, number: u64) -> String {
    format!(
        "/api/v1/namespaces/{}/configmaps/object-{number}",
        namespace(connections)
    )
}

fn object(number: u64, state: &str) -> String {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": format!("object-{number}"), "labels": {"app": "bench", "shard": (number % 16).to_string()}},
        "data": {"state": state, "value": "0123456789abcdef".repeat(DATA / 16)},
    })
    .to_string()
}

/// A request with a body, or without one.
pub fn request(method: Method, path: &str, media: &str, body: String) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::new(Bytes::from(body)));
    *request.method_mut() = method;
    *request.uri_mut() = path.parse().expect("paths here are made of plain characters");
    if !media.is_empty() {
        let media = media.parse().expect("media types here are plain text");
        request.headers_mut().insert(CONTENT_TYPE, media);
    }
    request
}
