//! The decisions as tables, and the program against an API server that is a function.

use std::{
    convert::Infallible,
    future::ready,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use kube::client::Body;
use serde_json::{Value, json};
use tower::service_fn;

use super::*;

const NOW: &str = "2027-01-15T08:00:00Z";

fn object<K: serde::de::DeserializeOwned>(value: Value) -> K {
    hyperplane_objects::read(value).unwrap()
}

/// A pod like `a ready leaving`: its uid, and what is said of it.
fn pod(text: &str) -> Value {
    let words: Vec<&str> = text.split(' ').collect();
    let status = if words.contains(&"ready") { "True" } else { "False" };
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "etcd-1", "namespace": "a", "uid": words[0]},
        "status": {"conditions": [{"type": "Ready", "status": status}]},
    });
    if words.contains(&"leaving") {
        pod["metadata"]["deletionTimestamp"] = NOW.into();
    }
    pod
}

fn claim(text: &str) -> Value {
    let mut claim = pod(text);
    claim["kind"] = "PersistentVolumeClaim".into();
    claim["metadata"]["name"] = "data-etcd-1".into();
    claim["status"] = Value::Null;
    claim
}

#[test]
fn one_step_follows_from_what_is_seen() {
    const ENDING: Step = Step::Wait("the pod has not ended yet");
    const MISSING: Step = Step::Wait("nobody has taken the place of the pod yet");
    let cases = [
        ("it keeps failing", Some("old"), Some("one"), Step::Reset),
        ("its data goes already", Some("old"), Some("one leaving"), Step::Reset),
        ("its data is gone", Some("old"), None, Step::Reset),
        ("it is well again", Some("old ready"), Some("one"), Step::Done),
        (
            "it is well again, and its data goes",
            Some("old ready"),
            Some("one leaving"),
            Step::Reset,
        ),
        ("it ends", Some("old leaving"), Some("one leaving"), ENDING),
        ("it is gone", None, Some("one"), MISSING),
        ("both are gone", None, None, MISSING),
        ("it was replaced", Some("new"), Some("two"), Step::Done),
        (
            "it was replaced, and is well",
            Some("new ready"),
            Some("two"),
            Step::Done,
        ),
        ("it was replaced, and ends", Some("new leaving"), None, Step::Done),
    ];
    for (what, of_pod, of_claim, expected) in cases {
        let (pod, claim) = (of_pod.map(pod).map(object), of_claim.map(claim).map(object));
        assert_eq!(decide("old", pod.as_ref(), claim.as_ref()), expected, "{what}");
    }
}

fn topology() -> Topology {
    Topology::in_namespace("etcd-1", "a", 3).unwrap()
}

/// Members by their numbers; a tilde is one without a vote. Their statuses are pairs of a member and its leader, of which
/// zero is none: no member has it as its ID.
fn others(members: &str, statuses: &[(u64, u64)]) -> Others {
    let member = |word: &str| {
        let number = word.trim_end_matches('~');
        Member {
            id: number.parse::<u64>().unwrap() + 1,
            name: format!("etcd-{number}"),
            is_learner: word.ends_with('~'),
            ..Member::default()
        }
    };
    let status = |&(member, leader): &(u64, u64)| Status {
        member: member + 1,
        leader: if leader == 0 { 0 } else { leader + 1 },
        database_bytes: 0,
        used_bytes: 0,
    };
    Others {
        members: members.split_whitespace().map(member).collect(),
        statuses: statuses.iter().map(status).collect(),
    }
}

/// What is the case, the members, who follows whom, and whether the member may lose its data.
type Case = (&'static str, &'static str, &'static [(u64, u64)], bool);

#[test]
fn nothing_is_taken_away_unless_the_others_go_on_without_it() {
    let cases: [Case; 11] = [
        ("both others are well", "0 1 2", &[(0, 2), (2, 2)], true),
        ("it was removed before", "0 2", &[(0, 2), (2, 2)], true),
        ("it follows them", "0 1 2", &[(0, 2), (1, 2), (2, 2)], true),
        ("one other is away", "0 1 2", &[(2, 2)], false),
        ("both others are away", "0 1 2", &[], false),
        ("one other has no leader", "0 1 2", &[(0, 0), (2, 2)], false),
        ("it leads itself", "0 1 2", &[(0, 1), (2, 1)], false),
        ("no majority answers", "", &[(0, 2), (2, 2)], false),
        ("one other does not vote", "0~ 1 2", &[(0, 2), (2, 2)], false),
        ("one alone is left", "2", &[(2, 2)], false),
        ("five, of which two are away", "0 1 2 3 4", &[(0, 2), (2, 2)], false),
    ];
    for (what, members, statuses, is_safe) in cases {
        let judged = check(&topology().own, &others(members, statuses));
        assert_eq!(judged.is_ok(), is_safe, "{what}: {judged:?}");
    }
}

/// An API server with one pod and its claim, and a controller that replaces the pod.
#[derive(Clone, Default)]
struct Server(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    pod: Option<Value>,
    claim: Option<Value>,
    deleted: Vec<String>,
    /// How often a pod that ends is looked at before another one has its place.
    patience: usize,
}

impl Server {
    fn new(of_pod: &str, of_claim: &str) -> Self {
        Self(Arc::new(Mutex::new(State {
            pod: Some(pod(of_pod)),
            claim: Some(claim(of_claim)),
            deleted: Vec::new(),
            patience: 3,
        })))
    }

    fn client(&self) -> kube::Client {
        let server = self.clone();
        let service = service_fn(move |request: Request<Body>| {
            let server = server.clone();
            async move {
                let (parts, body) = request.into_parts();
                let body = body.collect().await.unwrap().to_bytes();
                let (code, answer) = server.0.lock().unwrap().answer(&parts.method, parts.uri.path(), &body);
                let response = Response::builder().status(code);
                let response = response.body(Full::new(Bytes::from(answer.to_string())));
                Ok::<_, Infallible>(response.unwrap())
            }
        });
        kube::Client::new(service, "a")
    }

    fn deleted(&self) -> Vec<String> {
        self.0.lock().unwrap().deleted.clone()
    }
}

impl State {
    fn answer(&mut self, method: &Method, path: &str, body: &[u8]) -> (StatusCode, Value) {
        let name = path.rsplit('/').next().unwrap().to_owned();
        let is_pod = path == "/api/v1/namespaces/a/pods/etcd-1";
        assert!(is_pod || path == "/api/v1/namespaces/a/persistentvolumeclaims/data-etcd-1");
        if is_pod {
            self.replace();
        }
        let place = if is_pod { &mut self.pod } else { &mut self.claim };
        let Some(found) = place else {
            return failure(StatusCode::NOT_FOUND, "NotFound");
        };
        if *method == Method::DELETE {
            let wanted: Value = serde_json::from_slice(body).unwrap();
            if wanted["preconditions"]["uid"] != found["metadata"]["uid"] {
                return failure(StatusCode::CONFLICT, "Conflict");
            }
            found["metadata"]["deletionTimestamp"] = NOW.into();
            self.deleted.push(name);
        }
        (StatusCode::OK, found.clone())
    }

    /// The claim stays until the pod has gone; then both are made anew.
    fn replace(&mut self) {
        let is_leaving = |object: &Option<Value>| {
            let meta = object.as_ref().map(|object| &object["metadata"]);
            meta.is_some_and(|meta| meta["deletionTimestamp"].is_string())
        };
        if is_leaving(&self.pod) {
            self.patience -= 1;
            if self.patience == 0 {
                self.pod = Some(pod("new"));
                if is_leaving(&self.claim) {
                    self.claim = Some(claim("two"));
                }
            }
        }
    }
}

fn failure(code: StatusCode, reason: &str) -> (StatusCode, Value) {
    let status = json!({"apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure", "message": "no",
        "reason": reason, "code": code.as_u16()});
    (code, status)
}

async fn recover(server: &Server, others: Others) -> Result<(), RecoverError> {
    let settings = Settings {
        topology: topology(),
        namespace: "a".to_owned(),
        uid: "old".to_owned(),
    };
    run(&settings, &server.client(), || ready(Ok(others.clone()))).await
}

fn well() -> Others {
    others("0 1 2", &[(0, 2), (2, 2)])
}

#[tokio::test(start_paused = true)]
async fn the_data_goes_and_then_the_pod() {
    let server = Server::new("old", "one");
    recover(&server, well()).await.unwrap();
    assert_eq!(server.deleted(), ["data-etcd-1", "etcd-1"]);
    recover(&server, well()).await.unwrap();
    assert_eq!(server.deleted().len(), 2, "a second run finds nothing to do");
}

#[tokio::test(start_paused = true)]
async fn it_goes_on_where_it_was_killed() {
    let server = Server::new("old", "one leaving");
    recover(&server, well()).await.unwrap();
    assert_eq!(server.deleted(), ["etcd-1"]);
    let server = Server::new("old leaving", "one leaving");
    recover(&server, well()).await.unwrap();
    assert_eq!(server.deleted(), [] as [&str; 0]);
}

#[tokio::test(start_paused = true)]
async fn without_a_quorum_of_the_others_it_refuses() {
    let server = Server::new("old", "one");
    let refused = recover(&server, others("0 1 2", &[(2, 2)])).await.unwrap_err();
    let told = refused.to_string();
    assert!(
        told.contains("1 of the other members are well, and 2 have to be"),
        "{told}"
    );
    assert_eq!(server.deleted(), [] as [&str; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_member_that_is_well_or_another_one_keeps_its_data() {
    for of_pod in ["old ready", "new"] {
        let server = Server::new(of_pod, "one");
        recover(&server, Others::default()).await.unwrap();
        assert_eq!(server.deleted(), [] as [&str; 0], "{of_pod}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_never_ends_is_not_waited_for_for_ever() {
    let server = Server::new("old", "one");
    server.0.lock().unwrap().patience = usize::MAX;
    let given_up = recover(&server, well()).await.unwrap_err();
    assert!(matches!(given_up, RecoverError::Waited { .. }), "{given_up}");
    assert_eq!(server.deleted(), ["data-etcd-1", "etcd-1"]);
}
