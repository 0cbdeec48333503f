//! What a request asks for, as authorization sees it, and what the answer sounds like. Knows no policy.

use crate::{User, text::quote};

/// One requirement of a field selector that an authorizer may rely on: the field equals the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldRequirement {
    /// The field, such as `spec.nodeName`.
    pub field: String,
    /// Whether it must equal the value; otherwise it must differ.
    pub equals: bool,
    /// The value.
    pub value: String,
}

/// Everything about a request on which authorization may depend.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a> {
    /// Who asks.
    pub user: &'a User,
    /// `get`, `list`, `watch`, `create`, …; the lower-case method for paths that are no resources.
    pub verb: &'a str,
    /// The API group; empty for the core.
    pub group: &'a str,
    /// The version in the group.
    pub version: &'a str,
    /// The plural name.
    pub resource: &'a str,
    /// What is below the object, or empty.
    pub subresource: &'a str,
    /// The namespace, or empty.
    pub namespace: &'a str,
    /// The object, or empty.
    pub name: &'a str,
    /// The path, where the request is not about a resource.
    pub path: &'a str,
    /// Whether the request is about a resource.
    pub is_resource: bool,
    /// The requirements of the field selector; empty when there is none or it cannot be parsed.
    pub fields: &'a [FieldRequirement],
}

impl<'a> Attributes<'a> {
    /// A request that is about a path.
    pub fn path(user: &'a User, verb: &'a str, path: &'a str) -> Self {
        Self {
            is_resource: false,
            path,
            ..Self::resource(user, verb, "", "", "", "")
        }
    }

    /// A request that is about a resource, in any version.
    pub fn resource(
        user: &'a User,
        verb: &'a str,
        group: &'a str,
        resource: &'a str,
        namespace: &'a str,
        name: &'a str,
    ) -> Self {
        Attributes {
            user,
            verb,
            group,
            version: "*",
            resource,
            subresource: "",
            namespace,
            name,
            path: "",
            is_resource: true,
            fields: &[],
        }
    }
}

/// The answer of an authorizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Yes, and the reason (`RBAC: allowed by …`).
    Allow(String),
    /// No, whatever others say.
    Deny(String),
    /// Nothing allows it, which means no unless another authorizer says yes.
    NoOpinion(String),
}

impl Decision {
    /// Whether the request may go on.
    pub const fn is_allowed(&self) -> bool {
        matches!(self, Self::Allow(_))
    }

    /// Why; may be empty.
    pub fn reason(&self) -> &str {
        match self {
            Self::Allow(reason) | Self::Deny(reason) | Self::NoOpinion(reason) => reason,
        }
    }

    /// The words of audit annotations: `allow` or `forbid`.
    pub const fn word(&self) -> &'static str {
        if self.is_allowed() { "allow" } else { "forbid" }
    }
}

/// The whole message of the 403 that a refused request gets.
pub fn forbidden_message(attributes: &Attributes<'_>, reason: &str) -> String {
    forbidden(
        attributes.group,
        attributes.resource,
        attributes.name,
        &complaint(attributes, reason),
    )
}

/// What such a message says after `is forbidden:`.
pub(crate) fn complaint(attributes: &Attributes<'_>, reason: &str) -> String {
    let cannot = sanitize(&cannot_message(attributes));
    if reason.is_empty() {
        cannot
    } else {
        format!("{cannot}: {reason}")
    }
}

/// The message of a 403 about an object, as every part of the API server words it.
pub fn forbidden(group: &str, resource: &str, name: &str, complaint: &str) -> String {
    let qualified = qualified(group, resource);
    match (qualified.is_empty(), name.is_empty()) {
        (true, _) => format!("forbidden: {complaint}"),
        (false, true) => format!("{qualified} is forbidden: {complaint}"),
        (false, false) => format!("{qualified} {} is forbidden: {complaint}", quote(name)),
    }
}

/// A resource and its group as messages write them: `leases.coordination.k8s.io`.
pub(crate) fn qualified(group: &str, resource: &str) -> String {
    if group.is_empty() {
        resource.to_owned()
    } else {
        format!("{resource}.{group}")
    }
}

fn cannot_message(attributes: &Attributes<'_>) -> String {
    let user = quote(&attributes.user.name);
    let verb = attributes.verb;
    if !attributes.is_resource {
        return format!("User {user} cannot {verb} path {}", quote(attributes.path));
    }
    let resource = if attributes.subresource.is_empty() {
        quote(attributes.resource)
    } else {
        quote(&format!("{}/{}", attributes.resource, attributes.subresource))
    };
    let group = quote(attributes.group);
    let place = if attributes.namespace.is_empty() {
        "at the cluster scope".to_owned()
    } else {
        format!("in the namespace {}", quote(attributes.namespace))
    };
    format!("User {user} cannot {verb} resource {resource} in API group {group} {place}")
}

/// Names come from the client; the answer must not look like a page to a browser.
fn sanitize(message: &str) -> String {
    message.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_worded_as_upstream_words_them() {
        let user = User::with_groups("x", vec![]);
        let list = Attributes::resource(&user, "list", "", "configmaps", "default", "");
        let get = Attributes::resource(&user, "get", "apps", "deployments", "", "web");
        let scale = Attributes {
            subresource: "scale",
            namespace: "default",
            ..get
        };
        let hostile = User::with_groups("<b>&", vec![]);
        let cases = [
            (
                forbidden_message(&list, ""),
                r#"configmaps is forbidden: User "x" cannot list resource "configmaps" in API group "" in the namespace "default""#,
            ),
            (
                forbidden_message(&get, "because"),
                r#"deployments.apps "web" is forbidden: User "x" cannot get resource "deployments" in API group "apps" at the cluster scope: because"#,
            ),
            (
                forbidden_message(&scale, ""),
                r#"deployments.apps "web" is forbidden: User "x" cannot get resource "deployments/scale" in API group "apps" in the namespace "default""#,
            ),
            (
                forbidden_message(&Attributes::path(&hostile, "get", "/metrics"), ""),
                r#"forbidden: User "&lt;b&gt;&amp;" cannot get path "/metrics""#,
            ),
        ];
        for (message, expected) in cases {
            assert_eq!(message, expected);
        }
    }
}
