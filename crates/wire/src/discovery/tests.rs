use serde_json::json;

use super::*;
use crate::samples;

fn catalogue() -> Catalogue {
    let mut bar = samples::foo();
    bar.plural = "bars".to_owned();
    bar.singular = "bar".to_owned();
    bar.kind = "Bar".to_owned();
    bar.scope = Scope::Cluster;
    bar.subresources.clear();
    bar.short_names.clear();
    bar.categories.clear();
    let mut beta = samples::foo();
    beta.version = "v1beta1".to_owned();
    beta.subresources.clear();
    let mut deployment = samples::config_map();
    deployment.group = "apps".to_owned();
    deployment.plural = "deployments".to_owned();
    deployment.kind = "Deployment".to_owned();
    deployment.storage_version = "apps/v1".to_owned();
    deployment.subresources = vec![
        samples::subresource("status", "apps", "Deployment"),
        samples::subresource("scale", "autoscaling", "Scale"),
    ];
    let custom = [beta, samples::foo(), bar].map(|resource| (Arc::new(resource), Origin::Custom));
    let built_in = [deployment, samples::config_map()].map(|resource| (Arc::new(resource), Origin::BuiltIn));
    Catalogue::new(custom.into_iter().chain(built_in))
}

const VERBS: [&str; 8] = [
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
];
const VERBS_OF_CUSTOM: [&str; 8] = [
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
];

#[test]
fn aggregated_discovery_of_custom_resources_is_as_upstream_writes_it() {
    let document = catalogue().aggregated(false);
    assert_eq!(document["kind"], "APIGroupDiscoveryList");
    assert_eq!(document["apiVersion"], "apidiscovery.k8s.io/v2");
    let names: Vec<&Value> = document["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| &group["metadata"]["name"])
        .collect();
    assert_eq!(names, ["apps", "x.test"]);
    let versions = &document["items"][1]["versions"];
    assert_eq!(
        (&versions[0]["version"], &versions[1]["version"]),
        (&json!("v1"), &json!("v1beta1"))
    );
    assert_eq!(
        versions[0]["resources"],
        json!([
            {
                "resource": "bars",
                "responseKind": {"group": "x.test", "version": "v1", "kind": "Bar"},
                "scope": "Cluster",
                "singularResource": "bar",
                "verbs": VERBS_OF_CUSTOM,
            },
            {
                "resource": "foos",
                "responseKind": {"group": "x.test", "version": "v1", "kind": "Foo"},
                "scope": "Namespaced",
                "singularResource": "foo",
                "verbs": VERBS_OF_CUSTOM,
                "shortNames": ["fo"],
                "categories": ["all"],
                "subresources": [
                    {
                        "subresource": "status",
                        "responseKind": {"group": "x.test", "version": "v1", "kind": "Foo"},
                        "verbs": ["get", "patch", "update"],
                    },
                    {
                        "subresource": "scale",
                        "responseKind": {"group": "autoscaling", "version": "v1", "kind": "Scale"},
                        "verbs": ["get", "patch", "update"],
                    },
                ],
            },
        ])
    );
}

#[test]
fn aggregated_discovery_of_built_in_kinds_leaves_out_their_group() {
    let core = catalogue().aggregated(true);
    assert_eq!(core["items"][0]["metadata"], json!({}));
    let config_maps = &core["items"][0]["versions"][0]["resources"][0];
    assert_eq!(
        config_maps["responseKind"],
        json!({"group": "", "version": "", "kind": "ConfigMap"})
    );
    assert_eq!(config_maps["verbs"], json!(VERBS));
    let deployments = &catalogue().aggregated(false)["items"][0]["versions"][0]["resources"][0];
    let subresources = deployments["subresources"].as_array().unwrap();
    let names: Vec<&Value> = subresources
        .iter()
        .map(|subresource| &subresource["subresource"])
        .collect();
    assert_eq!(names, ["scale", "status"]);
    assert_eq!(
        subresources[0]["responseKind"],
        json!({"group": "autoscaling", "version": "v1", "kind": "Scale"})
    );
}

#[test]
fn older_clients_find_groups_and_versions() {
    let catalogue = catalogue();
    let group = json!({
        "name": "x.test",
        "versions": [
            {"groupVersion": "x.test/v1", "version": "v1"},
            {"groupVersion": "x.test/v1beta1", "version": "v1beta1"},
        ],
        "preferredVersion": {"groupVersion": "x.test/v1", "version": "v1"},
    });
    assert_eq!(catalogue.group_list()["groups"][1], group);
    let mut alone = group;
    alone["kind"] = "APIGroup".into();
    alone["apiVersion"] = "v1".into();
    assert_eq!(catalogue.group("x.test"), Some(alone));
    assert_eq!((catalogue.group("nope"), catalogue.group("")), (None, None));
    assert_eq!(
        catalogue.core_versions("127.0.0.1:6443"),
        json!({
            "kind": "APIVersions",
            "versions": ["v1"],
            "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443"}],
        })
    );
}

#[test]
fn older_clients_find_resources() {
    let catalogue = catalogue();
    let list = catalogue.resource_list("x.test", "v1").unwrap();
    assert_eq!(
        (&list["kind"], &list["groupVersion"]),
        (&json!("APIResourceList"), &json!("x.test/v1"))
    );
    let resources = list["resources"].as_array().unwrap();
    let names: Vec<&Value> = resources.iter().map(|resource| &resource["name"]).collect();
    assert_eq!(names, ["bars", "foos", "foos/status", "foos/scale"]);
    assert_eq!(
        resources[1],
        json!({
            "name": "foos",
            "singularName": "foo",
            "namespaced": true,
            "kind": "Foo",
            "verbs": VERBS_OF_CUSTOM,
            "shortNames": ["fo"],
            "categories": ["all"],
            "storageVersionHash": "zIS6MbZKeWw=",
        })
    );
    assert_eq!(
        resources[3],
        json!({
            "name": "foos/scale",
            "singularName": "",
            "namespaced": true,
            "group": "autoscaling",
            "version": "v1",
            "kind": "Scale",
            "verbs": ["get", "patch", "update"],
        })
    );
    let core = catalogue.resource_list("", "v1").unwrap();
    assert_eq!((&core["groupVersion"], core.get("apiVersion")), (&json!("v1"), None));
    assert_eq!(list["apiVersion"], "v1");
    assert_eq!(catalogue.resource_list("x.test", "v2"), None);
    let versions: Vec<_> = catalogue.group_versions().collect();
    assert_eq!(
        versions,
        [("", "v1"), ("apps", "v1"), ("x.test", "v1"), ("x.test", "v1beta1")]
    );
}

#[test]
fn contents_are_named_by_their_hash() {
    let hash = content_hash(b"");
    assert!(hash.starts_with("CF83E1357EEFB8BD"));
    assert_eq!(hash.len(), 128);
    assert_eq!(etag(b""), format!("\"{hash}\""));
    assert_ne!(etag(b"a"), etag(b"b"));
}
