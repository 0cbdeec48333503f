//! RBAC against a model that knows no index.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{super::*, BINDINGS, CLUSTER_BINDINGS, CLUSTER_ROLES, ROLES, binding, role, user};

/// A cluster in lists: what an index must not change.
#[derive(Clone, Debug, Default)]
struct Model {
    roles: Vec<Value>,
    bindings: Vec<Value>,
}

impl Model {
    fn put(list: &mut Vec<Value>, object: Value) {
        Self::remove(list, &object);
        list.push(object);
    }

    fn remove(list: &mut Vec<Value>, object: &Value) {
        list.retain(|known| known["metadata"] != object["metadata"]);
    }

    fn allows(&self, attributes: &Attributes<'_>) -> bool {
        let in_scope = |binding: &&Value| {
            let namespace = binding["metadata"]["namespace"].as_str().unwrap();
            namespace.is_empty() || namespace == attributes.namespace
        };
        let applies = |binding: &&Value| {
            binding["subjects"].as_array().unwrap().iter().any(|subject| {
                let name = subject["name"].as_str().unwrap();
                match subject["kind"].as_str().unwrap() {
                    "User" => attributes.user.name == name,
                    "Group" => attributes.user.groups.iter().any(|group| group == name),
                    "ServiceAccount" => {
                        let own = subject["namespace"].as_str().unwrap_or_default();
                        let namespace = if own.is_empty() {
                            binding["metadata"]["namespace"].as_str().unwrap()
                        } else {
                            own
                        };
                        !namespace.is_empty()
                            && attributes.user.name == format!("system:serviceaccount:{namespace}:{name}")
                    }
                    _ => false,
                }
            })
        };
        self.bindings.iter().filter(in_scope).filter(applies).any(|binding| {
            let is_cluster_role = binding["roleRef"]["kind"] == "ClusterRole";
            let namespace = if is_cluster_role {
                json!("")
            } else {
                binding["metadata"]["namespace"].clone()
            };
            let role = self.roles.iter().find(|role| {
                role["metadata"]["namespace"] == namespace && role["metadata"]["name"] == binding["roleRef"]["name"]
            });
            role.is_some_and(|role| {
                (is_cluster_role || namespace != "") && Rule::of_role(role).iter().any(|rule| rule.allows(attributes))
            })
        })
    }
}

fn some(words: &'static [&'static str]) -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(words), 1..3)
}

fn any_role() -> impl Strategy<Value = Value> {
    let rule = (
        some(&["get", "list", "*"]),
        some(&["", "apps", "*"]),
        some(&["pods", "pods/log", "*/log", "*"]),
    );
    let rules = prop::collection::vec(rule, 0..3);
    (
        prop::sample::select(&["", "a", "b"][..]),
        prop::sample::select(&["r", "s"][..]),
        rules,
    )
        .prop_map(|(namespace, name, rules)| {
            let rules: Vec<Value> = rules
                .into_iter()
                .map(|(verbs, groups, resources)| json!({"verbs": verbs, "apiGroups": groups, "resources": resources}))
                .collect();
            role(namespace, name, &json!(rules))
        })
}

fn any_binding() -> impl Strategy<Value = Value> {
    let subject = (
        prop::sample::select(&["User", "Group", "ServiceAccount", "Odd"][..]),
        prop::sample::select(&["u", "v"][..]),
        prop::sample::select(&["", "a"][..]),
    );
    let subject =
        subject.prop_map(|(kind, name, namespace)| json!({"kind": kind, "name": name, "namespace": namespace}));
    let subjects = prop::collection::vec(subject, 0..3);
    let kind = prop::sample::select(&["ClusterRole", "Role"][..]);
    let names = prop::sample::select(&["x", "y"][..]);
    (
        prop::sample::select(&["", "a", "b"][..]),
        names,
        kind,
        prop::sample::select(&["r", "s"][..]),
        subjects,
    )
        .prop_map(|(namespace, name, kind, role, subjects)| binding(namespace, name, (kind, role), &json!(subjects)))
}

fn feed(policy: &Policy, model: &mut Model, (is_binding, is_removal, role, binding): (bool, bool, Value, Value)) {
    let object = if is_binding { binding } else { role };
    let list = if is_binding {
        &mut model.bindings
    } else {
        &mut model.roles
    };
    let namespace = object["metadata"]["namespace"].as_str().unwrap();
    let resource = match (is_binding, namespace.is_empty()) {
        (true, true) => CLUSTER_BINDINGS,
        (true, false) => BINDINGS,
        (false, true) => CLUSTER_ROLES,
        (false, false) => ROLES,
    };
    if is_removal {
        policy.remove(resource, namespace, object["metadata"]["name"].as_str().unwrap());
        Model::remove(list, &object);
    } else {
        policy.put(resource, &object);
        Model::put(list, object);
    }
}

proptest! {
    #[test]
    fn the_index_answers_as_the_lists_do(
        steps in prop::collection::vec((any::<bool>(), prop::bool::weighted(0.2), any_role(), any_binding()), 0..24),
    ) {
        let (policy, mut model) = (Policy::new(), Model::default());
        for step in steps {
            feed(&policy, &mut model, step);
        }
        for name in ["u", "system:serviceaccount:a:u", "system:serviceaccount:b:v", "w"] {
            for groups in [&[][..], &["u"], &["v", "u"]] {
                let user = user(name, groups);
                for namespace in ["", "a", "b"] {
                    let pods = Attributes::resource(&user, "get", "", "pods", namespace, "p");
                    for attributes in [pods, Attributes { subresource: "log", ..pods }, Attributes { group: "apps", verb: "list", ..pods }] {
                        prop_assert_eq!(policy.authorize(&attributes).is_allowed(), model.allows(&attributes));
                    }
                }
            }
        }
    }
}
