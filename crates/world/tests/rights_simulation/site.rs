//! A management cluster whose questions are noted, with operators as they are on a real one: they impersonate tenants, and
//! hold a lease before they write.

use std::{ops::Deref, time::Duration};

use hyperplane_api::{hypershift::node_pool::NodePool, schema::FeatureSet};
use hyperplane_install::{Options, Program};
use hyperplane_runtime::{IdentityMode, LeaseSettings};
use hyperplane_twin::{Faults, HEARTBEAT};
use hyperplane_world::{MachineManager, NAMESPACE, OperatorSettings, Roles, furnish};
use k8s_openapi::{
    api::core::v1::Node, apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api,
    api::{ListParams, Patch, PatchParams},
};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    granted,
    ground::{Ground, Process, USERS, merge, single},
    manifests::{pool, release},
    record::Record,
};

/// The kinds of others that an OpenShift cluster with Prometheus has: group, kind, plural and scope.
const KINDS_OF_OTHERS: &[(&str, &str, &str, &str)] = &[
    ("monitoring.coreos.com", "PodMonitor", "podmonitors", "Namespaced"),
    (
        "monitoring.coreos.com",
        "ServiceMonitor",
        "servicemonitors",
        "Namespaced",
    ),
    (
        "monitoring.coreos.com",
        "PrometheusRule",
        "prometheusrules",
        "Namespaced",
    ),
    ("config.openshift.io", "Infrastructure", "infrastructures", "Cluster"),
];

/// Long enough that everything follows from what was waited for.
const REST: Duration = Duration::from_mins(10);

/// A management cluster with its operators.
pub struct Site {
    ground: Ground,
    /// Where rules are noted; nowhere, if one account has those of several programs.
    record: Option<Record>,
    processes: Vec<Process>,
    pub faults: Faults,
}

impl Deref for Site {
    type Target = Ground;

    fn deref(&self) -> &Ground {
        &self.ground
    }
}

impl Site {
    /// A cluster for which this choice about machines was installed.
    pub async fn new(record: &Record, seed: u64, machines: MachineManager) -> Self {
        let tells_use = machines != MachineManager::Hyperplane;
        let faults = Faults::default();
        let of_twin = faults.clone();
        let change = |settings: &mut hyperplane_twin::TwinSettings| {
            settings.faults = of_twin;
            settings.machines.heartbeat = Some(HEARTBEAT);
        };
        let ground = Ground::witnessed(seed, Some(record.witness(tells_use)), change).await;
        for kind in KINDS_OF_OTHERS {
            define(&ground, *kind).await;
        }
        sleep(Duration::from_secs(10)).await;
        let options = Options {
            machines,
            feature_set: FeatureSet::TechPreviewNoUpgrade,
            ..Options::default()
        };
        furnish(&ground.embedded.administrator(), &options).await.unwrap();
        let mut site = Self {
            ground,
            record: tells_use.then(|| record.clone()),
            processes: Vec::new(),
            faults,
        };
        site.start(Roles::All, Program::Operator, machines).await;
        if machines == MachineManager::Separate {
            site.start(Roles::Machines, Program::MachineController, machines).await;
        }
        site
    }

    async fn start(&mut self, roles: Roles, program: Program, machines: MachineManager) {
        let change = |settings: &mut OperatorSettings| {
            settings.identity_mode = IdentityMode::Impersonation;
            settings.machines = machines;
            settings.lease = Some(LeaseSettings::new(NAMESPACE, program.lease(None), "test"));
        };
        let process = self.ground.start_with(roles, change).await;
        self.processes.push(process);
    }

    /// A cluster with everything that is not given as usual, once it is there.
    pub async fn settled(&self, release_of: &str, change: &Value) {
        let mut manifest = json!({"spec": {"release": {"image": release(release_of)}}});
        merge(&mut manifest, change);
        self.ground.cluster("one", manifest).await;
        self.ground.until_condition("one", "Available", "True").await;
        self.ground.until_version("one", release_of).await;
    }

    /// A small cluster on KubeVirt with a pool, whose nodes are ready.
    pub async fn with_pool(&self, version: &str, count: u64) {
        let mut manifest = single();
        merge(
            &mut manifest,
            &json!({"spec": {"platform": {"type": "KubeVirt", "kubevirt": {}}}}),
        );
        self.settled(version, &manifest).await;
        self.create::<NodePool>(Some(USERS), pool("alpha", version, count, &json!({})))
            .await;
        self.until_nodes(count).await;
    }

    /// Waits until the cluster has so many nodes, all of them ready.
    pub async fn until_nodes(&self, count: u64) {
        let nodes: Api<Node> = Api::all(self.hosted("one").await);
        let ready = async || {
            let all = nodes.list(&ListParams::default()).await.ok()?.items;
            let is_ready = |node: &Node| {
                let conditions = node.status.iter().flat_map(|status| status.conditions.iter().flatten());
                conditions
                    .into_iter()
                    .any(|condition| condition.type_ == "Ready" && condition.status == "True")
            };
            (all.len() == usize::try_from(count).unwrap() && all.iter().all(is_ready)).then_some(())
        };
        self.until(&format!("{count} nodes that are ready"), ready).await;
    }

    /// Changes the pool as a user does.
    pub async fn change_pool(&self, change: Value) {
        let pools: Api<NodePool> = self.api(Some(USERS));
        let patch = Patch::Merge(change);
        pools.patch("alpha", &PatchParams::default(), &patch).await.unwrap();
    }

    /// Waits until the pool has a version.
    pub async fn until_pool(&self, version: &str) {
        let pools: Api<NodePool> = self.api(Some(USERS));
        let there = async || {
            let status = pools.get("alpha").await.unwrap().status.unwrap_or_default();
            (status.version.as_deref() == Some(version)).then_some(())
        };
        self.until(&format!("version {version} of the pool"), there).await;
    }

    /// Lets things come to rest, and notes which rules there are.
    pub async fn look(&self) {
        sleep(REST).await;
        if let Some(record) = &self.record {
            granted::note(&self.embedded.administrator(), record).await;
        }
    }

    /// Deletes the cluster, and ends the operators.
    pub async fn end(self) {
        self.look().await;
        self.ground.delete("one").await;
        self.ground.until_gone("one").await;
        sleep(REST).await;
        for process in self.processes {
            process.stop().await;
        }
    }
}

/// Defines a kind of somebody else, with whatever content.
async fn define(ground: &Ground, (group, kind, plural, scope): (&str, &str, &str, &str)) {
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    let definition = json!({
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {"group": group, "scope": scope, "names": {"kind": kind, "plural": plural},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}]},
    });
    ground.create::<CustomResourceDefinition>(None, definition).await;
}
