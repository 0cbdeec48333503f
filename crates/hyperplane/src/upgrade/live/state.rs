//! From objects to a state: who was observed to run which version. Pure.

use std::{collections::BTreeMap, sync::Arc};

use hyperplane_api::{
    cluster_api::machine::Machine,
    common::IntOrString,
    constants::{annotations, conditions::node_pool as types, reasons},
    hyperplane::distribution_release::DistributionRelease,
    hypershift::{
        hosted_cluster::HostedCluster,
        node_pool::{NodePool, status::ConditionStatus},
        version_status::UpdateState,
    },
};
use hyperplane_planner::{
    release::{Release, resolve},
    state::{ControlPlane, Distribution, Health, Past, Pool, State},
    version::{Scheme, Version},
};
use k8s_openapi::apimachinery::pkg::util::intstr;
use kube::ResourceExt as _;

use super::Live;

/// A version that some part of a control plane has.
struct PlaneVersion {
    version: Version,
    kubernetes: Option<Version>,
    etcd: Option<Version>,
}

/// The releases that some part of a control plane has, as far as they are known.
pub(crate) fn plane_releases(cluster: &HostedCluster, releases: &[DistributionRelease]) -> Vec<Release> {
    let mut found: Vec<Release> = Vec::new();
    for (_, image) in told(cluster) {
        if let Some(release) = find(&image, releases)
            && !found.contains(&*release)
        {
            found.push(Release::clone(&release));
        }
    }
    found
}

/// A cluster as its objects tell of it.
pub(super) fn of(live: &Live) -> State {
    let scheme = scheme(live);
    let plane = plane(live, scheme);
    let spec = &live.cluster.spec;
    State {
        control_plane: ControlPlane {
            kube_api_servers: plane.iter().filter_map(|one| one.kubernetes.clone()).collect(),
            etcd: plane.iter().filter_map(|one| one.etcd.clone()).collect(),
            ..ControlPlane::default()
        },
        pools: live.pools.iter().map(|pool| pool_state(pool, live, scheme)).collect(),
        distribution: Distribution {
            scheme,
            // What the whole of it has reached; the newer one is on its way.
            version: plane.last().map(|one| one.version.clone()),
            history: history(&live.cluster, scheme),
            channel: spec.channel.clone(),
            available_updates: updates(&live.cluster, scheme),
            architecture: architecture(&live.cluster),
            ..Distribution::default()
        },
        health: health(live),
        ..State::default()
    }
}

fn find(image: &str, releases: &[DistributionRelease]) -> Option<Arc<Release>> {
    resolve(image, releases).ok().map(|resolved| resolved.release)
}

/// By whose rules versions are read: those of the release that is asked for.
fn scheme(live: &Live) -> Scheme {
    let release = find(live.cluster.spec.release.image.as_str(), live.releases());
    release.map_or(Scheme::Kubernetes, |release| release.scheme())
}

/// Every version that the control plane has, the newest first. A release that somebody took away is known by its version
/// only, which for Kubernetes itself says all. Where one may be among releases that cannot be read nothing is known: half of
/// the versions would pass for all of them.
fn plane(live: &Live, scheme: Scheme) -> Vec<PlaneVersion> {
    let mut found: Vec<PlaneVersion> = Vec::new();
    for (version, image) in told(&live.cluster) {
        let known = find(&image, live.releases()).map(|release| PlaneVersion {
            version: release.version.clone(),
            kubernetes: Some(release.kubernetes.clone()),
            etcd: release.component_version("etcd").cloned(),
        });
        let by_number = || {
            let version = Version::parse(scheme, &version).ok()?;
            let is_kubernetes = !matches!(scheme, Scheme::OpenShift | Scheme::Acp);
            Some(PlaneVersion {
                kubernetes: is_kubernetes.then(|| version.clone()),
                version,
                etcd: None,
            })
        };
        if known.is_none() && live.releases.is_none() {
            return Vec::new();
        }
        let Some(one) = known.or_else(by_number) else {
            continue;
        };
        if !found.iter().any(|other| other.version == one.version) {
            found.push(one);
        }
    }
    found
}

/// Versions and images of the control plane, the newest first: the one that it last reached as a whole, and those that it is
/// on its way to. A control plane that reports nothing yet has what was asked for.
fn told(cluster: &HostedCluster) -> Vec<(String, String)> {
    let status = cluster.status.as_ref();
    let own = status.and_then(|status| status.control_plane_version.as_ref());
    let whole = status.and_then(|status| status.version.as_ref());
    let history: Vec<(bool, String, String)> = match (own, whole) {
        (Some(own), _) => {
            let updates = own.history.iter();
            updates
                .map(|update| {
                    let is_complete = update.state == UpdateState::Completed;
                    (is_complete, update.version.as_str().to_owned(), update.image.clone())
                })
                .collect()
        }
        (None, Some(whole)) => {
            let updates = whole.history.iter();
            updates
                .map(|update| {
                    let is_complete = update.state == UpdateState::Completed;
                    (
                        is_complete,
                        update.version.clone().unwrap_or_default(),
                        update.image.clone(),
                    )
                })
                .collect()
        }
        (None, None) => Vec::new(),
    };
    let reached = history.iter().position(|(is_complete, _, _)| *is_complete);
    let count = reached.map_or(history.len(), |place| place + 1);
    let found: Vec<(String, String)> = history
        .into_iter()
        .take(count)
        .map(|(_, version, image)| (version, image))
        .collect();
    if found.is_empty() {
        return vec![(String::new(), cluster.spec.release.image.as_str().to_owned())];
    }
    found
}

fn history(cluster: &HostedCluster, scheme: Scheme) -> Vec<Past> {
    let version = cluster.status.as_ref().and_then(|status| status.version.as_ref());
    let updates = version.iter().flat_map(|version| &version.history);
    let past = updates.filter_map(|update| {
        Some(Past {
            version: Version::parse(scheme, update.version.as_ref()?).ok()?,
            is_complete: update.state == UpdateState::Completed,
        })
    });
    past.collect()
}

fn updates(cluster: &HostedCluster, scheme: Scheme) -> Option<Vec<Version>> {
    let version = cluster.status.as_ref()?.version.as_ref()?;
    let updates = version.available_updates.as_ref()?.iter();
    Some(
        updates
            .filter_map(|update| Version::parse(scheme, &update.version).ok())
            .collect(),
    )
}

fn architecture(cluster: &HostedCluster) -> Option<String> {
    let architecture = cluster.status.as_ref()?.payload_arch.as_ref()?;
    Some(architecture.as_str().to_lowercase())
}

/// Whether the control plane serves and all nodes are well, as conditions say.
fn health(live: &Live) -> Health {
    let status = live.cluster.status.as_ref();
    let mut conditions = status.iter().flat_map(|status| &status.conditions);
    let available = conditions.find(|condition| condition.type_ == "Available");
    let pools: Vec<Option<bool>> = live.pools.iter().map(has_healthy_nodes).collect();
    Health {
        control_plane: available.map(|condition| condition.status == "True"),
        nodes_ready: pools
            .into_iter()
            .collect::<Option<Vec<bool>>>()
            .map(|all| all.iter().all(|is_well| *is_well)),
    }
}

/// Whether all nodes of a pool are well; none where nobody knows. One that is to have no nodes is as it should be: its
/// condition is False without a complaint.
fn has_healthy_nodes(pool: &NodePool) -> Option<bool> {
    let mut conditions = pool.status.iter().flat_map(|status| &status.conditions);
    let healthy = conditions.find(|condition| condition.type_ == types::ALL_NODES_HEALTHY.as_str())?;
    let has_none = healthy.reason.as_deref() == Some(reasons::AS_EXPECTED.as_str());
    match healthy.status {
        ConditionStatus::True => Some(true),
        ConditionStatus::False => Some(has_none),
        _ => None,
    }
}

fn pool_state(pool: &NodePool, live: &Live, scheme: Scheme) -> Pool {
    let (versions, kubelets) = node_versions(pool, live, scheme);
    let rolling = pool.spec.management.replace.rolling_update.as_ref();
    let amount = |amount: Option<&IntOrString>| {
        amount.map(|IntOrString(amount)| match amount {
            intstr::IntOrString::Int(number) => number.to_string(),
            intstr::IntOrString::String(text) => text.clone(),
        })
    };
    Pool {
        name: pool.name_any(),
        versions,
        kubelets,
        is_paused: pool.spec.paused_until.is_some(),
        drains: Some(true),
        upgrade_type: Some(pool.spec.management.upgrade_type.as_str().to_owned()),
        max_surge: amount(rolling.and_then(|rolling| rolling.max_surge.as_ref())),
        max_unavailable: amount(rolling.and_then(|rolling| rolling.max_unavailable.as_ref())),
        ..Pool::default()
    }
}

/// What the nodes of a pool were observed to have: by their machines, else by the status of the pool; what a pool without
/// nodes asks for, as its first node will have that. Where machines may not be read, the status says whether there are none.
fn node_versions(pool: &NodePool, live: &Live, scheme: Scheme) -> (Vec<Version>, Vec<Version>) {
    let by_machines = of_machines(pool, live.machines.as_deref().unwrap_or_default(), scheme);
    if !by_machines.1.is_empty() {
        return by_machines;
    }
    let status = pool.status.as_ref();
    let nodes = status.and_then(|status| status.nodes_info.as_ref());
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for group in nodes.iter().flat_map(|nodes| &nodes.node_versions) {
        let count = group.ready_node_count.saturating_add(group.unready_node_count);
        let key = (group.ocp_version.as_str(), group.kubelet_version.as_str());
        *counts.entry(key).or_default() += usize::try_from(count).unwrap_or_default();
    }
    if !counts.is_empty() {
        return spread(&counts, scheme);
    }
    let has_none = live.machines.is_some() || status.and_then(|status| status.replicas) == Some(0);
    let asked = find(pool.spec.release.image.as_str(), live.releases());
    match asked.filter(|_| has_none) {
        Some(release) => (vec![release.version.clone()], vec![release.kubernetes.clone()]),
        None => (Vec::new(), Vec::new()),
    }
}

fn of_machines(pool: &NodePool, machines: &[Machine], scheme: Scheme) -> (Vec<Version>, Vec<Version>) {
    let title = format!("{}/{}", pool.namespace().unwrap_or_default(), pool.name_any());
    let mut found = (Vec::new(), Vec::new());
    for machine in machines
        .iter()
        .filter(|machine| annotations::NODE_POOL.of(*machine) == Some(&*title))
    {
        let info = machine.status.as_ref().and_then(|status| status.node_info.as_ref());
        let Some(info) = info else {
            continue;
        };
        let version = annotations::RELEASE_VERSION.of(machine);
        found
            .0
            .extend(version.and_then(|text| Version::parse(scheme, text).ok()));
        found.1.extend(kubelet(&info.kubelet_version, scheme));
    }
    found
}

fn spread(counts: &BTreeMap<(&str, &str), usize>, scheme: Scheme) -> (Vec<Version>, Vec<Version>) {
    let mut found = (Vec::new(), Vec::new());
    for ((version, of_kubelet), count) in counts {
        let version = Version::parse(scheme, version).ok();
        found.0.extend(std::iter::repeat_n(version, *count).flatten());
        found
            .1
            .extend(std::iter::repeat_n(kubelet(of_kubelet, scheme), *count).flatten());
    }
    found
}

/// A version of the kubelet. Kubelets say it in Kubernetes' own way, whichever distribution they come with.
fn kubelet(text: &str, scheme: Scheme) -> Option<Version> {
    let own = match scheme {
        Scheme::OpenShift => Scheme::Kubernetes,
        other => other,
    };
    Version::parse(own, text)
        .or_else(|_| Version::parse(Scheme::Kubernetes, text))
        .ok()
}

#[cfg(test)]
mod tests;
