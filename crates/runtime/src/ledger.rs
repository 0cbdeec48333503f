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

impl Record {
    /// Whether the cache shows the object as it was before this: then it says nothing of what the server has, even where
    /// it shows just what is intended now.
    fn is_ahead_of(&self, live: Option<&Value>) -> bool {
        match (live.and_then(version), &self.answered) {
            (Some(live), Some(answered)) if is_number(&live) && is_number(answered) => {
                (live.len(), &live) < (answered.len(), answered)
            }
            (live, answered) => live == self.seen && live != *answered,
        }
    }
}

/// The memory of all applies of one process.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    records: BTreeMap<Target, Record>,
}

impl Ledger {
    /// Whether `intent` has to be sent, given the object as the cache has it.
    pub(crate) fn judge(&self, target: &Target, intent: &Value, live: Option<&Value>, now: Duration) -> Verdict {
        let essence = essence(intent);
        let known = self.records.get(target);
        if let Some(record) = known
            && record.is_ahead_of(live)
        {
            let is_recent = now.saturating_sub(record.at) < CONFIRM_WITHIN;
            return if is_recent && record.intent == hash(&essence) {
                Verdict::Unconfirmed
            } else {
                Verdict::Apply
            };
        }
        let Some(ours) = live.and_then(|live| owned_by(target, live)) else {
            return Verdict::Apply;
        };
        let is_answer = |record: &Record| record.intent == hash(&essence) && record.result == Some(hash(&ours));
        if ours == essence || known.is_some_and(is_answer) {
            Verdict::Unchanged
        } else {
            Verdict::Apply
        }
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

/// Versions are numbers of any size without leading zeros, so that the longer one is the later one.
fn is_number(version: &str) -> bool {
    version.bytes().all(|byte| byte.is_ascii_digit())
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
    use proptest::prelude::*;
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

    /// A server that one writer writes to, and a cache that shows its versions late.
    struct Lagging {
        versions: Vec<Value>,
        shown: usize,
        ledger: Ledger,
    }

    impl Lagging {
        fn intend(&mut self, color: &str) -> Verdict {
            let cached = self
                .versions
                .get(self.shown)
                .filter(|version| !version.is_null())
                .cloned();
            let verdict = judge(&self.ledger, &intent(color), cached.as_ref());
            if verdict == Verdict::Apply {
                if self.color() != Some(color) {
                    let number = (self.versions.len() + 8).to_string();
                    self.versions.push(live(&number, color, &json!({"f:color": {}})));
                }
                let answer = self.versions.last().unwrap();
                self.ledger
                    .record(target(), &intent(color), cached.as_ref(), answer, NOW);
            }
            verdict
        }

        fn color(&self) -> Option<&str> {
            self.versions.last()?["data"]["color"].as_str()
        }
    }

    proptest! {
        #[test]
        fn what_is_skipped_is_on_the_server(steps in prop::collection::vec((0..3_usize, 0..3_usize), 1..40)) {
            let mut world = Lagging { versions: vec![Value::Null], shown: 0, ledger: Ledger::default() };
            for (color, news) in steps {
                world.shown = (world.shown + news).min(world.versions.len() - 1);
                let color = ["red", "green", "blue"][color];
                let verdict = world.intend(color);
                prop_assert_eq!(world.color(), Some(color), "after {:?}", verdict);
                if world.shown == world.versions.len() - 1 {
                    prop_assert_eq!(world.intend(color), Verdict::Unchanged, "the cache shows all that was written");
                }
            }
        }
    }

    #[test]
    fn a_cache_that_shows_what_was_before_our_last_write_is_not_believed() {
        let mut ledger = Ledger::default();
        let fields = json!({"f:color": {}});
        let before = live("9", "red", &fields);
        ledger.record(
            target(),
            &intent("blue"),
            Some(&before),
            &live("11", "blue", &fields),
            NOW,
        );
        assert_eq!(judge(&ledger, &intent("red"), Some(&before)), Verdict::Apply);
        let between = live("10", "red", &fields);
        assert_eq!(judge(&ledger, &intent("red"), Some(&between)), Verdict::Apply);
        assert_eq!(judge(&ledger, &intent("blue"), Some(&between)), Verdict::Unconfirmed);
        let after = live("12", "red", &fields);
        assert_eq!(judge(&ledger, &intent("red"), Some(&after)), Verdict::Unchanged);
    }

    #[test]
    fn hashes_keep_boundaries() {
        assert_ne!(hash(&json!(["ab", "c"])), hash(&json!(["a", "bc"])));
        assert_ne!(hash(&json!("1")), hash(&json!(1)));
        assert_ne!(hash(&json!([[], []])), hash(&json!([[[]]])));
    }
}
