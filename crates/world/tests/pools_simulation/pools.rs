//! What users do to pools, and to what runs on their nodes.

use hyperplane_api::{cluster_api::machine::Machine, hypershift::node_pool::NodePool};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Node},
    policy::v1::PodDisruptionBudget,
};
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use crate::{
    ground::{Ground, USERS, merge, single},
    manifests::{budget, machine_config, release, workload},
    snapshot::INSIDE,
};

impl Ground {
    /// A small cluster for pools, and the wait for it.
    pub async fn cluster_for_pools(&self, version: &str) {
        let mut manifest = single();
        merge(
            &mut manifest,
            &json!({"spec": {"platform": {"type": "KubeVirt", "kubevirt": {}}, "release": {"image": release(version)}}}),
        );
        self.cluster("one", manifest).await;
        self.until_condition("one", "Available", "True").await;
    }

    pub async fn pool(&self, manifest: Value) {
        self.create::<NodePool>(Some(USERS), manifest).await;
    }

    pub async fn change_pool(&self, name: &str, change: &Value) {
        let api: Api<NodePool> = self.api(Some(USERS));
        let patch = Patch::Merge(change);
        api.patch(name, &PatchParams::default(), &patch).await.unwrap();
    }

    pub async fn delete_pool(&self, name: &str) {
        let api: Api<NodePool> = self.api(Some(USERS));
        api.delete(name, &DeleteParams::default()).await.unwrap();
    }

    pub async fn delete_machine(&self, name: &str) {
        let api: Api<Machine> = self.api(Some(INSIDE));
        // It may be gone by now, or be going.
        drop(api.delete(name, &DeleteParams::default()).await);
    }

    /// A ConfigMap with a MachineConfig that writes a file with this content.
    pub async fn machine_config(&self, name: &str, content: &str) {
        let manifest = machine_config(name, content);
        self.create::<ConfigMap>(Some(USERS), manifest).await;
    }

    /// Something that runs on the nodes of the hosted cluster, with a budget that lets one pod go at a time.
    pub async fn workload(&self) {
        let client = self.hosted("one").await;
        let api: Api<Deployment> = Api::namespaced(client, "default");
        let deployment = hyperplane_objects::read(workload(2)).unwrap();
        api.create(&PostParams::default(), &deployment).await.unwrap();
        let budget = hyperplane_objects::read(budget(1)).unwrap();
        self.budgets()
            .await
            .create(&PostParams::default(), &budget)
            .await
            .unwrap();
    }

    /// Lets no pod of the workload go any more, or one at a time again. It stays one budget: pods that two of them select
    /// are not evicted at all.
    pub async fn hold_workload(&self, is_held: bool) {
        let patch = Patch::Merge(json!({"spec": {"maxUnavailable": u8::from(!is_held)}}));
        let budgets = self.budgets().await;
        budgets.patch("web", &PatchParams::default(), &patch).await.unwrap();
    }

    async fn budgets(&self) -> Api<PodDisruptionBudget> {
        Api::namespaced(self.hosted("one").await, "default")
    }

    /// Closes a node as a user does, or opens it.
    pub async fn cordon(&self, node: &str, is_closed: bool) {
        let api: Api<Node> = Api::all(self.hosted("one").await);
        let patch = Patch::Merge(json!({"spec": {"unschedulable": is_closed.then_some(true)}}));
        api.patch(node, &PatchParams::default(), &patch).await.unwrap();
    }

    /// Status, reason and message of a condition of a pool.
    pub async fn condition_of_pool(&self, name: &str, type_: &str) -> Option<[String; 3]> {
        let pool = self.api::<NodePool>(Some(USERS)).get(name).await.unwrap();
        let pool = serde_json::to_value(pool).unwrap();
        let conditions = pool["status"]["conditions"].as_array()?;
        let found = conditions.iter().find(|condition| condition["type"] == type_)?;
        Some(["status", "reason", "message"].map(|field| found[field].as_str().unwrap_or_default().to_owned()))
    }
}
