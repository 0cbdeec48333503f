use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Messages are put together by hand here: a field is its number, its way of writing, and its content.
fn bytes(number: u8, content: impl AsRef<[u8]>) -> Vec<u8> {
    let content = content.as_ref();
    [
        &varint(u64::from(number) << 3 | 2)[..],
        &varint(content.len() as u64),
        content,
    ]
    .concat()
}

fn number(field: u8, value: i64) -> Vec<u8> {
    [varint(u64::from(field) << 3), varint(value.cast_unsigned())].concat()
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(u8::try_from(value & 0x7f).unwrap() | 0x80);
        value >>= 7;
    }
    bytes.push(u8::try_from(value).unwrap());
    bytes
}

fn message(parts: &[Vec<u8>]) -> Vec<u8> {
    parts.concat()
}

fn body(api_version: &str, kind: &str, content: &[u8]) -> Vec<u8> {
    let type_meta = message(&[bytes(1, api_version), bytes(2, kind)]);
    [
        PREFIX,
        &bytes(1, type_meta),
        &bytes(2, content),
        &bytes(3, ""),
        &bytes(4, ""),
    ]
    .concat()
}

fn named(name: &str) -> Vec<u8> {
    // Go writes every field that is no pointer, set or not.
    bytes(
        1,
        message(&[bytes(1, name), bytes(2, ""), bytes(3, ""), number(7, 0), bytes(8, "")]),
    )
}

fn check(api_version: &str, kind: &str, content: &[Vec<u8>], expected: &Value) {
    let found = decode(&body(api_version, kind, &message(content))).unwrap();
    assert_eq!(&found, expected, "{kind}");
}

#[test]
fn maps_and_bytes_are_those_of_the_kind() {
    let entry = |key: &str, value: &str| message(&[bytes(1, key), bytes(2, value)]);
    check(
        "v1",
        "ConfigMap",
        &[named("a"), bytes(2, entry("x", "1")), bytes(2, entry("y", ""))],
        &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": "1", "y": ""}}),
    );
    check(
        "v1",
        "Secret",
        &[named("a"), bytes(2, entry("x", "b")), bytes(3, "Opaque")],
        &json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": {"x": "Yg=="}, "type": "Opaque"}),
    );
}

#[test]
fn zero_counts_where_it_differs_from_absence() {
    let scale = |specification: &[Vec<u8>]| {
        let content = message(&[named("a"), bytes(2, message(specification))]);
        decode(&body("apps/v1", "Deployment", &content)).unwrap()["spec"].clone()
    };
    assert_eq!(scale(&[number(1, 0), number(5, 0)])["replicas"], 0);
    assert_eq!(scale(&[number(5, 0)]).get("replicas"), None);
    assert_eq!(scale(&[number(5, 0)]).get("minReadySeconds"), None);
}

#[test]
fn what_go_embeds_is_a_message_of_its_own() {
    let secret = bytes(6, message(&[bytes(1, "keys"), number(3, 0o400)]));
    let volume = message(&[bytes(1, "v"), bytes(2, secret)]);
    let port = message(&[number(1, 0), number(2, 8080), bytes(3, "")]);
    let probe = message(&[
        bytes(1, bytes(2, message(&[bytes(1, "/"), bytes(2, port)]))),
        number(3, 5),
    ]);
    let amount = message(&[bytes(1, "cpu"), bytes(2, bytes(1, "100m"))]);
    let container = message(&[bytes(1, "c"), bytes(8, bytes(2, amount)), bytes(10, probe)]);
    let content = message(&[named("a"), bytes(2, message(&[bytes(1, volume), bytes(2, container)]))]);
    let pod = decode(&body("v1", "Pod", &content)).unwrap();
    assert_eq!(
        pod["spec"],
        json!({
            "volumes": [{"name": "v", "secret": {"secretName": "keys", "defaultMode": 0o400}}],
            "containers": [{
                "name": "c",
                "resources": {"requests": {"cpu": "100m"}},
                "livenessProbe": {"httpGet": {"path": "/", "port": 8080}, "timeoutSeconds": 5},
            }],
        })
    );
}

#[test]
fn times_are_written_as_in_json() {
    let time = message(&[number(1, 1_700_000_000), number(2, 123_456_789)]);
    let specification = message(&[bytes(1, "me"), number(2, 15), bytes(3, &time), bytes(4, &time)]);
    let content = message(&[named("a"), bytes(2, specification)]);
    let lease = decode(&body("coordination.k8s.io/v1", "Lease", &content)).unwrap();
    assert_eq!(lease["spec"]["renewTime"], "2023-11-14T22:13:20.123456Z");
    assert_eq!(lease["spec"]["leaseDurationSeconds"], 15);
    assert_eq!(lease["metadata"].get("creationTimestamp"), None);
}

#[test]
fn options_of_every_group_are_the_same() {
    let content = message(&[
        number(1, 0),
        bytes(2, bytes(1, "uid")),
        bytes(4, "Foreground"),
        bytes(5, "All"),
    ]);
    for group in ["v1", "apps/v1", "conformance.test/v1"] {
        let options = decode(&body(group, "DeleteOptions", &content)).unwrap();
        assert_eq!(options["gracePeriodSeconds"], 0);
        assert_eq!(options["preconditions"]["uid"], "uid");
        assert_eq!(options["propagationPolicy"], "Foreground");
        assert_eq!(options["dryRun"], json!(["All"]));
    }
}

#[test]
fn a_list_inside_of_a_map_has_a_message_around_it() {
    let extra = message(&[bytes(1, "scopes"), bytes(2, message(&[bytes(1, "a"), bytes(1, "b")]))]);
    let specification = message(&[bytes(3, "ada"), bytes(4, "crew"), bytes(5, extra)]);
    let content = message(&[bytes(2, specification)]);
    let review = decode(&body("authorization.k8s.io/v1", "SubjectAccessReview", &content)).unwrap();
    assert_eq!(review["spec"]["extra"], json!({"scopes": ["a", "b"]}));
    assert_eq!(review["spec"]["groups"], json!(["crew"]));
}

#[test]
fn what_is_no_body_is_refused() {
    assert_eq!(decode(b"{}"), Err(ProtobufError::Prefix));
    let whole = body("v1", "ConfigMap", &named("a"));
    assert_eq!(decode(&whole[..whole.len() - 1]), Err(ProtobufError::Truncated));
    let name_is_a_number = bytes(1, number(1, 5));
    let expected = Err(ProtobufError::Field("name".to_owned()));
    assert_eq!(decode(&body("v1", "ConfigMap", &name_is_a_number)), expected);
    assert_eq!(
        decode(&body("example.test/v1", "Thing", &named("a"))),
        Ok(json!({"apiVersion": "example.test/v1", "kind": "Thing"}))
    );
}

#[test]
fn deep_bodies_are_refused() {
    let mut schema = Vec::new();
    for _ in 0..400 {
        schema = bytes(30, bytes(2, schema));
    }
    let mut content = schema;
    // additionalProperties of the schema of the version of a definition.
    for number in [1, 4, 7, 2] {
        content = bytes(number, content);
    }
    let found = decode(&body("apiextensions.k8s.io/v1", "CustomResourceDefinition", &content));
    assert_eq!(found, Err(ProtobufError::Depth));
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(kind in prop::sample::select(vec!["Pod", "Secret", "Service", "Event"]), bytes: Vec<u8>) {
        drop(decode(&bytes));
        drop(decode(&body("v1", kind, &bytes)));
    }
}
