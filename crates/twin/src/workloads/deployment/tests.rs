//! Upstream's formulas as tables, and that no order of events breaks what a Deployment promises.

use hyperplane_seams::Random;
use proptest::prelude::*;
use serde_json::json;

use super::{
    rollout::{Bounds, Change, decide, new_size, old_sizes},
    sets::Sets,
    *,
};

fn deployment(replicas: i32, surge: &serde_json::Value, unavailable: &serde_json::Value) -> Deployment {
    hyperplane_objects::read(json!({
        "metadata": {"name": "web", "namespace": "n", "uid": "u", "generation": 3},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": "web"}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
        },
    }))
    .unwrap()
}

#[test]
fn surges_are_rounded_up_and_absences_down() {
    let cases = [
        (3, json!("25%"), json!("25%"), (1, 0)),
        (10, json!("25%"), json!("25%"), (3, 2)),
        (1, json!("25%"), json!("25%"), (1, 0)),
        (3, json!(0), json!("25%"), (0, 1)),
        (3, json!(1), json!(0), (1, 0)),
        (3, json!(0), json!(5), (0, 3)),
    ];
    for (replicas, surge, unavailable, expected) in cases {
        let bounds = Bounds::of(&deployment(replicas, &surge, &unavailable));
        assert_eq!(
            (bounds.surge, bounds.unavailable),
            expected,
            "{replicas} {surge} {unavailable}"
        );
    }
}

#[test]
fn sizes_of_sets_follow_upstream() {
    let bounds = |replicas, surge, unavailable| Bounds {
        replicas,
        surge,
        unavailable,
    };
    for (bounds, old, current, expected) in [
        (bounds(10, 0, 1), 10, 0, 0),
        (bounds(10, 2, 1), 10, 0, 2),
        (bounds(10, 2, 1), 8, 2, 4),
        (bounds(10, 5, 0), 0, 0, 10),
        (bounds(4, 1, 0), 0, 7, 4),
    ] {
        assert_eq!(new_size(bounds, old, current), expected, "{bounds:?} {old} {current}");
    }
    for (bounds, new, old, expected) in [
        (bounds(10, 0, 2), (0, 0), vec![(10, 10)], vec![8]),
        (bounds(10, 2, 2), (5, 0), vec![(8, 0)], vec![8]),
        (bounds(10, 2, 2), (5, 5), vec![(8, 0)], vec![3]),
        (bounds(10, 2, 0), (2, 2), vec![(10, 10)], vec![8]),
        (bounds(10, 2, 0), (2, 0), vec![(10, 10)], vec![10]),
        (bounds(10, 2, 0), (2, 2), vec![(3, 0), (7, 7)], vec![1, 7]),
        (bounds(3, 1, 0), (1, 1), vec![(3, 3)], vec![2]),
    ] {
        assert_eq!(old_sizes(bounds, new, &old), expected, "{bounds:?} {new:?} {old:?}");
    }
}

/// A set and its pods, as far as a rollout sees them: how many are wanted, how many are there, how many of those serve,
/// and what its status said last.
#[derive(Clone, Debug)]
struct Model {
    set: ReplicaSet,
    pods: i32,
    serving: i32,
}

impl Model {
    fn wanted(&self) -> i32 {
        super::sets::replicas(&self.set)
    }

    /// The controller of the set makes and removes pods; those that do not serve go first.
    fn sync(&mut self) {
        if self.pods < self.wanted() {
            self.pods += 1;
        } else if self.pods > self.wanted() {
            if self.pods == self.serving {
                self.serving -= 1;
            }
            self.pods -= 1;
        }
    }

    fn report(&mut self) {
        let status = self.set.status.get_or_insert_default();
        status.replicas = self.pods;
        status.ready_replicas = Some(self.serving);
        status.available_replicas = Some(self.serving);
    }
}

fn apply(models: &mut Vec<Model>, changes: Vec<Change>, clock: &mut i64) {
    for change in changes {
        match change {
            Change::Create(set) => {
                let mut set = *set;
                *clock += 1;
                set.metadata.uid = Some(format!("set-{clock}"));
                let created = jiff::Timestamp::from_second(*clock).unwrap();
                set.metadata.creation_timestamp = Some(moment::written(created));
                models.push(Model {
                    set,
                    pods: 0,
                    serving: 0,
                });
            }
            Change::Scale { name, replicas, notes } => {
                let model = models.iter_mut().find(|model| model.set.name_any() == name).unwrap();
                model.set.spec.as_mut().unwrap().replicas = Some(replicas);
                model.set.annotations_mut().extend(notes);
            }
            Change::Delete(set) => models.retain(|model| model.set.name_any() != set.name_any()),
        }
    }
}

fn sets_of(deployment: &Deployment, models: &[Model]) -> Sets {
    Sets::new(
        deployment,
        models.iter().map(|model| Arc::new(model.set.clone())).collect(),
    )
}

proptest! {
    // Each case is some thousand decisions; these many take seconds, and all seeds ever run add up.
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Templates change in the middle of rollouts, and everybody acts in any order: never more pods are wanted than are
    /// allowed (those that are on their way out are not counted, as upstream has it), and never fewer that serve once
    /// there were enough; in the end everything is new.
    #[test]
    fn a_rollout_keeps_its_bounds(seed: u64, replicas in 1_i32..7, surge in 0_i32..4, unavailable in 0_i32..4, templates in 1_usize..4) {
        let mut deployment = deployment(replicas, &json!(surge), &json!(unavailable));
        let bounds = Bounds::of(&deployment);
        let (mut random, mut clock) = (Random::seeded(seed), 0_i64);
        let mut models: Vec<Model> = Vec::new();
        let mut has_served = false;
        let mut template = 0;
        for turn in 0..4000 {
            let which = usize::try_from(random.below(models.len().max(1) as u64)).unwrap();
            match random.below(4) {
                0 => {
                    let sets = sets_of(&deployment, &models);
                    let changes = decide(&deployment, &sets, false);
                    apply(&mut models, changes, &mut clock);
                }
                1 => if let Some(model) = models.get_mut(which) { model.sync() },
                2 => if let Some(model) = models.get_mut(which) && model.serving < model.pods { model.serving += 1 },
                _ => if let Some(model) = models.get_mut(which) { model.report() },
            }
            let serving: i32 = models.iter().map(|model| model.serving).sum();
            let wanted: i32 = models.iter().map(Model::wanted).sum();
            has_served |= serving >= bounds.replicas - bounds.unavailable;
            prop_assert!(!has_served || serving >= bounds.replicas - bounds.unavailable, "{serving} serve: {models:?}");
            prop_assert!(wanted <= bounds.most(), "{wanted} are wanted: {models:?}");
            if turn % 500 == 499 && template + 1 < templates {
                template += 1;
                let spec = deployment.spec.as_mut().unwrap().template.spec.as_mut().unwrap();
                spec.containers[0].image = Some(format!("image-{template}"));
            }
        }
        let sets = sets_of(&deployment, &models);
        prop_assert!(decide(&deployment, &sets, false).is_empty());
        prop_assert_eq!(sets.new.as_ref().map(|set| super::sets::replicas(set)), Some(replicas));
        prop_assert!(sets.old.iter().all(|set| super::sets::replicas(set) == 0));
    }
}

#[test]
fn scaling_in_the_middle_of_a_rollout_shares() {
    let mut deployment = deployment(10, &json!(2), &json!(2));
    let (mut models, mut clock) = (Vec::new(), 0);
    let changes = decide(&deployment, &sets_of(&deployment, &models), false);
    apply(&mut models, changes, &mut clock);
    models[0].pods = 10;
    models[0].serving = 10;
    models[0].report();
    deployment
        .spec
        .as_mut()
        .unwrap()
        .template
        .spec
        .as_mut()
        .unwrap()
        .containers[0]
        .image = Some("new".to_owned());
    let changes = decide(&deployment, &sets_of(&deployment, &models), false);
    apply(&mut models, changes, &mut clock);
    assert_eq!(models.iter().map(Model::wanted).collect::<Vec<_>>(), [10, 2]);
    deployment.spec.as_mut().unwrap().replicas = Some(20);
    let changes = decide(&deployment, &sets_of(&deployment, &models), false);
    apply(&mut models, changes, &mut clock);
    assert_eq!(models.iter().map(Model::wanted).sum::<i32>(), 22);
    assert!(models[0].wanted() > models[1].wanted());
}

#[test]
fn a_status_tells_the_story_of_a_rollout() {
    let mut deployment = deployment(1, &json!(1), &json!(0));
    let (mut models, mut clock) = (Vec::new(), 0);
    let start: jiff::Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
    let tell = |deployment: &mut Deployment, models: &[Model], seconds: i64| {
        let now = moment::after_seconds(start, seconds);
        let (status, wake) = status::status(deployment, &sets_of(deployment, models), now);
        let story: Vec<String> = status
            .conditions
            .iter()
            .flatten()
            .map(|condition| {
                format!(
                    "{}={} {}",
                    condition.type_,
                    condition.status,
                    condition.reason.as_deref().unwrap()
                )
            })
            .collect();
        deployment.status = Some(status);
        (story.join(", "), wake.map(|wake| wake.duration_since(start).as_secs()))
    };
    let changes = decide(&deployment, &sets_of(&deployment, &models), false);
    apply(&mut models, changes, &mut clock);
    let unavailable = "Available=False MinimumReplicasUnavailable";
    assert_eq!(
        tell(&mut deployment, &models, 0),
        (
            format!("{unavailable}, Progressing=True NewReplicaSetCreated"),
            Some(600)
        )
    );
    models[0].pods = 1;
    models[0].report();
    assert_eq!(
        tell(&mut deployment, &models, 10),
        (format!("{unavailable}, Progressing=True ReplicaSetUpdated"), Some(610))
    );
    assert_eq!(
        tell(&mut deployment, &models, 600),
        (format!("{unavailable}, Progressing=True ReplicaSetUpdated"), Some(610))
    );
    assert_eq!(
        tell(&mut deployment, &models, 610),
        (
            format!("{unavailable}, Progressing=False ProgressDeadlineExceeded"),
            None
        )
    );
    models[0].serving = 1;
    models[0].report();
    let done = "Available=True MinimumReplicasAvailable, Progressing=True NewReplicaSetAvailable";
    assert_eq!(tell(&mut deployment, &models, 700), (done.to_owned(), None));
    models[0].serving = 0;
    models[0].report();
    assert_eq!(
        tell(&mut deployment, &models, 800),
        (format!("{unavailable}, Progressing=True NewReplicaSetAvailable"), None)
    );
}

#[test]
fn pods_that_leave_are_counted_over_all_sets() {
    let mut deployment = deployment(1, &json!(1), &json!(0));
    let (mut models, mut clock) = (Vec::new(), 0);
    let start: jiff::Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
    let mut leaving = |counts: &[Option<i32>]| {
        let spec = deployment.spec.as_mut().unwrap().template.spec.as_mut().unwrap();
        spec.containers[0].image = Some(format!("image-{}", counts.len()));
        let changes = decide(&deployment, &sets_of(&deployment, &models), false);
        apply(&mut models, changes, &mut clock);
        assert_eq!(models.len(), counts.len());
        for (model, count) in models.iter_mut().zip(counts) {
            model.set.status.get_or_insert_default().terminating_replicas = *count;
        }
        let (status, _) = status::status(&deployment, &sets_of(&deployment, &models), start);
        status.terminating_replicas
    };
    assert_eq!(leaving(&[None]), Some(0), "unlike other counts, nothing is written");
    assert_eq!(leaving(&[Some(2), None]), Some(2));
    assert_eq!(leaving(&[Some(2), Some(3), Some(0)]), Some(5));
}
