use proptest::prelude::*;
use serde_json::json;

use super::*;

const FOO: Expected<'static> = Expected {
    group: "x.test",
    version: "v1",
    kind: "Foo",
};
const CONFIG_MAP: Expected<'static> = Expected {
    group: "",
    version: "v1",
    kind: "ConfigMap",
};

fn custom(body: &str) -> Result<Decoded, Failure> {
    decode_object(body.as_bytes(), BodyFormat::Json, &FOO, Origin::Custom)
}

fn built_in(body: &str) -> Result<Decoded, Failure> {
    decode_object(body.as_bytes(), BodyFormat::Json, &CONFIG_MAP, Origin::BuiltIn)
}

#[track_caller]
fn fails(outcome: Result<Decoded, Failure>, code: u16, message: &str) {
    let failure = outcome.unwrap_err();
    assert_eq!((failure.code.as_u16(), failure.message.as_str()), (code, message));
}

#[test]
fn what_is_no_json_is_refused_with_its_beginning() {
    let check = |body: &str, complaint: &str, excerpt: &str| {
        let message = format!(
            "the object provided is unrecognized (must be of type Foo): couldn't get version/kind; json parse error: \
             {complaint} ({excerpt})"
        );
        fails(custom(body), 400, &message);
        fails(built_in(body), 400, &message.replace("type Foo", "type ConfigMap"));
    };
    check("", "unexpected end of JSON input", "<empty>");
    check("{", "unexpected end of JSON input", "{");
    check(
        r#"{"apiVersion": "x.test/v1", "kind": "Foo"}x"#,
        "invalid character 'x' after top-level value",
        r#"{"apiVersion": "x.test/v1", "k ..."#,
    );
    check(
        "[]",
        "json: cannot unmarshal array into Go value of type struct { APIVersion string \
         \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }",
        "5b5d",
    );
    check(
        r#"{"apiVersion":1,"kind":"Foo"}"#,
        "json: cannot unmarshal number into Go struct field .apiVersion of type string",
        r#"{"apiVersion":1,"kind":"Foo"}"#,
    );
}

#[test]
fn custom_resources_must_say_what_they_are() {
    let missing = |body: &str, excerpt: &str| {
        format!(
            "the object provided is unrecognized (must be of type Foo): Object 'Kind' is missing in '{body}' ({excerpt})"
        )
    };
    fails(custom("null"), 400, &missing("null", "6e756c6c"));
    fails(custom("{}"), 400, &missing("{}", "{}"));
    let mismatch = |found: &str| {
        format!("the API version in the data ({found}) does not match the expected API version (x.test/v1)")
    };
    fails(custom(r#"{"kind":"Foo"}"#), 400, &mismatch(""));
    fails(custom(r#"{"kind":"Foo","apiVersion":"x/v9"}"#), 400, &mismatch("x/v9"));
    fails(
        custom(r#"{"kind":"Other","apiVersion":"x.test/v1","metadata":{"name":"d"}}"#),
        422,
        "Other.x.test \"d\" is invalid: kind: Invalid value: \"Other\": must be Foo",
    );
    fails(
        custom(r#"{"kind":"Foo","apiVersion":"a/b/c"}"#),
        400,
        "the object provided is unrecognized (must be of type Foo): unexpected GroupVersion string: a/b/c \
         ({\"kind\":\"Foo\",\"apiVersion\":\"a/ ...)",
    );
}

#[test]
fn built_in_kinds_may_leave_out_what_they_are() {
    for body in [
        "null",
        "{}",
        r#"{"kind":"ConfigMap"}"#,
        r#"{"apiVersion":"v1","kind":""}"#,
    ] {
        let value = built_in(body).unwrap().value;
        assert_eq!(value, json!({"apiVersion": "v1", "kind": "ConfigMap"}), "{body}");
    }
    fails(
        built_in(r#"{"apiVersion":"x/v9","kind":"ConfigMap"}"#),
        400,
        "ConfigMap in version \"v9\" cannot be handled as a ConfigMap: no kind \"ConfigMap\" is registered for version \
         \"x/v9\" in scheme \"pkg/runtime/scheme.go:111\"",
    );
    fails(
        built_in(r#"{"kind":"Other"}"#),
        400,
        "Other in version \"v1\" cannot be handled as a ConfigMap: no kind \"Other\" is registered for version \"v1\" in \
         scheme \"pkg/runtime/scheme.go:111\"",
    );
}

#[test]
fn fields_that_are_given_twice_are_noted_in_their_order() {
    let decoded = decode_json(br#"{"a":{"b":1,"b":2},"l":[{"c":1,"c":2,"c":3}],"a":{"d":1,"d":2}}"#).unwrap();
    assert_eq!(decoded.value, json!({"a": {"d": 2}, "l": [{"c": 3}]}));
    assert_eq!(
        decoded.duplicates,
        [
            "duplicate field \"a.b\"",
            "duplicate field \"l[0].c\"",
            "duplicate field \"a\"",
            "duplicate field \"a.d\""
        ]
    );
    assert_eq!(
        FOO.strict_failure(&decoded.duplicates[..2]).message,
        "Foo in version \"v1\" cannot be handled as a Foo: strict decoding error: duplicate field \"a.b\", duplicate \
         field \"l[0].c\""
    );
    let many: Vec<String> = (0..500).map(|index| format!("\"{index}\":1,\"{index}\":2")).collect();
    let decoded = decode_json(format!("{{{}}}", many.join(",")).as_bytes()).unwrap();
    assert_eq!(decoded.duplicates.len(), MAXIMUM_DUPLICATES);
}

#[test]
fn numbers_are_what_go_makes_of_them() {
    let check = |text: &str, expected: &str| {
        assert_eq!(
            decode_json(text.as_bytes()).unwrap().value.to_string(),
            expected,
            "{text}"
        );
    };
    check("1", "1");
    check("1.0", "1");
    check("1e3", "1000");
    check("0.1e1", "1");
    check("-0", "0");
    check("1.5", "1.5");
    check("9223372036854775807", "9223372036854775807");
    check("-9223372036854775808", "-9223372036854775808");
    assert_eq!(
        decode_json(b"9223372036854775808").unwrap().value,
        json!(9_223_372_036_854_775_808_f64)
    );
    assert_eq!(
        decode_json(b"123456789012345678901234567890").unwrap().value,
        json!(1.234_567_890_123_456_8e29)
    );
    fails(
        custom(r#"{"apiVersion":"x.test/v1","kind":"Foo","spec":{"n":1e400}}"#),
        400,
        "Foo in version \"v1\" cannot be handled as a Foo: json: cannot unmarshal number 1e400 into Go value of type \
         float64",
    );
}

#[test]
fn text_that_is_no_unicode_is_replaced() {
    let check = |body: &[u8], expected: &str| assert_eq!(decode_json(body).unwrap().value, json!(expected));
    check(b"\"a\xff\xfeb\"", "a\u{fffd}\u{fffd}b");
    check(br#""\ud800""#, "\u{fffd}");
    check(br#""\ud83d\ude00 \udc00 \\ud800""#, "\u{1f600} \u{fffd} \\ud800");
    check(br#""\ud800\u0041""#, "\u{fffd}A");
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(decode_json(nested(MAXIMUM_DEPTH).as_bytes()).is_ok());
    for depth in [MAXIMUM_DEPTH + 1, 10_000, 1_000_000] {
        assert_eq!(
            decode_json(nested(depth).as_bytes()).unwrap_err().message(),
            "invalid character '[' exceeded max depth"
        );
    }
    for depth in [65, 127, 255, 10_000] {
        assert!(decode(nested(depth).as_bytes(), BodyFormat::Yaml).is_err(), "{depth}");
    }
    assert!(decode(nested(60).as_bytes(), BodyFormat::Yaml).is_ok());
    let object = format!("{{\"a\":{}}}", nested(MAXIMUM_DEPTH - 1));
    assert!(
        decode(object.as_bytes(), BodyFormat::Yaml).is_ok(),
        "JSON has its own limit"
    );
}

#[test]
fn yaml_is_read_as_its_json() {
    let check = |text: &str, expected: Value| {
        let decoded = decode(text.as_bytes(), BodyFormat::Yaml).unwrap();
        assert_eq!(decoded.value, expected, "{text}");
    };
    check("", Value::Null);
    check("# nothing\n", Value::Null);
    check(
        "a: 1\nb: [x, 'y']\nc: {d: ~}\n",
        json!({"a": 1, "b": ["x", "y"], "c": {"d": null}}),
    );
    check(
        "a: yes\nb: off\nc: 0x10\nd: 1e3\n",
        json!({"a": true, "b": false, "c": 16, "d": 1000}),
    );
    check(
        "a: 2020-01-01\nb: '1'\nc: 1.5\n",
        json!({"a": "2020-01-01", "b": "1", "c": 1.5}),
    );
    check("a: &x [1]\nb: *x\n", json!({"a": [1], "b": [1]}));
    check("---\na: 1\n---\nb: 2\n", json!({"a": 1}));
    check("{\"a\": \"b\"}", json!({"a": "b"}));
    check("1: x\n", json!({"1": "x"}));
    check(
        "a: 123456789012345678901234567890\n",
        json!({"a": 1.234_567_890_123_456_8e29}),
    );
    check(
        "a: 18446744073709551615\n",
        json!({"a": 18_446_744_073_709_551_615_f64}),
    );
    check("a: |\n  text\n  ---\n  more\n", json!({"a": "text\n---\nmore\n"}));
}

#[test]
fn yaml_keys_that_are_given_twice_are_noted_with_their_line() {
    let body = b"apiVersion: x.test/v1\nkind: Foo\nmetadata: {name: d, name: e}\n";
    let decoded = decode_object(body, BodyFormat::Yaml, &FOO, Origin::Custom).unwrap();
    assert_eq!(decoded.value["metadata"]["name"], "e");
    assert_eq!(decoded.duplicates, ["line 3: key \"name\" already set in map"]);
    assert_eq!(
        strict_message(&decoded.duplicates),
        "strict decoding error: yaml: unmarshal errors:\n  line 3: key \"name\" already set in map"
    );
}

#[test]
fn what_is_no_yaml_is_refused() {
    for body in ["a: b: c", "a: [1", "a: .inf", "a: 'x"] {
        let failure = decode_object(body.as_bytes(), BodyFormat::Yaml, &FOO, Origin::Custom).unwrap_err();
        let start = "the object provided is unrecognized (must be of type Foo): yaml: ";
        assert!(failure.message.starts_with(start), "{body}: {}", failure.message);
    }
    let bomb = "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\n\
                d: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e]\n";
    let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(1_000_000), vec!["*a"; 100].join(","));
    for bomb in [bomb, &long] {
        assert!(
            decode(bomb.as_bytes(), BodyFormat::Yaml).is_err(),
            "aliases must not grow without bound"
        );
    }
}

fn json_text() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e6..1e6f64)
            .prop_filter("whole floats become integers", |float| float.fract() != 0.0)
            .prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(".{0,6}", inner, 0..5).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn valid_json_is_read_as_serde_json_reads_it(value in json_text(), is_pretty in any::<bool>()) {
        let text = if is_pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
        let decoded = decode_json(text.as_bytes()).unwrap();
        prop_assert_eq!(decoded.value, value);
        prop_assert!(decoded.duplicates.is_empty());
    }

    #[test]
    fn no_bytes_make_a_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..64), text in "[\\[\\]{}:,\"\\\\ua-e0-9.\n -]{0,48}") {
        for body in [bytes.as_slice(), text.as_bytes()] {
            for format in [BodyFormat::Json, BodyFormat::Yaml] {
                drop(decode_object(body, format, &FOO, Origin::Custom));
            }
        }
    }

    #[test]
    fn what_the_decoder_refuses_the_scanner_explains(text in "[\\[\\]{}:,\"truefalsn0-9.eE -]{0,24}") {
        let is_valid = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
        match decode_json(text.as_bytes()) {
            Ok(_) => prop_assert!(is_valid),
            Err(DecodeError::Json(message)) => {
                prop_assert!(!is_valid);
                let is_explained = message.starts_with("invalid character ") || message == "unexpected end of JSON input";
                prop_assert!(is_explained, "{} for {}", message, text);
            }
            Err(DecodeError::Number(literal)) => prop_assert!(literal.contains(['e', 'E'])),
            Err(other) => prop_assert!(false, "{other:?}"),
        }
    }
}

/// A ConfigMap named `a`, as a client of Go sends it.
const PROTOBUF: &[u8] = b"k8s\0\n\x0f\n\x02v1\x12\tConfigMap\x12\x05\n\x03\n\x01a";

#[test]
fn built_in_kinds_may_come_in_protobuf() {
    let decoded = decode_object(PROTOBUF, BodyFormat::Protobuf, &CONFIG_MAP, Origin::BuiltIn).unwrap();
    assert_eq!(
        decoded.value,
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})
    );
    let failure = decode_object(PROTOBUF, BodyFormat::Protobuf, &FOO, Origin::Custom).unwrap_err();
    assert_eq!(failure.code.as_u16(), 415);
    let failure = decode_object(b"{}", BodyFormat::Protobuf, &CONFIG_MAP, Origin::BuiltIn).unwrap_err();
    assert_eq!(
        failure.message,
        "the object provided is unrecognized (must be of type ConfigMap): provided data does not appear to be a protobuf \
         message, expected prefix [107 56 115 0] ({})"
    );
}
