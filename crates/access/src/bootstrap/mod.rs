//! The roles and bindings that every cluster starts with. They are parsed once per process and shared by all servers
//! in it. Knows nothing of requests.

mod table;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use serde_json::Value;

use crate::{Rule, aggregate, object, policy::Binding};

/// An object of the default policy.
#[derive(Clone, Debug)]
pub struct BootstrapObject {
    /// Its resource in `rbac.authorization.k8s.io/v1`: `clusterroles`, `clusterrolebindings`, `roles`, `rolebindings`.
    pub resource: &'static str,
    /// Its namespace, or empty.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// What a client would send: no uid, no time, no resourceVersion.
    pub object: Arc<Value>,
}

/// The group of all of them.
pub const GROUP: &str = "rbac.authorization.k8s.io";

struct Shared {
    objects: Vec<BootstrapObject>,
    rules: BTreeMap<String, (Arc<Value>, Arc<[Rule]>)>,
    bindings: BTreeMap<(String, String), (Arc<Value>, Arc<Binding>)>,
    node_rules: Arc<[Rule]>,
}

static SHARED: LazyLock<Shared> = LazyLock::new(Shared::load);

/// The default policy, roles before the bindings that need them. The aggregated ClusterRoles already hold their rules.
pub fn objects() -> &'static [BootstrapObject] {
    &SHARED.objects
}

/// What every node may do, apart from what the node authorizer decides object by object.
pub(crate) fn node_rules() -> &'static [Rule] {
    &SHARED.node_rules
}

/// The parsed rules of a ClusterRole that still is what it was at the start, so that servers need no copies.
pub(crate) fn shared_rules(role: &Value) -> Option<Arc<[Rule]>> {
    let (original, rules) = SHARED.rules.get(object::name(role))?;
    (original.get("rules") == role.get("rules")).then(|| rules.clone())
}

/// The same for a binding.
pub(crate) fn shared_binding(binding: &Value) -> Option<Arc<Binding>> {
    let key = (object::namespace(binding).to_owned(), object::name(binding).to_owned());
    let (original, parsed) = SHARED.bindings.get(&key)?;
    let is_same = |field: &str| original.get(field) == binding.get(field);
    (is_same("subjects") && is_same("roleRef")).then(|| parsed.clone())
}

impl Shared {
    fn load() -> Self {
        let mut objects = table::objects();
        fill_aggregated(&mut objects);
        let rules: BTreeMap<String, (Arc<Value>, Arc<[Rule]>)> = of(&objects, "clusterroles")
            .map(|entry| {
                (
                    entry.name.clone(),
                    (entry.object.clone(), Rule::of_role(&entry.object).into()),
                )
            })
            .collect();
        let bindings = of(&objects, "clusterrolebindings").chain(of(&objects, "rolebindings"));
        let bindings = bindings
            .map(|entry| {
                let parsed = Arc::new(Binding::from_value(&entry.object));
                (
                    (entry.namespace.clone(), entry.name.clone()),
                    (entry.object.clone(), parsed),
                )
            })
            .collect();
        let node_rules = rules
            .get("system:node")
            .expect("the table has the role of nodes")
            .1
            .clone();
        Self {
            objects,
            rules,
            bindings,
            node_rules,
        }
    }
}

fn of<'a>(objects: &'a [BootstrapObject], resource: &'a str) -> impl Iterator<Item = &'a BootstrapObject> {
    objects.iter().filter(move |entry| entry.resource == resource)
}

/// Aggregated roles gather from each other (view, edit, admin), so this is repeated until nothing changes.
fn fill_aggregated(objects: &mut [BootstrapObject]) {
    loop {
        let known: Vec<Arc<Value>> = of(objects, "clusterroles").map(|entry| entry.object.clone()).collect();
        let mut is_settled = true;
        for entry in objects.iter_mut().filter(|entry| entry.resource == "clusterroles") {
            let Some(rules) = aggregate(&entry.object, known.iter().map(AsRef::as_ref)) else {
                continue;
            };
            if entry.object["rules"] != rules {
                Arc::make_mut(&mut entry.object)["rules"] = rules;
                is_settled = false;
            }
        }
        if is_settled {
            return;
        }
    }
}
