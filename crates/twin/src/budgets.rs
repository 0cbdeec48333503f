//! PodDisruptionBudgets: how many pods may be missing. Owns the status, which evictions read and take from; it is
//! written only over the version that was read, so that no eviction in between is forgotten.

use std::{collections::BTreeMap, sync::Arc};

use hyperplane_runtime::{Api, Context, Failure, Next, Reconciler, Store};
use jiff::Timestamp;
use k8s_openapi::{
    api::{
        apps::v1::{DaemonSet, ReplicaSet, StatefulSet},
        core::v1::Pod,
        policy::v1::{PodDisruptionBudget, PodDisruptionBudgetStatus},
    },
    apimachinery::pkg::apis::meta::v1::{Condition, Time},
};
use kube::{ResourceExt, api::PostParams};

use crate::{
    moment,
    number::{count, scaled},
    pods, selector,
    workloads::daemon_set,
};

/// How long an eviction may take until the pod is being deleted; upstream's.
const DISRUPTED_SECONDS: i64 = 120;

/// Keeps the status of budgets.
pub(crate) struct Budgets {
    /// Every pod.
    pub(crate) pods: Store<Pod>,
    /// Those who say how many pods are expected.
    pub(crate) replica_sets: Store<ReplicaSet>,
    pub(crate) stateful_sets: Store<StatefulSet>,
    pub(crate) daemon_sets: Store<DaemonSet>,
}

impl Reconciler for Budgets {
    type Object = PodDisruptionBudget;

    async fn reconcile(&self, context: &Context, budget: Arc<PodDisruptionBudget>) -> Result<Next, Failure> {
        let namespace = budget.namespace().unwrap_or_default();
        let selected = budget.spec.as_ref().and_then(|spec| spec.selector.as_ref());
        let mut pods = self.pods.namespace(&namespace).all();
        pods.retain(|pod| selector::matches_some(selected, pod.labels()));
        let now = context.now();
        let (status, wake) = status(&budget, &pods, &self.expected(&namespace, &pods), now);
        if budget.status.as_ref() != Some(&status) {
            let mut changed = (*budget).clone();
            changed.status = Some(status);
            let api: Api<PodDisruptionBudget> = Api::namespaced(context.client().clone(), &namespace);
            match api
                .replace_status(&budget.name_any(), &PostParams::default(), &changed)
                .await
            {
                // Whatever came in between will show in the cache, and causes another run.
                Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => {}
                written => written.map(|_| ())?,
            }
        }
        Ok(wake.map_or(Next::OnChange, |at| Next::After(moment::until(at, now))))
    }
}

impl Budgets {
    /// How many pods the controllers of these pods want, by controller.
    fn expected(&self, namespace: &str, pods: &[Arc<Pod>]) -> BTreeMap<String, i32> {
        let mut expected = BTreeMap::new();
        for owner in pods.iter().filter_map(|pod| pods::controller(pod.as_ref())) {
            let wanted = match owner.kind.as_str() {
                "ReplicaSet" => self
                    .replica_sets
                    .namespace(namespace)
                    .get(&owner.name)
                    .and_then(|set| set.spec.as_ref()?.replicas),
                "StatefulSet" => self
                    .stateful_sets
                    .namespace(namespace)
                    .get(&owner.name)
                    .and_then(|set| set.spec.as_ref()?.replicas),
                "DaemonSet" => self
                    .daemon_sets
                    .namespace(namespace)
                    .get(&owner.name)
                    .map(|set| daemon_set::wanted(&set)),
                _ => None,
            };
            if let Some(wanted) = wanted {
                expected.insert(owner.uid.clone(), wanted);
            }
        }
        expected
    }
}

/// The status, and when it changes by itself.
fn status(
    budget: &PodDisruptionBudget,
    pods: &[Arc<Pod>],
    expected: &BTreeMap<String, i32>,
    now: Timestamp,
) -> (PodDisruptionBudgetStatus, Option<Timestamp>) {
    let before = budget.status.clone().unwrap_or_default();
    let (disrupted, wake) = disrupted(&before, pods, now);
    let (expected, desired) = counts(budget, pods, expected);
    let healthy = pods
        .iter()
        .filter(|pod| pods::is_ready(pod) && !pods::is_terminating(pod) && !disrupted.contains_key(&pod.name_any()));
    let healthy = count(healthy.count());
    let allowed = if expected > 0 { (healthy - desired).max(0) } else { 0 };
    let status = PodDisruptionBudgetStatus {
        observed_generation: budget.metadata.generation,
        expected_pods: Some(expected),
        desired_healthy: Some(desired),
        current_healthy: Some(healthy),
        disruptions_allowed: Some(allowed),
        disrupted_pods: Some(disrupted).filter(|pods| !pods.is_empty()),
        conditions: Some(vec![condition(budget, &before, allowed > 0, now)]),
    };
    (status, wake)
}

/// Evictions that are under way: those whose pods are not being deleted yet.
fn disrupted(
    before: &PodDisruptionBudgetStatus,
    pods: &[Arc<Pod>],
    now: Timestamp,
) -> (BTreeMap<String, Time>, Option<Timestamp>) {
    let mut disrupted = before.disrupted_pods.clone().unwrap_or_default();
    let end = |since: &Time| moment::after_seconds(since.0, DISRUPTED_SECONDS);
    disrupted.retain(|name, since| {
        let is_there = pods
            .iter()
            .any(|pod| pod.name_any() == *name && !pods::is_terminating(pod));
        is_there && end(since) > now
    });
    let wake = disrupted.values().map(end).min();
    (disrupted, wake)
}

/// How many pods are expected, and how many of them must be well.
fn counts(budget: &PodDisruptionBudget, pods: &[Arc<Pod>], expected: &BTreeMap<String, i32>) -> (i32, i32) {
    let spec = budget.spec.as_ref();
    let by_controllers: i32 = expected.values().sum();
    if let Some(most) = spec.and_then(|spec| spec.max_unavailable.as_ref()) {
        return (
            by_controllers,
            (by_controllers - scaled(most, by_controllers, true)).max(0),
        );
    }
    match spec.and_then(|spec| spec.min_available.as_ref()) {
        Some(least @ k8s_openapi::apimachinery::pkg::util::intstr::IntOrString::Int(_)) => {
            (count(pods.len()), scaled(least, 0, true))
        }
        Some(least) => (by_controllers, scaled(least, by_controllers, true)),
        None => (count(pods.len()), 0),
    }
}

fn condition(
    budget: &PodDisruptionBudget,
    before: &PodDisruptionBudgetStatus,
    is_allowed: bool,
    now: Timestamp,
) -> Condition {
    let (status, reason) = if is_allowed {
        ("True", "SufficientPods")
    } else {
        ("False", "InsufficientPods")
    };
    let known = before
        .conditions
        .iter()
        .flatten()
        .find(|condition| condition.type_ == "DisruptionAllowed");
    let since = known
        .filter(|known| known.status == status)
        .map(|known| known.last_transition_time.clone());
    Condition {
        type_: "DisruptionAllowed".to_owned(),
        status: status.to_owned(),
        reason: reason.to_owned(),
        message: String::new(),
        observed_generation: budget.metadata.generation,
        last_transition_time: since.unwrap_or_else(|| moment::written(now)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    const NOW: &str = "2026-01-02T03:04:05Z";

    fn budget(spec: &Value) -> PodDisruptionBudget {
        hyperplane_objects::read(json!({"metadata": {"name": "b", "generation": 1}, "spec": spec})).unwrap()
    }

    fn pod(name: &str, is_ready: bool) -> Arc<Pod> {
        let status = if is_ready { "True" } else { "False" };
        let owner = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "s", "uid": "s", "controller": true});
        let pod = json!({"metadata": {"name": name, "ownerReferences": [owner]},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": status}]}});
        Arc::new(hyperplane_objects::read(&pod).unwrap())
    }

    #[test]
    fn budgets_count_as_upstream_does() {
        let cases = [
            (json!({"minAvailable": 2}), 3, 3, (3, 2, 1)),
            (json!({"maxUnavailable": 1}), 3, 2, (3, 2, 0)),
            (json!({"maxUnavailable": "50%"}), 3, 3, (3, 1, 2)),
            (json!({"minAvailable": "50%"}), 3, 3, (3, 2, 1)),
            (json!({"minAvailable": 1}), 1, 1, (1, 1, 0)),
            (json!({"minAvailable": 1}), 0, 0, (0, 1, 0)),
        ];
        for (spec, all, ready, expected) in cases {
            let pods: Vec<Arc<Pod>> = (0..all)
                .map(|number| pod(&format!("p{number}"), number < ready))
                .collect();
            let wanted = BTreeMap::from([("s".to_owned(), 3)]);
            let (status, _) = status(&budget(&spec), &pods, &wanted, NOW.parse().unwrap());
            let found = (
                status.expected_pods.unwrap(),
                status.desired_healthy.unwrap(),
                status.disruptions_allowed.unwrap(),
            );
            assert_eq!(found, expected, "{spec} with {ready} of {all}");
        }
    }

    #[test]
    fn an_eviction_counts_until_its_pod_goes() {
        let mut budget = budget(&json!({"minAvailable": 1}));
        let pods = [pod("a", true), pod("b", true), pod("c", true)];
        let disrupted = json!({"disruptionsAllowed": 1, "currentHealthy": 3, "desiredHealthy": 1, "expectedPods": 3,
            "disruptedPods": {"a": NOW, "gone": NOW}});
        budget.status = hyperplane_objects::read(&disrupted).unwrap();
        let at = |text: &str| status(&budget, &pods, &BTreeMap::new(), text.parse().unwrap());
        let (soon, wake) = at("2026-01-02T03:04:10Z");
        assert_eq!(
            (soon.disruptions_allowed, wake),
            (Some(1), Some("2026-01-02T03:06:05Z".parse().unwrap()))
        );
        assert_eq!(soon.disrupted_pods.unwrap().into_keys().collect::<Vec<_>>(), ["a"]);
        assert_eq!(at("2026-01-02T03:06:05Z").0.disruptions_allowed, Some(2));
    }

    proptest! {
        /// Evictions that go by the status, and a controller that writes it only over what it read, never take more
        /// pods than the budget allows, in whichever order they act.
        #[test]
        fn evictions_never_break_a_budget(seed: u64, pods in 1_usize..7, least in 0_i32..7) {
            let mut random = hyperplane_seams::Random::seeded(seed);
            let mut budget = budget(&json!({"minAvailable": least}));
            let mut alive: Vec<Arc<Pod>> = (0..pods).map(|number| pod(&format!("p{number}"), true)).collect();
            let now: Timestamp = NOW.parse().unwrap();
            let (mut version, mut started) = (0_u64, None);
            for _ in 0..200 {
                match random.below(4) {
                    // The controller reads ...
                    0 => started = Some((version, status(&budget, &alive, &BTreeMap::new(), now).0)),
                    // ... and writes, if nobody else did.
                    1 => if let Some((read, new)) = started.take() && read == version {
                        version += 1;
                        budget.status = Some(new);
                    },
                    // Somebody evicts.
                    2 => {
                        let which = usize::try_from(random.below(alive.len().max(1) as u64)).unwrap();
                        if let (Some(status), Some(victim)) = (budget.status.as_mut(), alive.get(which))
                            && status.disruptions_allowed > Some(0)
                            && !status.disrupted_pods.as_ref().is_some_and(|pods| pods.contains_key(&victim.name_any()))
                        {
                            version += 1;
                            *status.disruptions_allowed.as_mut().unwrap() -= 1;
                            let name = victim.name_any();
                            status.disrupted_pods.get_or_insert_default().insert(name, moment::written(now));
                        }
                    }
                    // A pod that was evicted is gone.
                    _ => {
                        let evicted = budget.status.clone().and_then(|status| status.disrupted_pods).unwrap_or_default();
                        if let Some(index) = alive.iter().position(|pod| evicted.contains_key(&pod.name_any())) {
                            alive.remove(index);
                        }
                    }
                }
                let most = i32::try_from(pods).unwrap().min(least);
                prop_assert!(count(alive.len()) >= most, "{} of {pods} are left", alive.len());
            }
        }
    }
}
