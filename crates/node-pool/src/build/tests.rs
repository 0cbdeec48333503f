//! What is made for a pool: what rolls does, what must not does not, and a roll that is held holds nothing else up.

mod secrets;

use std::{sync::Arc, time::Duration};

use hyperplane_api::{
    cluster_api::machine_deployment::MachineDeployment,
    constants::{annotations, labels, objects::keys},
};
use hyperplane_ignition_render::gzip;
use jiff::SignedDuration;
use k8s_openapi::api::core::v1::Secret;
use serde_json::{Value, json};

use super::*;
use crate::testing::{self, NOW, VERSION, desired, seen, stored};

fn usual() -> (NodePool, Seen) {
    let cluster = testing::cluster(&json!({}));
    (testing::pool(&json!({})), seen(&cluster))
}

/// A cluster that is one minor behind, and with changes; and a pool of its version, and with changes.
fn behind(cluster: &Value, pool: &Value) -> (NodePool, Seen) {
    let image = "hyperplane.dev/kubernetes:v1.35.1";
    let mut changed = json!({
        "spec": {"release": {"image": image}},
        "status": {"controlPlaneVersion": {
            "desired": {"version": "1.35.1", "image": image},
            "history": [{"state": "Completed", "version": "1.35.1", "image": image,
                "startedTime": "2027-01-01T00:00:00Z", "completionTime": "2027-01-01T00:10:00Z"}]}},
    });
    testing::merge(&mut changed, cluster);
    let mut of_pool = json!({"spec": {"release": {"image": image}}});
    testing::merge(&mut of_pool, pool);
    (testing::pool(&of_pool), seen(&testing::cluster(&changed)))
}

/// What is seen once everything that was made is there.
fn after(seen: &Seen, made: &Desired) -> Seen {
    let mut seen = seen.clone();
    seen.tokens.push(stored(made.token.clone()));
    seen.user_data.push(stored(made.user_data.clone()));
    seen.machines.deployment = made.deployment.clone().map(Arc::new);
    seen
}

fn deployment(made: &Desired) -> &MachineDeployment {
    made.deployment.as_ref().unwrap()
}

fn text(secret: &Secret, key: &str) -> String {
    String::from_utf8(secret.data.as_ref().unwrap()[key].0.clone()).unwrap()
}

#[test]
fn everything_of_a_new_pool_refers_to_one_configuration() {
    let (pool, seen) = usual();
    let made = desired(&pool, &seen, NOW).unwrap();
    let hash = names::hash_of(made.token.metadata.name.as_deref().unwrap()).unwrap();
    let spec = &deployment(&made).spec.template.spec;
    let user_data = format!("user-data-workers-{hash}");
    assert_eq!(spec.bootstrap.data_secret_name.as_deref(), Some(user_data.as_str()));
    assert_eq!(made.user_data.metadata.name.as_deref(), Some(user_data.as_str()));
    assert_eq!(spec.version.as_deref(), Some(VERSION));
    let Some(TemplateObject::KubeVirt(template)) = &made.template else {
        panic!("the platform is KubeVirt");
    };
    assert_eq!(
        template.metadata.name.as_deref(),
        Some(spec.infrastructure_ref.name.as_str())
    );
    assert_eq!(text(&made.token, keys::TOKEN), "fresh");
    assert_eq!(text(&made.token, keys::RELEASE_VERSION), VERSION);
    let packed = &made.token.data.as_ref().unwrap()[keys::CONFIG].0;
    assert!(gzip::decompress(packed, 1 << 20).is_ok());
    assert_eq!(made.next, Some(Duration::from_mins(330)));
    assert!(made.health_check.is_none() && made.unused.is_empty());
}

#[test]
fn labels_taints_timeouts_and_replicas_reach_the_deployment_and_roll_nothing() {
    let (pool, seen) = usual();
    let before = desired(&pool, &seen, NOW).unwrap();
    let edited = testing::pool(&json!({"spec": {
        "replicas": 5, "nodeLabels": {"example.com/tier": "web"},
        "taints": [{"key": "dedicated", "value": "web", "effect": "NoSchedule"}],
        "nodeDrainTimeout": "10m", "nodeVolumeDetachTimeout": "0s",
        "management": {"replace": {"strategy": "OnDelete", "rollingUpdate": null}},
    }}));
    let made = desired(&edited, &after(&seen, &before), NOW).unwrap();
    let (old, new) = (deployment(&before), deployment(&made));
    let rolling = |deployment: &MachineDeployment| {
        let spec = deployment.spec.template.spec.clone();
        (spec.version, spec.bootstrap, spec.infrastructure_ref)
    };
    assert_eq!(rolling(old), rolling(new));
    assert_eq!(new.spec.replicas, Some(5));
    let metadata = new.spec.template.metadata.as_ref().unwrap();
    assert_eq!(
        metadata.labels["managed.hypershift.openshift.io.example.com/tier"],
        "web"
    );
    assert!(metadata.annotations[annotations::TAINTS.as_str()].contains("dedicated"));
    let deletion = new.spec.template.spec.deletion.as_ref().unwrap();
    assert_eq!(deletion.node_drain_timeout_seconds, Some(600));
    assert_eq!(deletion.node_volume_detach_timeout_seconds, None);
    for made in [old, new] {
        let deletion = made.spec.template.spec.deletion.as_ref().unwrap();
        assert_eq!(deletion.node_deletion_timeout_seconds, Some(600));
    }
}

#[test]
fn other_keys_roll_nodes_and_another_name_of_theirs_does_not() {
    let (pool, seen) = usual();
    let name = |seen: &Seen| desired(&pool, seen, NOW).unwrap().token.metadata.name;
    let mut renamed = seen.clone();
    let cluster = testing::cluster(&json!({"spec": {"sshKey": {"name": "other"}}}));
    renamed.cluster = Some(Arc::new(cluster));
    assert_eq!(name(&renamed), name(&seen));
    let mut other = seen.clone();
    other.ssh_keys = Some(Arc::new(testing::ssh_keys("ssh-ed25519 BBBB somebody@example.com")));
    assert_ne!(name(&other), name(&seen));
    let mut none = seen.clone();
    none.cluster = Some(Arc::new(testing::cluster(&json!({"spec": {"sshKey": null}}))));
    assert_ne!(name(&none), name(&seen));
}

#[test]
fn what_every_node_is_told_reaches_them_and_rolls_them() {
    let (pool, seen) = usual();
    let before = desired(&pool, &seen, NOW).unwrap();
    let document = |pods: i32| {
        let spec = json!({"kubeletConfig": {"maxPods": pods}});
        let document = json!({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "KubeletConfig",
            "metadata": {"name": "service"}, "spec": spec});
        ("of-the-service".to_owned(), document.to_string())
    };
    let told = |pods: i32| {
        let mut seen = after(&seen, &before);
        seen.core = vec![document(pods)];
        desired(&pool, &seen, NOW).unwrap()
    };
    let (few, many) = (told(50), told(500));
    let name = |made: &Desired| made.token.metadata.name.clone();
    assert_ne!(name(&few), name(&before));
    assert_ne!(name(&few), name(&many));
    let config = &many.token.data.as_ref().unwrap()[keys::CONFIG].0;
    let config = gzip::decompress(config, 1 << 20).unwrap();
    assert!(String::from_utf8(config).unwrap().contains("\"maxPods\":500"));
    // What cannot be used holds the roll, as it does in a pool.
    let mut wrong = after(&seen, &before);
    wrong.core = vec![("of-the-service".to_owned(), "kind: Pod".to_owned())];
    let plan = testing::planned(&pool, &wrong);
    assert!(!plan.may_roll);
    let problems: Vec<String> = plan.verdict.unwrap().config.iter().map(ToString::to_string).collect();
    assert!(
        problems[0].contains("of-the-service of the control plane"),
        "{problems:?}"
    );
}

#[test]
fn everything_of_a_pool_is_for_the_manager_of_its_cluster() {
    let scoped = json!({"metadata": {"annotations": {annotations::SCOPE.as_str(): "east"}}});
    let made = desired(
        &testing::pool(&json!({})),
        &testing::seen(&testing::cluster(&scoped)),
        NOW,
    )
    .unwrap();
    let deployment = deployment(&made);
    let machines = deployment.spec.template.metadata.as_ref().unwrap();
    assert_eq!(machines.annotations[annotations::SCOPE.as_str()], "east");
    assert_eq!(annotations::SCOPE.of(deployment), Some("east"));
    assert_eq!(annotations::SCOPE.of(&with_pause(deployment, true)), Some("east"));
    assert_eq!(annotations::SCOPE.of(&made.token), Some("east"));
    let (pool, seen) = usual();
    let made = desired(&pool, &seen, NOW).unwrap();
    assert_eq!(annotations::SCOPE.of(made.deployment.as_ref().unwrap()), None);
}

#[test]
fn machines_are_spread_as_they_are_whatever_is_written_on_the_pool_yet() {
    let (pool, seen) = usual();
    let first = desired(&pool, &seen, NOW).unwrap();
    let name = |made: &Desired| {
        let spec = &deployment(made).spec.template.spec;
        spec.infrastructure_ref.name.as_str().to_owned()
    };
    let Some(TemplateObject::KubeVirt(template)) = &first.template else {
        panic!("a pool on KubeVirt has a template of it");
    };
    let mut seen = after(&seen, &first);
    seen.machines.kubevirt = vec![Arc::new(template.as_ref().clone())];
    assert_eq!(name(&desired(&pool, &seen, NOW).unwrap()), name(&first));
    // A pool from before has nothing of that in what its machines are made from, and must not roll for it.
    let mut old = template.as_ref().clone();
    let machine = &mut old.spec.template.spec.virtual_machine_template.0;
    let instance = machine["spec"]["template"]["spec"].as_object_mut().unwrap();
    assert!(instance.remove("topologySpreadConstraints").is_some());
    seen.machines.kubevirt = vec![Arc::new(old)];
    let kept = desired(&pool, &seen, NOW).unwrap();
    assert_ne!(name(&kept), name(&first));
    let Some(TemplateObject::KubeVirt(kept)) = &kept.template else {
        panic!("a pool on KubeVirt has a template of it");
    };
    let machine = &kept.spec.template.spec.virtual_machine_template.0;
    assert!(
        machine["spec"]["template"]["spec"]
            .get("topologySpreadConstraints")
            .is_none()
    );
}

#[test]
fn machines_of_a_pool_with_a_long_name_have_labels_that_fit() {
    let (_, seen) = usual();
    let pool = testing::pool(&json!({"metadata": {"name": "p".repeat(100)}}));
    let made = desired(&pool, &seen, NOW).unwrap();
    let Some(TemplateObject::KubeVirt(template)) = &made.template else {
        panic!("a pool on KubeVirt has a template of it");
    };
    let machine = &template.spec.template.spec.virtual_machine_template.0;
    let label = |values: &Value| values[labels::NODE_POOL_NAME.as_str()].as_str().unwrap().to_owned();
    let given = label(&machine["metadata"]["labels"]);
    assert_eq!(given, names::label(&pool));
    assert!(given.len() <= names::LONGEST_LABEL);
    let instance = &machine["spec"]["template"];
    assert_eq!(label(&instance["metadata"]["labels"]), given);
    let selector = &instance["spec"]["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"];
    assert_eq!(label(selector), given, "they are spread by the label that they have");
}

#[test]
fn a_roll_that_versions_forbid_changes_no_template_and_stops_no_scaling() {
    let (pool, seen) = behind(&json!({}), &json!({}));
    let first = desired(&pool, &seen, NOW).unwrap();
    let seen = after(&seen, &first);
    let ahead = testing::pool(&json!({"spec": {"replicas": 7}}));
    let plan = testing::planned(&ahead, &seen);
    assert!(!plan.may_roll && !plan.is_forced, "{:?}", plan.skew);
    let made = desired(&ahead, &seen, NOW + SignedDuration::from_mins(400)).unwrap();
    assert_eq!(
        deployment(&made).spec.template.spec,
        deployment(&first).spec.template.spec
    );
    assert_eq!(deployment(&made).spec.replicas, Some(7));
    assert!(made.template.is_none(), "nothing new is made");
    // The token that new machines need is kept good, with all that it stands for.
    assert_eq!(made.token.metadata.name, first.token.metadata.name);
    assert_eq!(text(&made.token, keys::OLD_TOKEN), "fresh");
    let config = |made: &Desired| made.token.data.as_ref().unwrap()[keys::CONFIG].0.clone();
    assert_eq!(config(&made), config(&first));
    assert!(made.expiring.is_empty() && made.unused.is_empty());
}

#[test]
fn a_pace_or_a_timeout_that_makes_no_sense_leaves_what_is_in_force() {
    let (_, seen) = usual();
    let pace = |surge: Value| json!({"replace": {"strategy": "RollingUpdate", "rollingUpdate": {"maxSurge": surge}}});
    let pool = testing::pool(&json!({"spec": {"nodeDrainTimeout": "10m", "management": pace(json!(2))}}));
    let first = desired(&pool, &seen, NOW).unwrap();
    let wrong = testing::pool(&json!({"spec": {
        "nodeDrainTimeout": "soon", "management": pace(json!("many")), "replicas": 7}}));
    let made = desired(&wrong, &after(&seen, &first), NOW + SignedDuration::from_mins(400)).unwrap();
    let (old, new) = (deployment(&first), deployment(&made));
    assert_eq!(new.spec.template, old.spec.template);
    assert_eq!(new.spec.rollout, old.spec.rollout);
    // Everything else goes on.
    assert_eq!(new.spec.replicas, Some(7));
    assert_eq!(text(&made.token, keys::OLD_TOKEN), "fresh");
    assert!(
        desired(&wrong, &seen, NOW).is_none(),
        "nothing is made of it to begin with"
    );
}

#[test]
fn labels_and_taints_that_no_node_can_have_leave_those_that_are_there() {
    let (_, seen) = usual();
    let taint = |value: &str| json!({"key": "dedicated", "value": value, "effect": "NoSchedule"});
    let pool = testing::pool(&json!({"spec": {"nodeLabels": {"tier": "web"}, "taints": [taint("web")]}}));
    let first = desired(&pool, &seen, NOW).unwrap();
    for change in [
        json!({"nodeLabels": {"tier": "not a value"}, "replicas": 7}),
        json!({"nodeLabels": {"a/b/c": "d"}, "replicas": 7}),
        json!({"taints": [taint("a"), taint("b")], "replicas": 7}),
    ] {
        let mut spec = json!({"nodeLabels": {"tier": "web"}, "taints": [taint("web")]});
        testing::merge(&mut spec, &change);
        let wrong = testing::pool(&json!({"spec": spec}));
        let made = desired(&wrong, &after(&seen, &first), NOW).unwrap();
        assert_eq!(
            deployment(&made).spec.template,
            deployment(&first).spec.template,
            "{change}"
        );
        assert_eq!(deployment(&made).spec.replicas, Some(7));
        assert!(
            desired(&wrong, &seen, NOW).is_none(),
            "a first template is not made of it"
        );
    }
}

#[test]
fn machines_without_a_token_are_still_scaled() {
    let (pool, seen) = behind(&json!({}), &json!({}));
    let first = desired(&pool, &seen, NOW).unwrap();
    let mut seen = after(&seen, &first);
    seen.tokens.clear();
    let ahead = testing::pool(&json!({"spec": {"replicas": 7}}));
    assert!(desired(&ahead, &seen, NOW).is_none(), "its token cannot be made again");
    let owner = Owner {
        pool: &ahead,
        infra_id: "blue-abcde",
        namespace: "clusters-blue",
        scope: None,
    };
    let made = held(&owner, &seen).unwrap();
    assert_eq!(made.spec.replicas, Some(7));
    assert_eq!(made.spec.template.spec, deployment(&first).spec.template.spec);
}

#[test]
fn who_insists_gets_the_roll_and_it_is_told() {
    let insisting = json!({"metadata": {"annotations": {
        annotations::SKIP_RELEASE_IMAGE_VALIDATION.as_str(): "true"}}});
    let (_, seen) = behind(&insisting, &json!({}));
    let plan = testing::planned(&testing::pool(&json!({})), &seen);
    assert!(plan.may_roll && plan.is_forced);
}

#[test]
fn a_new_pool_that_versions_forbid_gets_nothing() {
    let (_, seen) = behind(&json!({}), &json!({}));
    assert!(desired(&testing::pool(&json!({})), &seen, NOW).is_none());
}

#[test]
fn repair_begins_when_a_machine_came_and_ends_with_the_wish() {
    let (_, seen) = usual();
    let pool = testing::pool(&json!({
        "metadata": {"annotations": {annotations::MACHINE_HEALTH_CHECK_TIMEOUT.as_str(): "3m"}},
        "spec": {"management": {"autoRepair": true}}}));
    let first = desired(&pool, &seen, NOW).unwrap();
    assert!(first.health_check.is_none());
    let mut seen = after(&seen, &first);
    seen.tokens = vec![stored(testing::reached(first.token.clone()))];
    let check = desired(&pool, &seen, NOW).unwrap().health_check.unwrap();
    let checks = check.spec.checks.as_ref().unwrap();
    assert_eq!(checks.node_startup_timeout_seconds, Some(1200));
    assert_eq!(checks.unhealthy_node_conditions[0].timeout_seconds, 180);
    seen.machines.health_check = Some(Arc::new(check));
    let without = desired(&testing::pool(&json!({})), &seen, NOW).unwrap();
    assert!(without.health_check.is_none() && without.drops_health_check);
    // It ends also where nothing else can be made, because the token is lost.
    seen.tokens.clear();
    assert!(drops_health_check(&testing::pool(&json!({})), &seen));
    assert!(!drops_health_check(&pool, &seen));
    seen.machines.deployment = None;
    assert!(drops_health_check(&pool, &seen), "there is nothing to repair");
}

#[test]
fn machines_that_are_not_managed_any_more_stay_what_they_are() {
    let (_, seen) = usual();
    let pool = testing::pool(&json!({"spec": {"management": {"autoRepair": true}}}));
    let disabled = testing::cluster(&json!({"metadata": {"annotations": {
        annotations::DISABLE_MACHINE_MANAGEMENT.as_str(): "true"}}}));
    let mut hosts = seen.clone();
    hosts.cluster = Some(Arc::new(disabled));
    let target = testing::planned(&pool, &hosts).target.unwrap();
    assert!(is_complete(&hosts, &pool, &target), "hosts join by themselves");
    // Machines that were made before have what they were made with, whatever is asked for now.
    let first = desired(&pool, &seen, NOW).unwrap();
    let mut live = after(&hosts, &first);
    assert!(!is_complete(&live, &pool, &target));
    let check: Value = json!({"metadata": {"name": "workers"}, "spec": {"clusterName": "c", "selector": {}}});
    live.machines.health_check = Some(Arc::new(hyperplane_objects::read(&check).unwrap()));
    let made = desired(&pool, &live, NOW).unwrap();
    assert!(made.deployment.is_none() && made.health_check.is_none() && !made.drops_health_check);
}

#[test]
fn replicas_stay_within_bounds() {
    let scaled = |min: i32, max: i32| json!({"spec": {"replicas": null, "autoScaling": {"min": min, "max": max}}});
    for (change, live, expected) in [
        (json!({}), Some(9), 3),
        (json!({"spec": {"replicas": null}}), None, 0),
        (json!({"spec": {"replicas": -1}}), Some(9), 9),
        (scaled(2, 5), None, 2),
        (scaled(2, 5), Some(4), 4),
        (scaled(2, 5), Some(9), 5),
        (scaled(0, 5), Some(0), 1),
    ] {
        assert_eq!(replicas(&testing::pool(&change), live), expected, "{change} {live:?}");
    }
}

#[test]
fn the_number_of_an_autoscaler_is_written_back_only_where_it_was_seen() {
    let (pool, seen) = usual();
    let scaled = testing::pool(&json!({"spec": {"replicas": null, "autoScaling": {"min": 1, "max": 5}}}));
    let first = desired(&scaled, &seen, NOW).unwrap();
    assert_eq!(deployment(&first).metadata.resource_version, None);
    let mut seen = after(&seen, &first);
    let mut live = deployment(&first).clone();
    live.spec.replicas = Some(4);
    live.metadata.resource_version = Some("7".to_owned());
    let paused = with_pause(&live, true);
    assert_eq!(paused.metadata.resource_version.as_deref(), Some("7"));
    seen.machines.deployment = Some(Arc::new(live));
    let made = desired(&scaled, &seen, NOW).unwrap();
    assert_eq!(deployment(&made).spec.replicas, Some(4));
    assert_eq!(deployment(&made).metadata.resource_version.as_deref(), Some("7"));
    // A number that the user gives counts whatever was seen.
    let made = desired(&pool, &seen, NOW).unwrap();
    assert_eq!(deployment(&made).metadata.resource_version, None);
}

#[test]
fn a_deployment_is_done_when_all_of_it_is_new_and_seen() {
    let status = |replicas: i32, current: i32, available: i32, generation: i64| {
        testing::deployment(&json!({"status": {"replicas": replicas, "upToDateReplicas": current,
            "availableReplicas": available, "observedGeneration": generation}}))
    };
    let is_done = |deployment: &MachineDeployment| {
        is_rolled_out(deployment, "user-data-workers-0123456789", "workers-9876543210")
    };
    assert!(is_done(&status(3, 3, 3, 1)));
    for (replicas, current, available, generation) in [(4, 3, 3, 1), (3, 2, 3, 1), (3, 3, 2, 1), (3, 3, 3, 0)] {
        assert!(!is_done(&status(replicas, current, available, generation)));
    }
    assert!(!is_done(&testing::deployment(&json!({}))));
    assert!(!is_rolled_out(
        &status(3, 3, 3, 1),
        "user-data-workers-another000",
        "workers-9876543210"
    ));
}

#[test]
fn a_pause_keeps_the_rest_of_the_deployment() {
    let (pool, seen) = usual();
    let made = desired(&pool, &seen, NOW).unwrap();
    let paused = with_pause(deployment(&made), true);
    assert_eq!(paused.spec, deployment(&made).spec);
    assert!(annotations::PAUSED.is_true(&paused));
    let resumed = with_pause(&paused, false);
    assert_eq!(resumed.metadata.annotations, deployment(&made).metadata.annotations);
}
