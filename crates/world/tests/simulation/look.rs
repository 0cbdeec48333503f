//! Looking at a management cluster: waiting for things, and everything that somebody would look at.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
    time::Duration,
};

use http::Request;
use hyperplane_api::hypershift::{
    control_plane_component::ControlPlaneComponent, hosted_cluster::HostedCluster,
    hosted_control_plane::HostedControlPlane, version_status::UpdateState,
};
use hyperplane_planner::{catalogue, release::Release};
use k8s_openapi::{
    api::core::v1::{Pod, Secret},
    apimachinery::pkg::apis::meta::v1::Condition,
};
use kube::{Api, Client, Resource, ResourceExt as _, api::ListParams};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::sleep;

use crate::ground::{Ground, Reachable, USERS};

/// The longest that anything is waited for.
const PATIENCE: Duration = Duration::from_hours(2);
/// How often is looked.
const GLANCE: Duration = Duration::from_secs(1);

impl Ground {
    /// Waits until something holds, and says what is missing if it never does.
    pub async fn until<T>(&self, what: &str, look: impl AsyncFn() -> Option<T>) -> T {
        let looking = async {
            loop {
                if let Some(found) = look().await {
                    return found;
                }
                sleep(GLANCE).await;
            }
        };
        let Ok(found) = tokio::time::timeout(PATIENCE, looking).await else {
            panic!("seed {}: {what} never happened\n{}", self.seed, self.story().await);
        };
        found
    }

    /// Waits until a condition of a cluster has a status, and gives it.
    pub async fn until_condition(&self, name: &str, condition: &str, status: &str) -> Condition {
        let what = format!("{condition}={status} of cluster {name}");
        let look = async || {
            let found = self.conditions(name).await.remove(condition)?;
            (found.status == status).then_some(found)
        };
        self.until(&what, look).await
    }

    pub async fn conditions(&self, name: &str) -> BTreeMap<String, Condition> {
        let cluster = self.api::<HostedCluster>(Some(USERS)).get_opt(name).await.unwrap();
        let conditions = cluster
            .and_then(|cluster| cluster.status)
            .unwrap_or_default()
            .conditions;
        conditions
            .into_iter()
            .map(|found| (found.type_.clone(), found))
            .collect()
    }

    /// Waits until the version of a cluster is complete on both sides.
    pub async fn until_version(&self, name: &str, version: &str) {
        let look = async || self.has_version(name, version).await.then_some(());
        self.until(&format!("version {version} of cluster {name}"), look).await;
    }

    /// Waits until the operator inside of a cluster has told that a version is complete.
    #[allow(dead_code, reason = "not every simulation asks so closely")]
    pub async fn until_told(&self, name: &str, version: &str) {
        let api: Api<HostedControlPlane> = self.api(Some(&format!("{USERS}-{name}")));
        let look = async || {
            let status = api.get(name).await.unwrap().status.unwrap_or_default();
            let newest = status.version_status?.history.into_iter().next()?;
            (newest.version.as_deref() == Some(version) && newest.state == UpdateState::Completed).then_some(())
        };
        self.until(&format!("word of {version} from inside of {name}"), look)
            .await;
    }

    /// Whether a cluster has a version on both sides.
    pub async fn has_version(&self, name: &str, version: &str) -> bool {
        let wanted = format!("{version} {:?}", UpdateState::Completed);
        let [control_plane, whole] = self.histories(name).await;
        [control_plane.first(), whole.first()] == [Some(&wanted); 2]
    }

    /// The versions of a cluster with how far each came, newest first: of its control plane, and as a whole.
    pub async fn histories(&self, name: &str) -> [Vec<String>; 2] {
        let status = self
            .api::<HostedCluster>(Some(USERS))
            .get(name)
            .await
            .unwrap()
            .status
            .unwrap_or_default();
        let control_plane = status
            .control_plane_version
            .into_iter()
            .flat_map(|version| version.history);
        let whole = status.version.into_iter().flat_map(|version| version.history);
        [
            control_plane
                .map(|entry| format!("{} {:?}", entry.version.as_str(), entry.state))
                .collect(),
            whole
                .map(|entry| format!("{} {:?}", entry.version.unwrap_or_default(), entry.state))
                .collect(),
        ]
    }

    /// Waits until an object is there.
    pub async fn until_object<K>(&self, namespace: &str, name: &str)
    where
        K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned,
        K::Scope: Reachable<K>,
    {
        let api: Api<K> = self.api(Some(namespace));
        let look = async || api.get_opt(name).await.unwrap();
        self.until(&format!("{namespace}/{name}"), look).await;
    }

    /// Waits until nothing is left of a cluster's object.
    pub async fn until_gone(&self, name: &str) {
        let api: Api<HostedCluster> = self.api(Some(USERS));
        let look = async || api.get_opt(name).await.unwrap().is_none().then_some(());
        self.until(&format!("the end of cluster {name}"), look).await;
    }

    /// The hosted cluster, as its administrator reaches it from outside.
    pub async fn hosted(&self, name: &str) -> Client {
        let secret: Secret = self
            .api(Some(USERS))
            .get(&format!("{name}-admin-kubeconfig"))
            .await
            .unwrap();
        let kubeconfig = &secret.data.unwrap()["kubeconfig"].0;
        self.network.reach().client(kubeconfig).await.unwrap()
    }

    /// The pods of a namespace.
    pub async fn pods(&self, namespace: &str) -> Vec<Pod> {
        self.api::<Pod>(Some(namespace))
            .list(&ListParams::default())
            .await
            .unwrap()
            .items
    }

    /// The components of a namespace.
    pub async fn components(&self, namespace: &str) -> BTreeMap<String, ControlPlaneComponent> {
        let api: Api<ControlPlaneComponent> = self.api(Some(namespace));
        let all = api.list(&ListParams::default()).await.unwrap();
        all.into_iter()
            .map(|component| (component.name_any(), component))
            .collect()
    }

    pub async fn list<K>(&self) -> Vec<K>
    where
        K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned,
    {
        let api: Api<K> = Api::all(self.embedded.administrator());
        api.list(&ListParams::default()).await.unwrap().items
    }

    /// The path of every kind that can be listed, and whether it is namespaced.
    pub async fn kinds(&self) -> Vec<(String, String, bool)> {
        let client = self.embedded.administrator();
        let groups = client.list_api_groups().await.unwrap().groups;
        let groups = groups.into_iter().filter_map(|group| group.preferred_version);
        let mut versions = vec![(
            "/api/v1".to_owned(),
            client.list_core_api_resources("v1").await.unwrap(),
        )];
        for version in groups {
            let resources = client.list_api_group_resources(&version.group_version).await.unwrap();
            versions.push((format!("/apis/{}", version.group_version), resources));
        }
        let mut kinds = Vec::new();
        for (path, resources) in versions {
            let listed = resources
                .resources
                .into_iter()
                .filter(|found| found.verbs.iter().any(|verb| verb == "list"));
            kinds.extend(listed.map(|found| (path.clone(), found.name, found.namespaced)));
        }
        kinds
    }

    /// Every object of the cluster, by kind, namespace and name.
    pub async fn everything(&self) -> BTreeMap<String, Value> {
        let client = self.embedded.administrator();
        let mut all = BTreeMap::new();
        for (path, kind, _) in self.kinds().await {
            let request = Request::get(format!("{path}/{kind}")).body(Vec::new()).unwrap();
            let mut list: Value = client.request(request).await.unwrap();
            for object in list["items"].as_array_mut().into_iter().flatten() {
                let text = |key: &str| object["metadata"][key].as_str().unwrap_or_default();
                all.insert(format!("{kind} {}/{}", text("namespace"), text("name")), object.take());
            }
        }
        all
    }

    /// Everything that somebody would look at to understand why nothing happens.
    pub async fn story(&self) -> String {
        let mut lines = Vec::new();
        for cluster in self.list::<HostedCluster>().await {
            let conditions = cluster.status.clone().unwrap_or_default().conditions;
            lines.extend(told(&format!("hc {}", cluster.name_any()), conditions));
        }
        for control_plane in self.list::<HostedControlPlane>().await {
            let conditions = control_plane.status.clone().unwrap_or_default().conditions;
            lines.extend(told(&format!("hcp {}", control_plane.name_any()), conditions));
        }
        for component in self.list::<ControlPlaneComponent>().await {
            let conditions = component.status.clone().unwrap_or_default().conditions;
            lines.extend(told(&format!("cpc {}", component.name_any()), conditions));
        }
        for pod in self.list::<Pod>().await {
            let phase = pod.status.as_ref().and_then(|status| status.phase.clone());
            lines.push(format!("pod {}: {phase:?} {:?}", pod.name_any(), waiting(&pod)));
        }
        lines.join("\n")
    }
}

fn told(of: &str, conditions: Vec<Condition>) -> Vec<String> {
    let told = |found: Condition| {
        format!(
            "{of}: {}={} {} {}",
            found.type_, found.status, found.reason, found.message
        )
    };
    conditions.into_iter().map(told).collect()
}

/// What the containers of a pod wait for.
pub fn waiting(pod: &Pod) -> Vec<String> {
    let status = pod.status.clone().unwrap_or_default();
    let containers = status.container_statuses.into_iter().flatten();
    let containers = containers.chain(status.init_container_statuses.into_iter().flatten());
    containers
        .filter_map(|container| {
            let waiting = container.state?.waiting?;
            Some(format!(
                "{}: {:?} {:?}",
                container.name, waiting.reason, waiting.message
            ))
        })
        .collect()
}

/// Whether a pod runs only images that a release has, besides those that no release knows.
pub fn is_of(pod: &Pod, release: &str) -> bool {
    let images = |release: &Release| -> BTreeSet<String> {
        let components = release.components.values();
        components.filter_map(|component| component.image.clone()).collect()
    };
    let own = images(catalogue::by_image(release).unwrap());
    let known: BTreeSet<String> = catalogue::releases().iter().flat_map(images).collect();
    let spec = pod.spec.as_ref().unwrap();
    let mut all = spec.containers.iter().filter_map(|container| container.image.as_ref());
    all.all(|image| own.contains(image) || !known.contains(image))
}

/// The name of the component that a pod belongs to.
pub fn component(pod: &Pod) -> &str {
    pod.labels().get("app").map_or("", String::as_str)
}
