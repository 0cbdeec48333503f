//! The table names fields that exist, and what is set in vain is found.

use std::collections::BTreeSet;

use serde_json::json;

use super::*;
use crate::{
    hypershift::{hosted_cluster::HostedClusterSpec, node_pool::NodePoolSpec},
    schema::{FeatureSet, derived, structural},
};

#[test]
fn every_path_is_a_field_and_stands_once() {
    let tables = [
        (
            HOSTED_CLUSTER,
            structural(derived::<HostedClusterSpec>(), FeatureSet::CustomNoUpgrade),
        ),
        (
            NODE_POOL,
            structural(derived::<NodePoolSpec>(), FeatureSet::CustomNoUpgrade),
        ),
    ];
    for (table, schema) in tables {
        let mut seen = BTreeSet::new();
        for field in table {
            assert!(seen.insert(field.path), "{} stands twice", field.path);
            let steps: Vec<&str> = field.path.split('.').collect();
            assert!(
                steps[0] == "spec" && exists(&schema, &steps[1..]),
                "{} is no field",
                field.path
            );
        }
    }
}

/// Whether a schema has a field. Where it is open it may.
fn exists(schema: &Value, steps: &[&str]) -> bool {
    let Some((step, rest)) = steps.split_first() else {
        return true;
    };
    let name = step.strip_suffix("[]").unwrap_or(step);
    let Some(field) = schema["properties"].get(name) else {
        return schema["x-kubernetes-preserve-unknown-fields"] == true;
    };
    let below = if name == *step { field } else { &field["items"] };
    exists(below, rest)
}

fn paths(spec: &Value) -> Vec<String> {
    let found = unused(HOSTED_CLUSTER, spec);
    found.into_iter().map(|one| one.path).collect()
}

#[test]
fn what_is_set_in_vain_is_found_and_defaults_are_not() {
    let defaults = json!({
        "fips": false, "olmCatalogPlacement": "management", "capabilities": {}, "dns": {"baseDomain": ""},
        "monitoring": null, "configuration": {"operatorhub": {"sources": []}, "authentication": {"type": "OIDC"}, "network": {"serviceNodePortRange": "1-2"}},
        "platform": {"kubevirt": {"storageDriver": {"type": "Default"}}},
        "operatorConfiguration": {
            "clusterNetworkOperator": {"disableMultiNetwork": false},
            "clusterVersionOperator": {"operatorLogLevel": "Normal"},
        },
    });
    assert_eq!(paths(&defaults), Vec::<String>::new());
    let set = json!({
        "fips": true, "olmCatalogPlacement": "guest", "dns": {"baseDomain": "example.com"},
        "operatorConfiguration": {"clusterVersionOperator": {"operatorLogLevel": "Debug"}},
        "platform": {"kubevirt": {"storageDriver": {"type": "Manual"}}},
        "configuration": {"authentication": {"type": "IntegratedOAuth", "oidcProviders": [{"name": "a"}, {"oidcClients": [{}]}]}},
    });
    let expected = [
        "spec.dns",
        "spec.platform.kubevirt.storageDriver.type",
        "spec.operatorConfiguration.clusterVersionOperator.operatorLogLevel",
        "spec.olmCatalogPlacement",
        "spec.fips",
        "spec.configuration.authentication.type",
        "spec.configuration.authentication.oidcProviders[1].oidcClients",
    ];
    assert_eq!(paths(&set), expected);
    let told = message(&unused(
        HOSTED_CLUSTER,
        &json!({"fips": true, "updateService": "https://example.com"}),
    ));
    assert!(told.contains("spec.fips, spec.updateService."), "{told}");
}

#[test]
fn anything_can_be_looked_at() {
    for value in [
        Value::Null,
        json!([]),
        json!("x"),
        json!({"dns": [1]}),
        json!({"configuration": 1}),
    ] {
        let found = unused(HOSTED_CLUSTER, &value);
        assert!(found.len() < 2, "{value}: {found:?}");
    }
}

#[test]
fn every_kind_is_one_that_is_defined_and_stands_once() {
    let defined: BTreeSet<String> = crate::KINDS.iter().map(|kind| kind().name()).collect();
    let mut seen = BTreeSet::new();
    for row in KINDS {
        let name = (row.definition)().name();
        assert!(defined.contains(&name), "{name} is not among the kinds");
        assert!(seen.insert(name.clone()), "{name} stands twice");
        let found = UnusedKind::named(&name).unwrap();
        assert_eq!(found.would, row.would);
        assert!(found.message().contains(row.would) && found.message().contains(row.instead));
    }
    for used in [
        "hostedclusters.hypershift.openshift.io",
        "distributionreleases.hyperplane.dev",
    ] {
        assert!(defined.contains(used), "{used} is not among the kinds");
        assert!(UnusedKind::named(used).is_none(), "{used} is acted on");
    }
}

#[test]
fn the_documentation_lists_every_kind() {
    let page = include_str!("../../../../docs/unused-fields.md");
    for row in KINDS {
        let kind = (row.definition)();
        let line = format!(
            "| `{}` | `{}` | {} | {} |",
            kind.kind, kind.group, row.would, row.instead
        );
        assert!(page.contains(&line), "docs/unused-fields.md lacks: {line}");
    }
}

#[test]
fn the_documentation_lists_every_field() {
    let page = include_str!("../../../../docs/unused-fields.md");
    for field in HOSTED_CLUSTER.iter().chain(NODE_POOL) {
        let row = format!("| `{}` | {} | {} |", field.path, field.would, field.instead);
        assert!(page.contains(&row), "docs/unused-fields.md lacks: {row}");
    }
}
