//! A management cluster with one token that is played in memory, certificates in files, and a machine.

#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "not every test uses everything; a test that cannot go on fails"
)]

#[path = "../../../api/tests/support/samples.rs"]
mod samples;

use std::{collections::BTreeMap, convert::Infallible, fmt::Debug, fs, sync::Arc, time::Duration};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::{Method, Request, Response};
use hyperplane_ignition::tls::CertificateFiles;
use hyperplane_testbed::{Authority, Identity};
use kube::{Client, client::Body};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, ServerName},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::TcpStream,
    sync::{mpsc, watch},
};
use tokio_rustls::{TlsConnector, client::TlsStream};
use tower::service_fn;

/// After so long something counts as never coming. Nothing takes a tenth of it.
const NEVER: Duration = Duration::from_mins(2);

/// Waits for something that must come, and says what did not.
pub async fn soon<T>(what: &str, coming: impl Future<Output = T>) -> T {
    let coming = tokio::time::timeout(NEVER, coming).await;
    coming.unwrap_or_else(|_| panic!("{what}: it never came"))
}

/// Waits until something is so.
pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    soon(what, async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    })
    .await;
}

/// Tries until it works, and says at the end why it never did.
pub async fn eventually<T, E: Debug>(what: &str, mut attempt: impl AsyncFnMut() -> Result<T, E>) -> T {
    let start = tokio::time::Instant::now();
    loop {
        match attempt().await {
            Ok(value) => return value,
            Err(error) => assert!(start.elapsed() < NEVER, "{what}: {error:?}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Path and body of what was written.
type Patch = (String, String);

/// What happens to objects: the plural of the kind, and the event of the watch.
type Happening = Option<(&'static str, Value)>;

pub struct Cluster {
    patches: mpsc::UnboundedReceiver<Patch>,
    seen: Vec<Patch>,
    happening: watch::Sender<Happening>,
    refused: watch::Sender<usize>,
}

impl Cluster {
    /// A cluster that has one token, `first`, which has taken the place of `before`, and one that is over, `gone`.
    pub fn start() -> (Client, Self) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let (happening, happens) = watch::channel(None);
        let (refused, refusals) = watch::channel(0_usize);
        let refusing = refused.clone();
        let service = service_fn(move |request: Request<Body>| {
            let (sender, happens) = (sender.clone(), happens.clone());
            let (refusing, refusals) = (refusing.clone(), refusals.clone());
            async move {
                let (parts, body) = request.into_parts();
                let query = parts.uri.query().unwrap_or_default();
                let kind = parts.uri.path().rsplit('/').next().unwrap_or_default().to_owned();
                let answer = if parts.method == Method::PATCH {
                    let body = body.collect_bytes().await.unwrap().to_vec();
                    let body = String::from_utf8(body).unwrap();
                    let is_mark = body.contains("ignition-reached");
                    sender.send((parts.uri.path().to_owned(), body)).unwrap();
                    if is_mark && *refusals.borrow() > 0 {
                        refusing.send_modify(|left| *left -= 1);
                        return Ok(unavailable());
                    }
                    token()
                } else if parts.method == Method::POST {
                    let body = body.collect_bytes().await.unwrap().to_vec();
                    let body = String::from_utf8(body).unwrap();
                    sender.send((parts.uri.path().to_owned(), body.clone())).unwrap();
                    serde_json::from_str(&body).unwrap()
                } else if query.contains("watch=") {
                    next_event(happens, &kind, query).await
                } else {
                    assert!(
                        query.contains("managed-by%3Dhyperplane") || !query.contains("labelSelector"),
                        "{query}"
                    );
                    json!({"metadata": {"resourceVersion": "1"}, "items": objects(&kind)})
                };
                Ok::<_, Infallible>(Response::new(Body::from(format!("{answer}\n").into_bytes())))
            }
        });
        let cluster = Self {
            patches: receiver,
            seen: Vec::new(),
            happening,
            refused,
        };
        (Client::new(service, "default"), cluster)
    }

    /// Has something happen to an object; the event must have a newer version than all before.
    pub fn happen(&self, kind: &'static str, event: Value) {
        self.happening.send_replace(Some((kind, event)));
    }

    /// Refuses the next writes of marks, so many of them.
    pub fn refuse_marks(&self, count: usize) {
        self.refused.send_replace(count);
    }

    /// Has the Secret of the token change, to a newer version than all before.
    pub fn change_token(&self, version: &str, change: &Value) {
        let mut object = token();
        samples::merge(&mut object, change);
        object["metadata"]["resourceVersion"] = version.into();
        self.happen("secrets", json!({"type": "MODIFIED", "object": object}));
    }

    /// All events about the Secret of the token by a reason: their types and messages, and how often each was told.
    pub fn events(&mut self, reason: &str) -> Vec<(String, String, u64)> {
        self.catch_up();
        let mut events: BTreeMap<String, Value> = BTreeMap::new();
        for (path, body) in &self.seen {
            let Some((_, name)) = path.split_once("/events") else {
                continue;
            };
            let told: Value = serde_json::from_str(body).unwrap();
            // One that is told again is changed under its name.
            let name = told["metadata"]["name"]
                .as_str()
                .unwrap_or(name.trim_start_matches('/'))
                .to_owned();
            samples::merge(events.entry(name).or_default(), &told);
        }
        let is_meant = |event: &&Value| event["reason"] == reason && event["involvedObject"]["name"] == "token-one";
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let told = |event: &Value| {
            (
                text(&event["type"]),
                text(&event["message"]),
                event["count"].as_u64().unwrap(),
            )
        };
        events.values().filter(is_meant).map(told).collect()
    }

    /// How often a mark was written so far, or was to be.
    pub fn marks(&mut self) -> usize {
        self.catch_up();
        self.seen
            .iter()
            .filter(|(_, body)| body.contains("ignition-reached"))
            .count()
    }

    fn catch_up(&mut self) {
        while let Ok(next) = self.patches.try_recv() {
            self.seen.push(next);
        }
    }

    /// A write to a Secret that says this. Writes are kept, because nobody knows which comes first.
    pub async fn patched_with(&mut self, secret: &str, expected: &str) -> Patch {
        let path = format!("/api/v1/namespaces/clusters-one/secrets/{secret}");
        loop {
            let is_meant = |(known, body): &&Patch| *known == path && body.contains(expected);
            if let Some(found) = self.seen.iter().find(is_meant) {
                return found.clone();
            }
            let next = self.patches.recv().await.unwrap();
            self.seen.push(next);
        }
    }
}

/// The next event of a watch, which ends with it; a watch from there on is told of later ones only.
async fn next_event(mut happens: watch::Receiver<Happening>, kind: &str, query: &str) -> Value {
    let is_news = |happening: &Happening| {
        happening.as_ref().is_some_and(|(of, event)| {
            let version = event["object"]["metadata"]["resourceVersion"].as_str().unwrap();
            *of == kind && !query.contains(&format!("resourceVersion={version}"))
        })
    };
    let happening = happens.wait_for(is_news).await.unwrap().clone();
    happening.unwrap().1
}

fn unavailable() -> Response<Body> {
    let status = json!({"kind": "Status", "status": "Failure", "reason": "ServiceUnavailable", "code": 503});
    let mut response = Response::new(Body::from(status.to_string().into_bytes()));
    *response.status_mut() = http::StatusCode::SERVICE_UNAVAILABLE;
    response
}

/// What there is of a kind.
fn objects(kind: &str) -> Vec<Value> {
    match kind {
        "secrets" => vec![
            token(),
            over(),
            secret("bootstrap-kubeconfig", "kubeconfig", "kind: Config\n"),
            secret("pull-secret", ".dockerconfigjson", r#"{"auths":{}}"#),
        ],
        "configmaps" => vec![json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "kubelet-client-ca", "namespace": "clusters-one", "uid": "2", "resourceVersion": "1"},
            "data": {"ca.crt": "AUTHORITY\n"},
        })],
        "hostedcontrolplanes" => vec![samples::hosted_control_plane(&json!({
            "metadata": {"uid": "3", "resourceVersion": "1"},
            "spec": {"sshKey": {"name": ""}},
            "status": {"controlPlaneEndpoint": {"host": "api.example.com", "port": 6443}},
        }))],
        _ => Vec::new(),
    }
}

pub fn secret(name: &str, key: &str, value: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": "clusters-one", "uid": name, "resourceVersion": "1"},
        "data": {key: BASE64_STANDARD.encode(value)},
    })
}

fn token() -> Value {
    let mut token = secret("token-one", "token", "first");
    token["metadata"]["uid"] = "1-2-3".into();
    token["metadata"]["annotations"] = json!({
        "hypershift.openshift.io/ignition-config": "true",
        "hypershift.openshift.io/last-token-generation-time": "2026-01-01T10:00:00Z",
    });
    token["data"]["old_token"] = BASE64_STANDARD.encode("before").into();
    token["data"]["release"] = BASE64_STANDARD.encode(samples::IMAGE).into();
    token
}

fn over() -> Value {
    let mut token = secret("token-two", "token", "gone");
    token["metadata"]["annotations"] = json!({
        "hypershift.openshift.io/ignition-config": "true",
        "hypershift.openshift.io/ignition-token-expiration-timestamp": "2026-01-01T11:00:00Z",
    });
    token["data"]["release"] = BASE64_STANDARD.encode(samples::IMAGE).into();
    token
}

pub struct Certificates {
    directory: tempfile::TempDir,
    authority: Authority,
}

impl Certificates {
    pub fn create() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let authority = Authority::create("authority", &Identity::in_directory(directory.path(), "ca")).unwrap();
        let certificates = Self { directory, authority };
        certificates.renew();
        certificates
    }

    pub fn files(&self) -> CertificateFiles {
        let Identity { certificate, key } = Identity::in_directory(self.directory.path(), "tls");
        CertificateFiles { certificate, key }
    }

    /// Puts another certificate and key in place.
    pub fn renew(&self) {
        let files = Identity::in_directory(self.directory.path(), "tls");
        self.authority
            .sign_server_for("ignition", &["ignition.example.com"], &files)
            .unwrap();
    }

    /// Puts something in place that is no key.
    pub fn spoil(&self) {
        fs::write(self.files().key, "s3cr3t").unwrap();
    }
}

pub struct Machine<I = TcpStream>(TlsStream<I>);

impl<I: AsyncRead + AsyncWrite + Unpin> Machine<I> {
    pub async fn connect(stream: I, certificates: &Certificates) -> Self {
        let mut roots = RootCertStore::empty();
        roots
            .add(CertificateDer::from(certificates.authority.certificate()))
            .unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from("ignition.example.com").unwrap();
        let connecting = TlsConnector::from(Arc::new(config)).connect(name, stream);
        Self(soon("a handshake", connecting).await.unwrap())
    }

    /// The certificate that the server shows.
    pub fn certificate(&self) -> CertificateDer<'static> {
        let (_, session) = self.0.get_ref();
        session.peer_certificates().unwrap()[0].clone().into_owned()
    }

    /// Sends something that need not be a request.
    pub async fn send(&mut self, text: &str) {
        // The server may have ended the connection, which is seen by reading.
        drop(self.0.write_all(text.as_bytes()).await);
    }

    /// All that still comes until the server ends the connection.
    pub async fn ended(&mut self) -> String {
        let mut rest = Vec::new();
        // Whether it says goodbye does not matter.
        drop(soon("the end", self.0.read_to_end(&mut rest)).await);
        String::from_utf8(rest).unwrap()
    }

    /// What the server answers; the connection stays if the token is good.
    pub async fn ask(&mut self, path: &str, token: Option<&str>) -> String {
        let token = token.map(|token| format!("authorization: Bearer {}\r\n", BASE64_STANDARD.encode(token)));
        let token = token.unwrap_or_default();
        let request = format!("GET {path} HTTP/1.1\r\nhost: ignition.example.com\r\n{token}\r\n");
        self.0.write_all(request.as_bytes()).await.unwrap();
        let mut text = String::new();
        loop {
            let mut bytes = [0; 4 << 10];
            let read = soon("an answer", self.0.read(&mut bytes)).await.unwrap();
            assert!(read > 0, "the connection ended: {text}");
            text.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
            if is_whole(&text) {
                return text;
            }
        }
    }
}

/// Whether all of a response has come.
fn is_whole(text: &str) -> bool {
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    length.is_some_and(|length| length.parse::<usize>().unwrap() == body.len())
}
