//! What one release writes, the one before reads and gives back.
//!
//! The schemas of a release are frozen under tests/compat. For the first release, the one before it is its own Default
//! feature set, and the newer one is everything.

use hyperplane_api::{KINDS, resource::KindDefinition, schema::FeatureSet};
use proptest::{
    prop_assert,
    test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner},
};
use serde_json::{Value, json};

use crate::support::{
    evolution::breaks,
    frozen::{self, Release},
    generate,
    structural::{self, difference::differences},
};

/// Documents per kind; small, because every kind is tried on every run.
const CASES: u32 = 64;

#[test]
fn the_frozen_schemas_of_this_release_are_what_the_code_gives() {
    let release = Release::current();
    for (features, frozen) in [
        (FeatureSet::Default, release.default),
        (FeatureSet::CustomNoUpgrade, release.custom),
    ] {
        let current = frozen::current(features);
        let names = |schemas: &frozen::Schemas| schemas.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&current), names(&frozen), "kinds of {features}");
        for (name, schema) in current {
            assert_eq!(
                schema, frozen[&name],
                "{name} changed in {features}: look at it, then `cargo xtask bless`"
            );
        }
    }
}

#[test]
fn no_schema_takes_back_what_a_release_has_given() {
    for release in frozen::releases() {
        for features in FeatureSet::ALL {
            check_evolution(&release.version, &release.default, *features);
        }
        check_evolution(&release.version, &release.custom, FeatureSet::CustomNoUpgrade);
    }
}

fn check_evolution(release: &str, frozen: &frozen::Schemas, features: FeatureSet) {
    let current = frozen::current(features);
    for (name, old) in frozen {
        let new = current
            .get(name)
            .unwrap_or_else(|| panic!("{name} of {release} is gone from {features}"));
        assert_eq!(
            breaks(old, new),
            Vec::<String>::new(),
            "{name} since {release} in {features}"
        );
    }
}

#[test]
fn a_patch_holds_what_is_new_gone_or_different_and_nothing_else() {
    let old = json!({"same": {"a": 1}, "list": ["x"], "changed": {"kept": 1, "gone": 2}, "retyped": {"a": 1}});
    let new = json!({"same": {"a": 1}, "list": ["x", "y"], "changed": {"kept": 1, "new": {"b": 3}}, "retyped": true});
    let patch = frozen::patch_between(&old, &new).unwrap();
    let expected = json!({"list": ["x", "y"], "changed": {"gone": null, "new": {"b": 3}}, "retyped": true});
    assert_eq!(patch, expected);
    assert_eq!(frozen::with_patch(old.clone(), &patch), new);
    let back = frozen::patch_between(&new, &old).unwrap();
    assert_eq!(frozen::with_patch(new, &back), old);
    assert_eq!(frozen::patch_between(&old, &old), None);
}

#[test]
fn evolution_finds_each_way_to_break_a_schema() {
    let old = json!({"type": "object", "required": ["a"], "properties": {
        "a": {"type": "string", "maxLength": 5, "enum": ["x", "y"]},
        "b": {"type": "array", "items": {"type": "integer", "minimum": 0}, "x-kubernetes-list-type": "set"},
    }});
    let cases: &[(&str, Value, &str)] = &[
        ("/properties/a", Value::Null, ".a: type was"),
        ("/properties/a/type", json!("integer"), ".a: type was"),
        ("/properties/a/maxLength", json!(4), ".a: maxLength is now 4"),
        ("/properties/a/enum", json!(["x"]), ".a no longer takes \"y\""),
        ("/required", json!(["a", "b"]), ".b is now required"),
        ("/properties/b/items/minimum", json!(1), ".b[]: minimum is now 1"),
        (
            "/properties/b/x-kubernetes-list-type",
            json!("atomic"),
            ".b: x-kubernetes-list-type was",
        ),
    ];
    for (pointer, change, expected) in cases {
        let mut new = old.clone();
        *new.pointer_mut(pointer).unwrap() = change.clone();
        let found = breaks(&old, &new);
        assert!(
            found.iter().any(|one| one.starts_with(expected)),
            "{pointer}: {found:?}"
        );
    }
    let mut grown = old.clone();
    grown["properties"]["c"] = json!({"type": "string"});
    grown["properties"]["a"]["enum"] = json!(["x", "y", "z"]);
    assert_eq!(breaks(&old, &grown), Vec::<String>::new());
}

/// What the newer release writes reaches the older one through the older schema, which drops what it does not know.
/// The rest is read, given back whole, and is as valid there as before, except for words that only the newer one knows.
#[test]
fn what_the_newer_release_writes_the_older_one_reads_and_gives_back() {
    let older = frozen::releases().remove(0).default;
    let newer = frozen::current(FeatureSet::CustomNoUpgrade);
    for kind in KINDS
        .iter()
        .map(|kind| kind())
        .filter(|kind| older.contains_key(&kind.name()))
    {
        let (old_schema, new_schema) = (&older[&kind.name()], &newer[&kind.name()]);
        let documents = generate::object(&kind, new_schema, generate::document);
        let mut runner = TestRunner::new_with_rng(
            Config {
                cases: CASES,
                failure_persistence: None,
                ..Config::default()
            },
            TestRng::deterministic_rng(RngAlgorithm::ChaCha),
        );
        if let Err(failure) = runner.run(&documents, |written| {
            reads_and_gives_back(&kind, old_schema, new_schema, &written)
        }) {
            panic!("{}: {failure}", kind.name());
        }
    }
}

fn reads_and_gives_back(
    kind: &KindDefinition,
    old_schema: &Value,
    new_schema: &Value,
    written: &Value,
) -> Result<(), TestCaseError> {
    let written = structural::default(new_schema, written);
    let stored = structural::default(old_schema, &structural::prune(old_schema, &written));
    let given_back = (kind.round_trip)(&stored).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let changes = differences(old_schema, &stored, &given_back);
    prop_assert!(changes.is_empty(), "changes {changes:#?} of {stored:#}");
    let refused: Vec<_> = structural::validate(old_schema, &stored)
        .into_iter()
        // A word of the newer release is read as unrecognised; an object may lose the fields that made it valid.
        .filter(|(_, rule)| !["enum", "minProperties"].contains(rule))
        .collect();
    prop_assert!(refused.is_empty(), "{refused:?} in {stored:#}");
    Ok(())
}
