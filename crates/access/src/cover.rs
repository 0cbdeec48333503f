//! Whether a set of rules covers another, and what is missing if not: the arithmetic behind "nobody can grant what
//! they do not hold". Knows nothing of users.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    Rule,
    rule::{has, url_covers},
};

/// The most pieces that rules are compared in: rules multiply, and nobody may stall the server with ten lines of YAML.
const MAX_ATOMS: usize = 1_000_000;

/// What the owner's rules do not cover, as lines of a message; empty when they cover everything.
pub(crate) fn missing(owner: &[Rule], wanted: &[Rule]) -> BTreeSet<String> {
    if wanted.iter().map(count_atoms).fold(0, usize::saturating_add) > MAX_ATOMS {
        return BTreeSet::from([format!(
            "the rules are too many to compare: more than {MAX_ATOMS} combinations"
        )]);
    }
    let uncovered: Vec<Rule> = wanted
        .iter()
        .flat_map(atoms)
        .filter(|atom| !owner.iter().any(|rule| covers(rule, atom)))
        .collect();
    compact(uncovered).iter().map(Rule::compact).collect()
}

fn count_atoms(rule: &Rule) -> usize {
    let objects = [rule.groups.len(), rule.resources.len(), rule.names.len().max(1)];
    let objects = objects.into_iter().fold(1, usize::saturating_mul);
    objects.saturating_add(rule.urls.len()).saturating_mul(rule.verbs.len())
}

/// The rule in pieces of one verb, one resource and at most one name, so that a single rule covers each or does not.
fn atoms(rule: &Rule) -> Vec<Rule> {
    let one = |text: &String| vec![text.clone()];
    let names: Vec<Vec<String>> = if rule.names.is_empty() {
        vec![Vec::new()]
    } else {
        rule.names.iter().map(one).collect()
    };
    let mut atoms = Vec::new();
    for group in &rule.groups {
        for resource in &rule.resources {
            for verb in &rule.verbs {
                atoms.extend(names.iter().map(|names| Rule {
                    verbs: one(verb),
                    groups: one(group),
                    resources: one(resource),
                    names: names.clone(),
                    urls: Vec::new(),
                }));
            }
        }
    }
    for url in &rule.urls {
        atoms.extend(rule.verbs.iter().map(|verb| Rule {
            verbs: one(verb),
            urls: one(url),
            ..Rule::default()
        }));
    }
    atoms
}

fn covers(owner: &Rule, atom: &Rule) -> bool {
    atom.verbs.iter().all(|verb| has(&owner.verbs, verb))
        && atom.groups.iter().all(|group| has(&owner.groups, group))
        && atom
            .resources
            .iter()
            .all(|resource| covers_resource(&owner.resources, resource))
        && atom
            .urls
            .iter()
            .all(|url| owner.urls.iter().any(|own| url_covers(own, url)))
        && covers_names(&owner.names, &atom.names)
}

fn covers_resource(owner: &[String], resource: &str) -> bool {
    has(owner, resource)
        || resource
            .split_once('/')
            .is_some_and(|(_, subresource)| owner.iter().any(|own| own.strip_prefix("*/") == Some(subresource)))
}

/// A rule without names means all objects, which no list of names covers.
fn covers_names(owner: &[String], names: &[String]) -> bool {
    owner.is_empty() || (!names.is_empty() && names.iter().all(|name| owner.contains(name)))
}

/// Joins the verbs of rules that say nothing but verbs on one resource.
fn compact(rules: Vec<Rule>) -> Vec<Rule> {
    let mut compacted = Vec::new();
    let mut simple: BTreeMap<[Vec<String>; 3], Rule> = BTreeMap::new();
    for mut rule in rules {
        if !rule.urls.is_empty() {
            compacted.push(rule);
            continue;
        }
        let key = [rule.groups.clone(), rule.resources.clone(), rule.names.clone()];
        match simple.get_mut(&key) {
            Some(known) => known.verbs.append(&mut rule.verbs),
            None => {
                simple.insert(key, rule);
            }
        }
    }
    compacted.extend(simple.into_values());
    compacted
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn rules(values: &Value) -> Vec<Rule> {
        values.as_array().unwrap().iter().map(Rule::from_value).collect()
    }

    fn check(owner: &Value, wanted: &Value, expected: &[&str]) {
        let missing = missing(&rules(owner), &rules(wanted));
        assert_eq!(
            missing.iter().map(String::as_str).collect::<Vec<_>>(),
            expected,
            "{owner} {wanted}"
        );
    }

    fn on(verbs: &[&str], resources: &[&str], names: &[&str]) -> Value {
        json!({"verbs": verbs, "apiGroups": [""], "resources": resources, "resourceNames": names})
    }

    #[test]
    fn what_is_held_is_not_missing() {
        let everything = json!([{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]);
        check(
            &everything,
            &json!([on(&["get", "list"], &["pods", "secrets"], &["a"])]),
            &[],
        );
        check(
            &json!([on(&["get"], &["pods"], &[])]),
            &json!([on(&["get"], &["pods"], &["a"])]),
            &[],
        );
        check(
            &json!([on(&["get"], &["*/status"], &[])]),
            &json!([on(&["get"], &["pods/status"], &[])]),
            &[],
        );
        check(&json!([]), &json!([]), &[]);
    }

    #[test]
    fn what_is_not_held_is_listed_by_resource() {
        check(
            &json!([on(&["get"], &["pods"], &[])]),
            &json!([on(&["get", "list", "watch"], &["pods", "secrets"], &[])]),
            &[
                r#"{APIGroups:[""], Resources:["pods"], Verbs:["list" "watch"]}"#,
                r#"{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list" "watch"]}"#,
            ],
        );
    }

    #[test]
    fn names_do_not_cover_all_objects() {
        check(
            &json!([on(&["get"], &["pods"], &["a"])]),
            &json!([on(&["get"], &["pods"], &[])]),
            &[r#"{APIGroups:[""], Resources:["pods"], Verbs:["get"]}"#],
        );
        check(
            &json!([on(&["get"], &["pods"], &["a"])]),
            &json!([on(&["get"], &["pods"], &["a", "b"])]),
            &[r#"{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}"#],
        );
    }

    #[test]
    fn rules_that_multiply_without_end_are_refused() {
        let many: Vec<String> = (0..200).map(|number| number.to_string()).collect();
        let rule = json!({"verbs": many, "apiGroups": many, "resources": many});
        let missing = missing(&[], &rules(&json!([rule])));
        assert_eq!(missing.len(), 1);
        assert!(
            missing
                .first()
                .unwrap()
                .starts_with("the rules are too many to compare")
        );
    }

    #[test]
    fn a_star_is_covered_only_by_a_star() {
        check(
            &json!([on(&["get", "list"], &["pods"], &[])]),
            &json!([on(&["*"], &["pods"], &[])]),
            &[r#"{APIGroups:[""], Resources:["pods"], Verbs:["*"]}"#],
        );
        check(
            &json!([{"verbs": ["get"], "nonResourceURLs": ["/healthz/*"]}]),
            &json!([{"verbs": ["get"], "nonResourceURLs": ["/healthz/a", "/metrics", "*"]}]),
            &[
                r#"{NonResourceURLs:["*"], Verbs:["get"]}"#,
                r#"{NonResourceURLs:["/metrics"], Verbs:["get"]}"#,
            ],
        );
    }
}
