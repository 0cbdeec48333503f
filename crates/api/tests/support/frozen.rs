//! The schemas of every release, as they were when it was made.

use std::{collections::BTreeMap, env, fs, path::PathBuf};

use hyperplane_api::{crd, schema::FeatureSet};
use serde_json::Value;

/// Root schemas by the name of their definition.
pub type Schemas = BTreeMap<String, Value>;

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/compat")
}

/// Every frozen release, oldest first.
pub fn releases() -> Vec<(String, Schemas)> {
    let mut names: Vec<String> = fs::read_dir(directory())
        .expect("tests/compat is part of the crate")
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert!(!names.is_empty(), "no release is frozen: run `cargo xtask bless`");
    names
        .into_iter()
        .map(|name| {
            let text = fs::read_to_string(directory().join(&name)).unwrap();
            (name, serde_json::from_str(&text).unwrap())
        })
        .collect()
}

/// What this code gives: the schemas of a feature set without the words for people.
pub fn current(features: FeatureSet) -> Schemas {
    crd::definitions(features)
        .into_iter()
        .map(|mut definition| {
            let name = definition["metadata"]["name"].as_str().unwrap().to_owned();
            let mut schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"].take();
            strip_words(&mut schema);
            (name, schema)
        })
        .collect()
}

/// The file of the release that is being made.
pub fn current_file() -> PathBuf {
    directory().join(format!("{}.json", env!("CARGO_PKG_VERSION")))
}

/// Rewrites the file of the release that is being made, when asked; released ones stay as they are.
pub fn bless() {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one switch between checking and writing golden files"
    )]
    if env::var_os("HYPERPLANE_BLESS").is_some() {
        let text = serde_json::to_string_pretty(&current(FeatureSet::Default)).unwrap();
        fs::write(current_file(), text + "\n").unwrap();
    }
}

fn strip_words(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    object.remove("description");
    for rule in object
        .get_mut("x-kubernetes-validations")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        rule.as_object_mut().unwrap().remove("message");
    }
    for field in object
        .get_mut("properties")
        .and_then(Value::as_object_mut)
        .into_iter()
        .flatten()
    {
        strip_words(field.1);
    }
    for child in ["items", "additionalProperties"] {
        if let Some(child) = object.get_mut(child) {
            strip_words(child);
        }
    }
}
