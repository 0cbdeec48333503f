//! Built-in kinds: definitions that refer to each other and to themselves, unknown fields, and what Go's decoder says about
//! values of the wrong type.

use std::collections::BTreeMap;

use hyperplane_schema::{Definitions, DefinitionsError, Schema};
use serde_json::{Value, json};

/// A few definitions in the form in which a server publishes them.
fn definitions() -> BTreeMap<String, Value> {
    let reference = |name: &str| json!({"allOf": [{"$ref": format!("#/components/schemas/{name}")}], "default": {}});
    let definition =
        |name: &str, properties: Value| (name.to_owned(), json!({"type": "object", "properties": properties}));
    let string = json!({"type": "string"});
    BTreeMap::from([
        definition(
            "io.k8s.api.core.v1.Pod",
            json!({
                "apiVersion": string, "kind": string,
                "metadata": reference("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"),
                "spec": reference("io.k8s.api.core.v1.PodSpec"),
            }),
        ),
        definition(
            "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
            json!({
                "name": string,
                "labels": {"type": "object", "additionalProperties": {"type": "string", "default": ""}},
                "creationTimestamp": reference("io.k8s.apimachinery.pkg.apis.meta.v1.Time"),
            }),
        ),
        definition(
            "io.k8s.api.core.v1.PodSpec",
            json!({
                "containers": {"type": "array", "items": reference("io.k8s.api.core.v1.Container")},
                "hostNetwork": {"type": "boolean"},
            }),
        ),
        definition(
            "io.k8s.api.core.v1.Container",
            json!({
                "name": string,
                "command": {"type": "array", "items": {"type": "string", "default": ""}},
                "port": {"type": "integer", "format": "int32"},
                "protocol": {"type": "string", "default": "TCP"},
                "probe": reference("io.k8s.apimachinery.pkg.util.intstr.IntOrString"),
                "limits": {
                    "type": "object",
                    "additionalProperties": reference("io.k8s.apimachinery.pkg.api.resource.Quantity"),
                },
                "data": {"type": "string", "format": "byte"},
                "inner": reference("io.k8s.api.core.v1.Container"),
                "raw": reference("io.k8s.apimachinery.pkg.runtime.RawExtension"),
            }),
        ),
        (
            "io.k8s.apimachinery.pkg.apis.meta.v1.Time".to_owned(),
            json!({"type": "string", "format": "date-time"}),
        ),
        (
            "io.k8s.apimachinery.pkg.util.intstr.IntOrString".to_owned(),
            json!({"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]}),
        ),
        (
            "io.k8s.apimachinery.pkg.api.resource.Quantity".to_owned(),
            json!({"oneOf": [{"type": "string"}, {"type": "number"}]}),
        ),
        (
            "io.k8s.apimachinery.pkg.runtime.RawExtension".to_owned(),
            json!({"type": "object"}),
        ),
    ])
}

fn pods() -> Schema {
    Schema::openapi("io.k8s.api.core.v1.Pod", &definitions()).unwrap()
}

fn container(container: &Value) -> Value {
    json!({"spec": {"containers": [container]}})
}

#[track_caller]
fn check(pod: &Value, error: &str) {
    assert_eq!(pods().type_errors(pod).unwrap_or_default(), error, "{pod}");
}

#[test]
fn wrong_types_draw_the_words_of_gos_decoder() {
    let prefix = "json: cannot unmarshal";
    check(
        &json!({"spec": 5}),
        &format!("{prefix} number into Go struct field Pod.spec of type v1.PodSpec"),
    );
    check(
        &json!({"spec": {"containers": 5}}),
        &format!("{prefix} number into Go struct field PodSpec.spec.containers of type []v1.Container"),
    );
    check(
        &json!({"spec": {"containers": [5]}}),
        &format!("{prefix} number into Go struct field PodSpec.spec.containers of type v1.Container"),
    );
    let field = |name: &str| format!("into Go struct field Container.spec.containers.{name} of type");
    check(
        &container(&json!({"name": 5})),
        &format!("{prefix} number {} string", field("name")),
    );
    check(
        &container(&json!({"command": [5]})),
        &format!("{prefix} number {} string", field("command")),
    );
    check(
        &container(&json!({"port": "x"})),
        &format!("{prefix} string {} int32", field("port")),
    );
    check(
        &container(&json!({"port": 1.5})),
        &format!("{prefix} number 1.5 {} int32", field("port")),
    );
    check(
        &container(&json!({"port": 99_999_999_999_i64})),
        &format!("{prefix} number 99999999999 {} int32", field("port")),
    );
    check(
        &container(&json!({"probe": true})),
        &format!("{prefix} bool {} int32", field("probe")),
    );
    check(
        &container(&json!({"data": 5})),
        &format!("{prefix} number {} []uint8", field("data")),
    );
    check(
        &container(&json!({"data": "!!"})),
        "illegal base64 data at input byte 0",
    );
    check(
        &container(&json!({"limits": {"cpu": "x"}})),
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    );
    check(
        &container(&json!({"inner": {"inner": {"name": 5}}})),
        &format!("{prefix} number {} string", field("inner.inner.name")),
    );
    check(
        &json!({"metadata": {"labels": {"a": 5}}}),
        &format!("{prefix} number into Go struct field ObjectMeta.metadata.labels of type string"),
    );
    check(
        &json!({"metadata": {"creationTimestamp": "x"}}),
        r#"parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006""#,
    );
    check(
        &json!({"metadata": {"creationTimestamp": "2026-13-01T00:00:00Z"}}),
        r#"parsing time "2026-13-01T00:00:00Z": month out of range"#,
    );
    check(
        &container(&json!({"name": "a", "port": 80, "probe": "x", "limits": {"cpu": 1}, "raw": {"a": [1]}})),
        "",
    );
}

#[test]
fn unknown_fields_are_dropped_and_named() {
    let mut pod = json!({
        "zip": 1,
        "metadata": {"name": "a", "foo": {}},
        "spec": {"containers": [{"name": "a", "bar": 1, "raw": {"kept": [1]}, "inner": {"zap": 1}}, null]},
    });
    assert_eq!(
        pods().prune(&mut pod),
        [
            "metadata.foo",
            "spec.containers[0].bar",
            "spec.containers[0].inner.zap",
            "zip"
        ]
    );
    assert_eq!(
        pod,
        json!({
            "metadata": {"name": "a"},
            "spec": {"containers": [{"name": "a", "raw": {"kept": [1]}, "inner": {}}, {}]},
        })
    );
}

#[test]
fn nulls_become_nothing_or_zero() {
    let mut pod = json!({
        "metadata": {"name": null, "labels": {"a": null}},
        "spec": {"hostNetwork": null, "containers": [{"command": [null]}]},
    });
    assert_eq!(pods().prune(&mut pod), Vec::<String>::new());
    assert_eq!(
        pod,
        json!({"metadata": {"labels": {"a": ""}}, "spec": {"containers": [{"command": [""]}]}})
    );
}

#[test]
fn only_defaults_that_say_something_are_filled_in() {
    let mut pod = json!({"spec": {"containers": [{"name": "a"}]}});
    pods().default(&mut pod);
    assert_eq!(pod, json!({"spec": {"containers": [{"name": "a", "protocol": "TCP"}]}}));
}

#[test]
fn a_definition_that_is_missing_is_named() {
    let mut incomplete = definitions();
    incomplete.remove("io.k8s.api.core.v1.Container");
    assert_eq!(
        Definitions::new(&incomplete).unwrap_err(),
        DefinitionsError::Missing("io.k8s.api.core.v1.Container".to_owned())
    );
    assert!(Definitions::new(&definitions()).unwrap().schema("nothing").is_none());
}
