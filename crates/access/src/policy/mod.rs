//! The live policy of a cluster: an index of roles, bindings and of what runs where, fed object by object as they are
//! committed, and the answer to "may they?". Does no I/O; whoever commits calls.

mod binding;
mod escalation;
mod graph;
mod node;
mod rbac;
#[cfg(test)]
mod tests;

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use serde_json::{Value, json};

pub(crate) use self::binding::Binding;
use self::{graph::Graph, rbac::Rbac};
use crate::{Attributes, Decision, Rule, User, bootstrap, names, text};

/// Who is told of every right that was asked for, and of the answer: those who want to know which rights are needed.
pub type Witness = Box<dyn Fn(&Attributes<'_>, &Decision) + Send + Sync>;

/// Who may do what, now.
#[derive(Default)]
pub struct Policy {
    index: RwLock<Index>,
    witness: Option<Witness>,
}

#[derive(Default)]
struct Index {
    rbac: Rbac,
    graph: Graph,
}

impl Policy {
    /// A policy that allows nothing but to the masters.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, with somebody who is told of every question.
    pub fn witnessed(witness: Option<Witness>) -> Self {
        Self {
            witness,
            ..Self::default()
        }
    }

    /// The policy of a cluster that was just started.
    pub fn with_defaults() -> Self {
        let policy = Self::new();
        for entry in bootstrap::objects() {
            policy.put(&format!("{}.{}", entry.resource, bootstrap::GROUP), &entry.object);
        }
        policy
    }

    /// Whether objects of the resource, written as in messages (`clusterroles.rbac.authorization.k8s.io`), matter here.
    pub fn follows(resource: &str) -> bool {
        matches!(
            resource,
            "pods"
                | "persistentvolumes"
                | "clusterroles.rbac.authorization.k8s.io"
                | "clusterrolebindings.rbac.authorization.k8s.io"
                | "roles.rbac.authorization.k8s.io"
                | "rolebindings.rbac.authorization.k8s.io"
                | "volumeattachments.storage.k8s.io"
                | "resourceslices.resource.k8s.io"
        )
    }

    /// Takes note of an object that was created or changed; does nothing for a resource that is not followed.
    pub fn put(&self, resource: &str, object: &Value) {
        if !Self::follows(resource) {
            return;
        }
        let index = &mut *self.write();
        match resource {
            "pods" => index.graph.put_pod(object),
            "persistentvolumes" => index.graph.put_volume(object),
            "clusterroles.rbac.authorization.k8s.io" => index.rbac.put_cluster_role(object),
            "roles.rbac.authorization.k8s.io" => index.rbac.put_role(object),
            "volumeattachments.storage.k8s.io" => index.graph.put_attachment(object),
            "resourceslices.resource.k8s.io" => index.graph.put_slice(object),
            _ => index.rbac.put_binding(object),
        }
    }

    /// Takes note that an object is gone.
    pub fn remove(&self, resource: &str, namespace: &str, name: &str) {
        if !Self::follows(resource) {
            return;
        }
        let index = &mut *self.write();
        match resource {
            "pods" => index.graph.remove_pod(namespace, name),
            "persistentvolumes" => index.graph.remove_volume(name),
            "clusterroles.rbac.authorization.k8s.io" => index.rbac.remove_cluster_role(name),
            "clusterrolebindings.rbac.authorization.k8s.io" => index.rbac.remove_cluster_binding(name),
            "roles.rbac.authorization.k8s.io" => index.rbac.remove_role(namespace, name),
            "volumeattachments.storage.k8s.io" => index.graph.remove_attachment(name),
            "resourceslices.resource.k8s.io" => index.graph.remove_slice(name),
            _ => index.rbac.remove_binding(namespace, name),
        }
    }

    /// The masters may do everything; nodes what the node authorizer grants; everybody what RBAC grants.
    pub fn authorize(&self, attributes: &Attributes<'_>) -> Decision {
        let decision = self.decide(attributes);
        if let Some(witness) = &self.witness {
            witness(attributes, &decision);
        }
        decision
    }

    fn decide(&self, attributes: &Attributes<'_>) -> Decision {
        if attributes.user.is_in(names::MASTERS) {
            return Decision::Allow(String::new());
        }
        let index = self.read();
        let node = node::authorize(&index.graph, attributes);
        if node.is_allowed() {
            return node;
        }
        match (index.rbac.authorize(attributes), node.reason()) {
            (Decision::NoOpinion(rbac), reason) if !reason.is_empty() && !rbac.is_empty() => {
                Decision::NoOpinion(format!("{reason}\n{rbac}"))
            }
            (Decision::NoOpinion(rbac), reason) if rbac.is_empty() => Decision::NoOpinion(reason.to_owned()),
            (decision, _) => decision,
        }
    }

    /// The status of a SelfSubjectRulesReview.
    pub fn rules_for(&self, user: &User, namespace: &str) -> Value {
        let (rules, missing) = self.read().rbac.rules_for(user, namespace);
        let is_node = user.as_node().is_some();
        let node_error = is_node.then(|| "node authorizer does not support user rule resolution".to_owned());
        let errors: Vec<String> = node_error
            .into_iter()
            .chain(missing.iter().map(ToString::to_string))
            .collect();
        let only = |fields: &[&str], rule: &Rule| {
            let mut value = rule.to_value();
            if let Some(map) = value.as_object_mut() {
                map.retain(|key, _| fields.contains(&key.as_str()));
            }
            value
        };
        let on_objects = rules.iter().filter(|rule| !rule.resources.is_empty());
        let on_paths = rules.iter().filter(|rule| !rule.urls.is_empty());
        let on_objects = on_objects.map(|rule| only(&["verbs", "apiGroups", "resources", "resourceNames"], rule));
        let on_paths = on_paths.map(|rule| only(&["verbs", "nonResourceURLs"], rule));
        let mut status = json!({
            "resourceRules": on_objects.collect::<Vec<_>>(),
            "nonResourceRules": on_paths.collect::<Vec<_>>(),
            "incomplete": is_node,
        });
        if !errors.is_empty() {
            status["evaluationError"] = json!(text::join_errors(&errors));
        }
        status
    }

    // A panic while the lock was held can only have come from a bug in reading an object; the index stays usable, as
    // every change of it is finished or not begun when something could panic.
    fn read(&self) -> RwLockReadGuard<'_, Index> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Index> {
        self.index.write().unwrap_or_else(PoisonError::into_inner)
    }
}
