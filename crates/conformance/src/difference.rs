//! Where two values differ, for people to read. It decides nothing about what may differ.

use std::fmt;

use serde_json::Value;

/// The longest value that a report shows; a whole object is in the recording.
const SHOWN_CHARACTERS: usize = 400;

/// A place in a JSON value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path(String);

impl Path {
    /// The value itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// A field of the object at this place.
    pub fn field(&self, key: &str) -> Self {
        let separator = if self.0.is_empty() { "" } else { "." };
        Self(format!("{}{separator}{key}", self.0))
    }

    /// An item of the list at this place.
    pub fn index(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// One place where what came is not what should have come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The place.
    pub path: String,
    /// What should have come; nothing if there should be no such field.
    pub expected: Option<Value>,
    /// What came.
    pub actual: Option<Value>,
}

impl Difference {
    /// A difference at a place.
    pub fn new(path: &Path, expected: Option<&Value>, actual: Option<&Value>) -> Self {
        Self {
            path: path.to_string(),
            expected: expected.cloned(),
            actual: actual.cloned(),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "(whole)" } else { &self.path };
        let expected = shown(self.expected.as_ref());
        let actual = shown(self.actual.as_ref());
        write!(
            formatter,
            "{path}\n        expected {expected}\n        came     {actual}"
        )
    }
}

/// All places where two values differ.
pub fn between(expected: &Value, actual: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare(&Path::root(), expected, actual, &mut found);
    found
}

fn compare(path: &Path, expected: &Value, actual: &Value, found: &mut Vec<Difference>) {
    match (expected, actual) {
        (Value::Object(left), Value::Object(right)) => {
            let keys = left.keys().chain(right.keys().filter(|key| !left.contains_key(*key)));
            for key in keys {
                compare_field(&path.field(key), left.get(key), right.get(key), found);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                compare(&path.index(index), left, right, found);
            }
        }
        (expected, actual) if expected == actual => {}
        _ => found.push(Difference::new(path, Some(expected), Some(actual))),
    }
}

fn compare_field(path: &Path, expected: Option<&Value>, actual: Option<&Value>, found: &mut Vec<Difference>) {
    match (expected, actual) {
        (Some(expected), Some(actual)) => compare(path, expected, actual, found),
        _ => found.push(Difference::new(path, expected, actual)),
    }
}

fn shown(value: Option<&Value>) -> String {
    let Some(value) = value else {
        return "nothing".to_owned();
    };
    let text = value.to_string();
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_place_is_named_once() {
        let expected = json!({"same": 1, "gone": 2, "list": [1, {"a": 1}], "kind": {"a": 1}, "long": [1]});
        let actual = json!({"same": 1, "new": 3, "list": [1, {"a": 2}], "kind": [1], "long": [1, 2]});
        let paths: Vec<_> = between(&expected, &actual).into_iter().map(|it| it.path).collect();
        assert_eq!(paths, ["gone", "kind", "list[1].a", "long", "new"]);
        assert_eq!(between(&expected, &expected), []);
    }

    #[test]
    fn a_report_is_cut_between_characters() {
        let long = json!("ä".repeat(SHOWN_CHARACTERS * 2));
        assert!(shown(Some(&long)).ends_with('…'));
        assert_eq!(shown(None), "nothing");
    }
}
