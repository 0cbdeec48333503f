//! Which machines are unhealthy, since when, and whether so many are that replacing them would not help. The arithmetic
//! of MachineHealthCheck; knows machines as facts, and the time as a parameter.

use std::{collections::BTreeMap, time::Duration};

use jiff::Timestamp;

#[cfg(test)]
mod tests;

/// The shortest time until the next look: a deadline that is a fraction of a second away is not worth two.
const SHORTEST_LOOK: Duration = Duration::from_millis(1);

/// What makes a machine unhealthy, and when anything is done about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// How long a machine may take to become a node; none if that is not looked at.
    pub node_startup_timeout: Option<Duration>,
    /// Conditions of the node that are bad when they last.
    pub node_conditions: Vec<BadCondition>,
    /// Conditions of the machine that are bad when they last.
    pub machine_conditions: Vec<BadCondition>,
    /// How many may be unhealthy for anything to be done.
    pub trigger: Trigger,
}

/// A condition that is bad when it lasts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadCondition {
    /// Which condition.
    pub type_: String,
    /// The bad status.
    pub status: String,
    /// How long it may last.
    pub timeout: Duration,
}

/// How many machines may be unhealthy for anything to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Trigger {
    /// Any number.
    #[default]
    Always,
    /// So many.
    AtMost(Amount),
    /// A range, both ends included.
    Within {
        /// The lower end.
        least: u32,
        /// The upper end.
        most: u32,
    },
}

/// A number of machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// So many.
    Count(u32),
    /// A share of the expected ones, rounded down.
    Percent(u32),
}

/// What is known of one machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// Since when it could have become a node.
    pub startup_since: Timestamp,
    /// What is known of its node.
    pub node: NodeFacts,
    /// Its own conditions.
    pub machine_conditions: Vec<ObservedCondition>,
    /// Somebody asked that it be replaced.
    pub is_asked: bool,
    /// It was found unhealthy before.
    pub was_unhealthy: bool,
}

/// What is known of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeFacts {
    /// There has not been one yet.
    Awaited,
    /// It is there, with these conditions.
    Present(Vec<ObservedCondition>),
    /// It was there and is not any more.
    Gone,
    /// It cannot be asked for: the API server of its cluster does not answer.
    Unseen,
}

/// A condition as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedCondition {
    /// Which condition.
    pub type_: String,
    /// Its status.
    pub status: String,
    /// Since when it has this status.
    pub since: Timestamp,
}

/// Why a machine is unhealthy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Somebody asked that it be replaced.
    Asked,
    /// It did not become a node in time.
    StartupTimeout {
        /// The time that it had.
        timeout: Duration,
    },
    /// Its node was deleted.
    NodeGone,
    /// A condition of its node has been bad for too long.
    NodeCondition {
        /// Which condition.
        type_: String,
        /// The bad status.
        status: String,
        /// How long it may last.
        timeout: Duration,
    },
    /// A condition of the machine has been bad for too long.
    MachineCondition {
        /// Which condition.
        type_: String,
        /// The bad status.
        status: String,
        /// How long it may last.
        timeout: Duration,
    },
    /// It was unhealthy when its node could last be asked for.
    Earlier,
}

/// What a look at all machines came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// How many machines there are.
    pub expected: u32,
    /// How many of them are healthy.
    pub healthy: u32,
    /// Those that are not, by name.
    pub unhealthy: BTreeMap<String, Cause>,
    /// Whether few enough are unhealthy that replacing them helps.
    pub may_remediate: bool,
    /// How many more may fall ill before it stops.
    pub remediations_allowed: u32,
    /// Why nothing is done, where that is so.
    pub refusal: Option<String>,
    /// After how long the judgement may change by time alone.
    pub next: Option<Duration>,
}

impl Cause {
    /// The cause in one word, for a condition.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Asked => "HasRemediateAnnotation",
            Self::StartupTimeout { .. } => "NodeStartupTimeout",
            Self::NodeGone => "NodeDeleted",
            Self::NodeCondition { .. } => "UnhealthyNode",
            Self::MachineCondition { .. } => "UnhealthyMachine",
            Self::Earlier => "HealthCheckUnknown",
        }
    }

    /// The cause for people. It does not change while the cause is the same.
    pub fn message(&self) -> String {
        match self {
            Self::Asked => "an annotation asks for its replacement".to_owned(),
            Self::StartupTimeout { timeout } => format!("it did not become a node within {timeout:?}"),
            Self::NodeGone => "its node was deleted".to_owned(),
            Self::NodeCondition { type_, status, timeout } => {
                format!("condition {type_} of its node has been {status} for more than {timeout:?}")
            }
            Self::MachineCondition { type_, status, timeout } => {
                format!("its condition {type_} has been {status} for more than {timeout:?}")
            }
            Self::Earlier => {
                "it was unhealthy when the API server of the hosted cluster last answered; it does not answer now"
                    .to_owned()
            }
        }
    }
}

/// Judges all machines of a health check.
pub fn judge(policy: &Policy, targets: &[Target], now: Timestamp) -> Judgement {
    let mut unhealthy = BTreeMap::new();
    let mut next: Option<Duration> = None;
    for target in targets {
        match examine(policy, target, now) {
            Verdict::Unhealthy(cause) => {
                unhealthy.insert(target.name.clone(), cause);
            }
            Verdict::Healthy { until } => next = earliest(next, until),
        }
    }
    let expected = count(targets.len());
    let ill = count(unhealthy.len());
    let refusal = refusal(&policy.trigger, expected, ill);
    Judgement {
        expected,
        healthy: expected.saturating_sub(ill),
        may_remediate: refusal.is_none(),
        remediations_allowed: if refusal.is_some() {
            0
        } else {
            most(&policy.trigger, expected).saturating_sub(ill)
        },
        refusal,
        unhealthy,
        next: next.map(|next| next.max(SHORTEST_LOOK)),
    }
}

/// What one machine came to.
enum Verdict {
    Unhealthy(Cause),
    /// It is healthy; for so long, where a deadline runs.
    Healthy {
        until: Option<Duration>,
    },
}

fn examine(policy: &Policy, target: &Target, now: Timestamp) -> Verdict {
    if target.is_asked {
        return Verdict::Unhealthy(Cause::Asked);
    }
    if target.node == NodeFacts::Gone {
        return Verdict::Unhealthy(Cause::NodeGone);
    }
    let of_machine = longest_bad(&policy.machine_conditions, &target.machine_conditions, now);
    let of_node = match &target.node {
        NodeFacts::Present(conditions) => longest_bad(&policy.node_conditions, conditions, now),
        NodeFacts::Awaited | NodeFacts::Gone | NodeFacts::Unseen => Lasting::default(),
    };
    if let Some(BadCondition { type_, status, timeout }) = of_machine.over.cloned() {
        return Verdict::Unhealthy(Cause::MachineCondition { type_, status, timeout });
    }
    if let Some(BadCondition { type_, status, timeout }) = of_node.over.cloned() {
        return Verdict::Unhealthy(Cause::NodeCondition { type_, status, timeout });
    }
    let until = earliest(of_machine.left, of_node.left);
    match &target.node {
        NodeFacts::Unseen if target.was_unhealthy => Verdict::Unhealthy(Cause::Earlier),
        NodeFacts::Awaited => await_node(policy, target, until, now),
        _ => Verdict::Healthy { until },
    }
}

fn await_node(policy: &Policy, target: &Target, until: Option<Duration>, now: Timestamp) -> Verdict {
    let Some(timeout) = policy.node_startup_timeout else {
        return Verdict::Healthy { until };
    };
    match left(target.startup_since, timeout, now) {
        None => Verdict::Unhealthy(Cause::StartupTimeout { timeout }),
        some => Verdict::Healthy {
            until: earliest(until, some),
        },
    }
}

/// Conditions that are bad now: the first that has been so for too long, and when the next one will have been.
#[derive(Default)]
struct Lasting<'a> {
    over: Option<&'a BadCondition>,
    left: Option<Duration>,
}

fn longest_bad<'a>(bad: &'a [BadCondition], observed: &[ObservedCondition], now: Timestamp) -> Lasting<'a> {
    let mut lasting = Lasting::default();
    for condition in bad {
        let found = observed
            .iter()
            .find(|found| found.type_ == condition.type_ && found.status == condition.status);
        let Some(found) = found else {
            continue;
        };
        match left(found.since, condition.timeout, now) {
            None => lasting.over = lasting.over.or(Some(condition)),
            some => lasting.left = earliest(lasting.left, some),
        }
    }
    lasting
}

/// How much of a timeout is left; none if it is over. What began in the future, by a clock that was set back, has no
/// age.
fn left(since: Timestamp, timeout: Duration, now: Timestamp) -> Option<Duration> {
    if timeout.is_zero() {
        return None;
    }
    let age = now.duration_since(since);
    match Duration::try_from(age) {
        Ok(age) => timeout.checked_sub(age).filter(|left| !left.is_zero()),
        Err(_) => Some(timeout.saturating_add(age.unsigned_abs())),
    }
}

fn earliest(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// The most machines that may be unhealthy.
fn most(trigger: &Trigger, expected: u32) -> u32 {
    match trigger {
        Trigger::Always => expected,
        Trigger::AtMost(Amount::Count(count)) => *count,
        Trigger::AtMost(Amount::Percent(percent)) => {
            let share = u64::from(*percent) * u64::from(expected) / 100;
            u32::try_from(share).unwrap_or(u32::MAX)
        }
        Trigger::Within { most, .. } => *most,
    }
}

fn refusal(trigger: &Trigger, expected: u32, ill: u32) -> Option<String> {
    let most = most(trigger, expected);
    if ill > most {
        return Some(format!(
            "{ill} of {expected} machines are unhealthy, and at most {most} may be"
        ));
    }
    match trigger {
        Trigger::Within { least, .. } if ill < *least => Some(format!(
            "{ill} of {expected} machines are unhealthy, and nothing is done before {least} are"
        )),
        _ => None,
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
