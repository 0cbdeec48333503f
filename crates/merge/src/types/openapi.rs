//! From OpenAPI to [`Types`]: structural schemas of custom resources and the components of built-in kinds.
//! Follows upstream's conversion (kube-openapi, schemaconv) in what it makes of each keyword.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{
    Atom, DEDUCED, Field, ListShape, ListType, MapType, PatchRule, PatchStrategy, Scalar, TypeId, Types, UNTYPED,
    common_atoms, defaults, object_meta,
};

/// Components that upstream types by hand, because their schemas say less than their Go types.
const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";
const RAW_EXTENSION: &str = "io.k8s.apimachinery.pkg.runtime.RawExtension";

pub(super) fn structural(schema: &Value) -> Types {
    let definitions = object_meta::definitions();
    let mut schema = schema.clone();
    add_type_meta(&mut schema);
    add_embedded(&mut schema);
    let mut builder = Builder::new(&definitions);
    let root = builder.inline(&schema, false);
    Types {
        atoms: builder.atoms,
        root,
        empty: Value::Object(Map::new()),
    }
}

pub(super) fn named(root: &str, definitions: &BTreeMap<String, Value>) -> Types {
    let mut builder = Builder::new(definitions);
    let root_id = builder.component(root);
    Types {
        atoms: builder.atoms,
        root: root_id,
        empty: defaults::empty_object(root, definitions),
    }
}

/// Every object, embedded ones included, has the fields that its schema need not mention.
fn add_type_meta(schema: &mut Value) {
    let Some(schema) = schema.as_object_mut() else { return };
    let properties = schema.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    let Some(properties) = properties.as_object_mut() else {
        return;
    };
    properties.insert("apiVersion".to_owned(), json!({"type": "string"}));
    properties.insert("kind".to_owned(), json!({"type": "string"}));
    properties.insert("metadata".to_owned(), json!({"$ref": object_meta::OBJECT_META}));
}

fn add_embedded(schema: &mut Value) {
    let embedded = schema["x-kubernetes-embedded-resource"] == true;
    let Some(fields) = schema.as_object_mut() else { return };
    if let Some(properties) = fields.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().for_each(add_embedded);
    }
    for keyword in ["items", "additionalProperties"] {
        if let Some(nested) = fields.get_mut(keyword) {
            add_embedded(nested);
        }
    }
    if embedded {
        add_type_meta(schema);
    }
}

struct Builder<'d> {
    definitions: &'d BTreeMap<String, Value>,
    atoms: Vec<Atom>,
    /// Components that are built or being built, by name and by whether the reference makes them atomic.
    components: BTreeMap<(&'d str, Option<bool>), TypeId>,
}

impl<'d> Builder<'d> {
    fn new(definitions: &'d BTreeMap<String, Value>) -> Self {
        Self {
            definitions,
            atoms: common_atoms(),
            components: BTreeMap::new(),
        }
    }

    /// Reserves a place, so that a type may refer to itself.
    fn reserve(&mut self) -> TypeId {
        let place = u32::try_from(self.atoms.len()).expect("a schema of one body has fewer than 2^32 types");
        self.atoms.push(Atom::default());
        TypeId(place)
    }

    fn component(&mut self, name: &str) -> TypeId {
        self.component_with(name, None)
    }

    /// The type of a component; a reference may override whether its map is atomic.
    fn component_with(&mut self, name: &str, atomic: Option<bool>) -> TypeId {
        let Some((name, schema)) = self.definitions.get_key_value(name) else {
            return DEDUCED;
        };
        if let Some(known) = self.components.get(&(name.as_str(), atomic)) {
            return *known;
        }
        let type_id = self.reserve();
        self.components.insert((name.as_str(), atomic), type_id);
        let mut atom = match name.as_str() {
            QUANTITY => Atom {
                scalar: Some(Scalar::Untyped),
                ..Atom::default()
            },
            RAW_EXTENSION => self.atoms[UNTYPED.0 as usize].clone(),
            _ => self.atom(schema, false),
        };
        override_atomic(&mut atom, atomic);
        self.atoms[type_id.0 as usize] = atom;
        type_id
    }

    fn reference(&mut self, schema: &Value, preserve: bool) -> TypeId {
        match referred(schema) {
            Some(name) => self.component_with(name, map_type(schema)),
            None => self.inline(schema, preserve),
        }
    }

    fn inline(&mut self, schema: &Value, preserve: bool) -> TypeId {
        let type_id = self.reserve();
        let atom = self.atom(schema, preserve);
        self.atoms[type_id.0 as usize] = atom;
        type_id
    }

    /// `preserve` is inherited: what lies under a field that keeps unknown fields keeps them too.
    fn atom(&mut self, schema: &Value, preserve: bool) -> Atom {
        let preserve = preserve || schema["x-kubernetes-preserve-unknown-fields"] == true;
        match schema["type"].as_str().unwrap_or_default() {
            "object" => Atom {
                map: Some(self.map(schema, preserve)),
                ..Atom::default()
            },
            "array" => Atom {
                list: Some(self.list(schema, preserve)),
                ..Atom::default()
            },
            "" => Atom {
                scalar: Some(Scalar::Untyped),
                list: Some(self.list(schema, preserve)),
                map: Some(self.map(schema, preserve)),
            },
            kind => Atom {
                scalar: Some(scalar(kind, schema["format"].as_str().unwrap_or_default())),
                ..Atom::default()
            },
        }
    }

    fn map(&mut self, schema: &Value, preserve: bool) -> MapType {
        let properties = schema["properties"].as_object();
        let fields: Box<[Field]> = properties
            .into_iter()
            .flatten()
            .map(|(name, property)| Field {
                name: name.as_str().into(),
                type_id: self.reference(property, preserve),
                default: property.get("default").filter(|default| !default.is_null()).cloned(),
                patch: patch_rule(property),
            })
            .collect();
        let element = match schema.get("additionalProperties") {
            None | Some(Value::Null) => (preserve || fields.is_empty()).then_some(DEDUCED),
            Some(Value::Bool(allowed)) => allowed.then_some(DEDUCED),
            Some(additional) => Some(self.reference(additional, preserve)),
        };
        let unknown = fields.is_empty() && element.is_some_and(|element| self.is_unknown(element, schema));
        MapType {
            fields,
            element,
            atomic: map_type(schema) == Some(true),
            unknown,
        }
    }

    /// Upstream counts a map of untyped values as unknown when their schema stands in place, not behind a reference.
    fn is_unknown(&self, element: TypeId, schema: &Value) -> bool {
        let in_place = schema
            .get("additionalProperties")
            .is_some_and(|additional| referred(additional).is_none());
        element == DEDUCED || (in_place && self.atoms[element.0 as usize].scalar == Some(Scalar::Untyped))
    }

    fn list(&mut self, schema: &Value, preserve: bool) -> ListType {
        let element = match schema.get("items") {
            None | Some(Value::Null) => UNTYPED,
            Some(items) => self.reference(items, preserve),
        };
        ListType {
            element,
            shape: list_shape(schema),
        }
    }
}

fn override_atomic(atom: &mut Atom, atomic: Option<bool>) {
    let Some(atomic) = atomic else { return };
    if let Some(map) = &mut atom.map {
        map.atomic = atomic;
    } else if let Some(list) = &mut atom.list
        && atomic
    {
        list.shape = ListShape::Atomic;
    }
}

/// The name of the component that a schema refers to, directly or through an `allOf` of one.
pub(super) fn referred(schema: &Value) -> Option<&str> {
    let direct = schema.get("$ref").and_then(Value::as_str);
    let reference = direct.or_else(|| match schema.get("allOf")?.as_array()?.as_slice() {
        [only] => only.get("$ref")?.as_str(),
        _ => None,
    })?;
    reference.rsplit('/').next().filter(|name| !name.is_empty())
}

/// Whether `x-kubernetes-map-type` says atomic; `None` when it says nothing.
fn map_type(schema: &Value) -> Option<bool> {
    match schema["x-kubernetes-map-type"].as_str()? {
        "atomic" => Some(true),
        "granular" => Some(false),
        _ => None,
    }
}

fn list_shape(schema: &Value) -> ListShape {
    match schema["x-kubernetes-list-type"].as_str() {
        Some("set") => ListShape::Set,
        Some("map") => keyed(
            schema["x-kubernetes-list-map-keys"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str),
        ),
        Some(_) => ListShape::Atomic,
        None => patch_shape(schema),
    }
}

/// Lists of built-in kinds that only say how a strategic patch treats them.
fn patch_shape(schema: &Value) -> ListShape {
    match schema["x-kubernetes-patch-strategy"].as_str() {
        Some("merge" | "merge,retainKeys") => match schema["x-kubernetes-patch-merge-key"].as_str() {
            Some(key) => keyed([key].into_iter()),
            None => ListShape::Set,
        },
        _ => ListShape::Atomic,
    }
}

/// How a strategic patch treats a field. That keys are retained is said by each patch again, and so of no interest here.
fn patch_rule(schema: &Value) -> PatchRule {
    let strategies = schema["x-kubernetes-patch-strategy"].as_str().unwrap_or_default();
    let strategy = match strategies.split(',').find(|word| *word != "retainKeys") {
        Some("merge") => PatchStrategy::Merge,
        Some("replace") => PatchStrategy::Replace,
        _ => PatchStrategy::Plain,
    };
    PatchRule {
        strategy,
        key: schema["x-kubernetes-patch-merge-key"].as_str().map(Into::into),
    }
}

fn keyed<'k>(keys: impl Iterator<Item = &'k str>) -> ListShape {
    let mut keys: Vec<Box<str>> = keys.map(Into::into).collect();
    keys.sort();
    if keys.is_empty() {
        ListShape::Set
    } else {
        ListShape::Keyed(keys.into_boxed_slice())
    }
}

fn scalar(kind: &str, format: &str) -> Scalar {
    match (kind, format) {
        ("integer" | "number", _) => Scalar::Numeric,
        ("boolean", _) => Scalar::Boolean,
        ("string", "" | "byte") => Scalar::String,
        _ => Scalar::Untyped,
    }
}
