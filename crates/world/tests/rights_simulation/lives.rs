//! The lives in which rights are used: together they do everything that operators ever do.

use std::time::Duration;

use hyperplane_api::{
    audit_log_persistence::audit_log_persistence_config::AuditLogPersistenceConfig,
    certificates::certificate_revocation_request::CertificateRevocationRequest,
    constants::{annotations, ours},
    hyperplane::distribution_release::DistributionRelease,
    hypershift::{etcd_backup::HCPEtcdBackup, hosted_cluster::HostedCluster, node_pool::NodePool},
    karpenter::openshift_ec2_node_class::OpenshiftEC2NodeClass,
    scheduling::cluster_sizing_configuration::ClusterSizingConfiguration,
};
use hyperplane_twin::{Fault, FaultKind, FaultSelector};
use hyperplane_world::MachineManager;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret, ServiceAccount};
use kube::{
    Api, ResourceExt as _,
    api::{DeleteParams, Patch, PatchParams},
};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    ground::{USERS, merge, single},
    manifests::{machine_config, to_release},
    record::Record,
    site::Site,
};

const OLD: &str = "1.35.8";
const NEW: &str = "1.36.4";
const INSIDE: &str = "clusters-one";
/// Longer than anything that follows from a change takes.
const WHILE: Duration = Duration::from_mins(10);

/// A pool is rolled, scaled, repaired, reconfigured and deleted, while its cluster is upgraded.
pub async fn of_pools(record: &Record) {
    let site = Site::new(record, 1, MachineManager::Separate).await;
    site.with_pool(OLD, 2).await;
    site.change("one", to_release(NEW)).await;
    site.until_version("one", NEW).await;
    site.change_pool(to_release(NEW)).await;
    site.until_pool(NEW).await;
    site.until_nodes(2).await;
    site.create::<ConfigMap>(Some(USERS), machine_config("file", "one"))
        .await;
    site.change_pool(json!({"spec": {"config": [{"name": "file"}]}})).await;
    sleep(WHILE).await;
    for paused in [json!("true"), Value::Null] {
        site.change_pool(json!({"spec": {"pausedUntil": paused}})).await;
        sleep(WHILE).await;
    }
    site.change_pool(json!({"spec": {"replicas": 3}})).await;
    site.until_nodes(3).await;
    repair(&site).await;
    site.change_pool(json!({"spec": {"replicas": 1}})).await;
    site.until_nodes(1).await;
    site.change_pool(json!({"spec": {"replicas": null, "autoScaling": {"min": 1, "max": 2}}}))
        .await;
    site.change_pool(json!({"spec": {"management": {"autoRepair": false}}}))
        .await;
    sleep(WHILE).await;
    site.look().await;
    let pools: Api<NodePool> = site.api(Some(USERS));
    pools.delete("alpha", &DeleteParams::default()).await.unwrap();
    let gone = async || pools.get_opt("alpha").await.unwrap().is_none().then_some(());
    site.until("the end of the pool", gone).await;
    site.end().await;
}

/// One machine is not heard of any more, and is replaced.
async fn repair(site: &Site) {
    let machines: Api<hyperplane_api::infrastructure::kubevirt_machine::KubevirtMachine> = site.api(Some(INSIDE));
    let sick = machines.list(&kube::api::ListParams::default()).await.unwrap().items[0].name_any();
    site.faults.set(vec![Fault {
        selector: FaultSelector {
            machine: sick.clone(),
            ..FaultSelector::default()
        },
        kind: FaultKind::Silent {
            from: Duration::ZERO,
            until: None,
        },
    }]);
    let gone = async || machines.get_opt(&sick).await.unwrap().is_none().then_some(());
    site.until("the end of a sick machine", gone).await;
    site.faults.set(Vec::new());
    site.until_nodes(3).await;
}

/// A cluster is changed in every way that makes or removes something beside it: Secrets, trust, names, who runs its
/// operators, and whether it rests.
pub async fn of_changes(record: &Record) {
    let site = Site::new(record, 2, MachineManager::Separate).await;
    site.settled(NEW, &single()).await;
    let secrets: Api<Secret> = site.api(Some(USERS));
    let pull = json!({"stringData": {".dockerconfigjson": r#"{"auths": {"other.example.com": {"auth": "dTpw"}}}"#}});
    let patch = Patch::Merge(pull);
    secrets
        .patch("pull-secret", &PatchParams::default(), &patch)
        .await
        .unwrap();
    // Any certificate will do.
    let root: ConfigMap = site.api(Some(INSIDE)).get("root-ca").await.unwrap();
    let trusted = json!({"metadata": {"name": "trust"}, "data": {"ca-bundle.crt": root.data.unwrap()["ca.crt"]}});
    site.create::<ConfigMap>(Some(USERS), trusted).await;
    for change in [
        json!({"spec": {"additionalTrustBundle": {"name": "trust"}}}),
        json!({"spec": {"kubeAPIServerDNSName": "api.one.example.com"}}),
        json!({"spec": {"additionalTrustBundle": null, "kubeAPIServerDNSName": null}}),
        json!({"metadata": {"annotations": {annotations::RESTART_DATE.as_str(): "2027-01-15"}}}),
        json!({"spec": {"pausedUntil": "true"}}),
        json!({"spec": {"pausedUntil": null}}),
    ] {
        site.change("one", change).await;
        sleep(WHILE).await;
    }
    dedicate(&site).await;
    in_vain(&site).await;
    site.end().await;
}

/// Somebody makes what nothing acts on, and is told so.
async fn in_vain(site: &Site) {
    let storage = json!({"storageType": "S3", "s3": {"bucket": "backups", "region": "eu-west-1", "keyPrefix": "one",
        "credentials": {"name": "aws"}}});
    let backup = json!({"metadata": {"name": "one"}, "spec": {"storage": storage}});
    site.create::<HCPEtcdBackup>(Some(USERS), backup).await;
    let revocation = json!({"metadata": {"name": "one"}, "spec": {"signerClass": "sre-break-glass"}});
    site.create::<CertificateRevocationRequest>(Some(USERS), revocation)
        .await;
    let sizes = json!({"metadata": {"name": "cluster"}, "spec": {"sizes": [{"name": "all", "criteria": {"from": 0}}]}});
    site.create::<ClusterSizingConfiguration>(None, sizes).await;
    let logs = json!({"metadata": {"name": "cluster"}, "spec": {"enabled": true}});
    site.create::<AuditLogPersistenceConfig>(None, logs).await;
    let class = json!({"metadata": {"name": "one"}, "spec": {"ipAddressAssociation": "SubnetDefault"}});
    site.create::<OpenshiftEC2NodeClass>(None, class).await;
}

/// The operators of the cluster move to its namespace and back again.
async fn dedicate(site: &Site) {
    let mode = |mode: Value| json!({"metadata": {"annotations": {ours::TENANT_OPERATORS.as_str(): mode}}});
    site.change("one", mode("dedicated".into())).await;
    site.until_object::<ServiceAccount>(INSIDE, "control-plane-operator")
        .await;
    sleep(WHILE).await;
    site.change(
        "one",
        json!({"metadata": {"annotations": {annotations::RESTART_DATE.as_str(): "2027-01-16"}}}),
    )
    .await;
    sleep(WHILE).await;
    site.look().await;
    site.change("one", mode(Value::Null)).await;
    sleep(WHILE).await;
}

/// A highly available cluster with a member of etcd that is brought back.
pub async fn of_members(record: &Record) {
    let site = Site::new(record, 3, MachineManager::Separate).await;
    site.settled(NEW, &json!({})).await;
    site.until_condition("one", "EtcdRecoveryActive", "False").await;
    site.faults.set(vec![Fault {
        selector: FaultSelector {
            namespace: INSIDE.to_owned(),
            pod: "etcd-1".to_owned(),
            container: "etcd".to_owned(),
            ..FaultSelector::default()
        },
        kind: FaultKind::CrashLoop { times: i32::MAX },
    }]);
    let pods: Api<Pod> = site.api(Some(INSIDE));
    pods.delete("etcd-1", &DeleteParams::default()).await.unwrap();
    site.until_condition("one", "EtcdRecoveryActive", "True").await;
    site.look().await;
    site.faults.set(Vec::new());
    site.until_condition("one", "EtcdRecoveryActive", "False").await;
    site.end().await;
}

/// Hosts that join by themselves, with operators of the cluster's own from its beginning to its end.
pub async fn of_agents(record: &Record) {
    let site = Site::new(record, 4, MachineManager::Separate).await;
    extras(&site).await;
    let mut change = single();
    let platform = json!({"type": "Agent", "agent": {"agentNamespace": USERS}});
    let mut annotated = images();
    annotated[ours::TENANT_OPERATORS.as_str()] = "dedicated".into();
    merge(
        &mut change,
        &json!({"metadata": {"annotations": annotated}, "spec": {"platform": platform}}),
    );
    site.settled(OLD, &change).await;
    let pool = json!({
        "metadata": {"name": "alpha", "namespace": USERS},
        "spec": {
            "clusterName": "one",
            "release": {"image": crate::manifests::release(OLD)},
            "replicas": 1,
            "management": {"upgradeType": "Replace", "autoRepair": true},
            "platform": {"type": "Agent", "agent": {}},
        },
    });
    site.create::<NodePool>(Some(USERS), pool).await;
    sleep(WHILE).await;
    site.change("one", to_release(NEW)).await;
    site.until_version("one", NEW).await;
    site.end().await;
}

/// Machines in the hands of the manager itself, which has the rights of both programs.
pub async fn of_one_process(record: &Record) {
    let site = Site::new(record, 5, MachineManager::Hyperplane).await;
    site.with_pool(OLD, 2).await;
    site.change("one", to_release(NEW)).await;
    site.until_version("one", NEW).await;
    site.change_pool(to_release(NEW)).await;
    site.until_pool(NEW).await;
    site.until_nodes(2).await;
    site.change_pool(json!({"spec": {"replicas": 3}})).await;
    site.until_nodes(3).await;
    repair(&site).await;
    site.end().await;
}

/// Machines in the hands of a manager of Cluster API in the control plane, whose programs are not ours.
pub async fn of_cluster_api(record: &Record) {
    let site = Site::new(record, 6, MachineManager::ClusterApi).await;
    extras(&site).await;
    let mut change = single();
    merge(
        &mut change,
        &json!({"metadata": {"annotations": images()}, "spec": {"platform": {"type": "KubeVirt", "kubevirt": {}}}}),
    );
    site.settled(NEW, &change).await;
    let clusters: Api<HostedCluster> = site.api(Some(USERS));
    assert!(clusters.get("one").await.unwrap().status.is_some());
    site.end().await;
}

/// Images that are in no release of the catalogue exist because somebody says so.
async fn extras(site: &Site) {
    let carried = json!({"manager": {"image": image("manager")}, "provider": {"image": image("provider")}});
    let release = json!({
        "metadata": {"name": "extras"},
        "spec": {"distribution": "extras", "version": "v1.0.0", "kubernetesVersion": "v1.36.4", "components": carried},
    });
    site.create::<DistributionRelease>(None, release).await;
}

fn images() -> Value {
    json!({
        annotations::CAPI_MANAGER_IMAGE.as_str(): image("manager"),
        annotations::CAPI_PROVIDER_KUBEVIRT_IMAGE.as_str(): image("provider"),
        annotations::CAPI_PROVIDER_AGENT_IMAGE.as_str(): image("provider"),
    })
}

fn image(name: &str) -> String {
    format!("registry.example.com/{name}:v1")
}
