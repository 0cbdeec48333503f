//! What was applied, so that applying it again can be skipped. Pure: it compares values and remembers; it never
//! writes. Losing it costs one needless request per object, never a wrong one.

use std::{collections::BTreeMap, time::Duration};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::ownership::{essence, owned};

/// How long an answer of the server is trusted over a cache that has not shown it yet.
pub(crate) const CONFIRM_WITHIN: Duration = Duration::from_secs(30);
/// Entries kept at most: one per object and manager of a very large installation. Beyond it all are forgotten.
const LIMIT: usize = 250_000;

/// Where an intent goes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Target {
    pub(crate) path: String,
    pub(crate) name: String,
    pub(crate) manager: String,
    pub(crate) subresource: Option<&'static str>,
    pub(crate) api_version: String,
}

/// The decision about one apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The live object carries exactly the intent.
    Unchanged,
    /// It was applied a moment ago and the cache has not caught up.
    Unconfirmed,
    /// The server must be asked.
    Apply,
}

type Hash = [u8; 32];

#[derive(Clone, Debug)]
struct Record {
    intent: Hash,
    /// What we owned in the server's answer, which may differ from the intent by the server's spelling.
    result: Option<Hash>,
    /// The version in the cache when the request was made.
    seen: Option<String>,
    /// The version that the server answered.
    answered: Option<String>,
    at: Duration,
}

/// The memory of all applies of one process.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    records: BTreeMap<Target, Record>,
}

impl Ledger {
    /// Whether `intent` has to be sent, given the object as the cache has it.
    pub(crate) fn judge(&self, target: &Target, intent: &Value, live: Option<&Value>, now: Duration) -> Verdict {
        let ours = live.and_then(|live| owned_by(target, live));
        let essence = essence(intent);
        if ours.as_ref() == Some(&essence) {
            return Verdict::Unchanged;
        }
        let Some(record) = self.records.get(target) else {
            return Verdict::Apply;
        };
        if record.intent != hash(&essence) {
            return Verdict::Apply;
        }
        if ours.is_some() && record.result == ours.as_ref().map(hash) {
            return Verdict::Unchanged;
        }
        let is_recent = now.saturating_sub(record.at) < CONFIRM_WITHIN;
        if is_recent && record.seen == live.and_then(version) {
            return Verdict::Unconfirmed;
        }
        Verdict::Apply
    }

    /// Notes that `intent` was applied while the cache had `live`, and that the server answered `answer`. False if the
    /// answer is the same as the last time, so that no event can be expected to follow.
    pub(crate) fn record(
        &mut self,
        target: Target,
        intent: &Value,
        live: Option<&Value>,
        answer: &Value,
        now: Duration,
    ) -> bool {
        if self.records.len() >= LIMIT {
            self.records.clear();
        }
        let record = Record {
            intent: hash(&essence(intent)),
            result: owned_by(&target, answer).as_ref().map(hash),
            seen: live.and_then(version),
            answered: version(answer),
            at: now,
        };
        let answered = record.answered.clone();
        let before = self.records.insert(target, record);
        before.is_none_or(|before| before.answered != answered)
    }

    /// Forgets everything about an object that we deleted.
    pub(crate) fn forget(&mut self, path: &str, name: &str) {
        let first = Target {
            path: path.to_owned(),
            name: name.to_owned(),
            manager: String::new(),
            subresource: None,
            api_version: String::new(),
        };
        let known: Vec<Target> = self
            .records
            .range(first..)
            .map(|(target, _)| target)
            .take_while(|target| target.path == path && target.name == name)
            .cloned()
            .collect();
        for target in known {
            self.records.remove(&target);
        }
    }
}

fn owned_by(target: &Target, object: &Value) -> Option<Value> {
    owned(object, &target.manager, target.subresource, &target.api_version)
}

fn version(object: &Value) -> Option<String> {
    object["metadata"]["resourceVersion"].as_str().map(str::to_owned)
}

/// SHA-256 over a canonical form: keys sorted, every string and container with its length in front.
fn hash(value: &Value) -> Hash {
    let mut hasher = Sha256::new();
    feed(&mut hasher, value);
    hasher.finalize().into()
}

fn feed(hasher: &mut Sha256, value: &Value) {
    match value {
        Value::Object(fields) => {
            let sorted: BTreeMap<&String, &Value> = fields.iter().collect();
            feed_length(hasher, b'o', sorted.len());
            for (name, field) in sorted {
                feed_text(hasher, name);
                feed(hasher, field);
            }
        }
        Value::Array(items) => {
            feed_length(hasher, b'a', items.len());
            for item in items {
                feed(hasher, item);
            }
        }
        Value::String(text) => feed_text(hasher, text),
        scalar => {
            let text = scalar.to_string();
            feed_length(hasher, b'v', text.len());
            hasher.update(text);
        }
    }
}

fn feed_text(hasher: &mut Sha256, text: &str) {
    feed_length(hasher, b's', text.len());
    hasher.update(text);
}

fn feed_length(hasher: &mut Sha256, tag: u8, length: usize) {
    hasher.update([tag]);
    hasher.update((length as u64).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn target() -> Target {
        Target {
            path: "/api/v1/namespaces/n/configmaps".to_owned(),
            name: "a".to_owned(),
            manager: "m".to_owned(),
            subresource: None,
            api_version: "v1".to_owned(),
        }
    }

    fn intent(color: &str) -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "n"}, "data": {"color": color}})
    }

    fn live(version: &str, color: &str, fields: &Value) -> Value {
        json!({"metadata": {"name": "a", "resourceVersion": version, "managedFields": [
            {"manager": "m", "operation": "Apply", "apiVersion": "v1", "fieldsV1": {"f:data": fields}}
        ]}, "data": {"color": color, "extra": "1"}})
    }

    const NOW: Duration = Duration::from_secs(100);

    fn judge(ledger: &Ledger, intent: &Value, live: Option<&Value>) -> Verdict {
        ledger.judge(&target(), intent, live, NOW)
    }

    #[test]
    fn a_fresh_process_skips_what_is_already_there() {
        let ledger = Ledger::default();
        let ours = json!({"f:color": {}});
        assert_eq!(
            judge(&ledger, &intent("red"), Some(&live("1", "red", &ours))),
            Verdict::Unchanged
        );
        assert_eq!(
            judge(&ledger, &intent("red"), Some(&live("1", "blue", &ours))),
            Verdict::Apply
        );
        assert_eq!(judge(&ledger, &intent("red"), None), Verdict::Apply);
    }

    #[test]
    fn a_field_that_we_no_longer_intend_is_removed_and_a_lost_one_taken_back() {
        let ledger = Ledger::default();
        let more = json!({"f:color": {}, "f:extra": {}});
        assert_eq!(
            judge(&ledger, &intent("red"), Some(&live("1", "red", &more))),
            Verdict::Apply
        );
        let less = json!({"f:other": {}});
        assert_eq!(
            judge(&ledger, &intent("red"), Some(&live("1", "red", &less))),
            Verdict::Apply
        );
    }

    #[test]
    fn the_spelling_of_the_server_is_accepted_after_one_apply() {
        let mut ledger = Ledger::default();
        let ours = json!({"f:color": {}});
        let answer = live("2", "RED", &ours);
        assert_eq!(judge(&ledger, &intent("red"), Some(&answer)), Verdict::Apply);
        assert!(ledger.record(target(), &intent("red"), None, &answer, NOW));
        assert!(
            !ledger.record(target(), &intent("red"), None, &answer, NOW),
            "nothing happened"
        );
        assert_eq!(
            judge(&ledger, &intent("red"), Some(&live("9", "RED", &ours))),
            Verdict::Unchanged
        );
        assert_eq!(
            judge(&ledger, &intent("red"), Some(&live("9", "Green", &ours))),
            Verdict::Apply
        );
        assert_eq!(judge(&ledger, &intent("green"), Some(&answer)), Verdict::Apply);
    }

    #[test]
    fn a_cache_that_lags_is_waited_for_but_not_for_ever() {
        let mut ledger = Ledger::default();
        ledger.record(
            target(),
            &intent("red"),
            None,
            &live("2", "red", &json!({"f:color": {}})),
            NOW,
        );
        assert_eq!(judge(&ledger, &intent("red"), None), Verdict::Unconfirmed);
        let later = NOW + CONFIRM_WITHIN;
        assert_eq!(ledger.judge(&target(), &intent("red"), None, later), Verdict::Apply);
        let changed = live("3", "blue", &json!({}));
        assert_eq!(judge(&ledger, &intent("red"), Some(&changed)), Verdict::Apply);
        ledger.forget(&target().path, "a");
        assert_eq!(judge(&ledger, &intent("red"), None), Verdict::Apply);
    }

    #[test]
    fn hashes_keep_boundaries() {
        assert_ne!(hash(&json!(["ab", "c"])), hash(&json!(["a", "bc"])));
        assert_ne!(hash(&json!("1")), hash(&json!(1)));
        assert_ne!(hash(&json!([[], []])), hash(&json!([[[]]])));
    }
}
