//! A kubelet and its Node: its own name, no taints, no owners, and of Kubernetes' labels only those that kubelets set.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Operation, Restriction};
use crate::{
    Refusal,
    object::{at, text},
    text::quote,
};

const LABELS: [&str; 11] = [
    "kubernetes.io/hostname",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "beta.kubernetes.io/instance-type",
    "node.kubernetes.io/instance-type",
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
];
const LABEL_DOMAINS: [&str; 2] = ["kubelet.kubernetes.io", "node.kubernetes.io"];
const KUBERNETES_DOMAINS: [&str; 2] = ["kubernetes.io", "k8s.io"];
const RESTRICTED_DOMAIN: &str = "node-restriction.kubernetes.io";
/// What a kubelet reports of a claim that it resizes.
const CLAIM_STATUS: [&str; 4] = [
    "capacity",
    "conditions",
    "allocatedResourceStatuses",
    "allocatedResources",
];

impl Restriction<'_> {
    pub(super) fn node(&self) -> Result<(), Refusal> {
        let (node, name) = (quote(self.node), self.write.name());
        if name != self.node {
            return self.refuse(&format!("node {node} is not allowed to modify node {}", quote(name)));
        }
        let (new, old) = (self.write.object(), self.write.old());
        match self.write.operation() {
            Operation::Create => self.node_creation(new),
            Operation::Update => self.node_update(new, old),
            Operation::Delete => Ok(()),
        }
    }

    fn node_creation(&self, new: &Value) -> Result<(), Refusal> {
        let node = quote(self.node);
        if !at(new, &["spec", "configSource"]).is_null() {
            return self.refuse(&format!(
                "node {node} is not allowed to create pods with a non-nil configSource"
            ));
        }
        let labels = forbidden_labels(new, &Value::Null);
        if labels.is_empty() {
            return Ok(());
        }
        self.refuse(&format!(
            "node {node} is not allowed to set the following labels: {labels}"
        ))
    }

    fn node_update(&self, new: &Value, old: &Value) -> Result<(), Refusal> {
        let node = quote(self.node);
        let changes = |path: &[&str]| !is_same(at(new, path), at(old, path));
        let source = at(new, &["spec", "configSource"]);
        if !source.is_null() && changes(&["spec", "configSource"]) {
            return self.refuse(&format!(
                "node {node} is not allowed to update configSource to a new non-nil configSource"
            ));
        }
        if changes(&["spec", "taints"]) {
            return self.refuse(&format!("node {node} is not allowed to modify taints"));
        }
        if changes(&["metadata", "ownerReferences"]) {
            return self.refuse(&format!("node {node} is not allowed to modify ownerReferences"));
        }
        let labels = forbidden_labels(new, old);
        if labels.is_empty() {
            Ok(())
        } else {
            self.refuse(&format!("is not allowed to modify labels: {labels}"))
        }
    }
}

/// The claim without what a kubelet may report and what changes by itself.
pub(super) fn without_node_status(claim: &Value) -> Value {
    let mut claim = claim.clone();
    for (parent, fields) in [
        ("metadata", &["resourceVersion", "managedFields"][..]),
        ("status", &CLAIM_STATUS),
    ] {
        if let Some(map) = claim.get_mut(parent).and_then(Value::as_object_mut) {
            map.retain(|key, _| !fields.contains(&key.as_str()));
        }
    }
    if claim
        .get("status")
        .is_some_and(|status| status.as_object().is_some_and(serde_json::Map::is_empty))
    {
        claim["status"] = Value::Null;
    }
    claim
}

/// Which fields of the second level differ.
pub(super) fn changed_fields(old: &Value, new: &Value) -> Vec<String> {
    let mut changed = Vec::new();
    for parent in keys(old, new) {
        let (old, new) = (at(old, &[&parent]), at(new, &[&parent]));
        if old == new {
            continue;
        }
        let children: Vec<String> = keys(old, new)
            .into_iter()
            .filter(|key| at(old, &[key]) != at(new, &[key]))
            .collect();
        if children.is_empty() {
            changed.push(parent);
        } else {
            changed.extend(children.into_iter().map(|child| format!("{parent}.{child}")));
        }
    }
    changed
}

fn keys(old: &Value, new: &Value) -> BTreeSet<String> {
    [old, new]
        .into_iter()
        .filter_map(Value::as_object)
        .flat_map(|map| map.keys().cloned())
        .collect()
}

/// Nothing and an empty list are the same.
fn is_same(one: &Value, other: &Value) -> bool {
    let is_empty = |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
    one == other || (is_empty(one) && is_empty(other))
}

fn forbidden_labels(new: &Value, old: &Value) -> String {
    let (new, old) = (at(new, &["metadata", "labels"]), at(old, &["metadata", "labels"]));
    let changed = keys(old, new)
        .into_iter()
        .filter(|key| text(new, &[key]) != text(old, &[key]) || new.get(key).is_some() != old.get(key).is_some());
    let forbidden: Vec<String> = changed.filter(|label| is_forbidden(label)).collect();
    forbidden.join(", ")
}

fn is_forbidden(label: &str) -> bool {
    let domain = label.split_once('/').map_or("", |(domain, _)| domain);
    let is_in = |parent: &str| domain == parent || domain.strip_suffix(parent).is_some_and(|rest| rest.ends_with('.'));
    let is_kubelets = LABELS.contains(&label) || LABEL_DOMAINS.into_iter().any(is_in);
    is_in(RESTRICTED_DOMAIN) || (KUBERNETES_DOMAINS.into_iter().any(is_in) && !is_kubelets)
}
