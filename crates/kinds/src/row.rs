//! One built-in kind as a row: what discovery says of it, and the functions that make it differ from others. Rows are
//! constants; this file turns one into a [`Resource`].

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use crate::{
    Column, Propagation, Resource, ScalePaths, Scope, SelectableField, Subresource, Target, Verb,
    behaviour_of_row::BuiltInBehaviour, complaints::Complaints, types::Types, value::carry_over,
};

/// A path below an object: its name, what it is of, and its verbs.
#[derive(Clone, Copy)]
pub(crate) struct SubresourceRow {
    pub name: &'static str,
    /// Empty for the kind of the resource itself.
    pub kind: &'static str,
    pub group: &'static str,
    pub version: &'static str,
    pub verbs: &'static [Verb],
}

/// A column: header, type, and the priority, which is 0 for what is always shown. The column `Name` has the format `name`.
pub(crate) type ColumnRow = (&'static str, &'static str, i32);

/// A selectable field: what clients write, where the values are, what an absent value reads as.
pub(crate) type FieldRow = (&'static str, &'static [&'static str], &'static str);

/// Paths of fields that a write cannot own.
pub(crate) type ResetFields = &'static [&'static [&'static str]];

/// What changes count as a new generation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Generation {
    /// None: the kind has no generation.
    Absent,
    /// Everything but metadata and status.
    Specification,
    /// The same, and annotations, which controllers of Deployments read.
    SpecificationAndAnnotations,
}

/// One built-in kind.
pub(crate) struct Row {
    pub group: &'static str,
    pub version: &'static str,
    pub plural: &'static str,
    pub singular: &'static str,
    pub kind: &'static str,
    /// The type in the table of types.
    pub type_name: &'static str,
    pub short_names: &'static [&'static str],
    pub categories: &'static [&'static str],
    pub scope: Scope,
    pub verbs: &'static [Verb],
    pub subresources: &'static [SubresourceRow],
    /// Where the number of replicas and the selector are; empty for kinds that do not scale.
    pub scale_selector: Option<&'static str>,
    pub columns: &'static [ColumnRow],
    pub cells: fn(&Value, Timestamp) -> Vec<Value>,
    pub fields: &'static [FieldRow],
    /// Empty for `plural.group`.
    pub collection: &'static str,
    /// Empty for the `apiVersion` of the row.
    pub storage_version: &'static str,
    pub generation: Generation,
    pub creates_on_update: bool,
    pub allows_unconditional_update: bool,
    pub propagation: Propagation,
    pub returns_deleted: bool,
    pub deprecation: &'static str,
    pub name: fn(&str) -> Vec<String>,
    pub create: fn(&mut Value),
    pub update: fn(&mut Value, &Value, Target<'_>),
    pub validate: fn(&Value, Option<&Value>, Target<'_>, &mut Complaints),
    pub warnings: fn(&Value, Option<&Value>) -> Vec<String>,
    pub reset_fields: fn(Target<'_>) -> ResetFields,
    pub grace: fn(&Value, Option<i64>) -> Option<i64>,
    pub is_held: fn(&Value) -> bool,
    pub begin_deletion: fn(&mut Value, Timestamp),
    pub stamp: fn(&mut Value, Option<&Value>, Target<'_>, Timestamp),
    pub to_stored: fn(&mut Value),
    pub from_stored: fn(&mut Value),
}

/// Reading and writing of a status by its own path.
pub(crate) const STATUS: SubresourceRow = SubresourceRow {
    name: "status",
    kind: "",
    group: "",
    version: "",
    verbs: &[Verb::Get, Verb::Patch, Verb::Update],
};

/// Reading and writing of a number of replicas.
pub(crate) const SCALE: SubresourceRow = SubresourceRow {
    name: "scale",
    kind: "Scale",
    group: "autoscaling",
    version: "v1",
    ..STATUS
};

/// The column with the name.
pub(crate) const NAME: ColumnRow = ("Name", "string", 0);
/// The column with the age.
pub(crate) const AGE: ColumnRow = ("Age", "string", 0);

/// What rows have in common; each names what it does otherwise.
pub(crate) const NAMESPACED: Row = Row {
    group: "",
    version: "v1",
    plural: "",
    singular: "",
    kind: "",
    type_name: "",
    short_names: &[],
    categories: &[],
    scope: Scope::Namespaced,
    verbs: &Verb::ALL,
    subresources: &[],
    scale_selector: None,
    columns: &[NAME, ("Created At", "date", 0)],
    cells: name_and_creation,
    fields: &[],
    collection: "",
    storage_version: "",
    generation: Generation::Absent,
    creates_on_update: false,
    allows_unconditional_update: true,
    propagation: Propagation::Background,
    returns_deleted: false,
    deprecation: "",
    name: hyperplane_schema::names::dns_1123_subdomain,
    create: reset_status,
    update: carry_over_by_target,
    validate: |_, _, _, _| {},
    warnings: |_, _| Vec::new(),
    reset_fields: reset_fields_by_target,
    grace: |_, _| None,
    is_held: |_| false,
    begin_deletion: |_, _| {},
    stamp: |_, _, _, _| {},
    to_stored: |_| {},
    from_stored: |_| {},
};

/// The same for kinds that live in no namespace.
pub(crate) const CLUSTER: Row = Row {
    scope: Scope::Cluster,
    ..NAMESPACED
};

/// Kinds that are asked and answered, and never stored.
pub(crate) const REVIEW: Row = Row {
    verbs: &[Verb::Create],
    name: |_| Vec::new(),
    create: |_| {},
    ..CLUSTER
};

/// The cells of kinds that nobody prints specially.
pub(crate) fn name_and_creation(object: &Value, _now: Timestamp) -> Vec<Value> {
    let metadata = &object["metadata"];
    vec![metadata["name"].clone(), metadata["creationTimestamp"].clone()]
}

/// A write of the object cannot own its status, and the other way round.
pub(crate) fn reset_fields_by_target(target: Target<'_>) -> ResetFields {
    match target {
        Target::Main => &[&["status"]],
        Target::Status => &[&["spec"]],
        Target::Subresource(_) => &[],
    }
}

/// Takes away the status that a client sent with a new object.
pub(crate) fn reset_status(object: &mut Value) {
    if let Some(map) = object.as_object_mut() {
        map.remove("status");
    }
}

/// An update of the object keeps the status; an update of the status keeps everything else but metadata.
pub(crate) fn carry_over_by_target(object: &mut Value, old: &Value, target: Target<'_>) {
    match target {
        Target::Main => carry_over(object, old, "status"),
        Target::Status => carry_over_all_but_status(object, old),
        Target::Subresource(_) => {}
    }
}

/// Keeps everything but metadata and status.
pub(crate) fn carry_over_all_but_status(object: &mut Value, old: &Value) {
    let Some(map) = object.as_object_mut() else { return };
    map.retain(|name, _| is_identity_or_status(name));
    for (name, value) in old.as_object().into_iter().flatten() {
        if !is_identity_or_status(name) {
            map.insert(name.clone(), value.clone());
        }
    }
}

/// Whether a field is neither specification nor anything else that users say.
pub(crate) fn is_identity_or_status(name: &str) -> bool {
    matches!(name, "apiVersion" | "kind" | "metadata" | "status")
}

impl Row {
    /// The resource that the server serves.
    pub(crate) fn resource(&'static self, types: &Arc<Types>) -> Resource {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let api_version = api_version(self.group, self.version);
        let collection = match self.collection {
            "" if self.group.is_empty() => self.plural.to_owned(),
            "" => format!("{}.{}", self.plural, self.group),
            named => named.to_owned(),
        };
        Resource {
            group: self.group.to_owned(),
            version: self.version.to_owned(),
            plural: self.plural.to_owned(),
            singular: self.singular.to_owned(),
            kind: self.kind.to_owned(),
            list_kind: format!("{}List", self.kind),
            short_names: owned(self.short_names),
            categories: owned(self.categories),
            scope: self.scope,
            verbs: self.verbs.iter().copied().collect(),
            subresources: self.subresources.iter().map(|row| self.subresource(row)).collect(),
            scale: self.scale_selector.map(scale_paths),
            columns: self.columns.iter().map(column).collect(),
            selectable_fields: self.fields.iter().map(selectable_field).collect(),
            collection: collection.into(),
            storage_version: match self.storage_version {
                "" => api_version.clone(),
                other => other.to_owned(),
            },
            has_generation: self.generation != Generation::Absent,
            creates_on_update: self.creates_on_update,
            allows_unconditional_update: self.allows_unconditional_update,
            default_propagation: self.propagation,
            deprecation: (!self.deprecation.is_empty()).then(|| self.deprecation.to_owned()),
            returns_deleted: self.returns_deleted,
            behaviour: Arc::new(BuiltInBehaviour::new(self, types, &api_version)),
        }
    }

    fn subresource(&self, row: &SubresourceRow) -> Subresource {
        let own = row.kind.is_empty();
        Subresource {
            name: row.name.to_owned(),
            kind: if own { self.kind } else { row.kind }.to_owned(),
            group: if row.version.is_empty() { self.group } else { row.group }.to_owned(),
            version: if row.version.is_empty() {
                self.version
            } else {
                row.version
            }
            .to_owned(),
            verbs: row.verbs.iter().copied().collect(),
        }
    }
}

fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    }
}

fn scale_paths(selector: &str) -> ScalePaths {
    let path = |text: &str| text.split('.').map(ToOwned::to_owned).collect();
    ScalePaths {
        specification: path("spec.replicas"),
        status: path("status.replicas"),
        selector: Some(path(selector)),
    }
}

fn column(row: &ColumnRow) -> Column {
    let (name, kind, priority) = *row;
    Column {
        name: name.to_owned(),
        kind: kind.to_owned(),
        format: if matches!(name, "Name" | "Attacher") {
            "name"
        } else {
            ""
        }
        .to_owned(),
        description: String::new(),
        priority,
    }
}

fn selectable_field(row: &FieldRow) -> SelectableField {
    let (label, paths, default) = *row;
    SelectableField {
        label: label.to_owned(),
        paths: paths
            .iter()
            .map(|path| path.split('.').map(ToOwned::to_owned).collect())
            .collect(),
        default: default.to_owned(),
    }
}
