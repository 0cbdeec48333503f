//! Strings with rules: read leniently, built strictly, with one regular expression for both worlds.

use hyperplane_api::{
    KINDS, crd,
    hypershift::{
        capabilities::OptionalCapability,
        hosted_cluster::{ClusterId, HostedCluster, HostedClusterSpec, InfraId},
        networking::{Cidr, NetworkType},
        operator_configuration::aws_load_balancer::EipAllocation,
        ours::{DistributionVersion, distribution_version},
        platform::{azure::container_registry::AzureManagedIdentityId, gcp::workload_identity::GcpWorkloadPoolId},
        platform_type::PlatformType,
    },
    schema::FeatureSet,
};
use regex::Regex;
use serde_json::{Value, json};

/// How a type parses, a text, and the rule that it breaks, if any.
type Case = (fn(&str) -> Result<(), String>, &'static str, Option<&'static str>);

/// In the case that Azure's tools write now and then.
const MANAGED_IDENTITY: &str = "/subscriptions/0a1b2c3d-0000-4000-8000-000000000001/resourcegroups/blue/providers/MICROSOFT.ManagedIdentity/userAssignedIdentities/registry-puller";

#[test]
fn parse_applies_the_rules_and_names_the_one_that_breaks() {
    let cases: &[Case] = &[
        (parse::<Cidr>, "10.0.0.0/16", None),
        (parse::<Cidr>, "fd00::/48", None),
        (
            parse::<Cidr>,
            "10.0.0.0",
            Some("must be a network such as 10.0.0.0/16 or fd00::/48"),
        ),
        (parse::<InfraId>, "example-x7k2p", None),
        (parse::<InfraId>, "", Some("must have 1 to 253 characters")),
        (parse::<InfraId>, "-example", Some("no dash at either end")),
        (parse::<ClusterId>, "0f8fad5b-d9cb-469f-a165-70867728950e", None),
        (parse::<ClusterId>, "0f8fad5b", Some("must have 36 to 36 characters")),
        (parse::<PlatformType>, "KubeVirt", None),
        (parse::<PlatformType>, "kubevirt", Some("must be one of AWS, Azure")),
        (parse::<OptionalCapability>, "openshift-samples", None),
        (parse::<DistributionVersion>, "4.1.0-3", None),
        (parse::<DistributionVersion>, "v1.36.4+k0s.0", None),
        (parse::<DistributionVersion>, "4.1.0 ", Some("must be a version")),
        (parse::<AzureManagedIdentityId>, MANAGED_IDENTITY, None),
        (
            parse::<AzureManagedIdentityId>,
            "/subscriptions/0a1b2c3d-0000-4000-8000-000000000001/resourceGroups/blue/providers/Microsoft.ManagedIdentity/identities/registry-puller",
            Some("must be /subscriptions/A/resourceGroups/B"),
        ),
        (parse::<GcpWorkloadPoolId>, "pool-1", None),
        (parse::<GcpWorkloadPoolId>, "gcp-1", Some("belong to Google")),
        (parse::<EipAllocation>, "eipalloc-0123456789abcdefF", None),
        (
            parse::<EipAllocation>,
            "eipalloc-0123456789abcdefg",
            Some("must end with 17 hexadecimal digits"),
        ),
    ];
    for (parse, text, expected) in cases {
        match (parse(text), expected) {
            (Ok(()), None) => {}
            (Err(error), Some(rule)) => assert!(error.contains(rule), "{text}: {error}"),
            (outcome, expected) => panic!("{text}: {outcome:?}, expected {expected:?}"),
        }
    }
}

fn parse<T: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> Result<(), String> {
    text.parse::<T>().map(drop).map_err(|error| error.to_string())
}

#[test]
fn errors_do_not_repeat_a_long_text() {
    let error = parse::<InfraId>(&"A".repeat(10_000)).unwrap_err();
    assert!(error.len() < 250, "{} characters", error.len());
}

#[test]
fn a_word_of_a_newer_release_is_kept() {
    let read: NetworkType = hyperplane_objects::read(json!("Cilium")).unwrap();
    assert_eq!(read, NetworkType::Unrecognised("Cilium".to_owned()));
    assert_eq!(serde_json::to_value(&read).unwrap(), json!("Cilium"));
}

#[test]
fn a_stored_text_that_breaks_a_rule_is_read_and_given_back() {
    let read: Cidr = hyperplane_objects::read(json!("not a network")).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), json!("not a network"));
}

#[test]
fn the_version_of_a_cluster_comes_from_the_field_or_else_from_its_annotation() {
    let mut cluster = HostedCluster::new("example", spec());
    assert_eq!(distribution_version(&cluster), Ok(None));
    let annotation = ("hyperplane.dev/distributionVersion".to_owned(), "4.1.0".to_owned());
    cluster.metadata.annotations = Some([annotation].into());
    assert_eq!(distribution_version(&cluster), Ok(Some("4.1.0".parse().unwrap())));
    cluster.spec.distribution_version = Some("4.2.0".parse().unwrap());
    assert_eq!(distribution_version(&cluster), Ok(Some("4.2.0".parse().unwrap())));
    cluster.spec.distribution_version = None;
    let broken = ("hyperplane.dev/distributionVersion".to_owned(), "new york".to_owned());
    cluster.metadata.annotations = Some([broken].into());
    assert!(distribution_version(&cluster).is_err());
}

fn spec() -> HostedClusterSpec {
    hyperplane_objects::read(json!({
        "release": {"image": "hyperplane.dev/kubernetes:v1.36.4"},
        "platform": {"type": "None"},
        "pullSecret": {"name": "pull-secret"},
        "services": [],
    }))
    .unwrap()
}

/// Every regular expression of every schema is one that Rust's engine takes too: `parse` relies on it.
#[test]
fn every_pattern_compiles() {
    let mut patterns = Vec::new();
    for definition in crd::definitions(FeatureSet::CustomNoUpgrade) {
        collect(
            &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"],
            &mut patterns,
        );
    }
    assert!(
        patterns.len() > KINDS.len(),
        "only {} patterns were found",
        patterns.len()
    );
    for pattern in patterns {
        assert!(Regex::new(&pattern).is_ok(), "{pattern}");
    }
}

fn collect(schema: &Value, patterns: &mut Vec<String>) {
    let matches = Regex::new(r"matches\('((?:[^'\\]|\\.)*)'\)").unwrap();
    patterns.extend(schema["pattern"].as_str().map(str::to_owned));
    for rule in schema["x-kubernetes-validations"].as_array().into_iter().flatten() {
        let expression = rule["rule"].as_str().unwrap();
        patterns.extend(
            matches
                .captures_iter(expression)
                .map(|found| found[1].replace(r"\\", r"\").replace(r"\'", "'")),
        );
    }
    for field in schema["properties"]
        .as_object()
        .into_iter()
        .flat_map(|fields| fields.values())
    {
        collect(field, patterns);
    }
    for child in ["items", "additionalProperties"] {
        if schema[child].is_object() {
            collect(&schema[child], patterns);
        }
    }
}

/// Descriptions are for `kubectl explain`, which breaks lines itself.
#[test]
fn descriptions_have_no_line_breaks_of_the_source() {
    let broken: Vec<String> = crd::definitions(FeatureSet::CustomNoUpgrade)
        .iter()
        .flat_map(|definition| {
            let text = serde_json::to_string_pretty(definition).unwrap();
            text.lines()
                .filter(|line| line.contains("\"description\""))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .filter(|line| line.replace(r"\n\n", "").contains(r"\n"))
        .collect();
    assert_eq!(broken, Vec::<String>::new());
}
