//! Reading `managedFields`: the part of a live object that one field manager owns, as a value of its own. Pure. It
//! needs no schema, because the entry itself says which lists are keyed and what is atomic.
//!
//! The format is fieldsV1 of sigs.k8s.io/structured-merge-diff (fieldpath/serialize.go): `f:` a field, `k:` a list
//! item by its keys, `v:` a set member, `.` the item itself; an empty object is a leaf, owned as a whole.

use serde_json::{Map, Value};

/// Everything in `live` that `manager` owns through server-side apply on this subresource, in the shape of an
/// intent: no type, no identity. None if it never applied, or in another version of the kind.
pub(crate) fn owned(live: &Value, manager: &str, subresource: Option<&str>, api_version: &str) -> Option<Value> {
    let entries = live.get("metadata")?.get("managedFields")?.as_array()?;
    let entry = entries.iter().find(|entry| {
        entry["manager"] == manager
            && entry["operation"] == "Apply"
            && entry["apiVersion"] == api_version
            && entry.get("subresource").and_then(Value::as_str) == subresource
    })?;
    Some(project(live, entry.get("fieldsV1")?.as_object()?))
}

/// An intent without what `managedFields` never mentions, and without nulls: a null would own nothing but the null.
pub(crate) fn essence(intent: &Value) -> Value {
    let mut intent = without_nulls(intent);
    let Some(root) = intent.as_object_mut() else {
        return intent;
    };
    root.remove("apiVersion");
    root.remove("kind");
    let is_bare = root
        .get_mut("metadata")
        .and_then(Value::as_object_mut)
        .is_some_and(|metadata| {
            for identity in ["name", "namespace", "uid", "resourceVersion"] {
                metadata.remove(identity);
            }
            metadata.is_empty()
        });
    if is_bare {
        root.remove("metadata");
    }
    intent
}

/// A copy in which no field is null. Nulls inside lists stay: there they are elements, or fields that a schema requires and
/// allows to be null, such as the end of an update that is under way.
pub(crate) fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(_, field)| !field.is_null())
            .map(|(name, field)| (name.clone(), without_nulls(field)))
            .collect::<Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

fn project(live: &Value, fields: &Map<String, Value>) -> Value {
    let is_leaf = fields.keys().all(|path| path == ".");
    match live {
        _ if is_leaf && !fields.contains_key(".") => live.clone(),
        Value::Object(object) => project_object(object, fields),
        Value::Array(items) => project_list(items, fields),
        // Ownership of parts of a scalar: the object is not what the entry describes.
        _ => Value::Null,
    }
}

fn project_object(object: &Map<String, Value>, fields: &Map<String, Value>) -> Value {
    let mut owned = Map::new();
    for (path, below) in fields {
        if let Some(name) = path.strip_prefix("f:") {
            let field = object.get(name).unwrap_or(&Value::Null);
            owned.insert(name.to_owned(), descend(field, below));
        }
    }
    owned.into()
}

fn project_list(items: &[Value], fields: &Map<String, Value>) -> Value {
    let owned_item = |item: &Value| {
        fields.iter().find_map(|(path, below)| {
            let is_this = match (path.strip_prefix("k:"), path.strip_prefix("v:")) {
                (Some(keys), _) => has_keys(item, keys),
                (_, Some(member)) => serde_json::from_str::<Value>(member).is_ok_and(|member| member == *item),
                _ => false,
            };
            is_this.then(|| descend(item, below))
        })
    };
    let owned: Vec<Value> = items.iter().filter_map(owned_item).collect();
    let claimed = fields.keys().filter(|path| *path != ".").count();
    if owned.len() == claimed {
        owned.into()
    } else {
        Value::Null
    }
}

fn descend(live: &Value, below: &Value) -> Value {
    below.as_object().map_or(Value::Null, |below| project(live, below))
}

fn has_keys(item: &Value, keys: &str) -> bool {
    serde_json::from_str::<Map<String, Value>>(keys)
        .is_ok_and(|keys| keys.iter().all(|(name, value)| item.get(name) == Some(value)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn live(fields: &Value) -> Value {
        json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {
                "name": "a", "labels": {"ours": "1", "theirs": "2"},
                "managedFields": [{
                    "manager": "m", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields
                }],
            },
            "spec": {
                "ports": [
                    {"name": "a", "port": 1, "protocol": "TCP", "targetPort": 1},
                    {"name": "b", "port": 2, "protocol": "TCP"},
                ],
                "selector": {"x": "y", "extra": "z"},
                "clusterIP": "10.0.0.1",
            },
        })
    }

    fn check(fields: &Value, expected: &Value) {
        assert_eq!(owned(&live(fields), "m", None, "v1").unwrap(), *expected);
    }

    #[test]
    fn fields_are_picked_one_by_one_and_atomic_values_whole() {
        check(
            &json!({"f:metadata": {"f:labels": {"f:ours": {}}}, "f:spec": {"f:selector": {}}}),
            &json!({"metadata": {"labels": {"ours": "1"}}, "spec": {"selector": {"x": "y", "extra": "z"}}}),
        );
    }

    #[test]
    fn list_items_are_found_by_their_keys() {
        check(
            &json!({"f:spec": {"f:ports": {
                "k:{\"port\":2,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}, "f:port": {}}
            }}}),
            &json!({"spec": {"ports": [{"name": "b", "port": 2}]}}),
        );
    }

    #[test]
    fn a_field_that_is_gone_shows_as_null_and_so_never_equals_an_intent() {
        check(&json!({"f:spec": {"f:absent": {}}}), &json!({"spec": {"absent": null}}));
        check(
            &json!({"f:spec": {"f:ports": {"k:{\"port\":9,\"protocol\":\"TCP\"}": {".": {}}}}}),
            &json!({"spec": {"ports": null}}),
        );
    }

    #[test]
    fn sets_are_matched_by_value() {
        let mut object = live(&json!({"f:metadata": {"f:finalizers": {".": {}, "v:\"b\"": {}}}}));
        object["metadata"]["finalizers"] = json!(["a", "b"]);
        let expected = json!({"metadata": {"finalizers": ["b"]}});
        assert_eq!(owned(&object, "m", None, "v1"), Some(expected));
    }

    #[test]
    fn only_the_entry_of_this_manager_version_and_subresource_counts() {
        let object = live(&json!({"f:spec": {}}));
        assert!(owned(&object, "another", None, "v1").is_none());
        assert!(owned(&object, "m", Some("status"), "v1").is_none());
        assert!(owned(&object, "m", None, "v2").is_none());
    }

    #[test]
    fn the_essence_of_an_intent_is_what_it_can_own() {
        let intent = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": null}, "data": {
            "a": "b", "list": [null, {"c": null}]}});
        assert_eq!(
            essence(&intent),
            json!({"data": {"a": "b", "list": [null, {"c": null}]}})
        );
    }
}
