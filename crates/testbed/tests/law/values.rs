//! Values for a place in a manifest: those that were seen there, those that its schema describes, and their neighbours.

use std::collections::BTreeMap;

use rand::{RngExt as _, rngs::SmallRng, seq::IndexedRandom as _};
use serde_json::{Map, Value, json};

/// How deep a structure is filled in beyond what it must have.
const DEPTH: u32 = 4;
/// Longer lists and texts than this are not made to go past a bound.
const LONGEST: usize = 1_000;

/// Values that were seen, by the name of their field.
#[derive(Default)]
pub struct Pool {
    seen: BTreeMap<String, Vec<Value>>,
}

impl Pool {
    /// Takes the values of a manifest.
    pub fn learn(&mut self, manifest: &Value) {
        match manifest {
            Value::Object(fields) => {
                for (name, value) in fields {
                    let seen = self.seen.entry(name.clone()).or_default();
                    if !seen.contains(value) {
                        seen.push(value.clone());
                    }
                    self.learn(value);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.learn(item)),
            _ => {}
        }
    }

    fn draw(&self, name: &str, random: &mut SmallRng) -> Option<Value> {
        self.seen.get(name)?.choose(random).cloned()
    }
}

/// A value for a field: one that was seen in a field of that name, or one of the schema.
pub fn draw(name: &str, schema: &Value, pool: &Pool, random: &mut SmallRng) -> Value {
    let seen = pool.draw(name, random).filter(|_| random.random_bool(0.5));
    seen.unwrap_or_else(|| described(name, schema, pool, random, DEPTH))
}

fn described(name: &str, schema: &Value, pool: &Pool, random: &mut SmallRng, depth: u32) -> Value {
    if let Some(words) = schema["enum"].as_array() {
        return words.choose(random).cloned().unwrap_or_default();
    }
    match schema["type"].as_str() {
        Some("string") => pool
            .draw(name, random)
            .filter(Value::is_string)
            .unwrap_or_else(|| "a".repeat(size(schema, "minLength").clamp(1, LONGEST)).into()),
        Some("integer" | "number") => schema["minimum"]
            .as_i64()
            .unwrap_or_else(|| random.random_range(0..100))
            .into(),
        Some("boolean") => random.random::<bool>().into(),
        Some("array") => {
            let count = size(schema, "minItems").max(random.random_range(0..=2));
            (0..count)
                .map(|_| described(name, &schema["items"], pool, random, depth))
                .collect()
        }
        Some("object") => fields(schema, pool, random, depth),
        _ => json!("10"),
    }
}

/// What a structure must have, and some of what it may have. A map gets an entry.
fn fields(schema: &Value, pool: &Pool, random: &mut SmallRng, depth: u32) -> Value {
    let mut object = Map::new();
    if schema["additionalProperties"].is_object() {
        let entry = described("entry", &schema["additionalProperties"], pool, random, depth);
        object.insert("entry".to_owned(), entry);
    }
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let is_wanted = required.contains(&name.as_str()) || depth > 0 && random.random_bool(0.3);
        if is_wanted {
            object.insert(
                name.clone(),
                described(name, field, pool, random, depth.saturating_sub(1)),
            );
        }
    }
    Value::Object(object)
}

fn size(schema: &Value, bound: &str) -> usize {
    schema[bound]
        .as_u64()
        .and_then(|bound| usize::try_from(bound).ok())
        .unwrap_or(0)
}

/// A neighbour of a value: just inside or just outside of what its schema allows, or of what a rule may ask for.
pub fn neighbour(value: &Value, schema: &Value, random: &mut SmallRng) -> Value {
    match value {
        Value::Bool(flag) => (!flag).into(),
        Value::Number(number) => near_number(number.as_i64().unwrap_or_default(), schema, random),
        Value::String(text) => near_text(text, schema, random),
        Value::Array(items) => near_list(items, schema, random),
        Value::Object(fields) => {
            let mut fields = fields.clone();
            fields.insert("surplus".to_owned(), json!("value"));
            Value::Object(fields)
        }
        Value::Null => json!("value"),
    }
}

fn near_number(number: i64, schema: &Value, random: &mut SmallRng) -> Value {
    let bound = |name: &str, offset: i64| schema[name].as_i64().map(|bound| bound.saturating_add(offset));
    let numbers = [
        Some(number.saturating_add(1)),
        Some(number.saturating_sub(1)),
        Some(0),
        Some(-1),
        bound("minimum", 0),
        bound("minimum", -1),
        bound("maximum", 0),
        bound("maximum", 1),
        Some(i64::from(i32::MAX) + 1),
    ];
    let numbers: Vec<i64> = numbers.into_iter().flatten().collect();
    numbers.choose(random).copied().into()
}

fn near_text(text: &str, schema: &Value, random: &mut SmallRng) -> Value {
    let longest = size(schema, "maxLength");
    let stretched = |length: usize| {
        let missing = length.saturating_sub(text.chars().count());
        (longest > 0 && length <= LONGEST).then(|| format!("{text}{}", "a".repeat(missing)))
    };
    let mut shorter = text.to_owned();
    shorter.pop();
    let words = schema["enum"].as_array();
    let word = words.and_then(|words| words.choose(random)).and_then(Value::as_str);
    let texts = [
        Some(shorter),
        Some(format!("{text}a")),
        Some(format!("{text}-")),
        Some(format!("{text} ")),
        Some(format!("-{text}")),
        Some(format!("{text}/x")),
        Some(format!("{text}.é")),
        Some(text.to_uppercase()),
        Some(String::new()),
        stretched(longest),
        stretched(longest + 1),
        word.map(str::to_owned),
    ];
    let texts: Vec<String> = texts.into_iter().flatten().collect();
    texts.choose(random).cloned().into()
}

fn near_list(items: &[Value], schema: &Value, random: &mut SmallRng) -> Value {
    let mut items = items.to_vec();
    let most = size(schema, "maxItems");
    match random.random_range(0..6) {
        0 => items.clear(),
        1 => items.extend(items.first().cloned()),
        2 => items.reverse(),
        3 => {
            items.pop();
        }
        choice if most > 0 && most < LONGEST && !items.is_empty() => {
            let first = items[0].clone();
            items.resize(most + choice - 4, first);
        }
        _ => items.push(Value::Null),
    }
    items.into()
}
