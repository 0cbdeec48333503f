//! The watches of a story as one stream. Owns what is watched, and that a watch which fails begins again; what comes of it
//! is not known here. After the first lists it asks for nothing: servers tell.

use std::time::Duration;

use futures::{
    StreamExt as _,
    stream::{self, BoxStream, SelectAll},
};
use hyperplane_api::{
    cluster_api::machine::Machine,
    constants::objects::keys,
    hypershift::{control_plane_component::ControlPlaneComponent, hosted_cluster::HostedCluster, node_pool::NodePool},
};
use hyperplane_runtime::{Api, Reach};
use k8s_openapi::api::core::v1::{Node, Secret};
use kube::{
    Client, Resource,
    api::{ApiResource, DynamicObject},
    runtime::watcher::{self, Event, watcher},
};
use serde_json::Value;
use tokio::time::sleep;

use crate::{
    plan::Plan,
    scene::{Change, Source},
};

/// How long is waited before a watch that failed begins again, and before it is asked again whether the hosted cluster can
/// be reached.
const PAUSE: Duration = Duration::from_millis(500);

/// What watches tell, each with what it is of. It never ends.
pub(crate) type Changes = SelectAll<BoxStream<'static, (Source, Change)>>;

/// Watches everything of a story.
pub(crate) fn observe(client: &Client, reach: &Reach, plan: &Plan) -> Changes {
    let inside = plan.control_plane_namespace();
    let named = watcher::Config::default().fields(&format!("metadata.name={}", plan.cluster));
    let all = watcher::Config::default();
    stream::select_all([
        watch::<HostedCluster>(client, Source::Cluster, &plan.namespace, named),
        watch::<NodePool>(client, Source::Pools, &plan.namespace, all.clone()),
        watch::<ControlPlaneComponent>(client, Source::Components, &inside, all.clone()),
        watch::<Machine>(client, Source::Machines, &inside, all),
        nodes(client.clone(), reach.clone(), plan.clone()),
    ])
}

/// The hosted cluster as its administrator reaches it; none while there is none.
pub(crate) async fn hosted(client: &Client, reach: &Reach, plan: &Plan) -> Option<Client> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), &plan.namespace);
    let secret = secrets.get_opt(&plan.kubeconfig_secret()).await.ok()??;
    let kubeconfig = secret.data?.remove(keys::KUBECONFIG)?;
    reach.client(&kubeconfig.0).await.ok()
}

/// Watches objects of a kind in a namespace.
pub(crate) fn watch<K: Resource<DynamicType = ()>>(
    client: &Client,
    source: Source,
    namespace: &str,
    config: watcher::Config,
) -> BoxStream<'static, (Source, Change)> {
    let resource = ApiResource::erase::<K>(&());
    let api = kube::Api::namespaced_with(client.clone(), namespace, &resource);
    let rounds = stream::iter(0_u64..).then(move |round| {
        let (api, config) = (api.clone(), config.clone());
        async move {
            pause(round).await;
            changes(source, api, config)
        }
    });
    rounds.flatten().boxed()
}

/// The Nodes of the hosted cluster, as soon as there is one.
fn nodes(client: Client, reach: Reach, plan: Plan) -> BoxStream<'static, (Source, Change)> {
    let rounds = stream::iter(0_u64..).then(move |round| {
        let (client, reach, plan) = (client.clone(), reach.clone(), plan.clone());
        async move {
            pause(round).await;
            let hosted = loop {
                if let Some(hosted) = hosted(&client, &reach, &plan).await {
                    break hosted;
                }
                sleep(PAUSE).await;
            };
            let api = kube::Api::all_with(hosted, &ApiResource::erase::<Node>(&()));
            changes(Source::Nodes, api, watcher::Config::default())
        }
    });
    rounds.flatten().boxed()
}

async fn pause(round: u64) {
    if round > 0 {
        sleep(PAUSE).await;
    }
}

/// What one watch tells until it fails.
fn changes(
    source: Source,
    api: kube::Api<DynamicObject>,
    config: watcher::Config,
) -> BoxStream<'static, (Source, Change)> {
    let events = watcher(api, config).take_while(|event| std::future::ready(event.is_ok()));
    let changes = events.filter_map(|event| std::future::ready(event.ok().map(change)));
    // A list that was broken off proves nothing about what it left out.
    changes.map(move |change| (source, change)).boxed()
}

fn change(event: Event<DynamicObject>) -> Change {
    match event {
        Event::Init => Change::Listing,
        Event::InitApply(object) | Event::Apply(object) => Change::Applied(value(object)),
        Event::Delete(object) => Change::Deleted(value(object)),
        Event::InitDone => Change::Listed,
    }
}

/// Who manages which field is long, and nobody judges it.
fn value(mut object: DynamicObject) -> Value {
    object.metadata.managed_fields = None;
    serde_json::to_value(object).expect("what came as JSON can be written as JSON")
}
