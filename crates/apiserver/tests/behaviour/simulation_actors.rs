//! Clients that do anything to namespaces, definitions, owners and finalizers, and give up on requests at any moment.

use std::{
    pin::{Pin, pin},
    task::{Context, Poll},
    time::Duration,
};

use hyperplane_seams::Random;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    definitions::definition,
    simulation_ground::{Ground, owner},
};

const NAMESPACES: u64 = 3;
const NAMES: u64 = 8;
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// The definitions that clients write; two of them want the same kind.
const KINDS: [(&str, &str); 3] = [("leaves", "Leaf"), ("foliage", "Leaf"), ("twigs", "Twig")];
const FINALIZER: &str = "x.test/hold";

/// A write that was answered with success.
#[derive(Clone, Debug)]
pub(crate) struct Acknowledged {
    pub(crate) kind: String,
    pub(crate) revision: u64,
}

/// A client.
pub(crate) struct Actor {
    random: Random,
    pub(crate) acknowledged: Vec<Acknowledged>,
    /// What it did, for comparison with another run of the seed.
    pub(crate) trace: Vec<String>,
}

/// One request.
struct Act {
    method: &'static str,
    path: String,
    body: Value,
}

impl Act {
    fn new(method: &'static str, path: impl Into<String>, body: Value) -> Self {
        Self {
            method,
            path: path.into(),
            body,
        }
    }
}

impl Actor {
    pub(crate) fn new(seed: u64, name: &str) -> Self {
        Self {
            random: Random::named(seed, name),
            acknowledged: Vec::new(),
            trace: Vec::new(),
        }
    }

    /// Acts for ever.
    pub(crate) async fn run(&mut self, ground: &Ground) {
        loop {
            sleep(self.random.up_to(Duration::from_millis(400))).await;
            if let Some(act) = self.choose(ground).await {
                self.send(ground, &act).await;
            }
        }
    }

    async fn send(&mut self, ground: &Ground, act: &Act) {
        let content_type = if act.method == "PATCH" {
            "application/merge-patch+json"
        } else {
            "application/json"
        };
        let request = ground
            .world
            .send(act.method, &act.path, content_type, act.body.to_string());
        let polls = if self.random.below(5) == 0 {
            self.random.below(4)
        } else {
            u64::MAX
        };
        let answered = Impatient {
            inner: pin!(request),
            polls,
        }
        .await;
        let status = answered.as_ref().map_or(0, |(status, _)| status.as_u16());
        let answer = answered.map(|(_, answer)| answer).unwrap_or_default();
        let revision = answer["metadata"]["resourceVersion"]
            .as_str()
            .and_then(|text| text.parse().ok());
        self.trace
            .push(format!("{} {} {status} {revision:?}", act.method, act.path));
        assert!(!matches!(status, 500), "{} {}: {answer:#}", act.method, act.path);
        if let (200 | 201, Some(revision), Some(kind)) = (status, revision, answer["kind"].as_str()) {
            self.acknowledged.push(Acknowledged {
                kind: kind.to_owned(),
                revision,
            });
        }
    }

    async fn choose(&mut self, ground: &Ground) -> Option<Act> {
        let namespace = format!("n{}", self.random.below(NAMESPACES));
        match self.random.below(20) {
            0 | 1 => Some(Act::new(
                "POST",
                "/api/v1/namespaces",
                json!({"metadata": {"name": namespace}}),
            )),
            2 => Some(Act::new("DELETE", format!("/api/v1/namespaces/{namespace}"), json!({}))),
            3 => Some(self.define()),
            4 => self.change_definition(ground).await,
            5..10 => self.create(ground, &namespace).await,
            10..13 => self.adopt(ground, &namespace).await,
            13 | 14 => self.release(ground, &namespace).await,
            15..19 => self.delete(ground, &namespace).await,
            _ => Some(Act::new("DELETE", self.collection(&namespace), json!({}))),
        }
    }

    fn collection(&mut self, namespace: &str) -> String {
        match self.random.below(8) {
            0 => format!("/apis/x.test/v1/namespaces/{namespace}/leaves"),
            1 => format!("/apis/x.test/v1/namespaces/{namespace}/twigs"),
            2 => format!("/apis/x.test/v1/namespaces/{namespace}/foliage"),
            3 => format!("/api/v1/namespaces/{namespace}/secrets"),
            _ => format!("/api/v1/namespaces/{namespace}/configmaps"),
        }
    }

    fn define(&mut self) -> Act {
        let (plural, kind) = KINDS[usize::try_from(self.random.below(3)).unwrap()];
        Act::new("POST", DEFINITIONS, definition(plural, kind))
    }

    async fn change_definition(&mut self, ground: &Ground) -> Option<Act> {
        let found = self.any(ground, DEFINITIONS).await?;
        let path = format!("{DEFINITIONS}/{}", found["metadata"]["name"].as_str()?);
        if self.random.below(2) == 0 {
            return Some(Act::new("DELETE", path, json!({})));
        }
        let mut versions = found["spec"]["versions"].clone();
        versions[0]["served"] = json!(self.random.below(3) > 0);
        versions[0]["schema"]["openAPIV3Schema"]["properties"]["more"] =
            json!({"type": "string", "default": format!("{}", self.random.below(3))});
        let short = format!("s{}", self.random.below(2));
        Some(Act::new(
            "PATCH",
            path,
            json!({"spec": {"versions": versions, "names": {"shortNames": [short]}}}),
        ))
    }

    async fn create(&mut self, ground: &Ground, namespace: &str) -> Option<Act> {
        let path = self.collection(namespace);
        let mut metadata = json!({"name": format!("m{}", self.random.below(NAMES))});
        if self.random.below(4) == 0 {
            metadata["finalizers"] = json!([FINALIZER]);
        }
        if self.random.below(2) == 0 {
            metadata["ownerReferences"] = self.owners(ground, namespace).await;
        }
        let mut body = json!({"metadata": metadata});
        if let Some((_, plural)) = path.rsplit_once('/').filter(|_| path.contains("x.test")) {
            let (_, kind) = KINDS.iter().find(|(known, _)| *known == plural)?;
            body["apiVersion"] = json!("x.test/v1");
            body["kind"] = json!(kind);
        }
        Some(Act::new("POST", path, body))
    }

    /// Up to two owners, mostly real ones.
    async fn owners(&mut self, ground: &Ground, namespace: &str) -> Value {
        let mut owners = Vec::new();
        for _ in 0..=self.random.below(2) {
            let place = match self.random.below(12) {
                0 => format!("n{}", self.random.below(NAMESPACES)),
                _ => namespace.to_owned(),
            };
            let path = self.collection(&place);
            if let Some(mut found) = self.any(ground, &path).await {
                if self.random.below(15) == 0 {
                    found["metadata"]["uid"] = json!("nobody");
                }
                let reference = owner(&found, self.random.below(2) == 0);
                if !owners.iter().any(|known: &Value| known["uid"] == reference["uid"]) {
                    owners.push(reference);
                }
            }
        }
        Value::Array(owners)
    }

    async fn adopt(&mut self, ground: &Ground, namespace: &str) -> Option<Act> {
        let path = self.object(ground, namespace).await?;
        let owners = self.owners(ground, namespace).await;
        Some(Act::new(
            "PATCH",
            path,
            json!({"metadata": {"ownerReferences": owners}}),
        ))
    }

    async fn release(&mut self, ground: &Ground, namespace: &str) -> Option<Act> {
        let path = self.object(ground, namespace).await?;
        let found = ground.get(&path).await?;
        let finalizers = found["metadata"]["finalizers"].as_array()?;
        let kept: Vec<&Value> = finalizers.iter().filter(|name| *name != FINALIZER).collect();
        Some(Act::new("PATCH", path, json!({"metadata": {"finalizers": kept}})))
    }

    async fn delete(&mut self, ground: &Ground, namespace: &str) -> Option<Act> {
        let path = self.object(ground, namespace).await?;
        let policy = ["Background", "Foreground", "Orphan"][usize::try_from(self.random.below(3)).unwrap()];
        Some(Act::new("DELETE", path, json!({"propagationPolicy": policy})))
    }

    /// The path of something that is there.
    async fn object(&mut self, ground: &Ground, namespace: &str) -> Option<String> {
        let path = self.collection(namespace);
        let found = self.any(ground, &path).await?;
        Some(format!("{path}/{}", found["metadata"]["name"].as_str()?))
    }

    async fn any(&mut self, ground: &Ground, path: &str) -> Option<Value> {
        let list = ground.get(path).await?;
        let items = list["items"].as_array()?;
        let index = usize::try_from(self.random.below(items.len() as u64)).ok()?;
        let mut found = items.get(index)?.clone();
        // Items of a list do not say what they are; the list does.
        found["apiVersion"] = list["apiVersion"].clone();
        found["kind"] = json!(list["kind"].as_str()?.strip_suffix("List")?);
        Some(found)
    }
}

/// A request on which its client gives up after some steps.
struct Impatient<'a, F> {
    inner: Pin<&'a mut F>,
    polls: u64,
}

impl<F: Future> Future for Impatient<'_, F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.polls == 0 {
            return Poll::Ready(None);
        }
        self.polls -= 1;
        match self.inner.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if self.polls == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }
}
