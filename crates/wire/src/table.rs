//! Objects as rows of a table, and objects reduced to their metadata (apiserver, endpoints/handlers/response.go). What
//! the cells of a kind show is the kind's business.

use hyperplane_kinds::{Column, Resource};
use hyperplane_schema::FieldError;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::{Failure, Query, encode::ListMeta, negotiate::MetaVersion};

/// What a row carries besides its cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IncludeObject {
    /// The metadata of the object.
    #[default]
    Metadata,
    /// All of the object.
    Object,
    /// Nothing.
    None,
}

impl IncludeObject {
    /// Reads the query string of a request for a table.
    pub fn parse(query: &str) -> Result<Self, Failure> {
        if !query.contains("includeObject") {
            return Ok(Self::Metadata);
        }
        match Query::parse(query).first("includeObject").unwrap_or_default() {
            "" | "Metadata" => Ok(Self::Metadata),
            "Object" => Ok(Self::Object),
            "None" => Ok(Self::None),
            word => {
                let detail = "must be 'Metadata', 'Object', 'None', or empty";
                let error = FieldError::invalid("includeObject", word, detail);
                Err(Failure::bad_request(format!(
                    "Unable to convert to Table as requested: {error}"
                )))
            }
        }
    }
}

/// How a table is wanted.
#[derive(Clone, Copy, Debug)]
pub struct TableStyle {
    /// The version of the table.
    pub version: MetaVersion,
    /// What its rows carry.
    pub include: IncludeObject,
    /// The moment to which ages count.
    pub now: Timestamp,
}

/// A table of one object; its revision is that of the object.
pub fn object_table(resource: &Resource, object: &Value, style: TableStyle) -> Value {
    let rows = vec![row(resource, object, style)];
    table(column_definitions(&resource.columns), rows, object_meta(object), style)
}

/// A table of a list.
pub fn list_table<'a>(
    resource: &Resource,
    objects: impl IntoIterator<Item = &'a Value>,
    meta: ListMeta<'_>,
    style: TableStyle,
) -> Value {
    let rows = objects.into_iter().map(|object| row(resource, object, style)).collect();
    table(column_definitions(&resource.columns), rows, meta.to_value(), style)
}

/// The table of an event of a watch; only the first one of a stream has columns.
pub fn event_table(resource: &Resource, object: &Value, is_first: bool, style: TableStyle) -> Value {
    let columns = event_columns(resource, is_first);
    table(columns, vec![row(resource, object, style)], object_meta(object), style)
}

/// The table of a bookmark: empty cells, and the metadata that carries the revision and the annotation.
pub fn bookmark_table(resource: &Resource, bookmark: &Value, is_first: bool, style: TableStyle) -> Value {
    let cells = resource.columns.iter().map(|column| match column.format.as_str() {
        "name" => Value::from(""),
        _ => Value::Null,
    });
    let row = fields([
        ("cells", cells.collect()),
        ("object", partial_object_metadata(bookmark, style.version)),
    ]);
    table(
        event_columns(resource, is_first),
        vec![row],
        object_meta(bookmark),
        style,
    )
}

/// An object reduced to its metadata.
pub fn partial_object_metadata(object: &Value, version: MetaVersion) -> Value {
    let metadata = object
        .get("metadata")
        .cloned()
        .unwrap_or_else(|| Value::Object(Map::new()));
    fields([
        ("kind", "PartialObjectMetadata".into()),
        ("apiVersion", version.api_version().into()),
        ("metadata", metadata),
    ])
}

/// A list reduced to the metadata of its objects.
pub fn partial_object_metadata_list<'a>(
    objects: impl IntoIterator<Item = &'a Value>,
    meta: ListMeta<'_>,
    version: MetaVersion,
) -> Value {
    let items = objects
        .into_iter()
        .map(|object| partial_object_metadata(object, version));
    fields([
        ("kind", "PartialObjectMetadataList".into()),
        ("apiVersion", version.api_version().into()),
        ("metadata", meta.to_value()),
        ("items", items.collect()),
    ])
}

/// The failure of a request for the metadata of one object that addresses a list; `list_kind` is such as `FooList`.
pub fn list_is_no_object(list_kind: &str) -> Failure {
    Failure::new(
        crate::Reason::NotAcceptable,
        format!("you requested PartialObjectMetadata, but the requested object is a list ({list_kind})"),
    )
}

/// The failure of a request for the metadata of a list that addresses one object.
pub fn object_is_no_list(kind: &str) -> Failure {
    Failure::new(
        crate::Reason::NotAcceptable,
        format!("you requested PartialObjectMetadataList, but the requested object is not a list ({kind})"),
    )
}

fn table(columns: Value, rows: Vec<Value>, metadata: Value, style: TableStyle) -> Value {
    fields([
        ("kind", "Table".into()),
        ("apiVersion", style.version.api_version().into()),
        ("metadata", metadata),
        ("columnDefinitions", columns),
        ("rows", rows.into()),
    ])
}

fn row(resource: &Resource, object: &Value, style: TableStyle) -> Value {
    let included = match style.include {
        IncludeObject::Metadata => partial_object_metadata(object, style.version),
        IncludeObject::Object => object.clone(),
        IncludeObject::None => Value::Null,
    };
    fields([
        ("cells", resource.behaviour.cells(object, style.now).into()),
        ("object", included),
    ])
}

fn event_columns(resource: &Resource, is_first: bool) -> Value {
    if is_first {
        column_definitions(&resource.columns)
    } else {
        Value::Null
    }
}

fn column_definitions(columns: &[Column]) -> Value {
    let definitions = columns.iter().map(|column| {
        json!({
            "name": column.name,
            "type": column.kind,
            "format": column.format,
            "description": column.description,
            "priority": column.priority,
        })
    });
    definitions.collect()
}

fn object_meta(object: &Value) -> Value {
    match &object["metadata"]["resourceVersion"] {
        Value::String(version) => json!({ "resourceVersion": version }),
        _ => json!({}),
    }
}

/// An object of these fields. The macro of serde_json would copy every value that is put into it.
fn fields<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
    Value::Object(fields.collect())
}

#[cfg(test)]
mod tests;
