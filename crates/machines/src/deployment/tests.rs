//! Deployments by table, and a rollout on objects: what is planned is carried out on a few values until nothing is left
//! to do.

use std::{collections::BTreeMap, sync::Arc};

use hyperplane_api::cluster_api::{machine::Machine, machine_deployment::MachineDeployment, machine_set::MachineSet};
use hyperplane_runtime::Disposition;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt as _;
use serde_json::{Value, json};

use super::{
    dereference::{Seen, SeenSet, claim},
    plan::{Plan, plan},
    status::status,
};
use crate::{
    conditions::tests::{change_in_place, machine},
    counts::wanted,
};

const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

fn deployment(replicas: u32, template: &str) -> MachineDeployment {
    hyperplane_objects::read(json!({
        "metadata": {"name": "pool", "namespace": "cp", "uid": "deployment-uid", "generation": 4,
            "annotations": {"hypershift.openshift.io/nodePool": "clusters/pool"}},
        "spec": {
            "clusterName": "c", "replicas": replicas, "selector": {"matchLabels": {"pool": "pool"}},
            "template": {"metadata": {"labels": {"pool": "pool"}}, "spec": {
                "clusterName": "c", "version": "1.36.2", "bootstrap": {"dataSecretName": template},
                "infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "KubevirtMachineTemplate",
                    "name": "t"}}},
        },
    }))
    .unwrap()
}

/// The objects of one deployment, and what its surroundings do to them.
struct World {
    deployment: MachineDeployment,
    sets: BTreeMap<String, (MachineSet, Vec<Machine>)>,
    now: Timestamp,
}

impl World {
    fn new(replicas: u32) -> Self {
        Self {
            deployment: deployment(replicas, "one"),
            sets: BTreeMap::new(),
            now: NOW,
        }
    }

    fn seen(&self) -> Seen {
        let mut sets: Vec<SeenSet> = self
            .sets
            .values()
            .map(|(set, machines)| SeenSet {
                set: Arc::new(set.clone()),
                machines: machines.iter().cloned().map(Arc::new).collect(),
            })
            .collect();
        sets.sort_by_cached_key(|seen| (crate::counts::created(&seen.set.metadata), seen.set.name_any()));
        Seen {
            deployment: Arc::new(self.deployment.clone()),
            sets,
            pause: None,
        }
    }

    fn plan(&self) -> Plan {
        plan(&self.seen(), self.now).unwrap()
    }

    /// One run of the controller.
    fn run(&mut self) -> Plan {
        let plan = self.plan();
        self.now += SignedDuration::from_secs(1);
        for mut set in plan.sets.clone() {
            let before = self.sets.remove(&set.name_any());
            set.metadata.uid = Some(format!("uid-of-{}", set.name_any()));
            set.metadata.creation_timestamp = match &before {
                Some((before, _)) => before.metadata.creation_timestamp.clone(),
                None => Some(Time(self.now)),
            };
            let machines = before.map(|(_, machines)| machines).unwrap_or_default();
            self.sets.insert(set.name_any(), (set, machines));
        }
        for name in &plan.remove {
            self.sets.remove(name);
        }
        plan
    }

    /// What the controller of sets and the provider do: machines come and are available, or go.
    fn settle(&mut self) {
        for (name, (set, machines)) in &mut self.sets {
            let replicas = usize::try_from(wanted(set.spec.replicas)).unwrap();
            machines.truncate(replicas);
            for number in machines.len()..replicas {
                machines.push(machine(&format!("{name}-{number}"), "Ready Available", &json!({})));
            }
        }
    }

    fn counts(&self) -> Vec<(String, u32)> {
        let version = |set: &MachineSet| {
            set.spec
                .template
                .spec
                .bootstrap
                .data_secret_name
                .clone()
                .unwrap_or_default()
        };
        let mut counts: Vec<(String, u32)> = self
            .sets
            .values()
            .map(|(set, _)| (version(set), wanted(set.spec.replicas)))
            .collect();
        counts.sort();
        counts
    }

    /// Runs until a run changes nothing; the most machines that there were at a time, and the fewest.
    fn finish(&mut self) -> (usize, usize) {
        let count = |world: &Self| world.sets.values().map(|(_, machines)| machines.len()).sum::<usize>();
        let (mut most, mut least) = (count(self), count(self));
        for _ in 0..50 {
            let before = self.counts();
            self.run();
            self.settle();
            most = most.max(count(self));
            least = least.min(count(self));
            if before == self.counts() {
                return (most, least);
            }
        }
        panic!("it never ends: {:?}", self.counts());
    }

    fn change(&mut self, template: &str) {
        let bootstrap = &mut self.deployment.spec.template.spec.bootstrap;
        bootstrap.data_secret_name = Some(template.to_owned());
    }
}

#[test]
fn a_first_set_has_everything() {
    let mut world = World::new(3);
    world.finish();
    assert_eq!(world.counts(), [("one".to_owned(), 3)]);
    let (set, _) = world.sets.values().next().unwrap();
    assert!(set.name_any().starts_with("pool-"));
    let name = set.name_any();
    let hash = &name["pool-".len()..];
    assert_eq!(hash.len(), 10);
    assert_eq!(set.labels()["machine-template-hash"], hash);
    assert_eq!(set.labels()["app.kubernetes.io/managed-by"], "hyperplane");
    assert_eq!(set.labels()["cluster.x-k8s.io/cluster-name"], "c");
    assert_eq!(set.annotations()["hypershift.openshift.io/nodePool"], "clusters/pool");
    assert_eq!(set.annotations()["machinedeployment.clusters.x-k8s.io/revision"], "1");
    let selected = set.spec.selector.match_labels.clone().unwrap();
    let labels = set.spec.template.metadata.clone().unwrap().labels;
    assert!(selected.iter().all(|(key, value)| labels.get(key) == Some(value)));
}

#[test]
fn the_same_run_again_plans_the_same() {
    let world = World::new(3);
    assert_eq!(world.plan().sets, world.plan().sets);
}

#[test]
fn a_new_template_rolls_within_its_bounds_and_one_old_set_is_kept() {
    let mut world = World::new(3);
    world.finish();
    world.change("two");
    let (most, least) = world.finish();
    assert_eq!(world.counts(), [("one".to_owned(), 0), ("two".to_owned(), 3)]);
    assert!(most <= 4 && least >= 3, "{most} {least}");
    world.change("three");
    world.finish();
    world.run();
    assert_eq!(world.counts(), [("three".to_owned(), 3), ("two".to_owned(), 0)]);
    assert_eq!(world.plan().revision, 3);
}

#[test]
fn going_back_takes_the_old_set_as_the_newest_revision() {
    let mut world = World::new(2);
    world.finish();
    world.change("two");
    world.finish();
    world.change("one");
    world.finish();
    assert_eq!(world.counts(), [("one".to_owned(), 2), ("two".to_owned(), 0)]);
    assert_eq!(world.plan().revision, 3);
}

#[test]
fn labels_and_timeouts_roll_nobody() {
    let mut world = World::new(2);
    world.finish();
    world.change("two");
    world.finish();
    change_in_place(&mut world.deployment.spec.template);
    world.run();
    assert_eq!(world.counts(), [("one".to_owned(), 0), ("two".to_owned(), 2)]);
    for (set, _) in world.sets.values() {
        let template = &set.spec.template;
        let deletion = template.spec.deletion.as_ref().unwrap();
        assert_eq!(deletion.node_drain_timeout_seconds, Some(60));
        let is_current = template.spec.bootstrap.data_secret_name.as_deref() == Some("two");
        let labels = &template.metadata.as_ref().unwrap().labels;
        assert_eq!(labels.contains_key("new"), is_current, "an old template stays as it is");
    }
}

#[test]
fn on_delete_stops_old_sets_from_making_machines() {
    let mut world = World::new(2);
    world.finish();
    world.deployment.spec.rollout = hyperplane_objects::read(json!({"strategy": {"type": "OnDelete"}})).unwrap();
    world.change("two");
    world.finish();
    assert_eq!(world.counts(), [("one".to_owned(), 2), ("two".to_owned(), 0)]);
    let old = world.sets.values().find(|(_, machines)| !machines.is_empty()).unwrap();
    assert_eq!(old.0.annotations()["cluster.x-k8s.io/disable-machine-create"], "true");
}

#[test]
fn a_set_that_lost_its_owner_is_taken_over() {
    let mut world = World::new(1);
    world.finish();
    let (set, _) = world.sets.values().next().unwrap();
    let mut orphan = set.clone();
    assert!(!claim(&world.deployment).holds(&orphan), "it has an owner");
    orphan.metadata.owner_references = None;
    assert!(claim(&world.deployment).holds(&orphan));
    let made = world.plan().sets;
    assert_eq!(made[0].owner_references()[0].uid, "deployment-uid");
}

#[test]
fn a_paused_rollout_is_scaled_and_goes_on_later() {
    let mut world = World::new(3);
    world.deployment.spec.paused = Some(true);
    world.finish();
    assert!(world.counts().is_empty(), "it begins no set");
    world.deployment.spec.paused = None;
    world.finish();
    world.deployment.spec.paused = Some(true);
    world.change("two");
    world.finish();
    assert_eq!(world.counts(), [("one".to_owned(), 3)]);
    for replicas in [5, 2, 0, 4] {
        world.deployment.spec.replicas = Some(replicas);
        world.finish();
        assert_eq!(world.counts(), [("one".to_owned(), u32::try_from(replicas).unwrap())]);
    }
    world.deployment.spec.paused = None;
    world.finish();
    assert_eq!(world.counts(), [("one".to_owned(), 0), ("two".to_owned(), 4)]);
}

#[test]
fn a_moment_that_has_passed_replaces_older_machines_once() {
    let mut world = World::new(2);
    world.finish();
    let later = world.now + SignedDuration::from_hours(1);
    world.deployment.spec.rollout = hyperplane_objects::read(json!({"after": later.to_string()})).unwrap();
    let waiting = world.plan();
    assert_eq!(waiting.sets.len(), 1);
    assert!(waiting.next.is_some());
    world.now = later;
    world.finish();
    assert_eq!(world.counts(), [("one".to_owned(), 0), ("one".to_owned(), 2)]);
    world.finish();
    assert_eq!(world.sets.len(), 2);
}

#[test]
fn what_cannot_be_read_is_the_users_to_mend() {
    for rollout in [
        json!({"strategy": {"type": "Sideways"}}),
        json!({"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "much"}}}),
    ] {
        let mut world = World::new(2);
        world.deployment.spec.rollout = hyperplane_objects::read(&rollout).unwrap();
        let failure = plan(&world.seen(), NOW).unwrap_err();
        assert_eq!(failure.disposition(), Disposition::User);
    }
}

fn condition(world: &World, type_: &str) -> Value {
    let status = status(&world.seen(), world.now);
    let condition = status
        .conditions
        .into_iter()
        .find(|condition| condition.type_ == type_)
        .unwrap();
    json!(condition.status == "True")
}

#[test]
fn the_status_follows_the_rollout() {
    let mut world = World::new(3);
    assert_eq!(condition(&world, "Available"), false);
    assert_eq!(condition(&world, "ScalingUp"), true);
    world.finish();
    assert_eq!(condition(&world, "Available"), true);
    assert_eq!(condition(&world, "RollingOut"), false);
    world.change("two");
    assert_eq!(condition(&world, "RollingOut"), true);
    world.run();
    world.settle();
    let found = status(&world.seen(), world.now);
    assert_eq!(found.replicas, Some(4));
    assert_eq!(found.up_to_date_replicas, Some(1));
    assert_eq!(found.observed_generation, Some(4));
    assert_eq!(found.selector.as_deref(), Some("pool=pool"));
    world.finish();
    assert_eq!(condition(&world, "MachinesUpToDate"), true);
    let found = status(&world.seen(), world.now);
    assert_eq!(found, status(&world.seen(), world.now), "at rest nothing changes");
}
