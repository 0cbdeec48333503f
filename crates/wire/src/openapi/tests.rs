use serde_json::json;

use super::*;
use crate::samples;

fn definition(name: &str) -> Option<Value> {
    match name {
        "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" => Some(json!({
            "type": "object",
            "properties": {"creationTimestamp": {"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Time"}},
        })),
        "io.k8s.api.core.v1.ConfigMap" => Some(json!({"type": "object", "description": "settings"})),
        "io.k8s.apimachinery.pkg.apis.meta.v1.Time" => Some(json!({"type": "string", "format": "date-time"})),
        _ => None,
    }
}

fn schema(resource: &Resource) -> Option<Value> {
    (resource.kind == "Foo")
        .then(|| json!({"type": "object", "properties": {"spec": {"type": "object"}, "metadata": {"type": "object"}}}))
}

fn described() -> Value {
    let source = Source {
        definition: &definition,
        custom_schema: &schema,
    };
    document([(&samples::foo(), Origin::Custom)], &source)
}

#[test]
fn the_patch_operation_is_what_kubectl_looks_for() {
    let document = described();
    let patch = &document["paths"]["/apis/x.test/v1/namespaces/{namespace}/foos/{name}"]["patch"];
    assert_eq!(
        patch["x-kubernetes-group-version-kind"],
        json!({"group": "x.test", "version": "v1", "kind": "Foo"})
    );
    assert_eq!(patch["x-kubernetes-action"], "patch");
    let parameters = patch["parameters"].as_array().unwrap();
    let names: Vec<&Value> = parameters.iter().map(|parameter| &parameter["name"]).collect();
    assert_eq!(names, ["dryRun", "fieldManager", "fieldValidation", "force"]);
    assert!(parameters.iter().all(|parameter| parameter["in"] == "query"));
    let types: Vec<&String> = patch["requestBody"]["content"].as_object().unwrap().keys().collect();
    assert_eq!(
        types,
        [
            "application/apply-patch+yaml",
            "application/json-patch+json",
            "application/merge-patch+json"
        ]
    );
}

#[test]
fn every_path_has_the_operations_of_its_verbs() {
    let document = described();
    let methods = |path: &str| -> Vec<&String> { document["paths"][path].as_object().unwrap().keys().collect() };
    let root = "/apis/x.test/v1";
    assert_eq!(methods(&format!("{root}/foos")), ["get", "parameters"]);
    let collection = format!("{root}/namespaces/{{namespace}}/foos");
    assert_eq!(methods(&collection), ["delete", "get", "parameters", "post"]);
    let object = format!("{collection}/{{name}}");
    assert_eq!(methods(&object), ["delete", "get", "parameters", "patch", "put"]);
    for subresource in ["status", "scale"] {
        assert_eq!(
            methods(&format!("{object}/{subresource}")),
            ["get", "parameters", "patch", "put"]
        );
    }
    assert_eq!(document["paths"].as_object().unwrap().len(), 5);
    let ids: BTreeSet<&str> = document["paths"]
        .as_object()
        .unwrap()
        .values()
        .flat_map(|path| path.as_object().unwrap().values())
        .filter_map(|operation| operation["operationId"].as_str())
        .collect();
    assert!(ids.contains("patchXTestV1NamespacedFoo"));
    assert!(ids.contains("getXTestV1NamespacedFooScale"));
}

#[test]
fn definitions_are_tagged_and_complete() {
    let document = described();
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let foo = &schemas["test.x.v1.Foo"];
    assert_eq!(
        foo["x-kubernetes-group-version-kind"],
        json!([{"group": "x.test", "version": "v1", "kind": "Foo"}])
    );
    assert_eq!(
        foo["x-kubernetes-selectable-fields"],
        json!([{"fieldPath": "spec.text"}])
    );
    assert_eq!(
        foo["properties"]["metadata"]["allOf"],
        json!([{"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}])
    );
    assert_eq!(foo["properties"]["apiVersion"]["type"], "string");
    assert_eq!(
        schemas["test.x.v1.FooList"]["properties"]["items"]["items"],
        json!({"$ref": "#/components/schemas/test.x.v1.Foo"})
    );
    assert_eq!(
        schemas["io.k8s.apimachinery.pkg.apis.meta.v1.Time"]["format"],
        "date-time"
    );
    assert_eq!(schemas["io.k8s.api.autoscaling.v1.Scale"], json!({"type": "object"}));
    let mut wanted = BTreeSet::new();
    collect_references(&document, &mut wanted);
    assert!(
        wanted.iter().all(|name| schemas.contains_key(name)),
        "no reference leads nowhere"
    );
}

#[test]
fn built_in_kinds_use_the_definitions_that_are_handed_in() {
    let source = Source {
        definition: &definition,
        custom_schema: &schema,
    };
    let document = document([(&samples::config_map(), Origin::BuiltIn)], &source);
    assert_eq!(
        document["components"]["schemas"]["io.k8s.api.core.v1.ConfigMap"]["description"],
        "settings"
    );
    let patch = &document["paths"]["/api/v1/namespaces/{namespace}/configmaps/{name}"]["patch"];
    assert_eq!(patch["tags"], json!(["core_v1"]));
    assert!(
        patch["requestBody"]["content"]
            .get("application/strategic-merge-patch+json")
            .is_none()
    );
}

#[test]
fn names_of_definitions_are_upstreams() {
    for (group, version, kind, expected) in [
        ("", "v1", "Pod", "io.k8s.api.core.v1.Pod"),
        ("apps", "v1", "Deployment", "io.k8s.api.apps.v1.Deployment"),
        ("rbac.authorization.k8s.io", "v1", "Role", "io.k8s.api.rbac.v1.Role"),
        (
            "apiextensions.k8s.io",
            "v1",
            "CustomResourceDefinition",
            "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition",
        ),
        (
            "apiregistration.k8s.io",
            "v1",
            "APIService",
            "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService",
        ),
    ] {
        assert_eq!(built_in_name(group, version, kind), expected);
    }
    assert_eq!(
        custom_name("stable.example.com", "v1", "CronTab"),
        "com.example.stable.v1.CronTab"
    );
}

#[test]
fn the_index_leads_to_documents_by_hash() {
    let index = index([(document_path("", "v1"), "AA"), (document_path("x.test", "v1"), "BB")]);
    assert_eq!(
        index,
        json!({"paths": {
            "api/v1": {"serverRelativeURL": "/openapi/v3/api/v1?hash=AA"},
            "apis/x.test/v1": {"serverRelativeURL": "/openapi/v3/apis/x.test/v1?hash=BB"},
        }})
    );
}
