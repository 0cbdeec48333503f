//! Which objects lead to which node: node ← pod ← Secret, ConfigMap, claim ← volume ← Secret. It is kept up to date
//! object by object, and a question costs a few lookups. Knows nothing of verbs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    object::{self, at, list, text},
    references::{self, Referred},
};

/// Names within namespaces.
type Namespaced<T> = BTreeMap<Box<str>, BTreeMap<Box<str>, T>>;

/// A kind of object that may lead to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vertex {
    Pod,
    Referred(Referred),
    Volume,
    Attachment,
    Slice,
}

/// The relations of a whole cluster.
#[derive(Default)]
pub(super) struct Graph {
    pods: Namespaced<Pod>,
    /// For each kind that a pod names: on how many pods of which nodes it is used.
    used: BTreeMap<Referred, Namespaced<BTreeMap<Box<str>, usize>>>,
    volumes: BTreeMap<Box<str>, Volume>,
    /// The volumes that need a Secret.
    secret_volumes: Namespaced<BTreeSet<Box<str>>>,
    attachments: BTreeMap<Box<str>, Box<str>>,
    slices: BTreeMap<Box<str>, Box<str>>,
}

struct Pod {
    node: Box<str>,
    uid: Box<str>,
    /// References can only be added by ephemeral containers and by claims, once a pod has a node.
    ephemeral_containers: usize,
    claims: Vec<String>,
    references: Vec<(Referred, String)>,
}

struct Volume {
    claim_namespace: Box<str>,
    claim: Box<str>,
    secrets: Vec<(String, String)>,
}

impl Graph {
    pub fn put_pod(&mut self, pod: &Value) {
        let (namespace, name) = (object::namespace(pod), object::name(pod));
        let node = text(pod, &["spec", "nodeName"]);
        if node.is_empty() || self.is_known(namespace, name, pod, node) {
            return;
        }
        self.remove_pod(namespace, name);
        // A node must not gain access through a pod that it made itself.
        let references = if references::is_mirror(pod) {
            Vec::new()
        } else {
            references::of_pod(pod)
        };
        for (kind, referred) in &references {
            let users = self.used.entry(*kind).or_default().entry(namespace.into()).or_default();
            *users
                .entry(referred.as_str().into())
                .or_default()
                .entry(node.into())
                .or_default() += 1;
        }
        let pod = Pod {
            node: node.into(),
            uid: object::uid(pod).into(),
            ephemeral_containers: list(pod, &["spec", "ephemeralContainers"]).len(),
            claims: references::resource_claims(pod),
            references,
        };
        self.pods.entry(namespace.into()).or_default().insert(name.into(), pod);
    }

    pub fn remove_pod(&mut self, namespace: &str, name: &str) {
        let Some(pod) = remove(&mut self.pods, namespace, name) else {
            return;
        };
        for (kind, referred) in &pod.references {
            self.release(*kind, namespace, referred, &pod.node);
        }
    }

    pub fn put_volume(&mut self, volume: &Value) {
        let name = object::name(volume);
        self.remove_volume(name);
        let claim = at(volume, &["spec", "claimRef"]);
        if claim.is_null() {
            return;
        }
        let secrets = references::secrets_of_volume(volume);
        for (namespace, secret) in &secrets {
            let secrets = self.secret_volumes.entry(namespace.as_str().into()).or_default();
            secrets.entry(secret.as_str().into()).or_default().insert(name.into());
        }
        let claim_namespace = text(claim, &["namespace"]).into();
        let claim = text(claim, &["name"]).into();
        self.volumes.insert(
            name.into(),
            Volume {
                claim_namespace,
                claim,
                secrets,
            },
        );
    }

    pub fn remove_volume(&mut self, name: &str) {
        let Some(volume) = self.volumes.remove(name) else {
            return;
        };
        for (namespace, secret) in &volume.secrets {
            let volumes = self
                .secret_volumes
                .get_mut(namespace.as_str())
                .and_then(|names| names.get_mut(secret.as_str()));
            if volumes.is_some_and(|volumes| volumes.remove(name) && volumes.is_empty()) {
                remove(&mut self.secret_volumes, namespace, secret);
            }
        }
    }

    pub fn put_attachment(&mut self, attachment: &Value) {
        put_node(&mut self.attachments, attachment);
    }

    pub fn remove_attachment(&mut self, name: &str) {
        self.attachments.remove(name);
    }

    pub fn put_slice(&mut self, slice: &Value) {
        put_node(&mut self.slices, slice);
    }

    pub fn remove_slice(&mut self, name: &str) {
        self.slices.remove(name);
    }

    /// Whether the object leads to the node.
    pub fn leads(&self, vertex: Vertex, namespace: &str, name: &str, node: &str) -> bool {
        let is_node = |found: Option<&Box<str>>| found.is_some_and(|found| **found == *node);
        match vertex {
            Vertex::Pod => is_node(find(&self.pods, namespace, name).map(|pod| &pod.node)),
            Vertex::Referred(Referred::Secret) => {
                self.uses(Referred::Secret, namespace, name, node)
                    || find(&self.secret_volumes, namespace, name)
                        .is_some_and(|volumes| volumes.iter().any(|volume| self.mounts(volume, node)))
            }
            Vertex::Referred(kind) => self.uses(kind, namespace, name, node),
            Vertex::Volume => self.mounts(name, node),
            Vertex::Attachment => is_node(self.attachments.get(name)),
            Vertex::Slice => is_node(self.slices.get(name)),
        }
    }

    fn is_known(&self, namespace: &str, name: &str, pod: &Value, node: &str) -> bool {
        find(&self.pods, namespace, name).is_some_and(|known| {
            *known.node == *node
                && *known.uid == *object::uid(pod)
                && known.ephemeral_containers == list(pod, &["spec", "ephemeralContainers"]).len()
                && known.claims == references::resource_claims(pod)
        })
    }

    fn uses(&self, kind: Referred, namespace: &str, name: &str, node: &str) -> bool {
        let nodes = self.used.get(&kind).and_then(|used| find(used, namespace, name));
        nodes.is_some_and(|nodes| nodes.contains_key(node))
    }

    fn mounts(&self, volume: &str, node: &str) -> bool {
        let volume = self.volumes.get(volume);
        volume.is_some_and(|volume| self.uses(Referred::Claim, &volume.claim_namespace, &volume.claim, node))
    }

    fn release(&mut self, kind: Referred, namespace: &str, name: &str, node: &str) {
        let Some(used) = self.used.get_mut(&kind) else { return };
        let Some(nodes) = used.get_mut(namespace).and_then(|names| names.get_mut(name)) else {
            return;
        };
        if let Some(count) = nodes.get_mut(node) {
            *count -= 1;
            if *count == 0 {
                nodes.remove(node);
            }
        }
        if nodes.is_empty() {
            remove(used, namespace, name);
        }
    }
}

fn put_node(nodes: &mut BTreeMap<Box<str>, Box<str>>, object: &Value) {
    let (name, node) = (object::name(object), text(object, &["spec", "nodeName"]));
    if node.is_empty() {
        nodes.remove(name);
    } else {
        nodes.insert(name.into(), node.into());
    }
}

fn find<'a, T>(names: &'a Namespaced<T>, namespace: &str, name: &str) -> Option<&'a T> {
    names.get(namespace).and_then(|names| names.get(name))
}

fn remove<T>(names: &mut Namespaced<T>, namespace: &str, name: &str) -> Option<T> {
    let within = names.get_mut(namespace)?;
    let removed = within.remove(name);
    if within.is_empty() {
        names.remove(namespace);
    }
    removed
}
