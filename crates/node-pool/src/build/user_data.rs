//! Secrets with what a machine reads at its first boot: where it fetches its configuration, and what it shows there.

use std::{collections::BTreeSet, sync::Arc};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use hyperplane_api::{constants::objects::keys, hypershift::hosted_cluster::HostedCluster};
use hyperplane_ignition_render::{canonical, proxy::Proxy, source::data_url};
use k8s_openapi::{ByteString, api::core::v1::Secret};
use kube::ResourceExt as _;
use serde_json::{Value, json};

use super::{Blueprint, tokens::OPAQUE};
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
    if let Some(proxy) = proxy(surroundings.cluster) {
        ignition["proxy"] = proxy;
    }
    json!({"ignition": ignition})
}

/// How a machine gets there, where it has to go through a proxy; what is near is reached without, as it is later on. One that
/// cannot be used is none.
fn proxy(cluster: &HostedCluster) -> Option<Value> {
    let spec = &cluster.spec;
    let found = Proxy::of(spec.configuration.as_ref(), &spec.networking, &spec.platform.type_);
    let found = found.ok().flatten()?;
    let addresses = [("httpProxy", &found.http), ("httpsProxy", &found.https)];
    let addresses = addresses
        .into_iter()
        .filter_map(|(name, address)| Some((name, address.as_ref()?)));
    let mut proxy: serde_json::Map<String, Value> = addresses
        .map(|(name, address)| (name.to_owned(), address.as_str().into()))
        .collect();
    if proxy.is_empty() {
        return None;
    }
    proxy.insert("noProxy".to_owned(), found.direct.into());
    Some(proxy.into())
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
