//! The stand-in for an API server that other tests lean on: each keyword is judged, defaults and pruning reach
//! everywhere.

use serde_json::{Value, json};

use crate::support::{
    generate::pattern::generable,
    structural::{default, prune, validate},
};

/// A schema of one field, a value that it allows, a value that it refuses, and the keyword that refuses it.
type Row = (&'static str, &'static str, &'static str, &'static str);

fn check_keywords(rows: &[Row]) {
    for (schema, holds, breaks, keyword) in rows {
        let parse = |text: &str| serde_json::from_str::<Value>(text).expect("rows hold JSON");
        let schema = json!({"type": "object", "properties": {"field": parse(schema)}});
        assert_eq!(validate(&schema, &json!({"field": parse(holds)})), [], "{schema}");
        let violations = validate(&schema, &json!({"field": parse(breaks)}));
        assert_eq!(
            violations.iter().map(|(_, rule)| *rule).collect::<Vec<_>>(),
            [*keyword],
            "{schema}"
        );
        assert!(violations[0].0.starts_with(".field"), "{violations:?}");
    }
}

#[test]
fn keywords_of_single_values_are_judged() {
    check_keywords(&[
        (r#"{"type": "string"}"#, r#""a""#, "1", "type"),
        (r#"{"type": "string"}"#, r#""a""#, "null", "type"),
        (r#"{"type": "integer"}"#, "1", "1.5", "type"),
        (r#"{"x-kubernetes-int-or-string": true}"#, r#""5%""#, "true", "type"),
        (r#"{"type": "string", "nullable": true}"#, "null", "1", "type"),
        (r#"{"type": "string", "enum": ["A"]}"#, r#""A""#, r#""B""#, "enum"),
        (
            r#"{"type": "string", "minLength": 2}"#,
            r#""漢字""#,
            r#""漢""#,
            "minLength",
        ),
        (
            r#"{"type": "string", "maxLength": 1}"#,
            r#""漢""#,
            r#""漢字""#,
            "maxLength",
        ),
        (
            r#"{"type": "string", "pattern": "^a+$"}"#,
            r#""aa""#,
            r#""ab""#,
            "pattern",
        ),
        (
            r#"{"type": "string", "format": "date-time"}"#,
            r#""2024-02-29T00:00:00Z""#,
            r#""today""#,
            "format",
        ),
        (r#"{"type": "integer", "format": "int32"}"#, "1", "3000000000", "format"),
        (r#"{"type": "integer", "minimum": 1}"#, "1", "0", "minimum"),
        (r#"{"type": "integer", "maximum": 1}"#, "1", "2", "maximum"),
    ]);
}

#[test]
fn keywords_of_lists_and_objects_are_judged() {
    const KEYED: &str = r#"{
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
        "items": {"type": "object", "properties": {"k": {"type": "string", "default": "a"}, "v": {"type": "integer"}}}
    }"#;
    check_keywords(&[
        (r#"{"type": "array", "minItems": 1}"#, "[1]", "[]", "minItems"),
        (r#"{"type": "array", "maxItems": 1}"#, "[1]", "[1, 2]", "maxItems"),
        (
            r#"{"type": "array", "items": {"type": "integer"}}"#,
            "[1]",
            r#"["a"]"#,
            "type",
        ),
        (
            r#"{"type": "array", "x-kubernetes-list-type": "set"}"#,
            "[1, 2]",
            "[1, 1]",
            "x-kubernetes-list-type",
        ),
        (
            KEYED,
            r#"[{"v": 1}, {"k": "b", "v": 1}]"#,
            r#"[{"v": 1}, {"k": "a", "v": 2}]"#,
            "x-kubernetes-list-type",
        ),
        (
            r#"{"type": "object", "minProperties": 1}"#,
            r#"{"a": 1}"#,
            "{}",
            "minProperties",
        ),
        (
            r#"{"type": "object", "maxProperties": 0}"#,
            "{}",
            r#"{"a": 1}"#,
            "maxProperties",
        ),
        (
            r#"{"type": "object", "required": ["a"]}"#,
            r#"{"a": 1}"#,
            r#"{"b": 1}"#,
            "required",
        ),
        (
            r#"{"type": "object", "additionalProperties": {"type": "string"}}"#,
            r#"{"a": "b"}"#,
            r#"{"a": 1}"#,
            "type",
        ),
    ]);
}

#[test]
fn all_violations_come_at_once_with_their_paths() {
    let schema = json!({
        "type": "object",
        "required": ["a"],
        "properties": {"list": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}}},
    });
    let document = json!({"list": [{"n": "x"}, {"n": 1}, {"n": true}]});
    let expected = [(".a", "required"), (".list[0].n", "type"), (".list[2].n", "type")];
    assert_eq!(
        validate(&schema, &document),
        expected.map(|(path, rule)| (path.to_owned(), rule))
    );
}

fn check_default(schema: &Value, before: &Value, after: &Value) {
    assert_eq!(default(schema, before), *after, "{schema}");
}

#[test]
fn defaults_reach_into_defaults_items_and_entries() {
    let inner = json!({"type": "object", "default": {}, "properties": {"n": {"type": "integer", "default": 1}}});
    let list = json!({"type": "array", "items": inner});
    let map = json!({"type": "object", "additionalProperties": inner});
    for (field, before, after) in [
        (&inner, json!({}), json!({"f": {"n": 1}})),
        (&inner, json!({"f": null}), json!({"f": {"n": 1}})),
        (&inner, json!({"f": {"n": 2}}), json!({"f": {"n": 2}})),
        (&list, json!({"f": [{}]}), json!({"f": [{"n": 1}]})),
        (
            &map,
            json!({"f": {"x": {}, "y": null}}),
            json!({"f": {"x": {"n": 1}, "y": {"n": 1}}}),
        ),
    ] {
        check_default(&json!({"type": "object", "properties": {"f": field}}), &before, &after);
    }
}

#[test]
fn nulls_go_unless_they_are_allowed() {
    let schema = json!({
        "type": "object",
        "properties": {"plain": {"type": "string"}, "nullable": {"type": "string", "nullable": true, "default": "a"}},
    });
    check_default(
        &schema,
        &json!({"plain": null, "nullable": null}),
        &json!({"nullable": null}),
    );
}

#[test]
fn unknown_fields_are_pruned_except_where_the_schema_is_open() {
    let open = json!({
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": true,
        "properties": {"known": {"type": "object", "properties": {"a": {"type": "string"}}}},
    });
    let schema = json!({
        "type": "object",
        "properties": {
            "metadata": {"type": "object"},
            "spec": {"type": "object", "properties": {"list": {"type": "array", "items": open}}},
        },
    });
    let document = json!({
        "kind": "Example",
        "metadata": {"name": "kept"},
        "other": 1,
        "spec": {"other": 1, "list": [{"other": 1, "known": {"a": "b", "other": 1}}]},
    });
    assert_eq!(
        prune(&schema, &document),
        json!({
            "kind": "Example",
            "metadata": {"name": "kept"},
            "spec": {"list": [{"other": 1, "known": {"a": "b"}}]},
        })
    );
}

#[test]
fn patterns_are_rewritten_for_generators() {
    for (pattern, least, expected) in [
        (r"^[a-z]+\.io$|^$", 0, r"[a-z]{1,3}\.io|"),
        (r"^[^$*+]*$", 0, r"[^$*+]{0,3}"),
        (r"^[]^]\d[\d.]{2,}\w{1,5}$", 0, r"[]^][0-9][0-9.]{2,3}[0-9A-Za-z_]{1,5}"),
        (r"^subnet-[0-9]+$", 24, r"subnet-[0-9]{1,24}"),
        (r"\$\^\*", 0, r"\$\^\*"),
    ] {
        assert_eq!(generable(pattern, least), expected);
    }
}
