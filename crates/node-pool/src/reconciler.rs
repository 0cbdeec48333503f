//! One run: look, judge, decide, make, report. Decisions are made elsewhere.

use hyperplane_api::hypershift::paused::{NodePoolPausedUntil, PauseState};
use std::{sync::Arc, time::Duration};

use hyperplane_api::{
    constants::{annotations, finalizers},
    hypershift::{hosted_cluster::HostedCluster, node_pool::NodePool},
};
use hyperplane_planner::release::{Release, Shelf};
use hyperplane_runtime::{Context, EventType, Failure, Next, ObjectKey, Only, Reconciler, gap_of_sum};
use kube::ResourceExt as _;
use prometheus_client::metrics::counter::Counter;

use crate::{
    apply,
    build::{self, Active, Blueprint},
    deletion,
    dereference::{Seen, dereference, machines},
    inputs::Gathered,
    names,
    settings::NodePoolSettings,
    skew::{self, SkewFacts, SkewVerdict},
    status::{self, Report},
    stores::Stores,
    surroundings::{self, Surroundings},
    sweep,
    target::{self, NamedTemplate, Roll, Target},
    texts::Texts,
    validate::{Case, Verdict, validate},
};

/// The event that records that somebody insisted.
const SKEW_IGNORED: &str = "VersionSkewIgnored";

/// The reconciler of NodePools.
pub(crate) struct NodePools {
    pub(crate) stores: Stores,
    pub(crate) settings: NodePoolSettings,
    /// Releases that were read.
    pub(crate) shelf: Shelf,
    /// ConfigMaps that were read.
    pub(crate) texts: Texts,
    /// Tokens that were replaced.
    pub(crate) rotations: Counter,
}

impl Reconciler for NodePools {
    type Object = NodePool;

    const FINALIZER: Option<&'static str> = Some(finalizers::HYPERSHIFT.as_str());
    const SWEEPS: bool = true;

    /// A pool follows its cluster.
    fn is_for(&self, only: &Only, pool: &NodePool) -> bool {
        let cluster = ObjectKey::namespaced(pool.namespace().unwrap_or_default(), pool.spec.cluster_name.as_str());
        is_for(only, self.stores.clusters.get(&cluster).as_deref())
    }

    fn gap(&self, pool: &NodePool) -> Duration {
        let there = pool.status.as_ref().and_then(|status| status.replicas);
        gap_of_sum(pool.spec.replicas.max(there))
    }

    async fn reconcile(&self, context: &Context, pool: Arc<NodePool>) -> Result<Next, Failure> {
        let now = context.now();
        let pause = PauseState::of(pool.spec.paused_until.as_ref().map(NodePoolPausedUntil::as_str), now);
        let seen = dereference(context, &self.stores, &self.texts, &pool).await?;
        let plan = self.plan(&pool, &seen);
        let result = self.act(context, &pool, &seen, &plan, &pause).await;
        let report = Report {
            pool: &pool,
            seen: &seen,
            plan: &plan,
            pause: &pause,
            failure: result.as_ref().err(),
            now,
        };
        context.apply_status(pool.as_ref(), &status::status(&report)).await?;
        end(result, &pause)
    }

    async fn cleanup(&self, context: &Context, pool: Arc<NodePool>) -> Result<(), Failure> {
        let remains = machines(&self.stores, &pool, &names::control_plane_namespace(&pool));
        let seen = Seen {
            machines: remains,
            ..Seen::default()
        };
        let done = deletion::take_away(context, &self.stores, &pool, &seen).await;
        if let Err(waiting) = &done {
            let status = status::deleting(&pool, &seen.machines, waiting, context.now());
            context.apply_status(pool.as_ref(), &status).await?;
        }
        done
    }

    async fn sweep(&self, context: &Context, key: &ObjectKey) -> Result<(), Failure> {
        sweep::sweep(context, &self.stores, key).await
    }
}

/// A pool without a cluster is everybody's: nothing but its status and its end is to be cared for, and two that do the same
/// do no harm.
fn is_for(only: &Only, cluster: Option<&HostedCluster>) -> bool {
    cluster.is_none_or(|cluster| only.selects(&cluster.metadata))
}

/// How a run ends. What only the clock brings is looked at again then.
fn end(result: Result<Option<Duration>, Failure>, pause: &PauseState) -> Result<Next, Failure> {
    let next = result?;
    Ok(pause.left().or(next).map_or(Next::OnChange, Next::After))
}

/// All that was decided before anything is written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// What is wrong with the pool; none without a cluster to judge it by.
    pub(crate) verdict: Option<Verdict>,
    /// What the versions of control plane and nodes say, where the release is known.
    pub(crate) skew: Option<SkewVerdict>,
    /// Whether somebody insists on a roll that versions forbid.
    pub(crate) is_forced: bool,
    /// What machines are to be made with, where it can be said.
    pub(crate) target: Option<Target>,
    /// Whether they may be.
    pub(crate) may_roll: bool,
}

impl Plan {
    /// What becomes of machines.
    fn roll(&self) -> Roll {
        match &self.target {
            Some(target) if self.may_roll => Roll::To(Box::new(target.clone())),
            _ => Roll::Held,
        }
    }
}

impl NodePools {
    fn plan(&self, pool: &NodePool, seen: &Seen) -> Plan {
        let Some(cluster) = seen.cluster.as_deref() else {
            return Plan::default();
        };
        let case = Case {
            pool,
            cluster,
            seen,
            settings: &self.settings,
            shelf: &self.shelf,
        };
        plan(&case)
    }

    /// Does what the pool allows: nothing but the pause where it is paused, nothing where it makes no sense.
    async fn act(
        &self,
        context: &Context,
        pool: &NodePool,
        seen: &Seen,
        plan: &Plan,
        pause: &PauseState,
    ) -> Result<Option<Duration>, Failure> {
        if pause.is_paused() {
            return apply::pause(context, seen).await.map(|()| None);
        }
        // Machines that were paused go on, whatever else is missing or wrong.
        apply::resume(context, seen).await?;
        let surroundings = surroundings::of(seen).map_err(|missing| Failure::wait(surroundings::told(&missing)))?;
        if !plan.verdict.as_ref().is_some_and(Verdict::is_sound) {
            // What is wrong is reported; an edit brings the next run.
            return Ok(None);
        }
        // What the first machines are made with must be known before there are any.
        apply::marks(context, pool, surroundings.cluster, seen, None).await?;
        let reached = plan.target.as_ref().filter(|_| plan.may_roll);
        let reached = reached.filter(|target| build::is_complete(seen, pool, target));
        if plan.is_forced && reached.is_none() {
            record(context, plan);
        }
        let next = self.make(context, pool, seen, &surroundings, plan).await?;
        apply::marks(context, pool, surroundings.cluster, seen, reached).await?;
        Ok(next)
    }

    async fn make(
        &self,
        context: &Context,
        pool: &NodePool,
        seen: &Seen,
        surroundings: &Surroundings<'_>,
        plan: &Plan,
    ) -> Result<Option<Duration>, Failure> {
        let (roll, now) = (plan.roll(), context.now());
        let Some(active) = Active::of(pool, seen, &roll, now, || self.settings.entropy.uid()) else {
            // Nothing may be made, and the status says why; machines that are there are still scaled, and repaired as long as
            // that is asked for.
            if let Some(deployment) = build::held(&surroundings.owner(pool), seen) {
                context.apply(&deployment).await?;
            }
            return apply::without_repair(context, pool, seen).await.map(|()| None);
        };
        let desired = build::build(&Blueprint {
            pool,
            seen,
            surroundings,
            roll: &roll,
            active: &active,
            now,
        });
        apply::apply(context, seen, &active, &desired).await?;
        if active.is_rotated() {
            self.rotations.inc();
        }
        Ok(desired.next)
    }
}

/// Tells that somebody insisted.
fn record(context: &Context, plan: &Plan) {
    let refusals = plan.skew.iter().flat_map(|skew| &skew.refusals);
    let texts: Vec<String> = refusals.map(ToString::to_string).collect();
    let message = format!(
        "Nodes roll although versions forbid it, because of the annotation {}: {}",
        annotations::SKIP_RELEASE_IMAGE_VALIDATION,
        texts.join("; ")
    );
    context.event(EventType::Warning, SKEW_IGNORED, message);
}

/// Decides what becomes of a pool.
pub(crate) fn plan(case: &Case<'_>) -> Plan {
    let verdict = validate(case);
    let skew = verdict.found.as_ref().map(|release| judge(case, release));
    let forbids = skew.as_ref().is_some_and(|skew| !skew.allows());
    let insists = annotations::SKIP_RELEASE_IMAGE_VALIDATION.of(case.cluster).is_some();
    let is_clean = verdict.holds().next().is_none();
    let target = target_of(case, &verdict);
    Plan {
        is_forced: forbids && insists && is_clean && target.is_some(),
        may_roll: is_clean && (!forbids || insists),
        skew,
        target,
        verdict: Some(verdict),
    }
}

fn judge(case: &Case<'_>, release: &Arc<Release>) -> SkewVerdict {
    let plane = skew::plane_versions(case.cluster, release.scheme(), |image| case.release(image));
    let machines = case.seen.machines.all.iter().map(AsRef::as_ref);
    let nodes = skew::node_versions(machines, release);
    skew::judge(&SkewFacts {
        pool: &case.pool.name_any(),
        plane: &plane,
        nodes: &nodes,
        reached: case.pool.status.as_ref().and_then(|status| status.version.as_deref()),
        target: release,
    })
}

fn target_of(case: &Case<'_>, verdict: &Verdict) -> Option<Target> {
    let (release, documents) = (verdict.found.as_ref()?, verdict.documents.as_ref()?);
    let template = NamedTemplate::of(case.pool, verdict.machines.clone()?);
    let gathered = Gathered {
        cluster: case.cluster,
        pool: case.pool,
        release,
        documents,
        api_endpoint: &api_endpoint(case.cluster)?,
        ssh_keys: surroundings::ssh_keys(case.cluster, case.seen)?,
    };
    Some(target::target(&gathered, release, template))
}

/// Where nodes reach the API server of a cluster: host and port.
pub(crate) fn api_endpoint(cluster: &HostedCluster) -> Option<String> {
    let endpoint = cluster.status.as_ref()?.control_plane_endpoint.as_ref()?;
    Some(format!("{}:{}", endpoint.host, endpoint.port))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing;

    #[test]
    fn a_pool_is_for_the_manager_of_its_cluster() {
        let only = Only {
            annotation: annotations::SCOPE.as_str(),
            value: "east".to_owned(),
        };
        let of =
            |scope: &str| testing::cluster(&json!({"metadata": {"annotations": {annotations::SCOPE.as_str(): scope}}}));
        assert!(is_for(&only, Some(&of("east"))));
        assert!(!is_for(&only, Some(&of("west"))));
        assert!(!is_for(&only, Some(&testing::cluster(&json!({})))));
        assert!(is_for(&only, None));
    }
}
