//! Every API kind of Hyperplane as Rust types, and the CustomResourceDefinitions made from them.
//!
//! This crate does no I/O. A kind is one file: its declaration, its structures, their bounds and rules.

#![cfg_attr(
    not(test),
    allow(
        dead_code,
        unused_imports,
        reason = "attributes of schemas have an effect in tests only, where these lints find what is superfluous"
    )
)]

#[cfg(test)]
mod schema_files;

pub mod audit_log_persistence;
pub mod certificates;
pub mod cluster_api;
pub mod common;
pub mod constants;
pub mod crd;
pub mod hyperplane;
pub mod hypershift;
pub mod infrastructure;
pub mod karpenter;
pub mod resource;
pub mod scheduling;
pub mod schema;
pub mod text;
pub mod unused;

use resource::{Defined, KindDefinition};

/// Every kind that this crate defines, in the order in which they are printed.
pub const KINDS: &[fn() -> KindDefinition] = &[
    hypershift::hosted_cluster::HostedCluster::definition,
    hypershift::node_pool::NodePool::definition,
    hypershift::hosted_control_plane::HostedControlPlane::definition,
    hypershift::control_plane_component::ControlPlaneComponent::definition,
    hypershift::aws_endpoint_service::AWSEndpointService::definition,
    hypershift::azure_private_link_service::AzurePrivateLinkService::definition,
    hypershift::gcp_private_service_connect::GCPPrivateServiceConnect::definition,
    hypershift::etcd_backup::HCPEtcdBackup::definition,
    hypershift::certificate_signing_request_approval::CertificateSigningRequestApproval::definition,
    certificates::certificate_signing_request_approval::CertificateSigningRequestApproval::definition,
    certificates::certificate_revocation_request::CertificateRevocationRequest::definition,
    scheduling::cluster_sizing_configuration::ClusterSizingConfiguration::definition,
    audit_log_persistence::audit_log_persistence_config::AuditLogPersistenceConfig::definition,
    karpenter::openshift_ec2_node_class::OpenshiftEC2NodeClass::definition,
    cluster_api::cluster::Cluster::definition,
    cluster_api::machine_deployment::MachineDeployment::definition,
    cluster_api::machine_set::MachineSet::definition,
    cluster_api::machine::Machine::definition,
    cluster_api::machine_health_check::MachineHealthCheck::definition,
    hyperplane::distribution_release::DistributionRelease::definition,
];

/// Kinds of infrastructure providers, which belong to others. They are not among [`KINDS`]: a definition of ours is
/// installed only where the provider's own is absent, and where somebody asks for it.
pub const PROVIDER_KINDS: &[fn() -> KindDefinition] = &[
    infrastructure::kubevirt_cluster::KubevirtCluster::definition,
    infrastructure::kubevirt_machine::KubevirtMachine::definition,
    infrastructure::kubevirt_machine::KubevirtMachineTemplate::definition,
    infrastructure::agent_cluster::AgentCluster::definition,
    infrastructure::agent_machine::AgentMachine::definition,
    infrastructure::agent_machine::AgentMachineTemplate::definition,
];
