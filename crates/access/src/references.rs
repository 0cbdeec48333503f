//! Which other objects a pod or a volume names, and so brings to the node that it runs on. Knows nothing of who asks.

use serde_json::Value;

use crate::object::{self, at, list, text};

/// The annotation of a pod that a kubelet made for a file on its disk.
pub(crate) const MIRROR_POD: &str = "kubernetes.io/config.mirror";

const CONTAINER_LISTS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];
/// Volumes that name a Secret by `secretRef` (kubernetes, pkg/api/v1/pod/util.go).
const SECRET_REF_VOLUMES: [&str; 7] = ["cephfs", "cinder", "flexVolume", "rbd", "scaleIO", "iscsi", "storageos"];
/// Volumes of the cluster that name a Secret by `secretRef`, and whether its namespace defaults to that of the claim.
const SECRET_REF_PERSISTENT: [(&str, bool); 7] = [
    ("cephfs", true),
    ("cinder", false),
    ("flexVolume", true),
    ("rbd", true),
    ("scaleIO", true),
    ("iscsi", true),
    ("storageos", false),
];
/// The Secrets of a CSI volume that a kubelet reads; those of the controller are none of its business.
const CSI_NODE_SECRETS: [&str; 3] = ["nodePublishSecretRef", "nodeStageSecretRef", "nodeExpandSecretRef"];

/// What kind of object is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Referred {
    Secret,
    ConfigMap,
    Claim,
    ServiceAccount,
    ResourceClaim,
}

/// Whether the pod stands for a file on a node's disk.
pub(crate) fn is_mirror(pod: &Value) -> bool {
    at(pod, &["metadata", "annotations"]).get(MIRROR_POD).is_some()
}

/// Everything that the pod names in its own namespace.
pub(crate) fn of_pod(pod: &Value) -> Vec<(Referred, String)> {
    let mut found = Vec::new();
    let account = text(pod, &["spec", "serviceAccountName"]);
    push(&mut found, Referred::ServiceAccount, account);
    secrets_of_pod(pod, &mut |name| push(&mut found, Referred::Secret, name));
    config_maps_of_pod(pod, &mut |name| push(&mut found, Referred::ConfigMap, name));
    for volume in list(pod, &["spec", "volumes"]) {
        push(&mut found, Referred::Claim, &claim_of_volume(pod, volume));
    }
    for claim in resource_claims(pod) {
        push(&mut found, Referred::ResourceClaim, &claim);
    }
    found.sort();
    found.dedup();
    found
}

/// Calls for each Secret that the pod names.
pub(crate) fn secrets_of_pod(pod: &Value, visit: &mut dyn FnMut(&str)) {
    for secret in list(pod, &["spec", "imagePullSecrets"]) {
        visit(text(secret, &["name"]));
    }
    of_containers(pod, "secretRef", "secretKeyRef", visit);
    for volume in list(pod, &["spec", "volumes"]) {
        visit(text(volume, &["azureFile", "secretName"]));
        visit(text(volume, &["secret", "secretName"]));
        visit(text(volume, &["csi", "nodePublishSecretRef", "name"]));
        for source in SECRET_REF_VOLUMES {
            visit(text(volume, &[source, "secretRef", "name"]));
        }
        for source in list(volume, &["projected", "sources"]) {
            visit(text(source, &["secret", "name"]));
        }
    }
}

/// Calls for each ConfigMap that the pod names.
pub(crate) fn config_maps_of_pod(pod: &Value, visit: &mut dyn FnMut(&str)) {
    of_containers(pod, "configMapRef", "configMapKeyRef", visit);
    for volume in list(pod, &["spec", "volumes"]) {
        visit(text(volume, &["configMap", "name"]));
        for source in list(volume, &["projected", "sources"]) {
            visit(text(source, &["configMap", "name"]));
        }
    }
}

/// The claim that a volume of the pod mounts, its own or a named one; empty when it mounts none.
pub(crate) fn claim_of_volume(pod: &Value, volume: &Value) -> String {
    if volume
        .get("persistentVolumeClaim")
        .is_some_and(|source| !source.is_null())
    {
        return text(volume, &["persistentVolumeClaim", "claimName"]).to_owned();
    }
    if volume.get("ephemeral").is_some_and(|source| !source.is_null()) {
        return format!("{}-{}", object::name(pod), text(volume, &["name"]));
    }
    String::new()
}

/// The Secrets that a kubelet reads to mount a volume of the cluster, as namespace and name.
pub(crate) fn secrets_of_volume(volume: &Value) -> Vec<(String, String)> {
    let spec = at(volume, &["spec"]);
    let claim_namespace = text(spec, &["claimRef", "namespace"]);
    let mut found = Vec::new();
    let mut push = |namespace: &str, default: &str, name: &str| {
        let namespace = if namespace.is_empty() { default } else { namespace };
        if !name.is_empty() {
            found.push((namespace.to_owned(), name.to_owned()));
        }
    };
    let azure = at(spec, &["azureFile"]);
    push(
        text(azure, &["secretNamespace"]),
        claim_namespace,
        text(azure, &["secretName"]),
    );
    for (source, defaults) in SECRET_REF_PERSISTENT {
        let reference = at(spec, &[source, "secretRef"]);
        let default = if defaults { claim_namespace } else { "" };
        push(text(reference, &["namespace"]), default, text(reference, &["name"]));
    }
    for reference in CSI_NODE_SECRETS.map(|field| at(spec, &["csi", field])) {
        push(text(reference, &["namespace"]), "", text(reference, &["name"]));
    }
    found
}

/// The ResourceClaims of the pod that exist: named by it, or made for it and noted in its status.
pub(crate) fn resource_claims(pod: &Value) -> Vec<String> {
    let statuses = list(pod, &["status", "resourceClaimStatuses"]);
    let made = |claim: &Value| {
        let status = statuses.iter().find(|status| status.get("name") == claim.get("name"));
        status
            .map_or("", |status| text(status, &["resourceClaimName"]))
            .to_owned()
    };
    let named = list(pod, &["spec", "resourceClaims"]).iter().map(|claim| {
        let name = text(claim, &["resourceClaimName"]);
        if name.is_empty() { made(claim) } else { name.to_owned() }
    });
    let extended = text(pod, &["status", "extendedResourceClaimStatus", "resourceClaimName"]).to_owned();
    named.chain([extended]).filter(|name| !name.is_empty()).collect()
}

fn of_containers(pod: &Value, whole: &str, key: &str, visit: &mut dyn FnMut(&str)) {
    for container in CONTAINER_LISTS.iter().flat_map(|field| list(pod, &["spec", field])) {
        for source in list(container, &["envFrom"]) {
            visit(text(source, &[whole, "name"]));
        }
        for variable in list(container, &["env"]) {
            visit(text(variable, &["valueFrom", key, "name"]));
        }
    }
}

fn push(found: &mut Vec<(Referred, String)>, kind: Referred, name: &str) {
    if !name.is_empty() {
        found.push((kind, name.to_owned()));
    }
}
