//! NodeRestriction: what a kubelet may write, where that depends on what is written
//! (kubernetes, plugin/pkg/admission/noderestriction). Everybody else passes. Knows nothing of other admission.

mod node;
mod pod;
#[cfg(test)]
mod tests;
mod token;

use serde_json::Value;

use crate::{
    Attributes, Objects, Policy, Refusal,
    object::{self, text},
    signing::Request as CertificateRequest,
    text::quote,
};

const NODE_LEASES: &str = "kube-node-lease";
const KUBELET_SIGNERS: [&str; 2] = [
    "kubernetes.io/kubelet-serving",
    "kubernetes.io/kube-apiserver-client-kubelet",
];

/// A write that is about to happen, and where the rest of the cluster is looked up.
pub struct Write<'a> {
    /// The request.
    pub attributes: &'a Attributes<'a>,
    /// What would be stored; nothing when it is a deletion.
    pub object: Option<&'a Value>,
    /// What is stored; nothing when it is a creation.
    pub old: Option<&'a Value>,
    /// The rest of the cluster.
    pub objects: &'a dyn Objects,
    /// Who may do what.
    pub policy: &'a Policy,
}

/// What kind of write it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    Create,
    Update,
    Delete,
}

impl Operation {
    const fn word(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }
}

/// Whether a node may make the write; everybody else may.
pub fn node_restriction(write: &Write<'_>) -> Result<(), Refusal> {
    let Some(node) = write.attributes.user.as_node() else {
        return Ok(());
    };
    if node.is_empty() {
        let user = quote(&write.attributes.user.name);
        return write.refuse(&format!("could not determine node from user {user}"));
    }
    let restriction = Restriction { write, node };
    match (write.attributes.group, write.attributes.resource) {
        ("", "pods") => restriction.pod(),
        ("", "nodes") => restriction.node(),
        ("", "persistentvolumeclaims") => restriction.claim(),
        ("", "serviceaccounts") => restriction.service_account(),
        ("coordination.k8s.io", "leases") => restriction.lease(),
        ("storage.k8s.io", "csinodes") => restriction.csi_node(),
        ("resource.k8s.io", "resourceslices") => restriction.slice(),
        ("certificates.k8s.io", "certificatesigningrequests") => restriction.certificate_request(),
        ("certificates.k8s.io", "podcertificaterequests") => {
            write.refuse("PodCertificateRequest feature gate is disabled")
        }
        _ => Ok(()),
    }
}

impl Write<'_> {
    const fn operation(&self) -> Operation {
        match (self.object, self.old) {
            (Some(_), None) => Operation::Create,
            (Some(_), Some(_)) => Operation::Update,
            (None, _) => Operation::Delete,
        }
    }

    /// The name in the address, or that of the object when the address has none.
    fn name(&self) -> &str {
        let named = self.attributes.name;
        if named.is_empty() {
            self.object.map_or("", object::name)
        } else {
            named
        }
    }

    fn refuse(&self, complaint: &str) -> Result<(), Refusal> {
        let name = if self.name().is_empty() {
            text(self.object(), &["metadata", "generateName"])
        } else {
            self.name()
        };
        Err(Refusal::forbidden(
            self.attributes.group,
            self.attributes.resource,
            name,
            complaint,
        ))
    }

    fn object(&self) -> &Value {
        self.object.unwrap_or(&Value::Null)
    }

    fn old(&self) -> &Value {
        self.old.unwrap_or(&Value::Null)
    }
}

/// The write of a node.
struct Restriction<'a> {
    write: &'a Write<'a>,
    node: &'a str,
}

impl Restriction<'_> {
    fn refuse(&self, complaint: &str) -> Result<(), Refusal> {
        self.write.refuse(complaint)
    }

    fn lease(&self) -> Result<(), Refusal> {
        if self.write.attributes.namespace != NODE_LEASES {
            return self.refuse(&format!(
                "can only access leases in the {} system namespace",
                quote(NODE_LEASES)
            ));
        }
        if self.write.name() == self.node {
            return Ok(());
        }
        self.refuse("can only access node lease with the same name as the requesting node")
    }

    fn csi_node(&self) -> Result<(), Refusal> {
        if self.write.name() == self.node {
            return Ok(());
        }
        self.refuse("can only access CSINode with the same name as the requesting node")
    }

    fn slice(&self) -> Result<(), Refusal> {
        let is_own = |slice: &Value| text(slice, &["spec", "nodeName"]) == self.node;
        match self.write.operation() {
            Operation::Create if !is_own(self.write.object()) => {
                self.refuse("can only create ResourceSlice with the same NodeName as the requesting node")
            }
            Operation::Delete if !is_own(self.write.old()) => {
                self.refuse("can only delete ResourceSlice with the same NodeName as the requesting node")
            }
            _ => Ok(()),
        }
    }

    fn certificate_request(&self) -> Result<(), Refusal> {
        let spec = object::at(self.write.object(), &["spec"]);
        let is_kubelet = KUBELET_SIGNERS.contains(&text(spec, &["signerName"]));
        if self.write.operation() != Operation::Create || !is_kubelet {
            return Ok(());
        }
        let request = match CertificateRequest::from_object(self.write.object()) {
            Ok(request) => request,
            Err(error) => return self.refuse(&format!("unable to parse csr: {error}")),
        };
        if request.common_name == format!("system:node:{}", self.node) {
            return Ok(());
        }
        self.refuse(&format!("can only create a node CSR with CN=system:node:{}", self.node))
    }

    fn claim(&self) -> Result<(), Refusal> {
        if self.write.attributes.subresource != "status" {
            return self.refuse("may only update PVC status");
        }
        if self.write.operation() != Operation::Update {
            return self.refuse(&format!(
                "unexpected operation {}",
                quote(self.write.operation().word())
            ));
        }
        let (old, new) = (
            node::without_node_status(self.write.old()),
            node::without_node_status(self.write.object()),
        );
        if old == new {
            return Ok(());
        }
        // Upstream adds a difference of Go structs here, which nothing could parse; the fields say as much.
        self.refuse(&format!(
            "node {} is not allowed to update fields other than status.quantity and status.conditions: {}",
            quote(self.node),
            node::changed_fields(&old, &new).join(", ")
        ))
    }
}
