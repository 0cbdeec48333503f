//! Machines of a node pool that are virtual machines on a Kubernetes cluster.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    common::Quantity,
    schema::{JsonSchema, default_value},
    text::string_enum,
};

string_enum! {
    /// How the pod of a virtual machine asks for its resources.
    #[derive(Default)]
    pub enum KubeVirtQosClass {
        /// Requests without limits: the machine may use what is free.
        #[default]
        Burstable,
        /// Limits equal to requests: the machine has what it asks for to itself.
        Guaranteed,
    }
}

string_enum! {
    /// Whether network interfaces have more than one queue.
    #[derive(Default)]
    pub enum MultiQueue {
        /// A queue per processor.
        #[default]
        Enable,
        /// One queue.
        Disable,
    }
}

string_enum! {
    /// What the root disk of a virtual machine is kept on.
    #[derive(Default)]
    pub enum KubeVirtVolumeType {
        /// On a persistent volume.
        #[default]
        Persistent,
    }
}

string_enum! {
    /// How a persistent volume may be mounted.
    pub enum KubeVirtAccessMode {
        /// By one node.
        ReadWriteOnce,
        /// By many nodes; virtual machines can then move while they run.
        ReadWriteMany,
        /// By many nodes, without writing.
        ReadOnly,
        /// By one pod.
        ReadWriteOncePod,
    }
}

string_enum! {
    /// What a persistent volume gives to a pod.
    pub enum VolumeMode {
        /// A directory.
        Filesystem,
        /// A raw device.
        Block,
    }
}

string_enum! {
    /// Whether the boot image is kept beside the virtual machines.
    #[derive(Default)]
    pub enum KubeVirtCacheType {
        /// Every machine imports the image.
        #[default]
        None,
        /// The image is imported once into a volume, and machines clone that.
        Pvc = "PVC",
    }
}

/// Machines on KubeVirt.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubeVirtNodePoolPlatform {
    /// Processors and memory of a machine.
    #[serde(default)]
    #[schemars(transform = default_value(published_compute()))]
    pub compute: KubeVirtCompute,
    /// The root disk of a machine.
    #[serde(default)]
    pub root_volume: KubeVirtRootVolume,
    /// Whether machines are on the pod network of the cluster that runs them; false needs additionalNetworks.
    #[serde(default = "default_attach_default_network")]
    pub attach_default_network: bool,
    /// More networks that machines are on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20))]
    pub additional_networks: Vec<KubeVirtNetwork>,
    /// Whether virtio network interfaces get a queue per processor.
    #[serde(default)]
    pub network_interface_multiqueue: MultiQueue,
    /// Labels that a host must have for a machine to run there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub node_selector: BTreeMap<String, String>,
    /// Devices of the host, such as GPUs, that each machine gets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10))]
    pub host_devices: Vec<KubeVirtHostDevice>,
}

impl Default for KubeVirtNodePoolPlatform {
    fn default() -> Self {
        Self {
            compute: KubeVirtCompute::default(),
            root_volume: KubeVirtRootVolume::default(),
            attach_default_network: default_attach_default_network(),
            additional_networks: Vec::new(),
            network_interface_multiqueue: MultiQueue::default(),
            node_selector: BTreeMap::new(),
            host_devices: Vec::new(),
        }
    }
}

fn default_attach_default_network() -> bool {
    true
}

/// Processors and memory of a virtual machine.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubeVirtCompute {
    /// Processor cores; unset in a compute that is set means what KubeVirt gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub cores: Option<i32>,
    /// Memory that the guest sees.
    #[serde(default = "default_memory")]
    pub memory: Quantity,
    /// Guaranteed gives a machine its processors and memory to itself.
    #[serde(default)]
    pub qos_class: KubeVirtQosClass,
}

/// Cores of a machine of which nothing is said.
const DEFAULT_CORES: i32 = 2;

impl Default for KubeVirtCompute {
    fn default() -> Self {
        Self {
            cores: Some(DEFAULT_CORES),
            memory: default_memory(),
            qos_class: KubeVirtQosClass::default(),
        }
    }
}

fn default_memory() -> Quantity {
    "8Gi".into()
}

/// The default on the wire leaves qosClass to the default of that field.
fn published_compute() -> Value {
    json!({"cores": DEFAULT_CORES, "memory": default_memory()})
}

/// The root disk of a virtual machine.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubeVirtRootVolume {
    /// What the disk is kept on.
    #[serde(rename = "type", default)]
    pub type_: KubeVirtVolumeType,
    /// The persistent volume that the disk is kept on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persistent: Option<KubeVirtPersistentVolume>,
    /// The image that the disk begins with; unset means that of the release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_image: Option<KubeVirtDiskImage>,
    /// Whether the image is imported once for all machines; unset means for each machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_strategy: Option<KubeVirtCachingStrategy>,
}

impl Default for KubeVirtRootVolume {
    fn default() -> Self {
        Self {
            type_: KubeVirtVolumeType::default(),
            persistent: Some(KubeVirtPersistentVolume::default()),
            disk_image: None,
            cache_strategy: None,
        }
    }
}

/// The persistent volume of a root disk.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubeVirtPersistentVolume {
    /// How large it is.
    #[serde(default = "default_volume_size")]
    pub size: Quantity,
    /// Its storage class; unset means the default one of the cluster that runs the machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub storage_class: Option<String>,
    /// How it may be mounted; unset means what suits the storage class.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10))]
    pub access_modes: Vec<KubeVirtAccessMode>,
    /// Whether it is a directory or a raw device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_mode: Option<VolumeMode>,
}

impl Default for KubeVirtPersistentVolume {
    fn default() -> Self {
        Self {
            size: default_volume_size(),
            storage_class: None,
            access_modes: Vec::new(),
            volume_mode: None,
        }
    }
}

fn default_volume_size() -> Quantity {
    "32Gi".into()
}

/// The image that a root disk begins with.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubeVirtDiskImage {
    /// A container image that holds the disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2048))]
    pub container_disk_image: Option<String>,
}

/// Whether the boot image is kept beside the machines.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct KubeVirtCachingStrategy {
    /// PVC imports the image once into a volume that machines clone.
    #[serde(rename = "type", default)]
    pub type_: KubeVirtCacheType,
}

/// A network that machines are on.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct KubeVirtNetwork {
    /// Namespace and name, with a slash between, of the NetworkAttachmentDefinition.
    #[schemars(length(max = 255))]
    pub name: String,
}

/// A device of the host that machines get.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KubeVirtHostDevice {
    /// Name of the device, as the cluster that runs the machines offers it.
    #[schemars(length(max = 255))]
    pub device_name: String,
    /// How many of it each machine gets.
    #[serde(default = "default_device_count")]
    #[schemars(range(min = 1, max = 2_147_483_647))]
    pub count: u32,
}

fn default_device_count() -> u32 {
    1
}
