//! A kubelet and pods: it makes and deletes mirror pods of its own, and reports on and evicts what runs on it.

use std::sync::Arc;

use serde_json::Value;

use super::{Operation, Restriction};
use crate::{
    Refusal,
    object::{self, at, list, text},
    references::{self, MIRROR_POD},
    text::quote,
};

/// Volumes that name no other object.
const LOCAL_VOLUMES: [&str; 22] = [
    "awsElasticBlockStore",
    "azureDisk",
    "cephfs",
    "cinder",
    "downwardAPI",
    "emptyDir",
    "fc",
    "flexVolume",
    "flocker",
    "gcePersistentDisk",
    "gitRepo",
    "hostPath",
    "image",
    "iscsi",
    "nfs",
    "photonPersistentDisk",
    "portworxVolume",
    "quobyte",
    "rbd",
    "scaleIO",
    "storageos",
    "vsphereVolume",
];
/// Volumes that do, and what is said of them.
const NAMING_VOLUMES: [(&str, &str); 7] = [
    ("configMap", "configmaps (via configmap volumes)"),
    ("secret", "secrets (via secret volumes)"),
    ("csi", "csidrivers (via CSI volumes)"),
    ("glusterfs", "endpoints (via glusterFS volumes)"),
    ("persistentVolumeClaim", "persistentvolumeclaims"),
    ("ephemeral", "persistentvolumeclaims (via ephemeral volumes)"),
    ("azureFile", "secrets (via azureFile volumes)"),
];
/// Parts of projected volumes that do.
const NAMING_SOURCES: [(&str, &str); 5] = [
    ("configMap", "configmaps (via projected volumes)"),
    ("secret", "secrets (via projected volumes)"),
    ("serviceAccountToken", "serviceaccounts (via projected volumes)"),
    ("clusterTrustBundle", "clustertrustbundles"),
    ("podCertificate", "podcertificates"),
];

impl Restriction<'_> {
    pub(super) fn pod(&self) -> Result<(), Refusal> {
        match self.write.attributes.subresource {
            "" => self.mirror_pod(),
            "status" => self.pod_status(),
            "eviction" => self.eviction(),
            other => self.refuse(&format!(
                "unexpected pod subresource {}, only 'status' and 'eviction' are allowed",
                quote(other)
            )),
        }
    }

    fn mirror_pod(&self) -> Result<(), Refusal> {
        let node = quote(self.node);
        match self.write.operation() {
            Operation::Create => self.mirror_pod_creation(self.write.object()),
            Operation::Delete if self.runs_here(&*self.find_pod(self.write.name())?) => Ok(()),
            Operation::Delete => self.refuse(&format!(
                "node {node} can only delete pods with spec.nodeName set to itself"
            )),
            Operation::Update => self.refuse(&format!(
                "unexpected operation {}, node {node} can only create and delete mirror pods",
                quote(Operation::Update.word())
            )),
        }
    }

    fn mirror_pod_creation(&self, pod: &Value) -> Result<(), Refusal> {
        let node = quote(self.node);
        if !references::is_mirror(pod) {
            let annotation = quote(MIRROR_POD);
            return self.refuse(&format!(
                "pod does not have {annotation} annotation, node {node} can only create mirror pods"
            ));
        }
        if !self.runs_here(pod) {
            return self.refuse(&format!(
                "node {node} can only create pods with spec.nodeName set to itself"
            ));
        }
        self.mirror_pod_owner(pod)?;
        match named_objects(pod) {
            Ok(None) => Ok(()),
            Ok(Some(resource)) => self.refuse(&format!("node {node} can not create pods that reference {resource}")),
            Err(error) => self.refuse(&format!("error checking mirror pod for API references: {error}")),
        }
    }

    fn mirror_pod_owner(&self, pod: &Value) -> Result<(), Refusal> {
        let node = quote(self.node);
        let refuse = |what: &str| self.refuse(&format!("node {node} {what}"));
        let owners = list(pod, &["metadata", "ownerReferences"]);
        if owners.len() > 1 {
            return refuse("can only create pods with a single owner reference set to itself");
        }
        let is_node = |owner: &&Value| {
            let field = |name: &str| text(owner, &[name]);
            field("apiVersion") == "v1" && field("kind") == "Node" && field("name") == self.node
        };
        let Some(owner) = owners.first().filter(is_node) else {
            return refuse("can only create pods with an owner reference set to itself");
        };
        if at(owner, &["controller"]) != true {
            return refuse("can only create pods with a controller owner reference set to itself");
        }
        if at(owner, &["blockOwnerDeletion"]) == true {
            return refuse("must not set blockOwnerDeletion on an owner reference");
        }
        let found = self.write.objects.get("", "nodes", "", self.node);
        let found = found.ok_or_else(|| Refusal::not_found("", "node", self.node))?;
        let (claimed, uid) = (text(owner, &["uid"]), object::uid(&found));
        if claimed == uid {
            return Ok(());
        }
        self.refuse(&format!(
            "node {} UID mismatch: expected {claimed} got {uid}",
            self.node
        ))
    }

    fn pod_status(&self) -> Result<(), Refusal> {
        let node = quote(self.node);
        let refuse = |what: &str| self.refuse(&format!("node {node} {what}"));
        if self.write.operation() != Operation::Update {
            return self.refuse(&format!(
                "unexpected operation {}",
                quote(self.write.operation().word())
            ));
        }
        let (old, new) = (self.write.old(), self.write.object());
        if !self.runs_here(old) {
            return refuse("can only update pod status for pods with spec.nodeName set to itself");
        }
        let labels = |pod| {
            at(pod, &["metadata", "labels"])
                .as_object()
                .filter(|labels| !labels.is_empty())
        };
        if labels(old) != labels(new) {
            return refuse("cannot update labels through pod status");
        }
        if claim_statuses(old) != claim_statuses(new) {
            return refuse("cannot update resource claim statues");
        }
        if at(old, &["status", "extendedResourceClaimStatus"]) != at(new, &["status", "extendedResourceClaimStatus"]) {
            return refuse("cannot update extended resource claim status");
        }
        Ok(())
    }

    fn eviction(&self) -> Result<(), Refusal> {
        if self.write.operation() != Operation::Create {
            return self.refuse(&format!("unexpected operation {}", self.write.operation().word()));
        }
        if self.write.name().is_empty() {
            return self.refuse("could not determine pod from request data");
        }
        if self.runs_here(&*self.find_pod(self.write.name())?) {
            return Ok(());
        }
        self.refuse(&format!(
            "node {} can only evict pods with spec.nodeName set to itself",
            self.node
        ))
    }

    pub(super) fn runs_here(&self, pod: &Value) -> bool {
        text(pod, &["spec", "nodeName"]) == self.node
    }

    pub(super) fn find_pod(&self, name: &str) -> Result<Arc<Value>, Refusal> {
        let pod = self
            .write
            .objects
            .get("", "pods", self.write.attributes.namespace, name);
        pod.ok_or_else(|| Refusal::not_found("", "pod", name))
    }
}

fn claim_statuses(pod: &Value) -> Vec<(&str, Option<&str>)> {
    let statuses = list(pod, &["status", "resourceClaimStatuses"]).iter();
    statuses
        .map(|status| (text(status, &["name"]), at(status, &["resourceClaimName"]).as_str()))
        .collect()
}

/// The first kind of object that the pod names; a mirror pod must name none.
fn named_objects(pod: &Value) -> Result<Option<&'static str>, String> {
    if !text(pod, &["spec", "serviceAccountName"]).is_empty() {
        return Ok(Some("serviceaccounts"));
    }
    let mut secrets = false;
    references::secrets_of_pod(pod, &mut |name| secrets |= !name.is_empty());
    let mut config_maps = false;
    references::config_maps_of_pod(pod, &mut |name| config_maps |= !name.is_empty());
    if secrets {
        return Ok(Some("secrets"));
    }
    if config_maps {
        return Ok(Some("configmaps"));
    }
    if !list(pod, &["spec", "resourceClaims"]).is_empty() {
        return Ok(Some("resourceclaims"));
    }
    for volume in list(pod, &["spec", "volumes"]) {
        if let Some(named) = named_by_volume(volume)? {
            return Ok(Some(named));
        }
    }
    Ok(None)
}

fn named_by_volume(volume: &Value) -> Result<Option<&'static str>, String> {
    let has = |source: &str| volume.get(source).is_some_and(|source| !source.is_null());
    if LOCAL_VOLUMES.into_iter().any(has) {
        return Ok(None);
    }
    if let Some((_, named)) = NAMING_VOLUMES.into_iter().find(|(source, _)| has(source)) {
        return Ok(Some(named));
    }
    if !has("projected") {
        return Err(format!(
            "unknown volume type for volume  {}",
            quote(text(volume, &["name"]))
        ));
    }
    for source in list(volume, &["projected", "sources"]) {
        let has = |part: &str| source.get(part).is_some_and(|part| !part.is_null());
        if let Some((_, named)) = NAMING_SOURCES.into_iter().find(|(part, _)| has(part)) {
            return Ok(Some(named));
        }
        if !has("downwardAPI") {
            return Err(format!(
                "unknown source for projected volume {}",
                quote(text(volume, &["name"]))
            ));
        }
    }
    Ok(None)
}
