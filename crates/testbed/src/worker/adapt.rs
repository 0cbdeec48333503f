//! Where a host of tests differs from a real one: no systemd manages control groups, all hosts share those of one machine,
//! which may have their first version, and the disk is somebody else's. Pure, except that it asks the machine once.

use std::path::Path;

use serde_json::{Value, json};

use super::{
    error::Error,
    payload::{File, Payload},
};

const KUBELET: &str = "/etc/kubernetes/kubelet.conf";
const CONTAINERD: &str = "/etc/containerd/config.toml";

/// The table of containerd's plugin for Kubernetes, with which its settings begin.
const CRI_TABLE: &str = "[plugins.\"io.containerd.grpc.v1.cri\"]\n";

/// The version of the kernel's interface to control groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlGroups {
    /// A hierarchy for each controller. Kubelets start on it only if they are told.
    First,
    /// One hierarchy.
    Second,
}

impl ControlGroups {
    /// That of this machine.
    pub fn of_machine() -> Self {
        if Path::new("/sys/fs/cgroup/cgroup.controllers").is_file() {
            Self::Second
        } else {
            Self::First
        }
    }
}

/// What a host is put on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The version of control groups.
    pub control_groups: ControlGroups,
    /// The control group of the host's pods, as a path below the root. Two kubelets below one root kill each other's pods.
    pub control_group: String,
}

/// Changes what has to differ, and nothing else.
pub(super) fn adapt(mut payload: Payload, machine: &Machine) -> Result<Payload, Error> {
    let kubelet = file(&mut payload, KUBELET)?;
    kubelet.bytes = kubelet_configuration(&kubelet.bytes, machine)?;
    let containerd = file(&mut payload, CONTAINERD)?;
    containerd.bytes = containerd_configuration(&containerd.bytes)?;
    Ok(payload)
}

fn file<'a>(payload: &'a mut Payload, path: &str) -> Result<&'a mut File, Error> {
    let found = payload.files.iter_mut().find(|file| file.path == path);
    found.ok_or_else(|| Error::Payload(format!("it has no {path}")))
}

fn kubelet_configuration(bytes: &[u8], machine: &Machine) -> Result<Vec<u8>, Error> {
    let wrong = |problem: String| Error::Payload(format!("{KUBELET}: {problem}"));
    let mut configuration: Value = serde_json::from_slice(bytes).map_err(|error| wrong(error.to_string()))?;
    let fields = configuration
        .as_object_mut()
        .ok_or_else(|| wrong("not an object".to_owned()))?;
    let mut set = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    set("cgroupDriver", json!("cgroupfs"));
    set("cgroupRoot", json!(format!("/{}", machine.control_group)));
    if machine.control_groups == ControlGroups::First {
        set("failCgroupV1", json!(false));
    }
    set("failSwapOn", json!(false));
    // The disk is that of the machine, whatever else fills it.
    let thresholds = json!({"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"});
    set("evictionHard", thresholds);
    set("imageGCHighThresholdPercent", json!(100));
    Ok(configuration.to_string().into_bytes())
}

fn containerd_configuration(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let wrong = |problem: &str| Error::Payload(format!("{CONTAINERD}: {problem}"));
    let text = str::from_utf8(bytes).map_err(|error| wrong(&error.to_string()))?;
    if !text.contains(CRI_TABLE) {
        return Err(wrong("it does not configure the plugin for Kubernetes"));
    }
    // Where a process may not lower scores of the kernel's out-of-memory killer, every sandbox would fail otherwise.
    let table = format!("{CRI_TABLE}  restrict_oom_score_adj = true\n");
    let text = text
        .replacen(CRI_TABLE, &table, 1)
        .replace("SystemdCgroup = true", "SystemdCgroup = false");
    Ok(text.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTAINERD_TEXT: &str = "version = 2\n\n[plugins.\"io.containerd.grpc.v1.cri\"]\n  sandbox_image = \"pause:3\"\n\n\
        [plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc.options]\n  SystemdCgroup = true\n";

    fn payload() -> Payload {
        let file = |path: &str, text: &str| File {
            path: path.to_owned(),
            mode: 0o644,
            bytes: text.as_bytes().to_vec(),
        };
        Payload {
            files: vec![
                file(KUBELET, r#"{"cgroupDriver":"systemd","clusterDNS":["10.96.0.10"]}"#),
                file(CONTAINERD, CONTAINERD_TEXT),
                file("/etc/other", "other"),
            ],
            ..Payload::default()
        }
    }

    fn machine(control_groups: ControlGroups) -> Machine {
        Machine {
            control_groups,
            control_group: "tests/worker-1".to_owned(),
        }
    }

    #[test]
    fn only_what_has_to_differs() {
        let adapted = adapt(payload(), &machine(ControlGroups::First)).unwrap();
        let kubelet: Value = serde_json::from_slice(&adapted.files[0].bytes).unwrap();
        assert_eq!(
            kubelet,
            json!({
                "cgroupDriver": "cgroupfs", "cgroupRoot": "/tests/worker-1", "clusterDNS": ["10.96.0.10"],
                "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
                "failCgroupV1": false, "failSwapOn": false, "imageGCHighThresholdPercent": 100,
            })
        );
        let expected = CONTAINERD_TEXT
            .replace("  sandbox_image", "  restrict_oom_score_adj = true\n  sandbox_image")
            .replace("SystemdCgroup = true", "SystemdCgroup = false");
        assert_eq!(str::from_utf8(&adapted.files[1].bytes).unwrap(), expected);
        assert_eq!(adapted.files[2], payload().files[2]);
    }

    #[test]
    fn kubelets_refuse_the_first_version_unless_they_are_told() {
        let adapted = adapt(payload(), &machine(ControlGroups::Second)).unwrap();
        let kubelet: Value = serde_json::from_slice(&adapted.files[0].bytes).unwrap();
        assert_eq!(kubelet.get("failCgroupV1"), None);
    }

    #[test]
    fn a_payload_without_a_kubelet_is_refused() {
        let mut without = payload();
        without.files.remove(0);
        let refused = adapt(without, &machine(ControlGroups::First)).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the payload: it has no /etc/kubernetes/kubelet.conf"
        );
    }
}
