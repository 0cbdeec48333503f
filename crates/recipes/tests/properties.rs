//! Whatever valid flags are given: an API server takes what they come to.

use std::sync::LazyLock;

use hyperplane_api::{
    crd,
    hypershift::{hosted_cluster::HostedCluster, node_pool::NodePool},
    resource::{Defined as _, KindDefinition},
    schema::FeatureSet,
};
use hyperplane_planner::catalogue;
use hyperplane_recipes::{config_maps_beside, secrets_beside};
use hyperplane_schema::Schema;
use proptest::{prelude::*, sample::select, strategy::BoxedStrategy};
use serde_json::Value;

use crate::support::{cook, cook_line};

static CLUSTERS: LazyLock<Schema> = LazyLock::new(|| schema(&HostedCluster::definition()));
static POOLS: LazyLock<Schema> = LazyLock::new(|| schema(&NodePool::definition()));

fn schema(kind: &KindDefinition) -> Schema {
    let definition = crd::definition(kind, FeatureSet::Default);
    Schema::structural(&definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]).unwrap()
}

/// What an API server complains about.
fn complaints(object: &Value) -> Vec<String> {
    let schema = match object["kind"].as_str() {
        Some("HostedCluster") => &CLUSTERS,
        Some("NodePool") => &POOLS,
        _ => return Vec::new(),
    };
    let mut value = object.clone();
    let mut found: Vec<String> = schema.type_errors(&value).into_iter().collect();
    found.extend(schema.prune(&mut value));
    schema.default(&mut value);
    let mut errors = schema.validate(&value, None);
    schema.rules_after(&mut errors, &value, None);
    found.extend(errors.iter().map(ToString::to_string));
    found
}

/// A flag with one of some values, or no flag.
fn one(flag: &'static str, values: &[&'static str]) -> BoxedStrategy<Vec<String>> {
    let value = select(values.to_vec());
    prop_oneof![
        Just(Vec::new()),
        value.prop_map(move |value| vec![format!("{flag}={value}")]),
    ]
    .boxed()
}

/// A flag with a text, or no flag.
fn text(flag: &'static str, pattern: &'static str) -> BoxedStrategy<Vec<String>> {
    prop_oneof![
        Just(Vec::new()),
        pattern.prop_map(move |value| vec![format!("{flag}={value}")]),
    ]
    .boxed()
}

/// A flag without a value, or no flag.
fn bare(flag: &'static str) -> BoxedStrategy<Vec<String>> {
    prop_oneof![Just(Vec::new()), Just(vec![flag.to_owned()])].boxed()
}

fn all(parts: Vec<BoxedStrategy<Vec<String>>>) -> BoxedStrategy<Vec<String>> {
    parts.prop_map(|parts| parts.concat()).boxed()
}

const NAME: &str = "[a-z0-9]([-a-z0-9]{0,18}[a-z0-9])?";
const LABEL: &str = "[a-z]{1,8}(/[a-z]{1,5})?=[a-z0-9]{0,8}";

fn release() -> BoxedStrategy<Vec<String>> {
    let versions: Vec<String> = catalogue::releases()
        .iter()
        .map(|release| release.version.number().to_owned())
        .collect();
    prop_oneof![
        Just(Vec::new()),
        select(versions.clone()).prop_map(|version| vec![format!("--version={version}")]),
        select(versions).prop_map(|version| vec![format!("--release-image={}v{version}", catalogue::IMAGE_PREFIX)]),
        "[a-z]{1,9}\\.example\\.com/[a-z]{1,9}:[a-z0-9]{1,9}"
            .prop_map(|image| vec![format!("--release-image={image}")]),
    ]
    .boxed()
}

fn nodes() -> BoxedStrategy<Vec<String>> {
    all(vec![
        one("--node-upgrade-type", &["Replace", "InPlace"]),
        one("--node-drain-timeout", &["0s", "10m", "1h30m", "1.5h"]),
        one("--node-volume-detach-timeout", &["5m", "300ms"]),
        bare("--auto-repair"),
    ])
}

fn common() -> BoxedStrategy<Vec<String>> {
    all(vec![
        NAME.prop_map(|name| vec![format!("--name={name}")]).boxed(),
        text("--namespace", NAME),
        release(),
        text("--annotations", "[a-z]{1,8}=[ -~]{0,30}"),
        text("--labels", LABEL),
        one("--pull-secret", &["p"]),
        one("--ssh-key", &["s"]),
        one("--additional-trust-bundle", &["t"]),
        one("--image-content-sources", &["m"]),
        text("--infra-id", NAME),
        text("--base-domain", "[a-z]{1,9}\\.[a-z]{2,5}"),
        one(
            "--control-plane-availability-policy",
            &["SingleReplica", "HighlyAvailable"],
        ),
        one("--infra-availability-policy", &["SingleReplica", "HighlyAvailable"]),
        text("--etcd-storage-class", "[a-z]{1,20}"),
        one("--etcd-storage-size", &["1Gi", "8Gi", "1.5Ti", "100G", "1000000000"]),
        bare("--fips"),
        one("--feature-set", &["Default", "TechPreviewNoUpgrade", "CustomNoUpgrade"]),
        one(
            "--enable-cluster-capabilities",
            &["baremetal", "ImageRegistry,Insights"],
        ),
        one(
            "--disable-cluster-capabilities",
            &["Console", "Console,Ingress", "NodeTuning"],
        ),
        text("--control-plane-operator-image", "[a-z]{1,9}/[a-z]{1,9}:[0-9]{1,3}"),
        text("--kas-dns-name", "[a-z]{1,9}\\.[a-z]{1,9}\\.[a-z]{2,5}"),
        text("--node-selector", LABEL),
        one(
            "--toleration",
            &["operator=Exists", "key=a,value=b,effect=NoExecute,tolerationSeconds=30"],
        ),
        text("--pods-labels", LABEL),
        one("--pausedUntil", &["true", "false", "2030-01-31T08:00:00Z"]),
        one("--node-pool-replicas", &["-1", "0", "3", "500"]),
        networks(),
        nodes(),
    ])
}

fn networks() -> BoxedStrategy<Vec<String>> {
    prop_oneof![
        Just(Vec::new()),
        Just(vec!["--default-dual".to_owned()]),
        (0..100_u8, 101..200_u8).prop_map(|(pods, services)| vec![
            format!("--cluster-cidr=10.{pods}.0.0/16"),
            format!("--service-cidr=10.{services}.0.0/16"),
            "--machine-cidr=192.168.0.0/16".to_owned(),
            "--allocate-node-cidrs".to_owned(),
        ]),
        Just(vec![
            "--cluster-cidr=fd01::/48".to_owned(),
            "--service-cidr=fd02::/112".to_owned(),
            "--network-type=Calico".to_owned(),
        ]),
    ]
    .boxed()
}

fn virtual_machines() -> BoxedStrategy<Vec<String>> {
    all(vec![
        one("--cores", &["1", "16"]),
        one("--memory", &["4Gi", "16000Mi"]),
        one("--qos-class", &["Burstable", "Guaranteed"]),
        one("--root-volume-size", &["16", "500"]),
        text("--root-volume-storage-class", "[a-z]{1,20}"),
        one(
            "--root-volume-access-modes",
            &["ReadWriteOnce", "ReadWriteOnce,ReadWriteMany"],
        ),
        one("--root-volume-volume-mode", &["Filesystem", "Block"]),
        one("--root-volume-cache-strategy", &["None", "PVC"]),
        one("--additional-network", &["name:a/b"]),
        one("--network-multiqueue", &["Enable", "Disable"]),
        one("--host-device-name", &["gpu", "gpu,count:2"]),
        text("--vm-node-selector", LABEL),
        text("--containerdisk", "[a-z]{1,9}/[a-z]{1,9}:[0-9]{1,3}"),
        one("--arch", &["amd64", "s390x"]),
    ])
}

fn platform() -> BoxedStrategy<(&'static str, Vec<String>)> {
    let kubevirt = all(vec![
        virtual_machines(),
        one("--infra-storage-class-mapping", &["a/b", "a/b,group=c"]),
        one("--infra-volumesnapshot-class-mapping", &["a/b"]),
        prop_oneof![
            Just(Vec::new()),
            Just(vec!["--external-dns-domain=example.com".to_owned()]),
            Just(vec!["--service-publishing-strategy=NodePort".to_owned()]),
            Just(vec![
                "--infra-kubeconfig-file=k".to_owned(),
                "--infra-namespace=n".to_owned()
            ]),
        ]
        .boxed(),
    ]);
    let agent = all(vec![
        NAME.prop_map(|name| vec![format!("--agent-namespace={name}")]).boxed(),
        text("--agentLabelSelector", LABEL),
        one(
            "--api-server-address",
            &["192.0.2.1", "nodes.example.com", "2001:db8:0:0:0:0:0:1"],
        ),
        one("--arch", &["amd64", "arm64", "ppc64le"]),
    ]);
    let none = all(vec![
        prop_oneof![
            Just(vec!["--expose-through-load-balancer".to_owned()]),
            Just(vec!["--external-dns-domain=example.com".to_owned()]),
            Just(vec!["--external-api-server-address=192.0.2.1".to_owned()]),
            Just(Vec::new()),
        ]
        .boxed(),
        one("--arch", &["amd64", "arm64"]),
    ]);
    prop_oneof![
        kubevirt.prop_map(|flags| ("kubevirt", flags)),
        agent.prop_map(|flags| ("agent", flags)),
        none.prop_map(|flags| ("none", flags)),
    ]
    .boxed()
}

fn judge(words: &[String]) -> Result<(), TestCaseError> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let manifests = match cook(&words, Some("192.0.2.9")) {
        Ok(manifests) => manifests,
        Err(problems) => return Err(TestCaseError::fail(format!("{words:?}: {problems:#?}"))),
    };
    for manifest in &manifests.objects {
        let complaints = complaints(&manifest.object);
        prop_assert!(complaints.is_empty(), "{words:?}: {complaints:#?}");
        let text = serde_saphyr::to_string(&manifest.object).unwrap();
        let read: Value = serde_saphyr::from_str(&text).unwrap();
        prop_assert_eq!(&read, &manifest.object, "YAML says the same");
    }
    Ok(())
}

#[test]
fn what_is_made_beside_a_cluster_has_a_name_that_is_known() {
    let line = "cluster kubevirt blue --version 1.35.8 --pull-secret p --ssh-key s --additional-trust-bundle t \
                --infra-kubeconfig-file k --infra-namespace machines";
    let manifests = cook_line(line).unwrap_or_else(|problems| panic!("{problems:#?}"));
    let names = |kind: &str| -> Vec<&str> {
        let made = manifests.objects.iter().filter(|manifest| manifest.kind() == kind);
        made.map(hyperplane_recipes::Manifest::name).collect()
    };
    assert_eq!(names("Secret"), secrets_beside("blue"));
    assert_eq!(names("ConfigMap"), config_maps_beside("blue"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn every_cluster_that_can_be_asked_for_is_accepted(common in common(), (platform, flags) in platform()) {
        let words = [vec!["cluster".to_owned(), platform.to_owned()], common, flags].concat();
        judge(&words)?;
    }

    #[test]
    fn every_pool_that_can_be_asked_for_is_accepted(
        name in NAME,
        cluster in NAME,
        version in select(catalogue::releases().to_vec()),
        nodes in nodes(),
        machines in virtual_machines(),
        replicas in 0..1000_u32,
    ) {
        let fixed = ["nodepool", "kubevirt", &name, "--cluster-name", &cluster].map(str::to_owned);
        let more = [format!("--version={}", version.version.number()), format!("--replicas={replicas}")];
        judge(&[fixed.to_vec(), more.to_vec(), nodes, machines].concat())?;
    }
}
