//! Bootstrap tokens: a Secret in `kube-system` that lets a new node ask for its certificate
//! (kubernetes, plugin/pkg/auth/authenticator/token/bootstrap). Anything wrong with it makes it no token at all.

use std::collections::BTreeSet;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use jiff::Timestamp;
use serde_json::Value;

use crate::{
    Objects, User,
    object::{at, text},
};

const NAMESPACE: &str = "kube-system";
const SECRET_TYPE: &str = "bootstrap.kubernetes.io/token";
const GROUP: &str = "system:bootstrappers";
const GROUP_PREFIX: &str = "system:bootstrappers:";
const ID_LENGTH: usize = 6;
const SECRET_LENGTH: usize = 16;
/// The longest name of a group after the prefix.
const GROUP_LENGTH: usize = 256;

/// The user behind `id.secret`, if there is such a Secret, it is meant for authentication and has not expired.
pub fn bootstrap_token(token: &str, objects: &dyn Objects, now: Timestamp) -> Option<User> {
    let (id, secret) = token.split_once('.')?;
    if !is_word(id, ID_LENGTH) || !is_word(secret, SECRET_LENGTH) {
        return None;
    }
    let object = objects.get("", "secrets", NAMESPACE, &format!("bootstrap-token-{id}"))?;
    let is_deleted = !at(&object, &["metadata", "deletionTimestamp"]).is_null();
    if is_deleted || text(&object, &["type"]) != SECRET_TYPE {
        return None;
    }
    verify_slices_are_equal(data(&object, "token-secret").as_bytes(), secret.as_bytes()).ok()?;
    let is_meant = data(&object, "token-id") == id && data(&object, "usage-bootstrap-authentication") == "true";
    if !is_meant || has_expired(&data(&object, "expiration"), now) {
        return None;
    }
    let groups = groups(&data(&object, "auth-extra-groups"))?;
    Some(User::with_groups(&format!("system:bootstrap:{id}"), groups))
}

fn is_word(text: &str, length: usize) -> bool {
    text.len() == length
        && text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

fn data(secret: &Value, key: &str) -> String {
    let decoded = BASE64_STANDARD.decode(text(secret, &["data", key])).unwrap_or_default();
    String::from_utf8(decoded).unwrap_or_default()
}

/// A time that cannot be read has passed.
fn has_expired(expiration: &str, now: Timestamp) -> bool {
    !expiration.is_empty() && expiration.parse::<Timestamp>().map_or(true, |end| end <= now)
}

fn groups(extra: &str) -> Option<Vec<String>> {
    let mut groups = BTreeSet::from([GROUP.to_owned()]);
    for group in extra.split(',').filter(|_| !extra.is_empty()) {
        if !group.strip_prefix(GROUP_PREFIX).is_some_and(is_group) {
            return None;
        }
        groups.insert(group.to_owned());
    }
    Some(groups.into_iter().collect())
}

fn is_group(name: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b':' || byte == b'-';
    let is_last = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    (1..=GROUP_LENGTH).contains(&name.len())
        && name.bytes().all(is_inner)
        && name.as_bytes().last().is_some_and(is_last)
}
