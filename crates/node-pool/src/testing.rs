//! Pools, clusters and surroundings for the tests of this crate.

#[path = "../tests/support/manifests.rs"]
mod manifests;
#[path = "../../api/tests/support/samples.rs"]
mod samples;

use std::sync::Arc;

use hyperplane_api::{
    cluster_api::{machine::Machine, machine_deployment::MachineDeployment, machine_set::MachineSet},
    constants::{annotations, objects::keys},
    hyperplane::distribution_release::DistributionRelease,
    hypershift::{hosted_cluster::HostedCluster, hosted_control_plane::HostedControlPlane, node_pool::NodePool},
};
use hyperplane_planner::{
    catalogue,
    release::{Release, Shelf, resolve},
};
use hyperplane_runtime::Entropy;
use jiff::Timestamp;
use k8s_openapi::{ByteString, api::core::v1::Secret};
use serde_json::{Value, json};

pub(crate) use self::{
    manifests::VERSION,
    samples::{IMAGE, merge},
};
use crate::{
    build::{Active, Blueprint, Desired, build},
    dereference::Seen,
    reconciler::{Plan, plan},
    settings::{NodePoolSettings, ServedTemplates},
    surroundings,
    target::Roll,
    validate::Case,
};

/// A moment.
pub(crate) const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

/// What the operator is told.
pub(crate) fn settings() -> NodePoolSettings {
    NodePoolSettings {
        served: ServedTemplates::ALL,
        entropy: Entropy::seeded(7),
        boot_image: None,
    }
}

/// The release that pools of tests have.
pub(crate) fn release() -> Arc<Release> {
    resolve(IMAGE, std::iter::empty()).unwrap().release
}

/// A cluster that pools can be made for, and with changes.
pub(crate) fn cluster(change: &Value) -> HostedCluster {
    hyperplane_objects::read(manifests::cluster(change)).unwrap()
}

/// A pool that nothing is wrong with, and with changes.
pub(crate) fn pool(change: &Value) -> NodePool {
    hyperplane_objects::read(manifests::pool(change)).unwrap()
}

/// What a run sees of a cluster that has everything, and of a pool for which nothing was made yet.
pub(crate) fn seen(cluster: &HostedCluster) -> Seen {
    let control_plane: HostedControlPlane = hyperplane_objects::read(manifests::control_plane()).unwrap();
    let authority = json!({"data": {keys::CA_CERTIFICATE: "certificate"}});
    Seen {
        namespace: "clusters-blue".to_owned(),
        cluster: Some(Arc::new(cluster.clone())),
        control_plane: Some(Arc::new(control_plane)),
        pull_secret: Some(Arc::new(Secret {
            data: Some([(keys::PULL_SECRET.to_owned(), ByteString(b"{}".to_vec()))].into()),
            ..Secret::default()
        })),
        ssh_keys: Some(Arc::new(ssh_keys("ssh-ed25519 AAAA user@example.com"))),
        ignition_authority: Some(Arc::new(hyperplane_objects::read(&authority).unwrap())),
        ..Seen::default()
    }
}

/// The copy of public keys.
pub(crate) fn ssh_keys(text: &str) -> Secret {
    Secret {
        data: Some([(keys::SSH_KEY.to_owned(), ByteString(text.into()))].into()),
        ..Secret::default()
    }
}

/// A machine whose node runs something; nothing is known of its node where the kubelet is empty.
pub(crate) fn machine(name: &str, release: &str, kubelet: &str, is_healthy: bool) -> Machine {
    let status = if is_healthy { "True" } else { "False" };
    let condition = |type_: &str| {
        json!({"type": type_, "status": status, "reason": "Because", "message": "words",
            "lastTransitionTime": "2027-01-01T00:00:00Z"})
    };
    let mut manifest = json!({
        "metadata": {"name": name, "namespace": "clusters-blue", "annotations": {
            annotations::RELEASE_VERSION.as_str(): release, annotations::NODE_POOL.as_str(): "clusters/workers"}},
        "spec": {
            "clusterName": "blue-abcde", "bootstrap": {"dataSecretName": "user-data-workers-0123456789"},
            "infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "KubevirtMachine", "name": name},
        },
        "status": {"conditions": [condition("Ready"), condition("NodeHealthy")]},
    });
    if !kubelet.is_empty() {
        manifest["status"]["nodeInfo"] = json!({
            "architecture": "amd64", "bootID": "", "containerRuntimeVersion": "", "kernelVersion": "",
            "kubeProxyVersion": "", "kubeletVersion": kubelet, "machineID": "", "operatingSystem": "linux",
            "osImage": "Debian GNU/Linux 13 (trixie)", "systemUUID": "",
        });
    }
    hyperplane_objects::read(&manifest).unwrap()
}

/// A machine that goes, once its node is empty.
pub(crate) fn draining(name: &str, message: &str) -> Machine {
    let mut machine = machine(name, VERSION, "v1.36.4", true);
    machine.metadata.deletion_timestamp = Some(hyperplane_runtime::conditions::written(NOW));
    let condition = json!({"type": "Deleting", "status": "True", "reason": "DrainingNode", "message": message,
        "lastTransitionTime": "2027-01-01T00:00:00Z"});
    let conditions = &mut machine.status.as_mut().unwrap().conditions;
    conditions.push(hyperplane_objects::read(&condition).unwrap());
    machine
}

/// A MachineDeployment, with changes.
pub(crate) fn deployment(change: &Value) -> MachineDeployment {
    let mut manifest = json!({
        "metadata": {"name": "workers", "namespace": "clusters-blue", "generation": 1},
        "spec": {
            "clusterName": "blue-abcde", "replicas": 3, "selector": {},
            "template": {"spec": {
                "clusterName": "blue-abcde", "version": "1.35.1",
                "bootstrap": {"dataSecretName": "user-data-workers-0123456789"},
                "infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io",
                    "kind": "KubevirtMachineTemplate", "name": "workers-9876543210"},
            }},
        },
    });
    merge(&mut manifest, change);
    hyperplane_objects::read(&manifest).unwrap()
}

/// A MachineSet whose machines read some user data.
pub(crate) fn set(user_data: &str, replicas: Option<i32>) -> MachineSet {
    let manifest = json!({
        "metadata": {"name": format!("set-{user_data}"), "namespace": "clusters-blue"},
        "spec": {
            "clusterName": "blue-abcde", "replicas": replicas, "selector": {},
            "template": {"spec": {
                "clusterName": "blue-abcde", "bootstrap": {"dataSecretName": user_data},
                "infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io",
                    "kind": "KubevirtMachineTemplate", "name": "workers-9876543210"},
            }},
        },
    });
    hyperplane_objects::read(&manifest).unwrap()
}

/// What is decided about a pool.
pub(crate) fn planned(pool: &NodePool, seen: &Seen) -> Plan {
    planned_with(pool, seen, &settings())
}

/// The same with other settings.
pub(crate) fn planned_with(pool: &NodePool, seen: &Seen, settings: &NodePoolSettings) -> Plan {
    plan(&Case {
        pool,
        cluster: seen.cluster.as_deref().unwrap(),
        seen,
        settings,
        shelf: &Shelf::default(),
    })
}

/// Everything that is made for a pool; none where nothing can be.
pub(crate) fn desired(pool: &NodePool, seen: &Seen, now: Timestamp) -> Option<Desired> {
    let plan = planned(pool, seen);
    let roll = match &plan.target {
        Some(target) if plan.may_roll => Roll::To(Box::new(target.clone())),
        _ => Roll::Held,
    };
    let active = Active::of(pool, seen, &roll, now, || "fresh".to_owned())?;
    let surroundings = surroundings::of(seen).unwrap();
    Some(build(&Blueprint {
        pool,
        seen,
        surroundings: &surroundings,
        roll: &roll,
        active: &active,
        now,
    }))
}

/// A release like the one that pools of tests have, with changes.
pub(crate) fn distribution_release(change: &Value) -> Arc<DistributionRelease> {
    let objects = catalogue::objects();
    let found = objects.into_iter().find(|release| {
        let image = release.spec.image.as_ref().map(ToString::to_string);
        image.as_deref() == Some(IMAGE)
    });
    let mut value = serde_json::to_value(found.unwrap()).unwrap();
    merge(&mut value, change);
    Arc::new(hyperplane_objects::read(&value).unwrap())
}

/// The Secret as the server would have it.
pub(crate) fn stored(mut secret: Secret) -> Arc<Secret> {
    secret.metadata.uid = Some("uid".to_owned());
    secret.metadata.resource_version = Some("1".to_owned());
    Arc::new(secret)
}

/// The Secret of a token once a machine has fetched what it is for.
pub(crate) fn reached(mut token: Secret) -> Secret {
    let all = token.metadata.annotations.get_or_insert_default();
    all.insert(annotations::IGNITION_REACHED.as_str().to_owned(), "True".to_owned());
    token
}
