//! The types of an object as a merge sees them: which lists are sets or keyed, what is atomic, what is unknown.
//! Built once per version of a kind and shared; must not know objects, managers or requests.

mod defaults;
mod object_meta;
mod openapi;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::Value;

/// The types that one version of a kind consists of.
#[derive(Clone, Debug)]
pub struct Types {
    atoms: Vec<Atom>,
    root: TypeId,
    /// What an object of this kind is before anything is set, as far as ownership is concerned.
    pub(crate) empty: Value,
}

/// Where a type stands in its [`Types`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct TypeId(u32);

/// The kinds of value that a type admits. A typed field admits one, an untyped one all three.
#[derive(Clone, Debug, Default)]
pub(crate) struct Atom {
    pub(crate) map: Option<MapType>,
    pub(crate) scalar: Option<Scalar>,
    pub(crate) list: Option<ListType>,
}

/// What a scalar may be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Scalar {
    Numeric,
    String,
    Boolean,
    Untyped,
}

/// A struct, a map, or both.
#[derive(Clone, Debug)]
pub(crate) struct MapType {
    /// Named fields, sorted by name.
    fields: Box<[Field]>,
    /// The type of all other fields; without one there must be none.
    pub(crate) element: Option<TypeId>,
    pub(crate) atomic: bool,
    /// Whether nothing is known of the fields, so that a later schema cannot contradict what is owned.
    pub(crate) unknown: bool,
}

#[derive(Clone, Debug)]
struct Field {
    name: Box<str>,
    type_id: TypeId,
    default: Option<Value>,
    patch: PatchRule,
}

/// How a strategic merge patch treats a field.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct PatchRule {
    pub(crate) strategy: PatchStrategy,
    /// The field by which items of a list are told apart; none for lists of scalars.
    pub(crate) key: Option<Box<str>>,
}

/// What a strategic merge patch does with what it finds.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum PatchStrategy {
    /// Maps are merged, lists are replaced.
    #[default]
    Plain,
    /// Lists are merged too.
    Merge,
    /// Maps are replaced too.
    Replace,
}

/// A list.
#[derive(Clone, Debug)]
pub(crate) struct ListType {
    pub(crate) element: TypeId,
    pub(crate) shape: ListShape,
}

/// How the items of a list relate to each other.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum ListShape {
    /// The list is one value.
    Atomic,
    /// Scalars, each at most once.
    Set,
    /// Maps, told apart by these fields, sorted by name.
    Keyed(Box<[Box<str>]>),
}

/// The one kind of value that a walk treats a value as.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape<'t> {
    Map(&'t MapType),
    Scalar(Scalar),
    List(&'t ListType),
}

impl Types {
    /// The types of a custom resource: the structural `openAPIV3Schema` of one version of its definition.
    pub fn structural(schema: &Value) -> Types {
        openapi::structural(schema)
    }

    /// The types of a built-in kind: the OpenAPI v3 component of this name, and all components that it refers to.
    pub fn openapi(root: &str, definitions: &BTreeMap<String, Value>) -> Types {
        openapi::named(root, definitions)
    }

    /// The types of a kind without a schema: maps are merged by field, lists are one value.
    pub fn deduced() -> Types {
        Types {
            atoms: common_atoms(),
            root: DEDUCED,
            empty: Value::Object(serde_json::Map::new()),
        }
    }

    pub(crate) fn root(&self) -> TypeId {
        self.root
    }

    pub(crate) fn atom(&self, type_id: TypeId) -> &Atom {
        &self.atoms[type_id.0 as usize]
    }

    /// The shape of a value, or the first that its type admits when the value is null or of a wrong kind.
    pub(crate) fn shape(&self, type_id: TypeId, value: &Value) -> Shape<'_> {
        let atom = self.atom(type_id);
        let admitted = match value {
            Value::Null => None,
            Value::Bool(_) | Value::Number(_) | Value::String(_) => atom.scalar.map(Shape::Scalar),
            Value::Array(_) => atom.list.as_ref().map(Shape::List),
            Value::Object(_) => atom.map.as_ref().map(Shape::Map),
        };
        admitted.unwrap_or_else(|| atom.first_shape())
    }
}

impl Atom {
    /// The shape that upstream prefers when the value does not tell: map, scalar, list.
    pub(crate) fn first_shape(&self) -> Shape<'_> {
        match (&self.map, self.scalar, &self.list) {
            (Some(map), _, _) => Shape::Map(map),
            (None, None, Some(list)) => Shape::List(list),
            (None, scalar, _) => Shape::Scalar(scalar.unwrap_or(Scalar::Untyped)),
        }
    }
}

impl Shape<'_> {
    /// Whether both are the same kind; two shapes of one type are then the same.
    pub(crate) fn is_like(&self, other: &Shape<'_>) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl MapType {
    /// The type of a field; `None` when the schema does not declare it.
    pub(crate) fn field(&self, name: &str) -> Option<TypeId> {
        self.named(name).or(self.element)
    }

    /// The type of a field that has a name in the schema, unlike a key of a map.
    pub(crate) fn named(&self, name: &str) -> Option<TypeId> {
        self.find(name).map(|field| field.type_id)
    }

    /// The type of a field that has a name in the schema, and how strategic merge patches treat it.
    pub(crate) fn patched(&self, name: &str) -> Option<(TypeId, &PatchRule)> {
        self.find(name).map(|field| (field.type_id, &field.patch))
    }

    pub(crate) fn default(&self, name: &str) -> Option<&Value> {
        self.find(name).and_then(|field| field.default.as_ref())
    }

    fn find(&self, name: &str) -> Option<&Field> {
        let position = self.fields.binary_search_by(|field| (*field.name).cmp(name)).ok()?;
        Some(&self.fields[position])
    }
}

/// A value of unknown type that is owned as a whole.
pub(crate) const UNTYPED: TypeId = TypeId(0);
/// A value of unknown type whose maps are owned by field.
const DEDUCED: TypeId = TypeId(1);

fn common_atoms() -> Vec<Atom> {
    let untyped = |element, atomic| Atom {
        scalar: Some(Scalar::Untyped),
        list: Some(ListType {
            element: UNTYPED,
            shape: ListShape::Atomic,
        }),
        map: Some(MapType {
            fields: Box::default(),
            element: Some(element),
            atomic,
            unknown: element == DEDUCED,
        }),
    };
    vec![untyped(UNTYPED, true), untyped(DEDUCED, false)]
}
