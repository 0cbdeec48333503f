//! Who makes a request. Knows nothing of credentials or of what the user may do.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::names;

/// An identity, as the API shows it in reviews, in CertificateSigningRequests and in audit lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// Unique among active users.
    pub name: String,
    /// Unique over time; often empty.
    pub uid: String,
    /// What the user is a member of.
    pub groups: Vec<String>,
    /// What else the authenticator knows.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// Someone without credentials.
    pub fn anonymous() -> Self {
        Self::with_groups(names::ANONYMOUS, vec![names::UNAUTHENTICATED.to_owned()])
    }

    /// The one who may do everything.
    pub fn admin() -> Self {
        Self::with_groups(
            "kubernetes-admin",
            vec![names::MASTERS.to_owned(), names::AUTHENTICATED.to_owned()],
        )
    }

    /// A service account that has shown its token.
    pub fn service_account(namespace: &str, name: &str, uid: &str) -> Self {
        let mut groups = names::service_account_groups(namespace);
        groups.push(names::AUTHENTICATED.to_owned());
        let user = Self::with_groups(&names::service_account_user(namespace, name), groups);
        Self {
            uid: uid.to_owned(),
            ..user
        }
    }

    /// A kubelet that has shown its certificate.
    pub fn node(name: &str) -> Self {
        let groups = vec![names::NODES.to_owned(), names::AUTHENTICATED.to_owned()];
        Self::with_groups(&format!("{}{name}", names::NODE_PREFIX), groups)
    }

    /// Someone of whom only name and groups are known.
    pub fn with_groups(name: &str, groups: Vec<String>) -> Self {
        Self {
            name: name.to_owned(),
            groups,
            ..Self::default()
        }
    }

    /// Whether the user is a member.
    pub fn is_in(&self, group: &str) -> bool {
        self.groups.iter().any(|own| own == group)
    }

    /// The node, empty when it cannot be told, if the user is one: both name and group must say so.
    pub fn as_node(&self) -> Option<&str> {
        self.name
            .strip_prefix(names::NODE_PREFIX)
            .filter(|_| self.is_in(names::NODES))
    }

    /// The form of `authentication.k8s.io/v1` UserInfo; what is empty is left out.
    pub fn to_value(&self) -> Value {
        let mut value = Map::new();
        let mut set = |key: &str, field: Value, is_empty: bool| {
            if !is_empty {
                value.insert(key.to_owned(), field);
            }
        };
        set("username", json!(self.name), self.name.is_empty());
        set("uid", json!(self.uid), self.uid.is_empty());
        set("groups", json!(self.groups), self.groups.is_empty());
        set("extra", json!(self.extra), self.extra.is_empty());
        Value::Object(value)
    }

    /// Adds the group that everybody with credentials is in (apiserver, authenticated_group_adder.go).
    pub(crate) fn authenticated(mut self) -> Self {
        if !self.is_in(names::AUTHENTICATED) && !self.is_in(names::UNAUTHENTICATED) {
            self.groups.push(names::AUTHENTICATED.to_owned());
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_needs_both_name_and_group() {
        assert_eq!(User::node("a").as_node(), Some("a"));
        assert_eq!(User::with_groups("system:node:a", vec![]).as_node(), None);
        assert_eq!(User::with_groups("a", vec![names::NODES.to_owned()]).as_node(), None);
        assert_eq!(User::node("").as_node(), Some(""));
    }

    #[test]
    fn what_is_empty_is_not_written() {
        assert_eq!(User::default().to_value(), json!({}));
        let user = User::service_account("n", "s", "u");
        assert_eq!(
            user.to_value(),
            json!({"username": "system:serviceaccount:n:s", "uid": "u",
                   "groups": ["system:serviceaccounts", "system:serviceaccounts:n", "system:authenticated"]})
        );
    }
}
