//! What is wrong with a cluster: one rule, one field, one remedy.

use std::fmt;

/// A rule that a cluster can break. Every rule is listed, so that a test can see that each has its cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rule {
    /// Its name, in lower case with dashes.
    pub name: &'static str,
    /// What it asks for, in a sentence.
    pub asks: &'static str,
}

/// A rule that is broken.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The name of the rule.
    pub rule: &'static str,
    /// The field that breaks it.
    pub field: String,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

impl Problem {
    /// A broken rule.
    pub fn new(rule: &Rule, field: impl Into<String>, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            rule: rule.name,
            field: field.into(),
            what: what.into(),
            remedy: remedy.into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}; {}", self.field, self.what, self.remedy)
    }
}
