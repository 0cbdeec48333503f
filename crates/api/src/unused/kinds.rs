//! The kinds that nothing acts on, and what is said of their objects.

use crate::{
    audit_log_persistence, certificates, hypershift, karpenter,
    resource::{Defined, KindDefinition},
    scheduling,
};

/// A kind that nothing acts on.
#[derive(Debug)]
pub struct UnusedKind {
    /// All that its definition says.
    pub definition: fn() -> KindDefinition,
    /// What an object of it would do; completes "it would".
    pub would: &'static str,
    /// What to do instead, as a sentence without its end; empty where there is nothing.
    pub instead: &'static str,
}

impl UnusedKind {
    /// The row of a kind, by the name of its definition; none where something acts on it.
    pub fn named(definition: &str) -> Option<&'static Self> {
        KINDS.iter().find(|row| (row.definition)().name() == definition)
    }

    /// What a condition of an object says.
    pub fn message(&self) -> String {
        let told = format!("Nothing here acts on it: it would {}.", self.would);
        match self.instead {
            "" => told,
            instead => format!("{told} Instead, {instead}."),
        }
    }
}

/// Declares the table: the type, what its objects would do, what to do instead.
macro_rules! kinds {
    ($(#[doc = $doc:literal])+ $name:ident: $($type:ty => $would:literal $(, instead $instead:literal)?;)+) => {
        $(#[doc = $doc])+
        pub const $name: &[UnusedKind] = &[$(UnusedKind {
            definition: <$type as Defined>::definition,
            would: $would,
            instead: concat!($($instead)?),
        }),+];
    };
}

kinds! {
    /// All of them, in the order in which kinds are printed.
    KINDS:
    hypershift::aws_endpoint_service::AWSEndpointService
        => "lead machines to an endpoint of the control plane by AWS PrivateLink";
    hypershift::azure_private_link_service::AzurePrivateLinkService
        => "lead machines to an endpoint of the control plane by Azure Private Link";
    hypershift::gcp_private_service_connect::GCPPrivateServiceConnect
        => "lead machines to an endpoint of the control plane by Private Service Connect of GCP";
    hypershift::etcd_backup::HCPEtcdBackup => "take a snapshot of etcd and put it into object storage",
        instead "take snapshots with etcdctl in a pod of etcd";
    hypershift::certificate_signing_request_approval::CertificateSigningRequestApproval
        => "approve a request for a break-glass certificate",
        instead "use the kubeconfig that the HostedCluster names in status.kubeconfig";
    certificates::certificate_signing_request_approval::CertificateSigningRequestApproval
        => "approve a request for a break-glass certificate",
        instead "use the kubeconfig that the HostedCluster names in status.kubeconfig";
    certificates::certificate_revocation_request::CertificateRevocationRequest
        => "end every break-glass certificate of a signer, of which none is issued here";
    scheduling::cluster_sizing_configuration::ClusterSizingConfiguration
        => "give control planes resources and priorities by the number of their nodes",
        instead "annotate each HostedCluster with resource-request-override.hypershift.openshift.io and priority classes";
    audit_log_persistence::audit_log_persistence_config::AuditLogPersistenceConfig
        => "keep audit logs of hosted API servers on volumes",
        instead "send them elsewhere with spec.auditWebhook of the HostedCluster";
    karpenter::openshift_ec2_node_class::OpenshiftEC2NodeClass => "say what nodes look like that Karpenter makes on AWS",
        instead "make NodePools and scale them";
}
