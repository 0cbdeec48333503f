//! What is told of a pool: the truth about its nodes, and why something does not happen.

use hyperplane_api::hypershift::paused::{NodePoolPausedUntil, PauseState};
use std::sync::Arc;

use hyperplane_api::{
    constants::{ConditionType, annotations, conditions::node_pool as types, objects::keys, ours},
    hypershift::node_pool::status::{ConditionStatus, NodePoolCondition},
};
use k8s_openapi::ByteString;
use serde_json::{Value, json};

use super::*;
use crate::{
    instances::Instance,
    testing::{self, NOW, VERSION, desired, stored},
};

fn told(pool: &NodePool, seen: &Seen) -> NodePoolStatus {
    told_after(pool, seen, None)
}

/// The same where something ended the run.
fn told_after(pool: &NodePool, seen: &Seen, failure: Option<&Failure>) -> NodePoolStatus {
    let plan = if seen.cluster.is_some() {
        testing::planned(pool, seen)
    } else {
        Plan::default()
    };
    status(&Report {
        pool,
        seen,
        plan: &plan,
        pause: &PauseState::of(pool.spec.paused_until.as_ref().map(NodePoolPausedUntil::as_str), NOW),
        failure,
        now: NOW,
    })
}

fn find(status: &NodePoolStatus, type_: ConditionType) -> &NodePoolCondition {
    let mut all = status.conditions.iter();
    all.find(|condition| condition.type_ == type_.as_str())
        .unwrap_or_else(|| panic!("{type_} is not told"))
}

fn is(status: &NodePoolStatus, type_: ConditionType) -> (&str, &str) {
    let condition = find(status, type_);
    (
        condition.status.as_str(),
        condition.reason.as_deref().unwrap_or_default(),
    )
}

/// A pool whose machines are all there.
fn complete() -> (NodePool, Seen) {
    let pool = testing::pool(&json!({}));
    let mut seen = testing::seen(&testing::cluster(&json!({})));
    let made = desired(&pool, &seen, NOW).unwrap();
    let mut token = testing::reached(made.token.clone());
    let data = token.data.as_mut().unwrap();
    data.insert(keys::REASON.to_owned(), ByteString(b"AsExpected".to_vec()));
    seen.tokens = vec![stored(token)];
    let mut deployment = made.deployment.unwrap();
    deployment.metadata.generation = Some(1);
    deployment.status = hyperplane_objects::read(json!({"replicas": 3, "readyReplicas": 3, "availableReplicas": 3,
        "upToDateReplicas": 3, "observedGeneration": 1}))
    .unwrap();
    seen.machines.deployment = Some(Arc::new(deployment));
    let machine = |number: i32| Arc::new(testing::machine(&format!("m-{number}"), VERSION, "v1.36.4", true));
    seen.machines.all = (0..3).map(machine).collect();
    (pool, seen)
}

#[test]
fn a_pool_whose_nodes_are_all_there_says_so() {
    let (pool, seen) = complete();
    let status = told(&pool, &seen);
    assert_eq!(status.replicas, Some(3));
    assert_eq!(status.version.as_deref(), Some(VERSION));
    assert_eq!(status.nodes_info.as_ref().unwrap().node_versions[0].ready_node_count, 3);
    for type_ in [
        types::READY,
        types::ALL_MACHINES_READY,
        types::ALL_NODES_HEALTHY,
        types::VALID_RELEASE_IMAGE,
        types::VALID_MACHINE_CONFIG,
        types::VALID_GENERATED_PAYLOAD,
        types::REACHED_IGNITION_ENDPOINT,
        types::SUPPORTED_VERSION_SKEW,
        types::VALID_PLATFORM_IMAGE,
        types::VALID_MACHINE_TEMPLATE,
        types::UPDATE_MANAGEMENT_ENABLED,
    ] {
        assert_eq!(is(&status, type_).0, "True", "{type_}");
    }
    for type_ in [
        types::UPDATING_VERSION,
        types::UPDATING_CONFIG,
        types::AUTOSCALING_ENABLED,
    ] {
        assert_eq!(is(&status, type_).0, "False", "{type_}");
    }
    let mut again = pool.clone();
    again.status = Some(status.clone());
    assert_eq!(told(&again, &seen), status, "at rest nothing changes");
}

#[test]
fn a_roll_is_told_until_all_nodes_have_it() {
    let (_, seen) = complete();
    let mut edited = testing::pool(&json!({"metadata": {"generation": 2}}));
    edited.status = Some(told(&edited, &seen));
    let mut moved = seen.clone();
    moved.cluster = Some(Arc::new(testing::cluster(
        &json!({"spec": {"pullSecret": {"name": "other"}}}),
    )));
    let status = told(&edited, &moved);
    assert_eq!(is(&status, types::UPDATING_CONFIG).0, "True");
    assert_eq!(is(&status, types::UPDATING_VERSION).0, "False");
    assert_eq!(status.version.as_deref(), Some(VERSION));
}

/// The words of a condition.
fn words(status: &NodePoolStatus, type_: ConditionType) -> &str {
    find(status, type_).message.as_deref().unwrap_or_default()
}

/// The deployment of a pool, with another status.
fn counting(seen: &mut Seen, replicas: i32, current: i32) {
    let mut deployment = seen.machines.deployment.as_deref().unwrap().clone();
    let status = json!({"replicas": replicas, "readyReplicas": replicas, "availableReplicas": replicas,
        "upToDateReplicas": current, "observedGeneration": 1});
    deployment.status = hyperplane_objects::read(&status).unwrap();
    seen.machines.deployment = Some(Arc::new(deployment));
}

/// A cluster whose pools are to have another configuration.
fn reconfigured(seen: &Seen) -> Seen {
    let other = testing::cluster(&json!({"spec": {"pullSecret": {"name": "other"}}}));
    Seen {
        cluster: Some(Arc::new(other)),
        ..seen.clone()
    }
}

#[test]
fn a_roll_that_is_taken_back_half_way_is_a_roll() {
    let (mut pool, mut seen) = complete();
    pool.status = Some(told(&pool, &seen));
    let own = desired(&pool, &seen, NOW).unwrap();
    let other = desired(&pool, &reconfigured(&seen), NOW).unwrap();
    let set = |made: &crate::build::Desired, replicas: i32| {
        let mut set = testing::set(made.user_data.metadata.name.as_deref().unwrap(), Some(replicas));
        set.spec.template.spec = made.deployment.as_ref().unwrap().spec.template.spec.clone();
        Arc::new(set)
    };
    counting(&mut seen, 3, 2);
    seen.machines.sets = vec![set(&own, 2), set(&other, 1)];
    let status = told(&pool, &seen);
    assert_eq!(is(&status, types::UPDATING_CONFIG).0, "True");
    assert!(words(&status, types::UPDATING_CONFIG).contains("on their way"));
    // All of them have the version and are made from the template.
    assert_eq!(is(&status, types::UPDATING_VERSION).0, "False");
    assert_eq!(is(&status, types::UPDATING_PLATFORM_MACHINE_TEMPLATE).0, "False");
    counting(&mut seen, 3, 3);
    seen.machines.sets = vec![set(&own, 3), set(&other, 0)];
    assert_eq!(is(&told(&pool, &seen), types::UPDATING_CONFIG).0, "False");
}

#[test]
fn an_upgrade_is_no_other_configuration() {
    let older = "hyperplane.dev/kubernetes:v1.35.8";
    let pool = testing::pool(&json!({"spec": {"release": {"image": older}}}));
    let (target, mut seen) = complete();
    let made = desired(&pool, &seen, NOW).unwrap();
    seen.machines.deployment = made.deployment.map(Arc::new);
    counting(&mut seen, 3, 3);
    let status = told(&target, &seen);
    assert_eq!(is(&status, types::UPDATING_VERSION).0, "True");
    assert_eq!(is(&status, types::UPDATING_CONFIG).0, "False");
}

#[test]
fn nodes_are_not_on_their_way_while_nothing_moves_them() {
    let (pool, seen) = complete();
    let seen = reconfigured(&seen);
    let type_ = types::UPDATING_CONFIG;
    let paused = testing::pool(&json!({"spec": {"pausedUntil": "true"}}));
    let status = told(&paused, &seen);
    assert_eq!(is(&status, type_), ("False", "ReconciliationPaused"));
    assert!(words(&status, type_).contains("paused"));
    let waiting = Failure::wait("the copy of the pull secret of the cluster");
    let status = told_after(&pool, &seen, Some(&waiting));
    assert_eq!(is(&status, type_), ("False", "WaitingForAvailable"));
    assert!(
        words(&status, type_).contains("pull secret"),
        "{}",
        words(&status, type_)
    );
    assert_eq!(is(&status, types::READY).0, "True", "machines are ready all the same");
    assert!(words(&status, types::READY).contains("pull secret"));
    let disabled = json!({"metadata": {"annotations": {annotations::DISABLE_MACHINE_MANAGEMENT.as_str(): "true"}},
        "spec": {"pullSecret": {"name": "other"}}});
    let mut unmanaged = seen.clone();
    unmanaged.cluster = Some(Arc::new(testing::cluster(&disabled)));
    let status = told(&pool, &unmanaged);
    assert_eq!(is(&status, type_).0, "False");
    assert!(words(&status, type_).contains("not managed"));
    assert_eq!(
        status.version, None,
        "nothing is claimed of machines that nobody brings there"
    );
    let on_delete = testing::pool(&json!({"spec": {"management": {
        "replace": {"strategy": "OnDelete", "rollingUpdate": null}}}}));
    assert!(words(&told(&on_delete, &seen), type_).contains("that users delete"));
}

#[test]
fn a_pool_without_a_cluster_is_told() {
    let pool = testing::pool(&json!({}));
    let status = told(&pool, &Seen::default());
    assert_eq!(is(&status, types::VALID_RELEASE_IMAGE).0, "Unknown");
    assert_eq!(is(&status, types::READY).0, "False");
    assert_eq!(status.nodes_info, None);
}

#[test]
fn a_pool_of_hosts_that_join_by_themselves_tells_what_the_cluster_knows() {
    let none = json!({"spec": {"platform": {"type": "None", "kubevirt": null}}});
    let pool = testing::pool(&none);
    let mut seen = testing::seen(&testing::cluster(&none));
    let mut observe = |count: Value, ready: Option<&str>| {
        let mut plane = (**seen.control_plane.as_ref().unwrap()).clone();
        let conditions: Vec<Value> = ready
            .iter()
            .map(|status| {
                json!({"type": "NodesReady", "status": status, "reason": "Observed", "message": "1 of 2 nodes are ready",
                    "lastTransitionTime": "2030-01-01T00:00:00Z"})
            })
            .collect();
        let status = json!({"nodeCount": count, "conditions": conditions});
        plane.status = Some(hyperplane_objects::read(status).unwrap());
        seen.control_plane = Some(Arc::new(plane));
        told(&pool, &seen)
    };
    let nobody = observe(json!(0), None);
    assert_eq!(is(&nobody, types::READY), ("False", "WaitingForAvailable"));
    assert!(words(&nobody, types::READY).contains("somebody approves"));
    assert_eq!(is(&nobody, types::ALL_NODES_HEALTHY).0, "Unknown");
    assert_eq!(nobody.replicas, None, "none is more than what is known");
    let well = observe(json!(2), Some("True"));
    assert_eq!(is(&well, types::READY), ("True", "AsExpected"));
    assert_eq!(is(&well, types::ALL_NODES_HEALTHY).0, "True");
    assert_eq!(is(&well, types::ALL_MACHINES_READY).0, "Unknown");
    assert!(words(&well, types::READY).contains("1 of 2 nodes are ready in the cluster"));
    let away = observe(json!(2), Some("False"));
    assert_eq!(is(&away, types::READY), ("False", "NodesNotReady"));
    assert_eq!(is(&away, types::ALL_NODES_HEALTHY).0, "False");
    let empty = testing::pool(&json!({"spec": {"platform": {"type": "None", "kubevirt": null}, "replicas": 0}}));
    assert_eq!(is(&told(&empty, &seen), types::READY).0, "True");
}

#[test]
fn a_payload_that_cannot_be_made_is_false_and_not_nothing() {
    for (reason, message) in [
        ("InvalidConfig", "a unit has no name"),
        ("WaitingForDependencies", "Waiting for key a of Secret b"),
    ] {
        let (pool, mut seen) = complete();
        let mut token = (*seen.tokens[0]).clone();
        let data = token.data.as_mut().unwrap();
        data.insert(keys::REASON.to_owned(), ByteString(reason.as_bytes().to_vec()));
        data.insert(keys::MESSAGE.to_owned(), ByteString(message.as_bytes().to_vec()));
        seen.tokens = vec![Arc::new(token)];
        let status = told(&pool, &seen);
        let condition = find(&status, types::VALID_GENERATED_PAYLOAD);
        assert_eq!(condition.status, ConditionStatus::False);
        assert_eq!(condition.reason.as_deref(), Some(reason));
        assert_eq!(condition.message.as_deref(), Some(message));
    }
}

#[test]
fn what_is_missing_of_the_ignition_server_is_told_only_then() {
    let (pool, mut seen) = complete();
    let has = |status: &NodePoolStatus| {
        let type_ = types::IGNITION_ENDPOINT_AVAILABLE.as_str();
        status.conditions.iter().any(|condition| condition.type_ == type_)
    };
    assert!(!has(&told(&pool, &seen)));
    seen.ignition_authority = None;
    let status = told(&pool, &seen);
    assert_eq!(
        is(&status, types::IGNITION_ENDPOINT_AVAILABLE),
        ("False", "IgnitionCACertMissing")
    );
}

#[test]
fn machines_are_told_by_their_reasons() {
    let (pool, mut seen) = complete();
    seen.machines.all[1] = Arc::new(testing::machine("m-1", VERSION, "v1.36.4", false));
    let status = told(&pool, &seen);
    let condition = find(&status, types::ALL_NODES_HEALTHY);
    assert_eq!(condition.reason.as_deref(), Some("Because"));
    assert_eq!(
        condition.message.as_deref(),
        Some("1 of 3 machines are not: Because: m-1: words")
    );
    seen.machines.all.clear();
    assert_eq!(
        is(&told(&pool, &seen), types::ALL_MACHINES_READY),
        ("False", "NotFound")
    );
    let empty = testing::pool(&json!({"spec": {"replicas": 0}}));
    assert_eq!(
        is(&told(&empty, &seen), types::ALL_MACHINES_READY),
        ("False", "AsExpected")
    );
}

#[test]
fn repair_that_is_blocked_makes_a_pool_not_ready() {
    let (_, mut seen) = complete();
    let pool = testing::pool(&json!({"spec": {"management": {"autoRepair": true}}}));
    assert_eq!(
        is(&told(&pool, &seen), types::AUTOREPAIR_ENABLED),
        ("False", "ignitionNotReached")
    );
    let check: Value = json!({
        "metadata": {"name": "workers"}, "spec": {"clusterName": "blue-abcde", "selector": {}},
        "status": {"conditions": [{"type": "RemediationAllowed", "status": "False", "reason": "TooManyUnhealthy",
            "message": "3 of 3", "lastTransitionTime": "2027-01-01T00:00:00Z"}]},
    });
    seen.machines.health_check = Some(Arc::new(hyperplane_objects::read(&check).unwrap()));
    let status = told(&pool, &seen);
    assert_eq!(is(&status, types::AUTOREPAIR_ENABLED).0, "True");
    assert_eq!(is(&status, types::READY), ("False", "TooManyUnhealthy"));
}

#[test]
fn pauses_and_what_is_not_done_here_are_told() {
    let (_, seen) = complete();
    let paused = testing::pool(&json!({"spec": {"pausedUntil": "true"}}));
    assert_eq!(
        is(&told(&paused, &seen), types::RECONCILIATION_ACTIVE),
        ("False", "ReconciliationPaused")
    );
    let in_place = testing::pool(&json!({"spec": {"management": {"upgradeType": "InPlace"}}}));
    let status = told(&in_place, &seen);
    assert_eq!(is(&status, types::UPDATE_MANAGEMENT_ENABLED), ("False", "NotSupported"));
    let tuned = testing::pool(&json!({"spec": {"tuningConfig": [{"name": "fast"}]}}));
    assert_eq!(
        is(&told(&tuned, &seen), types::VALID_TUNING_CONFIG),
        ("False", "NotSupported")
    );
}

#[test]
fn the_end_of_a_pool_says_what_it_waits_for() {
    let (pool, mut seen) = complete();
    let mut pool = pool;
    pool.status = Some(told(&pool, &seen));
    let failure = Failure::wait("machines to be gone: m-0");
    let mut remains = seen.machines.clone();
    remains.all = vec![Arc::new(testing::draining("m-0", "Pod a/b: PodDisruptionBudget c"))];
    counting(&mut seen, 1, 1);
    remains.deployment.clone_from(&seen.machines.deployment);
    let status = deleting(&pool, &remains, &failure, NOW);
    // What is left of its machines is told as it goes.
    assert_eq!(status.replicas, Some(1));
    assert_eq!(status.nodes_info.as_ref().unwrap().node_versions[0].ready_node_count, 1);
    assert_eq!(is(&status, types::ALL_MACHINES_READY), ("False", "DrainingNode"));
    let gone = deleting(&pool, &Machines::default(), &failure, NOW);
    assert_eq!((gone.replicas, &gone.nodes_info), (Some(0), &None));
    assert_eq!(is(&gone, types::ALL_MACHINES_READY), ("False", "AsExpected"));
    assert_eq!(is(&status, types::READY), ("False", "Deleting"));
    assert!(find(&status, types::READY).message.as_deref().unwrap().contains("m-0"));
    assert_eq!(status.conditions.len(), pool.status.unwrap().conditions.len());
}

#[test]
fn machines_elsewhere_are_told_with_where_they_are() {
    let credentials = |namespace: &str| {
        json!({"spec": {"platform": {"kubevirt": {"credentials": {
            "infraNamespace": namespace, "infraKubeConfigSecret": {"name": "elsewhere", "key": "kubeconfig"}}}}}})
    };
    let (mut pool, mut seen) = complete();
    assert_eq!(told(&pool, &seen).platform, None);
    seen.cluster = Some(Arc::new(testing::cluster(&credentials("machines"))));
    let status = told(&pool, &seen);
    let namespace = |status: &NodePoolStatus| {
        let kubevirt = status.platform.clone().unwrap().kubevirt.unwrap();
        kubevirt.credentials.unwrap().infra_namespace
    };
    assert_eq!(namespace(&status), "machines");
    // What was told once cannot be changed, and stays when the cluster is gone.
    pool.status = Some(status);
    seen.cluster = Some(Arc::new(testing::cluster(&credentials("others"))));
    assert_eq!(namespace(&told(&pool, &seen)), "machines");
    seen.cluster = None;
    assert_eq!(namespace(&told(&pool, &seen)), "machines");
}

#[test]
fn a_drain_that_cannot_end_is_told_with_what_is_in_the_way() {
    let (pool, mut seen) = complete();
    let words = "Waiting for pods: clusters/web: PodDisruptionBudget web";
    seen.machines.all.push(Arc::new(testing::draining("m-9", words)));
    let status = told(&pool, &seen);
    assert_eq!(is(&status, types::ALL_MACHINES_READY), ("False", "DrainingNode"));
    assert_eq!(is(&status, types::READY).0, "True", "those that are wanted are there");
    for type_ in [types::ALL_MACHINES_READY, types::READY] {
        let message = find(&status, type_).message.clone().unwrap();
        assert!(message.contains(&format!("m-9: {words}")), "{message}");
    }
    assert_eq!(is(&status, types::ALL_NODES_HEALTHY).0, "True");
}

#[test]
fn whether_virtual_machines_can_migrate_is_told_where_their_provider_says() {
    let instance = |name: &str, status: &str| {
        let condition = json!({"type": "VMLiveMigratable", "status": status, "reason": "DisksNotLiveMigratable"});
        Arc::new(
            hyperplane_objects::read(json!({"metadata": {"name": name}, "status": {"conditions": [condition]}}))
                .unwrap(),
        )
    };
    let (pool, mut seen) = complete();
    let type_ = types::KUBEVIRT_NODES_LIVE_MIGRATABLE;
    let is_told = |status: &NodePoolStatus| status.conditions.iter().any(|one| one.type_ == type_.as_str());
    seen.machines.instances = vec![Arc::new(Instance::default())];
    assert!(!is_told(&told(&pool, &seen)));
    seen.machines.instances = vec![instance("m-0", "True")];
    assert_eq!(is(&told(&pool, &seen), type_).0, "True");
    seen.machines.instances.push(instance("m-1", "False"));
    let status = told(&pool, &seen);
    assert_eq!(is(&status, type_), ("False", "KubeVirtNodesNotLiveMigratable"));
    let message = find(&status, type_).message.clone().unwrap();
    assert_eq!(message, "1 of 2 cannot migrate: m-1: DisksNotLiveMigratable");
}

#[test]
fn fields_without_effect_are_named_and_nothing_is_said_without_them() {
    let (_, seen) = complete();
    let status = |change: &Value| told(&testing::pool(change), &seen);
    let usual = status(&json!({}));
    assert!(usual.conditions.iter().all(|one| one.type_ != "UnusedFields"));
    let told = status(&json!({"spec": {"osImageStream": {"name": "rhel-9"}}}));
    assert_eq!(is(&told, ours::UNUSED_FIELDS), ("True", "NotActedOn"));
    let message = find(&told, ours::UNUSED_FIELDS).message.as_deref().unwrap();
    assert!(message.contains("spec.osImageStream."), "{message}");
}
