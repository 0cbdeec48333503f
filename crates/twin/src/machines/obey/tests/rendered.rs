//! The payload that pools really hand out, whole and with one part of it missing or broken.

use std::collections::BTreeMap;

use hyperplane_api::hypershift::{networking::ClusterNetworking, platform_type::PlatformType};
use hyperplane_ignition_render::worker::{Endpoint, RENDER_REVISION, WorkerInputs, render};
use hyperplane_planner::catalogue;

use super::*;

const KUBECONFIG: &str = "{clusters: [{name: a, cluster: {server: 'https://api.a.example:6443', \
    certificate-authority-data: UEVN}}], users: [{name: a, user: {token: secret}}]}";
const CONFIGURED: &str = "/etc/containerd/config.toml";
const SCRIPT: &str = "/etc/hyperplane/kubelet-environment.sh";
const CONFIG: &str = "/etc/kubernetes/kubelet.conf";

fn rendered(platform: &PlatformType) -> Value {
    let bytes = render(&WorkerInputs {
        revision: RENDER_REVISION,
        release: catalogue::by_version("v1.36.4").unwrap(),
        platform,
        networking: &ClusterNetworking::default(),
        configuration: None,
        api_server: Endpoint {
            host: "api.a.example",
            port: 6443,
        },
        bootstrap_kubeconfig: KUBECONFIG.as_bytes(),
        kubelet_client_authority: "PEM",
        trust_bundles: &[],
        registry_authorities: &BTreeMap::new(),
        ssh_keys: "",
        pull_secret: br#"{"auths":{}}"#,
        documents: &[],
    });
    serde_json::from_slice(&bytes.unwrap()).unwrap()
}

/// Takes a file away.
fn without(payload: &mut Value, path: &str) {
    let files = payload["storage"]["files"].as_array_mut().unwrap();
    let before = files.len();
    files.retain(|file| file["path"] != path);
    assert_eq!(files.len(), before - 1, "{path}");
}

/// Puts other words into a file.
fn edit(payload: &mut Value, path: &str, from: &str, to: &str) {
    let files = payload["storage"]["files"].as_array_mut().unwrap();
    let found = files.iter_mut().find(|file| file["path"] == path).unwrap();
    let bytes = data_url::decode(found["contents"]["source"].as_str().unwrap()).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains(from), "{path} has no {from}");
    *found = file(path, &text.replace(from, to));
}

/// The unit of a name.
fn unit<'a>(payload: &'a mut Value, name: &str) -> &'a mut Value {
    let units = payload["systemd"]["units"].as_array_mut().unwrap();
    units.iter_mut().find(|unit| unit["name"] == name).unwrap()
}

fn edit_unit(payload: &mut Value, name: &str, from: &str, to: &str) {
    let contents = &mut unit(payload, name)["contents"];
    let text = contents.as_str().unwrap();
    assert!(text.contains(from), "{name} has no {from}");
    *contents = json!(text.replace(from, to));
}

#[test]
fn what_pools_hand_out_makes_a_node() {
    let host = obeyed(&rendered(&PlatformType::KubeVirt)).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(host.provider_id.as_deref(), Some("kubevirt://host-1"));
    assert_eq!(host.version.as_deref(), Some("v1.36.4"));
    assert!(host.asks_to_serve && !host.has_cloud);
    let host = obeyed(&rendered(&PlatformType::None)).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(host.provider_id, None);
}

/// A node whose script says nothing of its identity has none.
#[test]
fn identity_is_what_the_payload_says() {
    let mut payload = rendered(&PlatformType::KubeVirt);
    edit(&mut payload, SCRIPT, "kubevirt://", "other://");
    assert_eq!(
        obeyed(&payload).ok().unwrap().provider_id.as_deref(),
        Some("other://host-1")
    );
    edit(&mut payload, SCRIPT, "KUBELET_PROVIDERID=", "PROVIDERID=");
    assert_eq!(obeyed(&payload).ok().unwrap().provider_id, None);
    let mut payload = rendered(&PlatformType::KubeVirt);
    edit_unit(&mut payload, KUBELET, "EnvironmentFile=", "#");
    assert_eq!(obeyed(&payload).ok().unwrap().provider_id, None);
}

#[test]
fn no_part_of_it_can_be_missing_or_broken() {
    type Break = fn(&mut Value);
    let cases: [(Break, &str); 14] = [
        (
            |payload| without(payload, SCRIPT),
            "systemd: kubelet.service: ExecStartPre=/bin/sh /etc/hyperplane/kubelet-env",
        ),
        (
            |payload| edit(payload, SCRIPT, "resolver=/etc", "resolve=/etc"),
            "systemd: kubelet.service: ExecStartPre=",
        ),
        (
            |payload| edit(payload, SCRIPT, "cat >", "tee "),
            "systemd: kubelet.service: ExecStartPre=",
        ),
        (
            |payload| unit(payload, "containerd.service")["mask"] = json!(true),
            "systemd: kubelet.service: a dependency failed: containerd.service: Unit is masked.",
        ),
        (
            |payload| without(payload, CONFIGURED),
            "systemd: kubelet.service: a dependency failed: containerd.service: open /etc/containerd/config.toml",
        ),
        (
            |payload| edit(payload, CONFIGURED, "io.containerd.grpc.v1.cri", "other"),
            "systemd: kubelet.service: a dependency failed: containerd.service: /etc/containerd/config.toml has no plugin",
        ),
        (
            |payload| {
                unit(payload, "hyperplane-api-server-address.service")["contents"] =
                    json!("[Service]\n[Install]\nRequiredBy=kubelet.service\n");
            },
            "systemd: kubelet.service: a dependency failed: hyperplane-api-server-address.service: Service has no ExecStart",
        ),
        (
            |payload| edit_unit(payload, KUBELET, "Requires=", "Requires=storage.service "),
            "systemd: kubelet.service: a dependency failed: storage.service: Unit not found.",
        ),
        (
            |payload| edit_unit(payload, KUBELET, "--config=", "--configuration="),
            "kubelet: Error: unknown flag",
        ),
        (
            |payload| without(payload, CONFIG),
            "kubelet: open /etc/kubernetes/kubelet.conf: no such file",
        ),
        (
            |payload| edit(payload, CONFIG, "cgroupDriver", "cgroupdriver"),
            "kubelet: /etc/kubernetes/kubelet.conf: strict decoding error: unknown field \"cgroupdriver\"",
        ),
        (
            |payload| without(payload, "/etc/kubernetes/kubelet-ca.crt"),
            "kubelet: /etc/kubernetes/kubelet.conf: authentication.x509.clientCAFile: open",
        ),
        (
            |payload| without(payload, "/etc/kubernetes/bootstrap-kubeconfig"),
            "kubelet: open /etc/kubernetes/bootstrap",
        ),
        (
            |payload| unit(payload, KUBELET)["mask"] = json!(true),
            "systemd: kubelet.service is not enabled",
        ),
    ];
    for (change, expected) in cases {
        let mut payload = rendered(&PlatformType::KubeVirt);
        change(&mut payload);
        let error = obeyed(&payload).err().unwrap_or_default();
        assert!(error.starts_with(expected), "{error:?} is not {expected}");
        assert!(!error.contains("secret"), "{error}");
    }
}
