//! The Go types of the built-in kinds as data: which fields there are, of which shape, and which are left out when
//! empty. Read once from a table; knows no kind by name.

mod base;
mod defaults;
mod describe;
mod protobuf;
mod read;
mod table;
mod time;

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use serde_json::{Map, Value};

use crate::defaults::functions as defaults_by_type;

pub(crate) use self::{
    base::{bytes_length, encode_bytes},
    defaults::DefaultFunction,
    describe::as_all_of,
    time::parse_time,
};

/// Where a type is in [`Types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TypeIndex(usize);

/// What JSON a Go type reads and writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    String,
    Bool,
    Int32,
    Int64,
    Float,
    Bytes,
    Quantity,
    /// A quantity of a resource list, which has no finer parts than thousandths.
    ResourceQuantity,
    Time,
    MicroTime,
    IntOrString,
    Duration,
    /// Any JSON, kept as it is.
    Raw,
    Object(TypeIndex),
    List(Box<Shape>),
    Map(Box<Shape>),
    /// Absence differs from zero.
    Pointer(Box<Shape>),
    /// A schema or a boolean, as `additionalProperties` takes.
    ObjectOrBool(TypeIndex),
    /// A schema or a list of them, as `items` takes.
    ObjectOrList(TypeIndex),
    /// A schema or a list of names, as `dependencies` takes.
    ObjectOrStrings(TypeIndex),
}

/// One field of a type.
#[derive(Debug)]
pub(crate) struct Field {
    pub name: &'static str,
    pub shape: Shape,
    /// The Go type without pointers, as messages print it.
    pub go_type: String,
    /// Left out when empty.
    pub omit_empty: bool,
    /// Left out when it is a struct without content.
    pub omit_zero: bool,
    /// What the server fills in, where the type itself says so.
    pub default: Option<Value>,
    /// Facts that only OpenAPI shows: `key=value` words of the table.
    pub attributes: &'static str,
    /// The type as the table writes it.
    pub written: &'static str,
    /// The numbers in protobuf of the structs inside of its struct that declare it, and of itself; empty for what only
    /// JSON has.
    pub tags: Vec<u32>,
}

impl Field {
    /// The structs inside of its struct that the Go source declares it in, the outer first; messages name them.
    fn embedded_in(&self) -> impl DoubleEndedIterator<Item = &'static str> {
        let names = self.attributes.split(' ').find_map(|word| word.strip_prefix("in="));
        names.into_iter().flat_map(|names| names.split('.'))
    }
}

/// A struct.
#[derive(Debug)]
pub(crate) struct Type {
    /// The name in Go, without the package.
    pub go_name: &'static str,
    /// The name in OpenAPI.
    pub component: String,
    /// Facts that only OpenAPI shows.
    pub attributes: &'static str,
    /// By name.
    pub fields: Vec<Field>,
    /// The positions of fields in the order of the Go source.
    pub declared: Vec<usize>,
    /// The fields that are written even when zero.
    always: Vec<usize>,
    /// Whether it, or anything below it, has defaults.
    has_defaults: bool,
    /// What code fills in.
    default_function: Option<DefaultFunction>,
}

impl Type {
    fn field(&self, name: &str) -> Option<&Field> {
        let position = self.fields.binary_search_by(|field| field.name.cmp(name)).ok()?;
        Some(&self.fields[position])
    }
}

/// Every type of the table.
#[derive(Debug)]
pub(crate) struct Types {
    entries: Vec<Type>,
    by_name: BTreeMap<&'static str, TypeIndex>,
    /// By `group/version/kind`.
    by_kind: BTreeMap<&'static str, TypeIndex>,
}

/// Constants, read once from the table.
static SHARED: LazyLock<Arc<Types>> = LazyLock::new(|| Arc::new(Types::load(&defaults_by_type())));

impl Types {
    /// The table with its defaults, read at first use.
    pub(crate) fn shared() -> &'static Arc<Self> {
        &SHARED
    }

    /// The type of this name in the table, such as `core.Pod`.
    pub(crate) fn find(&self, name: &str) -> Option<TypeIndex> {
        self.by_name.get(name).copied()
    }

    /// The type of the objects that say this of themselves.
    pub(crate) fn find_kind(&self, api_version: &str, kind: &str) -> Option<TypeIndex> {
        // Every group has options of its own in name, and they are all the same.
        if kind == "DeleteOptions" {
            return self.find("meta.DeleteOptions");
        }
        let group = if api_version.contains('/') { "" } else { "/" };
        let name = format!("{group}{api_version}/{kind}");
        self.by_kind.get(name.as_str()).copied()
    }

    pub(crate) fn get(&self, index: TypeIndex) -> &Type {
        &self.entries[index.0]
    }

    /// Adds the parts of an object that are written even when nobody set them, such as an empty status.
    pub(crate) fn complete(&self, index: TypeIndex, value: &mut Value) {
        if let Value::Object(map) = value {
            self.fill_always(index, map);
        }
    }

    /// What a Go program writes for a value of this shape that nobody set.
    fn zero(&self, shape: &Shape) -> Value {
        match shape {
            Shape::String => Value::from(""),
            Shape::Bool => Value::from(false),
            Shape::Int32 | Shape::Int64 | Shape::Float | Shape::IntOrString => Value::from(0),
            Shape::Quantity | Shape::ResourceQuantity => Value::from("0"),
            Shape::Duration => Value::from("0s"),
            Shape::Object(index) => {
                let mut map = Map::new();
                self.fill_always(*index, &mut map);
                Value::Object(map)
            }
            _ => Value::Null,
        }
    }

    /// Adds the fields that are written even when zero.
    fn fill_always(&self, index: TypeIndex, map: &mut Map<String, Value>) {
        let entry = self.get(index);
        for &position in &entry.always {
            let field = &entry.fields[position];
            if !map.contains_key(field.name) {
                map.insert(field.name.to_owned(), self.zero(&field.shape));
            }
        }
    }
}
