//! Nobody may grant what they do not hold: the checks before a role or a binding is written
//! (kubernetes, pkg/registry/rbac). Knows how rights are compared, not how they are stored.

use serde_json::Value;

use super::{Index, Policy};
use crate::{
    Attributes, Refusal, Rule, User,
    attributes::qualified,
    bootstrap, cover, names,
    object::{self, text},
    text::{join_errors, quote, quote_list},
};

/// What the `aggregationRule` may gather.
const FULL_AUTHORITY: &str = "must have cluster-admin privileges to use the aggregationRule";

impl Policy {
    /// Whether the user of the request may write this role or binding of `rbac.authorization.k8s.io`; everything else
    /// is none of its business and passes. The object is as it would be stored, `old` as it is.
    pub fn escalation(&self, attributes: &Attributes<'_>, object: &Value, old: Option<&Value>) -> Result<(), Refusal> {
        let is_unchanged = old.is_some_and(|old| changes_only_for_garbage_collection(object, old));
        if attributes.user.is_in(names::MASTERS) || is_unchanged {
            return Ok(());
        }
        match attributes.resource {
            "clusterroles" | "roles" => self.check_role(attributes, object, old),
            "clusterrolebindings" | "rolebindings" => self.check_binding(attributes, object),
            _ => Ok(()),
        }
    }

    fn check_role(&self, attributes: &Attributes<'_>, role: &Value, old: Option<&Value>) -> Result<(), Refusal> {
        let escalate = Attributes {
            verb: "escalate",
            version: "*",
            subresource: "",
            fields: &[],
            ..*attributes
        };
        if self.authorize(&escalate).is_allowed() {
            return Ok(());
        }
        let index = self.read();
        let refuse = |complaint| forbidden(attributes, role, complaint);
        index.confirm(attributes, &Rule::of_role(role)).map_err(refuse)?;
        let aggregates = |role: &Value| !object::list(role, &["aggregationRule", "clusterRoleSelectors"]).is_empty();
        if aggregates(role) || old.is_some_and(aggregates) {
            let full = index.confirm(attributes, &full_authority());
            return full.map_err(|_| refuse(FULL_AUTHORITY.to_owned()));
        }
        Ok(())
    }

    fn check_binding(&self, attributes: &Attributes<'_>, binding: &Value) -> Result<(), Refusal> {
        let (kind, role) = (text(binding, &["roleRef", "kind"]), text(binding, &["roleRef", "name"]));
        let resource = if kind == "ClusterRole" { "clusterroles" } else { "roles" };
        let group = text(binding, &["roleRef", "apiGroup"]);
        let bind = Attributes::resource(attributes.user, "bind", group, resource, attributes.namespace, role);
        if self.authorize(&bind).is_allowed() {
            return Ok(());
        }
        let index = self.read();
        let Some(rules) = index.rbac.rules_of_reference(kind, role, attributes.namespace) else {
            return Err(Refusal::not_found(bootstrap::GROUP, attributes.resource, role));
        };
        index
            .confirm(attributes, rules)
            .map_err(|complaint| forbidden(attributes, binding, complaint))
    }
}

impl Index {
    fn confirm(&self, attributes: &Attributes<'_>, wanted: &[Rule]) -> Result<(), String> {
        let (owned, not_found) = self.rbac.rules_for(attributes.user, attributes.namespace);
        let missing: Vec<String> = cover::missing(&owned, wanted).into_iter().collect();
        if missing.is_empty() {
            return Ok(());
        }
        let message = refusal(attributes.user, &missing);
        if not_found.is_empty() {
            return Err(message);
        }
        // Upstream looks the role up on behalf of the request, and so names the resource of the request.
        let resource = qualified(attributes.group, attributes.resource);
        let errors: Vec<String> = not_found
            .iter()
            .map(|missing| format!("{resource} {} not found", quote(&missing.name)))
            .collect();
        Err(format!("{message}; resolution errors: [{}]", join_errors(&errors)))
    }
}

fn forbidden(attributes: &Attributes<'_>, object: &Value, complaint: String) -> Refusal {
    Refusal::forbidden(attributes.group, attributes.resource, object::name(object), complaint)
}

fn refusal(user: &User, missing: &[String]) -> String {
    format!(
        "user {} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}",
        quote(&user.name),
        quote_list(&user.groups),
        missing.join("\n")
    )
}

fn full_authority() -> [Rule; 2] {
    let star = || vec!["*".to_owned()];
    [
        Rule {
            verbs: star(),
            groups: star(),
            resources: star(),
            ..Rule::default()
        },
        Rule {
            verbs: star(),
            urls: star(),
            ..Rule::default()
        },
    ]
}

/// The garbage collector only edits owners and finalizers, and must be able to do so on any role.
fn changes_only_for_garbage_collection(object: &Value, old: &Value) -> bool {
    const COLLECTED: [&str; 4] = ["ownerReferences", "finalizers", "selfLink", "managedFields"];
    let without = |value: &Value| {
        let mut value = value.clone();
        if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.retain(|key, _| !COLLECTED.contains(&key.as_str()));
        }
        value
    };
    without(object) == without(old)
}
