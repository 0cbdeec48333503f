//! What the bounding set of a container keeps from its programs. Pure.

use k8s_openapi::api::core::v1::Container;

/// What stands for every capability.
const ALL: &str = "ALL";

/// Whether a capability is left in the bounding set of a container. One of those that runtimes give by default is there
/// unless it is dropped, and again if it is added; the API takes names without their prefix.
pub(super) fn allows(container: &Container, capability: &str) -> bool {
    let Some(context) = &container.security_context else {
        return true;
    };
    if context.privileged == Some(true) {
        return true;
    }
    let names =
        |list: Option<&Vec<String>>| list.is_some_and(|list| list.iter().any(|name| is_meant(name, capability)));
    let capabilities = context.capabilities.as_ref();
    let is_dropped = capabilities.is_some_and(|capabilities| names(capabilities.drop.as_ref()));
    let is_added = capabilities.is_some_and(|capabilities| names(capabilities.add.as_ref()));
    !is_dropped || is_added
}

fn is_meant(name: &str, capability: &str) -> bool {
    name == ALL || name == capability
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_capability_that_is_dropped_is_back_when_it_is_added() {
        for (context, expected) in [
            (json!({}), true),
            (json!({"capabilities": {"drop": ["CHOWN"]}}), true),
            (json!({"capabilities": {"drop": ["ALL"]}}), false),
            (json!({"capabilities": {"drop": ["NET_BIND_SERVICE"]}}), false),
            (json!({"capabilities": {"drop": ["ALL"], "add": ["CHOWN"]}}), false),
            (
                json!({"capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}}),
                true,
            ),
            (json!({"capabilities": {"drop": ["ALL"]}, "privileged": true}), true),
        ] {
            let container = json!({"name": "a", "securityContext": context});
            let container: Container = hyperplane_objects::read(&container).unwrap();
            assert_eq!(allows(&container, "NET_BIND_SERVICE"), expected, "{context}");
        }
    }
}
