//! JSON in one spelling: keys in order, no spaces. Hashes and payloads are made from it.

use serde_json::Value;

/// A value in its one spelling. Keys are put in order here, because whether a map of serde_json has one is decided by
/// features that any crate of a build may turn on.
pub fn text(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (index, (key, value)) in fields.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&Value::String(key.clone()).to_string());
                out.push(':');
                write(value, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_have_an_order_and_lists_keep_theirs() {
        let value = json!({"b": [2, 1, {"d": null, "c": "\"\n"}], "a": {}, "": 1.5});
        assert_eq!(text(&value), r#"{"":1.5,"a":{},"b":[2,1,{"c":"\"\n","d":null}]}"#);
        assert_eq!(serde_json::from_str::<Value>(&text(&value)).unwrap(), value);
    }
}
