//! From flags to a node pool of a cluster that is there, or will be.

use clap::Args;
use hyperplane_api::hypershift::{hosted_cluster::HostedCluster, node_pool::ClusterName};
use hyperplane_planner::release::Release;
use hyperplane_schema::names;

use crate::{
    cluster::{CLUSTERS, finish},
    given::Given,
    judge::{Judge, Problem},
    manifest::{Manifest, Manifests},
    nodes::{NodeFlags, PoolFacts},
    platform::PoolPlatform,
    release::{Chosen, IMAGE, ReleaseFlags, by_image},
    skew,
};

/// The command line of a pool on one platform, with flags of whoever makes it.
#[derive(Args, Clone, Debug)]
pub struct PoolLine<P: Args, E: Args> {
    #[command(flatten)]
    pub(crate) flags: PoolFlags,
    #[command(flatten)]
    pub(crate) platform: P,
    #[command(flatten)]
    pub(crate) extra: E,
}

/// What is asked of a pool on any platform.
#[derive(Args, Clone, Debug)]
pub struct PoolFlags {
    /// The name of the pool
    #[arg(value_name = "NAME", required_unless_present = "name", conflicts_with = "name")]
    named: Option<String>,
    /// The name of the pool, in place of NAME
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The cluster that nodes belong to
    #[arg(long, value_name = "NAME")]
    pub cluster_name: String,
    /// The namespace of the cluster and the pool
    #[arg(short, long, value_name = "NAME", default_value = CLUSTERS)]
    pub namespace: String,
    /// How many nodes
    #[arg(long, visible_alias = "node-count", value_name = "COUNT", default_value_t = 2)]
    replicas: u32,
    /// The release of the nodes; without a flag, that of the cluster.
    #[command(flatten)]
    pub release: ReleaseFlags,
    #[command(flatten)]
    nodes: NodeFlags,
}

impl PoolFlags {
    /// The name of the pool.
    pub fn name(&self) -> &str {
        self.name.as_deref().or(self.named.as_deref()).unwrap_or_default()
    }
}

/// A pool that is asked for.
pub struct PoolRecipe<'a> {
    /// What is asked of it on any platform.
    pub flags: &'a PoolFlags,
    pub(crate) platform: &'a dyn PoolPlatform,
}

impl PoolRecipe<'_> {
    /// The pool, or every reason why there is none. The cluster is absent where nobody looked; a control plane has every
    /// release that some part of it runs.
    pub fn build(
        &self,
        cluster: Option<&HostedCluster>,
        plane: &[Release],
        given: &Given,
    ) -> Result<Manifests, Vec<Problem>> {
        let mut judge = Judge::default();
        let flags = self.flags;
        let name = flags.name();
        judge.complaints("--name", name, &names::dns_1123_subdomain(name));
        judge.complaints(
            "--namespace",
            &flags.namespace,
            &names::dns_1123_label(&flags.namespace),
        );
        judge.text("--cluster-name", &flags.cluster_name, ClusterName::stored);
        let platform = self.platform.machines(&mut judge);
        let wanted = &platform.type_;
        let other = cluster
            .map(|cluster| &cluster.spec.platform.type_)
            .filter(|has| *has != wanted);
        if let Some(has) = other {
            judge.wrong(
                "--cluster-name",
                format!(
                    "{} is on {has}: use create nodepool for that platform",
                    flags.cluster_name
                ),
            );
        }
        let chosen = self.release(cluster, given, &mut judge);
        if let Some(target) = &chosen.release {
            skew::judge_pool(chosen.flag, name, plane, target, &mut judge);
        }
        let replicas = i32::try_from(flags.replicas).unwrap_or_else(|_| {
            judge.wrong("--replicas", format!("{} is more than any cluster has", flags.replicas));
            0
        });
        let facts = PoolFacts {
            name,
            namespace: &flags.namespace,
            cluster: &flags.cluster_name,
            image: &chosen.image,
            replicas,
            platform,
        };
        let pool = flags.nodes.pool(facts, &mut judge);
        finish(vec![Manifest::open(&pool)], judge)
    }

    /// The release that is asked for, or that of the cluster.
    fn release(&self, cluster: Option<&HostedCluster>, given: &Given, judge: &mut Judge) -> Chosen {
        let flags = &self.flags.release;
        match cluster {
            _ if !flags.is_empty() => flags.choose(given, judge),
            Some(cluster) => by_image(cluster.spec.release.image.as_str(), given, judge),
            None => {
                judge.wrong(
                    IMAGE,
                    "needed where the cluster is not looked at: give it, or --version",
                );
                Chosen {
                    image: String::new(),
                    release: None,
                    flag: IMAGE,
                }
            }
        }
    }
}
