//! No infrastructure: hosts join by themselves.

use clap::Args;
use hyperplane_api::hypershift::{
    node_pool::platform::NodePoolPlatform, platform::Platform, platform_type::PlatformType,
};
use serde_json::json;

use super::{ClusterPlatform, PoolPlatform, Surroundings, node_ports};
use crate::{judge::Judge, manifest::Manifest, publishing::Publishing};

const ADDRESS: &str = "--external-api-server-address";
const LOAD_BALANCER: &str = "--expose-through-load-balancer";

/// What a cluster without infrastructure takes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Endpoints")]
pub struct NoneCluster {
    /// Where clients reach nodes of the management cluster [default: an address of one of them]
    #[arg(long, value_name = "ADDRESS")]
    external_api_server_address: Option<String>,
    /// Publish the API server by a load balancer, and everything else by host name
    #[arg(long)]
    expose_through_load_balancer: bool,
}

/// What a pool without infrastructure takes: nothing.
#[derive(Args, Clone, Debug)]
pub struct NoneMachines {}

impl ClusterPlatform for NoneCluster {
    fn platform(&self, _: &Surroundings<'_>, _: &mut Judge) -> (Platform, Vec<Manifest>) {
        let fields = json!({"type": PlatformType::None});
        let platform = hyperplane_objects::read(&fields).expect("what a platform needs is there");
        (platform, Vec::new())
    }

    fn publishing(&self, surroundings: &Surroundings<'_>, judge: &mut Judge) -> Publishing {
        let address = self.external_api_server_address.as_deref();
        if self.expose_through_load_balancer && address.is_some() {
            judge.wrong(ADDRESS, format!("cannot go with {LOAD_BALANCER}: leave one of them"));
        }
        let has_names = self.expose_through_load_balancer || surroundings.has_external_dns;
        if has_names && address.is_none() {
            return Publishing::Ingress;
        }
        node_ports(ADDRESS, address, surroundings, judge)
    }

    /// Hosts come by themselves, so that there is nothing to count.
    fn default_replicas(&self) -> i32 {
        -1
    }

    fn needs_node_address(&self) -> bool {
        !self.expose_through_load_balancer && self.external_api_server_address.is_none()
    }
}

impl PoolPlatform for NoneCluster {
    fn machines(&self, judge: &mut Judge) -> NodePoolPlatform {
        NoneMachines {}.machines(judge)
    }
}

impl PoolPlatform for NoneMachines {
    fn machines(&self, _: &mut Judge) -> NodePoolPlatform {
        let fields = json!({"type": PlatformType::None});
        hyperplane_objects::read(&fields).expect("what a platform needs is there")
    }
}
