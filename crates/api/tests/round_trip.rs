//! Every kind reads what its own schema allows and writes it back: nothing is lost, nothing is made up, and a second
//! trip changes nothing more.

use hyperplane_api::{KINDS, crd, resource::KindDefinition, schema::FeatureSet};
use proptest::{
    prop_assert,
    test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner},
};
use serde_json::Value;

use crate::support::{
    generate::{self, Documents},
    structural::{self, difference::differences},
};

/// Small documents per kind and schema.
const SMALL_CASES: u32 = 48;

/// Documents with every field, per kind and schema; each reaches every path that it can.
const FULL_CASES: u32 = 12;

#[test]
fn small_documents_survive() {
    for_each_schema(SMALL_CASES, generate::document, check_round_trip);
}

#[test]
fn documents_with_every_field_survive() {
    for_each_schema(FULL_CASES, generate::full_document, check_round_trip);
}

#[test]
fn generated_documents_are_valid_and_known() {
    for_each_schema(FULL_CASES, generate::document, check_generated);
    for_each_schema(FULL_CASES, generate::full_document, check_generated);
}

/// What is checked of each document, given its kind and schema.
type Check = fn(&KindDefinition, &Value, &Value) -> Result<(), TestCaseError>;

/// The document as an API server would hand it out, through the Rust type, and back.
fn check_round_trip(kind: &KindDefinition, schema: &Value, generated: &Value) -> Result<(), TestCaseError> {
    let name = kind.kind;
    let document = structural::default(schema, generated);
    let written = (kind.round_trip)(&document)
        .map_err(|error| TestCaseError::fail(format!("{name} does not read {document:#}: {error}")))?;
    let changes = differences(schema, &document, &written);
    prop_assert!(changes.is_empty(), "{name} changes {changes:#?} of {document:#}");
    let known = structural::prune(schema, &written);
    prop_assert!(
        known == written,
        "{name} writes what its schema does not know: {written:#}"
    );
    // An object may be left with fewer fields than it must have when an empty list or map was all that it had.
    let mut violations = structural::validate(schema, &written);
    violations.retain(|(_, rule)| *rule != "minProperties");
    prop_assert!(
        violations.is_empty(),
        "{name} writes what its schema refuses: {violations:#?} in {written:#}"
    );
    let again = (kind.round_trip)(&written)
        .map_err(|error| TestCaseError::fail(format!("{name} does not read what it wrote: {error}")))?;
    prop_assert!(again == written, "{name} writes {written:#}, then {again:#}");
    Ok(())
}

fn check_generated(kind: &KindDefinition, schema: &Value, document: &Value) -> Result<(), TestCaseError> {
    let violations = structural::validate(schema, document);
    prop_assert!(violations.is_empty(), "{}: {violations:#?} in {document:#}", kind.kind);
    let known = structural::prune(schema, document);
    prop_assert!(known == *document, "{}: unknown fields in {document:#}", kind.kind);
    Ok(())
}

/// Runs a check on generated documents of every kind, once per schema that the feature sets tell apart.
fn for_each_schema(cases: u32, documents: Documents, check: Check) {
    for kind in KINDS.iter().map(|definition| definition()) {
        let mut seen = Vec::new();
        for features in FeatureSet::ALL
            .iter()
            .filter(|features| kind.gate.is_none_or(|gate| features.has(gate)))
        {
            let schema = schema_of(&kind, *features);
            if !seen.contains(&schema) {
                run(cases, &kind, &schema, documents, check);
                seen.push(schema);
            }
        }
    }
}

fn run(cases: u32, kind: &KindDefinition, schema: &Value, documents: Documents, check: Check) {
    let objects = generate::object(kind, schema, documents);
    // The same documents on every machine: a failure repeats by running the test again.
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    if let Err(failure) = runner.run(&objects, |document| check(kind, schema, &document)) {
        panic!("{}: {failure}", kind.kind);
    }
}

fn schema_of(kind: &KindDefinition, features: FeatureSet) -> Value {
    crd::definition(kind, features)["spec"]["versions"][0]["schema"]["openAPIV3Schema"].take()
}
