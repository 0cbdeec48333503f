//! The objects of users that a cluster refers to. An object is fetched only when it differs from the state that was last
//! copied, or when somebody has changed the copy.

use std::{collections::BTreeMap, sync::Arc};

use hyperplane_api::{constants::ours, hypershift::hosted_cluster::HostedCluster};
use hyperplane_components::Objects;
use hyperplane_platforms::KeyCopy;
use hyperplane_runtime::{Api, Context, Failure};
use k8s_openapi::{
    api::core::v1::{ConfigMap, Secret},
    apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta},
};
use kube::{Resource, ResourceExt as _};

use crate::{
    NAME,
    references::{Order, Purpose, SourceKind},
    stores::Stores,
};

/// One object that is referred to, and what is known of it.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) order: Order,
    pub(crate) state: State,
}

/// What is known of an object.
#[derive(Clone, Debug)]
pub(crate) enum State {
    /// It does not exist.
    Missing,
    /// Its copy is as it is. The content is that of the copy, under the keys of the original.
    Current(Content),
    /// It differs from its copy, or there is none yet.
    Read(Content),
}

/// The content of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    /// Which object in which state.
    pub(crate) stamp: String,
    /// What is in it.
    pub(crate) data: BTreeMap<String, Vec<u8>>,
}

impl Source {
    /// The content, where there is one.
    pub(crate) fn content(&self) -> Option<&Content> {
        match &self.state {
            State::Missing => None,
            State::Current(content) | State::Read(content) => Some(content),
        }
    }
}

/// Which object in which state, as a copy says it.
fn stamp(metadata: &ObjectMeta) -> String {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    format!(
        "{}/{}@{}/{}",
        text(&metadata.namespace),
        text(&metadata.name),
        text(&metadata.uid),
        text(&metadata.resource_version)
    )
}

/// Reads what a cluster refers to.
pub(super) async fn read(
    context: &Context,
    stores: &Stores,
    cluster: &HostedCluster,
    copies: &Objects,
    orders: Vec<Order>,
) -> Result<Vec<Source>, Failure> {
    let namespace = cluster.namespace().unwrap_or_default();
    let mut sources = Vec::with_capacity(orders.len());
    for order in orders {
        let state = match known(stores, &namespace, &order) {
            None => State::Missing,
            Some(stamp) => match current(copies, &order, &stamp) {
                Some(content) => State::Current(content),
                None => fetch(context, &namespace, &order)
                    .await?
                    .map_or(State::Missing, State::Read),
            },
        };
        sources.push(Source { order, state });
    }
    Ok(sources)
}

/// The stamp of an object by what the watches know; none if there is no such object.
fn known(stores: &Stores, namespace: &str, order: &Order) -> Option<String> {
    let name = &order.source;
    let stamp_of = |metadata: &ObjectMeta| Some(stamp(metadata));
    match order.kind {
        // A key that was made for the user carries our label, and so is in the other cache.
        SourceKind::Secret => match stores.user_secrets.namespace(namespace).get(name) {
            Some(found) => stamp_of(&found.metadata),
            None => stamp_of(&stores.secrets.namespace(namespace).get(name)?.metadata),
        },
        SourceKind::ConfigMap => match stores.user_config_maps.namespace(namespace).get(name) {
            Some(found) => stamp_of(&found.metadata),
            None => stamp_of(&stores.config_maps.namespace(namespace).get(name)?.metadata),
        },
    }
}

/// The content of the copy, if it is one of this state and nobody has touched it.
fn current(copies: &Objects, order: &Order, stamp: &str) -> Option<Content> {
    let data = match order.kind {
        SourceKind::Secret => secret_data(untouched(copies.secrets.get(&order.target)?, stamp)?),
        SourceKind::ConfigMap => config_map_data(untouched(copies.config_maps.get(&order.target)?, stamp)?),
    };
    let is_complete = |key: &KeyCopy| data.contains_key(&key.to);
    let data = match (order.purpose, order.keys.is_empty()) {
        // What is made of it is not what it was made from; it was judged when it was.
        (Purpose::SigningKey, _) => BTreeMap::new(),
        (_, true) => data,
        (_, false) => {
            if !order.keys.iter().all(is_complete) {
                return None;
            }
            let original = |key: &KeyCopy| (key.from.clone(), data[&key.to].clone());
            order.keys.iter().map(original).collect()
        }
    };
    Some(Content {
        stamp: stamp.to_owned(),
        data,
    })
}

/// The copy, if it says that it is of this state and its content is still what we wrote.
fn untouched<'a, K: Resource + HasKeys>(copy: &'a Arc<K>, stamp: &str) -> Option<&'a K> {
    let is_of_state = ours::COPIED_FROM.of(copy.as_ref()) == Some(stamp);
    let managers = copy.meta().managed_fields.iter().flatten();
    let ours = managers.into_iter().find(|entry| is_our_apply(entry))?;
    let fields = &ours.fields_v1.as_ref()?.0["f:data"];
    // Whoever else changes a value takes it from us, and so out of this entry.
    let is_ours = copy.keys().iter().all(|key| fields.get(format!("f:{key}")).is_some());
    (is_of_state && is_ours).then_some(copy.as_ref())
}

fn is_our_apply(entry: &ManagedFieldsEntry) -> bool {
    let manager = entry.manager.as_deref().unwrap_or_default();
    let is_us = manager.rsplit('/').next() == Some(NAME);
    is_us && entry.operation.as_deref() == Some("Apply") && entry.subresource.is_none()
}

/// Objects with data under keys.
trait HasKeys {
    fn keys(&self) -> Vec<&String>;
}

impl HasKeys for Secret {
    fn keys(&self) -> Vec<&String> {
        self.data.iter().flat_map(BTreeMap::keys).collect()
    }
}

impl HasKeys for ConfigMap {
    fn keys(&self) -> Vec<&String> {
        self.data.iter().flat_map(BTreeMap::keys).collect()
    }
}

async fn fetch(context: &Context, namespace: &str, order: &Order) -> Result<Option<Content>, Failure> {
    let client = context.client().clone();
    let content = match order.kind {
        SourceKind::Secret => {
            let api: Api<Secret> = Api::namespaced(client, namespace);
            api.get_opt(&order.source).await?.map(|found| Content {
                stamp: stamp(&found.metadata),
                data: secret_data(&found),
            })
        }
        SourceKind::ConfigMap => {
            let api: Api<ConfigMap> = Api::namespaced(client, namespace);
            api.get_opt(&order.source).await?.map(|found| Content {
                stamp: stamp(&found.metadata),
                data: config_map_data(&found),
            })
        }
    };
    Ok(content)
}

fn secret_data(secret: &Secret) -> BTreeMap<String, Vec<u8>> {
    let data = secret.data.iter().flatten();
    data.map(|(key, value)| (key.clone(), value.0.clone())).collect()
}

fn config_map_data(config_map: &ConfigMap) -> BTreeMap<String, Vec<u8>> {
    let data = config_map.data.iter().flatten();
    data.map(|(key, value)| (key.clone(), value.clone().into_bytes()))
        .collect()
}
