//! What each platform makes of a cluster. The rules have their cases where they are put together with all others.

use std::collections::BTreeSet;

use hyperplane_api::hypershift::node_pool::NodePool;
use serde_json::{Value, json};

use super::*;

fn cluster(platform: &Value, more: &Value) -> HostedCluster {
    let mut spec = json!({
        "release": {"image": "hyperplane.dev/kubernetes:v1.36.4"}, "platform": platform, "services": [],
        "pullSecret": {"name": "pull-secret"},
    });
    for (name, value) in more.as_object().unwrap() {
        spec[name] = value.clone();
    }
    hyperplane_objects::read(json!({"metadata": {"name": "blue", "namespace": "clusters"}, "spec": spec})).unwrap()
}

fn facts<'a>(cluster: &'a HostedCluster, ignition_endpoint: Option<&'a str>) -> Facts<'a> {
    Facts {
        cluster,
        infra_id: "blue-abcde",
        namespace: "clusters-blue",
        endpoint: None,
        ignition_endpoint,
    }
}

#[test]
fn every_platform_is_found_by_its_name_and_no_other() {
    for name in ["KubeVirt", "Agent", "None"] {
        let cluster = cluster(&json!({"type": name}), &json!({}));
        assert_eq!(of(&cluster.spec).unwrap().platform_type().as_str(), name);
    }
    let cluster = cluster(&json!({"type": "AWS"}), &json!({}));
    let error = of(&cluster.spec).unwrap_err().to_string();
    assert!(
        error.contains("AWS is not supported") && error.contains("KubeVirt, Agent, None"),
        "{error}"
    );
}

#[test]
fn no_two_rules_have_one_name() {
    let names: Vec<&str> = rules().chain(pool_rules()).map(|rule| rule.name).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
}

#[test]
fn agents_take_the_hosts_that_a_pool_selects_and_no_platform_makes_no_machines() {
    let pool: NodePool = hyperplane_objects::read(json!({
        "metadata": {"name": "workers", "namespace": "clusters"},
        "spec": {
            "clusterName": "blue", "release": {"image": "hyperplane.dev/kubernetes:v1.36.4"},
            "management": {"upgradeType": "Replace"},
            "platform": {"type": "Agent", "agent": {"agentLabelSelector": {"matchLabels": {"rack": "one"}}}},
        },
    }))
    .unwrap();
    let made = |name: &str| {
        let cluster = cluster(&json!({"type": name}), &json!({}));
        let facts = PoolFacts {
            cluster: &cluster,
            pool: &pool,
            pool_label: "workers",
            infra_id: "blue-abcde",
            namespace: "clusters-blue",
            boot_image: None,
            spreads_by_topology: true,
        };
        of(&cluster.spec).unwrap().machine_template(&facts).unwrap()
    };
    let MachineTemplate::Agent(spec) = made("Agent") else {
        panic!("agents have a template");
    };
    let selector = spec.template.spec.agent_label_selector.unwrap();
    assert_eq!(selector.match_labels.unwrap()["rack"], "one");
    assert_eq!(made("None"), MachineTemplate::None);
    assert_eq!(made("None").kind(), None);
    assert_eq!(made("Agent").kind().unwrap().1.as_str(), "AgentMachineTemplate");
}

#[test]
fn the_object_for_kubevirt_names_the_other_cluster_only_where_there_is_one() {
    let here = cluster(&json!({"type": "KubeVirt", "kubevirt": {}}), &json!({}));
    let there = cluster(
        &json!({"type": "KubeVirt", "kubevirt": {"credentials": {
            "infraKubeConfigSecret": {"name": "other", "key": "config"}, "infraNamespace": "machines"}}}),
        &json!({}),
    );
    let of_cluster = |cluster: &HostedCluster| {
        let platform = of(&cluster.spec).unwrap();
        let Infrastructure::Object(InfrastructureObject::KubeVirt(object)) =
            platform.infrastructure(&facts(cluster, None))
        else {
            panic!("KubeVirt always has an object");
        };
        (
            *object,
            platform.credentials(&cluster.spec),
            platform.provider_rules(&facts(cluster, None)),
        )
    };
    let (object, credentials, rules) = of_cluster(&here);
    assert_eq!(object.metadata.name.as_deref(), Some("blue-abcde"));
    assert!(object.status.unwrap().ready && object.spec.infra_cluster_secret_ref.is_none());
    assert!(credentials.is_empty() && !rules.is_empty());
    let (object, credentials, rules) = of_cluster(&there);
    assert_eq!(
        object.spec.infra_cluster_secret_ref.unwrap().name,
        credentials[0].target
    );
    assert_eq!(credentials[0].keys, [KeyCopy::renamed("config", "kubeconfig")]);
    assert!(rules.is_empty(), "the kubeconfig decides what may be done there");
}

#[test]
fn agents_wait_for_the_address_of_the_ignition_server() {
    let cluster = cluster(
        &json!({"type": "Agent", "agent": {"agentNamespace": "hosts"}}),
        &json!({}),
    );
    let platform = of(&cluster.spec).unwrap();
    assert!(matches!(
        platform.infrastructure(&facts(&cluster, None)),
        Infrastructure::Waiting(_)
    ));
    let known = platform.infrastructure(&facts(&cluster, Some("ignition.example.com:443")));
    let Infrastructure::Object(InfrastructureObject::Agent(object)) = known else {
        panic!("the address is known");
    };
    assert_eq!(
        object.spec.ignition_endpoint.unwrap().url,
        "https://ignition.example.com:443/ignition"
    );
    let rules = platform.provider_rules(&facts(&cluster, None));
    assert_eq!(rules[0].place, Place::Namespace("hosts".to_owned()));
}

#[test]
fn kubevirt_chooses_what_a_cluster_does_not_say() {
    let choices = Choices {
        suffix: "abcdefgh",
        ingress_domain: Some("apps.example.com"),
        management_platform: None,
    };
    let silent = cluster(
        &json!({"type": "KubeVirt", "kubevirt": {"baseDomainPassthrough": true}}),
        &json!({}),
    );
    let chosen = of(&silent.spec).unwrap().defaults(&silent, &choices);
    assert_eq!(chosen.generate_id.as_deref(), Some("abcdefgh"));
    assert_eq!(chosen.base_domain.as_deref(), Some("apps.example.com"));
    assert_eq!(chosen.encryption_secret.as_deref(), Some("blue-etcd-encryption-key"));
    let said = cluster(
        &json!({"type": "KubeVirt", "kubevirt": {"generateID": "mine"}}),
        &json!({"secretEncryption": {"type": "aescbc", "aescbc": {"activeKey": {"name": "mine"}}}}),
    );
    assert_eq!(of(&said.spec).unwrap().defaults(&said, &choices), Chosen::default());
}

#[test]
fn both_keys_are_copied_under_names_of_ours() {
    let cluster = cluster(
        &json!({"type": "None"}),
        &json!({"secretEncryption": {"type": "aescbc", "aescbc": {
            "activeKey": {"name": "new"}, "backupKey": {"name": "old"}}}}),
    );
    let keys = of(&cluster.spec).unwrap().encryption_keys(&cluster.spec).unwrap();
    let names: Vec<(&str, &str)> = keys.iter().map(|key| (key.source.as_str(), key.target)).collect();
    assert_eq!(names, [("old", "aescbc-backup-key"), ("new", "aescbc-active-key")]);
}
