//! What nodes may do before and after they joined. That a certificate is asked for by a machine of this cluster is
//! checked by the machine approver; here nobody approves a first certificate.

use hyperplane_api::constants::groups;
use hyperplane_objects::Kind;
use serde_json::{Value, json};

use super::Set;

/// Nodes that join may ask for a certificate, and nodes that joined may renew theirs.
///
/// Whoever joins may list and watch all requests, because a kubelet waits for its own that way, under a name that nobody
/// knows beforehand (client-go, `certificate/csr`). So every machine can know for which node another asks, and the machine
/// approver has to reckon with a second request for it.
const BINDINGS: &[(&str, &str, &str)] = &[
    (
        "hyperplane:node-bootstrapper",
        "system:node-bootstrapper",
        "system:bootstrappers",
    ),
    (
        "hyperplane:node-certificate-renewal",
        "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient",
        "system:nodes",
    ),
];

pub(super) fn add(set: &mut Set) {
    for (name, role, group) in BINDINGS {
        set.add::<k8s_openapi::api::rbac::v1::ClusterRoleBinding>(object(&json!({
            "metadata": {"name": name},
            "roleRef": {"apiGroup": groups::RBAC, "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": groups::RBAC, "kind": "Group", "name": group}],
        })));
    }
}

/// A binding of a cluster role to a service account of the system namespace.
pub(super) fn binding_of_account(name: &str, role: &str, account: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "roleRef": {"apiGroup": groups::RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": super::SYSTEM_NAMESPACE}],
    })
}

/// A typed object from the form in which it reads best.
pub(super) fn object<K: Kind>(value: &Value) -> K {
    K::from_json(value).expect("the object is part of the program, and a test reads it")
}
