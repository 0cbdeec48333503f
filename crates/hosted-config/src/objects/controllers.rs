//! What programs of the control plane may do that act in the hosted cluster as a service account: the autoscaler and the
//! cloud controller of KubeVirt. Each has the rights that its authors name for the cluster with the nodes, and no more; the
//! accounts need no objects of their own.

use hyperplane_api::{
    constants::{annotations, groups, objects::components},
    hypershift::platform_type::PlatformType,
};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use serde_json::{Value, json};

use super::{
    SYSTEM_NAMESPACE, Set, Wanted,
    access::{binding_of_account, object},
};

/// The API group of leases.
const COORDINATION: &str = "coordination.k8s.io";

const AUTOSCALER: &str = "hyperplane:cluster-autoscaler";
const CLOUD: &str = "hyperplane:cloud-controller-manager";
/// As whom the cloud controller of a platform acts.
const CLOUD_ACCOUNT: &str = "cloud-controller-manager";

/// The ConfigMap in which the autoscaler tells how it is, and its lease.
const AUTOSCALER_STATUS: &str = "cluster-autoscaler-status";
const AUTOSCALER_LEASE: &str = "cluster-autoscaler";

pub(super) fn add(wanted: &Wanted<'_>, set: &mut Set) {
    if !annotations::DISABLE_MACHINE_MANAGEMENT.is_true(wanted.control_plane) {
        grant(
            set,
            (AUTOSCALER, components::CLUSTER_AUTOSCALER),
            &autoscaler(),
            &autoscaler_state(),
        );
    }
    if wanted.control_plane.spec.platform.type_ == PlatformType::KubeVirt {
        grant(set, (CLOUD, CLOUD_ACCOUNT), &cloud(), &cloud_state());
    }
}

/// Rights everywhere, and rights in the system namespace, where both keep their state.
fn grant(set: &mut Set, (name, account): (&str, &str), everywhere: &Value, state: &Value) {
    set.add::<ClusterRole>(object(&json!({"metadata": {"name": name}, "rules": everywhere})));
    set.add::<ClusterRoleBinding>(object(&binding_of_account(name, name, account)));
    let here = json!({"name": name, "namespace": SYSTEM_NAMESPACE});
    set.add::<Role>(object(&json!({"metadata": here, "rules": state})));
    set.add::<RoleBinding>(object(&json!({
        "metadata": here,
        "roleRef": {"apiGroup": groups::RBAC, "kind": "Role", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": SYSTEM_NAMESPACE}],
    })));
}

/// What it takes to know which pods find no place, and to empty nodes.
fn autoscaler() -> Value {
    let look = ["get", "list", "watch"];
    let of_core = [
        "namespaces",
        "persistentvolumeclaims",
        "persistentvolumes",
        "pods",
        "replicationcontrollers",
        "services",
    ];
    let of_storage = [
        "csidrivers",
        "csinodes",
        "csistoragecapacities",
        "storageclasses",
        "volumeattachments",
    ];
    json!([
        {"apiGroups": [""], "resources": of_core, "verbs": look},
        {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "update", "watch"]},
        {"apiGroups": [""], "resources": ["pods/eviction"], "verbs": ["create"]},
        {"apiGroups": [""], "resources": ["events"], "verbs": ["create", "patch"]},
        {"apiGroups": ["apps"], "resources": ["daemonsets", "replicasets", "statefulsets"], "verbs": look},
        {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": look},
        {"apiGroups": ["policy"], "resources": ["poddisruptionbudgets"], "verbs": look},
        {"apiGroups": ["storage.k8s.io"], "resources": of_storage, "verbs": look},
        {
            "apiGroups": ["resource.k8s.io"],
            "resources": ["deviceclasses", "resourceclaims", "resourceslices"],
            "verbs": look,
        },
    ])
}

/// Its status, the ConfigMap with priorities of groups, and the lease.
fn autoscaler_state() -> Value {
    json!([
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create", "get", "list", "watch"]},
        {
            "apiGroups": [""],
            "resources": ["configmaps"],
            "resourceNames": [AUTOSCALER_STATUS],
            "verbs": ["delete", "update"],
        },
        {"apiGroups": [COORDINATION], "resources": ["leases"], "verbs": ["create"]},
        {
            "apiGroups": [COORDINATION],
            "resources": ["leases"],
            "resourceNames": [AUTOSCALER_LEASE],
            "verbs": ["get", "update"],
        },
    ])
}

/// What it takes to complete nodes, to remove those whose machines are gone, and to give load balancers their addresses.
fn cloud() -> Value {
    json!([
        {"apiGroups": [""], "resources": ["events"], "verbs": ["create", "patch", "update"]},
        {"apiGroups": [""], "resources": ["nodes"], "verbs": ["delete", "get", "list", "patch", "update", "watch"]},
        {"apiGroups": [""], "resources": ["nodes/status"], "verbs": ["patch"]},
        {"apiGroups": [""], "resources": ["services"], "verbs": ["get", "list", "patch", "update", "watch"]},
        {"apiGroups": [""], "resources": ["services/status"], "verbs": ["patch", "update"]},
        {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["get", "list", "watch"]},
    ])
}

/// Its lease.
fn cloud_state() -> Value {
    json!([
        {"apiGroups": [COORDINATION], "resources": ["leases"], "verbs": ["create"]},
        {
            "apiGroups": [COORDINATION],
            "resources": ["leases"],
            "resourceNames": [CLOUD_ACCOUNT],
            "verbs": ["get", "update"],
        },
    ])
}
