//! Custom resources: from a CustomResourceDefinition to the resources that it defines, one per served version. What a
//! definition may say is checked elsewhere, before it is stored.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use hyperplane_merge::Types;
use hyperplane_schema::{FieldError, Schema, go_text, names};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    Behaviour, Malformed, Propagation, Resource, ScalePaths, Scope, SelectableField, Subresource, Target, Verb,
    custom_columns::Printer,
};

/// Finalizers without a domain that upstream knows.
const STANDARD_FINALIZERS: [&str; 3] = ["foregroundDeletion", "kubernetes", "orphan"];

/// Under which name the objects of a definition are stored.
pub fn collection(definition: &Value) -> Arc<str> {
    format!(
        "{}.{}",
        text(&definition["spec"]["names"]["plural"]),
        text(&definition["spec"]["group"])
    )
    .into()
}

/// The resources of a definition: its served versions.
pub fn resources(definition: &Value) -> Result<Vec<Arc<Resource>>, Vec<FieldError>> {
    let specification = &definition["spec"];
    let versions = specification["versions"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let types: BTreeMap<String, Types> = versions
        .iter()
        .map(|version| {
            (
                api_version(specification, version),
                Types::structural(schema_of(version)),
            )
        })
        .collect();
    let types = Arc::new(types);
    let stored = versions.iter().find(|version| version["storage"] == true);
    let storage = Schema::structural(stored.map_or(&Value::Null, schema_of))?;
    let served = versions.iter().filter(|version| version["served"] == true);
    served
        .map(|version| resource(definition, version, &types, &storage).map(Arc::new))
        .collect()
}

fn resource(
    definition: &Value,
    version: &Value,
    types: &Arc<BTreeMap<String, Types>>,
    storage: &Schema,
) -> Result<Resource, Vec<FieldError>> {
    let specification = &definition["spec"];
    let accepted = &definition["status"]["acceptedNames"];
    let is_accepted = !text(&accepted["kind"]).is_empty();
    let named = if is_accepted { accepted } else { &specification["names"] };
    let has_status = version["subresources"]["status"].is_object();
    let printer = Printer::new(version);
    let columns = printer.columns();
    let behaviour = CustomKind {
        schema: Schema::structural(schema_of(version))?,
        storage: storage.clone(),
        scale: scale(version),
        openapi: schema_of(version).clone(),
        types: Arc::clone(types),
        has_status,
        printer,
    };
    Ok(Resource {
        group: text(&specification["group"]),
        version: text(&version["name"]),
        plural: text(&specification["names"]["plural"]),
        singular: text(&named["singular"]),
        kind: text(&named["kind"]),
        list_kind: text(&named["listKind"]),
        short_names: texts(&named["shortNames"]),
        categories: texts(&named["categories"]),
        scope: if specification["scope"] == "Namespaced" {
            Scope::Namespaced
        } else {
            Scope::Cluster
        },
        verbs: Verb::ALL.into_iter().collect(),
        subresources: subresources(specification, version),
        scale: scale(version),
        columns,
        selectable_fields: selectable_fields(version),
        collection: collection(definition),
        storage_version: storage_version(specification),
        has_generation: true,
        creates_on_update: false,
        allows_unconditional_update: false,
        default_propagation: Propagation::Background,
        returns_deleted: false,
        deprecation: deprecation(specification, version),
        behaviour: Arc::new(behaviour),
    })
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(text).collect()
}

fn schema_of(version: &Value) -> &Value {
    &version["schema"]["openAPIV3Schema"]
}

fn api_version(specification: &Value, version: &Value) -> String {
    format!("{}/{}", text(&specification["group"]), text(&version["name"]))
}

fn storage_version(specification: &Value) -> String {
    let versions = specification["versions"].as_array().into_iter().flatten();
    let stored = versions.into_iter().find(|version| version["storage"] == true);
    stored
        .map(|version| api_version(specification, version))
        .unwrap_or_default()
}

fn subresources(specification: &Value, version: &Value) -> Vec<Subresource> {
    let verbs = || [Verb::Get, Verb::Patch, Verb::Update].into_iter().collect();
    let mut all = Vec::new();
    if version["subresources"]["scale"].is_object() {
        all.push(Subresource {
            name: "scale".to_owned(),
            kind: "Scale".to_owned(),
            group: "autoscaling".to_owned(),
            version: "v1".to_owned(),
            verbs: verbs(),
        });
    }
    if version["subresources"]["status"].is_object() {
        all.push(Subresource {
            name: "status".to_owned(),
            kind: text(&specification["names"]["kind"]),
            group: text(&specification["group"]),
            version: text(&version["name"]),
            verbs: verbs(),
        });
    }
    all
}

/// A path such as `.spec.replicas` as field names.
fn path(text: &str) -> Vec<String> {
    text.trim_start_matches('.').split('.').map(str::to_owned).collect()
}

fn scale(version: &Value) -> Option<ScalePaths> {
    let scale = version["subresources"]["scale"].as_object()?;
    Some(ScalePaths {
        specification: path(scale.get("specReplicasPath")?.as_str()?),
        status: path(scale.get("statusReplicasPath")?.as_str()?),
        selector: scale.get("labelSelectorPath").and_then(Value::as_str).map(path),
    })
}

fn selectable_fields(version: &Value) -> Vec<SelectableField> {
    let fields = version["selectableFields"].as_array().into_iter().flatten();
    let fields = fields.filter_map(|field| field["jsonPath"].as_str());
    fields
        .map(|json_path| SelectableField {
            label: json_path.trim_start_matches('.').to_owned(),
            paths: vec![path(json_path)],
            default: String::new(),
        })
        .collect()
}

fn deprecation(specification: &Value, version: &Value) -> Option<String> {
    if version["deprecated"] != true {
        return None;
    }
    let own = version["deprecationWarning"].as_str().map(str::to_owned);
    let kind = text(&specification["names"]["kind"]);
    let versions = specification["versions"].as_array().into_iter().flatten();
    let newer = versions
        .filter(|other| other["served"] == true && other["deprecated"] != true)
        .max_by(|left, right| version_order(&text(&left["name"])).cmp(&version_order(&text(&right["name"]))));
    let newer = newer.filter(|other| version_order(&text(&other["name"])) > version_order(&text(&version["name"])));
    let hint = newer
        .map(|other| format!("; use {} {kind}", api_version(specification, other)))
        .unwrap_or_default();
    Some(own.unwrap_or_else(|| format!("{} {kind} is deprecated{hint}", api_version(specification, version))))
}

/// The rank of a version: released ones before beta before alpha, then by number (apimachinery, version/helpers.go).
fn version_order(name: &str) -> (u8, u64, u64) {
    let digits = |text: &str| text.parse().unwrap_or_default();
    let Some(rest) = name.strip_prefix('v') else {
        return (0, 0, 0);
    };
    if let Some((major, minor)) = rest.split_once("alpha") {
        return (1, digits(major), digits(minor));
    }
    if let Some((major, minor)) = rest.split_once("beta") {
        return (2, digits(major), digits(minor));
    }
    (3, digits(rest), 0)
}

/// What objects of one version of a definition do.
#[derive(Debug)]
struct CustomKind {
    schema: Schema,
    /// The schema of the version in which objects are stored.
    storage: Schema,
    scale: Option<ScalePaths>,
    openapi: Value,
    types: Arc<BTreeMap<String, Types>>,
    has_status: bool,
    printer: Printer,
}

impl CustomKind {
    fn is_specification_changed(&self, object: &Value, old: &Value) -> bool {
        let counts = |key: &str| key != "metadata" && !(self.has_status && key == "status");
        let fields = |object: &'_ Value| -> usize {
            object
                .as_object()
                .map_or(0, |fields| fields.keys().filter(|key| counts(key)).count())
        };
        let Some(members) = object.as_object() else {
            return false;
        };
        fields(object) != fields(old)
            || members
                .iter()
                .any(|(key, value)| counts(key) && old.get(key) != Some(value))
    }
}

impl Behaviour for CustomKind {
    fn read(&self, object: &mut Value) -> Result<Vec<String>, Malformed> {
        match self.schema.type_errors(object) {
            Some(error) => Err(Malformed(error)),
            None => Ok(self.schema.prune(object)),
        }
    }

    fn default(&self, object: &mut Value) {
        self.schema.default(object);
    }

    fn show(&self, object: &mut Value, api_version: &str) {
        self.storage.default(object);
        object["apiVersion"] = json!(api_version);
        self.schema.prune(object);
    }

    fn keep(&self, object: &mut Value, storage_version: &str) {
        object["apiVersion"] = json!(storage_version);
        self.storage.prune(object);
    }

    fn field_types(&self, api_version: &str) -> Option<&Types> {
        self.types.get(api_version)
    }

    fn openapi_schema(&self) -> Option<&Value> {
        Some(&self.openapi)
    }

    fn reset_fields(&self, target: Target<'_>) -> &'static [&'static [&'static str]] {
        match target {
            Target::Main => &[&["status"]],
            Target::Status => &[&["metadata"], &["spec"]],
            Target::Subresource(_) => &[],
        }
    }

    fn prepare_create(&self, object: &mut Value) {
        if self.has_status
            && let Some(members) = object.as_object_mut()
        {
            members.remove("status");
        }
    }

    fn prepare_update(&self, object: &mut Value, old: &Value, target: Target<'_>) {
        match target {
            Target::Main if self.has_status => carry(object, old, "status"),
            Target::Main | Target::Subresource(_) => {}
            Target::Status => keep_all_but_status(object, old),
        }
    }

    fn validate(&self, object: &Value, old: Option<&Value>, target: Target<'_>) -> Vec<FieldError> {
        let mut errors = Vec::new();
        self.validate_after(&mut errors, object, old, target);
        errors
    }

    fn validate_after(
        &self,
        errors: &mut Vec<FieldError>,
        object: &Value,
        old: Option<&Value>,
        target: Target<'_>,
    ) -> Vec<FieldError> {
        match target {
            Target::Status => errors.extend(self.schema.validate_status(object, old)),
            Target::Main | Target::Subresource(_) => {
                errors.extend(self.schema.validate(object, old));
                errors.extend(
                    self.scale
                        .as_ref()
                        .and_then(|scale| count_error(object, &scale.specification)),
                );
            }
        }
        errors.extend(self.scale.as_ref().and_then(|scale| count_error(object, &scale.status)));
        self.schema.rules_after(errors, object, old)
    }

    fn validate_name(&self, name: &str) -> Vec<String> {
        names::dns_1123_subdomain(name)
    }

    fn generation_changed(&self, object: &Value, old: &Value) -> bool {
        self.is_specification_changed(object, old)
    }

    fn warnings(&self, object: &Value, old: Option<&Value>) -> Vec<String> {
        let known: BTreeSet<&str> = old.into_iter().flat_map(finalizers).collect();
        let added: BTreeSet<&str> = finalizers(object).filter(|name| !known.contains(name)).collect();
        added.into_iter().flat_map(finalizer_warnings).collect()
    }

    fn cells(&self, object: &Value, now: Timestamp) -> Vec<Value> {
        self.printer.cells(object, now)
    }
}

fn finalizers(object: &Value) -> impl Iterator<Item = &str> {
    let names = object["metadata"].get("finalizers").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str)
}

/// Finalizers of custom kinds may have any name; those that others could use too are warned of.
fn finalizer_warnings(name: &str) -> Vec<String> {
    let shown = format!("metadata.finalizers: {}", go_text::quote(name));
    let mut warnings: Vec<String> = names::qualified_name(name)
        .into_iter()
        .map(|words| format!("{shown}: {words}"))
        .collect();
    if !name.contains('/') && !STANDARD_FINALIZERS.contains(&name) {
        let path = if name.contains('.') {
            " including a path (/)"
        } else {
            ""
        };
        warnings.push(format!(
            "{shown}: prefer a domain-qualified finalizer name{path} to avoid accidental conflicts with other finalizer \
             writers"
        ));
    }
    warnings
}

/// What is wrong with a number of replicas, which must be one that a Scale can hold, and with the way to it.
fn count_error(object: &Value, path: &[String]) -> Option<FieldError> {
    let field = format!(".{}", path.join("."));
    let mut value = object;
    for (depth, name) in path.iter().enumerate() {
        value = match value {
            Value::Object(members) => members.get(name)?,
            Value::Null => return None,
            other => {
                let reached = format!(".{}", path[..=depth].join("."));
                return Some(accessor_error(field, &reached, other, "map[string]interface{}"));
            }
        };
    }
    let count = match value {
        Value::Null => return None,
        other => match other.as_i64() {
            Some(count) => count,
            None => return Some(accessor_error(field.clone(), &field, other, "int64")),
        },
    };
    if count < 0 {
        return Some(FieldError::invalid(field, count, "should be a non-negative integer"));
    }
    let detail = format!("should be less than or equal to {}", i32::MAX);
    (count > i64::from(i32::MAX)).then(|| FieldError::invalid(field, count, detail))
}

/// A value that is not what its place asks for, in the words of Go's types.
fn accessor_error(field: String, reached: &str, value: &Value, expected: &str) -> FieldError {
    let (shown, kind) = match value {
        Value::String(text) => (text.clone(), "string"),
        Value::Bool(truth) => (truth.to_string(), "bool"),
        Value::Number(number) if number.is_i64() => (number.to_string(), "int64"),
        Value::Number(number) => (number.to_string(), "float64"),
        Value::Array(_) => (value.to_string(), "[]interface {}"),
        Value::Object(_) | Value::Null => (value.to_string(), "map[string]interface {}"),
    };
    let detail = format!("{reached} accessor error: {shown} is of the type {kind}, expected {expected}");
    FieldError::invalid(field, 0, detail)
}

/// Sets a field as the old object has it.
fn carry(object: &mut Value, old: &Value, field: &str) {
    let Some(members) = object.as_object_mut() else {
        return;
    };
    match old.get(field) {
        Some(value) => members.insert(field.to_owned(), value.clone()),
        None => members.remove(field),
    };
}

/// Of a write to the status, the status and who owns what come from the request; all else stays as it is.
fn keep_all_but_status(object: &mut Value, old: &Value) {
    let mut kept = old.clone();
    carry(&mut kept, object, "status");
    if let (Some(metadata), Some(sent)) = (kept["metadata"].as_object_mut(), object["metadata"].as_object()) {
        for field in ["managedFields", "resourceVersion"] {
            match sent.get(field) {
                Some(value) => metadata.insert(field.to_owned(), value.clone()),
                None => metadata.remove(field),
            };
        }
    }
    *object = kept;
}
