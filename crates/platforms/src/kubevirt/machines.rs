//! The virtual machines of a pool: processors, memory, disk, networks and placement, in the words of KubeVirt.

mod patch;
#[cfg(test)]
mod tests;

use hyperplane_api::{
    common::OpenObject,
    constants::{labels, objects::copies},
    hypershift::node_pool::platform::kubevirt::{
        KubeVirtCacheType, KubeVirtCompute, KubeVirtNodePoolPlatform, KubeVirtQosClass, MultiQueue,
    },
    infrastructure::{
        NamespacedReference,
        kubevirt_machine::{
            BootstrapCheck, KubevirtMachineSpec, KubevirtMachineTemplateResource, KubevirtMachineTemplateSpec,
        },
    },
};
use serde_json::{Map, Value, json};

use super::credentials;
use crate::{
    machines::PoolFacts,
    problem::{Problem, Rule},
};

const NETWORKS: Rule = Rule {
    name: "pool-kubevirt-networks",
    asks: "machines need a network: the default one, or others",
};
const NETWORK_NAME: Rule = Rule {
    name: "pool-kubevirt-network-name",
    asks: "a further network is named as namespace/name",
};
const BOOT_IMAGE: Rule = Rule {
    name: "pool-kubevirt-boot-image",
    asks: "machines need an image that they start from",
};
const CACHE: Rule = Rule {
    name: "pool-kubevirt-cache",
    asks: "every machine imports its image: the cache PVC is not made here",
};

/// The rules about machines.
pub(crate) const RULES: &[Rule] = &[NETWORKS, NETWORK_NAME, BOOT_IMAGE, CACHE, patch::JSON_PATCH];

/// The disk of a machine, and the volume that it is on; KubeVirt gives each machine one of its own.
const ROOT_VOLUME: &str = "rhcos";
/// The longest name of a network interface.
const LONGEST_INTERFACE: usize = 63;
/// The label of a host by which machines are spread.
const HOST: &str = "kubernetes.io/hostname";

/// What the machines of a pool are made from, or all that is wrong with what the pool asks for.
pub(super) fn template(facts: &PoolFacts<'_>) -> Result<KubevirtMachineTemplateSpec, Vec<Problem>> {
    let platform = facts.pool.spec.platform.kubevirt.clone().unwrap_or_default();
    let image = image(facts, &platform);
    let mut problems: Vec<Problem> = networks_missing(&platform).into_iter().collect();
    problems.extend(bad_networks(&platform));
    problems.extend(cache(&platform));
    if image.is_none() {
        problems.push(no_image());
    }
    let mut machine = virtual_machine(facts, &platform, image.as_deref().unwrap_or_default());
    problems.extend(patch::apply(facts, &mut machine));
    match machine {
        Value::Object(machine) if problems.is_empty() => Ok(spec(facts, machine)),
        _ => Err(problems),
    }
}

fn spec(facts: &PoolFacts<'_>, machine: Map<String, Value>) -> KubevirtMachineTemplateSpec {
    let is_external = credentials(&facts.cluster.spec).is_some();
    KubevirtMachineTemplateSpec {
        template: KubevirtMachineTemplateResource {
            metadata: None,
            spec: KubevirtMachineSpec {
                provider_id: None,
                virtual_machine_template: OpenObject(machine),
                // Machines are not logged into to see whether they have booted: their Node says it.
                virtual_machine_bootstrap_check: Some(BootstrapCheck {
                    check_strategy: Some("none".to_owned()),
                }),
                infra_cluster_secret_ref: is_external.then(|| NamespacedReference {
                    namespace: Some(facts.namespace.to_owned()),
                    name: copies::KUBEVIRT_CREDENTIALS.to_owned(),
                }),
            },
        },
    }
}

/// The image of the pool, or else the one that was found for it.
fn image(facts: &PoolFacts<'_>, platform: &KubeVirtNodePoolPlatform) -> Option<String> {
    let own = platform.root_volume.disk_image.as_ref();
    let own = own.and_then(|image| image.container_disk_image.as_deref());
    let chosen = own.filter(|image| !image.is_empty()).or(facts.boot_image);
    chosen.map(str::to_owned)
}

fn no_image() -> Problem {
    Problem::new(
        &BOOT_IMAGE,
        "spec.platform.kubevirt.rootVolume.diskImage",
        "neither the pool nor its release names an image that machines start from",
        "set containerDiskImage, or use a release with images of an operating system for KubeVirt",
    )
}

fn networks_missing(platform: &KubeVirtNodePoolPlatform) -> Option<Problem> {
    let has_none = !platform.attach_default_network && platform.additional_networks.is_empty();
    has_none.then(|| {
        Problem::new(
            &NETWORKS,
            "spec.platform.kubevirt.attachDefaultNetwork",
            "it is false, and additionalNetworks is empty",
            "name a network, or attach the default one",
        )
    })
}

fn bad_networks(platform: &KubeVirtNodePoolPlatform) -> impl Iterator<Item = Problem> {
    let networks = platform.additional_networks.iter().enumerate();
    networks.filter_map(|(place, network)| {
        let is_good = network
            .name
            .split_once('/')
            .is_some_and(|(namespace, name)| !namespace.is_empty() && !name.is_empty() && !name.contains('/'));
        (!is_good).then(|| {
            Problem::new(
                &NETWORK_NAME,
                format!("spec.platform.kubevirt.additionalNetworks[{place}].name"),
                format!("{:?} is not a namespace and a name", network.name),
                "write the namespace of the NetworkAttachmentDefinition, a slash, and its name",
            )
        })
    })
}

fn cache(platform: &KubeVirtNodePoolPlatform) -> Option<Problem> {
    let strategy = platform.root_volume.cache_strategy.as_ref();
    let wants = strategy.is_some_and(|strategy| strategy.type_ == KubeVirtCacheType::Pvc);
    wants.then(|| {
        Problem::new(
            &CACHE,
            "spec.platform.kubevirt.rootVolume.cacheStrategy.type",
            "PVC is not made by this manager",
            "set it to None",
        )
    })
}

/// The VirtualMachine, which the provider makes once per machine.
fn virtual_machine(facts: &PoolFacts<'_>, platform: &KubeVirtNodePoolPlatform, image: &str) -> Value {
    let labels = json!({
        labels::NODE_POOL_NAME.as_str(): facts.pool_label,
        labels::INFRA_ID.as_str(): facts.infra_id,
    });
    json!({
        "metadata": {"labels": labels, "namespace": namespace(facts)},
        "spec": {
            "runStrategy": "Always",
            "dataVolumeTemplates": [data_volume(platform, image)],
            "template": {
                "metadata": {
                    "labels": labels,
                    // Machines on the pod network move only where this is said (kubevirt, pod bridge binding).
                    "annotations": {"kubevirt.io/allow-pod-bridge-network-live-migration": ""},
                },
                "spec": instance(facts, platform),
            },
        },
    })
}

/// Where virtual machines live: on another cluster in the namespace that the user named there.
fn namespace(facts: &PoolFacts<'_>) -> String {
    let elsewhere = credentials(&facts.cluster.spec).map(|credentials| credentials.infra_namespace.clone());
    elsewhere.unwrap_or_else(|| facts.namespace.to_owned())
}

fn data_volume(platform: &KubeVirtNodePoolPlatform, image: &str) -> Value {
    let volume = platform.root_volume.persistent.clone().unwrap_or_default();
    let mut storage = json!({"resources": {"requests": {"storage": volume.size.to_string()}}});
    if let Some(class) = &volume.storage_class {
        storage["storageClassName"] = class.as_str().into();
    }
    if let Some(mode) = &volume.volume_mode {
        storage["volumeMode"] = mode.as_str().into();
    }
    if !volume.access_modes.is_empty() {
        let modes = volume.access_modes.iter().map(|mode| mode.as_str().to_owned());
        storage["accessModes"] = modes.collect::<Vec<_>>().into();
    }
    let is_download = image.starts_with("http://") || image.starts_with("https://");
    let source = if is_download {
        json!({"http": {"url": image}})
    } else {
        json!({"registry": {"url": format!("docker://{image}"), "pullMethod": "node"}})
    };
    json!({"metadata": {"name": ROOT_VOLUME}, "spec": {"source": source, "storage": storage}})
}

fn instance(facts: &PoolFacts<'_>, platform: &KubeVirtNodePoolPlatform) -> Value {
    let (interfaces, networks) = networks(platform);
    let mut devices = json!({
        "disks": [{"name": ROOT_VOLUME, "disk": {"bus": "virtio"}}],
        "interfaces": interfaces,
    });
    if platform.network_interface_multiqueue == MultiQueue::Enable {
        devices["networkInterfaceMultiqueue"] = true.into();
    }
    let host_devices = host_devices(platform);
    if !host_devices.is_empty() {
        devices["hostDevices"] = host_devices.into();
    }
    let mut domain = compute(&platform.compute);
    domain["devices"] = devices;
    let mut instance = json!({
        "domain": domain,
        // A host that is drained tells the provider, which drains the node before the machine goes.
        "evictionStrategy": "External",
        "networks": networks,
        "volumes": [{"name": ROOT_VOLUME, "dataVolume": {"name": ROOT_VOLUME}}],
    });
    if !platform.node_selector.is_empty() {
        instance["nodeSelector"] = json!(platform.node_selector);
    }
    let (field, spread) = spread(facts);
    instance[field] = spread;
    instance
}

fn compute(compute: &KubeVirtCompute) -> Value {
    let memory = compute.memory.to_string();
    let mut domain = json!({"memory": {"guest": memory}});
    if let Some(cores) = compute.cores {
        domain["cpu"] = json!({"cores": cores});
    }
    if compute.qos_class == KubeVirtQosClass::Guaranteed {
        let mut amounts = json!({"memory": memory});
        if let Some(cores) = compute.cores {
            amounts["cpu"] = cores.to_string().into();
        }
        domain["resources"] = json!({"requests": amounts, "limits": amounts});
    }
    domain
}

/// Interfaces of a machine, and the networks that they are on.
fn networks(platform: &KubeVirtNodePoolPlatform) -> (Vec<Value>, Vec<Value>) {
    let default = platform.attach_default_network.then(|| {
        (
            json!({"name": "default", "bridge": {}}),
            json!({"name": "default", "pod": {}}),
        )
    });
    let further = platform.additional_networks.iter().enumerate().map(|(place, network)| {
        let name = interface_name(place, &network.name);
        (
            json!({"name": name, "bridge": {}}),
            json!({"name": name, "multus": {"networkName": network.name}}),
        )
    });
    default.into_iter().chain(further).unzip()
}

/// The place alone tells interfaces apart; what follows is for people, and may be cut.
fn interface_name(place: usize, network: &str) -> String {
    let name = format!("iface{}_{}", place + 1, network.replace('/', "-"));
    let end = (0..=name.len().min(LONGEST_INTERFACE))
        .rev()
        .find(|end| name.is_char_boundary(*end));
    name[..end.unwrap_or_default()].trim_end_matches(['-', '.']).to_owned()
}

fn host_devices(platform: &KubeVirtNodePoolPlatform) -> Vec<Value> {
    let each = platform
        .host_devices
        .iter()
        .flat_map(|device| (0..device.count).map(move |_| &device.device_name));
    each.take(MOST_HOST_DEVICES)
        .enumerate()
        .map(|(place, name)| json!({"name": format!("hostdevice-{}", place + 1), "deviceName": name}))
        .collect()
}

/// The most devices that a machine is given; the schema would allow two thousand million.
const MOST_HOST_DEVICES: usize = 256;

fn spread(facts: &PoolFacts<'_>) -> (&'static str, Value) {
    let selector = json!({"matchLabels": {labels::NODE_POOL_NAME.as_str(): facts.pool_label}});
    if facts.spreads_by_topology {
        let constraint = json!({
            "maxSkew": 1, "topologyKey": HOST, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": selector,
        });
        return ("topologySpreadConstraints", json!([constraint]));
    }
    let term = json!({
        "weight": 100, "podAffinityTerm": {"topologyKey": HOST, "labelSelector": selector},
    });
    let affinity = json!({"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}});
    ("affinity", affinity)
}
