//! Names that access gives a meaning to: users, groups, namespaces and the shape of the names inside them.

/// Whoever shows no credentials.
pub const ANONYMOUS: &str = "system:anonymous";
/// Everybody who showed credentials.
pub const AUTHENTICATED: &str = "system:authenticated";
/// Everybody who did not.
pub const UNAUTHENTICATED: &str = "system:unauthenticated";
/// Those whom nothing is refused.
pub const MASTERS: &str = "system:masters";
/// The group of every kubelet.
pub const NODES: &str = "system:nodes";
/// The group of every service account.
pub const SERVICE_ACCOUNTS: &str = "system:serviceaccounts";
/// The key of the user's extra that names the credential (a token's id, a certificate's fingerprint).
pub const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";
/// The key of the user's extra that names the pod to which a token is bound.
pub const POD_NAME: &str = "authentication.kubernetes.io/pod-name";
/// The key of the user's extra with the identity of that pod.
pub const POD_UID: &str = "authentication.kubernetes.io/pod-uid";
/// The key of the user's extra that names the node on which that pod runs.
pub const NODE_NAME: &str = "authentication.kubernetes.io/node-name";
/// The key of the user's extra with the identity of that node.
pub const NODE_UID: &str = "authentication.kubernetes.io/node-uid";

pub(crate) const NODE_PREFIX: &str = "system:node:";
pub(crate) const SERVICE_ACCOUNT_PREFIX: &str = "system:serviceaccount:";

/// The longest DNS label.
const LABEL_LENGTH: usize = 63;
/// The longest DNS name.
const SUBDOMAIN_LENGTH: usize = 253;

/// The name of a service account as a user.
pub fn service_account_user(namespace: &str, name: &str) -> String {
    format!("{SERVICE_ACCOUNT_PREFIX}{namespace}:{name}")
}

/// The groups of a service account: all of them, and those of its namespace.
pub fn service_account_groups(namespace: &str) -> Vec<String> {
    vec![SERVICE_ACCOUNTS.to_owned(), format!("{SERVICE_ACCOUNTS}:{namespace}")]
}

/// Namespace and name, if the user is a service account.
pub fn split_service_account(user: &str) -> Option<(&str, &str)> {
    let (namespace, name) = user.strip_prefix(SERVICE_ACCOUNT_PREFIX)?.split_once(':')?;
    (is_label(namespace) && is_subdomain(name)).then_some((namespace, name))
}

/// The node, if the user is called like one and a node can have that name.
pub(crate) fn split_node(user: &str) -> Option<&str> {
    user.strip_prefix(NODE_PREFIX).filter(|name| is_subdomain(name))
}

/// Whether the text is a DNS-1123 label.
pub(crate) fn is_label(text: &str) -> bool {
    text.len() <= LABEL_LENGTH && is_label_of_any_length(text)
}

/// Whether the text is a DNS-1123 subdomain.
pub(crate) fn is_subdomain(text: &str) -> bool {
    text.len() <= SUBDOMAIN_LENGTH && text.split('.').all(is_label_of_any_length)
}

fn is_label_of_any_length(text: &str) -> bool {
    let is_alphanumeric = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.first().is_some_and(is_alphanumeric)
        && bytes.last().is_some_and(is_alphanumeric)
        && bytes.iter().all(|byte| is_alphanumeric(byte) || *byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_accounts_are_recognised_by_their_names() {
        let cases = [
            ("system:serviceaccount:a:b.c", Some(("a", "b.c"))),
            ("system:serviceaccount:a.b:c", None),
            ("system:serviceaccount:a:b:c", None),
            ("system:serviceaccount:a:", None),
            ("system:serviceaccount:A:b", None),
            ("someone", None),
        ];
        for (user, expected) in cases {
            assert_eq!(split_service_account(user), expected, "{user}");
        }
        assert_eq!(split_service_account(&service_account_user("n", "s")), Some(("n", "s")));
    }

    #[test]
    fn nodes_are_recognised_by_their_names() {
        assert_eq!(split_node("system:node:a.example"), Some("a.example"));
        for user in ["system:node:", "system:node:A", "system:node:-a", "node"] {
            assert_eq!(split_node(user), None, "{user}");
        }
    }
}
