//! Virtual machines on a cluster with KubeVirt: the management cluster itself, or another one.

mod machines;

use std::path::PathBuf;

use clap::Args;
use hyperplane_api::{
    common::SecretKeyReference,
    constants::objects::keys,
    hypershift::{
        node_pool::platform::NodePoolPlatform,
        platform::{
            Platform,
            kubevirt::{
                KubeVirtCredentials, KubeVirtManualStorage, KubeVirtPlatform, KubeVirtStorageClassMapping,
                KubeVirtStorageDriver, KubeVirtStorageDriverType, KubeVirtVolumeSnapshotClassMapping,
            },
        },
        platform_type::PlatformType,
    },
};
use hyperplane_planner::version::Scheme;
use hyperplane_schema::names;
use serde_json::json;

pub use self::machines::KubeVirtMachines;
use super::{ClusterPlatform, PoolPlatform, Surroundings, node_ports};
use crate::{
    beside,
    given::{FileFlag, files},
    judge::Judge,
    manifest::Manifest,
    publishing::Publishing,
};

const ADDRESS: &str = "--api-server-address";
const STRATEGY: &str = "--service-publishing-strategy";
const INFRA_KUBECONFIG: &str = "--infra-kubeconfig-file";
const INFRA_NAMESPACE: &str = "--infra-namespace";

/// What a cluster on KubeVirt takes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "KubeVirt")]
pub struct KubeVirtCluster {
    /// How endpoints are published: Ingress (load balancer and host names) or NodePort
    #[arg(long, value_name = "STRATEGY", default_value = "Ingress")]
    service_publishing_strategy: String,
    /// Where clients reach nodes of the management cluster, for NodePort [default: an address of one of them]
    #[arg(long, value_name = "ADDRESS")]
    api_server_address: Option<String>,
    /// The kubeconfig of another cluster that runs the machines
    #[arg(long, value_name = "FILE")]
    infra_kubeconfig_file: Option<PathBuf>,
    /// The namespace in that cluster
    #[arg(long, value_name = "NAME")]
    infra_namespace: Option<String>,
    /// A storage class of the cluster that runs the machines and its name in the hosted one, as infra/guest or
    /// infra/guest,group=NAME; repeatable
    #[arg(long, value_name = "MAPPING")]
    infra_storage_class_mapping: Vec<String>,
    /// A snapshot class of the cluster that runs the machines and its name in the hosted one, in the same form;
    /// repeatable
    #[arg(long, value_name = "MAPPING")]
    infra_volumesnapshot_class_mapping: Vec<String>,
    #[command(flatten)]
    machines: KubeVirtMachines,
}

impl ClusterPlatform for KubeVirtCluster {
    fn platform(&self, surroundings: &Surroundings<'_>, judge: &mut Judge) -> (Platform, Vec<Manifest>) {
        let (credentials, secret) = self.credentials(surroundings, judge).unzip();
        // Only OpenShift serves applications under a domain of its own accord.
        let is_openshift = surroundings
            .release
            .is_some_and(|release| release.scheme() == Scheme::OpenShift);
        let kubevirt = KubeVirtPlatform {
            base_domain_passthrough: (is_openshift && !surroundings.has_base_domain).then_some(true),
            generate_id: None,
            credentials,
            storage_driver: self.storage(judge),
        };
        let fields = json!({"type": PlatformType::KubeVirt, "kubevirt": kubevirt});
        let platform = hyperplane_objects::read(&fields).expect("what a platform needs is there");
        (platform, secret.into_iter().collect())
    }

    fn publishing(&self, surroundings: &Surroundings<'_>, judge: &mut Judge) -> Publishing {
        let address = self.api_server_address.as_deref();
        match &*self.service_publishing_strategy {
            "NodePort" => node_ports(ADDRESS, address, surroundings, judge),
            other => {
                if other != "Ingress" {
                    judge.wrong(STRATEGY, format!("{other:?} must be one of Ingress, NodePort"));
                }
                if address.is_some() {
                    judge.wrong(ADDRESS, format!("needs {STRATEGY} NodePort"));
                }
                Publishing::Ingress
            }
        }
    }

    fn needs_node_address(&self) -> bool {
        self.service_publishing_strategy == "NodePort" && self.api_server_address.is_none()
    }

    fn files(&self) -> Vec<FileFlag> {
        files([(INFRA_KUBECONFIG, self.infra_kubeconfig_file.as_ref())])
    }
}

impl PoolPlatform for KubeVirtCluster {
    fn machines(&self, judge: &mut Judge) -> NodePoolPlatform {
        self.machines.machines(judge)
    }
}

impl KubeVirtCluster {
    fn credentials(
        &self,
        surroundings: &Surroundings<'_>,
        judge: &mut Judge,
    ) -> Option<(KubeVirtCredentials, Manifest)> {
        let kubeconfig = surroundings.given.file(INFRA_KUBECONFIG);
        let namespace = self.infra_namespace.as_deref();
        let (kubeconfig, namespace) = match (kubeconfig, namespace) {
            (None, None) => return None,
            (Some(kubeconfig), Some(namespace)) => (kubeconfig, namespace),
            (Some(_), None) => {
                judge.wrong(INFRA_KUBECONFIG, format!("needs {INFRA_NAMESPACE}"));
                return None;
            }
            (None, Some(_)) => {
                judge.wrong(INFRA_NAMESPACE, format!("needs {INFRA_KUBECONFIG}"));
                return None;
            }
        };
        judge.complaints(INFRA_NAMESPACE, namespace, &names::dns_1123_label(namespace));
        let name = format!("{}{}", surroundings.name, beside::INFRA_CREDENTIALS);
        let texts = [(keys::KUBECONFIG, kubeconfig)];
        let secret = Manifest::secret(surroundings.namespace, &name, "Opaque", &texts);
        let credentials = KubeVirtCredentials {
            infra_kube_config_secret: Some(SecretKeyReference {
                name,
                key: keys::KUBECONFIG.to_owned(),
            }),
            infra_namespace: namespace.to_owned(),
        };
        Some((credentials, secret))
    }

    fn storage(&self, judge: &mut Judge) -> Option<KubeVirtStorageDriver> {
        let flag = "--infra-storage-class-mapping";
        let classes = self.infra_storage_class_mapping.iter();
        let classes = classes.filter_map(|text| mapping(flag, text, judge));
        let storage_class_mapping: Vec<_> = classes
            .map(
                |(infra_storage_class_name, guest_storage_class_name, group)| KubeVirtStorageClassMapping {
                    group,
                    infra_storage_class_name,
                    guest_storage_class_name,
                },
            )
            .collect();
        let flag = "--infra-volumesnapshot-class-mapping";
        let classes = self.infra_volumesnapshot_class_mapping.iter();
        let classes = classes.filter_map(|text| mapping(flag, text, judge));
        let volume_snapshot_class_mapping: Vec<_> = classes
            .map(|(infra, guest, group)| KubeVirtVolumeSnapshotClassMapping {
                group,
                infra_volume_snapshot_class_name: infra,
                guest_volume_snapshot_class_name: guest,
            })
            .collect();
        if storage_class_mapping.is_empty() && volume_snapshot_class_mapping.is_empty() {
            return None;
        }
        Some(KubeVirtStorageDriver {
            driver_type: KubeVirtStorageDriverType::Manual,
            manual: Some(KubeVirtManualStorage {
                storage_class_mapping,
                volume_snapshot_class_mapping,
            }),
        })
    }
}

/// Two names and a group.
fn mapping(flag: &str, text: &str, judge: &mut Judge) -> Option<(String, String, Option<String>)> {
    let (names, group) = match text.split_once(',') {
        Some((names, group)) => (names, Some(group)),
        None => (text, None),
    };
    let group = group.map(|group| group.strip_prefix("group=").filter(|group| !group.is_empty()));
    let parts = names
        .split_once('/')
        .filter(|(infra, guest)| !infra.is_empty() && !guest.is_empty());
    let (Some((infra, guest)), None | Some(Some(_))) = (parts, group) else {
        judge.wrong(
            flag,
            format!("{text:?} is no mapping: write infra/guest or infra/guest,group=NAME"),
        );
        return None;
    };
    Some((infra.to_owned(), guest.to_owned(), group.flatten().map(str::to_owned)))
}
