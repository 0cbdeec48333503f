//! Whether nodes of a release may stand beside a control plane. The rules are the planner's.

use hyperplane_planner::{
    check::{Choice, check},
    release::Release,
    state::{ControlPlane, Distribution, Pool, State},
};

use crate::judge::Judge;

/// Judges a pool against every release that the control plane has.
pub(crate) fn judge_pool(flag: &str, pool: &str, plane: &[Release], target: &Release, judge: &mut Judge) {
    let choice = Choice::default_for_pools(target.scheme());
    let subject = format!("pools/{pool}");
    for release in plane {
        let report = check(&state(pool, plane, release, target), None, &choice);
        let found = report.violations.iter().chain(&report.unknown);
        for finding in found.filter(|finding| finding.subject == subject) {
            let remedy = finding.remedy.trim_end_matches('.');
            judge.wrong(flag, format!("{} ({}): {remedy}", finding.message, finding.rule));
        }
    }
}

/// The pool with one node, as it would be.
fn state(pool: &str, plane: &[Release], cluster: &Release, target: &Release) -> State {
    State {
        control_plane: ControlPlane {
            kube_api_servers: plane.iter().map(|release| release.kubernetes.clone()).collect(),
            ..ControlPlane::default()
        },
        pools: vec![Pool {
            name: pool.to_owned(),
            versions: vec![target.version.clone()],
            kubelets: vec![target.kubernetes.clone()],
            ..Pool::default()
        }],
        distribution: Distribution {
            scheme: target.scheme(),
            version: Some(cluster.version.clone()),
            ..Distribution::default()
        },
        ..State::default()
    }
}
