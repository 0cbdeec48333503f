//! Secrets with what a machine reads at its first boot: where it fetches its configuration, and what it shows there.

use std::{collections::BTreeSet, sync::Arc};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use hyperplane_api::{constants::objects::keys, hypershift::hosted_cluster::HostedCluster};
use hyperplane_ignition_render::{Problem, canonical, proxy::Proxy, source::data_url};
use k8s_openapi::{ByteString, api::core::v1::Secret};
use kube::ResourceExt as _;
use serde_json::{Map, Value, json};

use super::{
    Blueprint,
    tokens::{OPAQUE, data},
};
use crate::{dereference::Machines, names};

/// The version of Ignition that every machine understands.
const IGNITION_VERSION: &str = "3.2.0";

pub(super) fn build(blueprint: &Blueprint<'_>) -> Secret {
    let name = names::user_data(blueprint.pool, &blueprint.active.hash);
    let value = canonical::text(&stub(blueprint));
    let data = [
        (keys::USER_DATA.to_owned(), ByteString(value.into_bytes())),
        (keys::DISABLE_TEMPLATING.to_owned(), ByteString(b"true".to_vec())),
    ];
    Secret {
        metadata: blueprint.owner().metadata(&name),
        type_: Some(OPAQUE.to_owned()),
        data: Some(data.into()),
        ..Secret::default()
    }
}

/// An Ignition config that merges the one of the ignition server into itself.
fn stub(blueprint: &Blueprint<'_>) -> Value {
    let surroundings = blueprint.surroundings;
    let token = BASE64_STANDARD.encode(&blueprint.active.tokens.token);
    let header = |name: &str, value: &str| json!({"name": name, "value": value});
    let mut ignition = json!({
        "version": IGNITION_VERSION,
        "config": {"merge": [{
            "source": format!("https://{}/ignition", surroundings.ignition_endpoint),
            "httpHeaders": [
                header("Authorization", &format!("Bearer {token}")),
                header("NodePool", &names::title(blueprint.pool)),
                header("TargetConfigVersionHash", &blueprint.active.hash),
            ],
        }]},
        "security": {"tls": {"certificateAuthorities": [
            {"source": data_url(surroundings.ignition_authority.as_bytes())},
        ]}},
    });
    if let Some(proxy) = proxy(blueprint) {
        ignition["proxy"] = proxy;
    }
    json!({"ignition": ignition})
}

/// The proxy of a cluster, as payloads have it, or what is wrong with it.
pub(crate) fn proxy_of(cluster: &HostedCluster) -> Result<Option<Proxy>, Problem> {
    let spec = &cluster.spec;
    Proxy::of(spec.configuration.as_deref(), &spec.networking, &spec.platform.type_)
}

/// How a machine gets there, where it has to go through a proxy. One that is wrong keeps nodes from rolling; machines that
/// are added meanwhile go the way of those that are there.
fn proxy(blueprint: &Blueprint<'_>) -> Option<Value> {
    let Ok(proxy) = proxy_of(blueprint.surroundings.cluster) else {
        return live_proxy(blueprint);
    };
    let proxy = proxy?;
    let addresses = [("httpProxy", proxy.http), ("httpsProxy", proxy.https)];
    let addresses = addresses
        .into_iter()
        .filter_map(|(name, address)| Some((name.to_owned(), address?.into())));
    let mut settings: Map<String, Value> = addresses.collect();
    if settings.is_empty() {
        return None;
    }
    settings.insert("noProxy".to_owned(), proxy.direct.into());
    Some(settings.into())
}

/// The proxy in the user data that is there.
fn live_proxy(blueprint: &Blueprint<'_>) -> Option<Value> {
    let name = names::user_data(blueprint.pool, &blueprint.active.hash);
    let live = blueprint
        .seen
        .user_data
        .iter()
        .find(|secret| secret.name_any() == name)?;
    let stub: Value = serde_json::from_slice(data(live, keys::USER_DATA)?).ok()?;
    stub["ignition"].get("proxy").cloned()
}

/// User data that no machine reads any more.
pub(super) fn unused(blueprint: &Blueprint<'_>) -> Vec<Arc<Secret>> {
    let active = names::user_data(blueprint.pool, &blueprint.active.hash);
    let used = used(&blueprint.seen.machines);
    let is_unused = |secret: &&Arc<Secret>| {
        let name = secret.name_any();
        name != active && !used.contains(name.as_str())
    };
    blueprint.seen.user_data.iter().filter(is_unused).cloned().collect()
}

/// User data of machines that are there, of sets that make more, and of the deployment as it still is.
fn used(machines: &Machines) -> BTreeSet<&str> {
    let of_machines = machines.all.iter().map(|machine| &machine.spec.bootstrap);
    let of_deployment = machines
        .deployment
        .iter()
        .map(|live| &live.spec.template.spec.bootstrap);
    of_machines
        .chain(of_deployment)
        .filter_map(|bootstrap| bootstrap.data_secret_name.as_deref())
        .chain(of_sets(machines))
        .collect()
}

/// User data of sets that have machines, or are about to make some. A set of none is never grown again, unless its template
/// becomes the one of the deployment.
pub(super) fn of_sets(machines: &Machines) -> impl Iterator<Item = &str> {
    let growing = machines.sets.iter().filter(|set| set.spec.replicas != Some(0));
    growing.filter_map(|set| set.spec.template.spec.bootstrap.data_secret_name.as_deref())
}
