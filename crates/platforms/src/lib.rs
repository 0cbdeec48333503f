//! What is different from one infrastructure platform to the next: one file per platform, behind one trait of pure
//! functions. Who reads the objects that they name and writes those that they make is not known here.
//!
//! ```text
//!  HostedCluster ──of──► Platform ─► infrastructure object for Cluster API       (infrastructure)
//!                                 ─► its provider, and what that may do          (provider, provider_rules)
//!                                 ─► Secrets to copy, and to remove at the end   (credentials, obsolete_credentials)
//!                                 ─► keys for Secrets in etcd                    (encryption_keys)
//!                                 ─► what is wrong, and what is chosen           (validate, defaults)
//!      NodePool ────────────────► ─► what its machines are made from             (machine_template)
//! ```
//!
//! A platform is added by a file and a line in [`of`].

mod agent;
mod copies;
mod defaults;
mod kubevirt;
mod machines;
mod none;
mod problem;
mod provider;

pub use self::{
    copies::{KeyCopy, SecretCopy},
    defaults::{Choices, Chosen},
    kubevirt::ENCRYPTION_KEY_SUFFIX,
    machines::{MachineTemplate, PoolFacts},
    problem::{Problem, Rule},
    provider::{Infrastructure, InfrastructureObject, Place, Provider, ProviderRules},
};

use std::{collections::BTreeMap, fmt};

use hyperplane_api::hypershift::{
    endpoint::ApiEndpoint,
    hosted_cluster::{HostedCluster, HostedClusterSpec},
    hosted_cluster_status::PayloadArchitecture,
    platform_type::PlatformType,
};

/// What a platform is asked about.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The cluster.
    pub cluster: &'a HostedCluster,
    /// The name of its infrastructure.
    pub infra_id: &'a str,
    /// The namespace of its control plane.
    pub namespace: &'a str,
    /// Where clients reach its API server, once that is known.
    pub endpoint: Option<&'a ApiEndpoint>,
    /// Where machines fetch their configuration, once that is known: host and port.
    pub ignition_endpoint: Option<&'a str>,
}

/// What a platform has to know of the management cluster to judge a cluster.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The domain under which applications of the management cluster are found.
    pub ingress_domain: Option<&'a str>,
    /// Of the namespaces that the cluster names, whether each exists.
    pub namespaces: &'a BTreeMap<String, bool>,
}

/// One infrastructure platform.
pub trait Platform: fmt::Debug + Sync {
    /// Which one it is.
    fn platform_type(&self) -> PlatformType;

    /// The object that stands for the infrastructure of the cluster in Cluster API.
    fn infrastructure(&self, facts: &Facts<'_>) -> Infrastructure;

    /// The provider that makes machines, where there is one.
    fn provider(&self) -> Option<Provider>;

    /// Secrets of the user that the platform needs in the namespace of the control plane.
    fn credentials(&self, spec: &HostedClusterSpec) -> Vec<SecretCopy>;

    /// Keys for Secrets in etcd that the control plane needs, in the order in which they are copied; the problem where it cannot have such.
    fn encryption_keys(&self, spec: &HostedClusterSpec) -> Result<Vec<SecretCopy>, Problem> {
        copies::aescbc_keys(spec)
    }

    /// What the provider may do, beyond what every provider may.
    fn provider_rules(&self, facts: &Facts<'_>) -> Vec<ProviderRules>;

    /// Names of Secrets in the namespace of the control plane that go before it does, because what they open must not
    /// be touched any more once machines are gone.
    fn obsolete_credentials(&self) -> &'static [&'static str];

    /// The architectures of machines that the platform has.
    fn architectures(&self) -> &'static [PayloadArchitecture];

    /// What machines of a pool are made from, or all that is wrong with what the pool asks for.
    fn machine_template(&self, facts: &PoolFacts<'_>) -> Result<MachineTemplate, Vec<Problem>>;

    /// What is wrong with the cluster, all of it.
    fn validate(&self, cluster: &HostedCluster, surroundings: &Surroundings<'_>) -> Vec<Problem>;

    /// What is chosen for the cluster where it does not say.
    fn defaults(&self, cluster: &HostedCluster, choices: &Choices<'_>) -> Chosen;
}

/// A platform that this program cannot host clusters on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("platform {platform} is not supported by this manager: use one of {}", names().join(", "))]
pub struct Unsupported {
    /// Its name.
    pub platform: String,
}

/// Every platform there is.
pub const ALL: &[&dyn Platform] = &[&kubevirt::KubeVirt, &agent::Agent, &none::None];

/// Every rule of every platform.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    copies::RULES.iter().chain(kubevirt::RULES).chain(agent::RULES)
}

/// Every rule about the machines of a pool.
pub fn pool_rules() -> impl Iterator<Item = &'static Rule> {
    kubevirt::POOL_RULES.iter()
}

/// The platform of a cluster.
pub fn of(spec: &HostedClusterSpec) -> Result<&'static dyn Platform, Unsupported> {
    let wanted = &spec.platform.type_;
    let found = ALL.iter().find(|platform| platform.platform_type() == *wanted);
    found.copied().ok_or_else(|| Unsupported {
        platform: wanted.as_str().to_owned(),
    })
}

fn names() -> Vec<String> {
    let name = |platform: &&dyn Platform| platform.platform_type().as_str().to_owned();
    ALL.iter().map(name).collect()
}

#[cfg(test)]
mod tests;
