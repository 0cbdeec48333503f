//! How far what we write for nodes has come on them. Pure.

use k8s_openapi::api::apps::v1::{DaemonSet, Deployment};
use kube::ResourceExt as _;

/// One workload inside of the hosted cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rollout {
    /// Its kind and name.
    pub(crate) title: String,
    /// Whether its controller has seen the newest template.
    pub(crate) is_seen: bool,
    /// How many pods there are to be.
    pub(crate) wanted: i32,
    /// How many have the newest template.
    pub(crate) updated: i32,
    /// How many have an older one.
    pub(crate) outdated: i32,
    /// How many serve.
    pub(crate) available: i32,
    /// Whether there is one for every node, so that a node that is away lacks its own.
    pub(crate) is_on_every_node: bool,
}

impl Rollout {
    pub(crate) fn of_daemon_set(set: &DaemonSet) -> Self {
        let status = set.status.clone().unwrap_or_default();
        let updated = status.updated_number_scheduled.unwrap_or(0);
        Self {
            title: format!("DaemonSet {}", set.name_any()),
            is_seen: set.status.is_some() && status.observed_generation >= set.metadata.generation,
            wanted: status.desired_number_scheduled,
            updated,
            outdated: status.current_number_scheduled.saturating_sub(updated),
            available: status.number_available.unwrap_or(0),
            is_on_every_node: true,
        }
    }

    pub(crate) fn of_deployment(deployment: &Deployment) -> Self {
        let status = deployment.status.clone().unwrap_or_default();
        let updated = status.updated_replicas.unwrap_or(0);
        Self {
            title: format!("Deployment {}", deployment.name_any()),
            is_seen: deployment.status.is_some() && status.observed_generation >= deployment.metadata.generation,
            wanted: deployment.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1),
            updated,
            outdated: status.replicas.unwrap_or(0).saturating_sub(updated),
            available: status.available_replicas.unwrap_or(0),
            is_on_every_node: false,
        }
    }

    /// Whether every pod serves, so that nothing has to be asked of the nodes.
    pub(crate) const fn is_healthy(&self) -> bool {
        self.is_seen && self.available >= self.wanted && self.outdated <= 0
    }

    /// Whether the newest template is everywhere where it can be. Nodes that are away cannot take it, and a pod that does
    /// not serve is told of elsewhere: neither keeps a version from being complete.
    const fn is_complete(&self, nodes_away: i32) -> bool {
        let away = if self.is_on_every_node { nodes_away } else { 0 };
        self.is_seen && self.updated >= self.wanted.saturating_sub(away) && self.outdated <= away
    }

    fn told(&self) -> String {
        if self.is_seen {
            format!("{} has {} of {} new pods", self.title, self.updated, self.wanted)
        } else {
            format!("the controller of {} has not looked at it", self.title)
        }
    }
}

/// What is not everywhere yet, in one sentence.
pub(crate) fn unfinished(rollouts: &[Rollout], nodes_away: i32) -> Option<String> {
    let lagging = rollouts.iter().filter(|rollout| !rollout.is_complete(nodes_away));
    let told: Vec<String> = lagging.map(Rollout::told).collect();
    (!told.is_empty()).then(|| told.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn daemon_set(generation: i64, status: &Value) -> Rollout {
        let set = json!({
            "metadata": {"name": "kube-proxy", "generation": generation},
            "spec": {"selector": {}, "template": {}}, "status": status,
        });
        Rollout::of_daemon_set(&hyperplane_objects::read(&set).unwrap())
    }

    fn deployment(generation: i64, status: &Value) -> Rollout {
        let deployment = json!({
            "metadata": {"name": "coredns", "generation": generation},
            "spec": {"replicas": 2, "selector": {}, "template": {}}, "status": status,
        });
        Rollout::of_deployment(&hyperplane_objects::read(&deployment).unwrap())
    }

    fn scheduled(updated: i32, available: i32) -> Value {
        json!({"observedGeneration": 2, "desiredNumberScheduled": 3, "currentNumberScheduled": 3, "numberMisscheduled": 0,
            "numberReady": available, "numberAvailable": available, "updatedNumberScheduled": updated})
    }

    fn replicas(replicas: i32, updated: i32) -> Value {
        json!({"observedGeneration": 2, "replicas": replicas, "updatedReplicas": updated, "availableReplicas": 1})
    }

    #[test]
    fn a_rollout_ends_when_the_newest_template_is_everywhere_where_it_can_be() {
        let cases = [
            ("all new", daemon_set(2, &scheduled(3, 3)), 0, true),
            ("not seen", daemon_set(3, &scheduled(3, 3)), 0, false),
            ("one old", daemon_set(2, &scheduled(2, 3)), 0, false),
            (
                "one old, on a node that is away",
                daemon_set(2, &scheduled(2, 2)),
                1,
                true,
            ),
            ("new but not serving", daemon_set(2, &scheduled(3, 0)), 0, true),
            ("no controller yet", daemon_set(1, &Value::Null), 0, false),
            ("both new", deployment(2, &replicas(2, 2)), 0, true),
            ("an old one left", deployment(2, &replicas(3, 2)), 0, false),
            (
                "a node away is no excuse here",
                deployment(2, &replicas(2, 1)),
                1,
                false,
            ),
            ("not seen", deployment(3, &replicas(2, 2)), 0, false),
        ];
        for (what, rollout, nodes_away, expected) in cases {
            let told = unfinished(std::slice::from_ref(&rollout), nodes_away);
            assert_eq!(told.is_none(), expected, "{what}: {told:?}");
        }
    }

    #[test]
    fn what_lags_is_named() {
        let rollouts = [daemon_set(2, &scheduled(1, 3)), deployment(2, &replicas(2, 2))];
        let told = unfinished(&rollouts, 0).unwrap();
        assert_eq!(told, "DaemonSet kube-proxy has 1 of 3 new pods");
        assert!(!rollouts[0].is_healthy() && !rollouts[1].is_healthy());
        assert!(daemon_set(2, &scheduled(3, 3)).is_healthy());
    }
}
