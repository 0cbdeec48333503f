//! A change of one place in a manifest.

use rand::{RngExt as _, rngs::SmallRng, seq::IndexedRandom as _};
use serde_json::{Value, json};

use super::values::{self, Pool};

/// How often a place that is not filled yet is chosen before one that is.
const NEW: f64 = 0.3;

/// One step down into a document.
#[derive(Clone, Debug)]
enum Step {
    Field(String),
    Item(usize),
}

/// A place in a manifest that its schema knows.
struct Place<'a> {
    path: Vec<Step>,
    schema: &'a Value,
    value: Option<Value>,
}

/// A change of one place; without a value it is removed.
pub struct Mutation {
    path: Vec<Step>,
    value: Option<Value>,
}

impl Mutation {
    /// Chooses a place below a field of the root, and what becomes of it.
    pub fn choose(schema: &Value, manifest: &Value, root: &str, pool: &Pool, random: &mut SmallRng) -> Option<Self> {
        let mut places = Vec::new();
        let field = &schema["properties"][root];
        walk(
            field,
            manifest.get(root),
            vec![Step::Field(root.to_owned())],
            &mut places,
        );
        let is_new = random.random_bool(NEW);
        let (new, filled): (Vec<_>, Vec<_>) = places.iter().partition(|place| place.value.is_none());
        let preferred = if is_new && !new.is_empty() { new } else { filled };
        let place = preferred.choose(random)?;
        let value = match &place.value {
            None => Some(values::draw(name(&place.path), place.schema, pool, random)),
            Some(value) => changed(value, place, pool, random),
        };
        Some(Self {
            path: place.path.clone(),
            value,
        })
    }

    /// Makes the change, and tells it.
    pub fn apply(self, manifest: &mut Value) -> String {
        let mut told = String::new();
        let mut at = manifest;
        let (last, above) = self.path.split_last().expect("a place is below the root");
        for step in above {
            match step {
                Step::Field(name) => {
                    told = format!("{told}.{name}");
                    at = &mut at[name.as_str()];
                }
                Step::Item(index) => {
                    told = format!("{told}[{index}]");
                    at = &mut at[*index];
                }
            }
        }
        let written = self
            .value
            .as_ref()
            .map_or_else(|| "removed".to_owned(), |value| format!("= {value}"));
        match (last, self.value, at) {
            (Step::Field(name), Some(value), at) => {
                at[name.as_str()] = value;
                format!("{told}.{name} {written}")
            }
            (Step::Field(name), None, Value::Object(fields)) => {
                fields.remove(name);
                format!("{told}.{name} {written}")
            }
            (Step::Item(index), Some(value), at) => {
                at[*index] = value;
                format!("{told}[{index}] {written}")
            }
            (Step::Item(index), None, Value::Array(items)) => {
                items.remove(*index);
                format!("{told}[{index}] {written}")
            }
            _ => told,
        }
    }
}

fn name(path: &[Step]) -> &str {
    let names = path.iter().rev().filter_map(|step| match step {
        Step::Field(name) => Some(name.as_str()),
        Step::Item(_) => None,
    });
    names.into_iter().next().unwrap_or_default()
}

fn changed(value: &Value, place: &Place<'_>, pool: &Pool, random: &mut SmallRng) -> Option<Value> {
    match random.random_range(0..12) {
        0..=2 => None,
        3..=4 => Some(values::draw(name(&place.path), place.schema, pool, random)),
        5 => Some(Value::Null),
        6 => Some(if value.is_string() { json!(7) } else { json!("text") }),
        _ => Some(values::neighbour(value, place.schema, random)),
    }
}

/// Every place of a document that its schema knows, filled or not.
fn walk<'a>(schema: &'a Value, value: Option<&Value>, path: Vec<Step>, places: &mut Vec<Place<'a>>) {
    let below = |step: Step| path.iter().cloned().chain([step]).collect::<Vec<_>>();
    if let Some(object @ Value::Object(fields)) = value {
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            walk(field, object.get(name), below(Step::Field(name.clone())), places);
        }
        if schema["additionalProperties"].is_object() {
            for (name, value) in fields {
                let path = below(Step::Field(name.clone()));
                walk(&schema["additionalProperties"], Some(value), path, places);
            }
        }
    }
    if let Some(Value::Array(items)) = value {
        for (index, item) in items.iter().enumerate() {
            walk(&schema["items"], Some(item), below(Step::Item(index)), places);
        }
    }
    places.push(Place {
        path,
        schema,
        value: value.cloned(),
    });
}
