//! What machines of a pool are made from: one template per platform that has machines. Who names it and writes it is not
//! known here.

use hyperplane_api::{
    cluster_api::common::KindName,
    hypershift::{hosted_cluster::HostedCluster, node_pool::NodePool},
    infrastructure::{
        agent_machine::{AgentMachineTemplate, AgentMachineTemplateSpec},
        kubevirt_machine::{KubevirtMachineTemplate, KubevirtMachineTemplateSpec},
    },
};
use kube::Resource;

/// What a platform is asked about the machines of a pool.
#[derive(Clone, Copy, Debug)]
pub struct PoolFacts<'a> {
    /// The cluster.
    pub cluster: &'a HostedCluster,
    /// The pool.
    pub pool: &'a NodePool,
    /// The name of the pool as the value of a label, which may be shorter.
    pub pool_label: &'a str,
    /// The name of the cluster's infrastructure.
    pub infra_id: &'a str,
    /// The namespace of its control plane.
    pub namespace: &'a str,
    /// What machines start from, where the pool does not say: that of the release, or of the manager.
    pub boot_image: Option<&'a str>,
    /// Whether machines are spread over hosts by topology; pools from before that keep their old way, lest they roll.
    pub spreads_by_topology: bool,
}

/// What machines are made from. The set is closed on purpose: whoever writes templates watches exactly these kinds.
#[derive(Clone, Debug, PartialEq)]
pub enum MachineTemplate {
    /// The platform has no machines: hosts join by themselves.
    None,
    /// On KubeVirt.
    KubeVirt(Box<KubevirtMachineTemplateSpec>),
    /// With agents.
    Agent(Box<AgentMachineTemplateSpec>),
}

impl MachineTemplate {
    /// The group and the kind of the template, as a Machine refers to it; none where there is no template.
    pub fn kind(&self) -> Option<(String, KindName)> {
        match self {
            Self::None => None,
            Self::KubeVirt(_) => Some(kind_of::<KubevirtMachineTemplate>()),
            Self::Agent(_) => Some(kind_of::<AgentMachineTemplate>()),
        }
    }

    /// The template as bytes that are the same whenever it is: another content is another template.
    ///
    /// # Panics
    ///
    /// Never: templates have text keys only, and writing to memory does not fail.
    pub fn canonical(&self) -> Vec<u8> {
        let written = match self {
            Self::None => Ok(Vec::new()),
            Self::KubeVirt(spec) => serde_json::to_vec(spec),
            Self::Agent(spec) => serde_json::to_vec(spec),
        };
        written.expect("templates have text keys only, and writing to memory does not fail")
    }
}

fn kind_of<K: Resource<DynamicType = ()>>() -> (String, KindName) {
    (K::group(&()).into_owned(), KindName::stored(K::kind(&())))
}
