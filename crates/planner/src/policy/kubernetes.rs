//! Kubernetes' own policy: which components may stand beside which, and in which order they move.

use super::{Need, Policy, Role, Skew, When, shared};
use crate::{
    blocker::{Disagreement, Moment, Weight},
    check::{Case, Finding, Findings, Named},
    state::{Pool, State, oldest},
    version::{Scheme, Version},
};

/// The policy.
pub(super) const POLICY: Policy = Policy {
    name: "kubernetes",
    title: "Kubernetes version skew",
    source: "kubernetes.io, releases, version skew policy",
    need: Need::ApiServers,
    first_rule: "K-01",
    skews: &SKEWS,
    judges: &[
        api_servers,
        no_minor_is_skipped,
        controllers_follow,
        nodes_pin,
        controllers_wait,
        nodes_wait,
        nodes_are_drained,
        webhooks_understand,
        latest_patch_first,
    ],
};

/// The first kubelet and kube-proxy that may be three minors old.
const THREE_MINORS_FROM: u64 = 25;

const KUBELET_NEWER: Named = Named::new("K-03", "KubeletNewer");
const KUBELET_NEWER_THAN_ONE: Named = Named::with("K-10", "KubeletNewer", &["K-03"]);
const KUBELET_OLDER_THAN_ONE: Named = Named::with("K-12", "KubeletTooOld", &["K-05", "K-11"]);

const fn kubelet(when: When, older: u64, too_old: Named) -> Skew {
    Skew {
        subject: Role::Kubelet,
        object: Role::ApiServer,
        when,
        older,
        newer: 0,
        weight: Weight::Violation,
        too_old,
        too_new: KUBELET_NEWER,
        mixed: Some((KUBELET_OLDER_THAN_ONE, KUBELET_NEWER_THAN_ONE)),
    }
}

const fn proxy(when: When, older: u64) -> Skew {
    let named = Named::new("K-13", "KubeProxySkew");
    Skew {
        subject: Role::KubeProxy,
        object: Role::ApiServer,
        when,
        older,
        newer: 0,
        weight: Weight::Violation,
        too_old: named,
        too_new: named,
        mixed: None,
    }
}

const fn proxy_beside_kubelet(when: When, distance: u64, named: Named) -> Skew {
    Skew {
        subject: Role::KubeProxy,
        object: Role::Kubelet,
        when,
        older: distance,
        newer: distance,
        weight: Weight::Violation,
        too_old: named,
        too_new: named,
        mixed: None,
    }
}

const fn controller(subject: Role) -> Skew {
    let behind_one = Named::with("K-18", "ControllerSkew", &["K-17"]);
    Skew {
        subject,
        object: Role::ApiServer,
        when: When::Always,
        older: 1,
        newer: 0,
        weight: Weight::Violation,
        too_old: Named::with("K-17", "ControllerTooOld", &["K-16"]),
        too_new: Named::with("K-17", "ControllerNewer", &["K-16"]),
        mixed: Some((behind_one, behind_one)),
    }
}

const SKEWS: [Skew; 11] = [
    kubelet(
        When::SubjectFrom(THREE_MINORS_FROM),
        3,
        Named::with("K-05", "KubeletTooOld", &["K-04", "K-09"]),
    ),
    kubelet(
        When::SubjectAt(THREE_MINORS_FROM - 1),
        2,
        Named::with("K-08", "KubeletTooOld", &["K-06"]),
    ),
    kubelet(
        When::SubjectBelow(THREE_MINORS_FROM - 1),
        2,
        Named::with("K-07", "KubeletTooOld", &["K-06"]),
    ),
    proxy(When::SubjectFrom(THREE_MINORS_FROM), 3),
    proxy(When::SubjectBelow(THREE_MINORS_FROM), 2),
    proxy_beside_kubelet(
        When::SubjectFrom(THREE_MINORS_FROM),
        3,
        Named::new("K-14", "KubeProxyBesideKubelet"),
    ),
    proxy_beside_kubelet(
        When::SubjectBelow(THREE_MINORS_FROM),
        2,
        Named::with("K-15", "KubeProxyBesideKubelet", &["K-14"]),
    ),
    controller(Role::ControllerManager),
    controller(Role::Scheduler),
    controller(Role::CloudControllerManager),
    Skew {
        subject: Role::Kubectl,
        object: Role::ApiServer,
        when: When::Always,
        older: 1,
        newer: 1,
        weight: Weight::Warning,
        too_old: Named::new("K-20", "KubectlSkew"),
        too_new: Named::new("K-20", "KubectlSkew"),
        mixed: Some((
            Named::with("K-21", "KubectlSkew", &["K-20"]),
            Named::with("K-21", "KubectlSkew", &["K-20"]),
        )),
    },
];

const API_SERVERS: &str = "controlPlane.kubeApiServers";

/// Instances behind one load balancer are at most one minor apart.
fn api_servers(case: Case<'_>, findings: &mut Findings) {
    for (moment, state) in case.states() {
        let Some((oldest, newest)) = state.api_servers() else {
            continue;
        };
        if newest.generation() - oldest.generation() > 1 {
            let finding = Finding::violation(Named::with("K-02", "KasSkew", &["K-01"]), API_SERVERS)
                .at(moment)
                .says(format!(
                    "kube-apiserver {newest} runs beside {oldest}: instances may differ by one minor"
                ))
                .shows("oldest", oldest)
                .shows("newest", newest)
                .remedy(format!(
                    "Bring all instances to the minor {} before one goes further.",
                    shared::minor_above(oldest)
                ));
            findings.push(finding);
        }
    }
}

/// The API servers' way to a later minor.
struct Rise<'a> {
    /// The oldest of all that were there.
    from: &'a Version,
    /// The newest that one of them becomes.
    to: &'a Version,
    /// What was there.
    before: &'a State,
    /// Those that take a later minor, each with its place.
    by_place: Vec<(usize, &'a Version)>,
    /// Whether places mean something: each controller has a server of its own, and as many servers were as are.
    has_places: bool,
}

/// The API servers' way to a later minor, if one of them takes it. Servers that stay where they are move nothing, however
/// far they are apart.
fn rise_of_api_servers(case: Case<'_>) -> Option<Rise<'_>> {
    let (were, are) = (&case.before.control_plane, &case.after?.control_plane);
    let (from, _) = case.before.api_servers()?;
    let has_places = were.is_local && were.kube_api_servers.len() == are.kube_api_servers.len();
    let pairs = if has_places {
        were.kube_api_servers.iter().zip(&are.kube_api_servers).collect()
    } else {
        shared::paired(&were.kube_api_servers, &are.kube_api_servers)
    };
    let rising = pairs.into_iter().enumerate();
    let rising = rising.filter(|(_, (was, is))| is.generation() > was.generation());
    let by_place: Vec<(usize, &Version)> = rising.map(|(place, (_, is))| (place, is)).collect();
    let (_, to) = by_place
        .iter()
        .copied()
        .max_by(|(_, one), (_, other)| one.precedence(other))?;
    Some(Rise {
        from,
        to,
        before: case.before,
        by_place,
        has_places,
    })
}

impl<'a> Rise<'a> {
    /// The newest API server that the controller in a place will speak with, if one of them moves.
    fn for_controller(&self, place: usize, controllers: usize) -> Option<&'a Version> {
        if !self.has_places || controllers < self.before.control_plane.kube_api_servers.len() {
            return Some(self.to);
        }
        let own = self.by_place.iter().find(|(other, _)| *other == place);
        own.map(|(_, to)| *to)
    }
}

fn no_minor_is_skipped(case: Case<'_>, findings: &mut Findings) {
    if let Some(Rise { from, to, .. }) = rise_of_api_servers(case) {
        shared::no_skip(Named::new("KT-01", "SkipMinor"), API_SERVERS, from, to, findings);
    }
    let Some(after) = case.after else { return };
    let servers = shared::paired(
        &case.before.control_plane.kube_api_servers,
        &after.control_plane.kube_api_servers,
    );
    let down = servers
        .into_iter()
        .find(|(from, to)| to.generation() < from.generation());
    if let Some((from, to)) = down {
        let finding = Finding::warning(Named::new("KT-01", "MinorDowngrade"), API_SERVERS)
            .says(format!(
                "kube-apiserver goes down from {from} to {to}: the policy covers no way back, and stored objects may be newer"
            ))
            .shows("from", from)
            .shows("to", to)
            .remedy("Restore a backup of etcd that the older version wrote, or repair forward.");
        findings.push(finding);
    }
}

/// Before a kube-apiserver takes a minor, controllers that speak with it are at most one behind it.
fn controllers_follow(case: Case<'_>, findings: &mut Findings) {
    let Some(rise) = rise_of_api_servers(case) else {
        return;
    };
    for (name, versions) in shared::controllers(rise.before) {
        let speaking = versions.iter().enumerate().filter_map(|(place, version)| {
            let to = rise.for_controller(place, versions.len())?;
            (to.generation() > version.generation() + 1).then_some((version, to))
        });
        let Some((oldest, to)) = speaking.min_by(|(one, _), (other, _)| one.precedence(other)) else {
            continue;
        };
        let finding = Finding::violation(Named::new("KT-02", "ControllersBehind"), format!("controlPlane.{name}"))
            .says(format!(
                "kube-apiserver goes to {to} while {name} is at {oldest}: it would be {} behind, one is allowed",
                shared::minors(to.generation() - oldest.generation())
            ))
            .shows("from", rise.from)
            .shows("to", to)
            .shows("controller", oldest)
            .remedy(format!(
                "Bring {name} to {} first, then move kube-apiserver by one minor.",
                rise.from.minor_text()
            ));
        findings.push(finding);
    }
}

/// Minors that the page's section on the order of upgrades still speaks of.
const MINORS_IN_ORDER: u64 = 2;

/// Kubelets hold the control plane back.
fn nodes_pin(case: Case<'_>, findings: &mut Findings) {
    let Some(Rise { from, to, before, .. }) = rise_of_api_servers(case) else {
        return;
    };
    for pool in &before.pools {
        let Some(oldest) = oldest(&pool.kubelets) else {
            continue;
        };
        let behind = to.generation().saturating_sub(oldest.generation());
        let limit = if oldest.generation() < THREE_MINORS_FROM { 2 } else { 3 };
        if behind > limit {
            findings.push(pinned(pool, oldest, from, to, limit));
        } else if behind > MINORS_IN_ORDER {
            let finding = Finding::warning(Named::new("KT-03", "SourcesDisagree"), shared::pool_subject(pool))
                .says(format!(
                    "kube-apiserver goes to {to} while kubelets are at {oldest}: the skew policy allows three minors, its \
                     section on the order of upgrades only two"
                ))
                .shows("kubelet", oldest)
                .shows("to", to)
                .remedy(format!(
                    "Roll pool {} to {} first if you want to be inside of both.",
                    pool.name,
                    shared::back(to, MINORS_IN_ORDER)
                ))
                .disputed(vec![Disagreement {
                    policy: "kubernetes",
                    verdict: "forbidden: at most two minors behind the new kube-apiserver".to_owned(),
                    source: "kubernetes.io, version skew policy, supported component upgrade order",
                }]);
            findings.push(finding);
        }
    }
}

fn pinned(pool: &Pool, oldest: &Version, from: &Version, to: &Version, limit: u64) -> Finding {
    let nodes = pool.kubelets.iter().filter(|kubelet| {
        let behind = to.generation().saturating_sub(kubelet.generation());
        behind > limit
    });
    let advice = if pool.is_paused {
        "Unpause it and roll it"
    } else {
        "Roll it"
    };
    Finding::violation(Named::new("KT-04", "NodesPinControlPlane"), shared::pool_subject(pool))
        .says(format!(
            "pool {} holds the control plane: its kubelets at {oldest} would be {} behind {to}, {limit} are allowed",
            pool.name,
            shared::minors(to.generation() - oldest.generation())
        ))
        .shows("kubelet", oldest)
        .fact("nodes", nodes.count())
        .shows("from", from)
        .shows("to", to)
        .fact("isPaused", pool.is_paused)
        .remedy(if to.generation() > from.generation() + limit {
            format!(
                "{advice} to {} first; then the control plane takes one minor at a time.",
                from.minor_text()
            )
        } else {
            format!(
                "{advice} to {} or later, and not above {}, before the control plane moves.",
                shared::back(to, limit),
                from.minor_text()
            )
        })
}

/// Controllers take a minor when every kube-apiserver that they can reach has it.
fn controllers_wait(case: Case<'_>, findings: &mut Findings) {
    let Some(after) = case.after else { return };
    let servers = &after.control_plane.kube_api_servers;
    let moved = shared::controllers(case.before)
        .into_iter()
        .zip(shared::controllers(after));
    for ((name, were), (_, are)) in moved {
        let is_local = after.control_plane.is_local && are.len() >= servers.len();
        for (place, is) in are.iter().enumerate() {
            let Some(was) = were.get(place).or(were.first()) else {
                continue;
            };
            let reached = if is_local { servers.get(place) } else { oldest(servers) };
            let Some(reached) = reached else { continue };
            if is.generation() > was.generation() && is.generation() > reached.generation() {
                let finding =
                    Finding::violation(Named::new("KT-05", "ControllersFirst"), format!("controlPlane.{name}"))
                        .says(format!(
                            "{name} goes from {was} to {is} while a kube-apiserver that it can reach is at {reached}"
                        ))
                        .shows("from", was)
                        .shows("to", is)
                        .shows("kubeApiServer", reached)
                        .remedy(format!("Bring every kube-apiserver to {} first.", is.minor_text()));
                findings.push(finding);
                // All instances of it have one cause.
                break;
            }
        }
    }
}

/// Kubelets take a minor when every kube-apiserver has it.
fn nodes_wait(case: Case<'_>, findings: &mut Findings) {
    let Some(after) = case.after else { return };
    let Some((oldest_server, _)) = after.api_servers() else {
        return;
    };
    for (was, is) in shared::pools(case.before, after) {
        let early = shared::paired(&was.kubelets, &is.kubelets)
            .into_iter()
            .filter(|(from, to)| to.generation() > from.generation() && to.generation() > oldest_server.generation());
        if let Some((from, to)) = early.max_by(|(_, one), (_, other)| one.precedence(other)) {
            let finding = Finding::violation(Named::new("KT-07", "NodesFirst"), shared::pool_subject(is))
                .says(format!(
                    "kubelets of pool {} go to {to} while a kube-apiserver is at {oldest_server}",
                    is.name
                ))
                .shows("from", from)
                .shows("to", to)
                .shows("kubeApiServer", oldest_server)
                .remedy(format!("Bring every kube-apiserver to {} first.", to.minor_text()));
            findings.push(finding);
        }
    }
}

/// A kubelet changes its minor on an empty node.
fn nodes_are_drained(case: Case<'_>, findings: &mut Findings) {
    drained(Named::new("KT-08", "NeedsDrain"), case, findings);
}

/// The same, under the name of any policy's rule.
pub(super) fn drained(named: Named, case: Case<'_>, findings: &mut Findings) {
    let Some(after) = case.after else { return };
    for (was, is) in shared::pools(case.before, after) {
        let pairs = shared::paired(&was.kubelets, &is.kubelets);
        let changed = pairs.into_iter().find(|(from, to)| !from.same_minor(to));
        let drains = is.drains.or(was.drains);
        if let (Some((from, to)), Some(false)) = (changed, drains) {
            let finding = Finding::violation(named, shared::pool_subject(is))
                .says(format!(
                    "kubelets of pool {} go from {from} to {to} without drain: a minor changes on an empty node only",
                    is.name
                ))
                .shows("from", from)
                .shows("to", to)
                .remedy("Drain each node before its kubelet changes, or replace nodes.");
            findings.push(finding);
        }
    }
}

/// A webhook that matches exactly does not see objects of versions that come with the next minor.
fn webhooks_understand(case: Case<'_>, findings: &mut Findings) {
    let Some(Rise { to, before, .. }) = rise_of_api_servers(case) else {
        return;
    };
    for name in &before.exact_webhooks {
        let finding = Finding::warning(Named::new("KT-09", "WebhookMatchesExactly"), format!("webhooks/{name}"))
            .says(format!(
                "webhook {name} has matchPolicy Exact: it does not see versions of resources that are new in {}",
                to.minor_text()
            ))
            .shows("to", to)
            .remedy("Set matchPolicy to Equivalent, or add the new versions to its rules.");
        findings.push(finding);
    }
}

/// The latest patch first, of the minor that is left and of the one that is entered.
fn latest_patch_first(case: Case<'_>, findings: &mut Findings) {
    let Some(Rise { from, to, before, .. }) = rise_of_api_servers(case) else {
        return;
    };
    if before.distribution.scheme != Scheme::Kubernetes {
        return;
    }
    for (version, moment) in [(from, Moment::Before), (to, Moment::After)] {
        let Some(latest) = crate::catalogue::latest_patch(version) else {
            continue;
        };
        let wanted = &latest.version;
        if has_patch(version) && wanted.precedence(version).is_gt() && !version.is_pre_release() {
            let remedy = match moment {
                Moment::Before => format!("Go to {wanted} before you leave {}.", version.minor_text()),
                _ => format!("Go to {wanted} rather than to {version}."),
            };
            let finding = Finding::warning(Named::new("KT-10", "NotLatestPatch"), API_SERVERS)
                .at(moment)
                .says(format!(
                    "{version} is not the latest patch of {}: {wanted} is",
                    version.minor_text()
                ))
                .shows("version", version)
                .shows("latest", wanted)
                .remedy(remedy);
            findings.push(finding);
        }
    }
}

/// Whether somebody wrote which patch it is; 1.36 alone says nothing about it.
fn has_patch(version: &Version) -> bool {
    let numbers = version.as_str().split(['-', '+']).next();
    numbers.is_some_and(|numbers| numbers.matches('.').count() >= 2)
}
