//! That patterns fit what they should and, above all, do not fit what they should not.

use serde_json::{Value, json};

use super::*;

const SOME_UID: &str = "01234567-89ab-cdef-0123-456789abcdef";

fn paths(pattern: &Value, value: &Value) -> Vec<String> {
    let mut variables = Variables::of_case("here");
    variables.set("before", "10");
    check(pattern, Some(value), &mut variables)
        .into_iter()
        .map(|difference| difference.path)
        .collect()
}

#[test]
fn objects_may_hold_more_and_lists_may_not() {
    assert_eq!(paths(&json!({"a": 1}), &json!({"a": 1, "b": 2})), [""; 0]);
    assert_eq!(paths(&json!({"a": 1}), &json!({"a": 2})), ["a"]);
    assert_eq!(paths(&json!({"a": {"b": 1}}), &json!({"a": {}})), ["a.b"]);
    assert_eq!(paths(&json!([1]), &json!([1, 2])), [""]);
    assert_eq!(paths(&json!([1, 2]), &json!([2, 1])), ["[0]", "[1]"]);
    assert_eq!(paths(&json!({"a": 1}), &json!([1])), [""]);
    assert_eq!(paths(&json!([1]), &json!({"a": 1})), [""]);
}

#[test]
fn scalars_are_equal_or_different() {
    assert_eq!(paths(&json!("1"), &json!(1)), [""]);
    assert_eq!(paths(&json!(1), &json!("1")), [""]);
    assert_eq!(paths(&json!(null), &json!(null)), [""; 0]);
    assert_eq!(paths(&json!({"a": null}), &json!({})), ["a"]);
    assert_eq!(paths(&json!(true), &json!(false)), [""]);
}

#[test]
fn holes_have_shapes() {
    let table = [
        ("${uid}", json!(SOME_UID), json!("not-a-uid")),
        ("${rv}", json!("12"), json!("0")),
        ("${rv}", json!("12"), json!("012")),
        ("${time}", json!("2026-01-02T03:04:05Z"), json!("yesterday")),
        ("${newer:before}", json!("11"), json!("10")),
        ("${newer:before}", json!("100"), json!("9")),
        ("${before}", json!("10"), json!("11")),
        ("${unknown}", json!("${unknown}"), json!("else")),
        ("x ${any} y", json!("x 1 y"), json!("x 1 z")),
        ("${ns}/${uid}!", json!(format!("here/{SOME_UID}!")), json!("here/!")),
        ("a.c", json!("a.c"), json!("abc")),
    ];
    for (pattern, fitting, other) in table {
        assert_eq!(paths(&json!(pattern), &fitting), [""; 0], "{pattern} fits {fitting}");
        assert_eq!(paths(&json!(pattern), &other), [""], "{pattern} does not fit {other}");
    }
}

#[test]
fn any_needs_a_value_and_absent_needs_none() {
    assert_eq!(paths(&json!({"a": "${any}"}), &json!({"a": [1]})), [""; 0]);
    assert_eq!(paths(&json!({"a": "${any}"}), &json!({})), ["a"]);
    assert_eq!(paths(&json!({"a": "${absent}"}), &json!({})), [""; 0]);
    assert_eq!(paths(&json!({"a": "${absent}"}), &json!({"a": null})), ["a"]);
    assert_eq!(paths(&json!({"a": ""}), &json!({})), ["a"]);
}

#[test]
fn some_looks_for_each_pattern_in_any_order() {
    let list = json!([{"n": "a", "v": 1}, {"n": "b", "v": 2}]);
    assert_eq!(paths(&json!({"${some}": [{"n": "b"}, {"n": "a"}]}), &list), [""; 0]);
    assert_eq!(paths(&json!({"${some}": [{"n": "c"}]}), &list), [""]);
    assert_eq!(paths(&json!({"${some}": [{"n": "b", "v": 1}]}), &list), [""]);
}

#[test]
fn named_holes_keep_what_they_saw() {
    let mut variables = Variables::default();
    let pattern = json!({"rv": "${rv:first}", "n": "${any:count}", "text": "is ${uid:id}."});
    let value = json!({"rv": "41", "n": 3, "text": format!("is {SOME_UID}.")});
    assert_eq!(check(&pattern, Some(&value), &mut variables), []);
    assert_eq!(variables.get("first"), Some("41"));
    assert_eq!(variables.get("count"), Some("3"));
    assert_eq!(variables.get("id"), Some(SOME_UID));
}
