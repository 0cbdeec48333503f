//! What a host becomes by a payload, and what stops it, by tables.

mod rendered;

use std::io::Write as _;

use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;

use super::*;

const UNIT: &str = "[Service]\nEnvironment=KUBELET_VERSION=1.35.2\nExecStart=/usr/bin/kubelet --config=/etc/kubelet.yaml \
    --bootstrap-kubeconfig=/etc/bootstrap --kubeconfig=/var/lib/kubelet/kubeconfig --node-labels=a=b,c= \
    --register-with-taints=k=v:NoSchedule,e:NoExecute\n";
const CONFIGURATION: &str = "kind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1\n\
    serverTLSBootstrap: true\nmaxPods: 250\nauthentication: {x509: {clientCAFile: /etc/ca.crt}}\n";
const BOOTSTRAP: &str = "{clusters: [{name: a, cluster: {server: 'https://api.a.example:6443', \
    certificate-authority: /etc/ca.crt}}], users: [{name: a, user: {token: secret}}]}";

fn file(path: &str, text: &str) -> Value {
    json!({"path": path, "contents": {"source": format!("data:;base64,{}", BASE64_STANDARD.encode(text))}})
}

fn payload() -> Value {
    json!({
        "ignition": {"version": "3.2.0"},
        "storage": {"files": [
            file("/etc/kubelet.yaml", CONFIGURATION), file("/etc/bootstrap", BOOTSTRAP), file("/etc/ca.crt", "PEM"),
        ]},
        "systemd": {"units": [{"name": "kubelet.service", "enabled": true, "contents": UNIT}]},
    })
}

fn obeyed(payload: &Value) -> Result<Host, String> {
    obey(payload.to_string().as_bytes(), "host-1")
}

#[test]
fn a_host_becomes_what_it_is_told() {
    let host = obeyed(&payload()).ok().unwrap();
    assert_eq!(host.version.as_deref(), Some("v1.35.2"));
    assert_eq!((host.pods, host.asks_to_serve), (Some(250), true));
    assert_eq!(
        host.labels,
        BTreeMap::from([("a".to_owned(), "b".to_owned()), ("c".to_owned(), String::new())])
    );
    let taints: Vec<String> = host
        .taints
        .iter()
        .map(|taint| format!("{}={:?}:{}", taint.key, taint.value, taint.effect))
        .collect();
    assert_eq!(taints, ["k=Some(\"v\"):NoSchedule", "e=None:NoExecute"]);
    let cluster = &host.bootstrap["clusters"][0]["cluster"];
    assert_eq!(cluster["certificate-authority-data"], "UEVN");
    assert!(cluster["certificate-authority"].is_null());
    assert!(host.provider_id.is_none());
}

#[test]
fn packed_files_are_unpacked() {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    packer.write_all(b"PEM").unwrap();
    let packed = BASE64_STANDARD.encode(packer.finish().unwrap());
    let mut payload = payload();
    payload["storage"]["files"][2]["contents"] =
        json!({"source": format!("data:;base64,{packed}"), "compression": "gzip"});
    let host = obeyed(&payload).ok().unwrap();
    assert_eq!(
        host.bootstrap["clusters"][0]["cluster"]["certificate-authority-data"],
        "UEVN"
    );
}

#[test]
fn a_drop_in_may_start_another_kubelet() {
    let mut payload = payload();
    payload["systemd"]["units"][0]["dropins"] = json!([
        {"name": "20-id.conf", "contents": "[Service]\nExecStart=\nExecStart=kubelet --config=/etc/kubelet.yaml \
            --bootstrap-kubeconfig=/etc/bootstrap --provider-id=kubevirt://%H"},
        {"name": "10-version.conf", "contents": "[Service]\nEnvironment=KUBELET_VERSION=v1.36.0"},
    ]);
    let host = obeyed(&payload).ok().unwrap();
    assert_eq!(host.provider_id.as_deref(), Some("kubevirt://host-1"));
    assert_eq!(host.version.as_deref(), Some("v1.36.0"));
    assert!(host.labels.is_empty() && host.taints.is_empty());
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table, one row for each mistake")]
fn a_host_that_does_not_join_says_why() {
    type Break = fn(&mut Value);
    let cases: [(Break, &str); 16] = [
        (
            |payload| payload["ignition"]["version"] = json!("2.2.0"),
            "ignition: unsupported config version \"2.2.0\"",
        ),
        (
            |payload| payload["storage"] = json!("files"),
            "ignition: the config cannot be parsed",
        ),
        (
            |payload| payload["storage"]["files"][0]["path"] = json!("etc/kubelet.yaml"),
            "ignition: etc/kubelet.yaml: path not absolute",
        ),
        (
            |payload| payload["storage"]["files"][1]["path"] = json!("/etc/kubelet.yaml"),
            "ignition: /etc/kubelet.yaml: duplicate entry defined",
        ),
        (
            |payload| payload["storage"]["files"][2]["contents"]["source"] = json!("data:;base64,!"),
            "ignition: /etc/ca.crt: it is not base64",
        ),
        (
            |payload| payload["storage"]["files"][2]["contents"]["compression"] = json!("gzip"),
            "ignition: /etc/ca.crt: it is not gzip",
        ),
        (
            |payload| payload["storage"]["files"][2]["contents"]["compression"] = json!("zstd"),
            "ignition: /etc/ca.crt: invalid compression method",
        ),
        (
            |payload| payload["ignition"]["version"] = json!("3.9.0"),
            "ignition: unsupported config version \"3.9.0\"",
        ),
        (
            |payload| {
                let unit = payload["systemd"]["units"][0]["contents"]
                    .as_str()
                    .unwrap()
                    .replace("--config=", "--confg=");
                payload["systemd"]["units"][0]["contents"] = json!(unit);
            },
            "kubelet: Error: unknown flag: --confg",
        ),
        (
            |payload| payload["systemd"]["units"][0]["enabled"] = json!(false),
            "systemd: kubelet.service is not enabled, so nothing joins",
        ),
        (
            |payload| payload["systemd"]["units"][0]["contents"] = json!("[Service]\n"),
            "systemd: kubelet.service: Service has no ExecStart= setting, refusing",
        ),
        (
            |payload| payload["systemd"]["units"][0]["contents"] = json!("[Service]\nExecStart=/bin/sleep\n"),
            "kubelet: /bin/sleep is not a kubelet",
        ),
        (
            |payload| payload["storage"]["files"][0] = file("/etc/kubelet.yaml", "kind: Pod"),
            "kubelet: /etc/kubelet.yaml: it is no KubeletConfiguration",
        ),
        (
            |payload| payload["storage"]["files"][2]["path"] = json!("/etc/other.crt"),
            "kubelet: /etc/kubelet.yaml: authentication.x509.clientCAFile: open /etc/ca.crt: no such file or directory",
        ),
        (
            |payload| payload["storage"]["files"][1]["path"] = json!("/etc/elsewhere"),
            "kubelet: open /etc/bootstrap: no such file or directory",
        ),
        (
            |payload| payload["storage"]["files"][1] = file("/etc/bootstrap", "clusters: []"),
            "kubelet: /etc/bootstrap: it names no cluster",
        ),
    ];
    for (change, expected) in cases {
        let mut payload = payload();
        change(&mut payload);
        let error = obeyed(&payload).err().unwrap_or_default();
        assert!(error.starts_with(expected), "{error} is not {expected}");
        assert!(!error.contains("secret"), "{error}");
    }
}

proptest! {
    /// A payload that arrives damaged never makes a node, and never a panic.
    #[test]
    fn a_payload_that_is_cut_off_makes_no_node(share in 0_usize..100) {
        let text = payload().to_string();
        let end = text.len() * share / 100;
        prop_assert!(obey(&text.as_bytes()[..end], "host-1").is_err());
    }

    #[test]
    fn whatever_arrives_is_judged(bytes in proptest::collection::vec(any::<u8>(), 0..256)) {
        prop_assert!(obey(&bytes, "host-1").is_err());
    }
}
