//! Virtual machines as the nodes of a pool.

use clap::Args;
use hyperplane_api::{
    common::Quantity,
    hypershift::{
        node_pool::platform::{
            NodePoolPlatform,
            kubevirt::{
                KubeVirtCachingStrategy, KubeVirtCompute, KubeVirtDiskImage, KubeVirtHostDevice, KubeVirtNetwork,
                KubeVirtNodePoolPlatform, KubeVirtPersistentVolume, KubeVirtRootVolume,
            },
        },
        platform_type::PlatformType,
    },
};
use serde_json::json;

use super::PoolPlatform;
use crate::{judge::Judge, pairs, plane::quantity};

/// What a pool of virtual machines takes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Virtual machines")]
pub struct KubeVirtMachines {
    /// Processor cores of a machine
    #[arg(long, value_name = "COUNT", default_value_t = 2)]
    cores: u32,
    /// Memory of a machine
    #[arg(long, value_name = "SIZE", default_value = "8Gi")]
    memory: String,
    /// Burstable, or Guaranteed for processors and memory of its own
    #[arg(long, value_name = "CLASS", default_value = "Burstable")]
    qos_class: String,
    /// The size of the root volume in GiB
    #[arg(long, value_name = "GIB", default_value_t = 32)]
    root_volume_size: u32,
    /// The storage class of the root volume [default: that of the cluster that runs the machines]
    #[arg(long, value_name = "NAME")]
    root_volume_storage_class: Option<String>,
    /// How the root volume may be mounted, such as ReadWriteMany; repeatable
    #[arg(long, value_name = "MODE", value_delimiter = ',')]
    root_volume_access_modes: Vec<String>,
    /// Filesystem or Block
    #[arg(long, value_name = "MODE")]
    root_volume_volume_mode: Option<String>,
    /// None, or PVC to import the image once for all machines
    #[arg(long, value_name = "STRATEGY")]
    root_volume_cache_strategy: Option<String>,
    /// A further network of machines, as name:NAMESPACE/NAME; repeatable
    #[arg(long, value_name = "NETWORK")]
    additional_network: Vec<String>,
    /// Whether machines are on the pod network; false needs a further one
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set, num_args = 0..=1,
          default_missing_value = "true")]
    attach_default_network: bool,
    /// Whether interfaces have a queue per processor: Enable or Disable
    #[arg(long, value_name = "MODE", default_value = "Enable")]
    network_multiqueue: String,
    /// A device of the host for each machine, as NAME or NAME,count:NUMBER; repeatable
    #[arg(long, value_name = "DEVICE")]
    host_device_name: Vec<String>,
    /// Labels that a host must have to run machines; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    vm_node_selector: Vec<String>,
    /// A container image with the disk that machines start from [default: that of the release]
    #[arg(long, value_name = "IMAGE")]
    containerdisk: Option<String>,
}

impl PoolPlatform for KubeVirtMachines {
    fn machines(&self, judge: &mut Judge) -> NodePoolPlatform {
        let kubevirt = KubeVirtNodePoolPlatform {
            compute: self.compute(judge),
            root_volume: self.root_volume(judge),
            attach_default_network: self.attach_default_network,
            additional_networks: self.networks(judge),
            network_interface_multiqueue: judge.word("--network-multiqueue", &self.network_multiqueue),
            node_selector: pairs::labels("--vm-node-selector", &self.vm_node_selector, judge),
            host_devices: self.devices(judge),
        };
        let fields = json!({"type": PlatformType::KubeVirt, "kubevirt": kubevirt});
        hyperplane_objects::read(&fields).expect("what a platform needs is there")
    }
}

impl KubeVirtMachines {
    fn compute(&self, judge: &mut Judge) -> KubeVirtCompute {
        let cores = i32::try_from(self.cores).ok().filter(|cores| *cores > 0);
        if cores.is_none() {
            judge.wrong(
                "--cores",
                format!("{} is no number of cores: use 1 or more", self.cores),
            );
        }
        KubeVirtCompute {
            cores,
            memory: quantity("--memory", &self.memory, judge),
            qos_class: judge.word("--qos-class", &self.qos_class),
        }
    }

    fn root_volume(&self, judge: &mut Judge) -> KubeVirtRootVolume {
        if self.root_volume_size == 0 {
            judge.wrong("--root-volume-size", "must be 1 or more");
        }
        let modes = self.root_volume_access_modes.iter();
        let volume = KubeVirtPersistentVolume {
            size: Quantity::from(&*format!("{}Gi", self.root_volume_size)),
            storage_class: self.root_volume_storage_class.clone(),
            access_modes: modes
                .map(|mode| judge.word("--root-volume-access-modes", mode))
                .collect(),
            volume_mode: judge.optional("--root-volume-volume-mode", self.root_volume_volume_mode.as_deref()),
        };
        let strategy = self.root_volume_cache_strategy.as_deref();
        KubeVirtRootVolume {
            persistent: Some(volume),
            disk_image: self.containerdisk.clone().map(|image| KubeVirtDiskImage {
                container_disk_image: Some(image),
            }),
            cache_strategy: judge
                .optional("--root-volume-cache-strategy", strategy)
                .map(|type_| KubeVirtCachingStrategy { type_ }),
            ..KubeVirtRootVolume::default()
        }
    }

    fn networks(&self, judge: &mut Judge) -> Vec<KubeVirtNetwork> {
        let flag = "--additional-network";
        if !self.attach_default_network && self.additional_network.is_empty() {
            judge.wrong(
                "--attach-default-network",
                format!("false needs {flag}: machines would have no network"),
            );
        }
        let mut found = Vec::new();
        for text in &self.additional_network {
            let name = text.strip_prefix("name:");
            match name.filter(|name| name.split('/').filter(|part| !part.is_empty()).count() == 2) {
                Some(name) => found.push(KubeVirtNetwork { name: name.to_owned() }),
                None => judge.wrong(flag, format!("{text:?} is no network: write name:NAMESPACE/NAME")),
            }
        }
        found
    }

    fn devices(&self, judge: &mut Judge) -> Vec<KubeVirtHostDevice> {
        let mut found = Vec::new();
        for text in &self.host_device_name {
            let (name, count) = text.split_once(',').unwrap_or((text, "count:1"));
            let count = count.strip_prefix("count:").and_then(|count| count.parse().ok());
            match count.filter(|count| *count > 0 && !name.is_empty()) {
                Some(count) => found.push(KubeVirtHostDevice {
                    device_name: name.to_owned(),
                    count,
                }),
                None => judge.wrong(
                    "--host-device-name",
                    format!("{text:?} is no device: write NAME or NAME,count:NUMBER"),
                ),
            }
        }
        found
    }
}
