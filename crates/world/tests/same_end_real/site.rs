//! A management cluster with the way to its hosted clusters, be it embedded or real: what of them can be seen, and who on
//! them does things.

use std::collections::{BTreeMap, BTreeSet};

use hyperplane_api::{
    cluster_api::machine::Machine,
    constants::annotations,
    hypershift::{hosted_control_plane::HostedControlPlane, node_pool::NodePool},
};
use hyperplane_twin::Network;
use k8s_openapi::api::core::v1::{Node, Secret};
use kube::{
    Api, Client, ResourceExt as _,
    api::{ListParams, Patch, PatchParams},
};
use serde_json::{Value, json};

use crate::{
    NAME,
    both::users::{NAMESPACE, Users, control_plane_namespace},
};

/// On a Node that is not yet what its pool says.
const UNINITIALIZED: &str = "hyperplane.dev/uninitialized";

/// A management cluster.
pub struct Site {
    pub users: Users,
    pub network: Network,
}

impl Site {
    /// The hosted cluster, as its administrator reaches it; none while there is none.
    pub async fn hosted(&self) -> Option<Client> {
        let secrets: Api<Secret> = Api::namespaced(self.users.client.clone(), NAMESPACE);
        let secret = secrets.get_opt(&format!("{NAME}-admin-kubeconfig")).await.unwrap()?;
        let kubeconfig = secret.data?.remove("kubeconfig")?;
        self.network.reach().client(&kubeconfig.0).await.ok()
    }

    /// The nodes of the hosted cluster by name; none at all if it does not answer.
    pub async fn nodes(&self) -> Option<BTreeMap<String, Node>> {
        let client = self.hosted().await?;
        let nodes = Api::<Node>::all(client).list(&ListParams::default()).await.ok()?;
        Some(nodes.into_iter().map(|node| (node.name_any(), node)).collect())
    }

    /// The machines of a pool by name.
    pub async fn machines(&self, pool: &str) -> BTreeMap<String, Machine> {
        let api: Api<Machine> = Api::namespaced(self.users.client.clone(), &control_plane_namespace(NAME));
        let all = api.list(&ListParams::default()).await.unwrap().items.into_iter();
        let title = format!("{NAMESPACE}/{pool}");
        let of_pool = all.filter(|machine| annotations::NODE_POOL.of(machine).is_some_and(|found| found == title));
        of_pool.map(|machine| (machine.name_any(), machine)).collect()
    }

    pub async fn names(&self, pool: &str) -> BTreeSet<String> {
        self.machines(pool).await.into_keys().collect()
    }

    pub fn pools(&self) -> Api<NodePool> {
        Api::namespaced(self.users.client.clone(), NAMESPACE)
    }

    pub async fn change_pool(&self, name: &str, change: &Value) {
        let patch = Patch::Merge(change);
        self.pools().patch(name, &PatchParams::default(), &patch).await.unwrap();
    }

    /// Has the hosted cluster looked into now. It announces nothing, so that without a change on the management side the
    /// next look is up to two minutes away.
    pub async fn look_inside(&self, reason: &str) {
        let api: Api<HostedControlPlane> = Api::namespaced(self.users.client.clone(), &control_plane_namespace(NAME));
        let patch = Patch::Merge(json!({"metadata": {"annotations": {"example.com/look": reason}}}));
        api.patch(NAME, &PatchParams::default(), &patch).await.unwrap();
    }

    /// Waits until a pool has so many machines, all of them nodes of a version that take pods, and gives their names.
    pub async fn until_nodes(&self, pool: &str, version: &str, count: usize) -> BTreeSet<String> {
        let look = async || {
            let (machines, nodes) = (self.machines(pool).await, self.nodes().await?);
            let is_done = |(name, machine): (&String, &Machine)| {
                machine.metadata.deletion_timestamp.is_none()
                    && has(&json!(machine), "Available", "True")
                    && nodes.get(name).is_some_and(|node| serves(node, version))
            };
            let all = machines.len() == count && machines.iter().all(is_done);
            all.then(|| machines.into_keys().collect())
        };
        let what = format!("{count} nodes of pool {pool} with version {version}");
        self.users.until(&what, look).await
    }

    /// Waits until a condition of a pool has a status, and gives its message.
    pub async fn until_condition(&self, pool: &str, type_: &str, status: &str) -> String {
        let look = async || {
            let pool = json!(self.pools().get(pool).await.unwrap());
            let conditions = pool["status"]["conditions"].as_array()?;
            let found = conditions
                .iter()
                .find(|found| found["type"] == type_ && found["status"] == status)?;
            Some(found["message"].as_str().unwrap_or_default().to_owned())
        };
        self.users
            .until(&format!("{type_}={status} of pool {pool}"), look)
            .await
    }
}

/// Whether a node has a version, is ready, and takes pods.
fn serves(node: &Node, version: &str) -> bool {
    let node = json!(node);
    let taints = node["spec"]["taints"].as_array();
    let mut taints = taints.into_iter().flatten();
    node["status"]["nodeInfo"]["kubeletVersion"] == format!("v{version}")
        && has(&node, "Ready", "True")
        && node["spec"]["unschedulable"] != true
        && taints.all(|taint| taint["key"] != UNINITIALIZED)
}

fn has(object: &Value, type_: &str, status: &str) -> bool {
    let conditions = object["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|found| found["type"] == type_ && found["status"] == status)
}
