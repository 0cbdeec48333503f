//! Rules of several operators as those of one role: no right twice, and resources with the same verbs in one line.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::rbac::v1::PolicyRule;

/// What a right is about: a group, and the only objects, if it is about some only.
type Place = (String, Vec<String>);
/// What resources of one line have in common: where they are, and the verbs on them.
type Common = (Place, BTreeSet<String>);

/// The same rights in the fewest lines, in one order. A right on some objects is kept only where there is none on all.
pub fn united(rules: Vec<PolicyRule>) -> Vec<PolicyRule> {
    let mut verbs: BTreeMap<(Place, String), BTreeSet<String>> = BTreeMap::new();
    for rule in rules {
        let names = rule.resource_names.unwrap_or_default();
        for group in rule.api_groups.unwrap_or_default() {
            for resource in rule.resources.iter().flatten() {
                let place = (group.clone(), names.clone());
                let known = verbs.entry((place, resource.clone())).or_default();
                known.extend(rule.verbs.iter().cloned());
            }
        }
    }
    drop_covered(&mut verbs);
    let mut lines: BTreeMap<Common, BTreeSet<String>> = BTreeMap::new();
    for ((place, resource), verbs) in verbs {
        lines.entry((place, verbs)).or_default().insert(resource);
    }
    let mut lines: Vec<PolicyRule> = lines.into_iter().map(line).collect();
    lines.sort_by(|one, other| key(one).cmp(&key(other)));
    lines
}

/// Takes away rights on some objects that are there on all.
fn drop_covered(verbs: &mut BTreeMap<(Place, String), BTreeSet<String>>) {
    let all = verbs.clone();
    for (((group, names), resource), own) in &mut *verbs {
        let on_all = all.get(&((group.clone(), Vec::new()), resource.clone()));
        if let Some(on_all) = on_all.filter(|_| !names.is_empty()) {
            own.retain(|verb| !on_all.contains(verb));
        }
    }
    verbs.retain(|_, own| !own.is_empty());
}

fn line((((group, names), verbs), resources): (Common, BTreeSet<String>)) -> PolicyRule {
    PolicyRule {
        api_groups: Some(vec![group]),
        resources: Some(resources.into_iter().collect()),
        resource_names: (!names.is_empty()).then_some(names),
        verbs: verbs.into_iter().collect(),
        ..PolicyRule::default()
    }
}

fn key(rule: &PolicyRule) -> [Option<&[String]>; 3] {
    [&rule.api_groups, &rule.resources, &rule.resource_names].map(Option::as_deref)
}

#[cfg(test)]
mod tests {
    use hyperplane_component_driver::access::rule;

    use super::*;

    fn named(names: &[&str], rule: PolicyRule) -> PolicyRule {
        PolicyRule {
            resource_names: Some(names.iter().map(|name| (*name).to_owned()).collect()),
            ..rule
        }
    }

    #[test]
    fn no_right_is_said_twice() {
        let rules = vec![
            rule("apps", &["deployments", "statefulsets"], &["get", "list"]),
            rule("apps", &["deployments"], &["get", "patch"]),
            rule("", &["pods"], &["list"]),
            rule("apps", &["statefulsets"], &["patch"]),
            rule("", &["nodes"], &["list"]),
        ];
        let expected = vec![
            rule("", &["nodes", "pods"], &["list"]),
            rule("apps", &["deployments", "statefulsets"], &["get", "list", "patch"]),
        ];
        assert_eq!(united(rules), expected);
    }

    #[test]
    fn a_right_on_all_objects_takes_the_place_of_one_on_some() {
        let rules = vec![
            named(&["a"], rule("", &["secrets"], &["get", "update"])),
            rule("", &["secrets"], &["get"]),
            named(&["b"], rule("", &["pods"], &["get"])),
            rule("", &["pods"], &["get"]),
        ];
        let expected = vec![
            rule("", &["pods", "secrets"], &["get"]),
            named(&["a"], rule("", &["secrets"], &["update"])),
        ];
        assert_eq!(united(rules), expected);
    }
}
