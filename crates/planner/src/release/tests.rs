//! Reading releases: what is taken, in which forms, and what is said of what is not.

use hyperplane_api::hyperplane::distribution_release::DistributionReleaseSpec;
use serde_json::{Value, json};

use super::*;

fn spec(value: Value) -> DistributionReleaseSpec {
    hyperplane_objects::read(value).unwrap()
}

/// A row of ACP's matrix.
fn row(version: &str, kubernetes: &str, etcd: &str) -> Release {
    let components = json!({"etcd": {"version": etcd}, "containerd": {"version": "1.7.29-4"}});
    let spec = spec(json!({
        "distribution": "acp", "version": version, "kubernetesVersion": kubernetes, "components": components,
    }));
    Release::from_spec(&spec).unwrap()
}

fn problems(value: Value) -> Vec<String> {
    let errors = Release::from_spec(&spec(value)).unwrap_err();
    errors.iter().map(ToString::to_string).collect()
}

fn read_errors(text: &str) -> Vec<String> {
    let errors = read(text).unwrap_err();
    errors.iter().map(ToString::to_string).collect()
}

fn version(text: &str) -> Version {
    Version::parse(Scheme::Kubernetes, text).unwrap()
}

#[test]
fn three_fields_are_enough() {
    let release = Release::from_spec(&spec(json!({
        "distribution": "kubernetes", "version": "v1.36.4", "kubernetesVersion": "v1.36.4",
    })));
    assert_eq!(release.unwrap().version.as_str(), "v1.36.4");
}

#[test]
fn many_versions_of_a_distribution_share_one_kubernetes() {
    let rows = [
        row("v4.2.3", "v1.33.7-3", "v3.5.27-260305"),
        row("v4.2.4", "v1.33.7-3", "v3.5.27-260305"),
        row("v4.2.5", "v1.33.7-4", "v3.5.28-260421"),
    ];
    assert_eq!(rows[0].kubernetes, rows[1].kubernetes);
    assert_eq!(rows[0].version.precedence(&rows[1].version), Ordering::Less);
    assert_eq!(rows[1].kubernetes.precedence(&rows[2].kubernetes), Ordering::Less);
}

/// What follows a dash is a rebuild in ACP, for components too.
#[test]
fn the_scheme_of_a_distribution_orders_its_components() {
    let old = row("v4.1.3", "v1.32.7", "v3.5.21");
    let new = row("v4.1.5", "v1.32.11-2", "v3.5.25-251215");
    let etcd = |release: &Release| release.component_version("etcd").unwrap().clone();
    assert_eq!(old.scheme(), Scheme::Acp);
    assert_eq!(etcd(&old).precedence(&etcd(&new)), Ordering::Less);
    let rebuilt = row("v4.1.6", "v1.32.11-2", "v3.5.25");
    assert_eq!(etcd(&rebuilt).precedence(&etcd(&new)), Ordering::Less);
}

#[test]
fn the_scheme_comes_from_the_field_or_else_from_the_name() {
    for (distribution, scheme, version, expected) in [
        ("openshift", Value::Null, "4.18.3", Scheme::OpenShift),
        ("okd", json!("openshift"), "4.19.0-okd-scos.16", Scheme::OpenShift),
        ("k0s", Value::Null, "v1.31.3+k0s.0", Scheme::K0s),
        ("ours", Value::Null, "v2.0.0", Scheme::Kubernetes),
    ] {
        let release = Release::from_spec(&spec(json!({
            "distribution": distribution, "scheme": scheme, "version": version, "kubernetesVersion": "v1.31.3",
        })));
        assert_eq!(release.unwrap().scheme(), expected, "{distribution}");
    }
}

#[test]
fn a_component_without_order_keeps_its_text() {
    let release = Release::from_spec(&spec(json!({
        "distribution": "openshift", "version": "4.20.1", "kubernetesVersion": "v1.33.5",
        "components": {"etcd": {"version": "3.5.24"}, "os": {"version": "blue"}, "cli": {"image": "example.com/cli:1"}},
    })))
    .unwrap();
    assert_eq!(release.component_version("etcd"), Some(&version("3.5.24")));
    assert_eq!(release.component_version("os"), None);
    assert_eq!(release.components["os"].text.as_deref(), Some("blue"));
    assert_eq!(release.component_version("nothing"), None);
}

#[test]
fn everything_that_is_wrong_is_named_at_once() {
    let found = problems(json!({
        "distribution": "Plain Kubernetes", "version": "new", "kubernetesVersion": "v1", "scheme": "calendar",
        "image": "not an image", "endOfLife": "2026-13-01",
        "components": {"etcd": {}, "pause": {"image": "a b"}},
        "osImages": [{"platform": "AWS", "architecture": "amd64", "name": ""},
                     {"platform": "AWS", "architecture": "amd64", "name": "ami"}],
        "extensions": [{"name": "a", "version": "x", "impact": "Severe"}, {"name": "a", "version": "1.0.0"}],
        "providers": [{"name": "a"}, {"name": "b", "minVersion": "2.0.0", "maxVersion": "1.0.0"},
                      {"name": "c", "maxVersion": "1.0.0", "belowVersion": "1.0.0"}],
        "nodes": {"minKernel": "five", "cgroup": "v3", "cpuLevel": 9},
        "kubelet": {"mustHave": [{"field": "maxPods"}], "mustNotHave": ["maxPods"]},
        "gates": [{"name": "a", "message": "", "when": "Leaving", "scope": "Some", "appliesFrom": ["4.3"]},
                  {"name": "a", "message": "m", "when": "Later"}],
        "edges": [{"from": "new", "risks": [{"name": "R", "message": "m", "matchingRules": [{"type": "PromQL"}]}]}],
    }));
    let paths: Vec<&str> = found.iter().filter_map(|one| one.split(": ").next()).collect();
    let expected = [
        "spec.scheme",
        "spec.distribution",
        "spec.version",
        "spec.kubernetesVersion",
        "spec.image",
        "spec.components.etcd",
        "spec.components.pause.image",
        "spec.osImages[1]",
        "spec.osImages[0].name",
        "spec.endOfLife",
        "spec.extensions[1]",
        "spec.extensions[0].impact",
        "spec.extensions[0].version",
        "spec.providers[0]",
        "spec.providers[1]",
        "spec.providers[2]",
        "spec.nodes.minKernel",
        "spec.nodes.cgroup",
        "spec.nodes.cpuLevel",
        "spec.kubelet.mustHave[0]",
        "spec.gates[1]",
        "spec.gates[0].message",
        "spec.gates[0].scope",
        "spec.gates[0].appliesFrom",
        "spec.gates[1].when",
        "spec.edges[0].risks[0].matchingRules[0]",
        "spec.edges[0].from",
    ];
    assert_eq!(paths, expected, "{found:#?}");
}

#[test]
fn a_release_does_not_contradict_itself() {
    let found = problems(json!({
        "distribution": "kubernetes", "version": "v1.36.4", "kubernetesVersion": "v1.36.4",
        "components": {"kube-apiserver": {"version": "v1.35.8"}}, "edges": [{"from": "v1.36.4"}],
    }));
    assert_eq!(
        found,
        [
            "spec.edges[0].from: v1.36.4 is this release itself",
            "spec.components.kube-apiserver.version: v1.35.8 has another minor than spec.kubernetesVersion v1.36.4: they \
             are one program",
        ]
    );
}

/// Rule A-15, both ways: one release needs the new provider, the one before it is no longer served by it.
#[test]
fn a_pairing_binds_in_both_directions() {
    let paired = |version: &str, bound: &str| {
        let release = Release::from_spec(&spec(json!({
            "distribution": "acp", "version": version, "kubernetesVersion": "v1.34.5",
            "providers": [{"name": "dcs", bound: "1.0.21"}],
        })));
        release.unwrap().providers.remove(0)
    };
    let (old, new) = (paired("v4.3.1", "belowVersion"), paired("v4.3.2", "minVersion"));
    for (pairing, provider, expected) in [
        (&old, "1.0.20", PairingVerdict::Serves),
        (&old, "1.0.21", PairingVerdict::TooNew),
        (&new, "1.0.20", PairingVerdict::TooOld),
        (&new, "1.0.21", PairingVerdict::Serves),
        (&paired("v4.3.0", "maxVersion"), "1.0.21", PairingVerdict::Serves),
        (&paired("v4.3.0", "maxVersion"), "1.0.22", PairingVerdict::TooNew),
    ] {
        let provider = Version::parse(Scheme::Acp, provider).unwrap();
        assert_eq!(pairing.judge(&provider), expected, "{pairing:?} {provider}");
    }
}

#[test]
fn a_gate_counts_for_the_moves_that_it_names() {
    let release = Release::from_spec(&spec(json!({
        "distribution": "acp", "version": "v4.4.0", "kubernetesVersion": "v1.35.6-acp.1",
        "gates": [
            {"name": "from-minor", "message": "Look.", "appliesFrom": ["4.3"]},
            {"name": "from-one", "message": "Look.", "appliesFrom": ["v4.2.5"]},
            {"name": "always", "message": "Look.", "scope": "All"},
        ],
    })))
    .unwrap();
    let held = |from: &str| {
        let from = Version::parse(Scheme::Acp, from).unwrap();
        let gates = release
            .gates
            .iter()
            .filter(|gate| gate.holds_back(&from, &release.version));
        gates.map(|gate| &*gate.name).collect::<Vec<_>>()
    };
    assert_eq!(held("v4.3.1"), ["from-minor", "always"]);
    assert_eq!(held("v4.2.5"), ["from-one", "always"]);
    assert_eq!(held("v4.2.4"), ["always"]);
    assert_eq!(held("v4.4.0-1"), ["always"]);
    assert!(Impact::Medium.needs_acknowledgement() && !Impact::Low.needs_acknowledgement());
}

const BARE: &str = "distribution: kubernetes\nversion: v1.36.4\nkubernetesVersion: v1.36.4\n";

fn whole(name: &str) -> Value {
    json!({
        "apiVersion": "hyperplane.dev/v1alpha1", "kind": "DistributionRelease", "metadata": {"name": name},
        "spec": {"distribution": "kubernetes", "version": "v1.36.3", "kubernetesVersion": "v1.36.3"},
    })
}

#[test]
fn a_file_has_many_forms() {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [whole("a"), whole("b")]});
    let own_list = json!({"kind": "DistributionReleaseList", "items": [whole("c")]});
    for (text, names) in [
        (BARE.to_owned(), vec!["kubernetes-v1.36.4"]),
        (format!("---\n{BARE}---\n---\n{BARE}"), vec!["kubernetes-v1.36.4"; 2]),
        (whole("a").to_string(), vec!["a"]),
        (format!("{}\n{}", whole("a"), whole("b")), vec!["a", "b"]),
        (format!("{}\n---\n{BARE}", whole("a")), vec!["a", "kubernetes-v1.36.4"]),
        (
            serde_json::to_string_pretty(&list).unwrap().replace("  ", "\t"),
            vec!["a", "b"],
        ),
        (serde_saphyr::to_string(&own_list).unwrap(), vec!["c"]),
        (
            json!([whole("a")["spec"], whole("b")]).to_string(),
            vec!["kubernetes-v1.36.3", "b"],
        ),
    ] {
        let read = read(&text).unwrap_or_else(|errors| panic!("{text}: {errors:?}"));
        let found: Vec<&str> = read.iter().filter_map(|one| one.metadata.name.as_deref()).collect();
        assert_eq!(found, names, "{text}");
    }
}

#[test]
fn defaults_are_filled_in() {
    let text = format!("{BARE}extensions: [{{name: a, version: 1.0.0}}]\ngates: [{{name: b, message: Look.}}]\n");
    let release = Release::from_spec(&read(&text).unwrap()[0].spec).unwrap();
    assert_eq!(release.extensions[0].impact, Impact::None);
    assert_eq!(release.gates[0].point, GatePoint::Entering);
    assert!(!release.gates[0].holds_patches);
}

#[test]
fn numbers_are_refused_where_versions_belong() {
    let text =
        "distribution: kubernetes\nversion: 1.30\nkubernetesVersion: v1.30.0\ncompatibleKubernetes: [1.30, \"1.29\"]\n";
    let advice = "is the number 1.3, and YAML reads 1.30 as 1.3: write versions in quotes, such as \"1.30\"";
    assert_eq!(
        read_errors(text),
        [
            format!("document 1: compatibleKubernetes[0]: {advice}"),
            format!("document 1: version: {advice}"),
        ]
    );
    let component = format!("{BARE}---\n{BARE}components: {{pause: {{version: 3.10}}}}\n");
    assert_eq!(
        read_errors(&component),
        [
            "document 2: components.pause.version: is the number 3.1, and YAML reads 1.30 as 1.3: write versions in quotes, \
          such as \"1.30\""
        ]
    );
}

#[test]
fn errors_name_document_and_field() {
    let mut odd = whole("a");
    odd["spec"]["colour"] = json!("blue");
    odd["spec"]["image"] = json!("not an image");
    let text = format!("{BARE}---\n{odd}\n");
    assert_eq!(
        read_errors(&text),
        [
            "document 2: spec.colour: is not a field of a DistributionRelease",
            "document 2: spec.image: \"not an image\" is not a valid ImageReference: must be an image such as \
             registry.k8s.io/etcd:3.6.8-0",
        ]
    );
    let list = json!({"kind": "List", "items": [whole("a"), {"kind": "Pod", "apiVersion": "v1", "spec": {}}, 5]});
    let found = read_errors(&list.to_string());
    for expected in [
        "document 1: items[1].apiVersion: must be hyperplane.dev/v1alpha1",
        "document 1: items[1].kind: must be DistributionRelease",
        "document 1: items[1].spec.version: is required",
        "document 1: items[2]: must be a DistributionRelease or its spec",
    ] {
        assert!(found.iter().any(|one| one == expected), "{found:#?}");
    }
}

/// What no schema can see is found too: the text of a version that its scheme does not take.
#[test]
fn versions_are_read_by_their_scheme() {
    let found = read_errors("distribution: openshift\nversion: 6.0.0\nkubernetesVersion: v1.36.0\n");
    assert_eq!(found.len(), 1);
    assert!(
        found[0].starts_with("document 1: version: \"6.0.0\" is not a version of openshift"),
        "{found:?}"
    );
}

#[test]
fn a_text_without_releases_is_refused() {
    assert_eq!(read_errors(""), ["holds no release"]);
    assert_eq!(read_errors("---\n"), ["holds no release"]);
    assert_eq!(
        read_errors("5"),
        ["document 1: (root): must be a DistributionRelease or its spec"]
    );
    assert_eq!(
        read_errors("kind: List"),
        ["document 1: items: must be a list of releases"]
    );
    let found = read_errors("version: [1");
    assert!(found[0].starts_with("is neither YAML nor JSON: "), "{found:?}");
    assert!(!found[0].contains('\n'), "{found:?}");
}
