//! Hosts that an agent has enrolled, and that wait in a namespace to be claimed.

use clap::Args;
use hyperplane_api::hypershift::{
    node_pool::platform::{NodePoolPlatform, agent::AgentNodePoolPlatform},
    platform::{Platform, agent::AgentPlatform},
    platform_type::PlatformType,
};
use hyperplane_schema::names;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use serde_json::json;

use super::{ClusterPlatform, PoolPlatform, Surroundings, node_ports};
use crate::{judge::Judge, manifest::Manifest, pairs, publishing::Publishing};

const ADDRESS: &str = "--api-server-address";

/// What a cluster of agents takes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Agents")]
pub struct AgentCluster {
    /// The namespace whose Agents may become nodes
    #[arg(long, value_name = "NAME")]
    agent_namespace: String,
    /// Where clients reach nodes of the management cluster [default: an address of one of them]
    #[arg(long, value_name = "ADDRESS")]
    api_server_address: Option<String>,
    #[command(flatten)]
    machines: AgentMachines,
}

/// What a pool of agents takes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Agents")]
pub struct AgentMachines {
    /// Labels that Agents must have to become nodes of the pool; repeatable
    #[arg(
        long = "agentLabelSelector",
        alias = "agent-label-selector",
        value_name = "KEY=VALUE"
    )]
    agent_label_selector: Vec<String>,
}

impl ClusterPlatform for AgentCluster {
    fn platform(&self, _: &Surroundings<'_>, judge: &mut Judge) -> (Platform, Vec<Manifest>) {
        let namespace = &self.agent_namespace;
        judge.complaints("--agent-namespace", namespace, &names::dns_1123_label(namespace));
        let agent = AgentPlatform {
            agent_namespace: namespace.clone(),
        };
        let fields = json!({"type": PlatformType::Agent, "agent": agent});
        let platform = hyperplane_objects::read(&fields).expect("what a platform needs is there");
        (platform, Vec::new())
    }

    fn publishing(&self, surroundings: &Surroundings<'_>, judge: &mut Judge) -> Publishing {
        if surroundings.has_external_dns && self.api_server_address.is_none() {
            return Publishing::Ingress;
        }
        node_ports(ADDRESS, self.api_server_address.as_deref(), surroundings, judge)
    }

    fn needs_node_address(&self) -> bool {
        self.api_server_address.is_none()
    }
}

impl PoolPlatform for AgentCluster {
    fn machines(&self, judge: &mut Judge) -> NodePoolPlatform {
        self.machines.machines(judge)
    }
}

impl PoolPlatform for AgentMachines {
    fn machines(&self, judge: &mut Judge) -> NodePoolPlatform {
        let labels = pairs::labels("--agentLabelSelector", &self.agent_label_selector, judge);
        let selector = LabelSelector {
            match_labels: Some(labels),
            match_expressions: None,
        };
        let agent = AgentNodePoolPlatform {
            agent_label_selector: Some(selector).filter(|_| !self.agent_label_selector.is_empty()),
        };
        let fields = json!({"type": PlatformType::Agent, "agent": agent});
        hyperplane_objects::read(&fields).expect("what a platform needs is there")
    }
}
