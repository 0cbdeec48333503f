//! What a start puts back into the default policy: rules, subjects, labels and annotations that are missing, unless the
//! role says that it is not to be touched (kubernetes, component-helpers/auth/rbac/reconciliation). Pure.

use hyperplane_access::Rule;
use serde_json::{Value, json};

use super::Repair;
use crate::metadata;

/// The annotation by which an administrator keeps a role as it is.
const AUTOUPDATE: &str = "rbac.authorization.kubernetes.io/autoupdate";

/// Compares an object with what it has to be.
pub(super) fn repair(expected: &Value, found: &Value) -> Repair {
    if found["metadata"]["annotations"][AUTOUPDATE] == "false" {
        return Repair::Keep;
    }
    if found["roleRef"] != expected["roleRef"] {
        return Repair::Replace;
    }
    let mut repaired = found.clone();
    for field in ["labels", "annotations"] {
        merge(&mut repaired, expected, field);
    }
    if let Some(Value::Array(selectors)) = expected.pointer("/aggregationRule/clusterRoleSelectors") {
        add_all(&mut repaired["aggregationRule"]["clusterRoleSelectors"], selectors);
    } else {
        add_rules(&mut repaired, expected);
        if let Some(members) = repaired.as_object_mut() {
            members.remove("aggregationRule");
        }
    }
    if let Some(Value::Array(subjects)) = expected.get("subjects") {
        add_all(&mut repaired["subjects"], subjects);
    }
    if repaired == *found {
        Repair::Keep
    } else {
        Repair::Change(repaired)
    }
}

/// Adds the entries of a map that are missing; what is there stays as it is.
fn merge(object: &mut Value, expected: &Value, field: &str) {
    for (key, value) in metadata::of(expected)
        .get(field)
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let entries = &mut object["metadata"][field];
        if entries[key].is_null() {
            entries[key] = value.clone();
        }
    }
}

fn add_all(list: &mut Value, expected: &[Value]) {
    let known = list.as_array().cloned().unwrap_or_default();
    let missing: Vec<Value> = expected
        .iter()
        .filter(|entry| !known.contains(entry))
        .cloned()
        .collect();
    if !missing.is_empty() {
        *list = json!([known, missing].concat());
    }
}

fn add_rules(role: &mut Value, expected: &Value) {
    let known = Rule::of_role(role);
    let parts = Rule::of_role(expected).into_iter().flat_map(|rule| parts(&rule));
    let missing: Vec<Value> = parts
        .filter(|part| !known.iter().any(|rule| covers(rule, part)))
        .map(|part| part.to_value())
        .collect();
    if !missing.is_empty() {
        let rules = role["rules"].as_array().cloned().unwrap_or_default();
        role["rules"] = json!([rules, missing].concat());
    }
}

/// A rule as rules of one verb on one thing each.
fn parts(rule: &Rule) -> Vec<Rule> {
    let mut parts = Vec::new();
    for verb in &rule.verbs {
        let part = Rule {
            verbs: vec![verb.clone()],
            ..Rule::default()
        };
        for url in &rule.urls {
            parts.push(Rule {
                urls: vec![url.clone()],
                ..part.clone()
            });
        }
        for (group, resource) in rule
            .groups
            .iter()
            .flat_map(|group| rule.resources.iter().map(move |resource| (group, resource)))
        {
            let part = Rule {
                groups: vec![group.clone()],
                resources: vec![resource.clone()],
                ..part.clone()
            };
            let of_name = |name: &String| Rule {
                names: vec![name.clone()],
                ..part.clone()
            };
            match rule.names.as_slice() {
                [] => parts.push(part),
                names => parts.extend(names.iter().map(of_name)),
            }
        }
    }
    parts
}

/// Whether a rule allows all that a part of one allows.
fn covers(rule: &Rule, part: &Rule) -> bool {
    let all = |owned: &[String], wanted: &[String]| {
        wanted
            .iter()
            .all(|text| owned.iter().any(|known| known == text || known == "*"))
    };
    let resource = |wanted: &String| {
        let of_any = wanted
            .split_once('/')
            .map(|(_, subresource)| format!("*/{subresource}"));
        rule.resources
            .iter()
            .any(|known| known == wanted || known == "*" || Some(known) == of_any.as_ref())
    };
    let url = |wanted: &String| {
        rule.urls
            .iter()
            .any(|known| known == wanted || known.strip_suffix('*').is_some_and(|prefix| wanted.starts_with(prefix)))
    };
    let is_named =
        rule.names.is_empty() || (!part.names.is_empty() && part.names.iter().all(|name| rule.names.contains(name)));
    all(&rule.verbs, &part.verbs)
        && all(&rule.groups, &part.groups)
        && part.resources.iter().all(resource)
        && part.urls.iter().all(url)
        && is_named
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(rules: &Value) -> Value {
        json!({"metadata": {"name": "r", "annotations": {AUTOUPDATE: "true"}}, "rules": rules})
    }

    fn rule(verbs: &[&str], resources: &[&str]) -> Value {
        json!({"verbs": verbs, "apiGroups": [""], "resources": resources})
    }

    #[test]
    fn missing_rules_come_back_one_by_one_and_others_stay() {
        let expected = role(&json!([rule(&["get", "list"], &["pods", "pods/status"])]));
        assert_eq!(repair(&expected, &expected), Repair::Keep);
        let wider = role(&json!([rule(&["*"], &["pods", "*/status"])]));
        assert_eq!(repair(&expected, &wider), Repair::Keep);
        let own = rule(&["get"], &["pods"]);
        let extra = rule(&["delete"], &["secrets"]);
        let Repair::Change(repaired) = repair(&expected, &role(&json!([own, extra]))) else {
            panic!("rules are missing");
        };
        let added = [
            rule(&["get"], &["pods/status"]),
            rule(&["list"], &["pods"]),
            rule(&["list"], &["pods/status"]),
        ];
        assert_eq!(repaired["rules"], json!([own, extra, added[0], added[1], added[2]]));
    }

    #[test]
    fn a_role_that_says_so_is_not_touched() {
        let mut found = role(&json!([]));
        found["metadata"]["annotations"][AUTOUPDATE] = json!("false");
        assert_eq!(repair(&role(&json!([rule(&["get"], &["pods"])])), &found), Repair::Keep);
    }

    #[test]
    fn names_and_paths_are_compared() {
        let named = |names: &[&str]| {
            role(&json!([{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": names}]))
        };
        assert_eq!(repair(&named(&["a"]), &named(&["b", "a"])), Repair::Keep);
        assert!(matches!(repair(&named(&["a"]), &named(&["b"])), Repair::Change(_)));
        let paths = |paths: &[&str]| role(&json!([{"verbs": ["get"], "nonResourceURLs": paths}]));
        assert_eq!(repair(&paths(&["/healthz/x"]), &paths(&["/healthz/*"])), Repair::Keep);
        assert!(matches!(
            repair(&paths(&["/healthz"]), &paths(&["/livez"])),
            Repair::Change(_)
        ));
    }

    #[test]
    fn bindings_get_their_subjects_back_and_are_made_anew_for_another_role() {
        let binding = |role: &str, subjects: &Value| json!({"metadata": {"name": "b"}, "roleRef": {"name": role}, "subjects": subjects});
        let (one, two) = (json!({"name": "1"}), json!({"name": "2"}));
        let found = repair(&binding("r", &json!([one])), &binding("r", &json!([two])));
        assert_eq!(found, Repair::Change(binding("r", &json!([two, one]))));
        assert_eq!(
            repair(&binding("r", &json!([])), &binding("s", &json!([]))),
            Repair::Replace
        );
    }

    #[test]
    fn aggregated_roles_keep_their_rules() {
        let aggregated = |selectors: &Value| json!({"metadata": {}, "aggregationRule": {"clusterRoleSelectors": selectors}, "rules": []});
        let mut expected = aggregated(&json!([{"matchLabels": {"a": "1"}}]));
        expected["rules"] = json!([rule(&["get"], &["pods"])]);
        let Repair::Change(repaired) = repair(&expected, &aggregated(&json!([]))) else {
            panic!("a selector is missing");
        };
        assert_eq!(repaired["rules"], json!([]), "the controller fills them");
        assert_eq!(repaired["aggregationRule"], expected["aggregationRule"]);
    }
}
