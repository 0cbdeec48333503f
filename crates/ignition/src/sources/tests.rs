//! What a payload is made from, and that it is made anew when any of it changes.

#[path = "../../../api/tests/support/samples.rs"]
mod samples;

use std::collections::BTreeSet;

use hyperplane_ignition_render::validate::validate;
use hyperplane_planner::release::resolve;
use serde_json::{Value, json};

use super::*;

const KUBELET: &str = r#"{"apiVersion":"machineconfiguration.openshift.io/v1","kind":"KubeletConfig","metadata":{"name":"a"},"spec":{"kubeletConfig":{"maxPods":500}}}"#;

fn control_plane(change: &Value) -> Arc<HostedControlPlane> {
    Arc::new(hyperplane_objects::read(samples::hosted_control_plane(change)).unwrap())
}

fn gathered() -> Gathered {
    Gathered {
        revision: FIRST_REVISION,
        documents: gzip::compress(KUBELET.as_bytes()),
        release: resolve(samples::IMAGE, []).unwrap(),
        endpoint: ApiEndpoint {
            host: "api.example.com".to_owned(),
            port: 6443,
        },
        kubeconfig: b"kind: Config\n".to_vec(),
        pull_secret: br#"{"auths":{}}"#.to_vec(),
        client_authority: "AUTHORITY\n".to_owned(),
        trust_bundles: vec![("user-ca-bundle".to_owned(), "BUNDLE\n".to_owned())],
        registry_authorities: BTreeMap::from([("r.example.com..5000".to_owned(), "OTHER\n".to_owned())]),
        ssh_keys: b"ssh-ed25519 AAAA a@b\n".to_vec(),
        control_plane: control_plane(&json!({})),
    }
}

#[test]
fn payloads_are_made_of_documents_packed_or_not() {
    let packed = gathered().render().unwrap();
    let plain = Gathered {
        documents: KUBELET.as_bytes().to_vec(),
        ..gathered()
    };
    assert_eq!(plain.render().unwrap(), packed);
    assert_eq!(validate(&serde_json::from_slice(&packed).unwrap()), []);
    let empty = Gathered {
        documents: Vec::new(),
        ..gathered()
    };
    assert!(empty.render().is_ok_and(|payload| payload != packed));
}

#[test]
fn what_is_broken_is_told_without_what_is_secret() {
    type Change = fn(&mut Gathered);
    let cases: [(Change, &str); 4] = [
        (
            |all| all.documents = b"kind: Pod".to_vec(),
            "Pod cannot be given to nodes",
        ),
        (
            |all| all.documents = gzip::compress(b"x")[..12].to_vec(),
            "the documents of the token: it ends too early",
        ),
        (|all| all.endpoint.port = -1, "status.controlPlaneEndpoint.port"),
        (|all| all.ssh_keys = b"-----BEGIN s3cr3t".to_vec(), "spec.sshKey"),
    ];
    for (change, expected) in cases {
        let mut all = gathered();
        change(&mut all);
        let problems = all.render().unwrap_err();
        let text: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let text = text.join("; ");
        assert!(text.contains(expected) && !text.contains("s3cr3t"), "{text}");
    }
}

#[test]
fn every_input_changes_the_digest() {
    type Change = fn(&mut Gathered);
    let changes: [Change; 13] = [
        |_| {},
        |all| all.documents.push(0),
        |all| all.release.pin.push('a'),
        |all| all.endpoint.host.push('a'),
        |all| all.endpoint.port += 1,
        |all| all.kubeconfig.push(0),
        |all| all.pull_secret.push(0),
        |all| all.client_authority.push('a'),
        |all| all.trust_bundles[0].1.push('a'),
        |all| all.registry_authorities.clear(),
        |all| all.trust_bundles.extend(std::mem::take(&mut all.registry_authorities)),
        |all| all.ssh_keys.push(0),
        |all| {
            all.control_plane =
                control_plane(&json!({"spec": {"configuration": {"proxy": {"httpProxy": "http://a"}}}}));
        },
    ];
    let digests: BTreeSet<Vec<u8>> = changes
        .iter()
        .map(|change| {
            let mut all = gathered();
            change(&mut all);
            all.digest()
        })
        .collect();
    assert_eq!(digests.len(), changes.len());
    // What does not reach nodes changes nothing.
    let other = Gathered {
        control_plane: control_plane(&json!({"spec": {"channel": "stable"}, "status": {"ready": true}})),
        ..gathered()
    };
    assert_eq!(other.digest(), gathered().digest());
}
