//! Keys that come and go, one step at a time, and the API servers that live through it.

use std::sync::Arc;

use k8s_openapi::{
    ByteString,
    api::{
        apps::v1::{Deployment, DeploymentStatus},
        core::v1::Secret,
    },
};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::support::{World, add_secret};

const REPLICAS: i32 = 3;

/// A world with these keys, each a number; the first is active.
fn encrypted(active: u8, before: Option<u8>) -> World {
    let mut keys = json!({"activeKey": {"name": "one"}});
    if before.is_some() {
        keys["backupKey"] = json!({"name": "two"});
    }
    let encryption = json!({"type": "aescbc", "aescbc": keys});
    let mut world = World::with(&json!({"spec": {"secretEncryption": encryption}}));
    give(&mut world, copies::ENCRYPTION_KEY, keys::ENCRYPTION_KEY, &[active; 32]);
    give(
        &mut world,
        copies::ENCRYPTION_KEY_BEFORE,
        keys::ENCRYPTION_KEY,
        &[before.unwrap_or(0); 32],
    );
    world
}

fn give(world: &mut World, name: &str, key: &str, value: &[u8]) {
    let object = Secret {
        data: Some([(key.to_owned(), ByteString(value.to_vec()))].into()),
        ..Secret::default()
    };
    world.objects.secrets.insert(name.to_owned(), Arc::new(object));
}

/// Keys by their numbers, and 0 for plain text.
fn providers(numbers: &[u8]) -> Vec<Provider> {
    let provider = |number: &u8| match number {
        0 => Provider::Identity,
        number => Provider::Key(vec![*number; 32]),
    };
    numbers.iter().map(provider).collect()
}

fn numbers(text: &str) -> Vec<u8> {
    let providers = parse(text.as_bytes()).expect("it is ours");
    let number = |provider: &Provider| match provider {
        Provider::Identity => 0,
        Provider::Key(key) => key[0],
    };
    providers.iter().map(number).collect()
}

/// The Deployment of the API server, made with these keys, of whose pods so many are new.
fn deployment(told: Option<(&[u8], u64)>, updated: i32) -> Workload {
    let mut workload = Workload::Deployment(Arc::new(Deployment {
        status: Some(DeploymentStatus {
            observed_generation: Some(1),
            replicas: Some(REPLICAS),
            updated_replicas: Some(updated),
            available_replicas: Some(REPLICAS),
            ..DeploymentStatus::default()
        }),
        ..Deployment::default()
    }));
    workload.meta_mut().generation = Some(1);
    if let Workload::Deployment(deployment) = &mut workload {
        Arc::make_mut(deployment).spec.get_or_insert_default().replicas = Some(REPLICAS);
    }
    if let Some((told, step)) = told {
        let configuration = configuration(told, step);
        let meta = workload.template_mut().metadata.get_or_insert_default();
        meta.annotations
            .get_or_insert_default()
            .extend(configuration.annotations());
    }
    workload
}

fn configuration(told: &[u8], step: u64) -> Configuration {
    let text = text(&providers(told));
    Configuration { text, step }
}

fn write(world: &mut World, told: &[u8], step: u64) {
    let configuration = configuration(told, step);
    let key = keys::ENCRYPTION_CONFIGURATION;
    give(world, SECRET, key, configuration.text.as_bytes());
    let secret = world.objects.secrets.get_mut(SECRET).expect("it was given");
    Arc::make_mut(secret).metadata.annotations = Some(configuration.step_annotation().into_iter().collect());
}

/// Keys by their numbers, and how many others there were before.
type Told = (&'static [u8], u64);

/// What it is, active and backup key, what the Secret holds, what the template was made with (empty for plain text), how
/// many pods are of it, and what comes next, or a word of the refusal.
type Row = (
    &'static str,
    (u8, Option<u8>),
    Option<Told>,
    Option<Told>,
    i32,
    Result<Told, &'static str>,
);

const ALL: i32 = REPLICAS;

#[rustfmt::skip]
const ROWS: &[Row] = &[
    ("new", (2, None), None, None, ALL, Ok((&[2, 0], 0))),
    ("new with a backup", (2, Some(1)), None, None, ALL, Ok((&[2, 1, 0], 0))),
    ("written only", (2, None), Some((&[1, 0], 0)), None, ALL, Ok((&[1, 0], 0))),
    ("plain before", (2, None), None, Some((&[], 0)), ALL, Ok((&[0, 2], 0))),
    ("plain read", (2, None), Some((&[0, 2], 0)), Some((&[0, 2], 0)), ALL, Ok((&[2, 0], 1))),
    ("plain rolls", (2, None), Some((&[0, 2], 0)), Some((&[0, 2], 0)), 1, Ok((&[0, 2], 0))),
    ("at rest", (1, None), Some((&[1, 0], 0)), Some((&[1, 0], 0)), ALL, Ok((&[1, 0], 0))),
    ("begin", (2, Some(1)), Some((&[1, 0], 0)), Some((&[1, 0], 0)), ALL, Ok((&[1, 2, 0], 1))),
    ("first to roll", (2, Some(1)), Some((&[1, 0], 0)), Some((&[1, 0], 0)), 2, Ok((&[1, 0], 0))),
    ("reads here", (2, Some(1)), Some((&[1, 2, 0], 1)), Some((&[1, 2, 0], 1)), 2, Ok((&[1, 2, 0], 1))),
    ("reads everywhere", (2, Some(1)), Some((&[1, 2, 0], 1)), Some((&[1, 2, 0], 1)), ALL, Ok((&[2, 1, 0], 2))),
    ("not told yet", (2, Some(1)), Some((&[2, 1, 0], 2)), Some((&[1, 2, 0], 1)), ALL, Ok((&[2, 1, 0], 2))),
    ("old cache", (2, Some(1)), Some((&[1, 0], 0)), Some((&[1, 2, 0], 1)), ALL, Err("not been seen")),
    ("there and back", (2, Some(1)), Some((&[1, 0], 2)), Some((&[1, 0], 0)), ALL, Ok((&[1, 0], 2))),
    ("done", (2, Some(1)), Some((&[2, 1, 0], 2)), Some((&[2, 1, 0], 2)), ALL, Ok((&[2, 1, 0], 2))),
    ("dropped too early", (2, None), Some((&[2, 1, 0], 2)), Some((&[2, 1, 0], 2)), 1, Ok((&[2, 1, 0], 2))),
    ("dropped", (2, None), Some((&[2, 1, 0], 2)), Some((&[2, 1, 0], 2)), ALL, Ok((&[2, 0], 3))),
    ("no backup", (2, None), Some((&[1, 0], 0)), Some((&[1, 0], 0)), ALL, Err("backupKey")),
    ("third key", (3, Some(2)), Some((&[1, 2, 0], 1)), Some((&[1, 2, 0], 1)), ALL, Err("backupKey")),
    ("back again", (1, Some(2)), Some((&[1, 2, 0], 1)), Some((&[1, 2, 0], 1)), ALL, Ok((&[1, 2, 0], 1))),
    ("lost, known", (2, Some(1)), None, Some((&[1, 2, 0], 1)), ALL, Ok((&[1, 2, 0], 2))),
    ("lost, unknown", (2, None), None, Some((&[1, 0], 0)), ALL, Err("give them")),
];

#[test]
fn a_new_key_is_read_everywhere_before_it_writes() {
    for (what, keys, written, template, updated, expected) in ROWS.iter().copied() {
        let mut world = encrypted(keys.0, keys.1);
        if let Some((written, step)) = written {
            write(&mut world, written, step);
        }
        let live = template.map(|told| deployment((!told.0.is_empty()).then_some(told), updated));
        let (found, waits) = next(&world.inputs(), live.as_ref());
        let found = found.map(|found| (numbers(&found.text), found.step));
        match expected {
            Ok((list, step)) => assert_eq!((found, waits), (Some((list.to_vec(), step)), vec![]), "{what}"),
            Err(word) => {
                assert_eq!(found, None, "{what}");
                assert!(waits.join("; ").contains(word), "{what}: {waits:?}");
            }
        }
    }
}

#[test]
fn replicas_that_are_still_ending_count() {
    let mut world = encrypted(2, Some(1));
    write(&mut world, &[1, 2, 0], 1);
    let mut live = deployment(Some((&[1, 2, 0], 1)), REPLICAS);
    if let Workload::Deployment(deployment) = &mut live {
        Arc::make_mut(deployment)
            .status
            .get_or_insert_default()
            .terminating_replicas = Some(1);
    }
    let (found, _) = next(&world.inputs(), Some(&live));
    assert_eq!(found.map(|found| numbers(&found.text)), Some(vec![1, 2, 0]));
}

#[test]
fn encryption_is_not_taken_away_from_what_is_encrypted() {
    let world = World::with(&json!({}));
    let (found, waits) = next(&world.inputs(), Some(&deployment(None, REPLICAS)));
    assert!(found.is_none() && waits.is_empty(), "{waits:?}");
    let (found, waits) = next(&world.inputs(), Some(&deployment(Some((&[1, 0], 0)), REPLICAS)));
    assert!(found.is_none());
    assert!(waits.join("; ").contains("secretEncryption is gone"), "{waits:?}");
}

#[test]
fn how_far_a_rotation_is_can_be_told() {
    let told = |keys: (u8, Option<u8>), told: &[u8], updated| {
        let mut world = encrypted(keys.0, keys.1);
        write(&mut world, told, 1);
        let judgement = encryption_up_to_date(&world.inputs(), Some(&deployment(Some((told, 1)), updated)));
        let judgement = judgement.expect("it is encrypted");
        (judgement.holds, judgement.reason)
    };
    let all = REPLICAS;
    assert_eq!(told((2, Some(1)), &[1, 0], all), (false, "ReadOnlyRolloutInProgress"));
    assert_eq!(told((2, Some(1)), &[1, 2, 0], 1), (false, "ReadOnlyRolloutInProgress"));
    assert_eq!(told((2, Some(1)), &[1, 2, 0], all), (false, "WritePromotionInProgress"));
    assert_eq!(told((2, Some(1)), &[2, 1, 0], 1), (false, "WritePromotionInProgress"));
    assert_eq!(told((2, Some(1)), &[2, 1, 0], all), (true, "AsExpected"));
    assert_eq!(told((2, None), &[1, 0], all), (false, "ReEncryptionFailed"));
    assert_eq!(encryption_up_to_date(&World::with(&json!({})).inputs(), None), None);
}

#[test]
fn a_key_that_is_missing_or_of_no_use_is_waited_for() {
    let world = encrypted(1, Some(2));
    assert!(waits(&world.inputs()).is_empty());
    let mut without = world.clone();
    without.objects.secrets.remove("aescbc-backup-key");
    assert_eq!(waits(&without.inputs()), ["Secret aescbc-backup-key does not exist"]);
    assert!(next(&without.inputs(), None).0.is_none());
    let judgement = encryption_up_to_date(&without.inputs(), None).expect("it is encrypted");
    assert!(
        !judgement.holds && judgement.message.contains("aescbc-backup-key"),
        "{judgement:?}"
    );
    let mut short = world.clone();
    add_secret(&mut short.objects, "aescbc-active-key", &["key"]);
    let said = waits(&short.inputs()).join("; ");
    assert!(said.contains("bytes under key: give 16, 24 or 32"), "{said}");
    let other = World::with(&json!({"spec": {"secretEncryption": {"type": "kms"}}}));
    assert!(waits(&other.inputs()).join("; ").contains("choose aescbc"));
}

#[test]
fn the_configuration_is_about_secrets_alone_and_names_keys_by_what_they_are() {
    let (found, _) = next(&encrypted(1, Some(2)).inputs(), None);
    let file: Value = serde_json::from_str(&found.expect("the keys are there").text).expect("it is JSON");
    let resources = &file["resources"][0];
    assert_eq!(resources["resources"], json!(["secrets"]));
    let name = |index: usize| resources["providers"][index]["aescbc"]["keys"][0]["name"].clone();
    assert_ne!(name(0), name(1));
    assert!(
        name(0)
            .as_str()
            .is_some_and(|name| name.starts_with("key-") && name.len() == 12)
    );
}

/// Something that happens around the API servers.
#[derive(Clone, Debug)]
enum Event {
    /// Somebody chooses other keys.
    Choose(u8, Option<u8>),
    /// The component is looked at: the Secret is written, and after it the workload, unless the process ends between.
    Reconcile { is_cut_off: bool },
    /// A pod is exchanged for one of the newest template.
    Roll(usize),
    /// A container starts again in its old pod, and reads what the Secret holds by now.
    Restart(usize),
}

fn event() -> impl Strategy<Value = Event> {
    let pod = 0..usize::try_from(REPLICAS).expect("it is small");
    prop_oneof![
        1 => (1..4_u8, prop::option::of(1..4_u8)).prop_map(|(active, before)| Event::Choose(active, before)),
        6 => prop::bool::weighted(0.2).prop_map(|is_cut_off| Event::Reconcile { is_cut_off }),
        12 => pod.clone().prop_map(Event::Roll),
        2 => pod.prop_map(Event::Restart),
    ]
}

/// What is on the management cluster; lists of keys as numbers, the writing one first.
struct Servers {
    chosen: (u8, Option<u8>),
    written: Option<(Vec<u8>, u64)>,
    template: Option<(Vec<u8>, u64)>,
    pods: Vec<Vec<u8>>,
    is_new: Vec<bool>,
}

impl Servers {
    fn happen(&mut self, event: &Event) {
        match event {
            Event::Choose(active, before) => self.chosen = (*active, *before),
            Event::Reconcile { is_cut_off } => self.reconcile(*is_cut_off),
            // A pod of a template without keys mounts no Secret.
            Event::Roll(pod) => {
                let mounted = self.template.as_ref().and(self.written.clone());
                self.pods[*pod] = mounted.map_or_else(|| vec![0], |(list, _)| list);
                self.is_new[*pod] = true;
            }
            Event::Restart(pod) if self.pods[*pod] != [0] => {
                self.pods[*pod] = self.written.clone().map_or_else(|| vec![0], |(list, _)| list);
            }
            Event::Restart(_) => {}
        }
    }

    fn reconcile(&mut self, is_cut_off: bool) {
        let mut world = encrypted(self.chosen.0, self.chosen.1);
        if let Some((written, step)) = &self.written {
            write(&mut world, written, *step);
        }
        let updated = self.is_new.iter().filter(|is_new| **is_new).count();
        let updated = i32::try_from(updated).expect("it is small");
        let template = self.template.as_ref().map(|(list, step)| (list.as_slice(), *step));
        let live = deployment(template, updated);
        let (Some(found), _) = next(&world.inputs(), Some(&live)) else {
            return;
        };
        let list = numbers(&found.text);
        let given = [Some(self.chosen.0), self.chosen.1];
        let kept = self
            .written
            .iter()
            .flat_map(|(list, _)| list)
            .filter(|key| given.contains(&Some(**key)));
        for key in kept {
            assert!(
                list.contains(key),
                "{key} is given and in use, and disappears: {list:?}"
            );
        }
        let told = Some((list, found.step));
        self.written.clone_from(&told);
        if !is_cut_off && self.template != told {
            self.template = told;
            self.is_new.fill(false);
        }
    }

    /// Whether every server can read what any of them writes.
    fn understand_each_other(&self) -> bool {
        let mut written = self.pods.iter().map(|pod| pod[0]);
        written.all(|key| self.pods.iter().all(|pod| pod.contains(&key)))
    }
}

proptest! {
    #[test]
    fn no_server_writes_what_another_cannot_read(
        is_plain in any::<bool>(),
        events in prop::collection::vec(event(), 1..80),
    ) {
        let first = if is_plain { vec![0] } else { vec![1, 0] };
        let told = (!is_plain).then(|| (first.clone(), 0));
        let mut servers = Servers {
            chosen: (1, None),
            written: told.clone(),
            template: told,
            pods: vec![first; 3],
            is_new: vec![true; 3],
        };
        for event in &events {
            servers.happen(event);
            prop_assert!(servers.understand_each_other(), "after {event:?}: {:?}", servers.pods);
        }
        // Whatever happened before, the active key writes in the end, if what it follows is given.
        let writing = servers.written.as_ref().map_or(0, |(list, _)| list[0]);
        let before = (writing != 0 && writing != 3).then_some(writing);
        servers.happen(&Event::Choose(3, before));
        for _ in 0..6 {
            servers.happen(&Event::Reconcile { is_cut_off: false });
            for pod in 0..3 {
                servers.happen(&Event::Roll(pod));
                prop_assert!(servers.understand_each_other());
            }
        }
        prop_assert_eq!(servers.written.map(|(list, _)| list[0]), Some(3));
    }
}
