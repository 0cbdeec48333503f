//! What every built-in kind has in common.

use std::collections::BTreeSet;

use hyperplane_kinds::{Verb, built_in, definition};
use jiff::Timestamp;
use serde_json::json;

#[test]
fn every_kind_fills_its_columns() {
    for resource in built_in() {
        let object = json!({ "metadata": { "name": "a" } });
        let cells = resource.behaviour.cells(&object, Timestamp::UNIX_EPOCH);
        // Upstream gives addresses a cell more than they have columns.
        let extra = usize::from(resource.plural == "ipaddresses");
        assert_eq!(cells.len(), resource.columns.len() + extra, "{}", resource.qualified());
    }
}

#[test]
fn every_kind_has_a_definition_whose_references_lead_somewhere() {
    for resource in built_in() {
        let prefix = match resource.group.as_str() {
            "" => "io.k8s.api.core".to_owned(),
            "apiextensions.k8s.io" => "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions".to_owned(),
            "apiregistration.k8s.io" => "io.k8s.kube-aggregator.pkg.apis.apiregistration".to_owned(),
            group => format!("io.k8s.api.{}", group.split('.').next().unwrap_or_default()),
        };
        let mut open = vec![format!("{prefix}.{}.{}", resource.version, resource.kind)];
        let mut seen = BTreeSet::new();
        while let Some(name) = open.pop() {
            if seen.insert(name.clone()) {
                let schema = definition(&name).unwrap_or_else(|| panic!("{name} is not in the table"));
                let text = schema.to_string();
                let references = text.split("#/components/schemas/").skip(1);
                open.extend(
                    references
                        .filter_map(|rest| rest.split('"').next())
                        .map(ToOwned::to_owned),
                );
            }
        }
    }
}

#[test]
fn field_types_are_those_of_the_served_version() {
    for resource in built_in() {
        assert!(
            resource.behaviour.field_types(&resource.api_version()).is_some(),
            "{}",
            resource.qualified()
        );
        assert!(resource.behaviour.field_types("other/v1").is_none());
    }
}

#[test]
fn versions_of_one_resource_share_a_collection() {
    let resources = built_in();
    let collection = |group: &str, version: &str, plural: &str| {
        let found = resources
            .iter()
            .find(|resource| resource.group == group && resource.version == version && resource.plural == plural);
        found.unwrap().collection.clone()
    };
    assert_eq!(
        collection("", "v1", "events"),
        collection("events.k8s.io", "v1", "events")
    );
    let autoscaler = "horizontalpodautoscalers";
    assert_eq!(
        collection("autoscaling", "v1", autoscaler),
        collection("autoscaling", "v2", autoscaler)
    );
}

#[test]
fn the_page_about_built_in_kinds_names_each_of_them_and_no_other() {
    let page = include_str!("../../../docs/built-in-kinds.md");
    let rows = page
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.split('|').collect::<Vec<_>>());
    let mut named = BTreeSet::new();
    for row in rows {
        for version in row[1].split(',') {
            for kind in row[2].split(',') {
                named.insert((version.trim().trim_matches('`').to_owned(), kind.trim().to_owned()));
            }
        }
    }
    let served: BTreeSet<(String, String)> = built_in()
        .iter()
        .map(|resource| (resource.api_version(), resource.kind.clone()))
        .collect();
    assert_eq!(named, served);
}

#[test]
fn reviews_are_only_created() {
    let reviews: Vec<String> = built_in()
        .iter()
        .filter(|resource| resource.verbs == BTreeSet::from([Verb::Create]))
        .map(|resource| resource.kind.clone())
        .collect();
    assert_eq!(
        reviews,
        [
            "Binding",
            "SelfSubjectReview",
            "TokenReview",
            "LocalSubjectAccessReview",
            "SelfSubjectAccessReview",
            "SelfSubjectRulesReview",
            "SubjectAccessReview"
        ]
    );
}
