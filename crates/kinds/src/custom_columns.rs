//! The columns of a custom resource's table: those that its definition names, else the age.

use hyperplane_schema::json_path::{self, JsonPath};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{Column, human_duration};

/// What a table of a custom resource shows.
#[derive(Debug)]
pub(crate) struct Printer {
    columns: Vec<(Column, JsonPath)>,
}

impl Printer {
    /// The columns of a version.
    pub(crate) fn new(version: &Value) -> Self {
        let named = version["additionalPrinterColumns"].as_array().into_iter().flatten();
        let mut columns: Vec<(Column, JsonPath)> = named.filter_map(column).collect();
        if columns.is_empty() {
            columns.extend(column(&json!({
                "name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp",
                "description": "How long ago the object was created.",
            })));
        }
        Self { columns }
    }

    /// The columns, the name first.
    pub(crate) fn columns(&self) -> Vec<Column> {
        let name = Column {
            name: "Name".to_owned(),
            kind: "string".to_owned(),
            format: "name".to_owned(),
            description: "The name of the object, unique in its namespace.".to_owned(),
            priority: 0,
        };
        std::iter::once(name)
            .chain(self.columns.iter().map(|(column, _)| column.clone()))
            .collect()
    }

    /// The cells of an object's row.
    pub(crate) fn cells(&self, object: &Value, now: Timestamp) -> Vec<Value> {
        let name = object["metadata"]["name"].clone();
        let cells = self.columns.iter().map(|(column, path)| {
            let value = path.first(object);
            value.map_or(Value::Null, |value| cell(&column.kind, value, now))
        });
        std::iter::once(name).chain(cells).collect()
    }
}

/// A column; none where its path cannot be read, which the rules of definitions forbid.
fn column(definition: &Value) -> Option<(Column, JsonPath)> {
    let text = |field: &str| definition[field].as_str().unwrap_or_default().to_owned();
    let path = text("jsonPath");
    let description = match definition["description"].as_str() {
        Some(own) if !own.is_empty() => own.to_owned(),
        _ => format!("Custom resource definition column (in JSONPath format): {path}"),
    };
    let column = Column {
        name: text("name"),
        kind: text("type"),
        format: text("format"),
        description,
        priority: definition["priority"]
            .as_i64()
            .and_then(|priority| i32::try_from(priority).ok())
            .unwrap_or_default(),
    };
    Some((column, JsonPath::parse(&path).ok()?))
}

/// A value as a column of a type shows it; what is of another type is not shown.
fn cell(kind: &str, value: &Value, now: Timestamp) -> Value {
    match (kind, value) {
        ("string", Value::String(_)) | ("boolean", Value::Bool(_)) => value.clone(),
        ("string", Value::Null) => Value::Null,
        ("string", other) => json!(json_path::print(other)),
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a fraction in a column of integers is cut, as upstream does"
        )]
        ("integer", Value::Number(number)) => {
            json!(number.as_i64().or_else(|| number.as_f64().map(|float| float as i64)))
        }
        ("number", Value::Number(number)) => json!(number.as_f64()),
        ("date", Value::String(time)) => match time.parse::<Timestamp>() {
            Ok(time) => json!(human_duration(now.duration_since(time).as_secs())),
            Err(_) => json!("<unknown>"),
        },
        _ => Value::Null,
    }
}
