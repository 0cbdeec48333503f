//! The law: two API servers agree on a manifest, on create and on update. Accepted or refused; refused on the same
//! fields; when accepted, the same object with the same defaults, and the same fields dropped.
//!
//! Manifests are those of the rule tables, and of a directory where one is given, each as it is and changed at random
//! where its schema has a place to change. A seed makes the same case again. Before that, published definitions are
//! compared with ours, which needs no server and reaches every feature set.

mod case;
mod comparison;
mod corpus;
mod judgement;
mod mutation;
pub mod published;
mod values;

use std::fmt::Write as _;

use anyhow::{Result, bail, ensure};
use futures::{StreamExt as _, stream};
use hyperplane_api::{crd, schema::FeatureSet};
use kube::Client;
use serde_json::Value;

use self::{case::Case, comparison::Comparison, corpus::Corpus, judgement::Answer, published::Published};

/// How many cases are judged at once; two servers share the machine.
const CONCURRENCY: usize = 8;
/// How many disagreements are told.
const TOLD: usize = 25;
/// How often it is said how far it has come.
const PROGRESS: u64 = 1_000;

/// A server, and the definitions that it was given.
pub struct Side {
    pub name: &'static str,
    pub client: Client,
    pub definitions: Vec<Value>,
}

/// Compares what is published with ours in each feature set, before any server is asked: the servers have but one set.
pub fn compare(published: &Published) -> Result<()> {
    let mut text = String::new();
    for features in FeatureSet::ALL {
        let comparison = Comparison::of(&published.definitions(*features), &crd::definitions(*features));
        println!(
            "{features}: {} definitions with {} places, {} differences",
            comparison.definitions,
            comparison.places,
            comparison.differences.len()
        );
        for difference in comparison.differences {
            writeln!(text, "{features}: {difference}")?;
        }
    }
    ensure!(text.is_empty(), "the definitions differ\n{text}");
    Ok(())
}

/// Has both sides judge every manifest as it is, and as many changed ones as there are seeds. Manifests are changed by
/// the definitions of the first side, and are of its kinds. Fields that the second side alone has are left out.
pub async fn judge(
    theirs: &Side,
    ours: &Side,
    published: Option<&Published>,
    seeds: std::ops::Range<u64>,
) -> Result<()> {
    let corpus = Corpus::gather(&theirs.definitions, &ours.definitions, published)?;
    let plain = corpus.plain_cases();
    println!(
        "{} manifests as they are, seeds {} to {}",
        plain.len(),
        seeds.start,
        seeds.end
    );
    let count = plain.len() as u64 + (seeds.end - seeds.start);
    let cases = plain.into_iter().chain(seeds.map(|seed| corpus.case(seed)));
    let mut tally = Tally::default();
    let mut outcomes = stream::iter(cases)
        .map(|case| async move {
            let (left, right) = futures::join!(case.on(&theirs.client), case.on(&ours.client));
            (case, left, right)
        })
        .buffer_unordered(CONCURRENCY);
    while let Some((case, left, right)) = outcomes.next().await {
        tally.count(&case, &left?, &right?, [theirs.name, ours.name]);
        if tally.judged.is_multiple_of(PROGRESS) {
            println!(
                "{} of {count} judged, {} disagreements",
                tally.judged,
                tally.disagreements.len()
            );
        }
    }
    println!("{} judged, {} of them accepted", tally.judged, tally.accepted);
    tally.verdict()
}

#[derive(Default)]
struct Tally {
    judged: u64,
    accepted: u64,
    disagreements: Vec<String>,
}

impl Tally {
    fn count(&mut self, case: &Case, left: &Answer, right: &Answer, names: [&str; 2]) {
        self.judged += 1;
        self.accepted += u64::from(left.is_accepted());
        if let Some(difference) = left.difference(right, names) {
            self.disagreements.push(format!("{case}\n{difference}"));
        }
    }

    fn verdict(self) -> Result<()> {
        // A corpus that is always refused, or never, judges nothing.
        if self.accepted == 0 || self.accepted == self.judged {
            bail!(
                "{} of {} cases are accepted: they do not reach the rules",
                self.accepted,
                self.judged
            );
        }
        if self.disagreements.is_empty() {
            return Ok(());
        }
        let mut text = format!("{} disagreements\n", self.disagreements.len());
        for disagreement in self.disagreements.iter().take(TOLD) {
            writeln!(text, "{disagreement}")?;
        }
        bail!(text)
    }
}
