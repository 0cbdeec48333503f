use hyperplane_api::{
    constants::annotations,
    hypershift::{hosted_cluster::HostedCluster, node_pool::NodePool},
};
use serde_json::{Value, json};

use super::*;
use crate::{MachineTemplate, Platform as _, kubevirt::KubeVirt};

fn cluster(kubevirt: &Value, annotation: Option<&str>) -> HostedCluster {
    let annotations = annotation.map(|text| json!({annotations::KUBEVIRT_VM_JSON_PATCH.as_str(): text}));
    hyperplane_objects::read(json!({
        "metadata": {"name": "blue", "namespace": "clusters", "annotations": annotations},
        "spec": {
            "release": {"image": "hyperplane.dev/kubernetes:v1.36.4"}, "services": [],
            "platform": {"type": "KubeVirt", "kubevirt": kubevirt}, "pullSecret": {"name": "pull-secret"},
        },
    }))
    .unwrap()
}

fn pool(kubevirt: &Value, annotation: Option<&str>) -> NodePool {
    let annotations = annotation.map(|text| json!({annotations::KUBEVIRT_VM_JSON_PATCH.as_str(): text}));
    hyperplane_objects::read(json!({
        "metadata": {"name": "workers", "namespace": "clusters", "annotations": annotations},
        "spec": {
            "clusterName": "blue", "release": {"image": "hyperplane.dev/kubernetes:v1.36.4"},
            "management": {"upgradeType": "Replace"}, "platform": {"type": "KubeVirt", "kubevirt": kubevirt},
        },
    }))
    .unwrap()
}

fn made(cluster: &HostedCluster, pool: &NodePool, spreads_by_topology: bool) -> Result<Value, Vec<Problem>> {
    let facts = PoolFacts {
        cluster,
        pool,
        pool_label: "workers",
        infra_id: "blue-abcde",
        namespace: "clusters-blue",
        boot_image: Some("registry.example.com/os:1"),
        spreads_by_topology,
    };
    let template = KubeVirt.machine_template(&facts)?;
    assert!(matches!(template, MachineTemplate::KubeVirt(_)));
    Ok(serde_json::from_slice(&template.canonical()).unwrap())
}

fn machine(pool: &NodePool) -> Value {
    let template = made(&cluster(&json!({}), None), pool, true).unwrap();
    template["template"]["spec"]["virtualMachineTemplate"].clone()
}

#[test]
fn a_pool_that_says_nothing_gets_the_usual_machine() {
    let machine = machine(&pool(&json!({}), None));
    let spec = &machine["spec"];
    assert_eq!(spec["runStrategy"], "Always");
    assert_eq!(machine["metadata"]["namespace"], "clusters-blue");
    let volume = &spec["dataVolumeTemplates"][0]["spec"];
    assert_eq!(
        volume["source"]["registry"]["url"],
        "docker://registry.example.com/os:1"
    );
    assert_eq!(volume["storage"]["resources"]["requests"]["storage"], "32Gi");
    let instance = &spec["template"]["spec"];
    assert_eq!(instance["evictionStrategy"], "External");
    assert_eq!(instance["domain"]["cpu"], json!({"cores": 2}));
    assert_eq!(instance["domain"]["memory"], json!({"guest": "8Gi"}));
    assert_eq!(instance["domain"].get("resources"), None);
    assert_eq!(instance["domain"]["devices"]["networkInterfaceMultiqueue"], true);
    assert_eq!(instance["networks"], json!([{"name": "default", "pod": {}}]));
    assert_eq!(instance["topologySpreadConstraints"][0]["maxSkew"], 1);
    assert_eq!(instance.get("affinity"), None);
}

#[test]
fn what_a_pool_says_reaches_the_machine() {
    let machine = machine(&pool(
        &json!({
            "compute": {"cores": 4, "memory": "16Gi", "qosClass": "Guaranteed"},
            "rootVolume": {
                "type": "Persistent",
                "persistent": {"size": "64Gi", "storageClass": "fast", "accessModes": ["ReadWriteMany"], "volumeMode": "Block"},
                "diskImage": {"containerDiskImage": "registry.example.com/mine:2"},
            },
            "attachDefaultNetwork": false,
            "additionalNetworks": [{"name": "lan/storage"}],
            "networkInterfaceMultiqueue": "Disable",
            "nodeSelector": {"disk": "ssd"},
            "hostDevices": [{"deviceName": "gpu", "count": 2}],
        }),
        None,
    ));
    let volume = &machine["spec"]["dataVolumeTemplates"][0]["spec"];
    assert_eq!(
        volume["source"]["registry"]["url"],
        "docker://registry.example.com/mine:2"
    );
    assert_eq!(
        volume["storage"],
        json!({"resources": {"requests": {"storage": "64Gi"}}, "storageClassName": "fast", "volumeMode": "Block",
            "accessModes": ["ReadWriteMany"]})
    );
    let instance = &machine["spec"]["template"]["spec"];
    let amounts = json!({"cpu": "4", "memory": "16Gi"});
    assert_eq!(
        instance["domain"]["resources"],
        json!({"requests": amounts, "limits": amounts})
    );
    let devices = &instance["domain"]["devices"];
    assert_eq!(
        devices["interfaces"],
        json!([{"name": "iface1_lan-storage", "bridge": {}}])
    );
    assert_eq!(devices.get("networkInterfaceMultiqueue"), None);
    assert_eq!(devices["hostDevices"].as_array().unwrap().len(), 2);
    assert_eq!(instance["networks"][0]["multus"]["networkName"], "lan/storage");
    assert_eq!(instance["nodeSelector"], json!({"disk": "ssd"}));
}

#[test]
fn a_pool_from_before_keeps_its_old_way_of_spreading() {
    let template = made(&cluster(&json!({}), None), &pool(&json!({}), None), false).unwrap();
    let instance = &template["template"]["spec"]["virtualMachineTemplate"]["spec"]["template"]["spec"];
    assert_eq!(instance.get("topologySpreadConstraints"), None);
    assert!(instance["affinity"]["podAntiAffinity"].is_object());
}

#[test]
fn machines_elsewhere_are_made_with_the_credentials_for_there() {
    let elsewhere = cluster(
        &json!({"credentials": {
            "infraKubeConfigSecret": {"name": "other", "key": "config"}, "infraNamespace": "machines"}}),
        None,
    );
    let template = made(&elsewhere, &pool(&json!({}), None), true).unwrap();
    let spec = &template["template"]["spec"];
    assert_eq!(spec["infraClusterSecretRef"]["name"], copies::KUBEVIRT_CREDENTIALS);
    assert_eq!(spec["virtualMachineTemplate"]["metadata"]["namespace"], "machines");
}

#[test]
fn patches_are_laid_over_each_other_in_order() {
    let hostname = |name: &str| {
        let patch = json!([{"op": "add", "path": "/spec/template/spec/hostname", "value": name}]);
        patch.to_string()
    };
    let (of_cluster, of_pool) = (hostname("cluster"), hostname("pool"));
    let template = made(
        &cluster(&json!({}), Some(&of_cluster)),
        &pool(&json!({}), Some(&of_pool)),
        true,
    );
    let template = template.unwrap();
    let instance = &template["template"]["spec"]["virtualMachineTemplate"]["spec"]["template"]["spec"];
    assert_eq!(instance["hostname"], "pool");
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let bad = pool(
        &json!({
            "attachDefaultNetwork": true, "additionalNetworks": [{"name": "storage"}],
            "rootVolume": {"type": "Persistent", "cacheStrategy": {"type": "PVC"}},
        }),
        Some(r#"[{"op": "remove", "path": "/nowhere"}]"#),
    );
    let problems = made(&cluster(&json!({}), None), &bad, true).unwrap_err();
    let rules: Vec<&str> = problems.iter().map(|problem| problem.rule).collect();
    assert_eq!(rules, [NETWORK_NAME.name, CACHE.name, patch::JSON_PATCH.name]);
    let unconnected = pool(&json!({"attachDefaultNetwork": false}), Some("{}"));
    let problems = made(&cluster(&json!({}), None), &unconnected, true).unwrap_err();
    let rules: Vec<&str> = problems.iter().map(|problem| problem.rule).collect();
    assert_eq!(rules, [NETWORKS.name, patch::JSON_PATCH.name]);
}

#[test]
fn a_machine_without_an_image_is_not_made() {
    let (cluster, pool) = (cluster(&json!({}), None), pool(&json!({}), None));
    let facts = PoolFacts {
        cluster: &cluster,
        pool: &pool,
        pool_label: "workers",
        infra_id: "blue-abcde",
        namespace: "clusters-blue",
        boot_image: None,
        spreads_by_topology: true,
    };
    let problems = template(&facts).unwrap_err();
    assert_eq!(problems[0].rule, BOOT_IMAGE.name);
}
