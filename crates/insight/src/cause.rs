//! A root cause: one Blocker with the moment since which it is so, and how much it weighs.

use std::collections::BTreeMap;

use hyperplane_planner::blocker::{Blocker, Moment};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

pub use crate::rule::Weight;
use crate::{object::Reference, rule::Rule};

/// Who speaks, among the policies of blockers.
const POLICY: &str = "waiting";
/// How many objects a subject names before it counts the rest.
const MOST_NAMES: usize = 3;

/// Why something waits.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cause {
    /// What is the matter, about what, and what to do.
    #[serde(flatten)]
    pub blocker: Blocker,
    /// Since when it is so, where that is known.
    pub since: Option<Timestamp>,
    /// How much it weighs.
    pub weight: Weight,
    #[serde(skip)]
    pub(crate) rank: usize,
}

/// What was found at an object, before it is settled who else has the same.
#[derive(Clone, Debug)]
pub(crate) struct Trouble {
    /// Where.
    pub(crate) object: Reference,
    /// Which kind of cause.
    pub(crate) rule: &'static Rule,
    /// What tells it apart from others of its kind at other objects; the same key is the same trouble.
    pub(crate) key: String,
    /// What tells it apart from others of its kind at the same object: a condition, a finalizer.
    pub(crate) part: String,
    /// What is the matter, in a sentence without its end.
    pub(crate) what: String,
    /// What to do, in a sentence.
    pub(crate) remedy: String,
    /// Since when.
    pub(crate) since: Option<Timestamp>,
    /// The facts that say so.
    pub(crate) evidence: BTreeMap<&'static str, String>,
}

impl Trouble {
    pub(crate) fn new(
        object: Reference,
        rule: &'static Rule,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let what = what.into();
        Self {
            object,
            rule,
            key: what.clone(),
            part: String::new(),
            what,
            remedy: remedy.into(),
            since: None,
            evidence: BTreeMap::new(),
        }
    }

    pub(crate) const fn since(mut self, since: Option<Timestamp>) -> Self {
        self.since = since;
        self
    }

    /// Adds a fact, where there is one.
    pub(crate) fn fact(mut self, name: &'static str, words: Option<impl Into<String>>) -> Self {
        self.evidence.extend(words.map(|words| (name, words.into())));
        self
    }

    pub(crate) fn part(mut self, part: &str) -> Self {
        part.clone_into(&mut self.part);
        self
    }

    pub(crate) fn keyed(mut self, key: impl Into<String>) -> Self {
        self.key = key.into();
        self
    }

    /// The cause, which others have as well.
    pub(crate) fn cause(&self, others: &[Reference]) -> Cause {
        let Reference { kind, namespace, name } = &self.object;
        let facts = self.evidence.iter();
        let part = if self.part.is_empty() {
            String::new()
        } else {
            format!("/{}", self.part)
        };
        Cause {
            blocker: Blocker {
                id: format!("{POLICY}/{}/{kind}/{namespace}/{name}{part}", self.rule.reason),
                policy: POLICY,
                rule: self.rule.id,
                also: &[],
                reason: self.rule.reason,
                subject: subject(&self.object, others),
                state: Moment::Before,
                message: self.what.clone(),
                evidence: facts.map(|(key, words)| (*key, Value::from(words.as_str()))).collect(),
                remedy: self.remedy.clone(),
                disagreements: Vec::new(),
                is_skippable: false,
            },
            since: self.since,
            weight: self.rule.weight,
            rank: self.rule.rank(),
        }
    }
}

/// An object, and those that have the same trouble.
pub(crate) fn subject(first: &Reference, others: &[Reference]) -> String {
    let mut names: Vec<&str> = vec![&first.name];
    names.extend(others.iter().map(|other| other.name.as_str()));
    let shown = names.iter().take(MOST_NAMES).copied().collect::<Vec<_>>().join(", ");
    let kind = &first.kind;
    match names.len() {
        1 => format!("{kind} {shown}"),
        count if count <= MOST_NAMES => format!("{kind}s {shown}"),
        count => format!("{kind}s {shown} and {} more", count - MOST_NAMES),
    }
}

/// The same trouble at several objects, told once: the first that has it, and the others. The oldest is the first.
pub(crate) fn gathered(troubles: impl IntoIterator<Item = Trouble>) -> Vec<(Trouble, Vec<Reference>)> {
    let mut found: Vec<(Trouble, Vec<Reference>)> = Vec::new();
    for trouble in troubles {
        let is_same = |(known, _): &&mut (Trouble, Vec<Reference>)| {
            known.rule.id == trouble.rule.id && known.key == trouble.key && known.object.kind == trouble.object.kind
        };
        match found.iter_mut().find(is_same) {
            None => found.push((trouble, Vec::new())),
            Some((first, others)) if first.object != trouble.object && !others.contains(&trouble.object) => {
                first.since = [first.since, trouble.since].into_iter().flatten().min();
                others.push(trouble.object);
            }
            Some(_) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule;

    #[test]
    fn the_same_trouble_is_told_once_with_all_that_have_it() {
        let at = |name: &str, second: i64| {
            Trouble::new(
                Reference::new("Pod", "n", name),
                &rule::IMAGE,
                "no image",
                "give it one",
            )
            .since(Some(Timestamp::constant(second, 0)))
        };
        let found = gathered([at("a", 9), at("b", 7), at("b", 7), at("c", 8), at("d", 8)]);
        let [(first, others)] = found.as_slice() else {
            panic!("{found:?}");
        };
        let cause = first.cause(others);
        assert_eq!(cause.blocker.subject, "Pods a, b, c and 1 more");
        assert_eq!(cause.since, Some(Timestamp::constant(7, 0)));
        assert_eq!(cause.blocker.id, "waiting/ImageNotPulled/Pod/n/a");
        assert_eq!(at("a", 0).cause(&[]).blocker.subject, "Pod a");
    }
}
