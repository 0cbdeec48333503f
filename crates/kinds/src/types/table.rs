//! Parses the table of types. The table is part of the program, so a line that does not parse is a defect of the
//! program, found by the first test that loads it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{DefaultFunction, Field, Shape, Type, TypeIndex, Types};

const TABLE: &str = include_str!("../tables/types.txt");

struct Package {
    component: &'static str,
    go_name: &'static str,
}

/// What the lines before the types say.
#[derive(Default)]
struct Names {
    packages: BTreeMap<&'static str, Package>,
    aliases: BTreeMap<&'static str, &'static str>,
    types: BTreeMap<&'static str, TypeIndex>,
}

impl Types {
    /// Reads the table; `functions` are the defaults that code fills in, by the name of the type.
    pub(crate) fn load(functions: &BTreeMap<&'static str, DefaultFunction>) -> Self {
        let names = names();
        let mut entries: Vec<Type> = Vec::with_capacity(names.types.len());
        for line in TABLE.lines() {
            match line.split_at_checked(2) {
                Some(("t ", rest)) => entries.push(start_type(rest, &names, functions)),
                Some(("f ", rest)) => {
                    let entry = entries.last_mut().expect("a field follows its type in the table");
                    entry.fields.push(field(rest, &names));
                }
                _ => {}
            }
        }
        entries.iter_mut().for_each(finish_type);
        let mut types = Self {
            by_kind: entries.iter().enumerate().filter_map(by_kind).collect(),
            entries,
            by_name: names.types,
        };
        types.mark_defaults();
        types
    }

    /// Marks every type that has defaults somewhere below it. Types refer to each other in circles, so this repeats
    /// until nothing changes; the table is shallow.
    fn mark_defaults(&mut self) {
        loop {
            let marked: Vec<bool> = self.entries.iter().map(|entry| self.leads_to_defaults(entry)).collect();
            let mut changed = false;
            for (entry, marked) in self.entries.iter_mut().zip(marked) {
                changed |= marked != entry.has_defaults;
                entry.has_defaults = marked;
            }
            if !changed {
                return;
            }
        }
    }

    fn leads_to_defaults(&self, entry: &Type) -> bool {
        entry.default_function.is_some()
            || entry.fields.iter().any(|field| {
                field.default.is_some() || field.shape.index().is_some_and(|index| self.get(index).has_defaults)
            })
    }
}

impl Shape {
    /// The type at the bottom of lists, maps and pointers.
    pub(super) fn index(&self) -> Option<TypeIndex> {
        match self {
            Self::Object(index)
            | Self::ObjectOrBool(index)
            | Self::ObjectOrList(index)
            | Self::ObjectOrStrings(index) => Some(*index),
            Self::List(inner) | Self::Map(inner) | Self::Pointer(inner) => inner.index(),
            _ => None,
        }
    }
}

fn names() -> Names {
    let mut names = Names::default();
    for line in TABLE.lines() {
        let mut words = line.split(' ');
        match (words.next(), words.next(), words.next(), words.next()) {
            (Some("p"), Some(alias), Some(component), Some(go_name)) => {
                names.packages.insert(alias, Package { component, go_name });
            }
            (Some("a"), Some(name), Some(target), None) => {
                names.aliases.insert(name, target);
            }
            (Some("t"), Some(name), ..) => {
                let index = TypeIndex(names.types.len());
                names.types.insert(name, index);
            }
            _ => {}
        }
    }
    names
}

/// The `group/version/kind` of a type, if it is one of objects.
fn by_kind((position, entry): (usize, &Type)) -> Option<(&'static str, TypeIndex)> {
    let kind = entry
        .attributes
        .split(' ')
        .find_map(|word| word.strip_prefix("kind="))?;
    Some((kind, TypeIndex(position)))
}

fn start_type(line: &'static str, names: &Names, functions: &BTreeMap<&'static str, DefaultFunction>) -> Type {
    let (name, attributes) = line.split_once(' ').unwrap_or((line, ""));
    let (alias, go_name) = name.split_once('.').expect("a type of the table names its package");
    Type {
        go_name,
        component: format!("{}.{go_name}", names.packages[alias].component),
        attributes,
        fields: Vec::new(),
        declared: Vec::new(),
        always: Vec::new(),
        has_defaults: false,
        default_function: functions.get(name).copied(),
    }
}

fn field(line: &'static str, names: &Names) -> Field {
    let mut words = line.splitn(3, ' ');
    let name = words.next().unwrap_or_default();
    let written = words.next().unwrap_or_default();
    let attributes = words.next().unwrap_or_default();
    let shape = shape(written, names);
    Field {
        name,
        go_type: go_type(written.trim_start_matches('*'), names),
        omit_empty: attributes.split(' ').any(|word| word == "?"),
        omit_zero: attributes.split(' ').any(|word| word == "~"),
        default: real_default(attributes, &shape),
        shape,
        attributes,
        written,
        tags: tags(attributes),
    }
}

/// The numbers of a field in protobuf.
fn tags(attributes: &str) -> Vec<u32> {
    let word = attributes.split(' ').find_map(|word| word.strip_prefix("tag="));
    let numbers = word.into_iter().flat_map(|word| word.split('.'));
    numbers
        .map(|number| number.parse().expect("a tag of the table is a number"))
        .collect()
}

/// The default of a line, unless it is the zero that a value has anyway.
fn real_default(attributes: &str, shape: &Shape) -> Option<Value> {
    let word = attributes.split(' ').find_map(|word| word.strip_prefix("default="))?;
    let value: Value = serde_json::from_str(word).ok()?;
    let is_zero = match &value {
        _ if matches!(shape, Shape::Pointer(_)) => false,
        Value::String(text) => text.is_empty(),
        Value::Object(map) => map.is_empty(),
        other => other == &Value::from(0) || other == &Value::from(false),
    };
    (!is_zero).then_some(value)
}

fn shape(written: &str, names: &Names) -> Shape {
    if let Some(inner) = written.strip_prefix('*') {
        return Shape::Pointer(Box::new(shape(inner, names)));
    }
    if written == "[]byte" {
        return Shape::Bytes;
    }
    if let Some(inner) = written.strip_prefix("[]") {
        return Shape::List(Box::new(shape(inner, names)));
    }
    if let Some(inner) = written.strip_prefix("map") {
        return Shape::Map(Box::new(shape(inner, names)));
    }
    // Upstream rounds the amounts of resource lists up to thousandths wherever they occur.
    if written == "core.ResourceList" {
        return Shape::Map(Box::new(Shape::ResourceQuantity));
    }
    let properties = || names.types["apiextensions.JSONSchemaProps"];
    match written {
        "string" | "types.UID" => Shape::String,
        "bool" => Shape::Bool,
        "int32" => Shape::Int32,
        "int64" | "int" => Shape::Int64,
        "float64" => Shape::Float,
        "resource.Quantity" => Shape::Quantity,
        "intstr.IntOrString" => Shape::IntOrString,
        "meta.Time" => Shape::Time,
        "meta.MicroTime" => Shape::MicroTime,
        "meta.Duration" => Shape::Duration,
        "meta.FieldsV1" | "runtime.RawExtension" | "apiextensions.JSON" => Shape::Raw,
        "apiextensions.JSONSchemaPropsOrBool" => Shape::ObjectOrBool(properties()),
        "apiextensions.JSONSchemaPropsOrArray" => Shape::ObjectOrList(properties()),
        "apiextensions.JSONSchemaPropsOrStringArray" => Shape::ObjectOrStrings(properties()),
        other => match (names.types.get(other), names.aliases.get(other)) {
            (Some(index), _) => Shape::Object(*index),
            (None, Some(target)) => shape(target, names),
            (None, None) => Shape::Raw,
        },
    }
}

/// A type as Go prints it: `[]v1.Container`.
fn go_type(written: &str, names: &Names) -> String {
    if let Some(inner) = written.strip_prefix("[]") {
        return format!("[]{}", go_type(inner, names));
    }
    if let Some(inner) = written.strip_prefix("map") {
        return format!("map[string]{}", go_type(inner, names));
    }
    if let Some(inner) = written.strip_prefix('*') {
        return format!("*{}", go_type(inner, names));
    }
    match written.split_once('.') {
        Some((alias, name)) => {
            let package = names.packages.get(alias).map_or(alias, |package| package.go_name);
            format!("{package}.{name}")
        }
        None if written == "byte" => "uint8".to_owned(),
        None => written.to_owned(),
    }
}

fn finish_type(entry: &mut Type) {
    let declared_names: Vec<&str> = entry.fields.iter().map(|field| field.name).collect();
    entry.fields.sort_by_key(|field| field.name);
    entry.declared = declared_names
        .iter()
        .filter_map(|name| entry.fields.iter().position(|field| field.name == *name))
        .collect();
    entry.always = (0..entry.fields.len())
        .filter(|&position| entry.fields[position].is_always_written())
        .collect();
}

impl Field {
    /// Whether Go writes the field even when it is zero: `omitempty` does not leave out structs.
    fn is_always_written(&self) -> bool {
        let is_struct = matches!(
            self.shape,
            Shape::Object(_) | Shape::Quantity | Shape::IntOrString | Shape::Duration | Shape::Time | Shape::MicroTime
        );
        !self.omit_zero && (is_struct || !self.omit_empty)
    }
}
