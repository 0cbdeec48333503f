//! What a kubelet may do: its own Node, lease and CSINode, the pods that run on it and what those pods name, and the
//! fixed rules of every node (kubernetes, plugin/pkg/auth/authorizer/node). What an object holds is checked by the
//! NodeRestriction admission, not here.

use super::graph::{Graph, Vertex};
use crate::{Attributes, Decision, bootstrap, references::Referred, text::quote};

const NODE_LEASES: &str = "kube-node-lease";

/// The answer to a request of a node; no opinion, and no words, for everybody else.
pub(super) fn authorize(graph: &Graph, attributes: &Attributes<'_>) -> Decision {
    let Some(name) = attributes.user.as_node() else {
        return refuse("");
    };
    if name.is_empty() {
        return refuse(&format!("unknown node for user {}", quote(&attributes.user.name)));
    }
    let node = Node {
        graph,
        name,
        attributes,
    };
    if attributes.is_resource {
        return node.resource();
    }
    node.fixed_rules()
}

struct Node<'a> {
    graph: &'a Graph,
    name: &'a str,
    attributes: &'a Attributes<'a>,
}

impl Node<'_> {
    fn resource(&self) -> Decision {
        let Attributes {
            group,
            resource,
            subresource,
            ..
        } = *self.attributes;
        match (group, resource) {
            ("", "secrets") => self.read_namespaced(Vertex::Referred(Referred::Secret)),
            ("", "configmaps") => self.read_namespaced(Vertex::Referred(Referred::ConfigMap)),
            ("", "persistentvolumeclaims") if subresource == "status" => self.update_claim_status(),
            ("", "persistentvolumeclaims") => self.get(Vertex::Referred(Referred::Claim)),
            ("", "persistentvolumes") => self.get(Vertex::Volume),
            ("resource.k8s.io", "resourceclaims") => self.get(Vertex::Referred(Referred::ResourceClaim)),
            ("storage.k8s.io", "volumeattachments") => self.get(Vertex::Attachment),
            ("", "serviceaccounts") => self.service_account(),
            ("coordination.k8s.io", "leases") => self.lease(),
            ("storage.k8s.io", "csinodes") => self.csi_node(),
            ("resource.k8s.io", "resourceslices") => self.slice(),
            ("", "nodes") => self.node(),
            ("", "pods") => self.pod(),
            // The feature behind this kind is off by default.
            ("certificates.k8s.io", "podcertificaterequests") => refuse(""),
            _ => self.fixed_rules(),
        }
    }

    fn fixed_rules(&self) -> Decision {
        if bootstrap::node_rules().iter().any(|rule| rule.allows(self.attributes)) {
            allow()
        } else {
            refuse("")
        }
    }

    fn related(&self, vertex: Vertex) -> Decision {
        if self.attributes.name.is_empty() {
            return refuse("No Object name found");
        }
        self.related_by_name(vertex)
    }

    fn related_by_name(&self, vertex: Vertex) -> Decision {
        if self
            .graph
            .leads(vertex, self.attributes.namespace, self.attributes.name, self.name)
        {
            return allow();
        }
        refuse(&format!(
            "no relationship found between node '{}' and this object",
            self.name
        ))
    }

    fn get(&self, vertex: Vertex) -> Decision {
        if self.attributes.verb != "get" {
            return refuse("can only get individual resources of this type");
        }
        if !self.attributes.subresource.is_empty() {
            return refuse("cannot get subresource");
        }
        self.related(vertex)
    }

    fn read_namespaced(&self, vertex: Vertex) -> Decision {
        if !matches!(self.attributes.verb, "get" | "list" | "watch") {
            return refuse("can only read resources of this type");
        }
        if !self.attributes.subresource.is_empty() {
            return refuse("cannot read subresource");
        }
        if self.attributes.namespace.is_empty() {
            return refuse("can only read namespaced object of this type");
        }
        self.related(vertex)
    }

    fn update_claim_status(&self) -> Decision {
        if !matches!(self.attributes.verb, "update" | "patch") {
            return refuse("can only get/update/patch this type");
        }
        self.related(Vertex::Referred(Referred::Claim))
    }

    fn service_account(&self) -> Decision {
        let account = Vertex::Referred(Referred::ServiceAccount);
        let Attributes {
            verb,
            subresource,
            name,
            ..
        } = *self.attributes;
        if verb == "get" && subresource.is_empty() {
            return self.read_namespaced(account);
        }
        if verb != "create" || name.is_empty() {
            return refuse("can only create tokens for individual service accounts");
        }
        if subresource != "token" {
            return refuse("can only create token subresource of serviceaccount");
        }
        self.related_by_name(account)
    }

    fn lease(&self) -> Decision {
        if !is_own_object_verb(self.attributes.verb) {
            return refuse("can only get, create, update, patch, or delete a node lease");
        }
        if self.attributes.namespace != NODE_LEASES {
            return refuse(&format!(
                "can only access leases in the {} system namespace",
                quote(NODE_LEASES)
            ));
        }
        self.own_name("can only access node lease with the same name as the requesting node")
    }

    fn csi_node(&self) -> Decision {
        if !is_own_object_verb(self.attributes.verb) {
            return refuse("can only get, create, update, patch, or delete a CSINode");
        }
        if !self.attributes.subresource.is_empty() {
            return refuse("cannot authorize CSINode subresources");
        }
        self.own_name("can only access CSINode with the same name as the requesting node")
    }

    /// The name of an object that is being created is not known yet; admission looks into it.
    fn own_name(&self, otherwise: &str) -> Decision {
        let is_own = self.attributes.verb == "create" || self.attributes.name == self.name;
        if is_own { allow() } else { refuse(otherwise) }
    }

    fn slice(&self) -> Decision {
        if !self.attributes.subresource.is_empty() {
            return refuse("cannot authorize ResourceSlice subresources");
        }
        match self.attributes.verb {
            "create" => allow(),
            "get" | "update" | "patch" | "delete" => self.related(Vertex::Slice),
            "watch" | "list" | "deletecollection" if self.selects_itself("spec.nodeName") => allow(),
            "watch" | "list" | "deletecollection" => {
                refuse("can only list/watch/deletecollection resourceslices with nodeName field selector")
            }
            _ => refuse(
                "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection",
            ),
        }
    }

    fn node(&self) -> Decision {
        let Attributes {
            verb,
            subresource,
            name,
            ..
        } = *self.attributes;
        match (subresource, verb) {
            ("", "create" | "update" | "patch") | ("status", "update" | "patch") => allow(),
            ("", "get" | "list" | "watch") if name == self.name => allow(),
            ("", "get" | "list" | "watch") if name.is_empty() => refuse(&format!(
                "node '{}' cannot read all nodes, only its own Node object",
                self.name
            )),
            ("", "get" | "list" | "watch") => refuse(&format!(
                "node '{}' cannot read '{name}', only its own Node object",
                self.name
            )),
            _ => refuse(""),
        }
    }

    fn pod(&self) -> Decision {
        let Attributes {
            verb,
            subresource,
            name,
            ..
        } = *self.attributes;
        match (subresource, verb) {
            ("", "get") => self.get(Vertex::Pod),
            ("", "list" | "watch") if self.selects_itself("spec.nodeName") => allow(),
            ("", "list" | "watch") if !name.is_empty() => self.related(Vertex::Pod),
            ("", "list" | "watch") => refuse("can only list/watch pods with spec.nodeName field selector"),
            ("", "create" | "delete") | ("status", "update" | "patch") | ("eviction", "create") => allow(),
            _ => refuse(""),
        }
    }

    fn selects_itself(&self, field: &str) -> bool {
        let is_own = |requirement: &crate::FieldRequirement| {
            requirement.field == field && requirement.equals && requirement.value == self.name
        };
        self.attributes.fields.iter().any(is_own)
    }
}

fn is_own_object_verb(verb: &str) -> bool {
    matches!(verb, "get" | "create" | "update" | "patch" | "delete")
}

fn allow() -> Decision {
    Decision::Allow(String::new())
}

fn refuse(reason: &str) -> Decision {
    Decision::NoOpinion(reason.to_owned())
}
