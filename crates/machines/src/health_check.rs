//! The controller of MachineHealthChecks: finds machines that have been unhealthy for too long and marks them, so that
//! their MachineSet replaces them. It deletes nothing itself; the arithmetic is in the crate `rollout`.

mod marks;
mod policy;
mod status;
mod targets;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use hyperplane_api::cluster_api::{cluster::Cluster, machine::Machine, machine_health_check::MachineHealthCheck};
use hyperplane_rollout::health::{Judgement, judge};
use hyperplane_runtime::{Context, EventType, Failure, Manager, Next, ObjectKey, Only, Reconciler, Store, gap_of_sum};
use kube::ResourceExt as _;
use serde_json::json;

use self::{
    marks::{Mark, marks, withdrawn},
    policy::policy,
    status::{Outcome, status},
    targets::{Selected, is_selected, select, target},
};
use crate::{
    MachinesSettings,
    nodes::{HostedClusters, Nodes},
    owners,
    pause::pause,
};

/// The name of the controller, and of its field manager for ever.
pub(crate) const NAME: &str = "machine-health-check";

/// How often nodes are looked at, because their clusters announce nothing: timeouts are minutes.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// The index of machines by their cluster, as `namespace/name`.
const CLUSTER_INDEX: &str = "cluster-of-machine";

/// The reconciler of health checks.
pub(crate) struct HealthChecks {
    checks: Store<MachineHealthCheck>,
    clusters: Store<Cluster>,
    machines: Store<Machine>,
    hosted: HostedClusters,
}

/// Adds the controller to a manager.
pub(crate) fn register(manager: &mut Manager, settings: &MachinesSettings, nodes: &Nodes) {
    let scope = &settings.scope;
    let machines = manager.store(owners::watch::<Machine>(scope));
    machines.add_index(CLUSTER_INDEX, |machine| {
        let namespace = machine.namespace().unwrap_or_default();
        vec![ObjectKey::namespaced(namespace, &machine.spec.cluster_name).to_string()]
    });
    let reconciler = HealthChecks {
        checks: manager.store(owners::watch(scope)),
        clusters: manager.store(owners::watch(scope)),
        machines,
        hosted: nodes.for_controller(manager, scope),
    };
    let (checks, secrets) = (reconciler.checks.clone(), reconciler.hosted.secrets().clone());
    manager
        .controller(NAME, owners::watch::<MachineHealthCheck>(scope), reconciler)
        .reads(&secrets)
        .watches(owners::watch::<Machine>(scope), move |machine| {
            concerned(&checks, machine)
        })
        .watches_referenced(
            owners::watch::<Cluster>(scope),
            "cluster",
            |check| {
                let namespace = check.namespace().unwrap_or_default();
                vec![ObjectKey::namespaced(namespace, &check.spec.cluster_name).to_string()]
            },
            |cluster| vec![ObjectKey::of(cluster).to_string()],
        )
        .register();
}

impl Reconciler for HealthChecks {
    type Object = MachineHealthCheck;

    const SWEEPS: bool = true;

    fn is_for(&self, only: &Only, object: &MachineHealthCheck) -> bool {
        owners::is_for(only, &self.clusters, object, &object.spec.cluster_name)
    }

    fn gap(&self, check: &MachineHealthCheck) -> Duration {
        gap_of_sum(check.status.as_ref().and_then(|status| status.expected_machines))
    }

    async fn reconcile(&self, context: &Context, check: Arc<MachineHealthCheck>) -> Result<Next, Failure> {
        let namespace = check.namespace().unwrap_or_default();
        let cluster = self
            .clusters
            .get(&ObjectKey::namespaced(&namespace, &check.spec.cluster_name));
        if let Some(why) = pause(check.as_ref(), cluster.as_deref()) {
            let paused = status(&check, &Outcome::Paused(why), context.now());
            context.apply_status(check.as_ref(), &paused).await?;
            return Ok(Next::OnChange);
        }
        let selected = self.selected(&check, &namespace);
        let judgement = self
            .judge(context, &check, cluster.as_deref(), &selected, &namespace)
            .await?;
        let is_external = policy::is_external(&check);
        for mark in marks(&selected, &judgement, is_external, context.now()) {
            self.mark(context, &mark).await?;
        }
        let judged = Outcome::Judged {
            judgement: &judgement,
            targets: selected.names(),
            is_external,
        };
        let judged = status(&check, &judged, context.now());
        context.apply_status(check.as_ref(), &judged).await?;
        if let Some(refusal) = news(&check, &judgement) {
            context.event(EventType::Warning, "RemediationRestricted", refusal);
        }
        // Without machines there is nothing to look at, and the first one is an event.
        let is_empty = selected.targets.is_empty();
        let next = judgement.next.map_or(LOOK_AGAIN, |next| next.min(LOOK_AGAIN));
        Ok(if is_empty { Next::OnChange } else { Next::After(next) })
    }

    /// What a check that is gone said of machines is taken back, or they would be replaced although nobody asks for it
    /// any more. Nothing is lost where the cache is behind: a check that is there says it again.
    async fn sweep(&self, context: &Context, key: &ObjectKey) -> Result<(), Failure> {
        let checks = self.checks.namespace(&key.namespace).all();
        let mut machines = self.machines.namespace(&key.namespace).all();
        machines.retain(|machine| !checks.iter().any(|check| is_selected(check, machine)));
        for mark in withdrawn(&machines, context.now()) {
            self.mark(context, &mark).await?;
        }
        Ok(())
    }
}

impl HealthChecks {
    /// The machines of a check. One that several checks select belongs to the first of them by name: two that write to
    /// one machine would never end.
    fn selected(&self, check: &MachineHealthCheck, namespace: &str) -> Selected {
        let cluster = ObjectKey::namespaced(namespace, &check.spec.cluster_name).to_string();
        let machines = self.machines.by_index(CLUSTER_INDEX, &cluster);
        let name = check.name_any();
        let mut others = self.checks.namespace(namespace).all();
        others.retain(|other| other.name_any() < name);
        select(check, &others, machines)
    }

    async fn judge(
        &self,
        context: &Context,
        check: &MachineHealthCheck,
        cluster: Option<&Cluster>,
        selected: &Selected,
        namespace: &str,
    ) -> Result<Judgement, Failure> {
        let policy = policy(check)?;
        let now = context.now();
        // A cluster without machines that could have nodes is not asked.
        let nodes = if selected.targets.is_empty() {
            None
        } else {
            self.hosted.list(namespace, now, LOOK_AGAIN / 2).await.ok()
        };
        let targets: Vec<_> = selected
            .targets
            .iter()
            .map(|machine| target(machine, cluster, nodes.as_deref()))
            .collect();
        Ok(judge(&policy, &targets, now))
    }

    /// Writes what a check says of a machine, if it says something else than before.
    async fn mark(&self, context: &Context, mark: &Mark) -> Result<(), Failure> {
        let body = json!({"conditions": mark.conditions});
        context.apply_status(mark.machine.as_ref(), &body).await?;
        if mark.is_new {
            let (machine, why) = (mark.machine.name_any(), &mark.why);
            context.event(
                EventType::Warning,
                "MachineMarkedUnhealthy",
                format!("Machine {machine} is unhealthy: {why}"),
            );
        }
        Ok(())
    }
}

/// Why unhealthy machines are not replaced, where that is so and the status does not say it yet: each event is a write.
fn news<'a>(check: &MachineHealthCheck, judgement: &'a Judgement) -> Option<&'a str> {
    let said = check.status.iter().flat_map(|status| &status.conditions);
    let refusal = judgement.refusal.as_deref();
    refusal.filter(|refusal| !judgement.unhealthy.is_empty() && !said.into_iter().any(|said| said.message == *refusal))
}

/// The checks that a machine concerns.
fn concerned(checks: &Store<MachineHealthCheck>, machine: &Machine) -> BTreeSet<ObjectKey> {
    let namespace = machine.namespace().unwrap_or_default();
    let all = checks.namespace(namespace).all();
    let concerned = all.iter().filter(|check| is_selected(check, machine));
    concerned.map(|check| ObjectKey::of(check.as_ref())).collect()
}

#[cfg(test)]
mod tests {
    use hyperplane_rollout::health::Cause;

    use super::{targets::testing::check, *};

    #[test]
    fn a_refusal_is_told_once_and_only_where_somebody_is_ill() {
        let judgement = |ill: usize| Judgement {
            expected: 3,
            healthy: 0,
            unhealthy: (0..ill).map(|number| (number.to_string(), Cause::Asked)).collect(),
            may_remediate: false,
            remediations_allowed: 0,
            refusal: Some("too many".to_owned()),
            next: None,
        };
        let mut known = check("a", &json!({}));
        assert_eq!(news(&known, &judgement(0)), None);
        assert_eq!(news(&known, &judgement(1)), Some("too many"));
        let outcome = Outcome::Judged {
            judgement: &judgement(1),
            targets: Vec::new(),
            is_external: false,
        };
        known.status = Some(status(&known, &outcome, jiff::Timestamp::UNIX_EPOCH));
        assert_eq!(news(&known, &judgement(1)), None);
    }
}
