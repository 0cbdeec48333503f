//! What sets do, by table, and names that neither a crash nor a cache that lags behind can double.

use std::{sync::Arc, time::Duration};

use hyperplane_api::{
    cluster_api::{
        cluster::{Cluster, ClusterSpec},
        machine::Machine,
        machine_deployment::MachineDeployment,
        machine_set::MachineSet,
    },
    constants::ours,
};
use hyperplane_runtime::Disposition;
use jiff::Timestamp;
use kube::{ResourceExt as _, api::DynamicObject};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    build,
    dereference::Seen,
    going::Going,
    plan::{Plan, plan},
};
use crate::{
    InfrastructureKind,
    conditions::tests::{change_in_place, machine},
};

fn set(replicas: usize, annotations: &Value) -> MachineSet {
    hyperplane_objects::read(json!({
        "metadata": {"name": "pool-0123456789", "namespace": "cp", "uid": "set-uid", "annotations": annotations},
        "spec": {
            "clusterName": "c", "replicas": replicas, "selector": {"matchLabels": {"pool": "pool"}},
            "template": {
                "metadata": {"labels": {"pool": "pool"}, "annotations": {"hypershift.openshift.io/nodePoolTaints": "[]"}},
                "spec": {
                    "clusterName": "c", "version": "1.36.2", "bootstrap": {"dataSecretName": "data"},
                    "infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io",
                        "kind": "KubevirtMachineTemplate", "name": "t"},
                },
            },
        },
    }))
    .unwrap()
}

fn seen(set: MachineSet, machines: Vec<Machine>) -> Seen {
    Seen {
        set: Arc::new(set),
        machines: machines.into_iter().map(Arc::new).collect(),
        cluster: Some(Arc::new(Cluster::new("c", ClusterSpec::default()))),
        deployment: None,
        is_current: true,
        pause: None,
    }
}

fn numbered(number: u64, conditions: &str) -> Machine {
    let annotations = json!({"annotations": {(ours::MACHINE_NUMBER.as_str()): number.to_string()}});
    machine(&format!("m{number}"), conditions, &annotations)
}

fn deleting(number: u64, conditions: &str) -> Machine {
    let mut machine = numbered(number, conditions);
    machine.metadata.deletion_timestamp = hyperplane_objects::read(json!("2026-01-01T00:00:00Z")).unwrap();
    machine
}

fn planned(seen: &Seen) -> Plan {
    plan(seen).unwrap()
}

#[test]
fn missing_machines_are_made_under_names_that_follow_from_their_numbers() {
    let empty = seen(set(3, &json!({})), Vec::new());
    let first = planned(&empty);
    assert_eq!(
        first.make.iter().map(|(number, _)| *number).collect::<Vec<_>>(),
        [0, 1, 2]
    );
    assert_eq!(
        first,
        planned(&empty),
        "a second run on the same cache meets the same objects"
    );
    for (_, name) in &first.make {
        assert!(
            name.starts_with("pool-0123456789-") && name.len() == "pool-0123456789-".len() + 5,
            "{name}"
        );
    }
    let made: Vec<Machine> = first.make[..2]
        .iter()
        .map(|(number, name)| {
            let machine = build::machine(&empty.set, *number, name, InfrastructureKind::Kubevirt);
            assert_eq!(machine.name_any(), *name);
            machine
        })
        .collect();
    let half = planned(&seen(set(3, &json!({})), made));
    assert_eq!(half.make, first.make[2..], "what a crash left undone is done");
    assert_eq!(half.mark, Some(2));
}

#[test]
fn numbers_are_not_used_again() {
    let marked = json!({(ours::NEXT_MACHINE_NUMBER.as_str()): "7"});
    let plan = planned(&seen(set(2, &marked), vec![numbered(3, "")]));
    assert_eq!(plan.make[0].0, 7);
    assert_eq!(plan.mark, None);
    let broken = json!({(ours::NEXT_MACHINE_NUMBER.as_str()): u64::MAX.to_string()});
    assert_eq!(planned(&seen(set(5, &broken), Vec::new())).make.len(), 1, "it ends");
}

#[test]
fn machines_that_go_count_until_they_are_gone() {
    let plan = planned(&seen(set(2, &json!({})), vec![numbered(0, ""), deleting(1, "")]));
    assert!(plan.make.is_empty() && plan.remove.is_empty());
    let plan = planned(&seen(
        set(1, &json!({})),
        vec![numbered(0, "Available"), deleting(1, "")],
    ));
    assert!(plan.remove.is_empty(), "one goes already");
}

#[test]
fn too_many_go_the_worst_first() {
    let machines = vec![
        numbered(0, "Available NodeHealthy"),
        numbered(1, ""),
        numbered(2, "Available NodeHealthy"),
    ];
    let plan = planned(&seen(set(2, &json!({})), machines));
    assert_eq!(plan.remove, ["m1"]);
}

#[test]
fn unhealthy_machines_are_replaced_within_their_bound() {
    let ill = "-OwnerRemediated";
    let mut seen = seen(
        set(4, &json!({})),
        vec![
            numbered(0, ill),
            numbered(1, ill),
            deleting(2, ill),
            numbered(3, "Available"),
        ],
    );
    assert_eq!(planned(&seen).replace, ["m0", "m1"]);
    let mut deployment: MachineDeployment = hyperplane_objects::read(json!({
        "metadata": {}, "spec": {"clusterName": "c", "selector": {}, "template": seen.set.spec.template,
            "remediation": {"maxInFlight": 2}},
    }))
    .unwrap();
    seen.deployment = Some(Arc::new(deployment.clone()));
    assert_eq!(planned(&seen).replace, ["m0"], "one is under repair");
    seen.is_current = false;
    assert!(planned(&seen).replace.is_empty(), "the rollout replaces them");
    seen.is_current = true;
    deployment.spec.remediation = hyperplane_objects::read(json!({"maxInFlight": "some"})).unwrap();
    seen.deployment = Some(Arc::new(deployment));
    assert_eq!(plan(&seen).unwrap_err().disposition(), Disposition::User);
}

#[test]
fn repairs_begin_with_the_newest_and_are_bounded_by_the_deployment() {
    let ill = |number: u64, created: &str| {
        let mut machine = numbered(number, "-OwnerRemediated");
        machine.metadata.creation_timestamp = hyperplane_objects::read(json!(created)).unwrap();
        machine
    };
    let machines = vec![
        ill(0, "2026-01-01T00:00:00Z"),
        ill(1, "2026-01-03T00:00:00Z"),
        ill(2, "2026-01-02T00:00:00Z"),
    ];
    let mut seen = seen(set(3, &json!({})), machines);
    let deployment: MachineDeployment = hyperplane_objects::read(json!({
        "metadata": {}, "spec": {"clusterName": "c", "replicas": 10, "selector": {},
            "template": seen.set.spec.template, "remediation": {"maxInFlight": "20%"}},
    }))
    .unwrap();
    seen.deployment = Some(Arc::new(deployment));
    // A fifth of ten, and not of the three that this set has.
    assert_eq!(planned(&seen).replace, ["m1", "m2"]);
}

#[test]
fn an_unhealthy_machine_that_is_replaced_counts_among_those_that_are_too_many() {
    let machines = vec![numbered(0, "Available"), numbered(1, "-OwnerRemediated")];
    let plan = planned(&seen(set(1, &json!({})), machines));
    assert_eq!((plan.replace, plan.remove), (vec!["m1".to_owned()], Vec::new()));
}

#[tokio::test(start_paused = true)]
async fn what_was_deleted_goes_although_the_cache_does_not_show_it() {
    let going = Going::default();
    let set = set(1, &json!({}));
    let stale = vec![numbered(0, "Available"), numbered(1, "Available")];
    let first = planned(&seen(set.clone(), stale.clone()));
    assert_eq!(first.remove, ["m0"]);
    going.note(&set, &stale[0]);
    // The other one fails meanwhile, and would be taken first.
    let mut stale = seen(set.clone(), vec![stale[0].clone(), numbered(1, "-Available")]);
    assert_eq!(planned(&stale).remove, ["m1"]);
    going.apply(&set, &mut stale.machines, Timestamp::UNIX_EPOCH);
    assert!(planned(&stale).remove.is_empty(), "one goes already");
    // A deletion that never reached the server is made up for.
    tokio::time::advance(Duration::from_secs(30)).await;
    let mut late = seen(set.clone(), vec![numbered(0, "Available"), numbered(1, "Available")]);
    going.apply(&set, &mut late.machines, Timestamp::UNIX_EPOCH);
    assert_eq!(planned(&late).remove, ["m0"]);
}

#[tokio::test(start_paused = true)]
async fn a_deletion_that_the_cache_never_shows_is_looked_at_again() {
    let going = Going::default();
    let set = set(1, &json!({}));
    let (first, second) = (numbered(0, "Available"), numbered(1, "Available"));
    assert_eq!(going.next(&set), None);
    going.note(&set, &first);
    tokio::time::advance(Duration::from_secs(10)).await;
    assert_eq!(going.next(&set), Some(Duration::from_secs(20)));
    going.note(&set, &second);
    assert_eq!(going.next(&set), Some(Duration::from_secs(30)));
    // The server refused, so it goes no longer.
    going.take_back(&set, &second);
    assert_eq!(going.next(&set), Some(Duration::from_secs(20)));
    let mut machines = seen(set.clone(), vec![first, second]).machines;
    tokio::time::advance(Duration::from_secs(20)).await;
    going.apply(&set, &mut machines, Timestamp::UNIX_EPOCH);
    assert_eq!(going.next(&set), None);
}

#[test]
fn nothing_is_made_for_a_cluster_that_goes_or_where_another_set_does() {
    let stopped = json!({"cluster.x-k8s.io/disable-machine-create": "true"});
    assert!(planned(&seen(set(2, &stopped), Vec::new())).make.is_empty());
    let mut without = seen(set(2, &json!({})), Vec::new());
    without.cluster = None;
    assert!(planned(&without).make.is_empty());
    let mut cluster = Cluster::new("c", ClusterSpec::default());
    cluster.metadata.deletion_timestamp = hyperplane_objects::read(json!("2026-01-01T00:00:00Z")).unwrap();
    without.cluster = Some(Arc::new(cluster));
    assert!(planned(&without).make.is_empty());
}

#[test]
fn timeouts_reach_machines_that_exist_and_labels_do_not() {
    let mut changed = set(1, &json!({}));
    change_in_place(&mut changed.spec.template);
    let mut there = numbered(0, "Available");
    let plan = planned(&seen(changed.clone(), vec![there.clone()]));
    let expected = json!({"spec": {"deletion": {"nodeDrainTimeoutSeconds": 60,
        "nodeVolumeDetachTimeoutSeconds": null, "nodeDeletionTimeoutSeconds": null}}});
    assert_eq!(plan.change, [("m0".to_owned(), expected)]);
    there.spec.deletion.clone_from(&changed.spec.template.spec.deletion);
    assert!(planned(&seen(changed, vec![there.clone()])).change.is_empty());
    let back = planned(&seen(set(1, &json!({})), vec![there]));
    assert_eq!(back.change, [("m0".to_owned(), json!({"spec": {"deletion": null}}))]);
}

#[test]
fn a_machine_and_its_instance_belong_together() {
    let set = set(1, &json!({"hypershift.openshift.io/nodePool": "clusters/pool"}));
    let kind = build::kind(&set, InfrastructureKind::ALL).unwrap();
    let template: DynamicObject = hyperplane_objects::read(json!({
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1alpha1", "kind": "KubevirtMachineTemplate",
        "metadata": {"name": "t"},
        "spec": {"template": {"metadata": {"labels": {"a": "b"}}, "spec": {"cores": 2}}},
    }))
    .unwrap();
    let template = build::instance_template(&template).unwrap();
    let instance = build::instance(&set, "m", kind, &template);
    assert_eq!(instance.data, json!({"spec": {"cores": 2}}));
    assert_eq!(instance.labels()["a"], "b");
    assert_eq!(instance.labels()["cluster.x-k8s.io/set-name"], "pool-0123456789");
    assert_eq!(instance.annotations()["cluster.x-k8s.io/cloned-from-name"], "t");
    assert_eq!(
        instance.annotations()["cluster.x-k8s.io/cloned-from-groupkind"],
        "KubevirtMachineTemplate.infrastructure.cluster.x-k8s.io"
    );
    assert!(
        instance
            .owner_references()
            .iter()
            .all(|owner| owner.controller.is_none())
    );
    let machine = build::machine(&set, 5, "m", kind);
    assert_eq!(machine.spec.infrastructure_ref.kind.as_str(), "KubevirtMachine");
    assert_eq!(machine.spec.infrastructure_ref.name.as_str(), "m");
    assert_eq!(machine.spec.bootstrap.data_secret_name.as_deref(), Some("data"));
    assert_eq!(machine.annotations()["hypershift.openshift.io/nodePoolTaints"], "[]");
    assert_eq!(
        machine.annotations()["hypershift.openshift.io/nodePool"],
        "clusters/pool"
    );
    assert_eq!(machine.labels()["app.kubernetes.io/managed-by"], "hyperplane");
    assert_eq!(machine.owner_references()[0].controller, Some(true));
    assert_eq!(build::templates(kind).plural, "kubevirtmachinetemplates");
}

#[test]
fn a_kind_that_is_not_served_is_the_users_to_mend() {
    let set = set(1, &json!({}));
    let failure = build::kind(&set, &[InfrastructureKind::Agent]).unwrap_err();
    assert_eq!(failure.disposition(), Disposition::User);
}

proptest! {
    /// A cache shows some beginning of what was made: a run on it never asks for more than is missing in truth.
    #[test]
    fn a_cache_that_lags_behind_doubles_nothing(replicas in 0_usize..40, shown in 0_usize..40) {
        let all = planned(&seen(set(replicas, &json!({})), Vec::new())).make;
        let shown = shown.min(all.len());
        let empty = set(replicas, &json!({}));
        let machines = all[..shown]
            .iter()
            .map(|(number, name)| build::machine(&empty, *number, name, InfrastructureKind::Kubevirt))
            .collect();
        let rest = planned(&seen(set(replicas, &json!({})), machines)).make;
        prop_assert_eq!(&rest[..], &all[shown..]);
    }
}
