//! Emptying a node before its machine goes: cordon it, evict its pods, say who holds it up. This file does what the
//! pure parts below it decide; it knows the hosted cluster and no Machine.

mod blockers;
mod cordon;
mod plan;
mod volumes;

use std::{collections::BTreeMap, time::Duration};

use hyperplane_runtime::ObjectKey;
use jiff::Timestamp;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use tokio::time::Instant;

use self::{
    blockers::{Blocked, Left, budgets_of},
    cordon::{cordon, uncordon},
    plan::{Plan, Victim, plan},
};
pub(crate) use self::{cordon::cordoned_for, volumes::volumes_left};
use crate::nodes::{Evicted, HostedCluster, NoAnswer, NodeView};

/// How long one look tells pods to go; the rest is told by the next. A run that empties a node holds up others, and has to
/// end before its deadline with what it found.
const EVICTING: Duration = Duration::from_secs(30);
/// Pods on a node whose kubelet is silent are given this little time: nobody is there to use more.
const SILENT_GRACE_SECONDS: u32 = 1;

/// How far a drain has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Drained {
    /// Nothing that has to go is left.
    Empty,
    /// These pods are left.
    Waiting {
        /// Which, and who holds them, of bounded length.
        message: String,
        /// At least one is held by somebody, and not only on its way out.
        is_blocked: bool,
    },
}

/// The machine for which a node is emptied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaving<'a> {
    /// The name of the Machine.
    pub(crate) name: &'a str,
    /// Its identity at the provider: a node of another machine that has the same name is left alone.
    pub(crate) provider_id: Option<&'a str>,
}

/// One look at a node that is to be emptied: makes sure that nothing new comes, and asks what may go to go.
pub(crate) async fn drain(
    hosted: &HostedCluster,
    node: &str,
    machine: Leaving<'_>,
    now: Timestamp,
) -> Result<Drained, NoAnswer> {
    // The state of this moment: a cordon that somebody else made meanwhile must be seen as theirs.
    let node = hosted.node(node).await?;
    let Some(node) = node.filter(|node| node.spec.provider_id.as_deref() == machine.provider_id) else {
        return Ok(Drained::Empty);
    };
    if let Some(patch) = cordon(&node, machine.name) {
        hosted.patch_node(&node, patch).await?;
    }
    let pods = hosted.pods(node.name()).await?;
    let Plan { mut evict, mut left } = plan(&pods, node.is_unreachable(), now);
    rotate(&mut evict, now);
    let mut blocked = evict_all(hosted, &node, &evict, &mut left).await?;
    blocked.sort();
    left.sort();
    Ok(outcome(&blocked, &left))
}

/// Takes our cordon off a node, if it is ours; tells whether there was one.
pub(crate) async fn release(hosted: &HostedCluster, node: &str) -> Result<bool, NoAnswer> {
    let Some(node) = hosted.node(node).await? else {
        return Ok(false);
    };
    match uncordon(&node) {
        Some(patch) => hosted.patch_node(&node, patch).await.map(|()| true),
        None => Ok(false),
    }
}

/// Asks each to go. Those that go are left for now; those that may not are told with their budgets.
async fn evict_all(
    hosted: &HostedCluster,
    node: &NodeView,
    victims: &[Victim],
    left: &mut Vec<Left>,
) -> Result<Vec<Blocked>, NoAnswer> {
    let grace = node.is_unreachable().then_some(SILENT_GRACE_SECONDS);
    let mut budgets = BTreeMap::<String, Vec<PodDisruptionBudget>>::new();
    let mut blocked = Vec::new();
    let end = Instant::now() + EVICTING;
    for victim in victims {
        if Instant::now() >= end {
            left.push(Left::queued(&victim.pod));
            continue;
        }
        match hosted.evict(&victim.pod, &victim.uid, grace).await? {
            Evicted::Accepted => left.push(Left::ending(&victim.pod)),
            Evicted::Gone => {}
            Evicted::Changed => left.push(Left::changed(&victim.pod)),
            Evicted::Refused {
                answer,
                is_budget: false,
            } => blocked.push(block(&victim.pod, Vec::new(), answer)),
            Evicted::Refused {
                answer,
                is_budget: true,
            } => {
                let namespace = &victim.pod.namespace;
                if !budgets.contains_key(namespace) {
                    // That nobody tells which it is, is no reason to forget what else was found.
                    budgets.insert(namespace.clone(), hosted.budgets(namespace).await.unwrap_or_default());
                }
                let known = budgets.get(namespace).map(Vec::as_slice).unwrap_or_default();
                blocked.push(block(&victim.pod, budgets_of(&victim.labels, known), answer));
            }
        }
    }
    Ok(blocked)
}

/// Puts another pod first in each look: a few that take all its time must not keep the others from their turn.
fn rotate(victims: &mut [Victim], now: Timestamp) {
    let seconds = u64::try_from(now.as_second()).unwrap_or_default();
    let look = usize::try_from(seconds / EVICTING.as_secs()).unwrap_or_default();
    if let Some(first) = look.checked_rem(victims.len()) {
        victims.rotate_left(first);
    }
}

fn block(pod: &ObjectKey, budgets: Vec<String>, answer: String) -> Blocked {
    Blocked {
        pod: pod.clone(),
        budgets,
        answer,
    }
}

fn outcome(blocked: &[Blocked], left: &[Left]) -> Drained {
    if blocked.is_empty() && left.is_empty() {
        return Drained::Empty;
    }
    Drained::Waiting {
        message: blockers::describe(blocked, left),
        is_blocked: !blocked.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pod_is_first_at_some_time() {
        let victim = |number: u32| Victim {
            pod: ObjectKey::namespaced("shop", format!("db-{number}")),
            uid: String::new(),
            labels: BTreeMap::new(),
        };
        let all: Vec<Victim> = (0..30).map(victim).collect();
        let first = |look: i64| {
            let mut victims = all.clone();
            rotate(&mut victims, Timestamp::constant(1_800_000_000 + 30 * look, 0));
            victims[0].pod.to_string()
        };
        let firsts: std::collections::BTreeSet<String> = (0..30).map(first).collect();
        assert_eq!(firsts.len(), all.len());
        rotate(&mut [], Timestamp::UNIX_EPOCH);
    }

    #[test]
    fn a_node_is_empty_when_nothing_is_left_to_wait_for() {
        let pod = ObjectKey::namespaced("shop", "db-0");
        assert_eq!(outcome(&[], &[]), Drained::Empty);
        let ending = outcome(&[], &[Left::ending(&pod)]);
        assert!(matches!(ending, Drained::Waiting { is_blocked: false, .. }));
        let held = block(&pod, vec!["db".to_owned()], "Cannot evict".to_owned());
        let Drained::Waiting { message, is_blocked } = outcome(&[held], &[]) else {
            panic!("the pod is there");
        };
        assert!(is_blocked);
        assert!(
            message.contains("shop/db-0") && message.contains("PodDisruptionBudget shop/db"),
            "{message}"
        );
    }
}
