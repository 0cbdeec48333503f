//! Values to bytes: objects, lists of objects that are encoded already, and the events of a watch. What goes into an
//! answer is decided elsewhere.

use serde::Serialize;
use serde_json::Value;

use crate::{Origin, negotiate::Encoding, yaml_text};

/// Writes a value. Compact JSON ends with a newline and indented JSON does not, as upstream's do.
///
/// # Panics
///
/// If the value has keys that are no strings, which nothing on the wire has.
pub fn encode(value: &impl Serialize, encoding: Encoding) -> Vec<u8> {
    match encoding {
        Encoding::Json { pretty: false } => {
            let mut bytes = serde_json::to_vec(value).expect("values have string keys only");
            bytes.push(b'\n');
            bytes
        }
        Encoding::Json { pretty: true } => serde_json::to_vec_pretty(value).expect("values have string keys only"),
        Encoding::Yaml => yaml(value),
    }
}

/// Writes bytes that are compact JSON already in another encoding, or as they are.
pub fn reencode(json: Vec<u8>, encoding: Encoding) -> Vec<u8> {
    if encoding == (Encoding::Json { pretty: false }) {
        return json;
    }
    match serde_json::from_slice::<Value>(&json) {
        Ok(value) => encode(&value, encoding),
        Err(_) => json,
    }
}

fn yaml(value: &impl Serialize) -> Vec<u8> {
    let value = serde_json::to_value(value).expect("values have string keys only");
    yaml_text::write(&value).into_bytes()
}

/// The metadata of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListMeta<'a> {
    /// The revision of the snapshot.
    pub resource_version: &'a str,
    /// Where the list goes on, empty at its end.
    pub continue_token: &'a str,
    /// How many objects follow, if it is known.
    pub remaining_item_count: Option<u64>,
}

impl ListMeta<'_> {
    /// The metadata as a value; what is empty is left out.
    pub fn to_value(self) -> Value {
        let mut map = serde_json::Map::new();
        if !self.resource_version.is_empty() {
            map.insert("resourceVersion".to_owned(), self.resource_version.into());
        }
        if !self.continue_token.is_empty() {
            map.insert("continue".to_owned(), self.continue_token.into());
        }
        if let Some(count) = self.remaining_item_count {
            map.insert("remainingItemCount".to_owned(), count.into());
        }
        Value::Object(map)
    }
}

/// Writes a list from objects that are compact JSON already, as compact JSON.
pub fn list<'a>(
    api_version: &str,
    kind: &str,
    meta: ListMeta<'_>,
    origin: Origin,
    items: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<u8> {
    list_of(api_version, kind, meta, origin, 0, |out| {
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            out.extend_from_slice(item);
        }
    })
}

/// Writes a list whose items `write_items` appends, commas between them. `capacity` is about how many bytes they have.
pub fn list_of(
    api_version: &str,
    kind: &str,
    meta: ListMeta<'_>,
    origin: Origin,
    capacity: usize,
    write_items: impl FnOnce(&mut Vec<u8>),
) -> Vec<u8> {
    let mut metadata = meta.to_value();
    if origin == Origin::Custom && meta.continue_token.is_empty() {
        // Upstream writes the empty token in lists of custom resources.
        metadata["continue"] = "".into();
    }
    let mut out = Vec::with_capacity(256 + capacity);
    push_field(&mut out, b'{', "apiVersion", &api_version.into());
    out.extend_from_slice(b",\"items\":[");
    write_items(&mut out);
    out.push(b']');
    push_field(&mut out, b',', "kind", &kind.into());
    push_field(&mut out, b',', "metadata", &metadata);
    out.extend_from_slice(b"}\n");
    out
}

/// Writes an event of a watch from an object that is compact JSON already.
pub fn watch_event(kind: &str, object: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(object.len() + 40);
    push_field(&mut out, b'{', "type", &kind.into());
    out.extend_from_slice(b",\"object\":");
    out.extend_from_slice(object.trim_ascii_end());
    out.extend_from_slice(b"}\n");
    out
}

fn push_field(out: &mut Vec<u8>, before: u8, name: &str, value: &Value) {
    out.push(before);
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
    serde_json::to_writer(out, value).expect("writing to memory never fails");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_ends_as_upstream_ends_it() {
        let value = json!({"b": [1], "a": {}});
        assert_eq!(
            encode(&value, Encoding::Json { pretty: false }),
            b"{\"a\":{},\"b\":[1]}\n"
        );
        assert_eq!(
            encode(&value, Encoding::Json { pretty: true }),
            b"{\n  \"a\": {},\n  \"b\": [\n    1\n  ]\n}"
        );
    }

    #[test]
    fn lists_are_joined_from_their_items() {
        let meta = ListMeta {
            resource_version: "7",
            continue_token: "next",
            remaining_item_count: Some(2),
        };
        let items: [&[u8]; 2] = [b"{\"a\":1}", b"{\"b\":2}"];
        let bytes = list("x.test/v1", "FooList", meta, Origin::Custom, items);
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            "{\"apiVersion\":\"x.test/v1\",\"items\":[{\"a\":1},{\"b\":2}],\"kind\":\"FooList\",\"metadata\":\
             {\"continue\":\"next\",\"remainingItemCount\":2,\"resourceVersion\":\"7\"}}\n"
        );
    }

    #[test]
    fn an_empty_list_says_so_and_custom_ones_write_their_empty_token() {
        let meta = ListMeta {
            resource_version: "7",
            ..ListMeta::default()
        };
        let text = |origin| String::from_utf8(list("v1", "XList", meta, origin, [])).unwrap();
        assert_eq!(
            text(Origin::Custom),
            "{\"apiVersion\":\"v1\",\"items\":[],\"kind\":\"XList\",\"metadata\":{\"continue\":\"\",\"resourceVersion\":\"7\"}}\n"
        );
        assert_eq!(
            text(Origin::BuiltIn),
            "{\"apiVersion\":\"v1\",\"items\":[],\"kind\":\"XList\",\"metadata\":{\"resourceVersion\":\"7\"}}\n"
        );
    }

    #[test]
    fn events_are_one_line_each() {
        assert_eq!(
            watch_event("ADDED", b"{\"a\":1}\n"),
            b"{\"type\":\"ADDED\",\"object\":{\"a\":1}}\n"
        );
    }
}
