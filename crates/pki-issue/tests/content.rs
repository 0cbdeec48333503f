//! What stands in what is written: subjects, serial numbers, kubeconfigs, keys of tokens; and what is never printed.

use std::collections::BTreeSet;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use hyperplane_api::constants::objects::{certificates, keys, kubeconfigs, signers};
use hyperplane_pki_issue::{Published, SecretKey, issue};
use rustls_pki_types::{CertificateDer, pem::PemObject as _};
use serde_json::Value;
use x509_parser::parse_x509_certificate;

use crate::support::{LEAVES, World, trust::authorities, wanted};

fn subject(pem: &str) -> String {
    let der = CertificateDer::from_pem_slice(pem.as_bytes()).unwrap();
    let (_, certificate) = parse_x509_certificate(&der).unwrap();
    certificate.subject().to_string()
}

fn kubeconfig(world: &World, secret: &str, key: &str) -> Value {
    serde_saphyr::from_str(&world.text(secret, key)).unwrap()
}

fn client(kubeconfig: &Value) -> String {
    let data = kubeconfig["users"][0]["user"]["client-certificate-data"]
        .as_str()
        .unwrap();
    String::from_utf8(BASE64_STANDARD.decode(data).unwrap()).unwrap()
}

#[test]
fn subjects_are_those_that_kubernetes_expects() {
    let world = World::settled(&wanted());
    for (secret, expected) in [
        (
            certificates::API_SERVER_KUBELET_CLIENT,
            "O=system:masters, CN=kube-apiserver-kubelet-client",
        ),
        (certificates::AGGREGATOR_CLIENT, "CN=front-proxy-client"),
        (certificates::SYSTEM_ADMIN, "O=system:masters, CN=system:admin"),
        (
            certificates::BOOTSTRAP,
            "O=system:bootstrappers, CN=system:bootstrapper",
        ),
        (
            certificates::CONFIG_OPERATOR,
            "O=system:masters, CN=system:hosted-cluster-config",
        ),
        (certificates::SCHEDULER_CLIENT, "CN=system:kube-scheduler"),
        (
            certificates::CONTROLLER_MANAGER_CLIENT,
            "CN=system:kube-controller-manager",
        ),
        (
            certificates::METRICS_CLIENT,
            "O=system:monitoring, CN=hyperplane-metrics",
        ),
    ] {
        assert_eq!(
            subject(&world.text(secret, keys::TLS_CERTIFICATE)),
            expected,
            "{secret}"
        );
    }
    let account = kubeconfig(
        &world,
        "cloud-controller-manager-service-account-kubeconfig",
        keys::KUBECONFIG,
    );
    assert_eq!(
        subject(&client(&account)),
        "O=system:serviceaccounts, O=system:serviceaccounts:kube-system, \
         CN=system:serviceaccount:kube-system:cloud-controller-manager"
    );
}

#[test]
fn serial_numbers_are_positive_short_and_unique() {
    let world = World::settled(&wanted());
    let mut serials = BTreeSet::new();
    let mut count = 0;
    for secret in world.existing.secrets.values() {
        for key in [
            keys::CA_CERTIFICATE,
            keys::TLS_CERTIFICATE,
            keys::ETCD_CLIENT_CERTIFICATE,
        ] {
            if let Some(pem) = secret.data.as_ref().unwrap().get(key) {
                let der = CertificateDer::from_pem_slice(&pem.0).unwrap();
                let (_, certificate) = parse_x509_certificate(&der).unwrap();
                let serial = certificate.raw_serial().to_vec();
                assert!((1..=20).contains(&serial.len()) && (1..0x80).contains(&serial[0]));
                serials.insert(serial);
                count += 1;
            }
        }
    }
    assert_eq!(
        count,
        authorities().len() + LEAVES - 1,
        "one leaf stands in a kubeconfig only"
    );
    assert_eq!(serials.len(), count);
}

#[test]
fn kubeconfigs_lead_where_they_should() {
    let mut wanted = wanted();
    let inside = "https://kube-apiserver.clusters-example.svc:6443";
    let world = World::settled(&wanted);
    for (secret, key, server) in [
        (kubeconfigs::ADMIN, keys::KUBECONFIG, "https://api.example.com:443"),
        (
            kubeconfigs::CUSTOM_ADMIN,
            keys::KUBECONFIG,
            "https://kubernetes.example.org:443",
        ),
        (kubeconfigs::LOCALHOST, keys::KUBECONFIG, "https://localhost:6443"),
        (kubeconfigs::SERVICE_NETWORK_ADMIN, keys::KUBECONFIG, inside),
        (kubeconfigs::BOOTSTRAP, keys::KUBECONFIG, "https://api.example.com:443"),
        (kubeconfigs::CONFIG_OPERATOR, keys::KUBECONFIG, inside),
        (kubeconfigs::CONTROLLER_MANAGER, keys::KUBECONFIG, inside),
        (kubeconfigs::SCHEDULER, keys::KUBECONFIG, inside),
        ("example-x7k2p-kubeconfig", keys::CLUSTER_API_KUBECONFIG, inside),
    ] {
        let content = kubeconfig(&world, secret, key);
        assert_eq!(content["clusters"][0]["cluster"]["server"], server, "{secret}");
        assert_eq!(content["current-context"], "example");
        assert_eq!(content["contexts"][0]["context"]["user"], content["users"][0]["name"]);
    }
    let secret = &world.existing.secrets["example-x7k2p-kubeconfig"];
    assert_eq!(secret.type_.as_deref(), Some("cluster.x-k8s.io/secret"));
    assert_eq!(
        secret.metadata.labels.as_ref().unwrap()["cluster.x-k8s.io/cluster-name"],
        "example-x7k2p"
    );

    wanted.api_server = Published::Unused;
    wanted.admin_kubeconfig = SecretKey {
        name: "mine".to_owned(),
        key: "config".to_owned(),
    };
    let world = World::settled(&wanted);
    assert_eq!(
        kubeconfig(&world, "mine", "config")["clusters"][0]["cluster"]["server"],
        inside
    );
}

#[test]
fn keys_of_tokens_are_a_pair() {
    let world = World::settled(&wanted());
    let key = world.text(certificates::SERVICE_ACCOUNT_KEYS, keys::SERVICE_ACCOUNT_KEY);
    let key = rcgen::KeyPair::from_pem(&key).unwrap();
    let public = world.text(certificates::SERVICE_ACCOUNT_KEYS, keys::SERVICE_ACCOUNT_PUBLIC_KEY);
    assert_eq!(public, key.public_key_pem());
    assert!(public.starts_with("-----BEGIN PUBLIC KEY-----"));
}

#[test]
fn everything_carries_labels_annotations_and_owner() {
    let wanted = wanted();
    let world = World::settled(&wanted);
    let secrets = world.existing.secrets.values().map(|secret| &secret.metadata);
    let config_maps = world.existing.config_maps.values().map(|map| &map.metadata);
    for metadata in secrets.chain(config_maps) {
        assert_eq!(metadata.labels.as_ref().unwrap()["managed-by"], "us");
        assert_eq!(metadata.annotations.as_ref(), Some(&wanted.annotations));
        assert_eq!(
            metadata.owner_references.as_ref().unwrap(),
            &[wanted.owner.clone().unwrap()]
        );
        assert_eq!(metadata.namespace.as_ref(), Some(&wanted.namespace));
    }
}

#[test]
fn nothing_prints_a_secret() {
    let mut wanted = wanted();
    let mut world = World::settled(&wanted);
    let settled = format!("{:?} {:?}", world.existing, world.plan(&wanted));
    wanted.cluster = "renamed".to_owned();
    world.put(signers::ETCD, keys::CA_KEY, "garbage");
    world.delete(certificates::SYSTEM_ADMIN);
    let plan = world.plan(&wanted);
    let existing = world.existing.clone();
    let mut issuance = issue(&plan, &wanted, &existing, world.now);
    let first = issuance.next().unwrap().unwrap();
    let printed = format!("{settled} {plan:?} {wanted:?} {issuance:?} {first:?}");
    let secrets: Vec<String> = existing
        .secrets
        .values()
        .flat_map(|secret| secret.data.iter().flatten())
        .map(|(_, bytes)| {
            // A line in the middle of a key, and the start of the bytes as Debug would print them.
            String::from_utf8_lossy(&bytes.0)
                .lines()
                .nth(1)
                .unwrap_or("garbage")
                .to_owned()
        })
        .collect();
    assert!(secrets.len() > 50);
    for secret in secrets {
        assert!(!printed.contains(&secret), "{secret}");
    }
    assert!(!printed.contains("PRIVATE") && !printed.contains("45, 45, 45, 45, 45"));
}
