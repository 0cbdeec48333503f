//! What a case knows while it runs: the name of its namespace and what earlier answers held. It substitutes names in
//! requests; it compares nothing.

use std::collections::BTreeMap;

use serde_json::Value;

/// The hole that stands for the namespace of a case.
pub const NAMESPACE_HOLE: &str = "${ns}";

/// Values by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    values: BTreeMap<String, String>,
}

impl Variables {
    /// The variables of a case before its first step.
    pub fn of_case(id: &str) -> Self {
        let mut variables = Self::default();
        variables.set("ns", id);
        variables
    }

    /// Keeps a value under a name.
    pub fn set(&mut self, name: &str, value: &str) {
        self.values.insert(name.to_owned(), value.to_owned());
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// The text with values in place of holes. A hole that names no variable stays, and fails the request visibly.
    pub fn in_text(&self, text: &str) -> String {
        let mut result = text.to_owned();
        for (name, value) in &self.values {
            result = result.replace(&format!("${{{name}}}"), value);
        }
        result
    }

    /// The value with values in place of holes, in keys as well.
    pub fn in_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.in_text(text)),
            Value::Array(items) => items.iter().map(|item| self.in_value(item)).collect(),
            Value::Object(fields) => fields
                .iter()
                .map(|(key, field)| (self.in_text(key), self.in_value(field)))
                .collect(),
            other => other.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn holes_are_filled_in_keys_and_values_and_unknown_ones_stay() {
        let mut variables = Variables::of_case("here");
        variables.set("a", "7");
        let filled = variables.in_value(&json!({"${a}": ["${ns}/${a}", "${b}", 1]}));
        assert_eq!(filled, json!({"7": ["here/7", "${b}", 1]}));
    }
}
