//! Holds definitions that somebody publishes against ours, place by place. It knows neither files nor servers.
//!
//! Words for people, messages and expressions of rules are everybody's own; all else has to be equal, but for what
//! docs/decisions/003 names.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// Kinds of other groups are nobody's concern here.
pub const GROUP: &str = "hypershift.openshift.io";
/// The fields that we add to kinds of others; what is below them is ours too.
const OURS: [(&str, &str); 2] = [
    ("hostedclusters.hypershift.openshift.io", ".spec.distributionVersion"),
    ("hostedcontrolplanes.hypershift.openshift.io", ".status.initialization"),
];
/// Keywords that are compared by themselves, or not at all.
const APART: [&str; 4] = ["description", "properties", "items", "additionalProperties"];

/// What came of comparing the definitions of a feature set.
#[derive(Debug, Default)]
pub struct Comparison {
    pub definitions: usize,
    /// How many places of schemas both sides have.
    pub places: usize,
    pub differences: Vec<String>,
}

impl Comparison {
    /// Compares the definitions of both sides that are of the group.
    pub fn of(theirs: &[Value], ours: &[Value]) -> Self {
        let (theirs, ours) = (by_name(theirs), by_name(ours));
        let mut comparison = Self::default();
        for name in union(&theirs, &ours) {
            match (theirs.get(name), ours.get(name)) {
                (Some(theirs), Some(ours)) => comparison.definition(name, &theirs["spec"], &ours["spec"]),
                (Some(_), None) => comparison.tell(name, "", "is missing in ours"),
                _ => comparison.tell(name, "", "is in ours alone"),
            }
        }
        comparison
    }

    fn definition(&mut self, name: &str, theirs: &Value, ours: &Value) {
        self.definitions += 1;
        self.same_but(&["versions"], name, "", theirs, ours);
        let (theirs, ours) = (versions(theirs), versions(ours));
        for version in union(&theirs, &ours) {
            let of = |side: &BTreeMap<String, Value>| side.get(version).cloned().unwrap_or_default();
            let (theirs, ours) = (of(&theirs), of(&ours));
            self.same_but(&["schema"], name, version, &theirs, &ours);
            let schema = |version: &Value| version["schema"]["openAPIV3Schema"].clone();
            self.schema(name, "", &schema(&theirs), &schema(&ours));
        }
    }

    fn schema(&mut self, name: &str, path: &str, theirs: &Value, ours: &Value) {
        self.places += 1;
        let (said, mut meant) = (keywords(ours), keywords(theirs));
        take_as_meant(&mut meant, theirs);
        for keyword in union(&meant, &said) {
            self.same(name, path, keyword, meant.get(keyword), said.get(keyword));
        }
        let fields = |schema: &Value| schema["properties"].as_object().cloned().unwrap_or_default();
        let (their_fields, our_fields) = (fields(theirs), fields(ours));
        let names: BTreeSet<&String> = their_fields.keys().chain(our_fields.keys()).collect();
        for field in names {
            let below = format!("{path}.{field}");
            self.below(name, &below, their_fields.get(field), our_fields.get(field));
        }
        for (child, mark) in [("items", "[]"), ("additionalProperties", "{}")] {
            let below = format!("{path}{mark}");
            self.below(name, &below, theirs.get(child), ours.get(child));
        }
    }

    fn below(&mut self, name: &str, path: &str, theirs: Option<&Value>, ours: Option<&Value>) {
        match (theirs, ours) {
            (Some(theirs @ Value::Object(_)), Some(ours @ Value::Object(_))) => self.schema(name, path, theirs, ours),
            (None, Some(_)) if OURS.contains(&(name, path)) => {}
            (Some(_), None) => self.tell(name, path, "is missing in ours"),
            (None, Some(_)) => self.tell(name, path, "is in ours alone"),
            // Whether a map takes anything is said by a boolean in place of a schema.
            (theirs, ours) => self.same(name, path, "schema", theirs, ours),
        }
    }

    fn same_but(&mut self, apart: &[&str], name: &str, path: &str, theirs: &Value, ours: &Value) {
        let fields = |value: &Value| -> BTreeMap<String, Value> {
            let fields = value.as_object().cloned().unwrap_or_default();
            fields
                .into_iter()
                .map(|(key, value)| (key, without_words(value)))
                .collect()
        };
        let (theirs, ours) = (fields(theirs), fields(ours));
        for key in union(&theirs, &ours).filter(|key| !apart.contains(&key.as_str())) {
            self.same(name, path, key, theirs.get(key), ours.get(key));
        }
    }

    fn same(&mut self, name: &str, path: &str, what: &str, theirs: Option<&Value>, ours: Option<&Value>) {
        if theirs != ours {
            let told = |value: Option<&Value>| value.map_or_else(|| "absent".to_owned(), Value::to_string);
            let difference = format!("{what} is {} in theirs, {} in ours", told(theirs), told(ours));
            self.tell(name, path, &difference);
        }
    }

    fn tell(&mut self, name: &str, path: &str, difference: &str) {
        let place = [name, path].into_iter().filter(|part| !part.is_empty());
        let place = place.collect::<Vec<_>>().join(" ");
        self.differences.push(format!("{place}: {difference}"));
    }
}

/// Takes the fields that our schema alone has out of a manifest. One that theirs alone has stays: a server of ours that
/// drops it has to be seen to.
pub fn take_out_ours(manifest: &mut Value, theirs: &Value, ours: &Value) {
    match manifest {
        Value::Object(fields) => {
            let (their_fields, our_fields) = (&theirs["properties"], &ours["properties"]);
            fields.retain(|name, _| our_fields[name].is_null() || !their_fields[name].is_null());
            for (name, value) in fields {
                take_out_ours(value, &their_fields[name], &our_fields[name]);
            }
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| take_out_ours(item, &theirs["items"], &ours["items"])),
        _ => {}
    }
}

/// Reads what they say as ours says it: a field with a default is required of nobody, because it is filled in first,
/// and a list is no hostname.
fn take_as_meant(keywords: &mut BTreeMap<String, Value>, schema: &Value) {
    if schema["type"] == "array" && schema["format"] == "hostname" {
        keywords.remove("format");
    }
    if let Some(Value::Array(names)) = keywords.get_mut("required") {
        let default = |name: &Value| &schema["properties"][name.as_str().unwrap_or_default()]["default"];
        names.retain(|name| default(name).is_null());
        if names.is_empty() {
            keywords.remove("required");
        }
    }
}

/// What a schema says of its own place, in an order that does not depend on who wrote it.
fn keywords(schema: &Value) -> BTreeMap<String, Value> {
    let fields = schema.as_object().into_iter().flatten();
    fields
        .filter(|(keyword, _)| !APART.contains(&keyword.as_str()))
        .map(|(keyword, value)| {
            let value = match keyword.as_str() {
                "required" | "enum" => sorted(value.as_array().into_iter().flatten().cloned()),
                "x-kubernetes-validations" => sorted(value.as_array().into_iter().flatten().map(outside)),
                _ => value.clone(),
            };
            (keyword.clone(), value)
        })
        .collect()
}

/// What a rule says to who is refused, without its words: as many rules as there are, each has a row.
fn outside(rule: &Value) -> Value {
    json!({"fieldPath": rule["fieldPath"], "reason": rule["reason"], "optionalOldSelf": rule["optionalOldSelf"]})
}

fn sorted(values: impl Iterator<Item = Value>) -> Value {
    let mut values: Vec<Value> = values.collect();
    values.sort_by_key(Value::to_string);
    values.into()
}

/// Printer columns without their descriptions; everything else as it is.
fn without_words(mut value: Value) -> Value {
    for column in value.as_array_mut().into_iter().flatten() {
        if let Some(column) = column.as_object_mut() {
            column.remove("description");
        }
    }
    value
}

fn by_name(definitions: &[Value]) -> BTreeMap<String, &Value> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    definitions
        .iter()
        .filter(|definition| text(&definition["spec"]["group"]).ends_with(GROUP))
        .map(|definition| (text(&definition["metadata"]["name"]), definition))
        .collect()
}

fn versions(spec: &Value) -> BTreeMap<String, Value> {
    let versions = spec["versions"].as_array().into_iter().flatten();
    versions
        .map(|version| (version["name"].as_str().unwrap_or_default().to_owned(), version.clone()))
        .collect()
}

fn union<'a, T>(left: &'a BTreeMap<String, T>, right: &'a BTreeMap<String, T>) -> impl Iterator<Item = &'a String> {
    let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    keys.into_iter()
}
