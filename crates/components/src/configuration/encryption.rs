//! Encryption of Secrets in etcd with keys that lie in Secrets.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hyperplane_api::{
    constants::objects::{copies, keys},
    hypershift::secret_encryption::SecretEncryptionType,
};
use serde_json::json;

use super::file;
use crate::{hash, inputs::Inputs};

/// How long keys of AES are.
const KEY_LENGTHS: &[usize] = &[16, 24, 32];

/// How many digits of a hash name a key.
const NAME_DIGITS: usize = 8;

/// Whether Secrets are encrypted.
pub(crate) fn is_wanted(inputs: &Inputs<'_>) -> bool {
    inputs.control_plane.spec.secret_encryption.is_some()
}

/// The configuration for the API server; none while a key is missing. What is written first is written with the active
/// key; the key before and plain text can still be read.
pub(crate) fn configuration(inputs: &Inputs<'_>) -> Option<String> {
    let active = key(inputs, copies::ENCRYPTION_KEY)?;
    let before = wants_key_before(inputs).then(|| key(inputs, copies::ENCRYPTION_KEY_BEFORE));
    let mut all = vec![active];
    match before {
        Some(Some(before)) if before != active => all.push(before),
        Some(None) => return None,
        _ => {}
    }
    let providers = all.into_iter().map(|key| {
        let name = format!("key-{}", &hash::of_bytes(key)[..NAME_DIGITS]);
        json!({"aescbc": {"keys": [{"name": name, "secret": STANDARD.encode(key)}]}})
    });
    let providers: Vec<_> = providers.chain([json!({"identity": {}})]).collect();
    Some(file(&json!({
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "EncryptionConfiguration",
        "resources": [{"resources": ["secrets"], "providers": providers}],
    })))
}

/// What the configuration waits for. Secrets are never stored in plain text because a key has not come yet.
pub(crate) fn waits(inputs: &Inputs<'_>) -> Vec<String> {
    let Some(encryption) = &inputs.control_plane.spec.secret_encryption else {
        return Vec::new();
    };
    if encryption.encryption_type != SecretEncryptionType::AesCbc {
        return vec![format!(
            "spec.secretEncryption.type {} cannot be carried out: choose aescbc",
            encryption.encryption_type
        )];
    }
    let mut wanted = vec![copies::ENCRYPTION_KEY];
    if wants_key_before(inputs) {
        wanted.push(copies::ENCRYPTION_KEY_BEFORE);
    }
    wanted.into_iter().filter_map(|name| problem(inputs, name)).collect()
}

fn wants_key_before(inputs: &Inputs<'_>) -> bool {
    let encryption = inputs.control_plane.spec.secret_encryption.as_ref();
    let keys = encryption.and_then(|encryption| encryption.aescbc.as_ref());
    keys.is_some_and(|keys| keys.backup_key.as_ref().is_some_and(|key| !key.name.is_empty()))
}

fn key<'a>(inputs: &Inputs<'a>, name: &str) -> Option<&'a [u8]> {
    let key = inputs.objects.secret_value(name, keys::ENCRYPTION_KEY)?;
    KEY_LENGTHS.contains(&key.len()).then_some(key)
}

fn problem(inputs: &Inputs<'_>, name: &str) -> Option<String> {
    let key = keys::ENCRYPTION_KEY;
    if !inputs.objects.secrets.contains_key(name) {
        return Some(format!("Secret {name} does not exist"));
    }
    match inputs.objects.secret_value(name, key) {
        None => Some(format!("Secret {name} has no key {key}")),
        Some(value) if !KEY_LENGTHS.contains(&value.len()) => Some(format!(
            "Secret {name} has {} bytes under {key}: give 16, 24 or 32",
            value.len()
        )),
        Some(_) => None,
    }
}
