//! What the story claims. Each claim is a sentence, a word on how it is checked, and a judge: a pure function of what was
//! read from the API for this purpose, at the moment that the claim is about, and of what watches saw on the way. What the
//! story itself wanted or waited for is no evidence. What was not read is never a pass.

mod control_plane;
mod nodes;
mod refusal;
mod rest;
#[cfg(test)]
pub(crate) mod testing;

use std::collections::BTreeMap;

use serde::Serialize;

pub(crate) use self::rest::{Rest, Revisions};
use crate::{picture::Picture, plan::Plan, record::Record, story::StepId};

/// A claim.
pub(crate) struct Claim {
    /// Names it, the same on every run.
    pub(crate) id: &'static str,
    /// What is claimed.
    pub(crate) sentence: fn(&Plan) -> String,
    /// Which objects and fields are looked at, and how they are compared.
    pub(crate) how: fn(&Plan) -> String,
    /// Whether it holds.
    pub(crate) judge: fn(&Evidence<'_>) -> Verdict,
}

/// All claims, in the order in which they are told.
pub(crate) fn all() -> impl Iterator<Item = &'static Claim> {
    [control_plane::CLAIMS, nodes::CLAIMS, refusal::CLAIMS, rest::CLAIMS]
        .into_iter()
        .flatten()
}

/// What claims are judged by.
pub(crate) struct Evidence<'a> {
    pub(crate) plan: &'a Plan,
    /// What was read from the API at the end of each step.
    pub(crate) pictures: &'a BTreeMap<StepId, Picture>,
    /// What watches saw.
    pub(crate) record: &'a Record,
    /// Whether anything was written when nothing was to do; nothing if that was not looked at.
    pub(crate) rest: Option<&'a Rest>,
}

impl Evidence<'_> {
    /// What was read at the end of a step.
    fn after(&self, step: StepId) -> Result<&Picture, String> {
        let missing = || "nothing was read at that moment: the story did not get so far".to_owned();
        self.pictures.get(&step).ok_or_else(missing)
    }

    /// What was read at the very end.
    fn end(&self) -> Result<&Picture, String> {
        self.after(StepId::Rest)
    }
}

/// How a claim was judged: what speaks for it, or against it.
pub(crate) type Verdict = Result<String, String>;

/// What came of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClaimReport {
    /// Names it, the same on every run.
    pub id: &'static str,
    /// What was claimed.
    pub claim: String,
    /// Which objects and fields were looked at, and how they were compared.
    pub how: String,
    /// Whether it held.
    pub held: bool,
    /// What speaks for it, or against it.
    pub evidence: String,
}

/// Judges a claim.
pub(crate) fn judge(claim: &Claim, evidence: &Evidence<'_>) -> ClaimReport {
    let verdict = (claim.judge)(evidence);
    let held = verdict.is_ok();
    ClaimReport {
        id: claim.id,
        claim: (claim.sentence)(evidence.plan),
        how: (claim.how)(evidence.plan),
        held,
        evidence: verdict.unwrap_or_else(|against| against),
    }
}

/// Holds, with what speaks for it, where nothing speaks against it.
fn unless(against: &[String], evidence: impl FnOnce() -> String) -> Verdict {
    if against.is_empty() {
        Ok(evidence())
    } else {
        Err(against.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{testing::whole, *};

    #[test]
    fn every_claim_holds_of_a_story_that_went_well() {
        let told = whole();
        for claim in all() {
            let report = judge(claim, &told.evidence());
            assert!(report.held && !report.evidence.is_empty(), "{report:?}");
        }
    }

    #[test]
    fn no_claim_holds_of_a_story_that_never_was() {
        let told = testing::Told::default();
        for claim in all() {
            let report = judge(claim, &told.evidence());
            assert!(!report.held && !report.evidence.is_empty(), "{report:?}");
        }
    }

    #[test]
    fn every_claim_is_documented() {
        let page = include_str!("../../../docs/demo.md");
        let rows = page.lines().filter(|line| line.starts_with("| `"));
        let documented: Vec<&str> = rows.filter_map(|line| line.split('`').nth(1)).collect();
        let ids: Vec<&str> = all().map(|claim| claim.id).collect();
        assert_eq!(documented, ids);
    }

    #[test]
    fn claims_are_told_apart() {
        let ids: BTreeSet<&str> = all().map(|claim| claim.id).collect();
        assert_eq!(ids.len(), all().count());
    }
}
