//! What the machine approver may do: look at requests for certificates and at which nodes there are, and approve for the
//! two signers of kubelets. It acts as a service account that needs no object of its own.

use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use serde_json::json;

use super::{
    Set,
    access::{binding_of_account, object},
};

const NAME: &str = "hyperplane:machine-approver";

pub(super) fn add(set: &mut Set) {
    let look = ["get", "list", "watch"];
    let certificates = "certificates.k8s.io";
    let signers = [
        "kubernetes.io/kube-apiserver-client-kubelet",
        "kubernetes.io/kubelet-serving",
    ];
    set.add::<ClusterRole>(object(&json!({
        "metadata": {"name": NAME},
        "rules": [
            {"apiGroups": [certificates], "resources": ["certificatesigningrequests"], "verbs": look},
            {
                "apiGroups": [certificates],
                "resources": ["certificatesigningrequests/approval"],
                "verbs": ["patch", "update"],
            },
            {"apiGroups": [certificates], "resources": ["signers"], "resourceNames": signers, "verbs": ["approve"]},
            {"apiGroups": [""], "resources": ["nodes"], "verbs": look},
            {"apiGroups": ["", "events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]},
        ],
    })));
    set.add::<ClusterRoleBinding>(object(&binding_of_account(NAME, NAME, "machine-approver")));
}
