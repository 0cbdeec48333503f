//! How long an object lives that ends by itself: Events, requests for certificates, bootstrap tokens. Pure.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use hyperplane_store::{Entry, Key};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use x509_parser::pem::parse_x509_pem;

use super::certificates;
use crate::object::Object;

/// How long an Event lives after it was last written (upstream's default).
const EVENT_LIFE: SignedDuration = SignedDuration::from_hours(1);
/// How long a request lives that was signed, denied or failed.
const DECIDED_LIFE: SignedDuration = SignedDuration::from_hours(1);
/// How long a request lives on which nobody decided, or that was approved and never signed.
const OPEN_LIFE: SignedDuration = SignedDuration::from_hours(24);
pub(super) const EVENTS: &str = "events";
pub(super) const SECRETS: &str = "secrets";
/// The namespace of bootstrap tokens.
const SYSTEM: &str = "kube-system";
const TOKEN_PREFIX: &str = "bootstrap-token-";
const TOKEN_TYPE: &str = "bootstrap.kubernetes.io/token";

/// Whether an object may end by itself, as far as its name tells.
pub(super) fn may_end(key: &Key) -> bool {
    match &*key.collection {
        EVENTS | certificates::COLLECTION => true,
        SECRETS => &*key.namespace == SYSTEM && key.name.starts_with(TOKEN_PREFIX),
        _ => false,
    }
}

/// When an object ends, given when it was written; after a restart that is not known, and its own times count.
pub(super) fn end(entry: &Entry<Object>, written: Option<Timestamp>) -> Option<Timestamp> {
    let object = || entry.payload.value(entry.revision);
    match &*entry.key.collection {
        EVENTS => written.or_else(|| last_write(&object()))?.checked_add(EVENT_LIFE).ok(),
        SECRETS => token_end(&object()),
        _ => request_end(&object()),
    }
}

/// When an Event was last written, by who owns its fields and by its own times.
fn last_write(event: &Value) -> Option<Timestamp> {
    let owners = event["metadata"]["managedFields"].as_array().into_iter().flatten();
    let times = [
        &event["series"]["lastObservedTime"],
        &event["lastTimestamp"],
        &event["metadata"]["creationTimestamp"],
    ];
    owners.map(|owner| &owner["time"]).chain(times).filter_map(time).max()
}

fn time(value: &Value) -> Option<Timestamp> {
    value.as_str()?.parse().ok()
}

fn token_end(secret: &Value) -> Option<Timestamp> {
    if secret["type"] != TOKEN_TYPE {
        return None;
    }
    let text = BASE64_STANDARD.decode(secret["data"]["expiration"].as_str()?).ok()?;
    std::str::from_utf8(&text).ok()?.parse().ok()
}

/// When a request for a certificate ends (kubernetes, pkg/controller/certificates/cleaner).
fn request_end(request: &Value) -> Option<Timestamp> {
    let conditions = request["status"]["conditions"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    if conditions.is_empty() {
        return time(&request["metadata"]["creationTimestamp"])?
            .checked_add(OPEN_LIFE)
            .ok();
    }
    let certificate = request["status"]["certificate"]
        .as_str()
        .filter(|certificate| !certificate.is_empty());
    let ends = conditions.iter().filter_map(|condition| {
        let life = match condition["type"].as_str()? {
            "Approved" if certificate.is_none() => OPEN_LIFE,
            "Approved" | "Denied" | "Failed" => DECIDED_LIFE,
            _ => return None,
        };
        time(&condition["lastUpdateTime"])?.checked_add(life).ok()
    });
    let is_approved = conditions.iter().any(|condition| condition["type"] == "Approved");
    ends.chain(certificate.filter(|_| is_approved).and_then(certificate_end))
        .min()
}

fn certificate_end(encoded: &str) -> Option<Timestamp> {
    let bytes = BASE64_STANDARD.decode(encoded).ok()?;
    let (_, pem) = parse_x509_pem(&bytes).ok()?;
    let certificate = pem.parse_x509().ok()?;
    Timestamp::from_second(certificate.validity().not_after.timestamp()).ok()
}

/// The time of an object's end that is not before now, for one whose own times lie in the future.
pub(super) fn at_most(end: Timestamp, now: Timestamp, collection: &str) -> Timestamp {
    match collection {
        EVENTS => end.min(now.checked_add(EVENT_LIFE).unwrap_or(end)),
        _ => end,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::metadata;

    fn entry(collection: &str, name: &str, object: &Value) -> Entry<Object> {
        Entry {
            key: Key::new(collection, SYSTEM, name),
            revision: hyperplane_store::Revision(1),
            payload: Object::new(object),
        }
    }

    fn check(collection: &str, object: &Value, expected: Option<&str>) {
        let found = end(&entry(collection, "a", object), None).map(metadata::time);
        assert_eq!(found.as_deref(), expected, "{object:#}");
    }

    #[test]
    fn events_live_an_hour_after_their_last_write() {
        let mut event = json!({"metadata": {"creationTimestamp": "2026-01-01T00:00:00Z"}});
        check(EVENTS, &event, Some("2026-01-01T01:00:00Z"));
        event["lastTimestamp"] = json!("2026-01-01T00:10:00Z");
        check(EVENTS, &event, Some("2026-01-01T01:10:00Z"));
        event["metadata"]["managedFields"] = json!([{"time": "2026-01-01T00:20:00Z"}]);
        check(EVENTS, &event, Some("2026-01-01T01:20:00Z"));
        let written = "2026-01-01T05:00:00Z".parse().ok();
        let found = end(&entry(EVENTS, "a", &event), written).map(metadata::time);
        assert_eq!(found.as_deref(), Some("2026-01-01T06:00:00Z"));
    }

    #[test]
    fn requests_live_as_upstream_lets_them() {
        let request = |conditions: &Value, certificate: &Value| {
            json!({
                "metadata": {"creationTimestamp": "2026-01-01T00:00:00Z"},
                "status": {"conditions": conditions, "certificate": certificate},
            })
        };
        let decided = |kind: &str| json!([{"type": kind, "lastUpdateTime": "2026-01-01T02:00:00Z"}]);
        let collection = certificates::COLLECTION;
        check(
            collection,
            &request(&json!([]), &Value::Null),
            Some("2026-01-02T00:00:00Z"),
        );
        check(
            collection,
            &request(&decided("Approved"), &Value::Null),
            Some("2026-01-02T02:00:00Z"),
        );
        check(
            collection,
            &request(&decided("Approved"), &json!("eA==")),
            Some("2026-01-01T03:00:00Z"),
        );
        check(
            collection,
            &request(&decided("Denied"), &Value::Null),
            Some("2026-01-01T03:00:00Z"),
        );
        check(
            collection,
            &request(&decided("Failed"), &Value::Null),
            Some("2026-01-01T03:00:00Z"),
        );
    }

    #[test]
    fn only_bootstrap_tokens_end_among_secrets() {
        let expiration = BASE64_STANDARD.encode("2026-03-01T00:00:00Z");
        let mut secret = json!({"metadata": {}, "type": TOKEN_TYPE, "data": {"expiration": expiration}});
        check(SECRETS, &secret, Some("2026-03-01T00:00:00Z"));
        secret["type"] = json!("Opaque");
        check(SECRETS, &secret, None);
        assert!(may_end(&Key::new(SECRETS, SYSTEM, "bootstrap-token-abcdef")));
        assert!(!may_end(&Key::new(SECRETS, "default", "bootstrap-token-abcdef")));
        assert!(!may_end(&Key::new(SECRETS, SYSTEM, "other")));
    }
}
