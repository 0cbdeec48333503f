//! What is made from a cluster: everything is handed on, nothing of a user's own is touched, and what is pinned stays.

use std::collections::BTreeMap;

use hyperplane_api::constants::{annotations, ours};
use hyperplane_components::RENDER_REVISION;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use serde_json::{Value, json};

use super::{Desired, cluster_with_pause, with_pause};
use crate::{
    components::of_cluster_api,
    dereference::State,
    testing::{IMAGE, UID, cluster, complete, desired, judge, live, namespace, seen, services, settings},
};

fn annotations_of(desired: &Desired) -> BTreeMap<String, String> {
    desired.control_plane.metadata.annotations.clone().unwrap()
}

#[test]
fn every_field_of_the_spec_is_in_the_control_plane() {
    let spec = json!({
        "release": {"image": IMAGE}, "controlPlaneRelease": {"image": IMAGE}, "fips": true, "channel": "stable",
        "issuerURL": "https://issuer.example.com", "controllerAvailabilityPolicy": "HighlyAvailable",
        "infrastructureAvailabilityPolicy": "HighlyAvailable", "nodeSelector": {"role": "hosting"},
        "tolerations": [{"key": "hosting", "operator": "Exists"}], "labels": {"team": "a"}, "pausedUntil": "false",
        "dns": {"baseDomain": "example.com"}, "kubeAPIServerDNSName": "api.example.com",
        "configuration": {"apiServer": {"audit": {"profile": "Default"}}, "featureGate": {"featureSet": "Default"}},
        "imageContentSources": [{"source": "registry.example.com", "mirrors": ["mirror.example.com"]}],
        "updateService": "https://updates.example.com", "autoscaling": {"maxNodesTotal": 9},
    });
    let cluster = cluster(&json!({"spec": spec}));
    let made = desired(&cluster, &seen(&cluster), &settings()).control_plane;
    let made = serde_json::to_value(&made.spec).unwrap();
    let given = serde_json::to_value(&cluster.spec).unwrap();
    for field in spec.as_object().unwrap().keys() {
        let expected = match field.as_str() {
            "release" | "controlPlaneRelease" => continue,
            _ => &given[field],
        };
        assert_eq!(&made[field], expected, "{field}");
    }
    for (field, expected) in [
        ("releaseImage", IMAGE),
        ("controlPlaneReleaseImage", IMAGE),
        ("infraID", "blue-abcde"),
        ("clusterID", UID),
    ] {
        assert_eq!(made[field], *expected, "{field}");
    }
    assert_eq!(made["services"], given["services"]);
    assert_eq!(made["networking"], given["networking"]);
}

#[test]
fn references_lead_to_copies_and_nothing_of_an_original_but_its_data_is_copied() {
    let spec = json!({
        "sshKey": {"name": "keys"}, "additionalTrustBundle": {"name": "bundle"}, "auditWebhook": {"name": "audit"},
        "secretEncryption": {"type": "aescbc", "aescbc": {"activeKey": {"name": "key"}, "backupKey": {"name": "old"}}},
        "configuration": {"image": {"additionalTrustedCA": {"name": "registries"}}},
    });
    let cluster = cluster(&json!({"spec": spec}));
    let mut seen = seen(&cluster);
    let everything = desired(&cluster, &seen, &settings());
    let made = &everything.control_plane.spec;
    assert_eq!(made.pull_secret.name, "pull-secret");
    assert_eq!(made.ssh_key.name, "ssh-key");
    assert_eq!(made.additional_trust_bundle.as_ref().unwrap().name, "user-ca-bundle");
    let copies: Vec<String> = everything
        .secrets
        .iter()
        .filter_map(|secret| secret.metadata.name.clone())
        .collect();
    assert_eq!(
        copies,
        [
            "pull-secret",
            "ssh-key",
            "kas-audit-webhook",
            "aescbc-backup-key",
            "aescbc-active-key"
        ]
    );
    for secret in &everything.secrets {
        assert_eq!(secret.metadata.namespace.as_deref(), Some("clusters-blue"));
        let annotations = secret.metadata.annotations.as_ref().unwrap();
        assert!(annotations[ours::COPIED_FROM.as_str()].starts_with("clusters/"));
        assert!(secret.metadata.owner_references.is_none(), "copied, never owned");
    }
    // A copy that is as its original stays as it is.
    let State::Read(content) = seen.sources[0].state.clone() else {
        panic!("it was read");
    };
    seen.sources[0].state = State::Current(content);
    let again = desired(&cluster, &seen, &settings());
    assert_eq!(again.kept_secrets, ["pull-secret"]);
    assert_eq!(again.secrets.len(), everything.secrets.len() - 1);
}

#[test]
fn annotations_are_mirrored_and_those_of_others_are_not() {
    let keys = json!({
        "hypershift.openshift.io/disable-pki-reconciliation": "true",
        "resource-request-override.hypershift.openshift.io/etcd.etcd": "cpu=1",
        "example.com/secret-plans": "yes",
    });
    let cluster = cluster(&json!({"metadata": {"annotations": keys}}));
    let found = annotations_of(&desired(&cluster, &seen(&cluster), &settings()));
    assert_eq!(found["hypershift.openshift.io/disable-pki-reconciliation"], "true");
    assert_eq!(
        found["resource-request-override.hypershift.openshift.io/etcd.etcd"],
        "cpu=1"
    );
    assert_eq!(found["hypershift.openshift.io/cluster"], "clusters/blue");
    assert_eq!(found["hypershift.openshift.io/disable-cluster-autoscaler"], "true");
    assert!(!found.contains_key("example.com/secret-plans"));
}

#[test]
fn how_a_control_plane_is_rendered_moves_with_its_release_or_on_request_only() {
    let plain = cluster(&json!({}));
    let mut seen = seen(&plain);
    let first = desired(&plain, &seen, &settings());
    let pins = |desired: &Desired| {
        let found = annotations_of(desired);
        [
            ours::RENDER_REVISION,
            ours::RENDER_IMAGE,
            ours::RENDER_ZONES,
            ours::RENDER_KUBERNETES,
        ]
        .map(|key| found[key.as_str()].clone())
    };
    let current = pins(&first);
    assert_eq!(
        current,
        [
            RENDER_REVISION.to_string(),
            "registry.example.com/hyperplane:1".to_owned(),
            "3".to_owned(),
            settings().facts.kubernetes.minor_text(),
        ]
    );
    let old = json!({"metadata": {"annotations": {
        ours::RENDER_REVISION.as_str(): "0", ours::RENDER_IMAGE.as_str(): "old:1", ours::RENDER_ZONES.as_str(): "1",
        ours::RENDER_KUBERNETES.as_str(): "1.20"}}});
    seen.namespace = Some(namespace(&plain, UID));
    seen.control_plane = Some(live(&first.control_plane, &old));
    let kept = pins(&desired(&plain, &seen, &settings()));
    let pinned = ["0", "old:1", "1", "1.20"];
    assert_eq!(
        kept, pinned,
        "a newer program, more zones and another Kubernetes move nothing"
    );
    let upgraded = cluster(&json!({"spec": {"release": {"image": "hyperplane.dev/kubernetes:v1.36.2"}}}));
    assert_eq!(pins(&desired(&upgraded, &seen, &settings())), current);
    let key = ours::RENDER_REVISION_REQUEST.as_str();
    let asked = cluster(&json!({"metadata": {"annotations": {key: "today"}}}));
    let moved = desired(&asked, &seen, &settings());
    assert_eq!(pins(&moved), current);
    seen.control_plane = Some(live(&moved.control_plane, &old));
    assert_eq!(pins(&desired(&asked, &seen, &settings())), pinned, "it was asked once");
}

#[test]
fn a_control_plane_keeps_the_domain_that_it_began_with() {
    let plain = cluster(&json!({}));
    let mut seen = seen(&plain);
    let key = ours::INGRESS_DOMAIN.as_str();
    let first = desired(&plain, &seen, &settings());
    assert_eq!(annotations_of(&first)[key], "apps.example.com");
    let old = json!({"metadata": {"annotations": {key: "old.example.com"}}});
    seen.namespace = Some(namespace(&plain, UID));
    seen.control_plane = Some(live(&first.control_plane, &old));
    let upgraded = cluster(&json!({"spec": {"release": {"image": "hyperplane.dev/kubernetes:v1.36.2"}}}));
    assert_eq!(
        annotations_of(&desired(&upgraded, &seen, &settings()))[key],
        "old.example.com"
    );
}

#[test]
fn a_restart_is_handed_on_once() {
    let key = annotations::RESTART_DATE.as_str();
    let asking = |date: &str| cluster(&json!({"metadata": {"annotations": {key: date}}}));
    let cluster = asking("monday");
    let mut seen = seen(&cluster);
    let first = desired(&cluster, &seen, &settings());
    assert_eq!(annotations_of(&first)[key], "monday");
    seen.namespace = Some(namespace(&cluster, UID));
    let local = json!({"metadata": {"annotations": {key: "own"}}});
    seen.control_plane = Some(live(&first.control_plane, &local));
    assert_eq!(
        annotations_of(&desired(&cluster, &seen, &settings())).get(key),
        None,
        "its own restart stays"
    );
    assert_eq!(
        annotations_of(&desired(&asking("tuesday"), &seen, &settings()))[key],
        "tuesday"
    );
}

#[test]
fn a_restart_that_is_not_asked_for_any_more_restarts_nothing() {
    let key = annotations::RESTART_DATE.as_str();
    let asking = cluster(&json!({"metadata": {"annotations": {key: "monday"}}}));
    let mut seen = seen(&asking);
    let first = desired(&asking, &seen, &settings());
    seen.namespace = Some(namespace(&asking, UID));
    seen.control_plane = Some(live(&first.control_plane, &json!({})));
    let silent = cluster(&json!({}));
    assert_eq!(
        annotations_of(&desired(&silent, &seen, &settings())),
        annotations_of(&first),
        "what pods carry stays"
    );
    let local = json!({"metadata": {"annotations": {key: "own"}}});
    seen.control_plane = Some(live(&first.control_plane, &local));
    let found = annotations_of(&desired(&silent, &seen, &settings()));
    assert_eq!(found.get(key), None, "its own restart stays");
    seen.control_plane = None;
    assert_eq!(annotations_of(&desired(&silent, &seen, &settings())).get(key), None);
}

#[test]
fn agents_are_presented_as_no_platform() {
    let change = json!({"spec": {"platform": {"type": "Agent", "agent": {"agentNamespace": "hosts"}}}});
    let cluster = cluster(&change);
    let everything = desired(&cluster, &seen(&cluster), &settings());
    let platform = &everything.control_plane.spec.platform;
    assert_eq!((platform.type_.as_str(), platform.agent.is_none()), ("None", true));
    let objects = everything.cluster_api.unwrap();
    let reference = objects.cluster.spec.infrastructure_ref.unwrap();
    assert_eq!(reference.kind.as_str(), "AgentCluster");
    assert_eq!(objects.cluster.spec.control_plane_ref.unwrap().name.as_str(), "blue");
}

#[test]
fn no_infrastructure_and_no_machine_management_mean_no_cluster() {
    let none = cluster(&json!({}));
    assert!(desired(&none, &seen(&none), &settings()).cluster_api.is_none());
    let off = json!({"spec": {"platform": {"type": "KubeVirt", "kubevirt": {}}}, "metadata": {"annotations": {
        "hypershift.openshift.io/disable-machine-management": "true"}}});
    let off = cluster(&off);
    assert!(desired(&off, &seen(&off), &settings()).cluster_api.is_none());
}

#[test]
fn a_pause_changes_nothing_else() {
    let cluster = cluster(&json!({"spec": {"platform": {"type": "KubeVirt", "kubevirt": {}}}}));
    let everything = desired(&cluster, &seen(&cluster), &settings());
    let live = live(
        &everything.control_plane,
        &json!({"metadata": {"labels": {"foreign": "yes"}}}),
    );
    let mut paused = with_pause(&live, Some("true".to_owned()));
    assert_eq!(paused.spec.paused_until.as_deref(), Some("true"));
    paused.spec.paused_until = None;
    assert_eq!(paused, everything.control_plane);
    let made = everything.cluster_api.unwrap().cluster;
    let mut held = cluster_with_pause(&made, true);
    assert_eq!(held.spec.paused, Some(true));
    held.spec.paused = Some(false);
    assert_eq!(held, made);
}

#[test]
fn the_cluster_of_cluster_api_has_the_scope_that_machines_follow() {
    let cluster = cluster(&json!({
        "metadata": {"annotations": {annotations::SCOPE.as_str(): "east"}},
        "spec": {"platform": {"type": "KubeVirt", "kubevirt": {}}},
    }));
    let made = desired(&cluster, &seen(&cluster), &settings())
        .cluster_api
        .unwrap()
        .cluster;
    assert_eq!(annotations::SCOPE.of(&made), Some("east"));
    assert_eq!(annotations::SCOPE.of(&cluster_with_pause(&made, true)), Some("east"));
}

fn check<K: Resource>(objects: &[K]) {
    assert!(!objects.is_empty());
    for object in objects {
        let meta = object.meta();
        assert_eq!(
            meta.labels.as_ref().unwrap()[ours::MANAGED_BY.as_str()],
            ours::MANAGED_BY_US
        );
        let title = &meta.annotations.as_ref().unwrap()[annotations::CLUSTER.as_str()];
        assert_eq!(title, "clusters/blue", "{:?}", meta.name);
    }
}

#[test]
fn a_provider_keeps_its_rights_where_the_work_of_cluster_api_is_ours() {
    let images = json!({
        annotations::CAPI_MANAGER_IMAGE.as_str(): "registry.example.com/manager:1",
        annotations::CAPI_PROVIDER_KUBEVIRT_IMAGE.as_str(): "registry.example.com/provider:1",
    });
    let cluster = cluster(&json!({
        "metadata": {"annotations": images},
        "spec": {"platform": {"type": "KubeVirt", "kubevirt": {}}, "services": services("Route")},
    }));
    for runs_machines in [false, true] {
        let mut settings = settings();
        settings.facts.runs_machines = runs_machines;
        let made = desired(&cluster, &seen(&cluster), &settings);
        let named = |metadata: &ObjectMeta, name: &str| metadata.name.as_deref() == Some(name);
        let manager = "hypershift-cluster-api-clusters-blue";
        let has_manager = made.cluster_roles.iter().any(|role| named(&role.metadata, manager));
        assert_eq!(has_manager, !runs_machines);
        let told = ours::RUNS_MACHINES.is_true(&made.control_plane);
        assert_eq!(told, runs_machines, "operators of the tenant do not know otherwise");
        let provider = "capi-provider-platform";
        assert!(made.roles.iter().any(|role| named(&role.metadata, provider)));
        let ignition = "hypershift-ignition-server-clusters-blue";
        assert!(made.cluster_roles.iter().any(|role| named(&role.metadata, ignition)));
    }
}

#[test]
fn a_provider_that_a_release_carries_runs_under_each_of_its_names() {
    let cluster = cluster(&json!({
        "spec": {"platform": {"type": "KubeVirt", "kubevirt": {}}, "services": services("Route")},
    }));
    let platform = hyperplane_platforms::of(&cluster.spec).unwrap();
    let mut facts = settings().facts;
    facts.runs_machines = true;
    for (name, expected) in [
        ("capi-provider-kubevirt", &["capi-provider"][..]),
        ("cluster-api-provider-kubevirt", &["capi-provider"]),
        ("capi-provider-agent", &[]),
    ] {
        let verdict = judge(&cluster, &seen(&cluster), &settings());
        let mut pair = verdict.releases.unwrap();
        let component = hyperplane_planner::release::Component {
            image: Some("registry.example.com/provider:1".to_owned()),
            ..Default::default()
        };
        let mut release = pair.control_plane.as_ref().clone();
        release.components.insert(name.to_owned(), component);
        pair.control_plane = release.into();
        assert_eq!(of_cluster_api(&cluster, &pair, platform, &facts), expected, "{name}");
    }
}

#[test]
fn what_is_made_tells_whose_it_is() {
    let cluster =
        cluster(&json!({"spec": {"platform": {"type": "KubeVirt", "kubevirt": {}}, "services": services("Route")}}));
    let made = desired(&cluster, &seen(&cluster), &settings());
    check(&made.secrets);
    check(&made.service_accounts);
    check(&made.roles);
    check(&made.role_bindings);
    check(&made.cluster_roles);
    check(&made.cluster_role_bindings);
    check(&made.network_policies);
    check(std::slice::from_ref(&made.namespace));
    check(std::slice::from_ref(&made.control_plane));
    check(std::slice::from_ref(&made.cluster_api.unwrap().cluster));
    let claimed = &made.namespace.metadata.annotations.unwrap()[ours::CLAIMED_BY.as_str()];
    assert_eq!(claimed, UID);
}

#[test]
fn a_cluster_is_completed_once_and_what_users_wrote_stays() {
    let bare = cluster(&json!({"spec": {"infraID": null, "clusterID": null}}));
    let completion = complete(&bare, &seen(&bare)).unwrap();
    let intent: Value = serde_json::to_value(&completion.intent).unwrap();
    assert!(intent["spec"]["infraID"].as_str().unwrap().starts_with("blue-"));
    assert!(intent["spec"]["clusterID"].is_string());
    assert_eq!(intent["metadata"]["uid"], UID);
    let whole = cluster(&json!({}));
    assert_eq!(complete(&whole, &seen(&whole)), None);
    let kubevirt = cluster(&json!({"spec": {"platform": {"type": "KubeVirt", "kubevirt": {}}}}));
    let completion = complete(&kubevirt, &seen(&kubevirt)).unwrap();
    assert_eq!(
        completion.encryption_secret.as_deref(),
        Some("blue-etcd-encryption-key")
    );
    let intent: Value = serde_json::to_value(&completion.intent).unwrap();
    assert!(
        intent["spec"]["infraID"].is_null(),
        "it is there already, and is not ours"
    );
}

#[test]
fn operators_run_where_the_cluster_says_or_else_where_all_do() {
    let key = ours::TENANT_OPERATORS.as_str();
    for (said, dedicates_operators, expected) in [
        (None, false, "shared"),
        (None, true, "dedicated"),
        (Some("shared"), true, "shared"),
        (Some("dedicated"), false, "dedicated"),
    ] {
        let cluster = cluster(&json!({"metadata": {"annotations": said.map(|said| json!({key: said}))}}));
        let settings = crate::settings::HostedClusterSettings {
            dedicates_operators,
            ..settings()
        };
        let made = desired(&cluster, &seen(&cluster), &settings);
        assert_eq!(annotations_of(&made)[key], expected, "{said:?} {dedicates_operators}");
        let own = "hypershift-control-plane-operator-clusters-blue";
        let has_rights = made
            .cluster_roles
            .iter()
            .any(|role| role.metadata.name.as_deref() == Some(own));
        assert_eq!(has_rights, expected == "dedicated");
    }
}
