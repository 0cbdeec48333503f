//! What users do to a management cluster, be it embedded or real, and what they wait for.

use std::{fmt::Debug, time::Duration};

use hyperplane_api::{
    hyperplane::distribution_release::DistributionRelease,
    hypershift::{
        control_plane_component::ControlPlaneComponent, hosted_cluster::HostedCluster, version_status::UpdateState,
    },
};
use k8s_openapi::{
    api::core::v1::{Namespace, Secret},
    apimachinery::pkg::apis::meta::v1::Condition,
};
use kube::{
    Api, Client, Resource, ResourceExt as _,
    api::{DeleteParams, ListParams, PostParams},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::samples;

/// The longest that anything is waited for: minutes of virtual time, or of a busy machine.
const PATIENCE: Duration = Duration::from_mins(15);
/// How often is looked.
const GLANCE: Duration = Duration::from_millis(500);

/// The namespace of users' clusters.
pub const NAMESPACE: &str = "clusters";

/// Users of a management cluster.
pub struct Users {
    pub client: Client,
}

impl Users {
    /// Users with a namespace for clusters, and the Secrets that clusters refer to.
    pub async fn settle(client: Client) -> Self {
        let users = Self { client };
        users.create_namespace(NAMESPACE).await;
        let secrets = [
            json!({
                "metadata": {"name": "pull-secret"},
                "stringData": {".dockerconfigjson": r#"{"auths": {"registry.example.com": {"auth": "dTpw"}}}"#},
                "type": "kubernetes.io/dockerconfigjson",
            }),
            json!({
                "metadata": {"name": "ssh-key"},
                "stringData": {"id_rsa.pub": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB2m user@example.com"},
            }),
        ];
        for secret in secrets {
            create(Api::<Secret>::namespaced(users.client.clone(), NAMESPACE), secret).await;
        }
        users
    }

    pub async fn create_namespace(&self, name: &str) {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        create(namespaces, json!({"metadata": {"name": name}})).await;
    }

    /// Images that are in no release of the catalogue exist because a release names them.
    pub async fn create_images(&self, images: &[&str]) {
        let component = |(number, image): (usize, &&str)| (format!("component-{number}"), json!({"image": image}));
        let components: serde_json::Map<String, Value> = images.iter().enumerate().map(component).collect();
        let release = json!({
            "metadata": {"name": "extras"},
            "spec": {
                "distribution": "extras",
                "version": "v1.0.0",
                "kubernetesVersion": "v1.36.4",
                "components": components,
            },
        });
        create(Api::<DistributionRelease>::all(self.client.clone()), release).await;
    }

    pub async fn create_cluster(&self, manifest: Value) {
        create(self.clusters(), manifest).await;
    }

    pub async fn delete_cluster(&self, name: &str) {
        self.clusters().delete(name, &DeleteParams::default()).await.unwrap();
    }

    pub fn clusters(&self) -> Api<HostedCluster> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    /// Waits until a cluster is available and both of its versions are complete.
    pub async fn until_complete(&self, name: &str, version: &str) {
        let look = async || {
            let status = self.clusters().get(name).await.unwrap().status?;
            let is_available = |condition: &Condition| condition.type_ == "Available" && condition.status == "True";
            let control_plane = status.control_plane_version?.history.into_iter().next()?;
            let whole = status.version?.history.into_iter().next()?;
            let is_complete = status.conditions.iter().any(is_available)
                && control_plane.version.as_str() == version
                && control_plane.state == UpdateState::Completed
                && whole.version.as_deref() == Some(version)
                && whole.state == UpdateState::Completed;
            is_complete.then_some(())
        };
        self.until(&format!("version {version} of cluster {name}"), look).await;
    }

    /// Waits until a cluster and its namespace are gone.
    pub async fn until_gone(&self, name: &str) {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let namespace = control_plane_namespace(name);
        let look = async || {
            let is_there = self.clusters().get_opt(name).await.unwrap().is_some()
                || namespaces.get_opt(&namespace).await.unwrap().is_some();
            (!is_there).then_some(())
        };
        self.until(&format!("the end of cluster {name}"), look).await;
    }

    /// Waits until something holds, and tells what users would look at if it never does.
    pub async fn until<T>(&self, what: &str, look: impl AsyncFn() -> Option<T>) -> T {
        let looking = async {
            loop {
                if let Some(found) = look().await {
                    return found;
                }
                sleep(GLANCE).await;
            }
        };
        let Ok(found) = timeout(PATIENCE, looking).await else {
            panic!("{what} never came\n{}", self.story().await)
        };
        found
    }

    async fn story(&self) -> String {
        let mut lines = Vec::new();
        let all = ListParams::default();
        for cluster in self.clusters().list(&all).await.unwrap() {
            let name = format!("HostedCluster {}", cluster.name_any());
            lines.extend(tell(&name, cluster.status.unwrap_or_default().conditions));
        }
        let components: Api<ControlPlaneComponent> = Api::all(self.client.clone());
        for component in components.list(&all).await.unwrap() {
            let name = component.name_any();
            lines.extend(tell(&name, component.status.unwrap_or_default().conditions));
        }
        lines.join("\n")
    }
}

fn tell(name: &str, conditions: Vec<Condition>) -> impl Iterator<Item = String> {
    let line = move |it: Condition| format!("{name}: {}={} {} {}", it.type_, it.status, it.reason, it.message);
    conditions.into_iter().map(line)
}

async fn create<K>(api: Api<K>, manifest: Value)
where
    K: Resource<DynamicType = ()> + Clone + Debug + Serialize + DeserializeOwned,
{
    let object = hyperplane_objects::read(manifest).unwrap();
    api.create(&PostParams::default(), &object).await.unwrap();
}

/// The namespace of a cluster's control plane.
pub fn control_plane_namespace(name: &str) -> String {
    format!("{NAMESPACE}-{name}")
}

/// A cluster in which everything that is not given here is usual.
pub fn cluster(name: &str, release: &str, platform: &Value, policy: &str) -> Value {
    samples::hosted_cluster(&json!({
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "release": {"image": release},
            // What would be drawn by chance is given, so that it is the same everywhere.
            "infraID": format!("{name}-abcde"),
            "clusterID": "11111111-2222-4333-8444-555555555555",
            "sshKey": {"name": "ssh-key"},
            "dns": {"baseDomain": "example.com"},
            "platform": platform,
            "controllerAvailabilityPolicy": policy,
        },
    }))
}
