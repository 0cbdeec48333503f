//! A RoleBinding or ClusterRoleBinding: to whom it gives which role, and how a reason names it.

use serde_json::Value;

use crate::{User, names, object, text::push_quoted};

/// A binding of either kind; that of the cluster has no namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Binding {
    pub namespace: Box<str>,
    pub name: Box<str>,
    pub role_kind: Box<str>,
    pub role: Box<str>,
    pub subjects: Box<[Subject]>,
}

/// Someone to whom a binding gives its role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subject {
    kind: Box<str>,
    namespace: Box<str>,
    name: Box<str>,
}

/// Under which name of the index a subject stands.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SubjectKey {
    User(String),
    Group(String),
}

impl Binding {
    pub fn from_value(binding: &Value) -> Self {
        Self {
            namespace: object::namespace(binding).into(),
            name: object::name(binding).into(),
            role_kind: object::text(binding, &["roleRef", "kind"]).into(),
            role: object::text(binding, &["roleRef", "name"]).into(),
            subjects: object::list(binding, &["subjects"])
                .iter()
                .map(Subject::from_value)
                .collect(),
        }
    }

    /// Where the index keeps the binding, each place once.
    pub fn keys(&self) -> Vec<SubjectKey> {
        let mut keys: Vec<SubjectKey> = Vec::with_capacity(self.subjects.len());
        for subject in &self.subjects {
            if let Some(key) = subject.key(&self.namespace).filter(|key| !keys.contains(key)) {
                keys.push(key);
            }
        }
        keys
    }

    /// Appends the binding as a reason names it, with the first subject that is the user.
    pub fn describe(&self, user: &User, reason: &mut String) {
        if self.namespace.is_empty() {
            reason.push_str("ClusterRoleBinding ");
            push_quoted(reason, &[&self.name]);
        } else {
            reason.push_str("RoleBinding ");
            push_quoted(reason, &[&self.name, "/", &self.namespace]);
        }
        reason.extend([" of ", &self.role_kind, " "]);
        push_quoted(reason, &[&self.role]);
        reason.push_str(" to ");
        if let Some(subject) = self.subjects.iter().find(|subject| subject.is(user, &self.namespace)) {
            subject.describe(&self.namespace, reason);
        }
    }
}

impl Subject {
    fn from_value(subject: &Value) -> Self {
        Self {
            kind: object::text(subject, &["kind"]).into(),
            namespace: object::text(subject, &["namespace"]).into(),
            name: object::text(subject, &["name"]).into(),
        }
    }

    /// A service account without a namespace is one of the binding's; a binding of the cluster has none to offer.
    fn key(&self, binding_namespace: &str) -> Option<SubjectKey> {
        match &*self.kind {
            "User" => Some(SubjectKey::User(self.name.to_string())),
            "Group" => Some(SubjectKey::Group(self.name.to_string())),
            "ServiceAccount" => Some(self.namespace_or(binding_namespace))
                .filter(|namespace| !namespace.is_empty())
                .map(|namespace| SubjectKey::User(names::service_account_user(namespace, &self.name))),
            _ => None,
        }
    }

    fn is(&self, user: &User, binding_namespace: &str) -> bool {
        match &*self.kind {
            "User" => *user.name == *self.name,
            "Group" => user.is_in(&self.name),
            "ServiceAccount" => user
                .name
                .strip_prefix(names::SERVICE_ACCOUNT_PREFIX)
                .is_some_and(|account| {
                    account.split_once(':') == Some((self.namespace_or(binding_namespace), &*self.name))
                }),
            _ => false,
        }
    }

    fn describe(&self, binding_namespace: &str, reason: &mut String) {
        reason.extend([&*self.kind, " "]);
        if &*self.kind == "ServiceAccount" {
            push_quoted(reason, &[&self.name, "/", self.namespace_or(binding_namespace)]);
        } else {
            push_quoted(reason, &[&self.name]);
        }
    }

    fn namespace_or<'a>(&'a self, binding_namespace: &'a str) -> &'a str {
        if self.namespace.is_empty() {
            binding_namespace
        } else {
            &self.namespace
        }
    }
}
