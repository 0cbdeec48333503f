//! Single fields out of JSON bytes, without building the rest.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

/// The scalar at a path, as text; none where there is none.
pub(crate) fn find(json: &[u8], path: &[String]) -> Option<String> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    Step { path }.deserialize(&mut deserializer).ok().flatten()
}

/// Descends into one level.
struct Step<'a> {
    path: &'a [String],
}

impl<'de> DeserializeSeed<'de> for Step<'_> {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<String>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Step<'_> {
    fn scalar(&self, text: &impl ToString) -> Option<String> {
        self.path.is_empty().then(|| text.to_string())
    }
}

impl<'de> Visitor<'de> for Step<'_> {
    type Value = Option<String>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a field")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<String>, A::Error> {
        let mut found = None;
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            match self.path.split_first() {
                Some((first, rest)) if **first == *key => found = map.next_value_seed(Step { path: rest })?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(found)
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<Option<String>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_str<E>(self, text: &str) -> Result<Option<String>, E> {
        Ok(self.scalar(&text))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Option<String>, E> {
        Ok(self.scalar(&value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Option<String>, E> {
        Ok(self.scalar(&value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Option<String>, E> {
        Ok(self.scalar(&value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Option<String>, E> {
        Ok(self.scalar(&value))
    }

    fn visit_unit<E>(self) -> Result<Option<String>, E> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: Option<&str>) {
        let json = br#"{"a":{"b":"x","n":3,"t":true,"l":[{"b":1}],"o":{},"z":null},"c":"y"}"#;
        let path: Vec<String> = path.split('.').map(str::to_owned).collect();
        assert_eq!(find(json, &path).as_deref(), expected);
    }

    #[test]
    fn scalars_are_found_and_nothing_else() {
        check("a.b", Some("x"));
        check("a.n", Some("3"));
        check("a.t", Some("true"));
        check("c", Some("y"));
        check("a.o", None);
        check("a.z", None);
        check("a.l", None);
        check("a.l.b", None);
        check("a.b.c", None);
        check("d", None);
    }
}
