use proptest::prelude::*;
use serde_json::json;

use super::*;

fn document() -> Value {
    json!({"spec": {"replicas": 1, "free": {"l": [1, 2, 3], "m": {"a": 1}, "f": 1.5}}})
}

/// The outcome below `/spec/free` of a JSON patch, or nothing if it is refused without a reason.
fn patched(operations: &str) -> Option<Value> {
    match json_patch(&document(), operations.as_bytes(), FieldValidation::Warn) {
        Ok(patched) => Some(patched.value["spec"]["free"].clone()),
        Err(failure) => {
            assert_eq!(
                (failure.code.as_u16(), failure.message.as_str()),
                (422, "the server rejected our request due to an error in our request")
            );
            None
        }
    }
}

#[track_caller]
fn applies(operation: &str, expected: Value) {
    assert_eq!(patched(&format!("[{operation}]")), Some(expected), "{operation}");
}

#[track_caller]
fn does_not_apply(operation: &str) {
    assert_eq!(patched(&format!("[{operation}]")), None, "{operation}");
}

#[test]
fn fields_are_added_replaced_and_removed() {
    let with = |name: &str, value: Value| {
        let mut free = document()["spec"]["free"].clone();
        free[name] = value;
        free
    };
    applies(r#"{"op":"add","path":"/spec/free/x","value":1}"#, with("x", json!(1)));
    applies(r#"{"op":"add","path":"/spec/free/x"}"#, with("x", Value::Null));
    applies(
        r#"{"op":"replace","path":"/spec/free/x","value":1}"#,
        with("x", json!(1)),
    );
    applies(
        r#"{"op":"add","path":"/spec/free/a~1b~0c","value":1}"#,
        with("a/b~c", json!(1)),
    );
    applies(
        r#"{"op":"add","path":"/spec/free/a~2","value":1}"#,
        with("a~2", json!(1)),
    );
    applies(
        r#"{"op":"copy","from":"/spec/free/m","path":"/spec/free/m/x"}"#,
        with("m", json!({"a": 1, "x": {"a": 1}})),
    );
    applies(
        r#"{"op":"copy","from":"/spec/free/nope","path":"/spec/free/x"}"#,
        with("x", Value::Null),
    );
    applies(
        r#"{"op":"move","from":"/spec/free/m","path":"/spec/free/n"}"#,
        json!({"l": [1, 2, 3], "n": {"a": 1}, "f": 1.5}),
    );
    applies(
        r#"{"op":"remove","path":"/spec/free/m"}"#,
        json!({"l": [1, 2, 3], "f": 1.5}),
    );
}

#[test]
fn items_are_counted_from_both_ends() {
    let list = |operation: &str| patched(&format!("[{operation}]")).map(|free| free["l"].clone());
    for (operation, expected) in [
        (r#"{"op":"add","path":"/spec/free/l/-","value":9}"#, json!([1, 2, 3, 9])),
        (
            r#"{"op":"add","path":"/spec/free/l/-1","value":9}"#,
            json!([1, 2, 3, 9]),
        ),
        (r#"{"op":"add","path":"/spec/free/l/3","value":9}"#, json!([1, 2, 3, 9])),
        (
            r#"{"op":"add","path":"/spec/free/l/01","value":9}"#,
            json!([1, 9, 2, 3]),
        ),
        (
            r#"{"op":"add","path":"/spec/free/l/+1","value":9}"#,
            json!([1, 9, 2, 3]),
        ),
        (
            r#"{"op":"replace","path":"/spec/free/l/-1","value":9}"#,
            json!([1, 2, 9]),
        ),
        (r#"{"op":"remove","path":"/spec/free/l/-1"}"#, json!([1, 2])),
    ] {
        assert_eq!(list(operation), Some(expected), "{operation}");
    }
    does_not_apply(r#"{"op":"add","path":"/spec/free/l/4","value":9}"#);
    does_not_apply(r#"{"op":"replace","path":"/spec/free/l/9","value":1}"#);
    does_not_apply(r#"{"op":"remove","path":"/spec/free/l/-"}"#);
    does_not_apply(r#"{"op":"remove","path":"/spec/free/l/-4"}"#);
}

#[test]
fn tests_compare_values() {
    let free = document()["spec"]["free"].clone();
    applies(r#"{"op":"test","path":"/spec/replicas","value":1}"#, free.clone());
    applies(r#"{"op":"test","path":"/spec/free/nope","value":null}"#, free.clone());
    applies(r#"{"op":"test","path":"/spec/free/nope"}"#, free.clone());
    applies(r#"{"op":"test","path":"/spec/free/m","value":{"a":1}}"#, free.clone());
    applies(r#"{"op":"test","path":"/spec/free/l","value":[1,2,3]}"#, free);
    does_not_apply(r#"{"op":"test","path":"/spec/replicas","value":2}"#);
    does_not_apply(r#"{"op":"test","path":"","value":{}}"#);
}

#[test]
fn operations_that_make_no_sense_do_not_apply() {
    for operation in [
        "null",
        "{}",
        r#"{"op":"add"}"#,
        r#"{"op":"bogus","path":"/a"}"#,
        r#"{"op":"add","path":"","value":{}}"#,
        r#"{"op":"add","path":"spec/free/x","value":1}"#,
        r#"{"op":"remove","path":""}"#,
        r#"{"op":"remove","path":"/spec/free/nope"}"#,
        r#"{"op":"replace","path":"","value":1}"#,
        r#"{"op":"copy","path":"/spec/free/x"}"#,
        r#"{"op":"move","from":"/spec/free/m","path":"/spec/free/m/x"}"#,
        r#"{"op":"add","path":"/spec/free/l/0/x","value":1}"#,
        r#"{"op":"add","path":"/spec/free/f/x","value":1}"#,
    ] {
        does_not_apply(operation);
    }
}

#[track_caller]
fn refused(outcome: Result<Patched, Failure>, code: u16, message: &str) {
    let failure = outcome.unwrap_err();
    assert_eq!((failure.code.as_u16(), failure.message.as_str()), (code, message));
}

#[test]
fn bodies_that_are_no_json_patch_are_refused() {
    let checked = |body: &str| json_patch(&document(), body.as_bytes(), FieldValidation::Strict);
    let unchecked = |body: &str| json_patch(&document(), body.as_bytes(), FieldValidation::Ignore);
    let wrong = |found: &str, wanted: &str| format!("json: cannot unmarshal {found} into Go value of type {wanted}");
    refused(checked("{"), 400, "error decoding patch: unexpected end of JSON input");
    refused(unchecked("{"), 400, "unexpected end of JSON input");
    refused(
        checked("{}"),
        400,
        &format!("error decoding patch: {}", wrong("object", "[]handlers.jsonPatchOp")),
    );
    refused(unchecked("{}"), 400, &wrong("object", "jsonpatch.Patch"));
    refused(
        checked("[1]"),
        400,
        &format!("error decoding patch: {}", wrong("number", "handlers.jsonPatchOp")),
    );
    refused(unchecked("[1]"), 400, &wrong("number", "jsonpatch.Operation"));
    refused(
        checked(r#"[{"op":"add","path":1}]"#),
        400,
        "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.path of type string",
    );
    assert_eq!(unchecked(r#"[{"op":"add","path":1}]"#).unwrap_err().code, 422);
    assert_eq!(checked("null").unwrap().value, document());
}

#[test]
fn fields_of_operations_are_checked() {
    let body = br#"[{"op":"test","path":"/spec/replicas","value":1,"extra":2,"extra":3}]"#;
    let complaints = json_patch(&document(), body, FieldValidation::Warn).unwrap().complaints;
    assert_eq!(
        complaints,
        [
            "json patch duplicate field \"[0].extra\"",
            "json patch unknown field \"[0].extra\""
        ]
    );
    assert!(
        json_patch(&document(), body, FieldValidation::Ignore)
            .unwrap()
            .complaints
            .is_empty()
    );
}

#[test]
fn patches_have_limits() {
    let many = |count: usize| {
        let operations = vec![json!({"op": "test", "path": "/spec/replicas", "value": 1}); count];
        json_patch(
            &document(),
            Value::from(operations).to_string().as_bytes(),
            FieldValidation::Warn,
        )
    };
    assert!(many(MAXIMUM_OPERATIONS).is_ok());
    refused(
        many(MAXIMUM_OPERATIONS + 1),
        413,
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
    );
    let mut operations = vec![json!({"op": "add", "path": "/big", "value": "x".repeat(100_000)})];
    operations.extend((0..40).map(|index| json!({"op": "copy", "from": "/big", "path": format!("/copy{index}")})));
    assert_eq!(
        patched(&Value::from(operations).to_string()),
        None,
        "copies must not grow without bound"
    );
}

#[test]
fn shifting_a_long_list_has_a_limit() {
    let long = json!({"l": vec![0; 100_000]});
    let shifts = |count: usize| {
        let operations = vec![json!({"op": "add", "path": "/l/0", "value": 0}); count];
        json_patch(
            &long,
            Value::from(operations).to_string().as_bytes(),
            FieldValidation::Ignore,
        )
    };
    assert!(shifts(100).is_ok());
    assert_eq!(shifts(1_000).unwrap_err().code, 422);
}

#[test]
fn merge_patches_follow_upstream() {
    let merged = |body: &str| {
        merge_patch(&document(), body.as_bytes(), FieldValidation::Warn)
            .unwrap()
            .value
    };
    assert_eq!(merged("{}"), document());
    assert_eq!(merged(r#"{"spec":null}"#), json!({}));
    assert_eq!(
        merged(r#"{"spec":{"free":{"m":{"b":2,"a":null},"z":{"q":null,"w":{"e":null}}}}}"#)["spec"]["free"],
        json!({"l": [1, 2, 3], "m": {"b": 2}, "z": {"w": {}}, "f": 1.5})
    );
    assert_eq!(
        merged(r#"{"spec":{"free":{"l":[null,{"a":null}]}}}"#)["spec"]["free"]["l"],
        json!([null, {}])
    );
    assert_eq!(merged(r#"{"spec":5}"#), json!({"spec": 5}));
}

#[test]
fn bodies_that_are_no_merge_patch_are_refused() {
    let checked = |body: &str| merge_patch(&document(), body.as_bytes(), FieldValidation::Warn);
    let unchecked = |body: &str| merge_patch(&document(), body.as_bytes(), FieldValidation::Ignore);
    refused(checked(""), 400, "error decoding patch: unexpected end of JSON input");
    refused(checked("null"), 400, "Invalid JSON Patch");
    refused(
        checked("[]"),
        400,
        "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
    );
    for body in ["", "{", "1", "null"] {
        refused(unchecked(body), 400, "Invalid JSON Patch");
    }
    let failure = unchecked("[]").unwrap_err();
    assert_eq!(failure.code, 422);
    assert!(
        failure
            .message
            .starts_with(" \"\" is invalid: patch: Invalid value: \"[]\": couldn't get version/kind")
    );
    let twice = checked(r#"{"spec":{"text":"a","text":"b"}}"#).unwrap();
    assert_eq!(twice.complaints, ["duplicate field \"spec.text\""]);
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        (0..5i64).prop_map(Value::from),
        "[a-c]".prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-d]", inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-d]", value(), 0..4).prop_map(|map| Value::Object(map.into_iter().collect()))
}

proptest! {
    #[test]
    fn merging_twice_is_merging_once(mut target in object(), patch in object()) {
        merge(&mut target, patch.clone());
        let once = target.clone();
        merge(&mut target, patch);
        prop_assert_eq!(target, once);
    }

    #[test]
    fn merging_agrees_with_the_standard_where_lists_hold_no_nulls(target in object(), patch in object()) {
        let mut expected = target.clone();
        ::json_patch::merge(&mut expected, &patch);
        let mut found = target;
        merge(&mut found, patch.clone());
        prop_assume!(!has_null_in_list(&patch, false));
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn what_the_standard_applies_we_apply_alike(target in object(), wanted in object()) {
        let patch = ::json_patch::diff(&target, &wanted);
        prop_assume!(!patch.iter().any(|operation| operation.path().is_root()));
        let body = serde_json::to_vec(&patch).unwrap();
        let found = super::json_patch(&target, &body, FieldValidation::Strict).unwrap();
        prop_assert_eq!(found.value, wanted);
        prop_assert!(found.complaints.is_empty());
    }

    #[test]
    fn no_patch_makes_it_panic(target in value(), body in value(), path in "(/[a-d0-3-]{0,2}){0,3}", word in "add|remove|replace|move|copy|test") {
        let operations = json!([{"op": word, "path": path, "from": path, "value": body.clone()}]);
        for body in [body, operations] {
            drop(super::json_patch(&target, body.to_string().as_bytes(), FieldValidation::Ignore));
            drop(merge_patch(&target, body.to_string().as_bytes(), FieldValidation::Ignore));
        }
    }
}

fn has_null_in_list(value: &Value, is_in_list: bool) -> bool {
    match value {
        Value::Null => is_in_list,
        Value::Array(items) => items.iter().any(|item| has_null_in_list(item, true)),
        Value::Object(fields) => fields.values().any(|field| has_null_in_list(field, is_in_list)),
        _ => false,
    }
}

#[test]
fn a_strategic_patch_is_a_map_or_says_nothing() {
    let read = |body: &str| strategic_patch(body.as_bytes(), FieldValidation::Strict);
    let (patch, complaints) = read(r#"{"a": 1, "a": 2}"#).unwrap();
    assert_eq!(Value::Object(patch), json!({"a": 2}));
    assert_eq!(complaints, [r#"duplicate field "a""#]);
    assert_eq!(read("null").unwrap().0, Map::new());
    let failure = read("[]").unwrap_err();
    assert_eq!(
        failure.message,
        "json: cannot unmarshal array into Go value of type map[string]interface {}"
    );
    let lenient = strategic_patch(br#"{"a": 1, "a": 2}"#, FieldValidation::Ignore).unwrap();
    assert_eq!(lenient.1, [""; 0]);
}
