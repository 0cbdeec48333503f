//! Platforms: what a cluster and a pool on each of them take, one file each. Adding one is a file, and a line in each of
//! the two lists here.

mod agent;
mod kubevirt;
mod none;

use clap::{Args, Subcommand};
use hyperplane_api::hypershift::{node_pool::platform::NodePoolPlatform, platform::Platform};
use hyperplane_planner::release::Release;

use self::{
    agent::{AgentCluster, AgentMachines},
    kubevirt::{KubeVirtCluster, KubeVirtMachines},
    none::{NoneCluster, NoneMachines},
};
use crate::{
    cluster::{ClusterLine, ClusterRecipe},
    given::{FileFlag, Given},
    judge::Judge,
    manifest::Manifest,
    pool::{PoolLine, PoolRecipe},
    publishing::Publishing,
};

/// A cluster on one of the platforms.
#[derive(Subcommand, Clone, Debug)]
pub enum ClusterCommand<E: Args> {
    /// Nodes are virtual machines on a cluster with KubeVirt
    Kubevirt(Box<ClusterLine<KubeVirtCluster, E>>),
    /// Nodes are hosts that an agent has enrolled
    Agent(Box<ClusterLine<AgentCluster, E>>),
    /// Nodes are hosts that join by themselves
    None(Box<ClusterLine<NoneCluster, E>>),
}

impl<E: Args> ClusterCommand<E> {
    /// What is asked for, and the flags of whoever makes it.
    pub fn recipe(&self) -> (ClusterRecipe<'_>, &E) {
        match self {
            Self::Kubevirt(line) => of_cluster(line),
            Self::Agent(line) => of_cluster(line),
            Self::None(line) => of_cluster(line),
        }
    }
}

/// A pool on one of the platforms.
#[derive(Subcommand, Clone, Debug)]
pub enum PoolCommand<E: Args> {
    /// Nodes are virtual machines on a cluster with KubeVirt
    #[command(override_usage = "hyperplane create nodepool kubevirt NAME --cluster-name CLUSTER [OPTIONS]")]
    Kubevirt(Box<PoolLine<KubeVirtMachines, E>>),
    /// Nodes are hosts that an agent has enrolled
    #[command(override_usage = "hyperplane create nodepool agent NAME --cluster-name CLUSTER [OPTIONS]")]
    Agent(Box<PoolLine<AgentMachines, E>>),
    /// Nodes are hosts that join by themselves
    #[command(override_usage = "hyperplane create nodepool none NAME --cluster-name CLUSTER [OPTIONS]")]
    None(Box<PoolLine<NoneMachines, E>>),
}

impl<E: Args> PoolCommand<E> {
    /// What is asked for, and the flags of whoever makes it.
    pub fn recipe(&self) -> (PoolRecipe<'_>, &E) {
        match self {
            Self::Kubevirt(line) => of_pool(line),
            Self::Agent(line) => of_pool(line),
            Self::None(line) => of_pool(line),
        }
    }
}

fn of_cluster<P: ClusterPlatform + Args, E: Args>(line: &ClusterLine<P, E>) -> (ClusterRecipe<'_>, &E) {
    let recipe = ClusterRecipe {
        flags: &line.flags,
        platform: &line.platform,
    };
    (recipe, &line.extra)
}

fn of_pool<P: PoolPlatform + Args, E: Args>(line: &PoolLine<P, E>) -> (PoolRecipe<'_>, &E) {
    let recipe = PoolRecipe {
        flags: &line.flags,
        platform: &line.platform,
    };
    (recipe, &line.extra)
}

/// What platforms look at besides their own flags.
pub(crate) struct Surroundings<'a> {
    pub(crate) name: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) has_base_domain: bool,
    pub(crate) has_external_dns: bool,
    pub(crate) release: Option<&'a Release>,
    pub(crate) given: &'a Given,
}

/// What a cluster has of its platform.
pub(crate) trait ClusterPlatform: PoolPlatform {
    /// Settings of the cluster, and objects that they name.
    fn platform(&self, surroundings: &Surroundings<'_>, judge: &mut Judge) -> (Platform, Vec<Manifest>);

    /// How endpoints are published.
    fn publishing(&self, surroundings: &Surroundings<'_>, judge: &mut Judge) -> Publishing;

    /// How many nodes there are to begin with; below zero there is no pool.
    fn default_replicas(&self) -> i32 {
        0
    }

    /// Whether endpoints are published by ports of nodes, and no flag says where those are.
    fn needs_node_address(&self) -> bool {
        false
    }

    /// Files that flags name.
    fn files(&self) -> Vec<FileFlag> {
        Vec::new()
    }
}

/// What a pool has of its platform.
pub(crate) trait PoolPlatform {
    /// Settings of machines.
    fn machines(&self, judge: &mut Judge) -> NodePoolPlatform;
}

/// Ports of nodes, at an address that a flag gives or a node has.
fn node_ports(
    flag: &'static str,
    asked: Option<&str>,
    surroundings: &Surroundings<'_>,
    judge: &mut Judge,
) -> Publishing {
    let found = surroundings.given.node_address.as_deref();
    let Some(address) = asked.or(found) else {
        judge.wrong(
            flag,
            "needed, as no node of the management cluster was asked: give the address at which clients reach its nodes",
        );
        return Publishing::NodePort {
            address: String::new(),
            flag,
        };
    };
    Publishing::NodePort {
        address: address.to_owned(),
        flag,
    }
}
