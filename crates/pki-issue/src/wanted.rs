//! The facts that the certificates of one control plane follow from. Plain data; where the facts come from is not known
//! here.

use std::{collections::BTreeMap, net::IpAddr};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};

use crate::{key::KeyAlgorithm, lifetime::Lifetime, names::Host};

/// What the certificates of a control plane follow from.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// The namespace of the control plane.
    pub namespace: String,
    /// The name of the hosted cluster.
    pub cluster: String,
    /// The name of its infrastructure, which is also that of its Cluster API cluster.
    pub infra_id: String,
    /// The address of the Service `kubernetes` in each of its service networks.
    pub service_addresses: Vec<IpAddr>,
    /// Where the API server is reached from outside.
    pub api_server: Published,
    /// Where agents reach konnectivity.
    pub konnectivity: Published,
    /// Where machines reach the ignition server.
    pub ignition: Published,
    /// The further name of the API server, which has a kubeconfig of its own.
    pub api_server_name: Option<Host>,
    /// Other names and addresses of the API server: those of nodes, and the one that nodes lead to it.
    pub api_server_addresses: Vec<Host>,
    /// The kind of new keys.
    pub algorithm: KeyAlgorithm,
    /// How long leaves last.
    pub lifetime: Lifetime,
    /// Components that act as service accounts of the hosted cluster.
    pub service_accounts: Vec<ServiceAccount>,
    /// Where the administrator's kubeconfig is written.
    pub admin_kubeconfig: SecretKey,
    /// Who gives the key that signs tokens.
    pub service_account_key: ServiceAccountKey,
    /// Who runs etcd.
    pub etcd: Etcd,
    /// Labels of everything that is written.
    pub labels: BTreeMap<String, String>,
    /// Annotations of everything that is written.
    pub annotations: BTreeMap<String, String>,
    /// With whom everything goes.
    pub owner: Option<OwnerReference>,
}

/// How an endpoint is reached from outside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Published {
    /// Not at all.
    #[default]
    Unused,
    /// It will be, but nobody knows where yet.
    Awaited,
    /// By this host.
    At {
        /// The name or address.
        host: Host,
        /// The port.
        port: u16,
    },
}

/// A component that acts as a service account of the hosted cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceAccount {
    /// The component.
    pub component: String,
    /// The namespace of its account.
    pub namespace: String,
    /// The name of its account.
    pub name: String,
}

/// A key of a Secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretKey {
    /// The name of the Secret.
    pub name: String,
    /// The key.
    pub key: String,
}

/// Who gives the key that signs tokens of service accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceAccountKey {
    /// We make it.
    Generated,
    /// A user does, and another program copies it.
    Given,
}

/// Who runs etcd, and therefore signs for it and for its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Etcd {
    /// We do.
    Managed,
    /// A user does, and another program copies what its clients need.
    Given,
}

impl Wanted {
    /// The metadata of an object.
    pub(crate) fn metadata(&self, name: &str) -> ObjectMeta {
        ObjectMeta {
            name: Some(name.to_owned()),
            namespace: Some(self.namespace.clone()),
            labels: Some(self.labels.clone()),
            annotations: (!self.annotations.is_empty()).then(|| self.annotations.clone()),
            owner_references: self.owner.clone().map(|owner| vec![owner]),
            ..ObjectMeta::default()
        }
    }
}
