//! Which objects of a user a cluster refers to, and what becomes of each in the namespace of the control plane. One table
//! for copies, for validation and for watches. Whether the objects exist is not known here.

mod configuration;

use hyperplane_api::{
    common::LocalObjectReference,
    constants::objects::{certificates, copies, keys},
    hypershift::hosted_cluster::{HostedCluster, HostedClusterSpec},
};
use hyperplane_platforms::{KeyCopy, Problem, SecretCopy};
use kube::ResourceExt as _;

/// The keys of the Secret with which a user gives the key of service account tokens.
pub(crate) const SIGNING_KEY: &str = "key";
/// The public keys of older tokens, in the same Secret.
pub(crate) const OLD_SIGNING_KEY: &str = "old-key.pub";

/// The kind of an object that is referred to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SourceKind {
    /// A Secret.
    Secret,
    /// A ConfigMap.
    ConfigMap,
}

impl SourceKind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Secret => "Secret",
            Self::ConfigMap => "ConfigMap",
        }
    }
}

/// What an object is for, and so what must be in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Purpose {
    /// Registry credentials.
    PullSecret,
    /// Public SSH keys.
    SshKey,
    /// Trusted certificates.
    TrustBundle,
    /// Where audit events go.
    AuditWebhook,
    /// The key of service account tokens.
    SigningKey,
    /// A key for Secrets in etcd.
    EncryptionKey,
    /// How to reach an etcd of the user's own.
    EtcdClient,
    /// Access to the platform.
    Credentials,
    /// Something in the configuration of the cluster.
    Configuration,
}

/// One object that is copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) kind: SourceKind,
    pub(crate) purpose: Purpose,
    /// The field that names it.
    pub(crate) field: String,
    /// Its name.
    pub(crate) source: String,
    /// The name of the copy.
    pub(crate) target: String,
    /// What is copied; nothing means everything.
    pub(crate) keys: Vec<KeyCopy>,
}

/// Everything that a cluster refers to, and what is wrong with how it does. What only a platform could tell is left out
/// where nobody here knows the platform.
pub(crate) fn orders(cluster: &HostedCluster) -> (Vec<Order>, Vec<Problem>) {
    let spec = &cluster.spec;
    let mut orders = fixed(spec).collect::<Vec<_>>();
    let mut problems = Vec::new();
    if let Ok(platform) = hyperplane_platforms::of(spec) {
        let credentials = platform.credentials(spec).into_iter();
        orders.extend(credentials.map(|copy| of_platform(copy, Purpose::Credentials)));
        match platform.encryption_keys(spec) {
            Ok(keys) => orders.extend(keys.into_iter().map(|copy| of_platform(copy, Purpose::EncryptionKey))),
            Err(problem) => problems.push(problem),
        }
    }
    orders.extend(configuration::orders(spec));
    (orders, problems)
}

/// What a cluster refers to, as an index keeps it: kind/namespace/name.
pub(crate) fn index_of(cluster: &HostedCluster) -> Vec<String> {
    let namespace = cluster.namespace().unwrap_or_default();
    let (orders, _) = orders(cluster);
    orders
        .iter()
        .map(|order| index_key(order.kind, &namespace, &order.source))
        .collect()
}

/// One object in the words of the index.
pub(crate) fn index_key(kind: SourceKind, namespace: &str, name: &str) -> String {
    format!("{}/{namespace}/{name}", kind.name())
}

fn of_platform(copy: SecretCopy, purpose: Purpose) -> Order {
    Order {
        kind: SourceKind::Secret,
        purpose,
        field: copy.field,
        source: copy.source,
        target: copy.target.to_owned(),
        keys: copy.keys,
    }
}

/// A reference that has a field of its own.
struct Fixed {
    kind: SourceKind,
    purpose: Purpose,
    field: &'static str,
    name: fn(&HostedClusterSpec) -> Option<&LocalObjectReference>,
    target: &'static str,
    keys: &'static [&'static str],
}

const FIXED: &[Fixed] = &[
    Fixed {
        kind: SourceKind::Secret,
        purpose: Purpose::PullSecret,
        field: "spec.pullSecret",
        name: |spec| Some(&spec.pull_secret),
        target: copies::PULL_SECRET,
        keys: &[keys::PULL_SECRET],
    },
    Fixed {
        kind: SourceKind::Secret,
        purpose: Purpose::SshKey,
        field: "spec.sshKey",
        name: |spec| spec.ssh_key.as_ref(),
        target: copies::SSH_KEY,
        keys: &[keys::SSH_KEY],
    },
    Fixed {
        kind: SourceKind::Secret,
        purpose: Purpose::AuditWebhook,
        field: "spec.auditWebhook",
        name: |spec| spec.audit_webhook.as_ref(),
        target: copies::AUDIT_WEBHOOK,
        keys: &[keys::AUDIT_WEBHOOK],
    },
    Fixed {
        kind: SourceKind::Secret,
        purpose: Purpose::SigningKey,
        field: "spec.serviceAccountSigningKey",
        name: |spec| spec.service_account_signing_key.as_ref(),
        target: certificates::SERVICE_ACCOUNT_KEYS,
        keys: &[SIGNING_KEY],
    },
    Fixed {
        kind: SourceKind::Secret,
        purpose: Purpose::EtcdClient,
        field: "spec.etcd.unmanaged.tls.clientSecret",
        name: |spec| spec.etcd.unmanaged.as_ref().map(|etcd| &etcd.tls.client_secret),
        target: certificates::ETCD_CLIENT,
        keys: &[
            keys::ETCD_CLIENT_CA,
            keys::ETCD_CLIENT_CERTIFICATE,
            keys::ETCD_CLIENT_KEY,
        ],
    },
    Fixed {
        kind: SourceKind::ConfigMap,
        purpose: Purpose::TrustBundle,
        field: "spec.additionalTrustBundle",
        name: |spec| spec.additional_trust_bundle.as_ref(),
        target: copies::USER_CA_BUNDLE,
        keys: &[keys::USER_CA_BUNDLE],
    },
];

/// The references that have a field of their own.
fn fixed(spec: &HostedClusterSpec) -> impl Iterator<Item = Order> {
    let orders = FIXED.iter().map(|row| Order {
        kind: row.kind,
        purpose: row.purpose,
        field: row.field.to_owned(),
        source: (row.name)(spec)
            .map(|reference| reference.name.clone())
            .unwrap_or_default(),
        target: row.target.to_owned(),
        keys: row.keys.iter().copied().map(KeyCopy::same).collect(),
    });
    // The pull secret is required, so that an empty name is a mistake and not an absence.
    let is_wanted = |order: &Order| !order.source.is_empty() || order.purpose == Purpose::PullSecret;
    orders.filter(is_wanted)
}
