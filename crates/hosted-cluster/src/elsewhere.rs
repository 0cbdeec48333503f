//! Machines on another cluster than the management cluster: the network policy that is kept there for them, through the
//! kubeconfig that the user gave. Nothing there is watched: it is looked at again after some time, and written only where
//! it differs.
//!
//! The copy of the kubeconfig in the namespace of the control plane is the record of what may be there: nothing is
//! written before the copy exists, and the copy goes after the policy does.

mod networks;
#[cfg(test)]
mod tests;
mod visit;
mod visits;

use std::time::Duration;

use hyperplane_api::{
    constants::{
        ConditionType, Reason,
        conditions::hosted_cluster::VALID_KUBEVIRT_INFRA_NETWORK_POLICY_RBAC,
        objects::{copies, keys},
        reasons,
    },
    hypershift::{
        hosted_cluster::{HostedCluster, InfraId},
        platform::Platform,
        platform_type::PlatformType,
    },
};
use hyperplane_runtime::{Context, EventType, Failure, Fence, Reach};
use jiff::Timestamp;
use k8s_openapi::{api::core::v1::Secret, apimachinery::pkg::apis::meta::v1::Condition};

use self::{visit::Way, visits::Visits};
use crate::{
    deletion::{Unanswered, is_given_up},
    dereference::Seen,
    names,
    settings::ManagementNetworks,
};

/// The condition that tells of the policy.
pub(crate) const CONDITION: ConditionType = VALID_KUBEVIRT_INFRA_NETWORK_POLICY_RBAC;

/// The longest text of another cluster that is shown: it is as long as whoever answers there likes.
const MOST_CHARACTERS: usize = 500;

/// Where the machines of a cluster are, when that is not the management cluster. It holds a kubeconfig, and so has no
/// text form.
pub(crate) struct Site {
    namespace: String,
    kubeconfig: Vec<u8>,
}

impl Site {
    /// The place that a platform names, by the copy of its kubeconfig.
    pub(crate) fn new(platform: &Platform, copy: Option<&Secret>) -> Option<Self> {
        let namespace = namespace(platform)?.to_owned();
        let kubeconfig = copy?.data.as_ref()?.get(keys::KUBECONFIG)?.0.clone();
        Some(Self { namespace, kubeconfig })
    }
}

/// The namespace on another cluster in which a platform has its machines.
pub(crate) fn namespace(platform: &Platform) -> Option<&str> {
    let settings = platform.kubevirt.as_ref();
    let settings = settings.filter(|_| platform.type_ == PlatformType::KubeVirt)?;
    Some(&settings.credentials.as_ref()?.infra_namespace)
}

/// What a visit to the other cluster came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The policy is as it is to be.
    Isolated,
    /// The networks there are not known.
    Unread(String),
    /// The policy could not be written.
    Unwritten(String),
}

impl Outcome {
    /// What is wrong, if something is.
    pub(crate) fn trouble(&self) -> Option<(Reason, &str)> {
        match self {
            Self::Isolated => None,
            Self::Unread(why) => Some((reasons::INFRA_CLUSTER_NETWORK_READ_FAILED, why)),
            Self::Unwritten(why) => Some((reasons::INFRA_CLUSTER_NETWORK_POLICY_CREATE_FAILED, why)),
        }
    }
}

/// What is known of other clusters, and how they are reached.
pub(crate) struct Elsewhere {
    reach: Reach,
    fence: Fence,
    visits: Visits,
}

impl Elsewhere {
    pub(crate) fn new(reach: Reach, fence: Fence) -> Self {
        Self {
            reach,
            fence,
            visits: Visits::default(),
        }
    }

    fn way<'a>(&'a self, site: &'a Site) -> Way<'a> {
        Way {
            reach: &self.reach,
            fence: &self.fence,
            site,
        }
    }

    /// Keeps machines that run elsewhere from what else runs there, and notes what came of it. Gives back when to look
    /// again; nothing where machines run here, or the copy of the kubeconfig has not shown up yet.
    pub(crate) async fn keep(
        &self,
        context: &Context,
        cluster: &HostedCluster,
        networks: &ManagementNetworks,
        seen: &mut Seen,
    ) -> Option<Duration> {
        let infra_id = cluster.spec.infra_id.as_ref().map(InfraId::as_str)?;
        let copy = seen.objects.secrets.get(copies::KUBEVIRT_CREDENTIALS);
        let site = Site::new(&cluster.spec.platform, copy.map(AsRef::as_ref))?;
        let (title, now) = (names::title(cluster), context.now());
        let known = self.visits.recall(&title, &site, now);
        let (outcome, after) = if let Some(known) = known {
            known
        } else {
            let outcome = self.way(&site).isolate(cluster, infra_id, &networks.dns).await;
            warn(context, cluster, &outcome);
            self.visits.note(&title, &site, now, outcome)
        };
        seen.elsewhere = Some(outcome);
        Some(after)
    }

    /// Takes away what was kept there. Gives back who does not answer, and for how long.
    pub(crate) async fn leave(
        &self,
        context: &Context,
        cluster: &HostedCluster,
        site: Option<&Site>,
    ) -> Option<Unanswered> {
        let site = site?;
        self.visits.forget(&names::title(cluster));
        let infra_id = cluster.spec.infra_id.as_ref().map(InfraId::as_str)?;
        let failure = self.way(site).remove(cluster, infra_id).await.err()?;
        let unanswered = Unanswered {
            why: told(&failure),
            tried_for: tried_for(cluster, context.now()),
        };
        if is_given_up(&unanswered) {
            let message = format!(
                "The network policy in namespace {} of the cluster with the machines is left there: {}",
                site.namespace, unanswered.why
            );
            context.event(EventType::Warning, "InfraNetworkPolicyLeft", message);
        }
        Some(unanswered)
    }
}

/// Tells it when something goes wrong that did not before.
fn warn(context: &Context, cluster: &HostedCluster, outcome: &Outcome) {
    let Some((reason, why)) = outcome.trouble() else {
        return;
    };
    if condition(cluster).is_none_or(|known| known.reason != reason.as_str()) {
        context.event(
            EventType::Warning,
            reasons::INSUFFICIENT_NETWORK_POLICY_RBAC.as_str(),
            why.to_owned(),
        );
    }
}

/// What was told last.
pub(crate) fn condition(cluster: &HostedCluster) -> Option<&Condition> {
    let mut conditions = cluster.status.as_ref()?.conditions.iter();
    conditions.find(|condition| condition.type_ == CONDITION.as_str())
}

/// How long a deletion has waited for the other cluster, as far as it was noted. While a cluster lives it is never said
/// that this is unknown for this reason, so that the first time begins anew.
fn tried_for(cluster: &HostedCluster, now: Timestamp) -> Duration {
    let reason = reasons::INFRA_CLUSTER_NETWORK_POLICY_CREATE_FAILED.as_str();
    let noted = condition(cluster).filter(|found| found.status == "Unknown" && found.reason == reason);
    let deleted = cluster.metadata.deletion_timestamp.as_ref().map(|time| time.0);
    let since = noted
        .map(|found| found.last_transition_time.0)
        .max(deleted.filter(|_| noted.is_some()));
    since
        .and_then(|since| Duration::try_from(now.duration_since(since)).ok())
        .unwrap_or_default()
}

/// A failure in a text of bounded length.
fn told(failure: &Failure) -> String {
    failure.report().chars().take(MOST_CHARACTERS).collect()
}
