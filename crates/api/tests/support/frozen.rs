//! The schemas of every release, as they were when it was made.

use std::{collections::BTreeMap, env, fs, path::PathBuf, sync::Once};

use hyperplane_api::{crd, schema::FeatureSet};
use serde_json::{Map, Value, json};

/// Root schemas by the name of their definition.
pub type Schemas = BTreeMap<String, Value>;

/// A release as it was when it was made.
pub struct Release {
    pub version: String,
    /// The Default feature set.
    pub default: Schemas,
    /// Everything.
    pub custom: Schemas,
}

/// Every frozen release, oldest first.
pub fn releases() -> Vec<Release> {
    BLESSED.call_once(bless);
    let names = fs::read_dir(directory())
        .expect("tests/compat is part of the crate")
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let mut versions: Vec<String> = names
        .filter_map(|name| Some(name.strip_suffix(".json")?.to_owned()))
        .filter(|version| !version.ends_with(GATED))
        .collect();
    versions.sort();
    assert!(!versions.is_empty(), "no release is frozen: run `cargo xtask bless`");
    versions.into_iter().map(Release::read).collect()
}

impl Release {
    /// The release that is being made.
    pub fn current() -> Self {
        BLESSED.call_once(bless);
        Self::read(env!("CARGO_PKG_VERSION").to_owned())
    }

    fn read(version: String) -> Self {
        let read = |suffix: &str| -> Value {
            let text = fs::read_to_string(file(&version, suffix)).unwrap();
            serde_json::from_str(&text).unwrap()
        };
        let default = read("");
        let custom = with_patch(default.clone(), &read(GATED));
        Self {
            default: hyperplane_objects::read(&default).unwrap(),
            custom: hyperplane_objects::read(&custom).unwrap(),
            version,
        }
    }
}

/// Ends the name of the file with what the set that has everything has beyond the Default set, as a merge patch: most
/// is in both, and would be frozen twice.
const GATED: &str = "-gated";

/// Tests run at the same time, and none may read what another is writing.
static BLESSED: Once = Once::new();

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/compat")
}

fn file(version: &str, suffix: &str) -> PathBuf {
    directory().join(format!("{version}{suffix}.json"))
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

/// Rewrites the files of the release that is being made, when asked; released ones stay as they are.
fn bless() {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one switch between checking and writing golden files"
    )]
    if env::var_os("HYPERPLANE_BLESS").is_some() {
        let [default, custom] =
            [FeatureSet::Default, FeatureSet::CustomNoUpgrade].map(|features| json!(current(features)));
        let gated = patch_between(&default, &custom).unwrap_or_else(|| json!({}));
        for (suffix, schemas) in [("", &default), (GATED, &gated)] {
            let text = serde_json::to_string_pretty(schemas).unwrap();
            fs::write(file(env!("CARGO_PKG_VERSION"), suffix), text + "\n").unwrap();
        }
    }
}

/// The merge patch (RFC 7386) that makes one document of another; none where they are equal. It cannot say null, which
/// no schema holds.
pub fn patch_between(old: &Value, new: &Value) -> Option<Value> {
    let (Value::Object(old), Value::Object(new)) = (old, new) else {
        return (old != new).then(|| new.clone());
    };
    let gone = old.keys().filter(|name| !new.contains_key(*name));
    let gone = gone.map(|name| (name.clone(), Value::Null));
    let changed = new.iter().filter_map(|(name, value)| {
        let patch = match old.get(name) {
            Some(older) => patch_between(older, value)?,
            None => value.clone(),
        };
        Some((name.clone(), patch))
    });
    let patch: Map<String, Value> = gone.chain(changed).collect();
    (!patch.is_empty()).then_some(Value::Object(patch))
}

/// A document with a merge patch.
pub fn with_patch(document: Value, patch: &Value) -> Value {
    let Value::Object(patch) = patch else {
        return patch.clone();
    };
    let mut fields = match document {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    for (name, change) in patch {
        let old = fields.remove(name).unwrap_or_default();
        if !change.is_null() {
            fields.insert(name.clone(), with_patch(old, change));
        }
    }
    Value::Object(fields)
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
