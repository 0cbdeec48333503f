//! What is known about a cluster at one moment: who runs which version, and the facts that prerequisites ask for. Every
//! part may be absent.

mod read;
mod reader;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

pub use reader::StateError;

use crate::version::{Scheme, Version};

/// A cluster at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The control plane.
    pub control_plane: ControlPlane,
    /// The pools of nodes.
    pub pools: Vec<Pool>,
    /// kubectl, as users have it.
    pub kubectl: Vec<Version>,
    /// The distribution that the cluster is made of.
    pub distribution: Distribution,
    /// Whether everything works.
    pub health: Health,
    /// Addresses that new nodes can take.
    pub ip_pools: Option<Vec<IpPool>>,
    /// Extensions.
    pub extensions: Option<Vec<Extension>>,
    /// What users changed of what the distribution manages.
    pub modifications: Option<Vec<Modification>>,
    /// What was acknowledged: gates and risks by their names.
    pub acks: Option<BTreeSet<String>>,
    /// Gates that are there and not acknowledged.
    pub open_gates: BTreeSet<String>,
    /// Images and rows that nodes can reach.
    pub artifacts: Option<BTreeSet<String>>,
    /// How the last backup of etcd ended.
    pub backup: Option<String>,
    /// Providers of infrastructure and their versions.
    pub providers: BTreeMap<String, Version>,
    /// What all nodes have at least.
    pub nodes: Nodes,
    /// The version of what manages the cluster.
    pub manager: Option<Version>,
    /// Managers that stand by; the older one counts.
    pub standby_manager: Option<Version>,
    /// Admission webhooks that match one version of a resource exactly.
    pub exact_webhooks: Vec<String>,
    /// Versions that a cluster may be asked for, where the manager has a list.
    pub offered: Option<Vec<Version>>,
}

/// The versions of a control plane, one per instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControlPlane {
    /// kube-apiserver.
    pub kube_api_servers: Vec<Version>,
    /// kube-controller-manager.
    pub kube_controller_manager: Vec<Version>,
    /// kube-scheduler.
    pub kube_scheduler: Vec<Version>,
    /// cloud-controller-manager.
    pub cloud_controller_manager: Vec<Version>,
    /// etcd.
    pub etcd: Vec<Version>,
    /// Whether the controllers reach every kube-apiserver, or each only the one in its place of the list.
    pub is_local: bool,
}

/// A pool of nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pool {
    /// Its name.
    pub name: String,
    /// The distribution's version of each node, or of all.
    pub versions: Vec<Version>,
    /// The kubelet of each node.
    pub kubelets: Vec<Version>,
    /// The kube-proxy of each node, beside the kubelet in the same place.
    pub kube_proxies: Vec<Version>,
    /// A paused pool does not move, counts, and holds the others.
    pub is_paused: bool,
    /// Whether nodes are emptied before they change; none if nobody said.
    pub drains: Option<bool>,
    /// How nodes get a new version.
    pub upgrade_type: Option<String>,
    /// Nodes above the size of the pool while it rolls.
    pub max_surge: Option<String>,
    /// Nodes that may be missing while it rolls.
    pub max_unavailable: Option<String>,
    /// Whether nodes have disks or places of their own that a further node cannot have.
    pub has_fixed_slots: bool,
    /// Fields of the kubelet's configuration that are set.
    pub kubelet_fields: Option<BTreeSet<String>>,
}

/// The distribution that a cluster is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distribution {
    /// How its versions are ordered.
    pub scheme: Scheme,
    /// Its version.
    pub version: Option<Version>,
    /// The row of its matrix of components.
    pub row: Option<String>,
    /// Versions that it had, the current one first.
    pub history: Vec<Past>,
    /// Whether the distribution itself says that its minor may change; with the reason if not.
    pub upgradeable: Option<Upgradeable>,
    /// Where its updates come from.
    pub channel: Option<String>,
    /// Updates that are offered from here.
    pub available_updates: Option<Vec<Version>>,
    /// Whether an administrator insists.
    pub is_forced: bool,
    /// The architecture of its payload.
    pub architecture: Option<String>,
    /// Whether the distribution's own part of the version is everywhere, before Kubernetes moves.
    pub is_core_complete: Option<bool>,
}

impl Default for Distribution {
    fn default() -> Self {
        Self {
            scheme: Scheme::Kubernetes,
            version: None,
            row: None,
            history: Vec::new(),
            upgradeable: None,
            channel: None,
            available_updates: None,
            is_forced: false,
            architecture: None,
            is_core_complete: None,
        }
    }
}

/// A version that a cluster had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Past {
    /// Which.
    pub version: Version,
    /// Whether the cluster ever was wholly at it.
    pub is_complete: bool,
}

/// What a distribution says about its own next minor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upgradeable {
    /// Whether it may change.
    pub is_upgradeable: bool,
    /// Why not.
    pub reason: Option<String>,
}

/// Whether everything works; none where nobody said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// The control plane.
    pub control_plane: Option<bool>,
    /// All nodes.
    pub nodes_ready: Option<bool>,
}

/// Addresses that new nodes can take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IpPool {
    /// Its name.
    pub name: String,
    /// Addresses that are free.
    pub free: u64,
}

/// An extension of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: Option<String>,
    /// How much its upgrade disturbs.
    pub impact: Option<String>,
    /// How far its own installation is, in the words of the distribution.
    pub phase: Option<String>,
    /// Whether somebody has read that.
    pub is_acknowledged: bool,
}

/// Something that a user changed of what the distribution manages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Modification {
    /// Its name.
    pub name: String,
    /// Whether somebody has looked at it for this upgrade.
    pub is_reviewed: bool,
    /// The version for which it is known to be harmless.
    pub exempt_for: Option<String>,
}

/// What all nodes have at least.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nodes {
    /// The oldest kernel.
    pub min_kernel: Option<(u64, u64)>,
    /// The version of control groups.
    pub cgroup: Option<u64>,
    /// The level of the instruction set, as in x86-64-v2.
    pub cpu_level: Option<u64>,
}

impl State {
    /// The oldest and the newest kube-apiserver.
    pub fn api_servers(&self) -> Option<(&Version, &Version)> {
        let servers = &self.control_plane.kube_api_servers;
        Some((oldest(servers)?, newest(servers)?))
    }

    /// The version of the whole cluster: the distribution's, or that of Kubernetes where it is the distribution.
    pub fn cluster_version(&self) -> Option<&Version> {
        let kubernetes = || match self.distribution.scheme {
            Scheme::OpenShift | Scheme::Acp => None,
            Scheme::Kubernetes | Scheme::K0s | Scheme::Gke => oldest(&self.control_plane.kube_api_servers),
        };
        self.distribution.version.as_ref().or_else(kubernetes)
    }

    /// Fills in what was left out of a state that is to come: it stays as it is.
    pub fn complete_from(&mut self, before: &Self) {
        let (plane, was) = (&mut self.control_plane, &before.control_plane);
        for (versions, were) in [
            (&mut plane.kube_api_servers, &was.kube_api_servers),
            (&mut plane.kube_controller_manager, &was.kube_controller_manager),
            (&mut plane.kube_scheduler, &was.kube_scheduler),
            (&mut plane.cloud_controller_manager, &was.cloud_controller_manager),
            (&mut plane.etcd, &was.etcd),
            (&mut self.kubectl, &before.kubectl),
        ] {
            fill(versions, were);
        }
        plane.is_local |= was.is_local;
        fill(&mut self.pools, &before.pools);
        for pool in &mut self.pools {
            // One that says of no version where it is going stays where it is.
            let says_nothing = pool.versions.is_empty() && pool.kubelets.is_empty() && pool.kube_proxies.is_empty();
            if let Some(was) = before.pool(&pool.name).filter(|_| says_nothing) {
                pool.versions.clone_from(&was.versions);
                pool.kubelets.clone_from(&was.kubelets);
                pool.kube_proxies.clone_from(&was.kube_proxies);
            }
        }
        fill_option(&mut self.distribution.version, before.distribution.version.as_ref());
        fill_option(&mut self.distribution.row, before.distribution.row.as_ref());
        fill_option(
            &mut self.distribution.architecture,
            before.distribution.architecture.as_ref(),
        );
        fill_option(&mut self.ip_pools, before.ip_pools.as_ref());
        fill_option(&mut self.extensions, before.extensions.as_ref());
        fill_option(&mut self.modifications, before.modifications.as_ref());
        fill_option(&mut self.acks, before.acks.as_ref());
        fill_option(&mut self.artifacts, before.artifacts.as_ref());
        fill_option(&mut self.backup, before.backup.as_ref());
        fill_option(&mut self.manager, before.manager.as_ref());
        fill_option(&mut self.standby_manager, before.standby_manager.as_ref());
        fill_option(&mut self.offered, before.offered.as_ref());
        if self.providers.is_empty() {
            self.providers.clone_from(&before.providers);
        }
    }

    /// The pool with a name.
    pub fn pool(&self, name: &str) -> Option<&Pool> {
        self.pools.iter().find(|pool| pool.name == name)
    }
}

impl Pool {
    /// The versions by which a policy of the whole distribution judges the pool: the distribution's, or the kubelets'
    /// where Kubernetes is the distribution.
    pub fn distribution_versions(&self, scheme: Scheme) -> &[Version] {
        match scheme {
            Scheme::OpenShift | Scheme::Acp => &self.versions,
            _ if self.versions.is_empty() => &self.kubelets,
            _ => &self.versions,
        }
    }
}

fn fill<T: Clone>(list: &mut Vec<T>, from: &[T]) {
    if list.is_empty() {
        list.extend_from_slice(from);
    }
}

fn fill_option<T: Clone>(value: &mut Option<T>, from: Option<&T>) {
    if value.is_none() {
        *value = from.cloned();
    }
}

/// The oldest of some versions.
pub fn oldest(versions: &[Version]) -> Option<&Version> {
    versions.iter().min_by(|one, other| one.precedence(other))
}

/// The newest of some versions.
pub fn newest(versions: &[Version]) -> Option<&Version> {
    versions.iter().max_by(|one, other| one.precedence(other))
}
