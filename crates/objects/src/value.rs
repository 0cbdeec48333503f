//! Types from a borrowed value, as `serde_json` reads them, with a third less code per type: a structure is read from an
//! object and from nothing else, so that serde's reader of structures from lists is never compiled.

use serde::{
    Deserializer,
    de::{
        DeserializeSeed, EnumAccess, Error as _, IntoDeserializer as _, MapAccess, SeqAccess, Unexpected,
        VariantAccess, Visitor,
    },
    forward_to_deserialize_any,
};
use serde_json::{Error, Map, Result, Value};

/// A value that is read.
#[derive(Clone, Copy)]
pub(crate) struct ValueReader<'de>(pub(crate) &'de Value);

/// A key of an object. Keys that are numbers are texts in JSON.
#[derive(Clone, Copy)]
struct KeyReader<'de>(&'de str);

struct ListReader<'de>(std::slice::Iter<'de, Value>);

struct ObjectReader<'de> {
    fields: serde_json::map::Iter<'de>,
    value: Option<&'de Value>,
}

/// A variant of an enumeration: its name, and what it holds.
struct VariantReader<'de> {
    name: &'de str,
    content: Option<&'de Value>,
}

impl<'de> ValueReader<'de> {
    #[cold]
    fn mismatch<V: Visitor<'de>>(self, visitor: &V) -> Error {
        mismatch(self.0, visitor)
    }
}

fn read_list<'de, V: Visitor<'de>>(list: &'de [Value], visitor: V) -> Result<V::Value> {
    let mut reader = ListReader(list.iter());
    let read = visitor.visit_seq(&mut reader)?;
    match reader.0.len() {
        0 => Ok(read),
        _ => Err(Error::invalid_length(list.len(), &"fewer elements in array")),
    }
}

fn read_object<'de, V: Visitor<'de>>(object: &'de Map<String, Value>, visitor: V) -> Result<V::Value> {
    let mut reader = ObjectReader {
        fields: object.iter(),
        value: None,
    };
    let read = visitor.visit_map(&mut reader)?;
    match reader.fields.len() {
        0 => Ok(read),
        _ => Err(Error::invalid_length(object.len(), &"fewer elements in map")),
    }
}

/// Not generic over the visitor: what is said is compiled once.
fn mismatch(found: &Value, expected: &dyn serde::de::Expected) -> Error {
    let found = match found {
        Value::Null => Unexpected::Unit,
        Value::Bool(value) => Unexpected::Bool(*value),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(value), _) => Unexpected::Unsigned(value),
            (None, Some(value)) => Unexpected::Signed(value),
            (None, None) => Unexpected::Float(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => Unexpected::Str(text),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    };
    Error::invalid_type(found, expected)
}

macro_rules! numbers {
    ($($method:ident)+) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                match self.0 {
                    Value::Number(number) => number.deserialize_any(visitor),
                    _ => Err(self.mismatch(&visitor)),
                }
            }
        )+
    };
}

macro_rules! texts {
    ($($method:ident)+) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                match self.0 {
                    Value::String(text) => visitor.visit_borrowed_str(text),
                    _ => Err(self.mismatch(&visitor)),
                }
            }
        )+
    };
}

impl<'de> Deserializer<'de> for ValueReader<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(number) => number.deserialize_any(visitor),
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Array(list) => read_list(list, visitor),
            Value::Object(object) => read_object(object, visitor),
        }
    }

    numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    texts! { deserialize_char deserialize_str deserialize_string deserialize_identifier }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0 {
            Value::Bool(value) => visitor.visit_bool(*value),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0 {
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Array(list) => read_list(list, visitor),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0 {
            Value::Array(list) => read_list(list, visitor),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(self, _: &'static str, _: usize, visitor: V) -> Result<V::Value> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0 {
            Value::Object(object) => read_object(object, visitor),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let (name, content) = match self.0 {
            Value::String(name) => (name.as_str(), None),
            Value::Object(object) => match (object.len(), object.iter().next()) {
                (1, Some((name, content))) => (name.as_str(), Some(content)),
                _ => return Err(Error::invalid_value(Unexpected::Map, &"map with a single key")),
            },
            _ => return Err(mismatch(self.0, &"string or map")),
        };
        visitor.visit_enum(VariantReader { name, content })
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_unit()
    }
}

impl<'de> SeqAccess<'de> for ListReader<'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        match self.0.next() {
            Some(value) => seed.deserialize(ValueReader(value)).map(Some),
            None => Ok(None),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

impl<'de> MapAccess<'de> for ObjectReader<'de> {
    type Error = Error;

    fn next_key_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        let Some((key, value)) = self.fields.next() else {
            return Ok(None);
        };
        self.value = Some(value);
        seed.deserialize(KeyReader(key)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        let value = self.value.take();
        seed.deserialize(ValueReader(value.ok_or_else(|| Error::custom("value is missing"))?))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.fields.len())
    }
}

macro_rules! numbers_as_text {
    ($($method:ident => $visit:ident)+) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                match self.0.parse() {
                    Ok(number) => visitor.$visit(number),
                    Err(_) => Err(Error::custom("invalid value: expected key to be a number in quotes")),
                }
            }
        )+
    };
}

impl<'de> Deserializer<'de> for KeyReader<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_borrowed_str(self.0)
    }

    numbers_as_text! {
        deserialize_i8 => visit_i8 deserialize_i16 => visit_i16 deserialize_i32 => visit_i32
        deserialize_i64 => visit_i64 deserialize_u8 => visit_u8 deserialize_u16 => visit_u16
        deserialize_u32 => visit_u32 deserialize_u64 => visit_u64
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_enum(self.0.into_deserializer())
    }

    forward_to_deserialize_any! {
        bool i128 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}

impl<'de> EnumAccess<'de> for VariantReader<'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self)> {
        Ok((seed.deserialize(KeyReader(self.name))?, self))
    }
}

impl<'de> VariantAccess<'de> for VariantReader<'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<()> {
        match self.content {
            None | Some(Value::Null) => Ok(()),
            Some(content) => Err(mismatch(content, &"unit")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        match self.content {
            Some(content) => seed.deserialize(ValueReader(content)),
            None => Err(Error::invalid_type(Unexpected::UnitVariant, &"newtype variant")),
        }
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        match self.content {
            Some(content) => ValueReader(content).deserialize_seq(visitor),
            None => Err(Error::invalid_type(Unexpected::UnitVariant, &"tuple variant")),
        }
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value> {
        match self.content {
            Some(content) => ValueReader(content).deserialize_map(visitor),
            None => Err(Error::invalid_type(Unexpected::UnitVariant, &"struct variant")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fmt::Debug};

    use k8s_openapi::api::core::v1::Pod;
    use serde::{Deserialize, de::DeserializeOwned};
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "camelCase")]
    enum Shape {
        Point,
        Circle(f64),
        Line(i8, i8),
        Box { wide: u16 },
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(untagged)]
    enum Either {
        Number(i64),
        Text(String),
    }

    #[derive(Debug, Default, Deserialize, PartialEq)]
    #[serde(default)]
    struct All {
        flag: bool,
        letter: Option<char>,
        bytes: Vec<u8>,
        unit: (),
        pair: Option<(u8, String)>,
        by_number: BTreeMap<i32, Option<u64>>,
        shapes: Vec<Shape>,
        either: Option<Either>,
        open: Value,
        #[serde(flatten)]
        rest: BTreeMap<String, Value>,
    }

    fn read<T: DeserializeOwned>(json: &Value) -> Result<T> {
        T::deserialize(ValueReader(json))
    }

    /// Both read the same, or both refuse with the same words.
    #[track_caller]
    fn check<T: DeserializeOwned + Debug + PartialEq>(json: &Value) {
        let (ours, theirs) = (read::<T>(json), T::deserialize(json));
        match (ours, theirs) {
            (Ok(ours), Ok(theirs)) => assert_eq!(ours, theirs, "{json}"),
            (Err(ours), Err(theirs)) => assert_eq!(ours.to_string(), theirs.to_string(), "{json}"),
            (ours, theirs) => panic!("{json}: {ours:?}, and serde_json: {theirs:?}"),
        }
    }

    #[test]
    fn values_are_read_as_serde_json_reads_them() {
        let all = json!({
            "flag": true, "letter": "x", "bytes": [1, 255], "unit": null, "pair": [1, "b"], "byNumber": {},
            "by_number": {"-7": 1, "8": null}, "either": "text", "open": {"a": [1.5, -2, null]}, "other": 1,
            "shapes": ["point", {"circle": 1.5}, {"line": [1, -1]}, {"box": {"wide": 7}}, {"point": null}],
        });
        check::<All>(&all);
        assert_eq!(read::<All>(&all).unwrap().shapes.len(), 5);
        for (field, wrong) in [
            ("flag", json!(1)),
            ("flag", json!(null)),
            ("letter", json!("xy")),
            ("bytes", json!([256])),
            ("bytes", json!({})),
            ("unit", json!(0)),
            ("pair", json!([1])),
            ("pair", json!([1, "b", 2])),
            ("by_number", json!({"x": 1})),
            ("by_number", json!([])),
            ("shapes", json!(["sphere"])),
            ("shapes", json!([{"circle": 1, "point": null}])),
            ("shapes", json!([{"point": 1}])),
            ("shapes", json!(["circle"])),
            ("shapes", json!([7])),
            ("either", json!([])),
        ] {
            let mut document = all.clone();
            document[field] = wrong;
            check::<All>(&document);
        }
    }

    #[test]
    fn kinds_are_read_as_serde_json_reads_them() {
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "labels": {"b": "c"},
            "creationTimestamp": "2027-01-15T08:00:00Z"}, "spec": {"containers": [{"name": "x",
            "ports": [{"containerPort": 80}], "livenessProbe": {"httpGet": {"port": "http"}},
            "resources": {"limits": {"cpu": "1"}}}]}});
        check::<Pod>(&pod);
        for (pointer, wrong) in [
            ("/metadata/name", json!(7)),
            ("/metadata/creationTimestamp", json!("today")),
            ("/spec/containers", json!({})),
            ("/spec/containers/0/ports/0/containerPort", json!("80")),
            ("/spec/containers/0/livenessProbe/httpGet/port", json!([])),
            ("/kind", json!("Node")),
        ] {
            let mut document = pod.clone();
            *document.pointer_mut(pointer).unwrap() = wrong;
            check::<Pod>(&document);
        }
    }

    #[test]
    fn structures_are_not_read_from_lists() {
        #[derive(Debug, Deserialize)]
        struct Pair {
            #[expect(dead_code, reason = "only whether it is read counts")]
            one: u8,
        }
        let error = read::<Pair>(&json!([1])).unwrap_err().to_string();
        assert!(
            error.contains("invalid type: sequence, expected struct Pair"),
            "{error}"
        );
    }
}
