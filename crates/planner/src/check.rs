//! The check: judges a state, or two states and the move between them, by some policies. Owns how findings are sorted and
//! named; what is forbidden is said by the policies.

mod finding;
mod skew;

use std::collections::BTreeSet;

pub use finding::Named;
pub(crate) use finding::{Finding, Findings};
pub use skew::Margin;
pub(crate) use skew::{judge as judge_skews, pool_distance, tightest};

use crate::{
    blocker::{Blocker, Moment, Report, Weight},
    policy::{Need, Policy, Role, Skew},
    state::{Pool, State},
    version::Scheme,
};

/// What a policy looks at.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The state as it is.
    pub before: &'a State,
    /// The state as it would be.
    pub after: Option<&'a State>,
    /// Whether somebody asked for the policy by name.
    pub is_chosen: bool,
}

impl<'a> Case<'a> {
    /// The states, each with when it is.
    pub(crate) fn states(self) -> impl Iterator<Item = (Moment, &'a State)> {
        let after = self.after.map(|after| (Moment::After, after));
        [(Moment::Before, self.before)].into_iter().chain(after)
    }

    /// The way that distribution versions are ordered here.
    pub(crate) fn scheme(self) -> Scheme {
        self.after.unwrap_or(self.before).distribution.scheme
    }
}

/// Which policies judge, and whether somebody chose them.
#[derive(Clone, Debug)]
pub struct Choice {
    policies: Vec<&'static Policy>,
    is_default: bool,
}

impl Choice {
    /// What judges clusters of a scheme when nobody chose.
    pub fn default_for(scheme: Scheme) -> Self {
        Self {
            policies: crate::policy::defaults(scheme).to_vec(),
            is_default: true,
        }
    }

    /// What judges node pools of hosted clusters of a scheme when nobody chose: the same, and that no pool is ever newer
    /// than its cluster, not by a patch either.
    pub fn default_for_pools(scheme: Scheme) -> Self {
        let mut choice = Self::default_for(scheme);
        choice.policies.extend(crate::policy::defaults_of_pools(scheme));
        choice
    }

    /// Policies that somebody chose, each once.
    pub fn of(policies: impl IntoIterator<Item = &'static Policy>) -> Self {
        let mut names = BTreeSet::new();
        let policies = policies.into_iter().filter(|policy| names.insert(policy.name));
        Self {
            policies: policies.collect(),
            is_default: false,
        }
    }

    /// The policies.
    pub fn policies(&self) -> &[&'static Policy] {
        &self.policies
    }
}

/// Judges a state, or two and the move between them.
pub fn check(before: &State, after: Option<&State>, choice: &Choice) -> Report {
    let case = Case {
        before,
        after,
        is_chosen: !choice.is_default,
    };
    let mut report = Report::default();
    for (place, policy) in choice.policies.iter().enumerate() {
        let mut findings = Findings::new(policy.name);
        // Of the policies that nobody chose, the first is the one that has to have something to judge.
        if !choice.is_default || place == 0 {
            judge_need(policy, case, &mut findings);
            judge_need_of_pools(policy, case, &mut findings, |_| true);
        } else {
            let says_nothing = |pool: &Pool| pool.kubelets.is_empty() && pool.versions.is_empty();
            judge_need_of_pools(policy, case, &mut findings, says_nothing);
        }
        judge_skews(policy.skews, case, &mut findings);
        for judge in policy.judges {
            judge(case, &mut findings);
        }
        report.policies.push(policy.name);
        sort_in(&mut report, findings, after.unwrap_or(before).distribution.is_forced);
    }
    report.ok = report.violations.is_empty() && report.unknown.is_empty();
    report
}

/// What a policy cannot do without.
fn judge_need(policy: &Policy, case: Case<'_>, findings: &mut Findings) {
    for (moment, state) in case.states() {
        let (is_there, field) = match policy.need {
            Need::ApiServers => (state.api_servers().is_some(), "controlPlane.kubeApiServers"),
            Need::ClusterVersion => (state.cluster_version().is_some(), "distribution.version"),
            Need::Etcd => (!state.control_plane.etcd.is_empty(), "controlPlane.etcd"),
            Need::Nothing => return,
        };
        if !is_there {
            let finding = Finding::unknown(policy.first_rule, field)
                .at(moment)
                .says(format!(
                    "{field} is not given: the policy {} judges nothing without it",
                    policy.name
                ))
                .remedy(format!("Add {field} to the state file."));
            findings.push(finding);
        }
    }
}

/// Pools whose versions the policy would judge and nobody gave.
fn judge_need_of_pools(policy: &Policy, case: Case<'_>, findings: &mut Findings, counts: impl Fn(&Pool) -> bool) {
    for (moment, state) in case.states() {
        for pool in state.pools.iter().filter(|pool| counts(pool)) {
            let is_missing = |skew: &&Skew| match skew.subject {
                Role::Kubelet => pool.kubelets.is_empty(),
                Role::Pool => pool.distribution_versions(state.distribution.scheme).is_empty(),
                _ => false,
            };
            let Some(skew) = policy.skews.iter().find(is_missing) else {
                continue;
            };
            let field = if skew.subject == Role::Pool {
                "versions"
            } else {
                "kubelets"
            };
            let finding = Finding::unknown(skew.too_old.rule, format!("pools/{}", pool.name))
                .at(moment)
                .says(format!("{field} of pool {} are not given", pool.name))
                .remedy(format!("Add {field} to pool {} in the state file.", pool.name));
            findings.push(finding);
        }
    }
}

/// Sorts findings. Who insists gets violations of policies that let one insist as warnings.
fn sort_in(report: &mut Report, findings: Findings, is_forced: bool) {
    for (weight, mut blocker) in findings.into_all() {
        let known = match weight {
            Weight::Violation => &report.violations,
            Weight::Warning => &report.warnings,
            Weight::Unknown => &report.unknown,
        };
        // Policies share rules; one finding of a rule about a subject is enough.
        let is_said = |said: &Blocker| said.policy != blocker.policy && said.is_about_the_same(&blocker);
        if known.iter().any(is_said) {
            continue;
        }
        let yields = is_forced && blocker.is_skippable;
        match weight {
            Weight::Violation if yields => {
                blocker.message = format!("Forced: {}", blocker.message);
                report.warnings.push(blocker);
            }
            Weight::Violation => report.violations.push(blocker),
            Weight::Warning => report.warnings.push(blocker),
            Weight::Unknown => report.unknown.push(blocker),
        }
    }
}
