//! The hosted cluster of a world: nodes and what they report, pods, budgets and volumes, and who plays their part.

use std::collections::BTreeMap;

use k8s_openapi::{
    ClusterResourceScope, NamespaceResourceScope,
    api::{
        apps::v1::DaemonSet,
        core::v1::{Node, PersistentVolume, PersistentVolumeClaim, Pod},
        policy::v1::PodDisruptionBudget,
        storage::v1::VolumeAttachment,
    },
};
use kube::{Api, Resource, ResourceExt, api::DeleteParams};
use serde_json::{Value, json};

use crate::{
    ground::{Known, all, create, delete, merge_patch, patch_status},
    samples::merge,
    world::World,
};

/// A namespace of the tenant.
pub const SHOP: &str = "shop";

impl World {
    /// What a kubelet, or who speaks for it, says of its node.
    pub async fn report(&self, node: &str, ready: &str) {
        let condition = |type_: &str, status: &str| {
            json!({"type": type_, "status": status, "reason": "Test", "message": "",
                "lastTransitionTime": "2027-01-15T08:00:00Z", "lastHeartbeatTime": "2027-01-15T08:00:00Z"})
        };
        let info = json!({"kubeletVersion": "v1.36.2", "architecture": "amd64", "bootID": "b", "kernelVersion": "k",
            "containerRuntimeVersion": "containerd://2", "kubeProxyVersion": "", "machineID": "m",
            "operatingSystem": "linux", "osImage": "o", "systemUUID": "u"});
        let status = json!({"nodeInfo": info, "conditions": [
            condition("Ready", ready), condition("MemoryPressure", "False"), condition("DiskPressure", "False"),
            condition("PIDPressure", "False")]});
        patch_status(&self.everywhere::<Node>(), node, status).await;
    }

    /// What is attached to a node, as who attaches it says.
    pub async fn attach(&self, node: &str, volumes: &[&str]) {
        let attached: Vec<Value> = volumes
            .iter()
            .map(|name| json!({"name": name, "devicePath": ""}))
            .collect();
        patch_status(&self.everywhere::<Node>(), node, json!({"volumesAttached": attached})).await;
    }

    /// Attaches a volume to a node, which does not list it.
    pub async fn attach_unlisted(&self, node: &str, volume: &str) {
        let manifest = json!({"metadata": {"name": format!("{node}-{volume}")}, "spec": {
            "attacher": "csi.example.com", "nodeName": node, "source": {"persistentVolumeName": volume}}});
        create::<VolumeAttachment>(&self.hosted, None, manifest).await;
    }

    pub async fn detach(&self, node: &str, volume: &str) {
        delete(&self.everywhere::<VolumeAttachment>(), &format!("{node}-{volume}")).await;
    }

    /// A volume with a claim of the same name.
    pub async fn volume(&self, name: &str, handle: &str) {
        let size = json!({"storage": "1Gi"});
        let source = json!({"driver": "csi.example.com", "volumeHandle": handle});
        let volume = json!({"metadata": {"name": name}, "spec": {"capacity": size, "accessModes": ["ReadWriteOnce"],
            "csi": source, "storageClassName": ""}});
        create::<PersistentVolume>(&self.hosted, None, volume).await;
        let claim = json!({"metadata": {"name": name, "namespace": SHOP}, "spec": {"accessModes": ["ReadWriteOnce"],
            "resources": {"requests": size}, "volumeName": name, "storageClassName": ""}});
        create::<PersistentVolumeClaim>(&self.hosted, Some(SHOP), claim).await;
    }

    /// A pod that runs on a node, with these labels and other metadata.
    pub async fn run_pod(&self, node: &str, name: &str, metadata: Value) {
        self.run_pod_with(node, name, metadata, json!({})).await;
    }

    /// The same, with more in its spec.
    pub async fn run_pod_with(&self, node: &str, name: &str, metadata: Value, spec: Value) {
        let mut manifest = json!({"metadata": {"name": name, "namespace": SHOP}, "spec": {"nodeName": node,
            "containers": [{"name": "main", "image": "registry.example.com/a:1"}]}});
        merge(&mut manifest["metadata"], &metadata);
        merge(&mut manifest["spec"], &spec);
        create::<Pod>(&self.hosted, Some(SHOP), manifest).await;
        let status = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
        patch_status(&self.in_shop::<Pod>(), name, status).await;
    }

    /// Tells that a pod has done what it was for.
    pub async fn complete_pod(&self, name: &str) {
        patch_status(&self.in_shop::<Pod>(), name, json!({"phase": "Succeeded"})).await;
    }

    /// The metadata of a pod that a DaemonSet made.
    pub async fn of_daemon_set(&self) -> Value {
        let labels = json!({"app": "agent"});
        let template = json!({"metadata": {"labels": labels},
            "spec": {"containers": [{"name": "main", "image": "registry.example.com/a:1"}]}});
        let manifest = json!({"metadata": {"name": "agent", "namespace": SHOP},
            "spec": {"selector": {"matchLabels": labels}, "template": template}});
        create::<DaemonSet>(&self.hosted, Some(SHOP), manifest).await;
        let owner = self.in_shop::<DaemonSet>().get("agent").await.unwrap();
        let owner = owner.controller_owner_ref(&());
        json!({"labels": labels, "ownerReferences": [owner]})
    }

    /// A budget for pods with label app, of which so many may go.
    pub async fn budget(&self, name: &str, app: &str, allowed: u32) {
        let manifest = json!({"metadata": {"name": name, "namespace": SHOP},
            "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": app}}}});
        create::<PodDisruptionBudget>(&self.hosted, Some(SHOP), manifest).await;
        self.allow(name, allowed).await;
    }

    /// How many pods of a budget may go, as its controller would say.
    pub async fn allow(&self, budget: &str, allowed: u32) {
        let status = json!({"observedGeneration": 1, "disruptionsAllowed": allowed, "currentHealthy": 1,
            "desiredHealthy": 1, "expectedPods": 1});
        patch_status(&self.in_shop::<PodDisruptionBudget>(), budget, status).await;
    }

    pub async fn delete_budget(&self, name: &str) {
        delete(&self.in_shop::<PodDisruptionBudget>(), name).await;
    }

    /// The kubelets: what is to end is gone at once.
    pub async fn end_pods(&self) {
        let pods = self.in_shop::<Pod>();
        for pod in all(&pods).await {
            // Pods named so are on nodes whose kubelets are silent.
            let is_silent = pod.name_any().starts_with("silent-");
            if pod.metadata.deletion_timestamp.is_some() && !is_silent {
                let now = DeleteParams::default().grace_period(0);
                pods.delete(&pod.name_any(), &now).await.unwrap();
            }
        }
    }

    pub async fn change_node(&self, name: &str, change: Value) {
        merge_patch(&self.everywhere::<Node>(), name, change).await;
    }

    /// All nodes of the hosted cluster by name.
    pub async fn nodes(&self) -> BTreeMap<String, Node> {
        let nodes = all(&self.everywhere::<Node>()).await.into_iter();
        nodes.map(|node| (node.name_any(), node)).collect()
    }

    pub async fn pods(&self) -> Vec<String> {
        let pods = all(&self.in_shop::<Pod>()).await;
        pods.iter().map(ResourceExt::name_any).collect()
    }

    fn everywhere<K: Known + Resource<Scope = ClusterResourceScope>>(&self) -> Api<K> {
        Api::all(self.hosted.clone())
    }

    fn in_shop<K: Known + Resource<Scope = NamespaceResourceScope>>(&self) -> Api<K> {
        Api::namespaced(self.hosted.clone(), SHOP)
    }
}
