//! Hostile requests as data: what is said, and which answers are right. Opens no connection.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::COLLECTION;

/// A request, and the codes that may answer it.
pub struct Hostile {
    /// What it tries.
    pub name: &'static str,
    /// All bytes of it.
    pub bytes: Vec<u8>,
    /// Codes of good answers.
    pub codes: &'static [u16],
}

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const JSON_PATCH: &str = "application/json-patch+json";
const MERGE_PATCH: &str = "application/merge-patch+json";
const APPLY_PATCH: &str = "application/apply-patch+yaml";

/// A request with a body.
fn with_body(name: &'static str, method: &str, path: &str, media: &str, body: &[u8], codes: &'static [u16]) -> Hostile {
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {media}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let bytes = [head.as_bytes(), body].concat();
    Hostile { name, bytes, codes }
}

fn create(name: &'static str, body: &[u8], codes: &'static [u16]) -> Hostile {
    with_body(name, "POST", COLLECTION, JSON, body, codes)
}

fn get(name: &'static str, path: &str, codes: &'static [u16]) -> Hostile {
    let bytes = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").into_bytes();
    Hostile { name, bytes, codes }
}

fn patch(name: &'static str, media: &str, body: &[u8], codes: &'static [u16]) -> Hostile {
    let path = format!("{COLLECTION}/victim?fieldManager=hostile");
    with_body(name, "PATCH", &path, media, body, codes)
}

/// An object around some text of JSON.
fn config_map(name: &str, metadata: &str, rest: &str) -> Vec<u8> {
    format!(r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}"{metadata}}}{rest}}}"#).into_bytes()
}

fn nested(open: &str, inner: &str, close: &str, depth: usize) -> String {
    format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
}

/// Bodies of objects that are deep or wide.
pub fn deep_bodies() -> Vec<Hostile> {
    let lists = nested("[", "", "]", 100_000);
    let objects = nested(r#"{"a":"#, "1", "}", 100_000);
    let fields = nested(r#"{"f:a":"#, "{}", "}", 9_000);
    let fields = format!(
        r#","managedFields":[{{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{fields}}}]"#
    );
    let many = r#"{"manager":"m","operation":"Update"},"#.repeat(50_000);
    let many = format!(r#","managedFields":[{}]"#, many.trim_end_matches(','));
    let wide: String = (0..100_000).fold(String::new(), |mut text, number| {
        write!(text, r#""k{number}":"","#).unwrap();
        text
    });
    vec![
        create("nothing but lists", lists.as_bytes(), &[400]),
        create("nothing but objects", objects.as_bytes(), &[400]),
        create(
            "depth in a field",
            &config_map("a", "", &format!(r#","data":{lists}"#)),
            &[400],
        ),
        create(
            "depth in an unknown field",
            &config_map("a", "", &format!(r#","x":{objects}"#)),
            &[400],
        ),
        create("depth in managedFields", &config_map("b", &fields, ""), &[201, 400]),
        create("very many managers", &config_map("c", &many, ""), &[201, 400, 413, 422]),
        create(
            "very many keys",
            &config_map("d", "", &format!(r#","data":{{{}}}"#, wide.trim_end_matches(','))),
            &[201, 413, 422],
        ),
        with_body("bombs of aliases", "POST", COLLECTION, YAML, &aliases(), &[400]),
        with_body(
            "depth in YAML",
            "POST",
            COLLECTION,
            YAML,
            nested("[", "", "]", 50_000).as_bytes(),
            &[400],
        ),
        with_body(
            "YAML that hangs in",
            "POST",
            COLLECTION,
            YAML,
            nested("- ", "a", "", 20_000).as_bytes(),
            &[400],
        ),
    ]
}

/// Bodies of objects with something odd in them.
pub fn odd_bodies() -> Vec<Hostile> {
    let large = format!(r#","data":{{"a":"{}"}}"#, "a".repeat(4 << 20));
    vec![
        create(
            "a number beyond all",
            &config_map("e", "", r#","data":{"a":1e999999}"#),
            &[400],
        ),
        create(
            "a number of many digits",
            &config_map("f", "", &format!(r#","data":{{"a":{}}}"#, "9".repeat(1 << 20))),
            &[400],
        ),
        create("not a number", &config_map("g", "", r#","data":{"a":NaN}"#), &[400]),
        create(
            "bad UTF-8 in a value",
            &config_map("h", "", ",\"data\":{\"a\":\"\u{1}\"}")
                .into_iter()
                .map(|byte| if byte == 1 { 0xff } else { byte })
                .collect::<Vec<u8>>(),
            &[201, 400],
        ),
        create("bad UTF-8 alone", &[0xff; 64], &[400]),
        create(
            "half of a pair of surrogates",
            &config_map("i", "", r#","data":{"a":"\ud800"}"#),
            &[201, 400],
        ),
        create("a zero in a name", &config_map("j\\u0000", "", ""), &[422]),
        create("nothing", b"", &[400]),
        create("something else", b"null", &[422]),
        create("protobuf that is none", b"k8s\0\xff\xff\xff\xff\xff\xff", &[400]),
        create("more than fits", &config_map("k", "", &large), &[413]),
        with_body("a media type that is none", "POST", COLLECTION, "a/b; c", b"{}", &[415]),
        duplicates("fieldValidation=Strict", &[400]),
        duplicates("fieldValidation=Warn", &[201]),
    ]
}

fn duplicates(validation: &str, codes: &'static [u16]) -> Hostile {
    let keys = r#""a":"b","#.repeat(10_000);
    let body = config_map("twice", "", &format!(r#","data":{{{}}}"#, keys.trim_end_matches(',')));
    with_body(
        "keys again and again",
        "POST",
        &format!("{COLLECTION}?{validation}"),
        JSON,
        &body,
        codes,
    )
}

/// Each line names ten of the line before: a few hundred bytes of a few billion nodes.
fn aliases() -> Vec<u8> {
    let mut text = "a0: &a0 [x]\n".to_owned();
    for line in 1..12 {
        let before = format!("*a{},", line - 1).repeat(10);
        writeln!(text, "a{line}: &a{line} [{}]", before.trim_end_matches(',')).unwrap();
    }
    text.push_str("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\ndata: *a11\n");
    text.into_bytes()
}

/// Patches of an object that is there.
pub fn patches() -> Vec<Hostile> {
    let operations = |count: usize| {
        let operation = json!({"op": "add", "path": "/data/a", "value": "b"});
        serde_json::to_vec(&vec![operation; count]).unwrap()
    };
    // Each step copies all that is there into it: it doubles, thirty times.
    let mut copies = vec![json!({"op": "add", "path": "/metadata/annotations", "value": {"a": "b".repeat(1000)}})];
    copies.extend((0..30).map(|step| json!({"op": "copy", "from": "/metadata", "path": format!("/metadata/x{step}")})));
    let depth = nested(r#"{"data":"#, "{}", "}", 50_000);
    let pointer = json!([{"op": "add", "path": "/a".repeat(100_000), "value": 1}]);
    let index = json!([{"op": "add", "path": "/metadata/finalizers/99999999999999999999", "value": "a"}]);
    let fields: serde_json::Map<String, Value> = (0..50_000).map(|it| (format!("k{it}"), json!("v"))).collect();
    let wide = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "victim"}, "data": fields});
    vec![
        patch(
            "ten thousand and one operations",
            JSON_PATCH,
            &operations(10_001),
            &[413],
        ),
        patch("ten thousand operations", JSON_PATCH, &operations(10_000), &[200]),
        patch(
            "copies of copies",
            JSON_PATCH,
            &serde_json::to_vec(&copies).unwrap(),
            &[400, 413, 422],
        ),
        patch(
            "a long pointer",
            JSON_PATCH,
            &serde_json::to_vec(&pointer).unwrap(),
            &[400, 413, 422],
        ),
        patch(
            "an index beyond all",
            JSON_PATCH,
            &serde_json::to_vec(&index).unwrap(),
            &[400, 422],
        ),
        patch(
            "operations that are none",
            JSON_PATCH,
            b"[{\"op\":\"explode\"}]",
            &[400, 422],
        ),
        patch("depth in a merge", MERGE_PATCH, depth.as_bytes(), &[400]),
        patch("depth in an apply", APPLY_PATCH, depth.as_bytes(), &[400]),
        patch("aliases in an apply", APPLY_PATCH, &aliases(), &[400]),
        patch(
            "very many fields in an apply",
            APPLY_PATCH,
            &serde_json::to_vec(&wide).unwrap(),
            &[200, 413],
        ),
    ]
}

/// Paths.
pub fn paths() -> Vec<Hostile> {
    vec![
        get("up and down", "/api/v1/namespaces/../secrets", &[200]),
        get(
            "encoded up and down",
            "/api/v1/namespaces/%2e%2e/secrets",
            &[200, 301, 400, 404],
        ),
        get(
            "an encoded slash",
            "/api/v1/namespaces/a%2Fb/configmaps",
            &[200, 400, 404],
        ),
        get("a zero", "/api/v1/namespaces/a%00b/configmaps", &[200, 400, 404]),
        get("nothing between", "/api//v1///configmaps", &[200, 301, 404]),
        get("bad UTF-8", "/api/v1/namespaces/%ff%fe", &[400, 404]),
        get("half an escape", "/api/v1/namespaces/%f", &[400, 404]),
        get(
            "a long name",
            &format!("/api/v1/namespaces/{}", "a".repeat(50_000)),
            &[404, 414],
        ),
        get("a longer path", &format!("/{}", "a/".repeat(100_000)), &[404, 414, 431]),
        get("very many slashes", &"/".repeat(30_000), &[200, 301, 403, 404, 414]),
    ]
}

/// Queries.
pub fn queries() -> Vec<Hostile> {
    let values: Vec<String> = (0..6_000).map(|it| format!("v{it}")).collect();
    let list = |query: &str| format!("{COLLECTION}?{query}");
    vec![
        get(
            "a set of thousands",
            &list(&format!("labelSelector=a+in+({})", values.join(","))),
            &[200],
        ),
        get(
            "very many terms",
            &list(&format!("labelSelector={}", "a=b,".repeat(10_000))),
            &[200, 400],
        ),
        get(
            "parentheses",
            &list(&format!("labelSelector={}", "(".repeat(30_000))),
            &[400],
        ),
        get(
            "fields that are none",
            &list(&format!("fieldSelector={}", "a=b,".repeat(10_000))),
            &[400],
        ),
        get("a token that is none", &list("limit=1&continue=AAAA"), &[400]),
        get(
            "a token of nonsense",
            &list("limit=1&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiLi4vLi4vIn0"),
            &[400, 410],
        ),
        get("a limit below nothing", &list("limit=-1"), &[200, 400]),
        get("a limit beyond all", &list("limit=99999999999999999999"), &[200, 400]),
        get(
            "a revision beyond all",
            &list("resourceVersion=18446744073709551616"),
            &[400],
        ),
        get("a revision that is none", &list("resourceVersion=-1"), &[400]),
        get(
            "a watch of a negative time",
            &list("watch=true&timeoutSeconds=-5&resourceVersion=x"),
            &[500],
        ),
        get("very many parameters", &list(&"a=b&".repeat(15_000)), &[200, 400]),
    ]
}

/// What is hardly HTTP.
pub fn heads() -> Vec<Hostile> {
    let raw = |name, text: String, codes| Hostile {
        name,
        bytes: text.into_bytes(),
        codes,
    };
    let get = "GET /version HTTP/1.1\r\nhost: localhost\r\n";
    let lines: String = (0..5_000).fold(String::new(), |mut text, number| {
        write!(text, "x-{number}: a\r\n").unwrap();
        text
    });
    vec![
        raw("no HTTP at all", "\u{16}\u{3}\u{1}nonsense\r\n\r\n".to_owned(), &[400]),
        raw(
            "another method",
            "EXPLODE / HTTP/1.1\r\nhost: localhost\r\n\r\n".to_owned(),
            &[200],
        ),
        raw("very many headers", format!("{get}{lines}\r\n"), &[400, 431]),
        raw(
            "a long header",
            format!("{get}x: {}\r\n\r\n", "a".repeat(2 << 20)),
            &[400, 431],
        ),
        raw(
            "a long token",
            format!("{get}authorization: Bearer {}\r\n\r\n", "a.".repeat(50_000)),
            &[200, 400, 401, 431],
        ),
        raw(
            "two lengths",
            format!("{get}content-length: 1\r\ncontent-length: 2\r\n\r\nab"),
            &[400],
        ),
        raw(
            "a length that is none",
            format!("{get}content-length: -1\r\n\r\n"),
            &[400],
        ),
        raw(
            "a length beyond all",
            format!(
                "POST {COLLECTION} HTTP/1.1\r\nhost: a\r\ncontent-type: {JSON}\r\ncontent-length: 18446744073709551615\r\n\r\n"
            ),
            &[400, 413, 431],
        ),
        raw(
            "a length and chunks",
            format!(
                "POST {COLLECTION} HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"
            ),
            &[400, 415],
        ),
        raw(
            "a chunk of no size",
            format!(
                "POST {COLLECTION} HTTP/1.1\r\nhost: a\r\ncontent-type: {JSON}\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"
            ),
            &[400],
        ),
        raw(
            "a chunk beyond all",
            format!(
                "POST {COLLECTION} HTTP/1.1\r\nhost: a\r\ncontent-type: {JSON}\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n"
            ),
            &[400],
        ),
    ]
}
