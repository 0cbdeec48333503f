//! The walks on small values, where a scenario would hide which of them did what.

use serde_json::{Value, json};

use super::{compare, merge, name_fields, owned, reconcile, remove};
use crate::{
    set::{decode, encode},
    types::Types,
};

fn types() -> Types {
    let text = json!({"type": "string"});
    Types::structural(&json!({"type": "object", "properties": {
        "text": text,
        "pair": {"type": "object", "properties": {"a": text, "b": text}},
        "atom": {"type": "object", "properties": {"a": text}, "x-kubernetes-map-type": "atomic"},
        "texts": {"type": "object", "additionalProperties": text},
        "pairs": {"type": "object", "additionalProperties": {"type": "object", "properties": {"a": text}}},
        "set": {"type": "array", "items": text, "x-kubernetes-list-type": "set"},
        "list": {"type": "array", "items": text},
        "keyed": {
            "type": "array",
            "items": {"type": "object", "properties": {"id": text, "v": text, "set": {"type": "array", "items": text, "x-kubernetes-list-type": "set"}}},
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["id"],
        },
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
    }}))
}

fn check_compare(left: &Value, right: &Value, changed: &Value, removed: &Value) {
    let types = types();
    let found = compare(&types, left, right).expect("the values fit");
    assert_eq!(
        (encode(&found.changed), encode(&found.removed)),
        (changed.clone(), removed.clone()),
        "{left} to {right}"
    );
}

#[test]
fn comparing_finds_what_changed_and_what_is_gone() {
    let none = json!({});
    check_compare(&json!({"text": "a"}), &json!({"text": "a"}), &none, &none);
    check_compare(
        &json!({"text": "a"}),
        &json!({"text": "b"}),
        &json!({"f:text": {}}),
        &none,
    );
    check_compare(&json!({"text": "a"}), &json!({}), &none, &json!({"f:text": {}}));
    check_compare(
        &json!({}),
        &json!({"pair": {"a": "1"}}),
        &json!({"f:pair": {".": {}, "f:a": {}}}),
        &none,
    );
    check_compare(
        &json!({"pair": {"a": "1"}}),
        &json!({"pair": {}}),
        &none,
        &json!({"f:pair": {"f:a": {}}}),
    );
    check_compare(
        &json!({"pair": {}}),
        &json!({"pair": null}),
        &json!({"f:pair": {}}),
        &none,
    );
    check_compare(
        &json!({"pair": null}),
        &json!({"pair": {"a": "1"}}),
        &json!({"f:pair": {"f:a": {}}}),
        &none,
    );
    check_compare(
        &json!({"atom": {"a": "1"}}),
        &json!({"atom": {"a": "2"}}),
        &json!({"f:atom": {}}),
        &none,
    );
    check_compare(
        &json!({"list": ["a", "b"]}),
        &json!({"list": ["b", "a"]}),
        &json!({"f:list": {}}),
        &none,
    );
    check_compare(&json!({"set": ["a", "b"]}), &json!({"set": ["b", "a"]}), &none, &none);
    check_compare(
        &json!({"set": ["a", "b"]}),
        &json!({"set": ["b", "c"]}),
        &json!({"f:set": {"v:\"c\"": {}}}),
        &json!({"f:set": {"v:\"a\"": {}}}),
    );
    check_compare(
        &json!({"keyed": [{"id": "x", "v": "1"}, {"id": "y"}]}),
        &json!({"keyed": [{"id": "z"}, {"id": "x", "v": "2", "set": []}]}),
        &json!({"f:keyed": {"k:{\"id\":\"x\"}": {"f:v": {}, "f:set": {}}, "k:{\"id\":\"z\"}": {".": {}, "f:id": {}}}}),
        &json!({"f:keyed": {"k:{\"id\":\"y\"}": {".": {}, "f:id": {}}}}),
    );
    check_compare(
        &json!({"free": {"a": {"x": 1}}}),
        &json!({"free": {"a": "text"}}),
        &json!({"f:free": {"f:a": {}}}),
        &json!({"f:free": {"f:a": {"f:x": {}}}}),
    );
}

#[test]
fn comparing_notices_what_does_not_fit() {
    let types = types();
    for odd in [
        json!({"odd": 1}),
        json!({"text": 1}),
        json!({"pair": []}),
        json!({"set": [null]}),
        json!({"keyed": [{"v": "1"}]}),
        json!({"keyed": [1]}),
    ] {
        assert!(compare(&types, &json!({}), &odd).is_none(), "{odd}");
        assert!(compare(&types, &odd, &json!({})).is_none(), "{odd}");
    }
}

#[test]
fn owning_follows_the_types() {
    let types = types();
    let check = |value: Value, expected: Value| assert_eq!(encode(&owned(&types, &value)), expected, "{value}");
    check(
        json!({"text": "a", "pair": {"a": "1"}}),
        json!({"f:text": {}, "f:pair": {"f:a": {}}}),
    );
    check(
        json!({"text": null, "pair": null, "set": null}),
        json!({"f:text": {}, "f:pair": {}, "f:set": {}}),
    );
    check(
        json!({"pair": {}, "set": [], "texts": {}}),
        json!({"f:pair": {}, "f:texts": {}}),
    );
    check(
        json!({"texts": {"k": "v"}, "pairs": {"k": {"a": "1"}}}),
        json!({"f:texts": {"f:k": {}}, "f:pairs": {"f:k": {".": {}, "f:a": {}}}}),
    );
    check(
        json!({"atom": {"a": "1"}, "list": ["a"]}),
        json!({"f:atom": {}, "f:list": {}}),
    );
    check(
        json!({"keyed": [{"id": "x", "v": "1"}, {"id": "x"}]}),
        json!({"f:keyed": {"k:{\"id\":\"x\"}": {}}}),
    );
    check(
        json!({"free": {"a": {"b": 1}}}),
        json!({"f:free": {"f:a": {".": {}, "f:b": {}}}}),
    );
}

#[test]
fn removing_leaves_null_where_a_map_loses_all_it_had() {
    let types = types();
    let check = |mut value: Value, paths: Value, expected: Value| {
        let paths = decode(&paths).unwrap().set;
        remove(&types, &mut value, &paths);
        assert_eq!(value, expected);
    };
    check(
        json!({"text": "a", "pair": {"a": "1"}}),
        json!({"f:text": {}}),
        json!({"pair": {"a": "1"}}),
    );
    check(
        json!({"texts": {"k": "v"}}),
        json!({"f:texts": {"f:k": {}}}),
        json!({"texts": null}),
    );
    check(
        json!({"texts": {"k": "v", "l": "v"}}),
        json!({"f:texts": {"f:k": {}}}),
        json!({"texts": {"l": "v"}}),
    );
    check(
        json!({"set": ["a", "b"]}),
        json!({"f:set": {"v:\"a\"": {}}}),
        json!({"set": ["b"]}),
    );
    check(
        json!({"set": ["a"]}),
        json!({"f:set": {"v:\"a\"": {}}}),
        json!({"set": null}),
    );
    check(
        json!({"keyed": [{"id": "x", "v": "1"}]}),
        json!({"f:keyed": {"k:{\"id\":\"x\"}": {"f:v": {}}}}),
        json!({"keyed": [{"id": "x"}]}),
    );
    check(
        json!({"keyed": [{"id": "x"}, {"id": "x"}, {"id": "y"}]}),
        json!({"f:keyed": {"k:{\"id\":\"x\"}": {}}}),
        json!({"keyed": [{"id": "y"}]}),
    );
    check(
        json!({"atom": {"a": "1"}, "list": ["a"]}),
        json!({"f:atom": {"f:a": {}}, "f:list": {"i:0": {}}}),
        json!({"atom": null, "list": null}),
    );
    check(
        json!({"text": "a"}),
        json!({"f:pair": {"f:a": {}}}),
        json!({"text": "a"}),
    );
}

#[test]
fn merging_replaces_leaves_and_joins_the_rest() {
    let types = types();
    let check = |live: Value, applied: Value, expected: Value| {
        assert_eq!(merge(&types, &live, &applied), expected, "{live} with {applied}");
    };
    check(
        json!({"text": "a"}),
        json!({"pair": {"a": "1"}}),
        json!({"text": "a", "pair": {"a": "1"}}),
    );
    check(json!({"atom": {"a": "1"}}), json!({"atom": {}}), json!({"atom": {}}));
    check(
        json!({"pair": {"a": "1"}}),
        json!({"pair": {}}),
        json!({"pair": {"a": "1"}}),
    );
    check(json!({"pair": null}), json!({"pair": {}}), json!({"pair": {}}));
    check(json!({"set": ["a"]}), json!({"set": []}), json!({"set": ["a"]}));
    check(json!({"set": null}), json!({"set": []}), json!({"set": []}));
    check(json!({"set": []}), json!({"set": ["a"]}), json!({"set": ["a"]}));
    check(
        json!({"keyed": [{"id": "x", "v": "1"}, {"id": "y", "v": "1"}]}),
        json!({"keyed": [{"id": "y", "set": ["s"]}, {"id": "z"}]}),
        json!({"keyed": [{"id": "x", "v": "1"}, {"id": "y", "v": "1", "set": ["s"]}, {"id": "z"}]}),
    );
    check(
        json!({"keyed": [{"id": "x", "v": "1"}, {"id": "x", "v": "2"}]}),
        json!({"keyed": [{"id": "x", "set": ["s"]}]}),
        json!({"keyed": [{"id": "x", "set": ["s"]}]}),
    );
    check(
        json!({"free": {"a": {"b": 1}}}),
        json!({"free": {"a": 1}}),
        json!({"free": {"a": 1}}),
    );
    check(
        json!({"free": {"a": 1}}),
        json!({"free": {"a": {"b": 1}}}),
        json!({"free": {"a": {"b": 1}}}),
    );
}

#[test]
fn sets_are_fitted_to_what_has_become_atomic() {
    let types = types();
    let check = |fields: Value, expected: Value| {
        let mut set = decode(&fields).unwrap().set;
        assert_eq!(reconcile(&types, &mut set), fields != expected);
        assert_eq!(encode(&set), expected);
    };
    check(json!({"f:atom": {"f:a": {}}}), json!({"f:atom": {}}));
    check(json!({"f:list": {".": {}, "v:\"a\"": {}}}), json!({"f:list": {}}));
    check(
        json!({"f:atom": {}, "f:pair": {"f:a": {}}}),
        json!({"f:atom": {}, "f:pair": {"f:a": {}}}),
    );
    check(json!({"f:unknown": {"f:a": {}}}), json!({"f:unknown": {"f:a": {}}}));
    check(
        json!({"f:free": {"f:a": {"v:1": {}}}}),
        json!({"f:free": {"f:a": {"v:1": {}}}}),
    );
}

#[test]
fn struct_fields_on_the_way_are_named() {
    let types = types();
    let fields = json!({"f:pair": {"f:a": {}}, "f:pairs": {"f:k": {"f:a": {}}}, "f:keyed": {"k:{\"id\":\"x\"}": {"f:set": {"v:\"a\"": {}}}}});
    let mut set = decode(&fields).unwrap().set;
    name_fields(&types, &mut set);
    let expected = json!({
        "f:pair": {".": {}, "f:a": {}},
        "f:pairs": {".": {}, "f:k": {"f:a": {}}},
        "f:keyed": {".": {}, "k:{\"id\":\"x\"}": {"f:set": {".": {}, "v:\"a\"": {}}}},
    });
    assert_eq!(encode(&set), expected);
}
