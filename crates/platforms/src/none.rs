//! No infrastructure at all: hosts join by themselves, and nobody makes machines.

use hyperplane_api::hypershift::{
    hosted_cluster::{HostedCluster, HostedClusterSpec},
    hosted_cluster_status::PayloadArchitecture,
    platform_type::PlatformType,
};

use crate::{
    Facts, Platform, Surroundings,
    copies::SecretCopy,
    defaults::{Choices, Chosen},
    machines::{MachineTemplate, PoolFacts},
    problem::Problem,
    provider::{Infrastructure, Provider, ProviderRules},
};

/// No infrastructure.
#[derive(Debug)]
pub(crate) struct None;

impl Platform for None {
    fn platform_type(&self) -> PlatformType {
        PlatformType::None
    }

    fn infrastructure(&self, _: &Facts<'_>) -> Infrastructure {
        Infrastructure::None
    }

    fn provider(&self) -> Option<Provider> {
        Option::None
    }

    fn credentials(&self, _: &HostedClusterSpec) -> Vec<SecretCopy> {
        Vec::new()
    }

    fn provider_rules(&self, _: &Facts<'_>) -> Vec<ProviderRules> {
        Vec::new()
    }

    fn obsolete_credentials(&self) -> &'static [&'static str] {
        &[]
    }

    fn architectures(&self) -> &'static [PayloadArchitecture] {
        &[PayloadArchitecture::Amd64, PayloadArchitecture::Arm64]
    }

    fn machine_template(&self, _: &PoolFacts<'_>) -> Result<MachineTemplate, Vec<Problem>> {
        Ok(MachineTemplate::None)
    }

    fn validate(&self, _: &HostedCluster, _: &Surroundings<'_>) -> Vec<Problem> {
        Vec::new()
    }

    fn defaults(&self, _: &HostedCluster, _: &Choices<'_>) -> Chosen {
        Chosen::default()
    }
}
