//! What the objects are for a cluster of each kind, and that every asset can be read.

use hyperplane_planner::catalogue;
use serde_json::{Value, json};

use super::*;
use crate::samples;

fn control_plane(networking: &Value, annotations: &Value) -> HostedControlPlane {
    let change = json!({"metadata": {"annotations": annotations}, "spec": {"networking": networking}});
    hyperplane_objects::read(samples::hosted_control_plane(&change)).unwrap()
}

fn rendered(networking: &Value) -> Result<Vec<Value>, String> {
    rendered_with(networking, &json!({}))
}

fn rendered_with(networking: &Value, annotations: &Value) -> Result<Vec<Value>, String> {
    rendered_of(&control_plane(networking, annotations))
}

fn rendered_of(control_plane: &HostedControlPlane) -> Result<Vec<Value>, String> {
    let endpoint = |host: &str, port| Endpoint {
        host: host.to_owned(),
        port,
    };
    let (authority, agent) = (ConfigMap::default(), Secret::default());
    let wanted = Wanted {
        control_plane,
        release: catalogue::by_version("v1.36.4").unwrap(),
        api_server: &endpoint("fd12::1", 6443),
        konnectivity: &endpoint("konnectivity.example.com", 443),
        konnectivity_authority: &authority,
        konnectivity_agent: &agent,
    };
    let manifests = all(&wanted).map_err(|failure| failure.report())?;
    Ok(manifests.iter().map(|manifest| manifest.body().clone()).collect())
}

fn find<'a>(objects: &'a [Value], kind: &str, name: &str) -> &'a Value {
    let mut found = objects
        .iter()
        .filter(|object| object["kind"] == kind && object["metadata"]["name"] == name);
    found.next().unwrap_or_else(|| panic!("no {kind} {name}"))
}

#[test]
fn every_object_is_marked_as_kept() {
    let objects = rendered(&json!({})).unwrap();
    assert!(objects.len() > 15, "{}", objects.len());
    for object in &objects {
        assert_eq!(
            object["metadata"]["labels"]["hypershift.openshift.io/managed"], "true",
            "{object}"
        );
    }
}

#[test]
fn addresses_follow_the_networks() {
    let objects = rendered(&json!({
        "clusterNetwork": [{"cidr": "10.0.0.0/14"}, {"cidr": "fd01::/48"}],
        "serviceNetwork": [{"cidr": "172.30.0.0/16"}, {"cidr": "fd02::/112"}],
    }))
    .unwrap();
    let dns = find(&objects, "Service", "kube-dns");
    assert_eq!(dns["spec"]["clusterIPs"], json!(["172.30.0.10", "fd02::a"]));
    let slice = find(&objects, "EndpointSlice", "kubernetes");
    assert_eq!(slice["endpoints"][0]["addresses"], json!(["172.20.0.1"]));
    let proxy = find(&objects, "ConfigMap", "kube-proxy");
    let configuration = proxy["data"]["config.conf"].as_str().unwrap();
    assert!(configuration.contains("10.0.0.0/14,fd01::/48"), "{configuration}");
    assert!(
        proxy["data"]["kubeconfig.conf"]
            .as_str()
            .unwrap()
            .contains("https://[fd12::1]:6443")
    );
    let v6 = rendered(&json!({"serviceNetwork": [{"cidr": "fd02::/112"}], "apiServer": {"port": 7443}})).unwrap();
    let slice = find(&v6, "EndpointSlice", "kubernetes");
    assert_eq!(
        (&slice["addressType"], &slice["ports"][0]["port"]),
        (&json!("IPv6"), &json!(7443))
    );
    assert_eq!(slice["endpoints"][0]["addresses"], json!(["fd00::1"]));
}

#[test]
fn images_come_from_the_release() {
    let objects = rendered(&json!({})).unwrap();
    for (kind, name, image) in [
        ("Deployment", "coredns", "registry.k8s.io/coredns/coredns:"),
        ("DaemonSet", "kube-proxy", "registry.k8s.io/kube-proxy:v1.36.4"),
        (
            "DaemonSet",
            "konnectivity-agent",
            "registry.k8s.io/kas-network-proxy/proxy-agent:",
        ),
    ] {
        let object = find(&objects, kind, name);
        let found = object["spec"]["template"]["spec"]["containers"][0]["image"]
            .as_str()
            .unwrap();
        assert!(found.starts_with(image), "{found}");
    }
}

#[test]
fn what_is_wrong_is_named_with_its_field() {
    let error = rendered(&json!({"apiServer": {"advertiseAddress": "here"}})).unwrap_err();
    assert!(
        error.contains("spec.networking.apiServer.advertiseAddress") && error.contains("here"),
        "{error}"
    );
}

/// The first containers' images and the annotations of pods, by workload.
fn pods(objects: &[Value]) -> Vec<(&str, &str, &Value)> {
    let is_workload = |object: &&Value| ["DaemonSet", "Deployment"].contains(&object["kind"].as_str().unwrap());
    let pods = objects.iter().filter(is_workload).map(|object| {
        let template = &object["spec"]["template"];
        let image = template["spec"]["containers"][0]["image"].as_str().unwrap();
        (
            object["metadata"]["name"].as_str().unwrap(),
            image,
            &template["metadata"]["annotations"],
        )
    });
    pods.collect()
}

#[test]
fn annotations_of_the_control_plane_act_here_too() {
    let annotated = json!({
        "hypershift.openshift.io/konnectivity-agent-image": "example.com/agent:1",
        "hypershift.openshift.io/image-overrides": "coredns=example.com/dns:2,konnectivity-agent=example.com/other:3",
        "hypershift.openshift.io/restart-date": "2027-01-15",
    });
    let objects = rendered_with(&json!({}), &annotated).unwrap();
    let images: Vec<(&str, &str)> = pods(&objects)
        .into_iter()
        .map(|(name, image, _)| (name, image))
        .collect();
    assert!(
        images.contains(&("konnectivity-agent", "example.com/agent:1")),
        "{images:?}"
    );
    assert!(images.contains(&("coredns", "example.com/dns:2")), "{images:?}");
    for (name, _, annotations) in pods(&objects) {
        assert_eq!(
            annotations["hypershift.openshift.io/restart-date"], "2027-01-15",
            "{name}"
        );
    }
    let unasked = rendered(&json!({})).unwrap();
    for (name, _, annotations) in pods(&unasked) {
        assert_eq!(
            annotations["hypershift.openshift.io/restart-date"],
            Value::Null,
            "{name}"
        );
    }
}

#[test]
fn workloads_are_those_that_are_looked_at() {
    let objects = rendered(&json!({})).unwrap();
    let mut names: Vec<&str> = pods(&objects).into_iter().map(|(name, ..)| name).collect();
    names.sort_unstable();
    let mut expected = [DAEMON_SETS, DEPLOYMENTS].concat();
    expected.sort_unstable();
    assert_eq!(names, expected);
}

#[test]
fn every_deployment_that_is_kept_keeps_its_scale() {
    let objects = rendered(&json!({})).unwrap();
    let guard = find(&objects, "ValidatingAdmissionPolicy", "hyperplane-managed-scales");
    let condition = guard["spec"]["matchConditions"][0]["expression"].as_str().unwrap();
    let kept: Vec<String> = objects
        .iter()
        .filter(|object| object["kind"] == "Deployment")
        .map(|object| {
            assert_eq!(object["metadata"]["namespace"], "kube-system");
            format!("'{}'", object["metadata"]["name"].as_str().unwrap())
        })
        .collect();
    let expected = format!(
        "request.namespace == 'kube-system' && request.name in [{}]",
        kept.join(", ")
    );
    assert_eq!(condition, expected);
}

/// Kinds that no admission policy can guard: the server leaves its own configuration of admission out.
const UNGUARDED: &[&str] = &["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"];

#[test]
fn every_kind_that_is_kept_is_guarded() {
    let objects = rendered(&json!({})).unwrap();
    let guard = find(&objects, "ValidatingAdmissionPolicy", "hyperplane-managed-objects");
    let rules = guard["spec"]["matchConstraints"]["resourceRules"].as_array().unwrap();
    let contains = |list: &Value, word: &str| list.as_array().unwrap().iter().any(|one| one == word);
    for object in &objects {
        let kind = object["kind"].as_str().unwrap();
        if UNGUARDED.contains(&kind) {
            continue;
        }
        let api_version = object["apiVersion"].as_str().unwrap();
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let plural = format!("{}s", kind.trim_end_matches('s').to_lowercase());
        let is_guarded = rules.iter().any(|rule| {
            contains(&rule["apiGroups"], group)
                && contains(&rule["apiVersions"], version)
                && contains(&rule["resources"], &plural)
                && contains(&rule["operations"], "UPDATE")
                && contains(&rule["operations"], "DELETE")
        });
        assert!(is_guarded, "{api_version} {plural}");
    }
}

#[test]
fn a_cluster_that_is_going_makes_nothing_new() {
    let ending = ending().unwrap();
    let objects: Vec<Value> = ending.iter().map(|manifest| manifest.body().clone()).collect();
    let policy = find(&objects, "ValidatingAdmissionPolicy", "hyperplane-ending");
    let binding = find(&objects, "ValidatingAdmissionPolicyBinding", "hyperplane-ending");
    assert_eq!(binding["spec"]["policyName"], policy["metadata"]["name"]);
}

/// Whether the rights that are granted to an account of the system namespace allow something there.
fn may(objects: &[Value], account: &str, verb: &str, resource: &str) -> bool {
    let is_bound = |binding: &&Value| binding["subjects"][0]["name"] == account;
    let bindings = objects.iter().filter(|object| object["roleRef"].is_object());
    let mut roles = bindings.filter(is_bound).map(|binding| {
        let (kind, name) = (binding["roleRef"]["kind"].as_str(), binding["roleRef"]["name"].as_str());
        find(objects, kind.unwrap(), name.unwrap())
    });
    let (group, resource) = resource.split_once('/').unwrap();
    let contains = |list: &Value, word: &str| list.as_array().unwrap().iter().any(|one| one == word);
    roles.any(|role| {
        role["rules"].as_array().unwrap().iter().any(|rule| {
            contains(&rule["apiGroups"], group)
                && contains(&rule["resources"], resource)
                && contains(&rule["verbs"], verb)
        })
    })
}

#[test]
fn programs_of_the_control_plane_have_the_rights_that_they_need_and_no_more() {
    let kubevirt = json!({"platform": {"type": "KubeVirt", "kubevirt": {}}});
    let kubevirt: HostedControlPlane =
        hyperplane_objects::read(samples::hosted_control_plane(&json!({"spec": kubevirt}))).unwrap();
    let objects = rendered_of(&kubevirt).unwrap();
    let (autoscaler, cloud) = ("cluster-autoscaler", "cloud-controller-manager");
    for (account, verb, resource, expected) in [
        (autoscaler, "watch", "/pods", true),
        (autoscaler, "update", "/nodes", true),
        (autoscaler, "create", "/pods/eviction", true),
        (autoscaler, "list", "resource.k8s.io/resourceslices", true),
        (autoscaler, "update", "coordination.k8s.io/leases", true),
        (autoscaler, "delete", "/nodes", false),
        (autoscaler, "get", "/secrets", false),
        (cloud, "delete", "/nodes", true),
        (cloud, "patch", "/services/status", true),
        (cloud, "watch", "discovery.k8s.io/endpointslices", true),
        (cloud, "update", "coordination.k8s.io/leases", true),
        (cloud, "get", "/secrets", false),
        (cloud, "list", "/pods", false),
    ] {
        assert_eq!(
            may(&objects, account, verb, resource),
            expected,
            "{account} {verb} {resource}"
        );
    }
    // Where a program does not run, nobody may act as it.
    let disabled = json!({"hypershift.openshift.io/disable-machine-management": "true"});
    let objects = rendered_with(&json!({}), &disabled).unwrap();
    assert!(!may(&objects, autoscaler, "watch", "/pods") && !may(&objects, cloud, "delete", "/nodes"));
}

#[test]
fn agents_follow_the_number_of_servers() {
    let objects = rendered(&json!({})).unwrap();
    let agent = find(&objects, "DaemonSet", "konnectivity-agent");
    let arguments = &agent["spec"]["template"]["spec"]["containers"][0]["args"];
    assert!(
        arguments.as_array().unwrap().contains(&json!("--sync-forever=true")),
        "{arguments}"
    );
}
