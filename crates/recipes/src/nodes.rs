//! What is asked of nodes, whichever platform they come from.

use clap::Args;
use hyperplane_api::hypershift::node_pool::{
    NodePool, NodePoolSpec,
    management::{NodePoolManagement, ReplaceUpgrade, UpgradeType},
    platform::NodePoolPlatform,
};
use hyperplane_api::hypershift::{node_pool::ClusterName, release::Release, release::ReleaseImage};

use crate::judge::Judge;

/// How nodes are kept.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Nodes")]
pub(crate) struct NodeFlags {
    /// How nodes get another version: Replace or InPlace
    #[arg(long, value_name = "TYPE", default_value = "Replace")]
    node_upgrade_type: String,
    /// How long a node is drained before it goes all the same, such as 10m [default: as long as it takes]
    #[arg(long, value_name = "DURATION")]
    node_drain_timeout: Option<String>,
    /// How long volumes are waited for before a machine goes all the same [default: as long as it takes]
    #[arg(long, value_name = "DURATION")]
    node_volume_detach_timeout: Option<String>,
    /// Replace machines that stay unhealthy
    #[arg(long)]
    auto_repair: bool,
    /// The processors of machines: amd64, arm64, ppc64le or s390x
    #[arg(long, value_name = "ARCH", default_value = "amd64")]
    arch: String,
}

/// What a pool is, besides how its nodes are kept.
pub(crate) struct PoolFacts<'a> {
    pub(crate) name: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) cluster: &'a str,
    pub(crate) image: &'a str,
    pub(crate) replicas: i32,
    pub(crate) platform: NodePoolPlatform,
}

impl NodeFlags {
    /// A pool.
    pub(crate) fn pool(&self, facts: PoolFacts<'_>, judge: &mut Judge) -> NodePool {
        let upgrade_type: UpgradeType = judge.word("--node-upgrade-type", &self.node_upgrade_type);
        if upgrade_type == UpgradeType::InPlace {
            judge.note("pools with upgrade type InPlace are left alone for now: nobody changes their nodes");
        }
        let spec = NodePoolSpec {
            cluster_name: ClusterName::stored(facts.cluster),
            release: Release {
                image: ReleaseImage::stored(facts.image),
            },
            platform: facts.platform,
            replicas: Some(facts.replicas),
            auto_scaling: None,
            management: NodePoolManagement {
                upgrade_type,
                replace: ReplaceUpgrade::default(),
                in_place: None,
                auto_repair: self.auto_repair,
            },
            arch: judge.word("--arch", &self.arch),
            config: Vec::new(),
            tuning_config: Vec::new(),
            node_labels: std::collections::BTreeMap::new(),
            taints: Vec::new(),
            node_drain_timeout: judge.optional("--node-drain-timeout", self.node_drain_timeout.as_deref()),
            node_volume_detach_timeout: judge.optional(
                "--node-volume-detach-timeout",
                self.node_volume_detach_timeout.as_deref(),
            ),
            os_image_stream: None,
            paused_until: None,
        };
        let mut pool = NodePool::new(facts.name, spec);
        pool.metadata.namespace = Some(facts.namespace.to_owned());
        pool
    }
}
