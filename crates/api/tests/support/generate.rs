//! Random documents that are valid under the structural part of a schema: types, required fields, enumerations,
//! bounds, formats, patterns, unique keys. Rules in CEL are not looked at.

pub mod pattern;

use std::collections::BTreeSet;

use hyperplane_api::resource::KindDefinition;
use proptest::{
    collection::{btree_map, vec},
    option,
    prelude::*,
    sample::select,
    strategy::Union,
    string::string_regex,
};
use regex::Regex;
use serde_json::{Map, Value, json};

use self::pattern::generable;
use super::structural::{identity, is_open, properties, required, size_bound};

/// How likely an optional field is there; low, so that documents stay small.
const PRESENCE: f64 = 0.3;

/// How many items a list, and entries a map, has at most beyond those that it must have.
const MAX_ITEMS: usize = 3;

/// How many characters a text has at most beyond those that it must have.
const MAX_EXTRA_CHARACTERS: usize = 8;

/// A way to make documents of a schema.
pub type Documents = fn(&Value) -> BoxedStrategy<Value>;

/// Small documents: optional fields are there or not.
pub fn document(schema: &Value) -> BoxedStrategy<Value> {
    Generator { is_full: false }.value(schema)
}

/// Documents with every field, and with an item in every list and map, so that a single one of them reaches every path
/// of the schema. Where the schema bounds how many fields may be there together, different ones hold different fields.
pub fn full_document(schema: &Value) -> BoxedStrategy<Value> {
    Generator { is_full: true }.value(schema)
}

/// Whole objects of a kind: documents of its schema with a spec, under the names that make them objects. Without a spec
/// some kinds pass an API server and still cannot be read.
pub fn object(kind: &KindDefinition, schema: &Value, documents: Documents) -> BoxedStrategy<Value> {
    let mut with_spec = schema.clone();
    with_spec["required"] = json!(["spec"]);
    let kind = kind.clone();
    documents(&with_spec)
        .prop_map(move |document| typed(&kind, document))
        .boxed()
}

/// The document under the names that make it an object of a kind.
pub fn typed(kind: &KindDefinition, mut document: Value) -> Value {
    document["apiVersion"] = format!("{}/{}", kind.group, kind.version).into();
    document["kind"] = kind.kind.into();
    document["metadata"] = json!({"name": "example", "labels": {"a": "b"}});
    document
}

#[derive(Clone, Copy)]
struct Generator {
    is_full: bool,
}

impl Generator {
    fn value(self, schema: &Value) -> BoxedStrategy<Value> {
        let present = self.present(schema);
        if schema.get("nullable") == Some(&Value::Bool(true)) && !self.is_full {
            prop_oneof![4 => present, 1 => Just(Value::Null)].boxed()
        } else {
            present
        }
    }

    fn present(self, schema: &Value) -> BoxedStrategy<Value> {
        if let Some(Value::Array(words)) = schema.get("enum") {
            return select(words.clone()).boxed();
        }
        if schema.get("x-kubernetes-int-or-string") == Some(&Value::Bool(true)) {
            return int_or_string(schema);
        }
        match schema.get("type").and_then(Value::as_str) {
            Some("string") => text(schema),
            Some("integer") => integer(schema),
            Some("number") => any::<i16>()
                .prop_map(|quarters| Value::from(f64::from(quarters) / 4.0))
                .boxed(),
            Some("boolean") => any::<bool>().prop_map(Value::from).boxed(),
            Some("array") => self.list(schema),
            Some("object") => self.object(schema),
            _ => anything(),
        }
    }

    fn list(self, schema: &Value) -> BoxedStrategy<Value> {
        let items = schema.get("items").map_or_else(anything, |items| self.value(items));
        let (least, most) = self.sizes(schema, "minItems", "maxItems");
        let schema = schema.clone();
        vec(items, least..=most)
            .prop_filter_map("items with the same key leave too few", move |items| {
                let items = distinct(&schema, items);
                (items.len() >= least).then_some(Value::Array(items))
            })
            .boxed()
    }

    /// How many items or entries there are, at least and at most.
    fn sizes(self, schema: &Value, least: &str, most: &str) -> (usize, usize) {
        let most = size_bound(schema, most).unwrap_or(usize::MAX);
        let least = size_bound(schema, least)
            .unwrap_or(0)
            .max(usize::from(self.is_full))
            .min(most);
        (least, most.min(least.max(MAX_ITEMS)))
    }

    fn object(self, schema: &Value) -> BoxedStrategy<Value> {
        match schema.get("additionalProperties") {
            Some(entries) if entries.is_object() && schema.get("properties").is_none() => self.map(schema, entries),
            _ => self.fields(schema),
        }
    }

    fn map(self, schema: &Value, entries: &Value) -> BoxedStrategy<Value> {
        let (least, most) = self.sizes(schema, "minProperties", "maxProperties");
        btree_map(regex_text("[a-z][a-z0-9]{0,5}"), self.value(entries), least..=most)
            .prop_map(|entries| Value::Object(entries.into_iter().collect()))
            .boxed()
    }

    fn fields(self, schema: &Value) -> BoxedStrategy<Value> {
        let required: BTreeSet<&str> = required(schema).collect();
        let fields: Vec<Field> = properties(schema)
            .map(|(name, field)| Field {
                name: name.clone(),
                is_required: required.contains(name.as_str()),
                values: self.value(field),
            })
            .collect();
        let most = size_bound(schema, "maxProperties").unwrap_or(usize::MAX);
        let choices = forced_choices(
            &fields,
            size_bound(schema, "minProperties").unwrap_or(0),
            most,
            self.is_full,
        );
        let documents = Union::new(choices.iter().map(|forced| self.some_fields(&fields, forced, most)));
        if is_open(schema) {
            with_extras(documents.boxed(), fields)
        } else {
            documents.prop_map(Value::Object).boxed()
        }
    }

    /// The required and the forced fields, and some of the others as long as they are not too many.
    fn some_fields(
        self,
        fields: &[Field],
        forced: &BTreeSet<String>,
        most: usize,
    ) -> BoxedStrategy<Map<String, Value>> {
        let kept: BTreeSet<String> = fields
            .iter()
            .filter(|field| field.is_required)
            .map(|field| field.name.clone())
            .chain(forced.clone())
            .collect();
        let parts: Vec<_> = fields
            .iter()
            .map(|field| {
                let name = field.name.clone();
                let named = field.values.clone().prop_map(move |value| (name.clone(), value));
                if self.is_full || kept.contains(&field.name) {
                    named.prop_map(Some).boxed()
                } else {
                    option::weighted(PRESENCE, named).boxed()
                }
            })
            .collect();
        parts
            .prop_map(move |parts| {
                let (mut document, others): (Map<_, _>, Vec<_>) = split(parts.into_iter().flatten(), &kept);
                let room = most.saturating_sub(document.len());
                document.extend(others.into_iter().take(room));
                document
            })
            .boxed()
    }
}

struct Field {
    name: String,
    is_required: bool,
    values: BoxedStrategy<Value>,
}

type Entries = Vec<(String, Value)>;

fn split(parts: impl Iterator<Item = (String, Value)>, kept: &BTreeSet<String>) -> (Map<String, Value>, Entries) {
    let (kept, others): (Entries, Entries) = parts.partition(|(name, _)| kept.contains(name));
    (kept.into_iter().collect(), others)
}

/// Which optional fields must be there so that there are enough: every run of neighbours that suffices is one choice.
/// Where not all fields fit into a full document, a run is as long as fits, so that each field is in one.
fn forced_choices(fields: &[Field], least: usize, most: usize, is_full: bool) -> Vec<BTreeSet<String>> {
    let optional: Vec<&str> = fields
        .iter()
        .filter(|field| !field.is_required)
        .map(|field| field.name.as_str())
        .collect();
    let others = fields.len() - optional.len();
    let fits = optional.len().min(most.saturating_sub(others));
    let missing = if is_full {
        fits
    } else {
        least.saturating_sub(others).min(fits)
    };
    if missing == 0 || missing == optional.len() {
        return vec![optional.iter().take(missing).map(|name| (*name).to_owned()).collect()];
    }
    (0..optional.len())
        .map(|start| {
            optional
                .iter()
                .cycle()
                .skip(start)
                .take(missing)
                .map(|name| (*name).to_owned())
                .collect()
        })
        .collect()
}

/// Fields that the schema does not name, beside those that it does.
fn with_extras(documents: BoxedStrategy<Map<String, Value>>, fields: Vec<Field>) -> BoxedStrategy<Value> {
    let known: BTreeSet<String> = fields.into_iter().map(|field| field.name).collect();
    let extras = btree_map(regex_text("extra[A-Z][a-z]{1,3}"), anything(), 0..=2);
    (documents, extras)
        .prop_map(move |(mut document, extras)| {
            document.extend(extras.into_iter().filter(|(name, _)| !known.contains(name)));
            Value::Object(document)
        })
        .boxed()
}

fn distinct(schema: &Value, items: Vec<Value>) -> Vec<Value> {
    let mut seen = Vec::new();
    items
        .into_iter()
        .filter(|item| match identity(schema, item) {
            Some(identity) if seen.contains(&identity) => false,
            Some(identity) => {
                seen.push(identity);
                true
            }
            None => true,
        })
        .collect()
}

/// Any small value, for what the schema leaves open.
fn anything() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        plain_text(0, usize::MAX).prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 6, 2, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..=2).prop_map(Value::Array),
            btree_map(regex_text("[a-z]{1,4}"), inner, 0..=2)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
    .boxed()
}

/// Mostly small numbers, and sometimes the ends of what is allowed. Without a format they fit into 32 bits, which is
/// what an `int` of any program holds.
fn integer(schema: &Value) -> BoxedStrategy<Value> {
    let is_long = schema.get("format").and_then(Value::as_str) == Some("int64");
    let (lowest, highest) = if is_long {
        (i64::MIN, i64::MAX)
    } else {
        (i32::MIN.into(), i32::MAX.into())
    };
    let least = schema.get("minimum").and_then(Value::as_i64).unwrap_or(lowest);
    let most = schema.get("maximum").and_then(Value::as_i64).unwrap_or(highest);
    let near = (-5).clamp(least, most)..=1000.clamp(least, most);
    prop_oneof![8 => near, 1 => Just(least), 1 => Just(most)]
        .prop_map(Value::from)
        .boxed()
}

fn int_or_string(schema: &Value) -> BoxedStrategy<Value> {
    let text = match schema.get("pattern").and_then(Value::as_str) {
        Some(pattern) => patterned(pattern, 0, usize::MAX),
        None => regex_text("[0-9]{1,3}%"),
    };
    prop_oneof![(-5..1000_i32).prop_map(Value::from), text.prop_map(Value::from)].boxed()
}

fn text(schema: &Value) -> BoxedStrategy<Value> {
    let least = size_bound(schema, "minLength").unwrap_or(0);
    let most = size_bound(schema, "maxLength").unwrap_or(usize::MAX);
    let texts = match (
        schema.get("format").and_then(Value::as_str),
        schema.get("pattern").and_then(Value::as_str),
    ) {
        (Some("date-time"), _) => moment(),
        (Some("uuid"), _) => regex_text("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
        (Some("uri"), _) => regex_text("https://[a-z]{1,8}\\.example\\.com(/[a-z]{1,4}){0,2}"),
        (_, Some(pattern)) => patterned(pattern, least, most),
        _ => plain_text(least, most),
    };
    texts.prop_map(Value::from).boxed()
}

/// Whole seconds in UTC, which is how Kubernetes writes a time.
fn moment() -> BoxedStrategy<String> {
    (0..4_000_000_000_i64)
        .prop_map(|second| {
            jiff::Timestamp::from_second(second)
                .expect("within the years of a timestamp")
                .to_string()
        })
        .boxed()
}

fn plain_text(least: usize, most: usize) -> BoxedStrategy<String> {
    let most = most.min(least + MAX_EXTRA_CHARACTERS);
    regex_text(&format!("[ -~é漢]{{{least},{most}}}"))
}

/// Texts that match a pattern and have a length. Where no generator can be made of the pattern, one of a few texts
/// that patterns are often about has to do.
fn patterned(pattern: &str, least: usize, most: usize) -> BoxedStrategy<String> {
    const USUAL: &[&str] = &[
        "a",
        "1",
        "a1",
        "name",
        "example.com",
        "10.0.0.0/16",
        "https://example.com",
        "1Gi",
        "10m",
    ];
    let matcher = Regex::new(pattern).expect("a pattern of a schema is a regular expression");
    let fits = move |text: &str| (least..=most).contains(&text.chars().count()) && matcher.is_match(text);
    if let Ok(texts) = string_regex(&generable(pattern, least)) {
        return texts
            .prop_filter("text breaks its bounds", move |text| fits(text))
            .boxed();
    }
    let usual: Vec<&str> = USUAL.iter().copied().filter(|text| fits(text)).collect();
    assert!(!usual.is_empty(), "add a text to USUAL that matches {pattern}");
    select(usual).prop_map(str::to_owned).boxed()
}

fn regex_text(pattern: &str) -> BoxedStrategy<String> {
    string_regex(pattern)
        .expect("the pattern is a literal without anchors")
        .boxed()
}
