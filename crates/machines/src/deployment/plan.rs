//! What a deployment does next: which set is the current one, how many machines each set is told to have, and which
//! sets are not needed any more. Pure; the result can be applied again without harm.

use std::{collections::BTreeMap, time::Duration};

use hyperplane_api::{
    cluster_api::{
        machine_deployment::{MachineDeployment, MachineDeploymentStrategyType},
        machine_set::{MachineSet, MachineSetSpec},
        replicas::MachineTemplateSpec,
    },
    constants::{annotations, labels, ours},
};
use hyperplane_rollout::{Pace, Rollout, SetState, Strategy, joined, short, step};
use hyperplane_runtime::Failure;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use kube::ResourceExt as _;

use super::{
    dereference::{Seen, SeenSet},
    template::{change_in_place, identity},
};
use crate::{
    counts::{created, is_deleting, set_state, wanted},
    metadata::{label_value, of_pool, pair, revision},
    owners::control_by,
};

/// How many sets without machines are kept, for those who want to go back to their template. Cluster API keeps one.
const REVISIONS_KEPT: usize = 1;
/// The longest name of a set: machines add a dash and five letters, and their names must fit into a DNS label.
const LONGEST_SET_NAME: usize = 57;

/// What is to be done.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// All sets as they are to be, those of older templates first.
    pub(super) sets: Vec<MachineSet>,
    /// The names of sets that are not needed any more.
    pub(super) remove: Vec<String>,
    /// The revision of the current template.
    pub(super) revision: u64,
    /// When to look again although nothing changes.
    pub(super) next: Option<Duration>,
}

pub(super) fn plan(seen: &Seen, now: Timestamp) -> Result<Plan, Failure> {
    let deployment = seen.deployment.as_ref();
    let desired = wanted(deployment.spec.replicas);
    let strategy = strategy(deployment, desired)?;
    let moment = Moment::of(deployment, now);
    let current = current(seen, moment.passed);
    // A rollout that is held begins no set: the newest one stands for it.
    let is_held = strategy == Strategy::Held;
    let position = current.or_else(|| newest(seen).filter(|_| is_held));
    let old: Vec<&SeenSet> = others(seen, position).collect();
    let states: Vec<SetState> = old.iter().map(|seen| set_state(&seen.set, &seen.machines)).collect();
    let new = position.map(|position| &seen.sets[position]);
    let next = step(&Rollout {
        desired,
        previous_desired: previous_desired(seen, desired),
        strategy,
        new: new.map(|seen| set_state(&seen.set, &seen.machines)).unwrap_or_default(),
        old: &states,
    });
    let builder = Builder {
        deployment,
        desired,
        strategy,
    };
    let revision = next_revision(new, &old);
    let mut sets: Vec<MachineSet> = old
        .iter()
        .zip(&next.old)
        .filter(|(seen, _)| !is_deleting(&seen.set.metadata))
        .map(|(seen, replicas)| builder.old(&seen.set, *replicas))
        .collect();
    sets.extend(match new {
        Some(seen) if current.is_some() => Some(builder.current(&seen.set, next.new, revision)),
        Some(seen) => Some(builder.old(&seen.set, next.new)),
        None if is_held => None,
        None => Some(builder.fresh(moment.passed, next.new, revision)),
    });
    let remove = superfluous(&old, &next.old);
    sets.retain(|set| !remove.contains(&set.name_any()));
    Ok(Plan {
        sets,
        remove,
        revision,
        next: moment.left,
    })
}

/// The position of the set of the current template: the oldest one that makes the same machines.
pub(super) fn current(seen: &Seen, passed: Option<Timestamp>) -> Option<usize> {
    let wanted = identity(&seen.deployment.spec.template, None);
    seen.sets.iter().position(|seen| {
        let metadata = &seen.set.metadata;
        !is_deleting(metadata)
            && passed.is_none_or(|passed| created(metadata) >= passed)
            && identity(&seen.set.spec.template, None) == wanted
    })
}

/// The position of the set with the highest revision.
fn newest(seen: &Seen) -> Option<usize> {
    let sets = seen.sets.iter().enumerate();
    let live = sets.filter(|(_, seen)| !is_deleting(&seen.set.metadata));
    live.max_by_key(|(_, seen)| revision(&seen.set))
        .map(|(position, _)| position)
}

/// All sets but the current one, the oldest first.
pub(super) fn others(seen: &Seen, position: Option<usize>) -> impl Iterator<Item = &SeenSet> {
    let sets = seen.sets.iter().enumerate();
    sets.filter(move |(other, _)| Some(*other) != position)
        .map(|(_, seen)| seen)
}

/// The moment behind which machines have to be made: whether it has passed, or when it will have.
pub(super) struct Moment {
    pub(super) passed: Option<Timestamp>,
    left: Option<Duration>,
}

impl Moment {
    pub(super) fn of(deployment: &MachineDeployment, now: Timestamp) -> Self {
        let rollout = deployment.spec.rollout.as_ref();
        let after = rollout.and_then(|rollout| rollout.after.as_ref()).map(|after| after.0);
        Self {
            passed: after.filter(|after| *after <= now),
            left: after
                .filter(|after| *after > now)
                .map(|after| after.duration_since(now).unsigned_abs()),
        }
    }
}

/// How machines are replaced.
pub(super) fn strategy(deployment: &MachineDeployment, desired: u32) -> Result<Strategy, Failure> {
    if deployment.spec.paused == Some(true) {
        return Ok(Strategy::Held);
    }
    let rollout = deployment.spec.rollout.as_ref();
    let given = rollout.and_then(|rollout| rollout.strategy.as_ref());
    let bounds = given.and_then(|given| given.rolling_update.as_ref());
    match given.map(|given| &given.r#type) {
        Some(MachineDeploymentStrategyType::OnDelete) => Ok(Strategy::OnDelete),
        None | Some(MachineDeploymentStrategyType::RollingUpdate) => {
            let surge = bounds.and_then(|bounds| bounds.max_surge.as_ref());
            let unavailable = bounds.and_then(|bounds| bounds.max_unavailable.as_ref());
            let pace = Pace::new(surge, unavailable, desired).map_err(|error| {
                let field = "spec.rollout.strategy.rollingUpdate";
                Failure::user(field, error.to_string(), "set maxSurge and maxUnavailable to such")
            })?;
            Ok(Strategy::RollingUpdate(pace))
        }
        Some(MachineDeploymentStrategyType::Unrecognised(word)) => Err(Failure::user(
            "spec.rollout.strategy.type",
            format!("{word} is no strategy that this manager knows"),
            "set it to RollingUpdate or OnDelete",
        )),
    }
}

/// How many machines were wanted when sets with machines were last scaled; another number than now if any set says so.
fn previous_desired(seen: &Seen, desired: u32) -> Option<u32> {
    let said: Vec<u32> = seen
        .sets
        .iter()
        .filter(|seen| wanted(seen.set.spec.replicas) > 0)
        .filter_map(|seen| annotations::DESIRED_REPLICAS.of(seen.set.as_ref())?.parse().ok())
        .collect();
    let other = said.iter().find(|said| **said != desired);
    other.or_else(|| said.first()).copied()
}

fn next_revision(new: Option<&SeenSet>, old: &[&SeenSet]) -> u64 {
    let highest = old.iter().map(|seen| revision(&seen.set)).max().unwrap_or_default();
    let current = new.map(|seen| revision(&seen.set)).unwrap_or_default();
    if current > highest {
        current
    } else {
        highest.saturating_add(1)
    }
}

/// Sets that have no machines and shall have none, beyond those that are kept.
fn superfluous(old: &[&SeenSet], replicas: &[u32]) -> Vec<String> {
    let mut empty: Vec<&MachineSet> = old
        .iter()
        .zip(replicas)
        .filter(|(seen, replicas)| **replicas == 0 && seen.machines.is_empty() && wanted(seen.set.spec.replicas) == 0)
        .map(|(seen, _)| seen.set.as_ref())
        .filter(|set| !is_deleting(&set.metadata))
        .collect();
    empty.sort_by_key(|set| std::cmp::Reverse((revision(set), set.name_any())));
    empty
        .into_iter()
        .skip(REVISIONS_KEPT)
        .map(kube::ResourceExt::name_any)
        .collect()
}

/// Makes sets as they are to be.
struct Builder<'a> {
    deployment: &'a MachineDeployment,
    desired: u32,
    strategy: Strategy,
}

impl Builder<'_> {
    /// A set of an older template: only what changes in place follows the deployment.
    fn old(&self, live: &MachineSet, replicas: u32) -> MachineSet {
        let mut template = live.spec.template.clone();
        change_in_place(&mut template, &self.deployment.spec.template);
        let hash = template_hash(live);
        let selector = live.spec.selector.clone();
        let mut set = self.set(&live.name_any(), hash.as_deref(), selector, template, replicas);
        set.annotations_mut()
            .extend([pair(annotations::REVISION, &revision(live).to_string())]);
        if self.strategy == Strategy::OnDelete {
            // What is deleted comes back in the current set.
            set.annotations_mut()
                .extend([pair(annotations::DISABLE_MACHINE_CREATE, "true")]);
        }
        set
    }

    /// The set of the current template, which exists.
    fn current(&self, live: &MachineSet, replicas: u32, revision: u64) -> MachineSet {
        let hash = template_hash(live);
        let template = self.template(hash.as_deref());
        let selector = live.spec.selector.clone();
        let mut set = self.set(&live.name_any(), hash.as_deref(), selector, template, replicas);
        set.annotations_mut()
            .extend([pair(annotations::REVISION, &revision.to_string())]);
        set
    }

    /// The set of the current template, which does not exist yet. Its name follows from the template, so that whoever
    /// makes it a second time meets the same object.
    fn fresh(&self, after: Option<Timestamp>, replicas: u32, revision: u64) -> MachineSet {
        let hash = identity(&self.deployment.spec.template, after);
        let hash = short(&hash);
        let name = joined(&self.deployment.name_any(), hash, LONGEST_SET_NAME);
        let mut selector = self.deployment.spec.selector.clone();
        selector
            .match_labels
            .get_or_insert_default()
            .insert(labels::CAPI_MACHINE_TEMPLATE_HASH.as_str().to_owned(), hash.to_owned());
        let mut set = self.set(&name, Some(hash), selector, self.template(Some(hash)), replicas);
        set.annotations_mut()
            .extend([pair(annotations::REVISION, &revision.to_string())]);
        set
    }

    fn set(
        &self,
        name: &str,
        hash: Option<&str>,
        selector: LabelSelector,
        template: MachineTemplateSpec,
        replicas: u32,
    ) -> MachineSet {
        let spec = &self.deployment.spec;
        let mut set = MachineSet::new(
            name,
            MachineSetSpec {
                cluster_name: spec.cluster_name.clone(),
                replicas: Some(i32::try_from(replicas).unwrap_or(i32::MAX)),
                selector,
                template,
                machine_naming: spec.machine_naming.clone(),
                deletion: spec.deletion.clone(),
            },
        );
        set.metadata = self.metadata(name, hash);
        set
    }

    fn metadata(&self, name: &str, hash: Option<&str>) -> ObjectMeta {
        let surge = match self.strategy {
            Strategy::RollingUpdate(pace) if self.desired > 0 => pace.surge,
            Strategy::RollingUpdate(_) | Strategy::OnDelete | Strategy::Held => 0,
        };
        let mut notes = of_pool(self.deployment);
        notes.extend([
            pair(annotations::DESIRED_REPLICAS, &self.desired.to_string()),
            pair(
                annotations::MAX_REPLICAS,
                &self.desired.saturating_add(surge).to_string(),
            ),
        ]);
        let mut marks = self.labels(hash);
        // A set that loses its owner is found again by the selector.
        let selector = &self.deployment.spec.selector;
        marks.extend(selector.match_labels.clone().unwrap_or_default());
        marks.extend([ours::label()]);
        ObjectMeta {
            name: Some(name.to_owned()),
            namespace: self.deployment.namespace(),
            labels: Some(marks),
            annotations: Some(notes),
            owner_references: control_by(self.deployment).map(|owner| vec![owner]),
            ..ObjectMeta::default()
        }
    }

    /// The template of the deployment, with the labels by which its sets are told apart.
    fn template(&self, hash: Option<&str>) -> MachineTemplateSpec {
        let mut template = self.deployment.spec.template.clone();
        let metadata = template.metadata.get_or_insert_default();
        metadata.labels.extend(self.labels(hash));
        template
    }

    fn labels(&self, hash: Option<&str>) -> BTreeMap<String, String> {
        let cluster = self.deployment.spec.cluster_name.clone();
        let deployment = label_value(&self.deployment.name_any());
        let hash = hash.map(|hash| (labels::CAPI_MACHINE_TEMPLATE_HASH.as_str().to_owned(), hash.to_owned()));
        let names = [
            (labels::CAPI_CLUSTER_NAME.as_str().to_owned(), cluster),
            (labels::CAPI_DEPLOYMENT_NAME.as_str().to_owned(), deployment),
        ];
        names.into_iter().chain(hash).collect()
    }
}

fn template_hash(set: &MachineSet) -> Option<String> {
    set.labels().get(labels::CAPI_MACHINE_TEMPLATE_HASH.as_str()).cloned()
}
