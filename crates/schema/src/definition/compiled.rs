//! What the server makes of an accepted definition: each version with its schema, subresources, columns and selectable
//! fields.

use serde_json::Value;

use super::fields::{flag, list, present, text};
use super::options::schema_of;
use crate::field_error::FieldError;
use crate::json_path::JsonPath;
use crate::schema::Schema;

/// A definition that is ready to be served.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// `example.com`.
    pub group: String,
    /// The kind of an object.
    pub kind: String,
    /// The kind of a list.
    pub list_kind: String,
    /// The name in URLs.
    pub plural: String,
    /// The name for people.
    pub singular: String,
    /// Short names for people.
    pub short_names: Vec<String>,
    /// Groups of kinds for people, such as `all`.
    pub categories: Vec<String>,
    /// Whether objects live in namespaces.
    pub is_namespaced: bool,
    /// All versions, in the order in which they are written.
    pub versions: Vec<Version>,
}

/// One version.
#[derive(Clone, Debug)]
pub struct Version {
    /// `v1beta1`.
    pub name: String,
    /// Whether it is served.
    pub is_served: bool,
    /// Whether objects are stored in it.
    pub is_storage: bool,
    /// The warning that comes with every answer, if the version is deprecated.
    pub deprecation_warning: Option<String>,
    /// Its schema.
    pub schema: Schema,
    /// Whether the status has a subresource.
    pub has_status: bool,
    /// The scale subresource.
    pub scale: Option<Scale>,
    /// Columns beside the name.
    pub columns: Vec<Column>,
    /// Fields that lists can be selected by.
    pub selectable_fields: Vec<SelectableField>,
}

/// Where the numbers of a scale are found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Names from the root to the desired number.
    pub spec_replicas: Vec<String>,
    /// Names from the root to the actual number.
    pub status_replicas: Vec<String>,
    /// Names from the root to the selector.
    pub label_selector: Option<Vec<String>>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The title.
    pub name: String,
    /// `string`, `integer`, `number`, `boolean` or `date`.
    pub kind: String,
    /// The format of the type, or nothing.
    pub format: String,
    /// What it shows.
    pub description: String,
    /// Columns above 0 are shown only on request.
    pub priority: i64,
    /// Where the value is.
    pub path: JsonPath,
}

/// A field that lists can be selected by.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectableField {
    /// The name in a selector: the path without its first dot.
    pub name: String,
    /// Where the value is.
    pub path: JsonPath,
}

impl Compiled {
    /// Compiles a definition that [`super::validate`] accepted.
    pub fn new(definition: &Value) -> Result<Self, Vec<FieldError>> {
        let spec = &definition["spec"];
        let names = &spec["names"];
        let strings = |name: &str| {
            list(names, name)
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect()
        };
        let versions = list(spec, "versions")
            .iter()
            .map(|version| compile_version(spec, version));
        Ok(Self {
            group: text(spec, "group").to_owned(),
            kind: text(names, "kind").to_owned(),
            list_kind: text(names, "listKind").to_owned(),
            plural: text(names, "plural").to_owned(),
            singular: text(names, "singular").to_owned(),
            short_names: strings("shortNames"),
            categories: strings("categories"),
            is_namespaced: text(spec, "scope") == "Namespaced",
            versions: versions.collect::<Result<_, _>>()?,
        })
    }

    /// The version of that name, if it is served.
    pub fn served(&self, name: &str) -> Option<&Version> {
        self.versions
            .iter()
            .find(|version| version.is_served && version.name == name)
    }

    /// The version that objects are stored in.
    pub fn storage(&self) -> Option<&Version> {
        self.versions.iter().find(|version| version.is_storage)
    }
}

fn compile_version(spec: &Value, version: &Value) -> Result<Version, Vec<FieldError>> {
    let subresources = &version["subresources"];
    Ok(Version {
        name: text(version, "name").to_owned(),
        is_served: flag(version, "served"),
        is_storage: flag(version, "storage"),
        deprecation_warning: deprecation_warning(spec, version),
        schema: match schema_of(version) {
            Some(schema) => Schema::structural(schema)?,
            None => Schema::anything(),
        },
        has_status: present(subresources, "status").is_some(),
        scale: present(subresources, "scale").map(scale),
        columns: list(version, "additionalPrinterColumns")
            .iter()
            .filter_map(column)
            .collect(),
        selectable_fields: list(version, "selectableFields")
            .iter()
            .filter_map(selectable_field)
            .collect(),
    })
}

/// The text of the warning; upstream names the newest version that is not deprecated.
fn deprecation_warning(spec: &Value, version: &Value) -> Option<String> {
    if !flag(version, "deprecated") {
        return None;
    }
    if let Some(warning) = present(version, "deprecationWarning").and_then(Value::as_str) {
        return Some(warning.to_owned());
    }
    let (group, kind) = (text(spec, "group"), text(&spec["names"], "kind"));
    let name = text(version, "name");
    let mut newer: Vec<&str> = list(spec, "versions")
        .iter()
        .filter(|version| flag(version, "served") && !flag(version, "deprecated"))
        .map(|version| text(version, "name"))
        .filter(|other| priority(other) > priority(name))
        .collect();
    newer.sort_by_key(|other| priority(other));
    let warning = format!("{group}/{name} {kind} is deprecated");
    Some(match newer.last() {
        Some(newest) => format!("{warning}; use {group}/{newest} {kind}"),
        None => warning,
    })
}

/// The rank of a version: `v2` before `v1` before `v1beta2` before `v1alpha1` before anything else.
pub(crate) fn priority(name: &str) -> (u8, u64, u64, std::cmp::Reverse<&str>) {
    let ranked = name.strip_prefix('v').and_then(|rest| {
        let end = rest
            .find(|character: char| !character.is_ascii_digit())
            .unwrap_or(rest.len());
        let major: u64 = rest[..end].parse().ok()?;
        let (stability, minor) = match &rest[end..] {
            "" => (3, "0"),
            beta if beta.starts_with("beta") => (2, &beta[4..]),
            alpha if alpha.starts_with("alpha") => (1, &alpha[5..]),
            _ => return None,
        };
        Some((stability, major, minor.parse().ok()?))
    });
    match ranked {
        Some((stability, major, minor)) => (stability, major, minor, std::cmp::Reverse("")),
        None => (0, 0, 0, std::cmp::Reverse(name)),
    }
}

fn scale(scale: &Value) -> Scale {
    let path = |name: &str| -> Vec<String> {
        text(scale, name)
            .trim_start_matches('.')
            .split('.')
            .map(str::to_owned)
            .collect()
    };
    Scale {
        spec_replicas: path("specReplicasPath"),
        status_replicas: path("statusReplicasPath"),
        label_selector: (!text(scale, "labelSelectorPath").is_empty()).then(|| path("labelSelectorPath")),
    }
}

/// Upstream shows only the name when a path cannot be read; a column without a path shows nothing here.
fn column(column: &Value) -> Option<Column> {
    let path = text(column, "jsonPath");
    let description = match text(column, "description") {
        "" => format!("Custom resource definition column (in JSONPath format): {path}"),
        description => description.to_owned(),
    };
    Some(Column {
        name: text(column, "name").to_owned(),
        kind: text(column, "type").to_owned(),
        format: text(column, "format").to_owned(),
        description,
        priority: column.get("priority").and_then(Value::as_i64).unwrap_or_default(),
        path: JsonPath::parse(path).ok()?,
    })
}

fn selectable_field(field: &Value) -> Option<SelectableField> {
    let path = text(field, "jsonPath");
    Some(SelectableField {
        name: path.trim_start_matches('.').to_owned(),
        path: JsonPath::parse(path).ok()?,
    })
}
