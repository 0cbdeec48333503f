//! Fields of HyperShift's specs, and whole kinds, that nothing of ours acts on: they are taken, kept and handed on, and
//! have no effect.
//!
//! The tables say it once, for the conditions of the operators, for `hyperplane explain` and for the documentation. A
//! field or a kind leaves its table with the change that acts on it. What is refused, or told in a condition of its own,
//! is in none of them.

mod kinds;
mod table;
#[cfg(test)]
mod tests;

use serde::Serialize;
use serde_json::Value;

pub use self::{
    kinds::{KINDS, UnusedKind},
    table::{HOSTED_CLUSTER, NODE_POOL},
};

/// A field that nothing acts on.
#[derive(Debug, PartialEq, Eq)]
pub struct UnusedField {
    /// Where it stands in the object. `[]` stands for every element of a list.
    pub path: &'static str,
    /// Texts that nobody has to be told of: the default that the API server fills in, and what is acted on.
    pub quiet: &'static [&'static str],
    /// What it would do; completes "it would".
    pub would: &'static str,
    /// What to do instead, as a sentence without its end; empty where there is nothing.
    pub instead: &'static str,
}

/// A field of an object that is set although nothing acts on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Unused {
    /// Where it stands, with the number of each element.
    pub path: String,
    /// What it would do; completes "it would".
    pub would: &'static str,
    /// What to do instead; empty where there is nothing.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub instead: &'static str,
}

/// The fields of a table that are set in a spec: there, and not one of their quiet texts. What is false, empty, or made of
/// that alone is not set.
pub fn unused(table: &'static [UnusedField], spec: &Value) -> Vec<Unused> {
    let mut found = Vec::new();
    for field in table {
        let steps: Vec<&str> = field.path.split('.').skip(1).collect();
        visit(spec, &steps, "spec", &mut |path, value| {
            if is_set(value) && value.as_str().is_none_or(|text| !field.quiet.contains(&text)) {
                found.push(Unused {
                    path,
                    would: field.would,
                    instead: field.instead,
                });
            }
        });
    }
    found
}

/// What a condition says of fields that are set in vain.
pub fn message(unused: &[Unused]) -> String {
    let paths: Vec<&str> = unused.iter().map(|one| one.path.as_str()).collect();
    format!(
        "Set, and without effect here: {}. `hyperplane explain` says what each would do, and what to use instead.",
        paths.join(", ")
    )
}

/// Calls `take` with the path and the value of everything under some steps.
fn visit(value: &Value, steps: &[&str], path: &str, take: &mut impl FnMut(String, &Value)) {
    let Some((step, rest)) = steps.split_first() else {
        take(path.to_owned(), value);
        return;
    };
    let name = step.strip_suffix("[]").unwrap_or(step);
    let Some(below) = value.get(name) else {
        return;
    };
    let path = format!("{path}.{name}");
    if name == *step {
        visit(below, rest, &path, take);
        return;
    }
    for (number, element) in below.as_array().into_iter().flatten().enumerate() {
        visit(element, rest, &format!("{path}[{number}]"), take);
    }
}

fn is_set(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Bool(true) | Value::Number(_) => true,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => fields.values().any(is_set),
    }
}
