//! Findings in the making: what a rule says, put together piece by piece, and the list that they end in.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::blocker::{Blocker, Disagreement, Moment, Weight};

/// A rule under which something is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    /// The rule.
    pub rule: &'static str,
    /// Other rules that say the same.
    pub also: &'static [&'static str],
    /// One word for it.
    pub reason: &'static str,
}

impl Named {
    /// A rule that stands alone.
    pub const fn new(rule: &'static str, reason: &'static str) -> Self {
        Self {
            rule,
            also: &[],
            reason,
        }
    }

    /// A rule that others repeat.
    pub const fn with(rule: &'static str, reason: &'static str, also: &'static [&'static str]) -> Self {
        Self { rule, also, reason }
    }
}

/// What a rule says.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    weight: Weight,
    blocker: Blocker,
}

impl Finding {
    fn new(weight: Weight, named: Named, subject: impl Into<String>) -> Self {
        Self {
            weight,
            blocker: Blocker {
                id: String::new(),
                policy: "",
                rule: named.rule,
                also: named.also,
                reason: named.reason,
                subject: subject.into(),
                state: Moment::Transition,
                message: String::new(),
                evidence: BTreeMap::new(),
                remedy: String::new(),
                disagreements: Vec::new(),
                is_skippable: false,
            },
        }
    }

    /// The policy forbids something about a subject.
    pub(crate) fn violation(named: Named, subject: impl Into<String>) -> Self {
        Self::new(Weight::Violation, named, subject)
    }

    /// The policy advises against something about a subject.
    pub(crate) fn warning(named: Named, subject: impl Into<String>) -> Self {
        Self::new(Weight::Warning, named, subject)
    }

    /// The policy cannot judge a subject.
    pub(crate) fn unknown(rule: &'static str, subject: impl Into<String>) -> Self {
        Self::new(Weight::Unknown, Named::new(rule, "Unknown"), subject)
    }

    pub(crate) fn weighing(named: Named, weight: Weight, subject: impl Into<String>) -> Self {
        Self::new(weight, named, subject)
    }

    /// When it is so; a transition if nobody says.
    pub(crate) fn at(mut self, moment: Moment) -> Self {
        self.blocker.state = moment;
        self
    }

    /// The sentence.
    pub(crate) fn says(mut self, message: impl Into<String>) -> Self {
        self.blocker.message = message.into();
        self
    }

    /// A fact.
    pub(crate) fn fact(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.blocker.evidence.insert(name, value.into());
        self
    }

    /// A fact, as it is written.
    #[expect(clippy::needless_pass_by_value, reason = "texts and references are given alike")]
    pub(crate) fn shows(self, name: &'static str, value: impl ToString) -> Self {
        self.fact(name, value.to_string())
    }

    /// What to do.
    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.blocker.remedy = remedy.into();
        self
    }

    /// Who says otherwise.
    pub(crate) fn disputed(mut self, disagreements: Vec<Disagreement>) -> Self {
        self.blocker.disagreements = disagreements;
        self
    }

    /// That an administrator may insist.
    pub(crate) fn skippable(mut self) -> Self {
        self.blocker.is_skippable = true;
        self
    }
}

/// What one policy found.
#[derive(Debug)]
pub(crate) struct Findings {
    policy: &'static str,
    all: Vec<(Weight, Blocker)>,
    /// How often a name was given: one rule may have several things to say about one subject.
    counts: BTreeMap<String, u32>,
}

impl Findings {
    pub(crate) fn new(policy: &'static str) -> Self {
        Self {
            policy,
            all: Vec::new(),
            counts: BTreeMap::new(),
        }
    }

    /// Adds a finding and names it.
    pub(crate) fn push(&mut self, finding: Finding) {
        let Finding { weight, mut blocker } = finding;
        blocker.policy = self.policy;
        let moment = match blocker.state {
            Moment::Before => "before",
            Moment::After => "after",
            Moment::Transition => "transition",
        };
        blocker.id = format!("{}/{}/{}@{moment}", self.policy, blocker.rule, blocker.subject);
        let count = self.counts.entry(blocker.id.clone()).or_default();
        if *count > 0 {
            blocker.id = format!("{}#{count}", blocker.id);
        }
        *count += 1;
        self.all.push((weight, blocker));
    }

    pub(crate) fn into_all(self) -> Vec<(Weight, Blocker)> {
        self.all
    }
}
