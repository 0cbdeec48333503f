//! Copies of what users gave. The original is never touched, and nothing of it is copied but its data: labels, annotations
//! and names stay where they are.

use std::collections::BTreeMap;

use hyperplane_api::constants::{objects::keys, ours};
use hyperplane_pki_issue::service_account;
use k8s_openapi::{
    ByteString,
    api::core::v1::{ConfigMap, Secret},
};

use super::Blueprint;
use crate::{
    dereference::{Content, Source, State},
    metadata::pair,
    references::{OLD_SIGNING_KEY, Order, Purpose, SIGNING_KEY, SourceKind},
};

/// The type of a Secret with registry credentials; pods pull images with no other.
const REGISTRY_CREDENTIALS: &str = "kubernetes.io/dockerconfigjson";
const OPAQUE: &str = "Opaque";

/// All copies.
#[derive(Default)]
pub(super) struct Copies {
    pub(super) secrets: Vec<Secret>,
    pub(super) config_maps: Vec<ConfigMap>,
    pub(super) kept_secrets: Vec<String>,
    pub(super) kept_config_maps: Vec<String>,
}

pub(super) fn build(blueprint: &Blueprint<'_>) -> Copies {
    let mut copies = Copies::default();
    for Source { order, state } in &blueprint.seen.sources {
        match (order.kind, state) {
            (_, State::Missing) => {}
            (SourceKind::Secret, State::Current(_)) => copies.kept_secrets.push(order.target.clone()),
            (SourceKind::ConfigMap, State::Current(_)) => copies.kept_config_maps.push(order.target.clone()),
            (SourceKind::Secret, State::Read(content)) => copies.secrets.push(secret(blueprint, order, content)),
            (SourceKind::ConfigMap, State::Read(content)) => {
                copies.config_maps.push(config_map(blueprint, order, content));
            }
        }
    }
    copies
}

fn secret(blueprint: &Blueprint<'_>, order: &Order, content: &Content) -> Secret {
    let data = match order.purpose {
        Purpose::SigningKey => signing_key(content),
        _ => copied(order, content),
    };
    let type_ = match order.purpose {
        Purpose::PullSecret => REGISTRY_CREDENTIALS,
        _ => OPAQUE,
    };
    let data = data.into_iter().map(|(key, value)| (key, ByteString(value)));
    Secret {
        metadata: metadata(blueprint, order, content),
        type_: Some(type_.to_owned()),
        data: Some(data.collect()),
        ..Secret::default()
    }
}

fn config_map(blueprint: &Blueprint<'_>, order: &Order, content: &Content) -> ConfigMap {
    let text = |(key, value): (String, Vec<u8>)| (key, String::from_utf8_lossy(&value).into_owned());
    ConfigMap {
        metadata: metadata(blueprint, order, content),
        data: Some(copied(order, content).into_iter().map(text).collect()),
        ..ConfigMap::default()
    }
}

fn metadata(
    blueprint: &Blueprint<'_>,
    order: &Order,
    content: &Content,
) -> k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
    let mut metadata = blueprint.metadata(&order.target);
    let annotations = metadata.annotations.get_or_insert_default();
    annotations.extend([pair(ours::COPIED_FROM, &content.stamp)]);
    metadata
}

fn copied(order: &Order, content: &Content) -> BTreeMap<String, Vec<u8>> {
    if order.keys.is_empty() {
        return content.data.clone();
    }
    let value = |from: &str| content.data.get(from).cloned();
    let keys = order.keys.iter();
    keys.filter_map(|key| value(&key.from).map(|value| (key.to.clone(), value)))
        .collect()
}

/// The key of tokens as API servers want it: the private half signs, and public halves, older ones too, check.
fn signing_key(content: &Content) -> BTreeMap<String, Vec<u8>> {
    let Some(private) = content.data.get(SIGNING_KEY) else {
        return BTreeMap::new();
    };
    let mut public = service_account::public_of(private).unwrap_or_default();
    if let Some(older) = content.data.get(OLD_SIGNING_KEY) {
        public.push_str(&String::from_utf8_lossy(older));
    }
    BTreeMap::from([
        (keys::SERVICE_ACCOUNT_KEY.to_owned(), private.clone()),
        (keys::SERVICE_ACCOUNT_PUBLIC_KEY.to_owned(), public.into_bytes()),
    ])
}
