//! What holds for every word, whoever declares it.

use std::collections::BTreeSet;

use regex::Regex;
use serde_json::Value;

use super::{KeyPrefix, annotations, conditions, finalizers, groups, labels, ours, reasons};
use crate::{
    common::ConditionSchema,
    schema::{FeatureSet, derived, structural},
};

/// The longest name of a key and the longest DNS name before its slash, by Kubernetes' own rules.
const MAX_NAME: usize = 63;
const MAX_DNS_NAME: usize = 253;

/// What the schema of a condition says of one of its fields.
fn condition_field(field: &str) -> (Regex, usize) {
    let schema = structural(derived::<ConditionSchema>(), FeatureSet::Default);
    let field = &schema["properties"][field];
    let pattern = field["pattern"].as_str().expect("the field has a pattern");
    let longest = field["maxLength"].as_u64().expect("the field has a length");
    (
        Regex::new(pattern).expect("the pattern compiles"),
        usize::try_from(longest).expect("the length fits"),
    )
}

fn assert_fits(field: &str, word: &str) {
    let (pattern, longest) = condition_field(field);
    assert!(
        pattern.is_match(word) && word.len() <= longest,
        "{word} cannot be the {field} of a condition"
    );
}

fn assert_unique<'a>(table: &str, words: impl IntoIterator<Item = &'a str>) {
    let mut seen = BTreeSet::new();
    for word in words {
        assert!(seen.insert(word), "{table} has {word} twice");
    }
    assert!(!seen.is_empty(), "{table} is empty");
}

fn is_qualified_name(key: &str) -> bool {
    let name = Regex::new("^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$").expect("the pattern compiles");
    let dns = Regex::new(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$").expect("it compiles");
    let fits = |part: &str| name.is_match(part) && part.len() <= MAX_NAME;
    match key.split_once('/') {
        None => fits(key),
        Some((domain, rest)) => dns.is_match(domain) && domain.len() <= MAX_DNS_NAME && fits(rest),
    }
}

fn assert_keys(table: &str, keys: &[&str]) {
    assert_unique(table, keys.iter().copied());
    for key in keys {
        assert!(is_qualified_name(key), "{table} has {key}, which is no key");
    }
}

fn assert_prefixes(table: &str, prefixes: &[KeyPrefix]) {
    assert_unique(table, prefixes.iter().map(|prefix| prefix.as_str()));
    for prefix in prefixes {
        let key = prefix.key("name");
        assert_eq!(prefix.rest_of(&key), Some("name"));
        assert_eq!(prefix.rest_of("name"), None);
        let key = if key.contains('/') {
            key
        } else {
            prefix.key("example.com/name")
        };
        assert!(is_qualified_name(&key), "{table} has {prefix}, which makes no keys");
    }
}

#[test]
fn a_qualified_name_is_told_from_others() {
    for key in [
        "name",
        "example.com/name",
        "hypershift.openshift.io/nodePool",
        "a.b/C_d.e-f",
    ] {
        assert!(is_qualified_name(key), "{key}");
    }
    for key in [
        "",
        "/name",
        "example.com/",
        "Example.com/name",
        "example.com/a/b",
        "-name",
        "name_",
        &"n".repeat(64),
    ] {
        assert!(!is_qualified_name(key), "{key}");
    }
}

#[test]
fn condition_types_fit_their_schema_and_stand_once_per_kind() {
    assert_unique("conditions", conditions::ALL.iter().map(|(kind, _)| *kind));
    for (kind, types) in conditions::ALL {
        assert_unique(kind, types.iter().map(|one| one.as_str()));
        for one in *types {
            assert_fits("type", one.as_str());
        }
    }
    assert_fits(
        "type",
        &conditions::certificate_rotation_degraded("customer-break-glass-signer"),
    );
}

#[test]
fn conditions_belong_to_kinds_that_exist() {
    let defined: BTreeSet<&str> = crate::KINDS.iter().map(|definition| definition().kind).collect();
    for (kind, _) in conditions::ALL {
        assert!(defined.contains(kind), "no kind is called {kind}");
    }
}

#[test]
fn reasons_fit_their_schema_and_stand_once() {
    assert_unique("reasons", reasons::ALL.iter().map(|reason| reason.as_str()));
    for reason in reasons::ALL {
        assert_fits("reason", reason.as_str());
    }
}

#[test]
fn annotations_are_keys() {
    let keys: Vec<&str> = annotations::ALL.iter().map(|one| one.as_str()).collect();
    assert_keys("annotations", &keys);
    assert_prefixes("annotations", annotations::PREFIXES);
}

#[test]
fn labels_are_keys() {
    let keys: Vec<&str> = labels::ALL.iter().map(|one| one.as_str()).collect();
    assert_keys("labels", &keys);
    assert_prefixes("labels", labels::PREFIXES);
}

#[test]
fn finalizers_are_keys() {
    let keys: Vec<&str> = finalizers::ALL.iter().map(|one| one.as_str()).collect();
    assert_keys("finalizers", &keys);
}

#[test]
fn our_keys_are_ours() {
    let keys: Vec<&str> = ours::ALL.iter().map(|one| one.as_str()).collect();
    assert_keys("ours", &keys);
    for key in keys {
        assert!(key.starts_with("hyperplane.dev/"), "{key} is not ours");
    }
}

#[test]
fn groups_are_those_of_kinds() {
    let kinds = crate::KINDS.iter().chain(crate::PROVIDER_KINDS);
    let declared: BTreeSet<&str> = kinds.map(|definition| definition().group).collect();
    for group in [
        groups::HYPERSHIFT,
        groups::HYPERPLANE,
        groups::CLUSTER_API,
        groups::INFRASTRUCTURE,
        groups::AGENT_PROVIDER,
    ] {
        assert!(declared.contains(group), "no kind is of group {group}");
    }
}

#[test]
fn words_print_as_on_the_wire() {
    assert_eq!(reasons::RECONCILIATION_SUCCEEDED.to_string(), "ReconciliatonSucceeded");
    assert_eq!(format!("{:>8}|", conditions::node_pool::READY), "   Ready|");
}

/// The columns of the kinds look for conditions by type; a type that nobody declares would print nothing for ever.
#[test]
fn columns_name_declared_conditions() {
    let quoted = Regex::new(r#"\.conditions\[\?\(@\.type==['"]([^'"]+)['"]"#).expect("the pattern compiles");
    for definition in crate::crd::definitions(FeatureSet::CustomNoUpgrade) {
        let kind = definition["spec"]["names"]["kind"]
            .as_str()
            .expect("a definition has a kind");
        let Some((_, types)) = conditions::ALL.iter().find(|(name, _)| *name == kind) else {
            continue;
        };
        let version = &definition["spec"]["versions"][0];
        for column in version["additionalPrinterColumns"]
            .as_array()
            .map_or(&[] as &[Value], Vec::as_slice)
        {
            let path = column["jsonPath"].as_str().expect("a column has a path");
            for wanted in quoted.captures_iter(path) {
                let declared = types.iter().any(|one| one.as_str() == &wanted[1]);
                assert!(
                    declared,
                    "{kind} has a column for {}, which is not declared",
                    &wanted[1]
                );
            }
        }
    }
}
