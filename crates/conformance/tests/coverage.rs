//! That rules and cases name each other, and that the tables hold what they promise. It needs no server.

use std::{collections::BTreeSet, fs, path::Path};

use hyperplane_conformance::{coverage::Rules, ignored::Ignored, suite::Suite, table::Case, transcript::Transcripts};

fn directory() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn suite() -> Suite {
    Suite::read(directory()).expect("the tables of this crate can be read")
}

#[test]
fn every_case_has_a_rule_and_every_rule_a_case() {
    let rules = Rules::read(&directory().join("rules.yaml")).unwrap();
    let faults = rules.faults(&suite().table);
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn every_case_is_recorded_and_nothing_else_is() {
    let suite = suite();
    let cases: BTreeSet<_> = suite.table.cases().map(|case| case.id.as_str()).collect();
    let recorded: BTreeSet<_> = suite.recorded().keys().copied().collect();
    let missing: Vec<_> = cases.symmetric_difference(&recorded).collect();
    assert!(missing.is_empty(), "record again with HYPERPLANE_BLESS=1: {missing:?}");
}

#[test]
fn every_step_expects_a_status_or_events() {
    let suite = suite();
    let silent: Vec<_> = suite.table.cases().filter(|case| has_silent_step(case)).collect();
    assert!(silent.is_empty(), "{silent:#?}");
}

fn has_silent_step(case: &Case) -> bool {
    case.steps.is_empty()
        || case
            .steps
            .iter()
            .any(|step| step.status.is_none() && step.events.is_none() && step.expect.is_none())
}

#[test]
fn the_name_of_a_case_is_the_name_of_a_namespace() {
    for case in suite().table.cases() {
        let is_label = case.id.len() <= 63
            && case
                .id
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        assert!(is_label, "{}", case.id);
    }
}

#[test]
fn the_name_of_a_transcript_occurs_once() {
    let transcripts = Transcripts::read(&directory().join("kubectl")).unwrap();
    let mut ids = BTreeSet::new();
    for transcript in transcripts.files.values().flatten() {
        assert!(ids.insert(&transcript.id), "{} occurs twice", transcript.id);
        assert!(!transcript.commands.is_empty(), "{} runs nothing", transcript.id);
    }
}

#[test]
fn every_entry_of_the_ignored_says_why() {
    let text = fs::read_to_string(directory().join("ignored.yaml")).unwrap();
    let ignored: Ignored = serde_saphyr::from_str(&text).unwrap();
    let headers = ignored.headers.iter().map(|it| &it.reason);
    let fields = ignored.fields.iter().map(|it| &it.reason);
    let texts = ignored.texts.iter().map(|it| &it.reason);
    let orders = ignored.orders.iter().map(|it| &it.reason);
    let reasons: Vec<_> = headers.chain(fields).chain(texts).chain(orders).collect();
    assert!(!reasons.is_empty());
    assert!(reasons.iter().all(|reason| reason.ends_with('.')), "{reasons:#?}");
}
