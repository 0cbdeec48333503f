//! In which order a cluster is taken apart. Machines go while somebody is there to end them, the control plane after all
//! that needs it, the namespace last.

use std::time::Duration;

use hyperplane_runtime::Failure;

/// Whether something is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Presence {
    /// It is not, or is not ours.
    #[default]
    Absent,
    /// It was deleted, and something holds it.
    Leaving,
    /// It is, and nobody has deleted it.
    Present,
}

/// How long a deletion waits for the cluster with the machines to answer. After that, what is there is left there.
const ELSEWHERE_PATIENCE: Duration = Duration::from_mins(10);
/// How soon it is asked again.
const ELSEWHERE_RETRY: Duration = Duration::from_secs(30);

/// The cluster with the machines, where something was to be taken away, and that did not happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unanswered {
    /// What it says, if it says anything.
    pub(crate) why: String,
    /// How long it has been asked.
    pub(crate) tried_for: Duration,
}

/// Whether nothing more is hoped for.
pub(crate) fn is_given_up(unanswered: &Unanswered) -> bool {
    unanswered.tried_for >= ELSEWHERE_PATIENCE
}

/// What remains of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own that remains of a cluster"
)]
pub(crate) struct Facts {
    /// Something is paused, or was not told how to clean up.
    pub(crate) needs_resuming: bool,
    /// Names of its pools.
    pub(crate) node_pools: Vec<String>,
    /// Whether one of them was not deleted yet.
    pub(crate) has_kept_pools: bool,
    /// What stands for it in Cluster API.
    pub(crate) cluster_api: Presence,
    /// Whether controllers of ours end its machines.
    pub(crate) runs_machines: bool,
    /// Who else holds what stands for it in Cluster API.
    pub(crate) cluster_api_holders: Vec<String>,
    /// What stands for its infrastructure in Cluster API.
    pub(crate) infrastructure: Presence,
    /// Names of machines in its namespace, with who else holds them.
    pub(crate) machines: Vec<String>,
    /// Sets and deployments of machines that no pool answers for, by kind and name.
    pub(crate) workers: Vec<String>,
    /// Whether one of these machines, sets and deployments is nobody's to delete but ours, and was not deleted yet.
    pub(crate) has_kept_workers: bool,
    /// The cluster with the machines, if that is another one and still has something of ours. It is asked only once the
    /// machines are gone.
    pub(crate) unanswered: Option<Unanswered>,
    /// Programs that end machines, and that we hold.
    pub(crate) providers: Presence,
    /// Names of credentials that go once there are no machines.
    pub(crate) credentials: Vec<String>,
    /// The control plane.
    pub(crate) control_plane: Presence,
    /// What the control plane says about its own end.
    pub(crate) control_plane_says: Option<String>,
    /// What is outside of the namespace: rights, kubeconfigs.
    pub(crate) traces: Presence,
    /// The namespace of the control plane.
    pub(crate) namespace: Presence,
    /// The user wants the namespace to stay.
    pub(crate) keeps_namespace: bool,
    /// How long the object stays when everything else is gone.
    pub(crate) grace: Duration,
    /// How long everything else has been gone, as far as it was noted.
    pub(crate) destroyed_for: Option<Duration>,
}

/// One thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Deed {
    /// End pauses, and say how to clean up.
    Resume,
    /// Delete the pools.
    DeleteNodePools,
    /// Keep what stands for the cluster in Cluster API until the machines are gone.
    HoldClusterApi,
    /// Delete what stands for the cluster in Cluster API.
    DeleteClusterApi,
    /// Delete machines that no pool answers for.
    DeleteWorkers,
    /// Delete what stands for its infrastructure.
    DeleteInfrastructure,
    /// Let programs go that end machines.
    ReleaseProviders,
    /// Delete credentials.
    DeleteCredentials,
    /// Delete the control plane.
    DeleteControlPlane,
    /// Delete what is outside of the namespace.
    DeleteTraces,
    /// Delete the namespace.
    DeleteNamespace,
    /// Let pods in it end soon: an API server goes on for minutes for clients that are being led elsewhere, and there are none.
    EndPods,
}

/// Where a deletion stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// What to do now.
    pub(crate) deeds: Vec<Deed>,
    /// What must happen before anything else is done; nothing when everything is.
    pub(crate) waits_for: Option<String>,
    /// How long that takes, where the clock alone ends it.
    pub(crate) after: Option<Duration>,
    /// Why the cluster with the machines still has something of ours.
    pub(crate) unanswered: Option<String>,
    /// Whether all that is left is the grace period.
    pub(crate) is_destroyed: bool,
}

impl Step {
    /// Whether nothing is left to wait for.
    pub(crate) const fn is_last(&self) -> bool {
        self.waits_for.is_none()
    }

    /// Success when nothing is left to wait for.
    pub(crate) fn into_result(self) -> Result<(), Failure> {
        match (self.waits_for, self.after) {
            (None, _) => Ok(()),
            (Some(what), Some(after)) => Err(Failure::wait_until(what, after)),
            (Some(what), None) => Err(Failure::wait(what)),
        }
    }

    fn waiting(deeds: Vec<Deed>, what: impl Into<String>) -> Self {
        Self {
            deeds,
            waits_for: Some(what.into()),
            after: None,
            unanswered: None,
            is_destroyed: false,
        }
    }
}

/// What comes next. Each stage begins when all before it are over.
pub(crate) fn next(facts: &Facts) -> Step {
    machines(facts)
        .or_else(|| elsewhere(facts))
        .or_else(|| control_plane(facts))
        .or_else(|| places(facts))
        .unwrap_or_else(|| grace(facts))
}

/// Pools together with what stands for the cluster in Cluster API, then machines that no pool answers for, and last the
/// infrastructure that the machines were part of.
///
/// The Cluster goes with the pools and not after them, because it tells those who end machines that nobody needs the nodes
/// any more: otherwise a budget of the tenant, or an API server that does not answer, would hold a deletion up for ever. It
/// is held until the machines are gone, or nobody would tell the last of them.
fn machines(facts: &Facts) -> Option<Step> {
    let mut deeds: Vec<Deed> = facts.needs_resuming.then_some(Deed::Resume).into_iter().collect();
    deeds.extend(facts.has_kept_pools.then_some(Deed::DeleteNodePools));
    if facts.cluster_api == Presence::Present {
        let has_machines = !facts.node_pools.is_empty() || !facts.machines.is_empty() || !facts.workers.is_empty();
        deeds.extend((facts.runs_machines && has_machines).then_some(Deed::HoldClusterApi));
        deeds.push(Deed::DeleteClusterApi);
    }
    deeds.extend(facts.has_kept_workers.then_some(Deed::DeleteWorkers));
    if let Some(what) = remaining_workers(facts) {
        return Some(Step::waiting(deeds, what));
    }
    // Whoever manages the Cluster deletes it, too; where nobody does, and the namespace stays, it would stay with it.
    if facts.infrastructure != Presence::Absent {
        deeds.extend((facts.infrastructure == Presence::Present).then_some(Deed::DeleteInfrastructure));
        return Some(Step::waiting(deeds, "the infrastructure of Cluster API to be gone"));
    }
    facts
        .needs_resuming
        .then(|| Step::waiting(deeds, "the control plane to take up its work again"))
}

/// What has to be gone before the infrastructure is, in words.
fn remaining_workers(facts: &Facts) -> Option<String> {
    if !facts.node_pools.is_empty() {
        Some(named("NodePools", &facts.node_pools))
    } else if !facts.machines.is_empty() {
        Some(named("Machines", &facts.machines))
    } else if !facts.workers.is_empty() {
        Some(named("what makes Machines", &facts.workers))
    } else if facts.cluster_api != Presence::Absent {
        let holders = held_by(&facts.cluster_api_holders);
        Some(format!("the Cluster of Cluster API to be gone{holders}"))
    } else {
        None
    }
}

/// Whether no machine is left that would have to be kept apart from others until its end.
pub(crate) fn is_without_machines(facts: &Facts) -> bool {
    machines(facts).is_none()
}

/// The credentials for the other cluster go after what is there: without them nobody could take it away.
fn elsewhere(facts: &Facts) -> Option<Step> {
    let unanswered = facts.unanswered.as_ref().filter(|found| !is_given_up(found))?;
    let what = format!(
        "the cluster with the machines to let go of its network policy, for {} minutes at most ({})",
        ELSEWHERE_PATIENCE.as_secs() / 60,
        unanswered.why
    );
    let left = ELSEWHERE_PATIENCE.saturating_sub(unanswered.tried_for);
    Some(Step {
        after: Some(left.min(ELSEWHERE_RETRY)),
        unanswered: Some(unanswered.why.clone()),
        ..Step::waiting(Vec::new(), what)
    })
}

fn control_plane(facts: &Facts) -> Option<Step> {
    let mut deeds = Vec::new();
    deeds.extend((facts.providers == Presence::Present).then_some(Deed::ReleaseProviders));
    deeds.extend((!facts.credentials.is_empty()).then_some(Deed::DeleteCredentials));
    if facts.control_plane == Presence::Absent {
        // Providers may be left where the control plane never was.
        return (!deeds.is_empty())
            .then(|| Step::waiting(deeds, "programs and credentials of the platform to be gone"));
    }
    deeds.extend((facts.control_plane == Presence::Present).then_some(Deed::DeleteControlPlane));
    let says = facts.control_plane_says.as_ref();
    let says = says.map(|says| format!(" ({says})")).unwrap_or_default();
    Some(Step::waiting(deeds, format!("the HostedControlPlane to be gone{says}")))
}

/// What the control plane lived in, and what it left elsewhere.
fn places(facts: &Facts) -> Option<Step> {
    let mut deeds = Vec::new();
    let has_traces = facts.traces != Presence::Absent;
    deeds.extend(has_traces.then_some(Deed::DeleteTraces));
    if facts.namespace == Presence::Absent || facts.keeps_namespace {
        return has_traces.then(|| Step::waiting(deeds, "rights and kubeconfigs to be gone"));
    }
    deeds.extend((facts.namespace == Presence::Present).then_some(Deed::DeleteNamespace));
    // After it, as nothing that was deleted is made again then.
    deeds.push(Deed::EndPods);
    Some(Step::waiting(deeds, "the namespace of the control plane to be gone"))
}

fn grace(facts: &Facts) -> Step {
    let left = facts.grace.saturating_sub(facts.destroyed_for.unwrap_or_default());
    let is_over = left.is_zero();
    Step {
        deeds: Vec::new(),
        waits_for: (!is_over).then(|| format!("the grace period of {} seconds", facts.grace.as_secs())),
        after: (!is_over).then_some(left),
        unanswered: None,
        is_destroyed: true,
    }
}

/// The most names that a message lists.
const MOST_NAMES: usize = 5;

fn named(kind: &str, names: &[String]) -> String {
    format!("{kind} to be gone: {}", few(names))
}

/// Who else holds something, for whoever has to find out why it does not go.
pub(crate) fn held_by(holders: &[String]) -> String {
    if holders.is_empty() {
        String::new()
    } else {
        format!(" (held by {})", few(holders))
    }
}

fn few(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(MOST_NAMES).map(String::as_str).collect();
    let more = match names.len().saturating_sub(MOST_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", shown.join(", "))
}
