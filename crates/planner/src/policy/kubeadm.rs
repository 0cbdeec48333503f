//! kubeadm: what `kubeadm upgrade` refuses, and what it lets an administrator insist on. The manager's version is that of
//! kubeadm.

use super::{Need, Policy};
use crate::{
    check::{Case, Finding, Findings, Named},
    state::{newest, oldest},
    version::Version,
};

/// The policy.
pub(super) const POLICY: Policy = Policy {
    name: "kubeadm",
    title: "kubeadm upgrade",
    source: "kubernetes/kubernetes, cmd/kubeadm/app/phases/upgrade/policy.go",
    need: Need::ApiServers,
    first_rule: "KA-07",
    skews: &[],
    judges: &[distance, manager, stability, kubelets],
};

const SUBJECT: &str = "controlPlane";
/// Minors that kubelets may be behind.
const KUBELETS_BEHIND: u64 = 3;

fn target(case: Case<'_>) -> Option<(&Version, &Version)> {
    let from = newest(&case.before.control_plane.kube_api_servers)?;
    let to = newest(&case.after?.control_plane.kube_api_servers)?;
    (from.precedence(to).is_ne()).then_some((from, to))
}

fn distance(case: Case<'_>, findings: &mut Findings) {
    let Some((from, to)) = target(case) else { return };
    if to.generation() > from.generation() + 1 {
        let finding = Finding::violation(Named::new("KA-01", "TooHigh"), SUBJECT)
            .says(format!("{from} to {to} is more than one minor up"))
            .shows("from", from)
            .shows("to", to)
            .remedy(format!("Go to {}.{} first.", from.major(), from.minor() + 1));
        findings.push(if to.is_pre_release() {
            finding.skippable()
        } else {
            finding
        });
    }
    if from.generation() > to.generation() + 1 {
        let finding = Finding::violation(Named::new("KA-02", "TooLow"), SUBJECT)
            .says(format!("{from} to {to} is more than one minor down"))
            .shows("from", from)
            .shows("to", to)
            .remedy(format!(
                "Go down to {}.{} at most.",
                from.major(),
                from.minor().saturating_sub(1)
            ));
        findings.push(finding);
    }
}

fn manager(case: Case<'_>, findings: &mut Findings) {
    let Some((_, to)) = target(case) else { return };
    let Some(manager) = case
        .after
        .and_then(|after| after.manager.as_ref())
        .or(case.before.manager.as_ref())
    else {
        let finding = Finding::unknown("KA-03", "manager")
            .says("the version of kubeadm is not given")
            .remedy("Add manager.version, the version of kubeadm, to the state file.");
        findings.push(finding);
        return;
    };
    let finding = |named: Named, message: String| {
        Finding::violation(named, "manager")
            .says(message)
            .shows("kubeadm", manager)
            .shows("to", to)
            .remedy(format!("Use kubeadm {to}."))
    };
    if to.generation() > manager.generation() {
        let message = format!("kubeadm {manager} knows nothing of {}", to.minor_text());
        findings.push(finding(Named::new("KA-03", "KubeadmTooOld"), message));
    } else if to.same_minor(manager) && to.patch() > manager.patch() {
        let message = format!("kubeadm {manager} is older than {to}");
        findings.push(finding(Named::new("KA-03", "KubeadmTooOld"), message).skippable());
    } else if to.generation() < manager.generation() {
        let message = format!("kubeadm {manager} is of another minor than {to}");
        findings.push(finding(Named::new("KA-04", "KubeadmOtherMinor"), message).skippable());
    }
}

fn stability(case: Case<'_>, findings: &mut Findings) {
    let Some((_, to)) = target(case) else { return };
    if to.is_pre_release() {
        let finding = Finding::violation(Named::new("KA-05", "Unstable"), SUBJECT)
            .says(format!("{to} is a pre-release"))
            .shows("to", to)
            .remedy("Wait for the release, or allow pre-releases on purpose.")
            .skippable();
        findings.push(finding);
    }
}

/// Also when the cluster stays at its version: `kubeadm upgrade` runs then, too.
fn kubelets(case: Case<'_>, findings: &mut Findings) {
    let to = case
        .after
        .and_then(|after| newest(&after.control_plane.kube_api_servers));
    let Some(to) = to else { return };
    for pool in &case.before.pools {
        let Some(oldest) = oldest(&pool.kubelets) else { continue };
        if to.generation() > oldest.generation() + KUBELETS_BEHIND {
            let finding = Finding::violation(Named::new("KA-06", "TooOldKubelets"), format!("pools/{}", pool.name))
                .says(format!(
                    "kubelets of pool {} at {oldest} are too old for {to}",
                    pool.name
                ))
                .shows("kubelet", oldest)
                .shows("to", to)
                .remedy(format!("Roll pool {} first.", pool.name))
                .skippable();
            findings.push(finding);
        }
    }
}
