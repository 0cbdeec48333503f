//! The index behind RBAC: roles by name, bindings by subject. A decision costs as much as the user has bindings, not
//! as many as there are. Knows nothing of nodes or of HTTP.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::Arc,
};

use serde_json::Value;

use super::binding::{Binding, SubjectKey};
use crate::{Attributes, Decision, Rule, User, bootstrap, object, text};

/// Names within a namespace. They are only looked up, never walked, so that the order of hashing cannot be seen.
type Names<T> = HashMap<Box<str>, T>;

/// Every role and binding of a cluster.
#[derive(Default)]
pub(super) struct Rbac {
    cluster_roles: Names<Arc<[Rule]>>,
    roles: Names<Names<Arc<[Rule]>>>,
    cluster_bindings: Bindings,
    bindings: Names<Bindings>,
}

/// The bindings of the cluster or of one namespace.
#[derive(Default)]
struct Bindings {
    all: Names<Arc<Binding>>,
    of_user: Names<Vec<Arc<Binding>>>,
    of_group: Names<Vec<Arc<Binding>>>,
}

/// A role that a binding names and that does not exist.
#[derive(Debug)]
pub(super) struct MissingRole {
    pub kind: Box<str>,
    pub name: Box<str>,
}

impl fmt::Display for MissingRole {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = text::quote(&self.name);
        match &*self.kind {
            "ClusterRole" => write!(formatter, "clusterrole.rbac.authorization.k8s.io {name} not found"),
            "Role" => write!(formatter, "role.rbac.authorization.k8s.io {name} not found"),
            other => write!(formatter, "unsupported role reference kind: {}", text::quote(other)),
        }
    }
}

impl Rbac {
    pub fn put_cluster_role(&mut self, role: &Value) {
        let name = object::name(role);
        let rules = bootstrap::shared_rules(role).unwrap_or_else(|| Rule::of_role(role).into());
        self.cluster_roles.insert(name.into(), rules);
    }

    pub fn put_role(&mut self, role: &Value) {
        let namespace = self.roles.entry(object::namespace(role).into()).or_default();
        namespace.insert(object::name(role).into(), Rule::of_role(role).into());
    }

    pub fn put_binding(&mut self, binding: &Value) {
        let binding = bootstrap::shared_binding(binding).unwrap_or_else(|| Arc::new(Binding::from_value(binding)));
        if binding.namespace.is_empty() {
            self.cluster_bindings.put(binding);
        } else {
            self.bindings.entry(binding.namespace.clone()).or_default().put(binding);
        }
    }

    pub fn remove_cluster_role(&mut self, name: &str) {
        self.cluster_roles.remove(name);
    }

    pub fn remove_role(&mut self, namespace: &str, name: &str) {
        if let Some(roles) = self.roles.get_mut(namespace) {
            roles.remove(name);
            if roles.is_empty() {
                self.roles.remove(namespace);
            }
        }
    }

    pub fn remove_cluster_binding(&mut self, name: &str) {
        self.cluster_bindings.remove(name);
    }

    pub fn remove_binding(&mut self, namespace: &str, name: &str) {
        if let Some(bindings) = self.bindings.get_mut(namespace) {
            bindings.remove(name);
            if bindings.all.is_empty() {
                self.bindings.remove(namespace);
            }
        }
    }

    /// Yes if one rule of one binding says so; otherwise no opinion, with the roles that were not found.
    pub fn authorize(&self, attributes: &Attributes<'_>) -> Decision {
        let mut errors = Vec::new();
        for binding in self.bindings_of(attributes.user, attributes.namespace) {
            match self.rules_of(binding) {
                Ok(rules) if rules.iter().any(|rule| rule.allows(attributes)) => {
                    return Decision::Allow(reason(binding, attributes.user));
                }
                Ok(_) => {}
                Err(missing) => errors.push(missing.to_string()),
            }
        }
        Decision::NoOpinion(if errors.is_empty() {
            String::new()
        } else {
            format!("RBAC: {}", text::join_errors(&errors))
        })
    }

    /// Everything that the user holds in the namespace, binding by binding in the order of their names, and what could
    /// not be found.
    pub fn rules_for(&self, user: &User, namespace: &str) -> (Vec<Rule>, Vec<MissingRole>) {
        let (mut rules, mut errors) = (Vec::new(), Vec::new());
        let mut bindings: BTreeMap<(&str, &str), &Arc<Binding>> = BTreeMap::new();
        for binding in self.bindings_of(user, namespace) {
            bindings.insert((&binding.namespace, &binding.name), binding);
        }
        for binding in bindings.into_values() {
            match self.rules_of(binding) {
                Ok(found) => rules.extend(found.iter().cloned()),
                Err(error) => errors.push(error),
            }
        }
        (rules, errors)
    }

    /// The rules behind the roleRef of a binding in the namespace, empty for the cluster's.
    pub fn rules_of_reference(&self, kind: &str, name: &str, namespace: &str) -> Option<&Arc<[Rule]>> {
        match kind {
            "ClusterRole" => self.cluster_roles.get(name),
            "Role" => self.roles.get(namespace).and_then(|roles| roles.get(name)),
            _ => None,
        }
    }

    fn rules_of(&self, binding: &Binding) -> Result<&Arc<[Rule]>, MissingRole> {
        let rules = self.rules_of_reference(&binding.role_kind, &binding.role, &binding.namespace);
        rules.ok_or_else(|| MissingRole {
            kind: binding.role_kind.clone(),
            name: binding.role.clone(),
        })
    }

    /// A binding that names the user twice, by name and by group, is given twice.
    fn bindings_of<'a>(&'a self, user: &'a User, namespace: &str) -> impl Iterator<Item = &'a Arc<Binding>> {
        let local = self.bindings.get(namespace).filter(|_| !namespace.is_empty());
        self.cluster_bindings
            .of(user)
            .chain(local.into_iter().flat_map(|bindings| bindings.of(user)))
    }
}

/// Long enough for most reasons, so that the usual answer allocates once.
const REASON_LENGTH: usize = 192;

fn reason(binding: &Binding, user: &User) -> String {
    let mut reason = String::with_capacity(REASON_LENGTH);
    reason.push_str("RBAC: allowed by ");
    binding.describe(user, &mut reason);
    reason
}

impl Bindings {
    fn put(&mut self, binding: Arc<Binding>) {
        self.remove(&binding.name);
        for key in binding.keys() {
            let (index, subject) = self.index(key);
            index.entry(subject.into()).or_default().push(binding.clone());
        }
        self.all.insert(binding.name.clone(), binding);
    }

    fn remove(&mut self, name: &str) {
        let Some(binding) = self.all.remove(name) else {
            return;
        };
        for key in binding.keys() {
            let (index, subject) = self.index(key);
            if let Some(bindings) = index.get_mut(subject.as_str()) {
                bindings.retain(|other| other.name != binding.name);
                if bindings.is_empty() {
                    index.remove(subject.as_str());
                }
            }
        }
    }

    fn index(&mut self, key: SubjectKey) -> (&mut Names<Vec<Arc<Binding>>>, String) {
        match key {
            SubjectKey::User(name) => (&mut self.of_user, name),
            SubjectKey::Group(name) => (&mut self.of_group, name),
        }
    }

    fn of<'a>(&'a self, user: &'a User) -> impl Iterator<Item = &'a Arc<Binding>> {
        let of_group = user.groups.iter().filter_map(|group| self.of_group.get(group.as_str()));
        self.of_user
            .get(user.name.as_str())
            .into_iter()
            .chain(of_group)
            .flatten()
    }
}
