//! A reason why something must not be, or must wait: the one type in which every policy speaks.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

/// What a finding is about: the state as it is, the state as it would be, or the way between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Moment {
    /// The state that was given.
    Before,
    /// The state that is asked for.
    After,
    /// The move from the one to the other.
    Transition,
}

/// How a finding counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// The policy forbids it.
    Violation,
    /// The policy advises against it, or sources disagree about it.
    Warning,
    /// The policy cannot tell: something is missing. Never a pass.
    Unknown,
}

/// A policy that judges the same thing otherwise.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Disagreement {
    /// Whose word it is.
    pub policy: &'static str,
    /// What it says.
    pub verdict: String,
    /// Where it says so.
    pub source: &'static str,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Blocker {
    /// Names the finding among all others; the same finding has the same name on every run.
    pub id: String,
    /// The policy that speaks.
    pub policy: &'static str,
    /// The rule, as docs/rules.md lists it.
    pub rule: &'static str,
    /// Other rules that say the same.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub also: &'static [&'static str],
    /// One word for it.
    pub reason: &'static str,
    /// What it is about.
    pub subject: String,
    /// When it is so.
    pub state: Moment,
    /// What is wrong, in a sentence.
    pub message: String,
    /// The facts that say so.
    pub evidence: BTreeMap<&'static str, Value>,
    /// What to do about it.
    pub remedy: String,
    /// Policies that judge it otherwise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disagreements: Vec<Disagreement>,
    /// Whether the system that the rule comes from lets an administrator insist.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_skippable: bool,
}

impl Blocker {
    /// Whether another finding says the same rule of the same subject at the same moment.
    pub(crate) fn is_about_the_same(&self, other: &Self) -> bool {
        (self.rule, &self.subject, self.state) == (other.rule, &other.subject, other.state)
    }
}

/// All that was found, sorted into what forbids, what warns and what is not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Whether nothing forbids it and nothing is missing.
    pub ok: bool,
    /// Which policies judged.
    pub policies: Vec<&'static str>,
    /// What forbids it.
    pub violations: Vec<Blocker>,
    /// What speaks against it.
    pub warnings: Vec<Blocker>,
    /// What could not be judged.
    pub unknown: Vec<Blocker>,
}
