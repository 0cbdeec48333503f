//! OpenShift's own preconditions of an update: how far, which way back, who has to agree.

use std::cmp::Ordering;

use super::{Need, Policy, shared};
use crate::{
    check::{Case, Finding, Findings, Named},
    state::{State, oldest},
    version::Version,
};

/// The policy.
pub(super) const POLICY: Policy = Policy {
    name: "openshift",
    title: "OpenShift's preconditions of an update",
    source: "openshift/cluster-version-operator, pkg/payload/precondition and pkg/risk",
    need: Need::ClusterVersion,
    first_rule: "O-01",
    skews: &[],
    judges: &[
        distance,
        rollback,
        upgradeable,
        in_progress,
        overrides,
        recommended,
        gates,
        paused_pools,
        kubelets_at_limit,
        architecture,
    ],
};

const SUBJECT: &str = "controlPlane";

/// The version that a cluster is being brought to, as long as it is under way, or else is at.
fn desired(state: &State) -> Option<&Version> {
    let first = state.distribution.history.first();
    let under_way = first.filter(|past| !past.is_complete);
    let known = state.cluster_version().or(first.map(|past| &past.version));
    under_way.map(|past| &past.version).or(known)
}

/// Where a cluster is being brought or is, and what is asked for. This operator counts majors like everybody: that 5.0
/// is another name for 4.23 is not known to it.
fn target(case: Case<'_>) -> Option<(&Version, &Version)> {
    let (from, to) = (desired(case.before)?, case.after?.cluster_version()?);
    (from.precedence(to).is_ne() || from.major() != to.major()).then_some((from, to))
}

fn minor(version: &Version) -> (u64, u64) {
    (version.major(), version.minor())
}

/// The same if the minor goes up.
fn minor_up(case: Case<'_>) -> Option<(&Version, &Version)> {
    target(case).filter(|(from, to)| minor(to) > minor(from))
}

fn is_down(from: &Version, to: &Version) -> bool {
    match minor(to).cmp(&minor(from)) {
        Ordering::Equal => to.precedence(from).is_lt(),
        order => order.is_lt(),
    }
}

fn distance(case: Case<'_>, findings: &mut Findings) {
    let Some((from, to)) = target(case) else { return };
    let is_first_of_fifth = (from.major(), to.major(), to.minor()) == (4, 5, 0);
    if to.major() > from.major() && !is_first_of_fifth {
        let finding = Finding::violation(Named::new("O-02", "MajorVersionUpdate"), SUBJECT)
            .says(format!(
                "{from} to {to} enters another major: the only way into one is from 4.y to 5.0"
            ))
            .shows("from", from)
            .shows("to", to)
            .remedy(match from.major() {
                4 => "Go to 5.0 first.".to_owned(),
                major => format!("Stay within {major}: no release of it has an update to another major."),
            })
            .skippable();
        findings.push(finding);
    } else if to.generation() > from.generation() + 1 {
        let finding = Finding::violation(Named::new("O-01", "MultipleMinorVersionsUpdate"), SUBJECT)
            .says(format!("{from} to {to} skips minors: an update takes one at most"))
            .shows("from", from)
            .shows("to", to)
            .fact("minors", to.generation() - from.generation())
            .remedy(format!("Go to {} first.", shared::minor_above(from)))
            .skippable();
        findings.push(finding);
    }
}

/// Back only to where the cluster was just before, and only within a minor.
fn rollback(case: Case<'_>, findings: &mut Findings) {
    let Some((from, to)) = target(case).filter(|(from, to)| is_down(from, to)) else {
        return;
    };
    let history = &case.before.distribution.history;
    // The same version a second time is another image of it, and that is what was before.
    let begins_with_current = history
        .first()
        .is_some_and(|past| past.version.precedence(from).is_eq());
    let previous = history.get(usize::from(begins_with_current)).map(|past| &past.version);
    let is_previous = previous.is_some_and(|previous| previous.precedence(to).is_eq());
    if history.is_empty() && minor(from) == minor(to) {
        let finding = Finding::unknown("O-03", "distribution.history")
            .says(format!(
                "{from} to {to} goes back: whether {to} is the version before is not given"
            ))
            .remedy("Add distribution.history to the state file, the current version first.");
        findings.push(finding);
        return;
    }
    let (rule, says) = if minor(from) != minor(to) {
        ("O-05", format!("{from} to {to} goes down by a minor"))
    } else if !is_previous {
        (
            "O-04",
            format!("{from} to {to} goes back further than to the version before"),
        )
    } else {
        return;
    };
    let finding = Finding::violation(Named::with(rule, "LowDesiredVersion", &["O-03"]), SUBJECT)
        .says(says)
        .shows("from", from)
        .shows("to", to)
        .shows("previous", previous.map_or("not given", Version::as_str))
        .remedy(match previous.filter(|previous| minor(previous) == minor(from)) {
            Some(previous) => format!("Go back to {previous}, the version before, or repair forward."),
            None => format!("Stay at {from} and repair forward: there is no way back out of a minor."),
        })
        .skippable();
    findings.push(finding);
}

fn upgradeable(case: Case<'_>, findings: &mut Findings) {
    let Some((from, to)) = minor_up(case) else { return };
    let said = &case.before.distribution.upgradeable;
    if let Some(said) = said.as_ref().filter(|said| !said.is_upgradeable) {
        let reason = said.reason.as_deref().unwrap_or("it gives no reason");
        let finding = Finding::violation(Named::new("O-06", "NotUpgradeable"), SUBJECT)
            .says(format!("the cluster says Upgradeable=False: {reason}"))
            .shows("from", from)
            .shows("to", to)
            .shows("reason", reason)
            .remedy(format!(
                "Mend what it names; patches of {} are not held back.",
                from.minor_text()
            ))
            .skippable();
        findings.push(finding);
    }
}

/// While an update runs, another patch of its minor may be asked for, and no further minor.
fn in_progress(case: Case<'_>, findings: &mut Findings) {
    let Some((from, to)) = target(case) else { return };
    let history = &case.before.distribution.history;
    if history.first().is_none_or(|first| first.is_complete) {
        return;
    }
    let facts = |finding: Finding| finding.shows("from", from).shows("to", to);
    // An update from patch to patch may be retargeted without a word.
    let mut complete = history.iter().filter(|past| past.is_complete);
    let is_within_minor = complete.next().is_some_and(|past| minor(&past.version) == minor(from));
    if minor(to) > minor(from) {
        let finding = Finding::violation(Named::new("O-08", "UpgradeableUpgradeInProgress"), SUBJECT)
            .says(format!(
                "an update to {from} is in progress: {to} would be a further minor"
            ))
            .remedy(format!("Wait until the update to {from} is complete."))
            .skippable();
        findings.push(facts(finding));
    } else if minor(to) == minor(from) && to.precedence(from).is_gt() && !is_within_minor {
        let finding = Finding::warning(Named::new("O-07", "MinorVersionClusterUpdateInProgress"), SUBJECT)
            .says(format!(
                "an update to {from} is in progress: it goes on to {to} instead"
            ))
            .remedy("Nothing; the risk is written into the history.");
        findings.push(facts(finding));
    }
}

/// What is not managed any more holds minors back.
fn overrides(case: Case<'_>, findings: &mut Findings) {
    let Some((from, to)) = target(case) else { return };
    // An override holds a minor back whoever has looked at it.
    for modification in case.before.modifications.iter().flatten() {
        let named = Named::new("O-09", "ClusterVersionOverridesSet");
        let subject = format!("modifications/{}", modification.name);
        let finding = if minor_up(case).is_some() {
            Finding::violation(named, subject).skippable()
        } else {
            Finding::warning(named, subject)
        };
        let finding = finding
            .says(format!(
                "{} is not managed by the distribution: {from} to {to} leaves it as it is",
                modification.name
            ))
            .shows("modification", &modification.name)
            .remedy(format!(
                "Remove the override of {} from spec.overrides of the ClusterVersion, and from modifications here.",
                modification.name
            ));
        findings.push(finding);
    }
}

fn recommended(case: Case<'_>, findings: &mut Findings) {
    let Some((from, to)) = target(case) else { return };
    let Some(offered) = &case.before.distribution.available_updates else {
        return;
    };
    if !offered.iter().any(|offered| offered.precedence(to).is_eq()) {
        let finding = Finding::warning(Named::new("O-10", "NotRecommended"), SUBJECT)
            .says(format!(
                "{to} is not among the updates that are recommended from {from}"
            ))
            .shows("from", from)
            .shows("to", to)
            .fact(
                "recommended",
                offered.iter().map(ToString::to_string).collect::<Vec<_>>(),
            )
            .remedy("Choose one that is, or read why this one is not and accept it.");
        findings.push(finding);
    }
}

/// Gates that are known by themselves: the minor that is left, and the name. All others come with the state, which lists
/// those that are not acknowledged.
const GATES: [(u64, &str); 1] = [(18, "ack-4.18-kube-1.32-api-removals")];

/// Whether a gate is named `ack-4.18-what`, with the minor that it guards.
fn has_minor(gate: &str) -> bool {
    let parts = gate.strip_prefix("ack-").and_then(|rest| rest.split_once('-'));
    parts.is_some_and(|(minor, what)| {
        let number = minor.strip_prefix("4.").or(minor.strip_prefix("5."));
        let is_number = number.is_some_and(|number| number.parse::<u64>().is_ok());
        is_number && !what.is_empty() && !what.starts_with('-')
    })
}

/// Gates of the current minor are acknowledged before it is left.
fn gates(case: Case<'_>, findings: &mut Findings) {
    let Some((from, to)) = minor_up(case) else { return };
    let prefix = format!("ack-{}-", from.minor_text());
    let known = GATES.iter().filter(|(minor, _)| *minor == from.generation());
    // A gate whose name says not for which minor it is holds every minor.
    let is_for_this = |name: &&String| name.starts_with(&prefix) || (name.starts_with("ack-") && !has_minor(name));
    let stated = case.before.open_gates.iter().filter(is_for_this);
    let mut names: Vec<&str> = known.map(|(_, name)| *name).collect();
    names.extend(stated.map(String::as_str));
    names.sort_unstable();
    names.dedup();
    for name in names {
        let gate = Named::new("O-12", "AdminAckRequired");
        let finding = match shared::acknowledged(case, name) {
            Some(true) => continue,
            Some(false) => Finding::violation(gate, format!("acks/{name}")).skippable(),
            None => Finding::unknown("O-12", format!("acks/{name}")),
        };
        let finding = finding
            .says(format!(
                "{name} is to be acknowledged before {} is left",
                from.minor_text()
            ))
            .shows("from", from)
            .shows("to", to)
            .remedy(format!(
                "Read what it is about, then set {name} to \"true\" in openshift-config/admin-acks."
            ));
        findings.push(finding);
    }
}

/// Minors that a paused pool may be behind the target: the even one before it.
const PAUSED_BEHIND: u64 = 2;

/// Pools that are paused for a jump over the odd minor are unpaused before the next.
fn paused_pools(case: Case<'_>, findings: &mut Findings) {
    let Some((from, to)) = minor_up(case) else { return };
    for pool in case.before.pools.iter().filter(|pool| pool.is_paused) {
        let Some(oldest) = oldest(pool.distribution_versions(case.scheme())) else {
            continue;
        };
        let distance = to.generation().saturating_sub(oldest.generation());
        if distance > PAUSED_BEHIND {
            let finding = Finding::violation(Named::new("O-13", "PoolsPaused"), shared::pool_subject(pool))
                .says(format!(
                    "pool {} is paused at {oldest}: it would be {} behind {to}",
                    pool.name,
                    shared::minors(distance)
                ))
                .shows("pool", oldest)
                .shows("from", from)
                .shows("to", to)
                .remedy(format!(
                    "Unpause pool {} and let it come to {} first.",
                    pool.name,
                    from.minor_text()
                ))
                .skippable();
            findings.push(finding);
        }
    }
}

/// Minors that kubelets may be behind before the next minor is refused.
const KUBELETS_BEHIND: u64 = 2;

fn kubelets_at_limit(case: Case<'_>, findings: &mut Findings) {
    let Some((_, to)) = minor_up(case) else { return };
    let Some((_, server)) = case.before.api_servers() else {
        return;
    };
    for pool in &case.before.pools {
        let Some(oldest) = oldest(&pool.kubelets) else { continue };
        let distance = server.generation().saturating_sub(oldest.generation());
        if distance >= KUBELETS_BEHIND {
            let finding = Finding::violation(Named::new("O-14", "KubeletAtLimit"), shared::pool_subject(pool))
                .says(format!(
                    "kubelets of pool {} at {oldest} are {} behind {server} already",
                    pool.name,
                    shared::minors(distance)
                ))
                .shows("kubelet", oldest)
                .shows("kubeApiServer", server)
                .shows("to", to)
                .remedy(format!(
                    "Roll pool {} until its kubelets are at {} or later, then take the next minor.",
                    pool.name,
                    shared::minor_below(server)
                ))
                .skippable();
            findings.push(finding);
        }
    }
}

/// From one architecture to all of them at the same version only.
fn architecture(case: Case<'_>, findings: &mut Findings) {
    let architecture = |state: &State| state.distribution.architecture.as_deref().map(str::to_lowercase);
    let (Some(after), Some((from, to))) = (case.after, target(case)) else {
        return;
    };
    let becomes_multi = architecture(after).as_deref() == Some("multi");
    if becomes_multi && architecture(case.before).as_deref() != Some("multi") {
        let finding = Finding::violation(Named::new("O-15", "ArchitectureAndVersion"), SUBJECT)
            .says(format!(
                "the payload becomes Multi and goes from {from} to {to} at once"
            ))
            .shows("from", from)
            .shows("to", to)
            .remedy(format!("Go to Multi at {from} first, then to {to}."))
            .skippable();
        findings.push(finding);
    }
}
