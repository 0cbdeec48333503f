//! Copies of what users gave. The original is never touched, and nothing of it is copied but its data: labels, annotations
//! and names stay where they are.

use std::collections::BTreeMap;

use hyperplane_api::constants::{
    objects::{certificates, copies, keys},
    ours,
};
use hyperplane_pki_issue::service_account;
use k8s_openapi::{
    ByteString,
    api::core::v1::{ConfigMap, Secret},
};

use super::Blueprint;
use crate::{
    dereference::{Content, Seen, Source, State},
    metadata::pair,
    references::{OLD_SIGNING_KEY, Order, Purpose, SIGNING_KEY, SourceKind},
    verifying_keys,
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
    let mut made = Copies::default();
    for Source { order, state } in &blueprint.seen.sources {
        match (order.kind, state) {
            (_, State::Missing) => {}
            (SourceKind::Secret, State::Current(_)) => made.kept_secrets.push(order.target.clone()),
            (SourceKind::ConfigMap, State::Current(_)) => made.kept_config_maps.push(order.target.clone()),
            (SourceKind::Secret, State::Read(content)) if waits(blueprint.seen, order, content) => {
                made.kept_secrets.push(order.target.clone());
            }
            (SourceKind::Secret, State::Read(content)) => made.secrets.push(secret(blueprint, order, content)),
            (SourceKind::ConfigMap, State::Read(content)) => {
                made.config_maps.push(config_map(blueprint, order, content));
            }
        }
    }
    made
}

fn secret(blueprint: &Blueprint<'_>, order: &Order, content: &Content) -> Secret {
    let data = match order.purpose {
        Purpose::SigningKey => signing_key(blueprint.seen, content),
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

/// The key of tokens as API servers want it: the private half signs, and public halves, older ones too, check. Tokens of a
/// key that was there before, ours or the user's, stay valid until they expire.
fn signing_key(seen: &Seen, content: &Content) -> BTreeMap<String, Vec<u8>> {
    let Some(private) = content.data.get(SIGNING_KEY) else {
        return BTreeMap::new();
    };
    let public = service_account::public_of(private).unwrap_or_default();
    let older = content.data.get(OLD_SIGNING_KEY).map(Vec::as_slice).unwrap_or_default();
    let live = seen
        .objects
        .secret_value(certificates::SERVICE_ACCOUNT_KEYS, keys::SERVICE_ACCOUNT_PUBLIC_KEY);
    let public = verifying_keys::gather([public.as_bytes(), older, live.unwrap_or_default()]);
    BTreeMap::from([
        (keys::SERVICE_ACCOUNT_KEY.to_owned(), private.clone()),
        (keys::SERVICE_ACCOUNT_PUBLIC_KEY.to_owned(), public.into_bytes()),
    ])
}

/// Whether a new key for Secrets in etcd must not be copied yet. Whoever reads the copies finds the key in use among them
/// at every moment, wherever a run is cut short: first it becomes the key before, then the control plane is told that there
/// is one, and only then the new one takes its place.
fn waits(seen: &Seen, order: &Order, content: &Content) -> bool {
    let live = seen.objects.secret_value(copies::ENCRYPTION_KEY, keys::ENCRYPTION_KEY);
    let wanted = content.data.get(keys::ENCRYPTION_KEY).map(Vec::as_slice);
    let is_replaced = order.target == copies::ENCRYPTION_KEY && live.is_some() && live != wanted;
    is_replaced && !is_mended(seen, content) && !names_key_before(seen)
}

/// Whether the copy is of this very state of the original, and was changed by somebody else.
fn is_mended(seen: &Seen, content: &Content) -> bool {
    let copy = seen.objects.secrets.get(copies::ENCRYPTION_KEY);
    copy.is_some_and(|copy| ours::COPIED_FROM.of(copy.as_ref()) == Some(content.stamp.as_str()))
}

fn names_key_before(seen: &Seen) -> bool {
    let encryption = seen
        .control_plane
        .as_ref()
        .and_then(|live| live.spec.secret_encryption.as_ref());
    let keys = encryption.and_then(|encryption| encryption.aescbc.as_ref());
    keys.is_some_and(|keys| keys.backup_key.as_ref().is_some_and(|key| !key.name.is_empty()))
}

#[cfg(test)]
mod tests;
