//! Whether a definition in a group of the Kubernetes community says who approved it (apiextensions-apiserver,
//! controller/apiapproval). Pure.

use http::Uri;
use serde_json::Value;

use super::conditions::Condition;

const ANNOTATION: &str = "api-approved.kubernetes.io";
const KIND: &str = "KubernetesAPIApprovalPolicyConformant";
const SEE: &str = "see https://github.com/kubernetes/enhancements/pull/1111";

/// What is said about it; nothing in other groups.
pub(super) fn judge(definition: &Value) -> Option<Condition> {
    let group = definition["spec"]["group"].as_str().unwrap_or_default();
    let is_protected = ["k8s.io", "kubernetes.io"].iter().any(|domain| is_in(group, domain));
    is_protected.then(|| {
        condition(
            definition["metadata"]["annotations"][ANNOTATION]
                .as_str()
                .unwrap_or_default(),
        )
    })
}

fn is_in(group: &str, domain: &str) -> bool {
    group
        .strip_suffix(domain)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

fn condition(approval: &str) -> Condition {
    let must = format!("protected groups must have approval annotation {ANNOTATION:?}");
    if approval.is_empty() {
        return Condition::new(KIND, false, "MissingAnnotation", &format!("{must}, {SEE}"));
    }
    if approval.starts_with("unapproved") {
        return Condition::new(
            KIND,
            false,
            "UnapprovedAnnotation",
            &format!("not approved: {approval:?}"),
        );
    }
    let is_url = approval
        .parse::<Uri>()
        .is_ok_and(|uri| uri.scheme().is_some() && uri.host().is_some());
    if is_url {
        return Condition::new(KIND, true, "ApprovedAnnotation", &format!("approved in {approval}"));
    }
    let message = format!("{must} with either a URL or a reason starting with \"unapproved\", {SEE}");
    Condition::new(KIND, false, "InvalidAnnotation", &message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_groups_of_the_community_need_approval() {
        let judged = |group: &str, approval: &str| {
            let definition = json!({"metadata": {"annotations": {ANNOTATION: approval}}, "spec": {"group": group}});
            judge(&definition).map(|condition| format!("{condition:?}"))
        };
        assert_eq!(judged("x.test", ""), None);
        assert_eq!(judged("notk8s.io", ""), None);
        for (approval, reason) in [
            ("", "MissingAnnotation"),
            ("unapproved, a test", "UnapprovedAnnotation"),
            (
                "https://github.com/kubernetes/kubernetes/pull/78458",
                "ApprovedAnnotation",
            ),
            ("because", "InvalidAnnotation"),
        ] {
            for group in ["k8s.io", "x.k8s.io", "x.kubernetes.io"] {
                assert!(
                    judged(group, approval).is_some_and(|condition| condition.contains(reason)),
                    "{group} {approval}"
                );
            }
        }
    }
}
