//! What holds for every value: pruning and defaulting twice is the same as once, nothing panics, and an object that did
//! not change is accepted again, whatever was wrong with it before.

use hyperplane_schema::{FieldError, Schema};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// A schema with one of everything.
fn schema() -> Schema {
    Schema::structural(&json!({
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "required": ["a"],
                "properties": {
                    "a": {"type": "string", "maxLength": 3, "pattern": "^[a-c]*$", "default": "abc"},
                    "b": {"type": "integer", "minimum": 2, "nullable": true},
                    "c": {"type": "object", "additionalProperties": {"type": "number", "maximum": 1}},
                    "d": {
                        "type": "array",
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["k"],
                        "maxItems": 3,
                        "items": {
                            "type": "object",
                            "properties": {"k": {"type": "string", "default": "x"}, "v": {"type": "boolean", "default": true}},
                            "x-kubernetes-validations": [{"rule": "!has(self.v) || self.v", "message": "v must hold"}],
                        },
                    },
                    "e": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string", "enum": ["a", "b"]}},
                    "f": {"x-kubernetes-int-or-string": true},
                    "g": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                    "h": {
                        "type": "object",
                        "x-kubernetes-embedded-resource": true,
                        "x-kubernetes-preserve-unknown-fields": true,
                    },
                    "i": {
                        "type": "object",
                        "properties": {"a": {"type": "string"}, "b": {"type": "string", "format": "date-time"}},
                        "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
                    },
                },
                "x-kubernetes-validations": [{"rule": "self.a != 'bad'", "message": "a is bad"}],
            },
        },
    }))
    .unwrap()
}

fn scalars() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-3_i64..4).prop_map(Value::from),
        (-2.0_f64..2.0).prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        "[a-c]{0,4}".prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ]
}

/// Any JSON; the names are mostly those of the schema.
fn values() -> impl Strategy<Value = Value> {
    scalars().prop_recursive(5, 60, 6, |inner| {
        let name = prop_oneof![
            "[a-k]",
            "[a-z]{1,3}",
            Just("metadata".to_owned()),
            Just("apiVersion".to_owned())
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::btree_map(name, inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn objects() -> impl Strategy<Value = Value> {
    (values(), values()).prop_map(|(spec, status)| {
        json!({"apiVersion": "example.com/v1", "kind": "Example", "metadata": {"name": "x"}, "spec": spec, "status": status})
    })
}

fn judge(schema: &Schema, object: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let mut errors = schema.validate(object, old);
    schema.rules_after(&mut errors, object, old);
    errors
}

/// Embedded resources are judged anew at every write; fields that the schema does not know, and entries that have no key
/// of their own, keep what is around them from being compared.
fn is_comparable(spec: &Value) -> bool {
    let entries = spec.get("d").and_then(Value::as_array);
    let keys: Vec<Option<&str>> = entries
        .into_iter()
        .flatten()
        .map(|entry| entry.get("k")?.as_str())
        .collect();
    let has_keys = (0..keys.len()).all(|index| keys[index].is_some() && !keys[..index].contains(&keys[index]));
    has_keys && spec.get("g").is_none() && spec.get("h").is_none()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn pruning_twice_changes_nothing(object in objects()) {
        let schema = schema();
        let mut once = object;
        schema.prune(&mut once);
        let mut twice = once.clone();
        prop_assert_eq!(schema.prune(&mut twice), Vec::<String>::new());
        prop_assert_eq!(twice, once);
    }

    #[test]
    fn defaulting_twice_changes_nothing(object in objects()) {
        let schema = schema();
        let mut once = object;
        schema.default(&mut once);
        let mut twice = once.clone();
        schema.default(&mut twice);
        prop_assert_eq!(twice, once);
    }

    #[test]
    fn any_value_at_all_is_judged(value in values()) {
        let schema = schema();
        schema.type_errors(&value);
        let mut value = value;
        schema.prune(&mut value);
        schema.default(&mut value);
        judge(&schema, &value, None);
    }

    #[test]
    fn an_unchanged_object_passes(object in objects()) {
        let schema = schema();
        let mut object = object;
        schema.prune(&mut object);
        schema.default(&mut object);
        prop_assume!(is_comparable(&object["spec"]));
        let errors: Vec<String> = judge(&schema, &object, Some(&object))
            .iter()
            // A rule that cannot be evaluated is no broken rule.
            .filter(|error| !error.detail.contains("evaluating rule") && !error.detail.starts_with('\''))
            .map(FieldError::to_string)
            .collect();
        prop_assert!(errors.is_empty(), "{errors:?}");
    }
}
