//! The order of a StatefulSet, step by step, against a model that makes every write true.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use proptest::prelude::*;
use serde_json::json;

use super::{decide::*, *};

const NOW: &str = "2026-01-02T03:04:05Z";

fn set(policy: &str, replicas: i32) -> StatefulSet {
    hyperplane_objects::read(json!({
        "metadata": {"name": "db", "namespace": "n", "uid": "u", "generation": 1},
        "spec": {
            "replicas": replicas, "serviceName": "db", "podManagementPolicy": policy,
            "selector": {"matchLabels": {"app": "db"}},
            "template": {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "c", "image": "one"}]}},
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {}}],
        },
    }))
    .unwrap()
}

/// A world in which writes come true.
struct Model {
    set: StatefulSet,
    world: World,
    log: Vec<String>,
}

impl Model {
    fn new(set: StatefulSet) -> Self {
        let world = World {
            pods: Vec::new(),
            revisions: Vec::new(),
            claims: std::collections::BTreeSet::new(),
            leaving: std::collections::BTreeSet::new(),
            now: NOW.parse().unwrap(),
        };
        Self {
            set,
            world,
            log: Vec::new(),
        }
    }

    fn step(&mut self) {
        let decision = decide(&self.set, &self.world);
        for action in decision.actions {
            match action {
                Action::Keep(revision) => self.world.revisions.push(Arc::new(*revision)),
                Action::Forget(revision) => {
                    self.world
                        .revisions
                        .retain(|other| other.name_any() != revision.name_any());
                }
                Action::Claim(claim) => {
                    self.world.claims.insert(claim.name_any());
                }
                Action::Create(pod) => {
                    self.log.push(format!("+{}", pod.name_any()));
                    self.world.pods.push(Arc::new(*pod));
                }
                Action::Delete(pod) => {
                    self.log.push(format!("-{}", pod.name_any()));
                    self.change(&pod.name_any(), |pod| {
                        pod.metadata.deletion_timestamp = Some(Time(NOW.parse().unwrap()));
                    });
                }
            }
        }
        self.set.status = Some(decision.status);
    }

    fn change(&mut self, name: &str, change: impl Fn(&mut Pod)) {
        for pod in self.world.pods.iter_mut().filter(|pod| pod.name_any() == name) {
            change(Arc::make_mut(pod));
        }
    }

    fn make_ready(&mut self, name: &str) {
        let condition = json!([{"type": "Ready", "status": "True", "lastTransitionTime": NOW}]);
        self.change(name, |pod| {
            let status = pod.status.get_or_insert_default();
            status.phase = Some("Running".to_owned());
            status.conditions = hyperplane_objects::read(&condition).unwrap();
        });
    }

    fn finish_deletions(&mut self) {
        self.world.pods.retain(|pod| !pods::is_terminating(pod));
    }

    /// Lets everything happen as soon as it can, until nothing does.
    fn settle(&mut self) -> String {
        for _ in 0..100 {
            self.step();
            self.finish_deletions();
            for name in self.world.pods.iter().map(|pod| pod.name_any()).collect::<Vec<_>>() {
                self.make_ready(&name);
            }
        }
        std::mem::take(&mut self.log).join(" ")
    }

    fn image(&mut self, image: &str) {
        let spec = self.set.spec.as_mut().unwrap().template.spec.as_mut().unwrap();
        spec.containers[0].image = Some(image.to_owned());
    }
}

#[test]
fn pods_come_in_order_and_go_in_the_other() {
    let mut model = Model::new(set("OrderedReady", 3));
    model.step();
    model.step();
    assert_eq!(model.log.join(" "), "+db-0", "the second waits for the first");
    assert_eq!(model.settle(), "+db-0 +db-1 +db-2");
    assert_eq!(model.world.claims.len(), 3);
    model.image("two");
    assert_eq!(model.settle(), "-db-2 +db-2 -db-1 +db-1 -db-0 +db-0");
    model.set.spec.as_mut().unwrap().replicas = Some(1);
    assert_eq!(model.settle(), "-db-2 -db-1");
    assert_eq!(model.world.claims.len(), 3, "claims stay");
}

#[test]
fn parallel_pods_come_at_once_and_roll_one_by_one() {
    let mut model = Model::new(set("Parallel", 3));
    model.step();
    assert_eq!(model.log.join(" "), "+db-0 +db-1 +db-2");
    model.settle();
    model.image("two");
    model.step();
    model.step();
    assert_eq!(model.log.join(" "), "-db-2");
}

#[test]
fn a_partition_holds_the_first_pods_back() {
    let mut model = Model::new(set("OrderedReady", 3));
    model.settle();
    let strategy = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 2}});
    model.set.spec.as_mut().unwrap().update_strategy = hyperplane_objects::read(&strategy).unwrap();
    model.image("two");
    assert_eq!(model.settle(), "-db-2 +db-2");
    let status = model.set.status.clone().unwrap();
    assert_ne!(status.current_revision, status.update_revision);
    assert_eq!((status.current_replicas, status.updated_replicas), (Some(2), Some(1)));
    // A pod below the partition that is lost comes back as it was.
    model.world.pods.retain(|pod| pod.name_any() != "db-0");
    model.settle();
    let first = model.world.pods.iter().find(|pod| pod.name_any() == "db-0").unwrap();
    assert_eq!(pods::containers(first)[0].image.as_deref(), Some("one"));
}

#[test]
fn a_pod_does_not_get_the_data_that_goes() {
    let mut model = Model::new(set("Parallel", 3));
    model.settle();
    model.world.leaving.insert("data-db-1".to_owned());
    model.world.pods.retain(|pod| pod.name_any() != "db-1");
    assert_eq!(model.settle(), "", "its claim has not gone yet");
    assert!(decide(&model.set, &model.world).wake.is_some());
    model.world.leaving.clear();
    model.world.claims.remove("data-db-1");
    assert_eq!(model.settle(), "+db-1");
    assert!(model.world.claims.contains("data-db-1"));
    // One that waits for a claim that went gets it, too.
    model.world.claims.remove("data-db-1");
    model.change("db-1", |pod| {
        pod.status.get_or_insert_default().phase = Some("Pending".to_owned());
    });
    model.step();
    assert!(model.world.claims.contains("data-db-1"));
}

#[test]
fn on_delete_rolls_nothing() {
    let mut model = Model::new(set("OrderedReady", 2));
    model.set.spec.as_mut().unwrap().update_strategy = hyperplane_objects::read(json!({"type": "OnDelete"})).unwrap();
    model.settle();
    model.image("two");
    assert_eq!(model.settle(), "");
}

proptest! {
    /// However pods come up and die, a rolling update takes at most one of those that serve away.
    #[test]
    fn a_roll_takes_one_at_a_time(seed: u64, replicas in 1_i32..5, is_parallel: bool) {
        let mut random = hyperplane_seams::Random::seeded(seed);
        let mut model = Model::new(set(if is_parallel { "Parallel" } else { "OrderedReady" }, replicas));
        model.settle();
        model.image("two");
        for _ in 0..300 {
            match random.below(3) {
                0 => model.step(),
                1 => model.finish_deletions(),
                _ => {
                    let which = random.below(u64::try_from(replicas).unwrap());
                    model.make_ready(&format!("db-{which}"));
                }
            }
            let serving = model.world.pods.iter().filter(|pod| pods::is_active(pod) && pods::is_ready(pod)).count();
            prop_assert!(serving + 1 >= usize::try_from(replicas).unwrap(), "{:?}", model.log);
        }
        model.settle();
        let status = model.set.status.clone().unwrap();
        prop_assert_eq!(status.updated_replicas, Some(replicas));
        prop_assert_eq!(status.current_revision, status.update_revision);
    }
}
