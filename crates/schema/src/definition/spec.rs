//! The specification of a definition: group, names, scope and versions.
//!
//! Upstream moves what all versions share to the top before it looks, so that the schema of a definition with one version
//! is complained about as `spec.validation`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::conversion;
use super::fields::{flag, list, present, text};
use super::options::{Options, schema_of};
use super::properties;
use super::schema;
use crate::field_error::{BadValue, FieldError};
use crate::field_path;
use crate::go_text;
use crate::names;

/// More fields of a version cannot be selected by.
const MAX_SELECTABLE_FIELDS: usize = 8;
/// The longest warning about a version.
const MAX_WARNING_BYTES: usize = 256;
const COLUMN_TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS: [&str; 8] = [
    "byte",
    "date",
    "date-time",
    "double",
    "float",
    "int32",
    "int64",
    "password",
];

/// A specification and what its versions share.
pub(super) struct Spec<'a> {
    spec: &'a Value,
    versions: &'a [Value],
}

impl<'a> Spec<'a> {
    pub(super) fn new(spec: &'a Value) -> Self {
        Self {
            spec,
            versions: list(spec, "versions"),
        }
    }

    /// Whether all versions say the same.
    fn is_shared(&self, field: &str) -> bool {
        let first = self.versions.first().and_then(|version| present(version, field));
        self.versions.iter().all(|version| present(version, field) == first)
    }

    pub(super) fn validate(&self, options: &Options) -> Vec<FieldError> {
        let mut errors = Vec::new();
        self.validate_group(&mut errors);
        self.validate_scope(&mut errors);
        self.validate_schemas_exist(options, &mut errors);
        for (index, version) in self.versions.iter().enumerate() {
            let path = format!("spec.versions[{index}]");
            let complaints = names::dns_1035_label(text(version, "name"));
            if !complaints.is_empty() {
                errors.push(FieldError::invalid(
                    format!("{path}.name"),
                    text(version, "name"),
                    complaints.join(","),
                ));
            }
            validate_warning(version, &path, &mut errors);
            self.validate_version(version, false, &path, options, &mut errors);
        }
        self.validate_versions(&mut errors);
        for name in ["plural", "singular", "kind", "listKind"] {
            if text(&self.spec["names"], name).is_empty() {
                errors.push(FieldError::required(format!("spec.names.{name}"), ""));
            }
        }
        errors.extend(validate_names(&self.spec["names"], "spec.names"));
        if let Some(first) = self.versions.first() {
            self.validate_version(first, true, "spec", options, &mut errors);
        }
        errors.extend(conversion::validate(&self.spec["conversion"], options));
        errors
    }

    fn validate_group(&self, errors: &mut Vec<FieldError>) {
        let group = text(self.spec, "group");
        let complaints = names::dns_1123_subdomain(group);
        if group.is_empty() {
            errors.push(FieldError::required("spec.group", ""));
        } else if !complaints.is_empty() {
            errors.push(FieldError::invalid("spec.group", group, complaints.join(",")));
        } else if !group.contains('.') {
            errors.push(FieldError::invalid(
                "spec.group",
                group,
                "should be a domain with at least one dot",
            ));
        }
    }

    fn validate_scope(&self, errors: &mut Vec<FieldError>) {
        match text(self.spec, "scope") {
            "" => errors.push(FieldError::required("spec.scope", "")),
            "Cluster" | "Namespaced" => {}
            other => errors.push(FieldError::not_supported(
                "spec.scope",
                other,
                ["Cluster", "Namespaced"],
            )),
        }
    }

    fn validate_schemas_exist(&self, options: &Options, errors: &mut Vec<FieldError>) {
        let preserves = flag(self.spec, "preserveUnknownFields");
        for (index, version) in self.versions.iter().enumerate() {
            if schema_of(version).is_some() {
                continue;
            }
            let path = format!("spec.versions[{index}].schema.openAPIV3Schema");
            if options.requires_schema {
                errors.push(FieldError::required(path, ""));
            } else if !preserves && flag(version, "served") {
                errors.push(FieldError::required(path, "because otherwise all fields are pruned"));
            }
        }
        let has_defaults = self.versions.iter().filter_map(schema_of).any(properties::has_defaults);
        if has_defaults && preserves {
            errors.push(FieldError::invalid(
                "spec.preserveUnknownFields",
                true,
                "must be false in order to use defaults in the schema",
            ));
        }
    }

    /// What a version says, either for itself or for all of them.
    fn validate_version(
        &self,
        version: &Value,
        is_shared: bool,
        path: &str,
        options: &Options,
        errors: &mut Vec<FieldError>,
    ) {
        let is_here = |field: &str| self.is_shared(field) == is_shared;
        if is_here("schema") {
            let has_status = if is_shared {
                self.versions.iter().any(has_status_subresource)
            } else {
                has_status_subresource(version)
            };
            let path = format!("{path}.{}", if is_shared { "validation" } else { "schema" });
            let is_unchanged = options.unchanged_versions.contains(text(version, "name"));
            let version_schema = version.get("schema").unwrap_or(&Value::Null);
            errors.extend(schema::validate(
                version_schema,
                has_status,
                is_unchanged,
                options,
                &path,
            ));
        }
        if is_here("subresources") {
            validate_subresources(&version["subresources"], &format!("{path}.subresources"), errors);
        }
        if is_here("additionalPrinterColumns") {
            for (index, column) in list(version, "additionalPrinterColumns").iter().enumerate() {
                validate_column(column, &format!("{path}.additionalPrinterColumns[{index}]"), errors);
            }
        }
        if is_here("selectableFields") {
            validate_selectable_fields(version, &format!("{path}.selectableFields"), options, errors);
        }
    }

    fn validate_versions(&self, errors: &mut Vec<FieldError>) {
        let mut refuse = |detail: &str| {
            errors.push(FieldError::invalid("spec.versions", self.shown_versions(), detail));
        };
        let unique: BTreeSet<&str> = self.versions.iter().map(|version| text(version, "name")).collect();
        if unique.len() < self.versions.len() {
            refuse("must contain unique version names");
        }
        if self.versions.iter().filter(|version| flag(version, "storage")).count() != 1 {
            refuse("must have exactly one version marked as storage version");
        }
        let first = self.versions.first().map_or("", |version| text(version, "name"));
        let complaints = names::dns_1035_label(first);
        if !first.is_empty() && !complaints.is_empty() {
            errors.push(FieldError::invalid("spec.version", first, complaints.join(",")));
        }
    }

    /// Versions as upstream prints them, with its own names and without what was moved to the top.
    fn shown_versions(&self) -> BadValue {
        let shown: Vec<String> = self
            .versions
            .iter()
            .map(|version| {
                format!(
                    "{{\"Name\":{},\"Served\":{},\"Storage\":{},\"Deprecated\":{},\"DeprecationWarning\":{},\"Schema\":null,\"Subresources\":null,\"AdditionalPrinterColumns\":null,\"SelectableFields\":null}}",
                    go_text::json(&json!(text(version, "name"))),
                    flag(version, "served"),
                    flag(version, "storage"),
                    flag(version, "deprecated"),
                    go_text::json(version.get("deprecationWarning").unwrap_or(&Value::Null)),
                )
            })
            .collect();
        BadValue::Text(format!("[{}]", shown.join(",")))
    }
}

fn has_status_subresource(version: &Value) -> bool {
    present(&version["subresources"], "status").is_some()
}

fn validate_warning(version: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let Some(warning) = present(version, "deprecationWarning").and_then(Value::as_str) else {
        return;
    };
    let mut refuse = |detail: String| {
        errors.push(FieldError::invalid(
            format!("{path}.deprecationWarning"),
            warning,
            detail,
        ));
    };
    if !flag(version, "deprecated") {
        refuse("can only be set for deprecated versions".to_owned());
        return;
    }
    if warning.len() > MAX_WARNING_BYTES {
        refuse("must be <= 256 characters long".to_owned());
    }
    if warning.is_empty() {
        refuse("must not be an empty string".to_owned());
    }
    if let Some((at, _)) = warning
        .char_indices()
        .find(|(_, character)| !go_text::is_printable(*character))
    {
        refuse(format!(
            "must only contain printable UTF-8 characters; non-printable character found at index {at}"
        ));
    }
}

fn validate_subresources(subresources: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let Some(scale) = present(subresources, "scale") else {
        return;
    };
    for (name, prefix) in [("specReplicasPath", ".spec."), ("statusReplicasPath", ".status.")] {
        let path = format!("{path}.scale.{name}");
        match text(scale, name) {
            "" => errors.push(FieldError::required(path, "")),
            found if !found.starts_with('.') => {
                errors.push(FieldError::invalid(
                    path,
                    found,
                    "must be a simple json path starting with .",
                ));
            }
            found if !found.starts_with(prefix) => {
                let detail = format!("should be a json path under {}", prefix.trim_end_matches('.'));
                errors.push(FieldError::invalid(path, found, detail));
            }
            _ => {}
        }
    }
    let selector = text(scale, "labelSelectorPath");
    let path = format!("{path}.scale.labelSelectorPath");
    if !selector.is_empty() && !selector.starts_with('.') {
        errors.push(FieldError::invalid(
            path,
            selector,
            "must be a simple json path starting with .",
        ));
    } else if !selector.is_empty() && !selector.starts_with(".spec.") && !selector.starts_with(".status.") {
        let detail = "should be a json path under either .spec or .status";
        errors.push(FieldError::invalid(path, selector, detail));
    }
}

fn validate_column(column: &Value, path: &str, errors: &mut Vec<FieldError>) {
    if text(column, "name").is_empty() {
        errors.push(FieldError::required(format!("{path}.name"), ""));
    }
    let kinds = format!("must be one of {}", COLUMN_TYPES.join(","));
    match text(column, "type") {
        "" => errors.push(FieldError::required(format!("{path}.type"), kinds)),
        kind if !COLUMN_TYPES.contains(&kind) => {
            errors.push(FieldError::invalid(format!("{path}.type"), kind, kinds));
        }
        _ => {}
    }
    let format = text(column, "format");
    if !format.is_empty() && !COLUMN_FORMATS.contains(&format) {
        let formats = format!("must be one of {}", COLUMN_FORMATS.join(","));
        errors.push(FieldError::invalid(format!("{path}.format"), format, formats));
    }
    match text(column, "jsonPath") {
        "" => errors.push(FieldError::required(format!("{path}.JSONPath"), "")),
        found if !found.starts_with('.') => {
            let detail = "must be a simple json path starting with .";
            errors.push(FieldError::invalid(format!("{path}.JSONPath"), found, detail));
        }
        _ => {}
    }
}

fn validate_selectable_fields(version: &Value, path: &str, options: &Options, errors: &mut Vec<FieldError>) {
    let fields = list(version, "selectableFields");
    if fields.is_empty() {
        return;
    }
    let Some(schema) = schema_of(version) else {
        errors.push(FieldError::invalid(
            path,
            "",
            "may only be set when validations.schema is included",
        ));
        return;
    };
    let compiling = schema::Compiling::new(schema);
    let mut unique: BTreeSet<String> = BTreeSet::new();
    for (index, field) in fields.iter().enumerate() {
        let path = format!("{path}[{index}].jsonPath");
        let found = text(field, "jsonPath");
        if found.is_empty() {
            errors.push(FieldError::required(path, ""));
            continue;
        }
        let parsed = match field_path::parse(&compiling.arena, compiling.root, found, false) {
            Ok(parsed) => parsed,
            Err(error) => {
                errors.push(FieldError::invalid(path, found, format!("is an invalid path: {error}")));
                continue;
            }
        };
        if parsed.names.first().is_some_and(|name| name == "metadata") {
            errors.push(FieldError::invalid(
                path.clone(),
                found,
                "must not point to fields in metadata",
            ));
        }
        if !matches!(
            compiling.arena[parsed.node].kind.name(),
            "string" | "boolean" | "integer"
        ) {
            errors.push(FieldError::invalid(path.clone(), found, "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed."));
        }
        if !unique.insert(parsed.path) {
            errors.push(FieldError::duplicate(path, found));
        }
    }
    let always_had = options.many_selectable_fields.contains(text(version, "name"));
    if unique.len() > MAX_SELECTABLE_FIELDS && !always_had {
        let limit = i64::try_from(MAX_SELECTABLE_FIELDS).unwrap_or(i64::MAX);
        errors.push(FieldError::too_many(path, unique.len(), limit));
    }
}

/// Complaints about names, asked for or accepted.
pub(super) fn validate_names(names: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (name, is_kind) in [
        ("plural", false),
        ("singular", false),
        ("kind", true),
        ("listKind", true),
    ] {
        let found = text(names, name);
        let complaints = names::dns_1035_label(&if is_kind {
            found.to_lowercase()
        } else {
            found.to_owned()
        });
        if found.is_empty() || complaints.is_empty() {
            continue;
        }
        let prefix = if is_kind {
            "may have mixed case, but should otherwise match: "
        } else {
            ""
        };
        let detail = format!("{prefix}{}", complaints.join(","));
        errors.push(FieldError::invalid(format!("{path}.{name}"), found, detail));
    }
    errors.extend(validate_labels(names, "shortNames", path));
    let kind = text(names, "kind");
    if !kind.is_empty() && kind == text(names, "listKind") {
        errors.push(FieldError::invalid(
            format!("{path}.listKind"),
            kind,
            "kind and listKind may not be the same",
        ));
    }
    errors.extend(validate_labels(names, "categories", path));
    errors
}

fn validate_labels(names: &Value, field: &str, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (index, label) in list(names, field).iter().filter_map(Value::as_str).enumerate() {
        let complaints = names::dns_1035_label(label);
        if !complaints.is_empty() {
            errors.push(FieldError::invalid(
                format!("{path}.{field}[{index}]"),
                label,
                complaints.join(","),
            ));
        }
    }
    errors
}

/// Complaints about what may not change.
pub(super) fn validate_update(spec: &Value, old: &Value, requires_immutable_names: bool) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut compare = |path: &str, current: &Value, old: &Value| {
        if current != old {
            errors.push(FieldError::invalid(path, current.clone(), "field is immutable"));
        }
    };
    if requires_immutable_names {
        compare("spec.scope", &spec["scope"], &old["scope"]);
        compare("spec.names.kind", &spec["names"]["kind"], &old["names"]["kind"]);
    }
    compare("spec.group", &spec["group"], &old["group"]);
    compare("spec.names.plural", &spec["names"]["plural"], &old["names"]["plural"]);
    errors
}

/// Versions that objects are stored in must stay.
pub(super) fn validate_stored_versions(definition: &Value) -> Vec<FieldError> {
    const PATH: &str = "status.storedVersions";
    let stored = list(&definition["status"], "storedVersions");
    if stored.is_empty() {
        return vec![FieldError::invalid(
            PATH,
            Value::Null,
            "must have at least one stored version",
        )];
    }
    let versions = list(&definition["spec"], "versions");
    let mut errors = Vec::new();
    for version in versions.iter().filter(|version| flag(version, "storage")) {
        if !stored.contains(&version["name"]) {
            let detail = format!("must have the storage version {}", text(version, "name"));
            errors.push(FieldError::invalid(PATH, stored.to_vec(), detail));
        }
    }
    for (index, name) in stored.iter().filter_map(Value::as_str).enumerate() {
        if !versions.iter().any(|version| text(version, "name") == name) {
            errors.push(FieldError::invalid(
                format!("{PATH}[{index}]"),
                name,
                format!("missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in {name} and removes {name} from status.storedVersions"),
            ));
        }
    }
    errors
}
