//! The documented schemas against the cases: every field that a case uses is documented, and every documented field is
//! used. The validator knows what these two schemas are written with, and no more.

use std::{cell::RefCell, collections::BTreeSet, fs, path::PathBuf};

use serde_json::Value;

/// A schema, and which of its fields were met.
pub struct Schema {
    root: Value,
    met: RefCell<BTreeSet<String>>,
}

impl Schema {
    /// One of docs/schemas.
    pub fn named(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
        let text = fs::read_to_string(path.join(format!("{name}.json"))).unwrap();
        Self {
            root: serde_json::from_str(&text).unwrap(),
            met: RefCell::default(),
        }
    }

    /// What is wrong with a value.
    pub fn errors(&self, value: &Value) -> Vec<String> {
        self.judge(&self.root, value, "")
    }

    /// Fields that the schema has and no value had.
    pub fn unmet(&self) -> Vec<String> {
        let mut all = BTreeSet::new();
        self.collect(&self.root, "", &mut all);
        all.difference(&self.met.borrow()).cloned().collect()
    }

    fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        match schema["$ref"].as_str() {
            Some(pointer) => self.root.pointer(pointer.trim_start_matches('#')).unwrap(),
            None => schema,
        }
    }

    fn collect(&self, schema: &Value, path: &str, all: &mut BTreeSet<String>) {
        let schema = self.resolve(schema);
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}.{name}");
            self.collect(field, &path, all);
            all.insert(path);
        }
        let choices = schema["anyOf"].as_array().into_iter().flatten();
        for schema in choices.chain(schema.get("items")) {
            self.collect(schema, path, all);
        }
    }

    fn judge(&self, schema: &Value, value: &Value, path: &str) -> Vec<String> {
        let schema = self.resolve(schema);
        // A field that is null is absent.
        if value.is_null() {
            return Vec::new();
        }
        let mut errors = Vec::new();
        if let Some(choices) = schema["anyOf"].as_array() {
            let tried: Vec<Vec<String>> = choices.iter().map(|choice| self.judge(choice, value, path)).collect();
            if !tried.iter().any(Vec::is_empty) {
                errors.push(format!("{path}: {value} is none of {tried:?}"));
            }
        }
        if !has_type(&schema["type"], value) {
            errors.push(format!("{path}: {value} is no {}", schema["type"]));
            return errors;
        }
        if let Some(words) = schema["enum"].as_array()
            && !words.contains(value)
        {
            errors.push(format!("{path}: {value} is none of {words:?}"));
        }
        for name in schema["required"].as_array().into_iter().flatten() {
            if value.get(name.as_str().unwrap()).is_none() {
                errors.push(format!("{path}: {name} is missing"));
            }
        }
        if let (Some(fields), Some(_)) = (value.as_object(), schema["type"].as_str()) {
            for (name, value) in fields {
                errors.extend(self.judge_field(schema, name, value, path));
            }
        }
        for value in value.as_array().into_iter().flatten() {
            if let Some(items) = schema.get("items") {
                errors.extend(self.judge(items, value, path));
            }
        }
        errors
    }

    fn judge_field(&self, schema: &Value, name: &str, value: &Value, path: &str) -> Vec<String> {
        let path = format!("{path}.{name}");
        if let Some(field) = schema["properties"].get(name) {
            self.met.borrow_mut().insert(path.clone());
            return self.judge(field, value, &path);
        }
        match schema.get("additionalProperties") {
            Some(others) => self.judge(others, value, &path),
            None => vec![format!("{path} is not documented")],
        }
    }
}

fn has_type(expected: &Value, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("number") => value.is_number(),
        Some("integer") => value.is_u64(),
        _ => false,
    };
    match expected {
        Value::Null => true,
        Value::Array(names) => names.iter().any(is),
        name => is(name),
    }
}
