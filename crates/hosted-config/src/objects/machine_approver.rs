//! What the machine approver may do: look at requests for certificates and at which nodes there are, and approve for the
//! two signers of kubelets. It acts as a service account that needs no object of its own.

use hyperplane_api::constants::{groups, objects::components};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use serde_json::json;

use super::{
    Set,
    access::{binding_of_account, object},
};

const NAME: &str = "hyperplane:machine-approver";

pub(super) fn add(set: &mut Set) {
    let look = ["get", "list", "watch"];
    let signers = [
        "kubernetes.io/kube-apiserver-client-kubelet",
        "kubernetes.io/kubelet-serving",
    ];
    set.add::<ClusterRole>(object(&json!({
        "metadata": {"name": NAME},
        "rules": [
            {"apiGroups": [groups::CERTIFICATES], "resources": ["certificatesigningrequests"], "verbs": look},
            {
                "apiGroups": [groups::CERTIFICATES],
                "resources": ["certificatesigningrequests/approval"],
                "verbs": ["patch", "update"],
            },
            {"apiGroups": [groups::CERTIFICATES], "resources": ["signers"], "resourceNames": signers, "verbs": ["approve"]},
            {"apiGroups": [""], "resources": ["nodes"], "verbs": look},
            {"apiGroups": ["", groups::EVENTS], "resources": ["events"], "verbs": ["create", "patch"]},
        ],
    })));
    set.add::<ClusterRoleBinding>(object(&binding_of_account(NAME, NAME, components::MACHINE_APPROVER)));
}
