//! Every rule of our own schemas, judged here as the tables say that a real API server judges it: a manifest that holds
//! passes, one that breaks the rule is refused with the field named.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hyperplane_api::crd;
use hyperplane_api::schema::FeatureSet;
use hyperplane_schema::definition::{Compiled, Version};
use hyperplane_schema::{FieldError, definition};
use serde_json::{Map, Value};

/// The tables hold no fewer cases than this; a reader that finds none would prove nothing.
const LEAST_CASES: usize = 500;

#[test]
fn every_rule_holds_and_breaks_where_it_should() {
    let versions = versions();
    let mut failures = Vec::new();
    let mut count = 0;
    for (file, table) in tables() {
        let kind = format!("{} {}", text(&table, "apiVersion"), text(&table, "kind"));
        let version = &versions[&kind];
        for case in table["cases"].as_array().unwrap() {
            count += 1;
            if let Err(failure) = judge(version, &table, case) {
                failures.push(format!("{file}: {}: {failure}", text(case, "rule")));
            }
        }
    }
    assert!(count >= LEAST_CASES, "only {count} cases");
    assert!(
        failures.is_empty(),
        "{} of {count} fail:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

fn versions() -> BTreeMap<String, Version> {
    let version = |mut definition: Value| {
        definition::default(&mut definition);
        assert_eq!(definition::validate(&definition, None), []);
        let compiled = Compiled::new(&definition).unwrap();
        let version = compiled.versions[0].clone();
        (
            format!("{}/{} {}", compiled.group, version.name, compiled.kind),
            version,
        )
    };
    crd::definitions(FeatureSet::CustomNoUpgrade)
        .into_iter()
        .map(version)
        .collect()
}

/// Tables are ours and name their bases again and again.
fn options() -> serde_saphyr::Options {
    serde_saphyr::options! { budget: serde_saphyr::budget! { enforce_alias_anchor_ratio: false } }
}

fn tables() -> Vec<(String, Value)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testbed/tests/rules");
    let mut files: Vec<_> = fs::read_dir(directory).unwrap().map(Result::unwrap).collect();
    files.sort_by_key(fs::DirEntry::file_name);
    let read = |file: &fs::DirEntry| {
        let name = file.file_name().to_string_lossy().into_owned();
        let table = serde_saphyr::from_str_with_options(&fs::read_to_string(file.path()).unwrap(), options()).unwrap();
        (name, table)
    };
    files.iter().map(read).collect()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

fn judge(version: &Version, table: &Value, case: &Value) -> Result<(), String> {
    let mut given = table["bases"][text(case, "base")].clone();
    merge(&mut given, &case["given"]);
    given["apiVersion"] = table["apiVersion"].clone();
    given["kind"] = table["kind"].clone();
    if given["metadata"]["name"].is_null() {
        given["metadata"]["name"] = "example".into();
    }
    let when = text(case, "when");
    let old = (!matches!(when, "" | "create")).then(|| {
        let mut old = given.clone();
        admit(version, &mut old);
        old
    });
    let holds = submit(version, &given, &case["holds"], old.as_ref(), when);
    if !holds.is_empty() {
        return Err(format!("the manifest that holds is refused: {}", words(&holds)));
    }
    let breaks = submit(version, &given, &case["breaks"], old.as_ref(), when);
    if breaks.iter().any(|error| error.field == text(case, "field")) {
        return Ok(());
    }
    Err(format!("{} is not named: {:?}", text(case, "field"), words(&breaks)))
}

fn words(errors: &[FieldError]) -> String {
    errors.iter().map(FieldError::to_string).collect::<Vec<_>>().join("; ")
}

fn admit(version: &Version, object: &mut Value) {
    version.schema.prune(object);
    version.schema.default(object);
}

/// What a server says about a change. On creation the status does not count, an update keeps the old one, and a write to
/// the status keeps everything else.
fn submit(version: &Version, given: &Value, change: &Value, old: Option<&Value>, when: &str) -> Vec<FieldError> {
    let mut object = old.unwrap_or(given).clone();
    merge(&mut object, change);
    admit(version, &mut object);
    match old {
        _ if !version.has_status => {}
        None => {
            object.as_object_mut().unwrap().remove("status");
        }
        Some(old) if when == "status" => {
            let status = object.get("status").cloned();
            object = old.clone();
            let fields = object.as_object_mut().unwrap();
            match status {
                Some(status) => fields.insert("status".to_owned(), status),
                None => fields.remove("status"),
            };
        }
        Some(old) => {
            let fields = object.as_object_mut().unwrap();
            match old.get("status") {
                Some(status) => fields.insert("status".to_owned(), status.clone()),
                None => fields.remove("status"),
            };
        }
    }
    let mut errors = if when == "status" {
        version.schema.validate_status(&object, old)
    } else {
        version.schema.validate(&object, old)
    };
    version.schema.rules_after(&mut errors, &object, old);
    errors
}

fn merge(document: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        if !patch.is_null() {
            *document = patch.clone();
        }
        return;
    };
    if !document.is_object() {
        *document = Value::Object(Map::new());
    }
    let fields = document.as_object_mut().unwrap();
    for (name, change) in patch {
        if change.is_null() {
            fields.remove(name);
        } else {
            merge(fields.entry(name.clone()).or_insert(Value::Null), change);
        }
    }
}
