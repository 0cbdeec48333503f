//! What is asked of a control plane: replicas, etcd, placement, and the settings of OpenShift that it passes on.

use std::collections::BTreeMap;

use clap::Args;
use hyperplane_api::{
    common::Quantity,
    constants::annotations,
    hypershift::{
        availability::AvailabilityPolicy,
        capabilities::{Capabilities, OptionalCapability},
        configuration::{
            ClusterConfiguration,
            feature_gate::{FeatureGateConfiguration, FeatureGateSet},
        },
        dns::{Dns, DomainName},
        etcd::Etcd,
        hosted_cluster::{HostedClusterSpec, InfraId},
        paused::{PausedUntil, pause},
    },
    schema::FeatureSet,
};

use crate::{judge::Judge, pairs, placement};

/// What says that there is no prefix.
const NO_PREFIX: &str = "none";
/// Suffixes of sizes.
const UNITS: &[&str] = &["", "Ki", "Mi", "Gi", "Ti", "Pi", "k", "M", "G", "T", "P"];

/// The control plane that is asked for.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Control plane")]
pub(crate) struct PlaneFlags {
    /// Replicas of the control plane: SingleReplica or HighlyAvailable
    #[arg(long, value_name = "POLICY", default_value = "SingleReplica")]
    control_plane_availability_policy: String,
    /// Replicas of what the cluster runs for itself on its nodes: SingleReplica or HighlyAvailable
    #[arg(long, value_name = "POLICY", default_value = "SingleReplica")]
    infra_availability_policy: String,
    /// The storage class of etcd [default: that of the management cluster]
    #[arg(long, value_name = "NAME")]
    etcd_storage_class: Option<String>,
    /// The size of each volume of etcd [default: 8Gi]
    #[arg(long, value_name = "SIZE")]
    etcd_storage_size: Option<String>,
    /// The domain below which the cluster has its own
    #[arg(long, value_name = "DOMAIN")]
    pub(crate) base_domain: Option<String>,
    /// The label in front of the base domain; none means no label [default: the name of the cluster]
    #[arg(long, value_name = "LABEL")]
    base_domain_prefix: Option<String>,
    /// Publish all endpoints under hostnames of this domain, such as api-NAME.DOMAIN
    #[arg(long, value_name = "DOMAIN")]
    pub(crate) external_dns_domain: Option<String>,
    /// A further name of the API server
    #[arg(long, value_name = "NAME")]
    kas_dns_name: Option<String>,
    /// The name of the infrastructure [default: chosen]
    #[arg(long, value_name = "ID")]
    pub(crate) infra_id: Option<String>,
    /// Ask nodes for cryptography that FIPS allows
    #[arg(long)]
    fips: bool,
    /// Features of OpenShift: Default, TechPreviewNoUpgrade or CustomNoUpgrade
    #[arg(long, value_name = "SET")]
    feature_set: Option<String>,
    /// Optional parts of OpenShift that the cluster has besides
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    enable_cluster_capabilities: Vec<String>,
    /// Optional parts of OpenShift that the cluster lacks
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    disable_cluster_capabilities: Vec<String>,
    /// Another image of the control-plane operator
    #[arg(long, value_name = "IMAGE")]
    control_plane_operator_image: Option<String>,
    /// Labels that management nodes must have to run the control plane; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    node_selector: Vec<String>,
    /// A taint of management nodes that the control plane puts up with, such as
    /// key=dedicated,operator=Exists,effect=NoSchedule; repeatable
    #[arg(long, value_name = "PARTS")]
    toleration: Vec<String>,
    /// Labels of the pods of the control plane; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    pods_labels: Vec<String>,
    /// Leave the cluster as it is: true, or until a time in RFC 3339
    #[arg(long = "pausedUntil", alias = "paused-until", value_name = "TIME")]
    paused_until: Option<String>,
}

impl PlaneFlags {
    /// Writes what is asked for into a spec.
    pub(crate) fn set(&self, spec: &mut HostedClusterSpec, judge: &mut Judge) {
        let policy = &self.control_plane_availability_policy;
        spec.controller_availability_policy = judge.word("--control-plane-availability-policy", policy);
        let policy = &self.infra_availability_policy;
        spec.infrastructure_availability_policy =
            judge.word::<AvailabilityPolicy>("--infra-availability-policy", policy);
        spec.etcd = self.etcd(judge);
        spec.dns = self.dns(judge);
        spec.kube_api_server_dns_name = judge.optional("--kas-dns-name", self.kas_dns_name.as_deref());
        spec.infra_id = judge.optional::<InfraId>("--infra-id", self.infra_id.as_deref());
        spec.fips = self.fips.then_some(true);
        spec.configuration = self.configuration(judge).map(Box::new);
        spec.capabilities = self.capabilities(judge);
        spec.node_selector = pairs::labels("--node-selector", &self.node_selector, judge);
        spec.tolerations = placement::tolerations(&self.toleration, judge);
        spec.labels = pairs::labels("--pods-labels", &self.pods_labels, judge);
        spec.paused_until = self.paused_until(judge);
    }

    /// What is asked for by annotation.
    pub(crate) fn annotations(&self) -> BTreeMap<String, String> {
        let image = self.control_plane_operator_image.iter();
        let key = annotations::CONTROL_PLANE_OPERATOR_IMAGE.as_str();
        image.map(|image| (key.to_owned(), image.clone())).collect()
    }

    fn etcd(&self, judge: &mut Judge) -> Etcd {
        let mut etcd = Etcd::default();
        let volume = etcd
            .managed
            .as_mut()
            .and_then(|managed| managed.storage.persistent_volume.as_mut());
        if let Some(volume) = volume {
            volume.storage_class_name.clone_from(&self.etcd_storage_class);
            if let Some(size) = &self.etcd_storage_size {
                volume.size = quantity("--etcd-storage-size", size, judge);
            }
        }
        etcd
    }

    fn dns(&self, judge: &mut Judge) -> Option<Dns> {
        let prefix = self.base_domain_prefix.as_deref();
        let Some(domain) = &self.base_domain else {
            if prefix.is_some() {
                judge.wrong("--base-domain-prefix", "needs --base-domain");
            }
            return None;
        };
        let prefix = prefix.map(|prefix| if prefix == NO_PREFIX { "" } else { prefix });
        Some(Dns {
            base_domain: judge.text("--base-domain", domain, DomainName::stored),
            base_domain_prefix: judge.optional("--base-domain-prefix", prefix),
            ..Dns::default()
        })
    }

    fn configuration(&self, judge: &mut Judge) -> Option<ClusterConfiguration> {
        let set = self.feature_set.as_ref()?;
        if let Err(error) = set.parse::<FeatureSet>() {
            judge.wrong("--feature-set", error.to_string());
        }
        let feature_set = match set.as_str() {
            "Default" => FeatureGateSet::Default,
            other => FeatureGateSet::from(other),
        };
        Some(ClusterConfiguration {
            feature_gate: Some(FeatureGateConfiguration {
                feature_set: Some(feature_set),
                ..FeatureGateConfiguration::default()
            }),
            ..ClusterConfiguration::default()
        })
    }

    fn capabilities(&self, judge: &mut Judge) -> Capabilities {
        let mut read = |flag: &str, words: &[String]| -> Vec<OptionalCapability> {
            let mut read: Vec<_> = words.iter().map(|word| judge.word(flag, word)).collect();
            read.sort();
            read.dedup();
            read
        };
        let capabilities = Capabilities {
            enabled: read("--enable-cluster-capabilities", &self.enable_cluster_capabilities),
            disabled: read("--disable-cluster-capabilities", &self.disable_cluster_capabilities),
        };
        let flag = "--disable-cluster-capabilities";
        for both in capabilities
            .enabled
            .iter()
            .filter(|part| capabilities.disabled.contains(part))
        {
            judge.wrong(flag, format!("{both} is enabled and disabled: leave one of the flags"));
        }
        let has = |part: &OptionalCapability| capabilities.disabled.contains(part);
        if has(&OptionalCapability::Ingress) && !has(&OptionalCapability::Console) {
            judge.wrong(flag, "the console needs ingress: disable Console together with Ingress");
        }
        capabilities
    }

    fn paused_until(&self, judge: &mut Judge) -> Option<PausedUntil> {
        let text = self.paused_until.as_deref()?;
        if let Err(error) = pause(text) {
            judge.wrong(
                "--pausedUntil",
                format!("{text:?} {}, such as 2030-01-31T08:00:00Z", error.rule),
            );
        }
        Some(PausedUntil::stored(text))
    }
}

/// A size such as 8Gi.
pub(crate) fn quantity(flag: &str, text: &str, judge: &mut Judge) -> Quantity {
    let end = text.find(|character: char| !character.is_ascii_digit() && character != '.');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let is_number = number.parse::<f64>().is_ok_and(|number| number > 0.0);
    if !is_number || number.starts_with('.') || !UNITS.contains(&unit) {
        judge.wrong(flag, format!("{text:?} is no size: write one such as 8Gi"));
    }
    Quantity::from(text)
}
