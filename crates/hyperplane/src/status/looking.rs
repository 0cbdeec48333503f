//! Reads what there is to know of clusters: lists by kind, at once, with a few seconds each. What is forbidden or does not
//! answer is noted as not read. Nothing is written.

use std::time::Duration;

use hyperplane_api::{
    constants::objects::keys,
    resource::{KindDefinition, Scope},
    unused,
};
use hyperplane_hosted_cluster::control_plane_namespace;
use hyperplane_insight::{Kind, Place, Scene, Served};
use hyperplane_runtime::{Api, Reach};
use hyperplane_seams::Clock;
use k8s_openapi::api::core::v1::Secret;
use kube::{
    Client,
    api::{ApiResource, DynamicObject, ListParams},
};
use serde_json::Value;
use tokio::{task::JoinSet, time::timeout};

use crate::system;

/// How long one list may take. A picture that is late by more is none.
const PATIENCE: Duration = Duration::from_secs(5);

/// A list, or why there is none.
type Listed = (Kind, Place, Result<Vec<Value>, String>);

/// Reads from one management cluster.
pub(crate) struct Looking {
    client: Client,
    reach: Reach,
    clock: Clock,
}

impl Looking {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            reach: Reach::sockets(),
            clock: system::clock(),
        }
    }

    /// All clusters of a namespace with their pools, or of all namespaces.
    pub(crate) async fn clusters(&self, namespace: Option<&str>) -> anyhow::Result<Scene> {
        let clusters = list(&self.client, Kind::HostedCluster, namespace).await?;
        let pools = bounded(list(&self.client, Kind::NodePool, namespace)).await;
        let mut scene = Scene::new(self.clock.now());
        let mut names: Vec<&str> = clusters.iter().map(namespace_of).chain(namespace).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let place = Place::namespace(name);
            let here = |objects: &[Value]| -> Vec<Value> {
                objects
                    .iter()
                    .filter(|object| namespace_of(object) == name)
                    .cloned()
                    .collect()
            };
            scene.add(Kind::HostedCluster, place.clone(), here(&clusters));
            match &pools {
                Ok(pools) => scene.add(Kind::NodePool, place, here(pools)),
                Err(why) => scene.add_unread(Kind::NodePool, place, why),
            }
        }
        Ok(scene)
    }

    /// One cluster with everything of it, if it is there. That it cannot be read is an error.
    pub(crate) async fn cluster(&self, namespace: &str, name: &str) -> anyhow::Result<Scene> {
        let cluster = get(&self.client, Kind::HostedCluster, namespace, name).await?;
        let mut scene = Scene::new(self.clock.now());
        let is_there = cluster.is_some();
        scene.add(Kind::HostedCluster, Place::namespace(namespace), cluster);
        if is_there {
            self.around(&mut scene, namespace, name, &[Kind::NodePool, Kind::Event])
                .await;
        }
        Ok(scene)
    }

    /// One pool with everything of it and of its cluster, if it is there. That it cannot be read is an error.
    pub(crate) async fn pool(&self, namespace: &str, name: &str) -> anyhow::Result<Scene> {
        let pool = get(&self.client, Kind::NodePool, namespace, name).await?;
        let mut scene = Scene::new(self.clock.now());
        let place = Place::namespace(namespace);
        let Some(pool) = pool else {
            scene.add(Kind::NodePool, place, None);
            return Ok(scene);
        };
        let cluster = pool["spec"]["clusterName"].as_str().unwrap_or_default().to_owned();
        scene.add(Kind::NodePool, place.clone(), [pool]);
        let found = bounded(get(&self.client, Kind::HostedCluster, namespace, &cluster)).await;
        match found {
            Ok(found) => scene.add(Kind::HostedCluster, place, found),
            Err(why) => scene.add_unread(Kind::HostedCluster, place, &why),
        }
        self.around(&mut scene, namespace, &cluster, &[Kind::Event]).await;
        Ok(scene)
    }

    /// Adds the lists around a cluster: some kinds beside it, those of its control plane, and those inside of it.
    async fn around(&self, scene: &mut Scene, namespace: &str, name: &str, beside: &[Kind]) {
        let plane = control_plane_namespace(namespace, name);
        let mut wanted: Vec<(Kind, &str)> = beside.iter().map(|kind| (*kind, namespace)).collect();
        let of_plane = Kind::ALL
            .iter()
            .filter(|kind| matches!(kind.served(), Served::ControlPlane | Served::Both));
        wanted.extend(of_plane.map(|kind| (*kind, plane.as_str())));
        let mut tasks = JoinSet::new();
        for (kind, namespace) in wanted {
            let (client, namespace) = (self.client.clone(), namespace.to_owned());
            tasks.spawn(async move {
                let listed = bounded(list(&client, kind, Some(&namespace))).await;
                (kind, Place::namespace(&namespace), listed)
            });
        }
        let inside = self.inside(namespace, name, &plane);
        let (lists, inside) = tokio::join!(tasks.join_all(), inside);
        for (kind, place, listed) in lists.into_iter().chain(inside) {
            match listed {
                Ok(objects) => scene.add(kind, place, objects),
                Err(why) => scene.add_unread(kind, place, &why),
            }
        }
    }

    /// Adds what nothing acts on of what there is for a cluster, or for all of them. What cannot be read says nothing.
    pub(crate) async fn idle(&self, scene: &mut Scene, namespace: &str, name: &str) {
        let plane = control_plane_namespace(namespace, name);
        let mut tasks = JoinSet::new();
        for (place, kind) in unused::KINDS.iter().enumerate() {
            let definition = (kind.definition)();
            let namespace = (definition.scope == Scope::Namespaced).then_some(plane.as_str());
            let api = dynamic(&self.client, &resource_of(&definition), namespace);
            tasks.spawn(async move { (place, bounded(listed(&api)).await) });
        }
        let mut lists = tasks.join_all().await;
        lists.sort_by_key(|(place, _)| *place);
        for (place, objects) in lists {
            scene.add_idle(&unused::KINDS[place], objects.unwrap_or_default());
        }
    }

    /// The lists of the hosted cluster, with the kubeconfig that its administrator has.
    async fn inside(&self, namespace: &str, name: &str, plane: &str) -> Vec<Listed> {
        let kinds = || Kind::ALL.iter().copied().filter(|kind| kind.served() == Served::Inside);
        let client = match self.enter(namespace, name).await {
            Ok(client) => client,
            Err(why) => {
                return kinds()
                    .map(|kind| (kind, Place::inside(plane), Err(why.clone())))
                    .collect();
            }
        };
        let mut tasks = JoinSet::new();
        for kind in kinds() {
            let (client, place) = (client.clone(), Place::inside(plane));
            tasks.spawn(async move { (kind, place, bounded(list(&client, kind, None)).await) });
        }
        tasks.join_all().await
    }

    /// A client for the hosted cluster. Its kubeconfig comes from a Secret that others may write: it must not run programs
    /// or read files here.
    async fn enter(&self, namespace: &str, name: &str) -> Result<Client, String> {
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), namespace);
        let title = format!("{name}-admin-kubeconfig");
        let secret = bounded(async { secrets.get_opt(&title).await.map_err(anyhow::Error::from) }).await?;
        let data = secret.and_then(|secret| secret.data).unwrap_or_default();
        let Some(kubeconfig) = data.get(keys::KUBECONFIG) else {
            return Err(format!("there is no kubeconfig in Secret {title} yet"));
        };
        let client = self.reach.client(&kubeconfig.0).await;
        client.map_err(|failure| failure.report())
    }
}

fn namespace_of(object: &Value) -> &str {
    object["metadata"]["namespace"].as_str().unwrap_or_default()
}

/// What comes in time, or why it does not, in words.
async fn bounded<T>(coming: impl Future<Output = anyhow::Result<T>>) -> Result<T, String> {
    match timeout(PATIENCE, coming).await {
        Ok(Ok(found)) => Ok(found),
        Ok(Err(error)) => Err(why(&error)),
        Err(_) => Err(format!("no answer within {} seconds", PATIENCE.as_secs())),
    }
}

fn why(error: &anyhow::Error) -> String {
    match error.downcast_ref::<kube::Error>() {
        Some(kube::Error::Api(status)) if status.code == 403 => "forbidden".to_owned(),
        Some(kube::Error::Api(status)) => status.message.clone(),
        _ => format!("{error:#}"),
    }
}

fn resource(kind: Kind) -> ApiResource {
    let api_version = match kind.group() {
        "" => kind.version().to_owned(),
        group => format!("{group}/{}", kind.version()),
    };
    ApiResource {
        group: kind.group().to_owned(),
        version: kind.version().to_owned(),
        api_version,
        kind: kind.name().to_owned(),
        plural: kind.plural().to_owned(),
    }
}

fn resource_of(definition: &KindDefinition) -> ApiResource {
    ApiResource {
        group: definition.group.to_owned(),
        version: definition.version.to_owned(),
        api_version: format!("{}/{}", definition.group, definition.version),
        kind: definition.kind.to_owned(),
        plural: definition.plural.to_owned(),
    }
}

fn api(client: &Client, kind: Kind, namespace: Option<&str>) -> kube::Api<DynamicObject> {
    dynamic(client, &resource(kind), namespace)
}

fn dynamic(client: &Client, resource: &ApiResource, namespace: Option<&str>) -> kube::Api<DynamicObject> {
    match namespace {
        Some(namespace) => kube::Api::namespaced_with(client.clone(), namespace, resource),
        None => kube::Api::all_with(client.clone(), resource),
    }
}

async fn listed(api: &kube::Api<DynamicObject>) -> anyhow::Result<Vec<Value>> {
    let objects = api.list(&ListParams::default()).await?.items;
    let values = objects.into_iter().map(serde_json::to_value);
    Ok(values.collect::<Result<_, _>>()?)
}

/// All objects of a kind. Of a kind that is not served there are none; clusters are what this is all about, though.
async fn list(client: &Client, kind: Kind, namespace: Option<&str>) -> anyhow::Result<Vec<Value>> {
    let is_not_served = |error: &anyhow::Error| {
        let known = error.downcast_ref::<kube::Error>();
        matches!(known, Some(kube::Error::Api(status)) if status.code == 404)
    };
    match listed(&api(client, kind, namespace)).await {
        Err(error) if is_not_served(&error) && kind != Kind::HostedCluster => Ok(Vec::new()),
        found => found,
    }
}

/// One object, if it is there. A kind that is not served is told.
async fn get(client: &Client, kind: Kind, namespace: &str, name: &str) -> anyhow::Result<Option<Value>> {
    match api(client, kind, Some(namespace)).get(name).await {
        Ok(found) => Ok(Some(serde_json::to_value(found)?)),
        Err(kube::Error::Api(status)) if status.code == 404 && status.message.contains(name) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
