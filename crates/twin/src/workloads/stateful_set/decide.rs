//! What happens next to a StatefulSet (upstream: pkg/controller/statefulset/stateful_set_control.go): missing pods
//! first, in order; then those that are too many, from the end; then those of an older template, from the end, one at a
//! time. Pure.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use jiff::Timestamp;
use k8s_openapi::api::{
    apps::v1::{ControllerRevision, StatefulSet, StatefulSetStatus},
    core::v1::{PersistentVolumeClaim, Pod, PodTemplateSpec},
};
use kube::{Resource, ResourceExt};

use super::pod;
use crate::{moment, number::count, pods, workloads::revisions};

/// How many old templates are kept where nobody says.
const HISTORY: i32 = 10;
/// How often it is looked whether a claim has gone, which is announced to nobody here.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// What a decision depends on besides the set.
pub(super) struct World {
    /// The pods of the set.
    pub(super) pods: Vec<Arc<Pod>>,
    /// Its templates.
    pub(super) revisions: Vec<Arc<ControllerRevision>>,
    /// The names of the claims of its namespace.
    pub(super) claims: BTreeSet<String>,
    /// The names of those of them that are being deleted.
    pub(super) leaving: BTreeSet<String>,
    /// The time.
    pub(super) now: Timestamp,
}

/// One write.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Action {
    /// A template gets a name.
    Keep(Box<ControllerRevision>),
    /// A template is not needed any more.
    Forget(Arc<ControllerRevision>),
    /// A claim is made.
    Claim(Box<PersistentVolumeClaim>),
    /// A pod is made.
    Create(Box<Pod>),
    /// A pod goes.
    Delete(Arc<Pod>),
}

/// What to do and what to say.
pub(super) struct Decision {
    pub(super) actions: Vec<Action>,
    pub(super) status: StatefulSetStatus,
    pub(super) wake: Option<Timestamp>,
}

/// The next writes and the status.
pub(super) fn decide(set: &StatefulSet, world: &World) -> Decision {
    let plan = Plan::new(set, world);
    let mut actions = plan.revision();
    actions.extend(plan.pods());
    actions.extend(plan.history());
    Decision {
        actions,
        status: plan.status(),
        wake: plan.wake(),
    }
}

struct Plan<'a> {
    set: &'a StatefulSet,
    world: &'a World,
    template: PodTemplateSpec,
    /// The names of the template that pods move away from and of the one that they move to.
    current: String,
    update: String,
    first: i32,
    replicas: i32,
    partition: Option<i32>,
    seconds: i32,
    is_parallel: bool,
}

impl<'a> Plan<'a> {
    fn new(set: &'a StatefulSet, world: &'a World) -> Self {
        let spec = set.spec.clone().unwrap_or_default();
        let status = set.status.clone().unwrap_or_default();
        let update = revisions::name(
            &set.name_any(),
            &spec.template,
            status.collision_count.unwrap_or_default(),
        );
        let current = status
            .current_revision
            .filter(|name| revisions::template(&world.revisions, name).is_some());
        let strategy = spec.update_strategy.and_then(|strategy| strategy.rolling_update);
        Self {
            current: current.unwrap_or_else(|| update.clone()),
            update,
            first: spec.ordinals.and_then(|ordinals| ordinals.start).unwrap_or_default(),
            replicas: spec.replicas.unwrap_or(1),
            partition: strategy.and_then(|strategy| strategy.partition),
            seconds: spec.min_ready_seconds.unwrap_or_default(),
            is_parallel: spec.pod_management_policy.as_deref() == Some("Parallel"),
            template: spec.template,
            set,
            world,
        }
    }

    /// The name of the template, if it has none yet.
    fn revision(&self) -> Vec<Action> {
        if self
            .world
            .revisions
            .iter()
            .any(|revision| revision.name_any() == self.update)
        {
            return Vec::new();
        }
        let namespace = self.set.namespace().unwrap_or_default();
        let owner = self.set.controller_owner_ref(&());
        let revision = revisions::build((&namespace, &self.update), &self.template, owner, &self.world.revisions);
        vec![Action::Keep(Box::new(revision))]
    }

    fn pods(&self) -> Vec<Action> {
        let mut actions = Vec::new();
        for ordinal in self.ordinals() {
            let (mut more, goes_on) = self.ordinal(ordinal);
            actions.append(&mut more);
            if !goes_on {
                return actions;
            }
        }
        for pod in self.condemned() {
            if !pods::is_terminating(pod) {
                // The last goes first, and alone, and only while all before it are well.
                if !self.is_parallel && !self.are_well_before(pod) {
                    return actions;
                }
                actions.push(Action::Delete(Arc::clone(pod)));
            }
            if !self.is_parallel {
                return actions;
            }
        }
        actions.extend(self.outdated().map(Action::Delete));
        actions
    }

    fn ordinals(&self) -> std::ops::Range<i32> {
        self.first..self.first + self.replicas
    }

    fn find(&self, ordinal: i32) -> Option<&Arc<Pod>> {
        let name = pod::name(self.set, ordinal);
        self.world.pods.iter().find(|pod| pod.name_any() == name)
    }

    /// What the pod of an ordinal needs, and whether the next one may have its turn.
    fn ordinal(&self, ordinal: i32) -> (Vec<Action>, bool) {
        match self.find(ordinal) {
            // A pod never gets the data that is about to go (upstream refuses to use such a claim).
            None if self.is_held(ordinal) => (Vec::new(), self.is_parallel),
            None => (self.create(ordinal), self.is_parallel),
            Some(pod) if pods::is_over(pod) && !pods::is_terminating(pod) => {
                (vec![Action::Delete(Arc::clone(pod))], self.is_parallel)
            }
            // A claim that went while its pod waited would never come otherwise; upstream makes it then, too.
            Some(pod) if pods::phase(pod) == "Pending" && !pods::is_terminating(pod) => {
                (self.claim(ordinal), self.is_parallel)
            }
            Some(pod) => (Vec::new(), self.is_parallel || self.is_available(pod)),
        }
    }

    /// Whether a claim of an ordinal is on its way out.
    fn is_held(&self, ordinal: i32) -> bool {
        let mut claims = pod::claims(self.set, ordinal).into_iter();
        claims.any(|claim| self.world.leaving.contains(&claim.name_any()))
    }

    /// Makes the claims of an ordinal that are not there.
    fn claim(&self, ordinal: i32) -> Vec<Action> {
        let claims = pod::claims(self.set, ordinal).into_iter();
        let missing = claims.filter(|claim| !self.world.claims.contains(&claim.name_any()));
        missing.map(|claim| Action::Claim(Box::new(claim))).collect()
    }

    fn create(&self, ordinal: i32) -> Vec<Action> {
        let mut actions = self.claim(ordinal);
        let kept = self
            .needs_current(ordinal)
            .then(|| revisions::template(&self.world.revisions, &self.current));
        let pod = match kept.flatten() {
            Some(template) => pod::build(self.set, ordinal, &template, &self.current),
            None => pod::build(self.set, ordinal, &self.template, &self.update),
        };
        actions.push(Action::Create(Box::new(pod)));
        actions
    }

    /// Whether a pod that has to be made again is made of the template that pods move away from. Upstream asks the
    /// status how many are left of it; those that are there tell the same without being behind.
    fn needs_current(&self, ordinal: i32) -> bool {
        self.is_rolling() && ordinal < self.first + self.partition.unwrap_or_else(|| self.left(&self.current))
    }

    /// How many pods there are of a template.
    fn left(&self, revision: &str) -> i32 {
        let of = |pod: &&Arc<Pod>| pod::revision(pod) == revision && !pods::is_terminating(pod);
        count(self.world.pods.iter().filter(of).count())
    }

    fn is_rolling(&self) -> bool {
        let strategy = self.set.spec.as_ref().and_then(|spec| spec.update_strategy.as_ref());
        strategy.and_then(|strategy| strategy.type_.as_deref()) != Some("OnDelete")
    }

    /// Pods beyond the number that is wanted, the last one first.
    fn condemned(&self) -> Vec<&Arc<Pod>> {
        let range = self.ordinals();
        let mut condemned: Vec<&Arc<Pod>> = self
            .world
            .pods
            .iter()
            .filter(|pod| pod::ordinal(pod).is_none_or(|ordinal| !range.contains(&ordinal)))
            .collect();
        condemned.sort_by_key(|pod| std::cmp::Reverse(pod::ordinal(pod)));
        condemned
    }

    fn are_well_before(&self, pod: &Pod) -> bool {
        let own = pod::ordinal(pod);
        let mut before = self.world.pods.iter().filter(|other| pod::ordinal(other) < own);
        before.all(|other| self.is_available(other))
    }

    /// The next pod of an older template, the last one first, if all later ones are well.
    fn outdated(&self) -> Option<Arc<Pod>> {
        if !self.is_rolling() {
            return None;
        }
        let from = self.first + self.partition.unwrap_or_default();
        for ordinal in (from..self.first + self.replicas).rev() {
            let pod = self.find(ordinal)?;
            if pods::is_terminating(pod) {
                return None;
            }
            if pod::revision(pod) != self.update {
                return Some(Arc::clone(pod));
            }
            if !self.is_available(pod) {
                return None;
            }
        }
        None
    }

    fn is_available(&self, pod: &Pod) -> bool {
        pods::is_active(pod) && pods::is_available(pod, self.seconds, self.world.now)
    }

    fn wake(&self) -> Option<Timestamp> {
        let moments = self
            .world
            .pods
            .iter()
            .filter_map(|pod| pods::available_at(pod, self.seconds));
        let available = moments.filter(|at| *at > self.world.now).min();
        let mut missing = self.ordinals().filter(|ordinal| self.find(*ordinal).is_none());
        let is_held = missing.any(|ordinal| self.is_held(ordinal));
        moment::sooner(available, is_held.then(|| moment::after(self.world.now, LOOK_AGAIN)))
    }

    fn status(&self) -> StatefulSetStatus {
        let many = |is: &dyn Fn(&Pod) -> bool| count(self.world.pods.iter().filter(|pod| is(pod)).count());
        let (replicas, ready) = (count(self.world.pods.len()), many(&pods::is_ready));
        let updated = self.left(&self.update);
        let is_done = self.is_rolling() && [updated, ready, replicas] == [self.replicas; 3];
        let current = if is_done { &self.update } else { &self.current };
        StatefulSetStatus {
            observed_generation: self.set.metadata.generation,
            replicas,
            ready_replicas: Some(ready),
            available_replicas: Some(many(&|pod| self.is_available(pod))),
            current_replicas: Some(self.left(current)),
            updated_replicas: Some(updated),
            current_revision: Some(current.clone()),
            update_revision: Some(self.update.clone()),
            collision_count: Some(
                self.set
                    .status
                    .as_ref()
                    .and_then(|status| status.collision_count)
                    .unwrap_or_default(),
            ),
            ..StatefulSetStatus::default()
        }
    }

    fn history(&self) -> Vec<Action> {
        let kept = self
            .set
            .spec
            .as_ref()
            .and_then(|spec| spec.revision_history_limit)
            .unwrap_or(HISTORY);
        let mut used = vec![self.current.clone(), self.update.clone()];
        used.extend(self.world.pods.iter().map(|pod| pod::revision(pod).to_owned()));
        let idle = revisions::superfluous(&self.world.revisions, &used, kept);
        idle.into_iter().map(Action::Forget).collect()
    }
}
