//! The Node that an instance becomes: what its kubelet registers, and what it tells of its machine from then on. Pure.

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::{
    api::core::v1::{Node, NodeSpec},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};

use super::{floor::Instance, obey::Host, settings::MachineSettings};
use crate::{
    moment,
    nodes::{HOSTNAME, KUBELET_VERSION, LABEL, LEASE_SECONDS, Machine},
};

/// What the kubelet of a host registers.
pub(super) fn registration(twin: &str, name: &str, provider_id: Option<&str>, host: &Host) -> Node {
    let own = [
        (HOSTNAME, name),
        ("kubernetes.io/os", "linux"),
        ("kubernetes.io/arch", "amd64"),
        (LABEL, twin),
    ];
    let mut labels: BTreeMap<String, String> = host.labels.clone();
    labels.extend(own.map(|(key, value)| (key.to_owned(), value.to_owned())));
    Node {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            labels: Some(labels),
            ..ObjectMeta::default()
        },
        spec: Some(NodeSpec {
            provider_id: provider_id.map(str::to_owned),
            taints: Some(host.taints.clone()).filter(|taints| !taints.is_empty()),
            ..NodeSpec::default()
        }),
        ..Node::default()
    }
}

/// What is told of the machine of a Node: by its instance, or, where there is none any more, as the Node has it.
pub(super) fn machine(
    node: &Node,
    instance: Option<&Instance>,
    settings: &MachineSettings,
    silent_since: Option<Timestamp>,
    now: Timestamp,
) -> Machine {
    let status = node.status.as_ref();
    let capacity = |resource: &str| {
        let capacity = status.and_then(|status| status.capacity.as_ref());
        capacity
            .and_then(|capacity| capacity.get(resource))
            .map(|quantity| quantity.0.clone())
    };
    let told = status
        .and_then(|status| status.node_info.as_ref())
        .map(|info| info.kubelet_version.clone());
    let told = told.filter(|version| !version.is_empty());
    let host = instance.and_then(|instance| instance.host.as_ref());
    let pods = host.and_then(|host| host.pods);
    let pods = pods.or_else(|| capacity("pods")?.parse().ok());
    let is_since =
        |duration: i32| silent_since.is_some_and(|since| moment::after_seconds(since, i64::from(duration)) <= now);
    let size = |of_instance: Option<&String>, resource: &str, usual: &str| {
        let known = of_instance.cloned().or_else(|| capacity(resource));
        known.unwrap_or_else(|| usual.to_owned())
    };
    Machine {
        cpu: size(instance.map(|instance| &instance.size.cpu), "cpu", &settings.cpu),
        memory: size(
            instance.map(|instance| &instance.size.memory),
            "memory",
            &settings.memory,
        ),
        pods: pods.unwrap_or(settings.pods),
        address: instance.map_or_else(|| crate::nodes::address(node), |instance| instance.address.to_string()),
        // One that was there before this twin was is not configured again: it has the kubelet that it had.
        kubelet_version: instance
            .and_then(|instance| instance.version.clone())
            .or(told)
            .unwrap_or_else(|| KUBELET_VERSION.to_owned()),
        is_silent: is_since(0),
        is_gone: is_since(LEASE_SECONDS),
    }
}

#[cfg(test)]
mod tests {
    use std::{net::Ipv4Addr, sync::Arc, time::Duration};

    use kube::ResourceExt;
    use serde_json::{Value, json};

    use super::*;
    use crate::machines::{floor::Size, instance::Phase};

    fn host() -> Host {
        Host {
            bootstrap: Value::Null,
            provider_id: None,
            has_cloud: false,
            labels: BTreeMap::from([("pool".to_owned(), "a".to_owned())]),
            taints: Vec::new(),
            asks_to_serve: true,
            pods: Some(250),
            version: None,
        }
    }

    #[test]
    fn a_node_is_registered_with_the_identity_of_its_machine() {
        let node = registration("twin", "a-1", Some("kubevirt://a-1"), &host());
        assert_eq!(node.labels()["pool"], "a");
        assert_eq!(node.labels()[LABEL], "twin");
        let spec = node.spec.unwrap();
        assert_eq!(spec.provider_id.as_deref(), Some("kubevirt://a-1"));
        assert!(spec.taints.is_none());
    }

    #[test]
    fn a_node_counts_as_gone_when_its_last_heartbeat_does_not_count_any_more() {
        let now: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        let instance = Instance {
            uid: "1".to_owned(),
            labels: BTreeMap::new(),
            phase: Phase::Running { since: now },
            host: Some(Arc::new(host())),
            version: Some("v1.35.2".to_owned()),
            size: Size {
                cpu: "8".to_owned(),
                memory: "32Gi".to_owned(),
            },
            address: Ipv4Addr::LOCALHOST,
            faults: Vec::new(),
        };
        let settings = MachineSettings::default();
        let look = |seconds| {
            let now = moment::after(now, Duration::from_secs(seconds));
            machine(
                &Node::default(),
                Some(&instance),
                &settings,
                Some(instance_since(&instance)),
                now,
            )
        };
        let found = look(39);
        assert_eq!((found.is_silent, found.is_gone), (true, false));
        assert_eq!((found.cpu.as_str(), found.pods), ("8", 250));
        assert_eq!(found.kubelet_version, "v1.35.2");
        assert!(look(40).is_gone);
    }

    fn instance_since(instance: &Instance) -> Timestamp {
        match instance.phase {
            Phase::Running { since } => since,
            _ => Timestamp::MIN,
        }
    }

    #[test]
    fn a_node_whose_machine_is_gone_stays_as_it_was() {
        let node: Node = hyperplane_objects::read(json!({"metadata": {"name": "a"}, "status": {
            "capacity": {"cpu": "2", "memory": "4Gi", "pods": "99"},
            "addresses": [{"type": "InternalIP", "address": "10.64.0.9"}],
            "nodeInfo": {
                "architecture": "amd64", "bootID": "", "containerRuntimeVersion": "", "kernelVersion": "",
                "kubeProxyVersion": "", "kubeletVersion": "v1.34.1", "machineID": "", "operatingSystem": "linux",
                "osImage": "", "systemUUID": "",
            },
        }}))
        .unwrap();
        let now: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        let found = machine(&node, None, &MachineSettings::default(), None, now);
        assert_eq!(
            (found.cpu.as_str(), found.memory.as_str(), found.pods),
            ("2", "4Gi", 99)
        );
        assert_eq!(
            (found.address.as_str(), found.kubelet_version.as_str()),
            ("10.64.0.9", "v1.34.1")
        );
        assert!(!found.is_silent && !found.is_gone);
    }
}
