//! An object as it is stored: its JSON, with a hole where the resourceVersion goes, and the few facts about it that
//! lists, watches and garbage collection ask for without parsing. Knows nothing of kinds.
//!
//! The JSON always begins `{"apiVersion":"…","kind":"…","metadata":{"resourceVersion":"`, so that a revision can be
//! written into it, and the type left out of it, by copying bytes.

use std::{borrow::Cow, io::Write as _, sync::Arc};

use hyperplane_store::{DecodeError, Key, Payload, Revision};
use serde::Deserialize;
use serde_json::{Map, Value};

const METADATA: &[u8] = br#""metadata":{"resourceVersion":""#;

/// A stored object. Copies share their bytes: thousands of servers in one process begin with the same objects.
#[derive(Clone, Debug)]
pub struct Object(Arc<Stored>);

#[derive(Debug)]
struct Stored {
    json: Box<[u8]>,
    /// Where `"metadata"` begins: after the braces and the type.
    head: u32,
    facts: Facts,
}

/// What lists, watches and garbage collection ask of every object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The identity over time.
    pub uid: Box<str>,
    /// For selectors; sorted by key.
    pub labels: Box<[(Box<str>, Box<str>)]>,
    /// On whom it depends.
    pub owners: Box<[Owner]>,
    /// Whether it is on its way out.
    pub is_deleting: bool,
    /// What must happen before it goes.
    pub finalizers: Box<[Box<str>]>,
}

/// A reference to an owner.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
pub struct Owner {
    /// The type of the owner.
    pub api_version: Box<str>,
    /// The kind of the owner.
    pub kind: Box<str>,
    /// The name of the owner.
    pub name: Box<str>,
    /// The identity of the owner, which alone counts.
    pub uid: Box<str>,
    /// Whether a foreground deletion of the owner waits for this object.
    pub block_owner_deletion: bool,
}

impl Facts {
    /// The value of a label.
    pub fn label(&self, key: &str) -> Option<&str> {
        let index = self.labels.binary_search_by(|(known, _)| (**known).cmp(key)).ok()?;
        Some(&self.labels[index].1)
    }
}

impl Object {
    /// An object to store. Its resourceVersion is left out: the store decides it.
    ///
    /// # Panics
    ///
    /// If the type of the object alone has four gigabytes, which no body has.
    pub fn new(value: &Value) -> Self {
        let empty = Map::new();
        let object = value.as_object().unwrap_or(&empty);
        let metadata = object.get("metadata").and_then(Value::as_object).unwrap_or(&empty);
        let mut json = Vec::with_capacity(512);
        json.push(b'{');
        write_member(
            &mut json,
            "apiVersion",
            object.get("apiVersion").unwrap_or(&Value::Null),
        );
        json.push(b',');
        write_member(&mut json, "kind", object.get("kind").unwrap_or(&Value::Null));
        json.push(b',');
        let head = u32::try_from(json.len()).expect("a type is shorter than four gigabytes");
        json.extend_from_slice(METADATA);
        json.push(b'"');
        write_rest(&mut json, metadata, &["resourceVersion"]);
        json.push(b'}');
        write_rest(&mut json, object, &["apiVersion", "kind", "metadata"]);
        json.push(b'}');
        Self(Arc::new(Stored {
            json: json.into_boxed_slice(),
            head,
            facts: Facts::of(metadata),
        }))
    }

    /// What is asked without parsing.
    pub fn facts(&self) -> &Facts {
        &self.0.facts
    }

    /// The object as a value, with its resourceVersion.
    ///
    /// # Panics
    ///
    /// Never: what is stored was written as JSON, or read as such when the store was opened.
    pub fn value(&self, revision: Revision) -> Value {
        let mut value: Value = serde_json::from_slice(&self.0.json).expect("what is stored was written as JSON");
        value["metadata"]["resourceVersion"] = Value::String(revision.to_string());
        value
    }

    /// Appends the object as JSON, with its resourceVersion.
    pub fn write(&self, revision: Revision, out: &mut Vec<u8>) {
        self.write_from(0, revision, out);
    }

    /// Appends the object without its type, as an item of a typed list.
    pub fn write_untyped(&self, revision: Revision, out: &mut Vec<u8>) {
        out.push(b'{');
        self.write_from(self.0.head as usize, revision, out);
    }

    fn write_from(&self, start: usize, revision: Revision, out: &mut Vec<u8>) {
        let hole = self.0.head as usize + METADATA.len();
        out.extend_from_slice(&self.0.json[start..hole]);
        write!(out, "{revision}").expect("writing to memory succeeds");
        out.extend_from_slice(&self.0.json[hole..]);
    }

    /// The JSON without a resourceVersion, for those who look for single fields.
    pub fn json(&self) -> &[u8] {
        &self.0.json
    }

    /// The `apiVersion` in which it is stored.
    pub fn api_version(&self) -> &str {
        let rest = &self.0.json[br#"{"apiVersion":""#.len()..];
        let end = rest.iter().position(|byte| *byte == b'"').unwrap_or_default();
        std::str::from_utf8(&rest[..end]).unwrap_or_default()
    }

    /// Whether two objects are the same but for their resourceVersion.
    pub fn is_same(&self, other: &Self) -> bool {
        self.0.json == other.0.json
    }

    /// How many bytes it has as JSON.
    pub(crate) fn size(&self) -> usize {
        self.0.json.len()
    }
}

impl Payload for Object {
    fn encode(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.0.json)
    }

    fn decode(_: &Key, bytes: &[u8]) -> Result<Self, DecodeError> {
        let head = find(bytes, METADATA).ok_or_else(|| DecodeError::new("the object has no metadata"))?;
        let partial: Partial = serde_json::from_slice(bytes).map_err(|error| DecodeError::new(error.to_string()))?;
        Ok(Self(Arc::new(Stored {
            json: bytes.into(),
            head: u32::try_from(head).map_err(|_| DecodeError::new("the type is too long"))?,
            facts: partial.metadata.into_facts(),
        })))
    }

    fn weight(&self) -> usize {
        self.0.json.len()
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

fn write_member(out: &mut Vec<u8>, key: &str, value: &Value) {
    serde_json::to_writer(&mut *out, key).expect("a string becomes JSON");
    out.push(b':');
    serde_json::to_writer(out, value).expect("a value becomes JSON");
}

/// Writes the members that are not in `done`, each with a comma before it.
fn write_rest(out: &mut Vec<u8>, members: &Map<String, Value>, done: &[&str]) {
    for (key, value) in members {
        if !done.contains(&key.as_str()) {
            out.push(b',');
            write_member(out, key, value);
        }
    }
}

impl Facts {
    /// The facts in an object's metadata.
    pub fn of(metadata: &Map<String, Value>) -> Self {
        let text = |key: &str| metadata.get(key).and_then(Value::as_str).unwrap_or_default().into();
        let labels = metadata.get("labels").and_then(Value::as_object);
        let owners = metadata.get("ownerReferences").and_then(Value::as_array);
        let finalizers = metadata.get("finalizers").and_then(Value::as_array);
        Self {
            uid: text("uid"),
            labels: labels
                .into_iter()
                .flatten()
                .map(|(key, value)| (key.as_str().into(), value.as_str().unwrap_or_default().into()))
                .collect(),
            owners: owners
                .into_iter()
                .flatten()
                .map(|owner| Owner::deserialize(owner).unwrap_or_default())
                .collect(),
            is_deleting: metadata.get("deletionTimestamp").is_some_and(|time| !time.is_null()),
            finalizers: finalizers
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(Into::into)
                .collect(),
        }
    }
}

/// The part of an object that recovery reads.
#[derive(Deserialize)]
struct Partial {
    metadata: PartialMetadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct PartialMetadata {
    uid: Box<str>,
    labels: Option<std::collections::BTreeMap<Box<str>, Option<Box<str>>>>,
    owner_references: Option<Vec<Owner>>,
    deletion_timestamp: Option<serde::de::IgnoredAny>,
    finalizers: Option<Vec<Box<str>>>,
}

impl PartialMetadata {
    fn into_facts(self) -> Facts {
        let labels = self.labels.unwrap_or_default().into_iter();
        Facts {
            uid: self.uid,
            labels: labels.map(|(key, value)| (key, value.unwrap_or_default())).collect(),
            owners: self.owner_references.unwrap_or_default().into(),
            is_deleting: self.deletion_timestamp.is_some(),
            finalizers: self.finalizers.unwrap_or_default().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn widget() -> Value {
        json!({
            "apiVersion": "x.test/v1", "kind": "Widget",
            "metadata": {
                "name": "a", "uid": "u", "resourceVersion": "9", "labels": {"b": "2", "a": "1"},
                "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "o", "blockOwnerDeletion": true}],
                "finalizers": ["f"], "deletionTimestamp": "2026-01-01T00:00:00Z",
            },
            "spec": {"metadata": {"resourceVersion": ""}},
        })
    }

    #[test]
    fn a_revision_is_written_into_the_bytes() {
        let object = Object::new(&widget());
        let mut out = Vec::new();
        object.write(Revision(41), &mut out);
        let mut expected = widget();
        expected["metadata"]["resourceVersion"] = json!("41");
        assert_eq!(serde_json::from_slice::<Value>(&out).unwrap(), expected);
        assert_eq!(object.value(Revision(41)), expected);
    }

    #[test]
    fn items_of_typed_lists_have_no_type() {
        let mut out = Vec::new();
        Object::new(&widget()).write_untyped(Revision(41), &mut out);
        let mut expected = widget();
        expected["metadata"]["resourceVersion"] = json!("41");
        expected.as_object_mut().unwrap().remove("apiVersion");
        expected.as_object_mut().unwrap().remove("kind");
        assert_eq!(serde_json::from_slice::<Value>(&out).unwrap(), expected);
    }

    #[test]
    fn facts_survive_recovery() {
        let object = Object::new(&widget());
        let recovered = Object::decode(&Key::new("widgets", "", "a"), &object.encode()).unwrap();
        assert_eq!(recovered.facts(), object.facts());
        assert_eq!(recovered.json(), object.json());
        assert_eq!(recovered.0.head, object.0.head);
        assert_eq!(recovered.facts().label("b"), Some("2"));
        assert_eq!(recovered.facts().label("c"), None);
        assert_eq!(recovered.api_version(), "x.test/v1");
        assert!(recovered.facts().is_deleting);
    }

    proptest! {
        #[test]
        fn any_metadata_recovers_as_it_was_stored(name in ".*", labels in proptest::collection::btree_map(".*", ".*", 0..5)) {
            let object = Object::new(&json!({
                "apiVersion": "v1", "kind": "K", "metadata": {"name": name, "uid": "u", "labels": labels},
            }));
            let recovered = Object::decode(&Key::new("k", "", "a"), &object.encode()).unwrap();
            prop_assert_eq!(recovered.facts(), object.facts());
            prop_assert_eq!(recovered.value(Revision(1)), object.value(Revision(1)));
        }
    }
}
