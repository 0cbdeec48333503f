//! What is issued is what others accept: chains, names and purposes as rustls' verifier and OpenSSL see them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::{fs, process::Command, time::Duration};

use hyperplane_api::constants::objects::{bundles, certificates, keys, kubeconfigs, signers};
use hyperplane_pki_issue::{KeyAlgorithm, Wanted};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject as _};
use support::{DAY, World, wanted};
use webpki::{EndEntityCert, KeyUsage, anchor_from_trusted_cert};

/// Whether a certificate is trusted, for a client or for a server of a name.
fn accept(world: &World, pem: &str, bundle: &str, server: Option<&str>) -> Result<(), webpki::Error> {
    let der = CertificateDer::from_pem_slice(pem.as_bytes()).unwrap();
    let leaf = EndEntityCert::try_from(&der)?;
    let trusted: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(bundle.as_bytes())
        .map(Result::unwrap)
        .collect();
    let anchors: Vec<_> = trusted
        .iter()
        .map(|der| anchor_from_trusted_cert(der).unwrap())
        .collect();
    let now = UnixTime::since_unix_epoch(Duration::from_secs(world.now.as_second().try_into().unwrap()));
    let usage = if server.is_some() {
        KeyUsage::server_auth()
    } else {
        KeyUsage::client_auth()
    };
    leaf.verify_for_usage(webpki::ALL_VERIFICATION_ALGS, &anchors, &[], now, usage, None, None)?;
    match server {
        Some(name) => leaf.verify_is_valid_for_subject_name(&ServerName::try_from(name).unwrap()),
        None => Ok(()),
    }
}

/// Servers, who trusts them, and names by which they are reached.
const SERVERS: &[(&str, &str, &[&str])] = &[
    (
        certificates::API_SERVER,
        bundles::ROOT,
        &[
            "localhost",
            "127.0.0.1",
            "::1",
            "kubernetes",
            "kubernetes.default",
            "kubernetes.default.svc",
            "kubernetes.default.svc.cluster.local",
            "172.31.0.1",
            "fd00::1",
            "kube-apiserver",
            "kube-apiserver.clusters-example.svc",
            "kube-apiserver.clusters-example.svc.cluster.local",
            "api.example.com",
            "kubernetes.example.org",
            "172.20.0.1",
            "node.example.com",
            "api.example.hypershift.local",
        ],
    ),
    (
        certificates::SCHEDULER_SERVER,
        bundles::ROOT,
        &["localhost", "kube-scheduler.clusters-example.svc"],
    ),
    (certificates::CONTROLLER_MANAGER_SERVER, bundles::ROOT, &["localhost"]),
    (
        certificates::ETCD_SERVER,
        bundles::ETCD,
        &[
            "etcd-client",
            "etcd-client.clusters-example.svc",
            "etcd-0.etcd-discovery.clusters-example.svc",
            "etcd-2.etcd-discovery.clusters-example.svc.cluster.local",
            "localhost",
            "127.0.0.1",
            "::1",
        ],
    ),
    (
        certificates::ETCD_PEER,
        bundles::ETCD,
        &["etcd-1.etcd-discovery.clusters-example.svc"],
    ),
    (
        certificates::KONNECTIVITY_SERVER,
        bundles::KONNECTIVITY,
        &[
            "konnectivity-server-local",
            "konnectivity-server-local.clusters-example.svc",
            "localhost",
        ],
    ),
    (
        certificates::KONNECTIVITY_CLUSTER,
        bundles::KONNECTIVITY,
        &["konnectivity-server", "192.0.2.8"],
    ),
    (
        certificates::OPENSHIFT_API_SERVER,
        bundles::ROOT,
        &[
            "openshift-apiserver.clusters-example.svc",
            "openshift-apiserver.clusters-example.svc.cluster.local",
        ],
    ),
];

/// Clients, and who trusts them.
const CLIENTS: &[(&str, &str)] = &[
    (certificates::API_SERVER_KUBELET_CLIENT, bundles::KUBELET_CLIENT),
    (certificates::AGGREGATOR_CLIENT, bundles::AGGREGATOR_CLIENT),
    (certificates::SYSTEM_ADMIN, bundles::CLIENT),
    (certificates::BOOTSTRAP, bundles::CLIENT),
    (certificates::CONFIG_OPERATOR, bundles::CLIENT),
    (certificates::SCHEDULER_CLIENT, bundles::CLIENT),
    (certificates::CONTROLLER_MANAGER_CLIENT, bundles::CLIENT),
    (certificates::ETCD_SERVER, bundles::ETCD),
    (certificates::ETCD_PEER, bundles::ETCD),
    (certificates::ETCD_METRICS_CLIENT, bundles::ETCD_METRICS),
    (certificates::KONNECTIVITY_CLIENT, bundles::KONNECTIVITY),
    (certificates::KONNECTIVITY_AGENT, bundles::KONNECTIVITY),
];

fn check_all(wanted: &Wanted) {
    let world = World::settled(wanted);
    for (secret, bundle, names) in SERVERS {
        let pem = world.text(secret, keys::TLS_CERTIFICATE);
        for name in *names {
            assert_eq!(
                accept(&world, &pem, &world.bundle(bundle), Some(name)),
                Ok(()),
                "{secret} {name}"
            );
        }
        accept(&world, &pem, &world.bundle(bundle), Some("other.example.com")).unwrap_err();
    }
    for (secret, bundle) in CLIENTS {
        let pem = world.text(secret, keys::TLS_CERTIFICATE);
        assert_eq!(accept(&world, &pem, &world.bundle(bundle), None), Ok(()), "{secret}");
    }
    let pem = world.text(certificates::IGNITION_SERVER, keys::TLS_CERTIFICATE);
    let trusted = world.text(signers::IGNITION, keys::CA_CERTIFICATE);
    assert_eq!(accept(&world, &pem, &trusted, Some("ignition.example.com")), Ok(()));
    let pem = world.text(certificates::ETCD_CLIENT, keys::ETCD_CLIENT_CERTIFICATE);
    assert_eq!(accept(&world, &pem, &world.bundle(bundles::ETCD), None), Ok(()));
    assert_eq!(
        world.text(certificates::ETCD_CLIENT, keys::ETCD_CLIENT_CA),
        world.bundle(bundles::ETCD)
    );
}

#[test]
fn every_leaf_is_accepted_where_it_is_shown() {
    check_all(&wanted());
}

#[test]
fn every_leaf_is_accepted_with_rsa_too() {
    let mut wanted = wanted();
    wanted.algorithm = KeyAlgorithm::Rsa2048;
    check_all(&wanted);
}

#[test]
fn leaves_are_refused_where_they_do_not_belong() {
    let world = World::settled(&wanted());
    let client = world.bundle(bundles::CLIENT);
    for secret in [
        certificates::AGGREGATOR_CLIENT,
        certificates::API_SERVER_KUBELET_CLIENT,
        certificates::KONNECTIVITY_CLIENT,
        certificates::API_SERVER,
    ] {
        let pem = world.text(secret, keys::TLS_CERTIFICATE);
        accept(&world, &pem, &client, None).unwrap_err();
    }
    let admin = world.text(certificates::SYSTEM_ADMIN, keys::TLS_CERTIFICATE);
    accept(&world, &admin, &world.bundle(bundles::ROOT), Some("localhost")).unwrap_err();
}

#[test]
fn a_bundle_with_two_authorities_accepts_both() {
    let wanted = wanted();
    let mut world = World::settled(&wanted);
    let old = world.text(certificates::API_SERVER, keys::TLS_CERTIFICATE);
    world.now += DAY;
    world.delete(signers::ROOT);
    world.round(&wanted);
    let new = world.text(certificates::API_SERVER, keys::TLS_CERTIFICATE);
    assert_ne!(old, new);
    for pem in [&old, &new] {
        assert_eq!(
            accept(&world, pem, &world.bundle(bundles::ROOT), Some("api.example.com")),
            Ok(())
        );
    }
    let kubeconfig = world.text(kubeconfigs::ADMIN, keys::KUBECONFIG);
    let kubeconfig: serde_json::Value = serde_saphyr::from_str(&kubeconfig).unwrap();
    let data = kubeconfig["clusters"][0]["cluster"]["certificate-authority-data"]
        .as_str()
        .unwrap();
    let trusted = base64::Engine::decode(&base64::prelude::BASE64_STANDARD, data).unwrap();
    assert_eq!(String::from_utf8(trusted).unwrap(), world.bundle(bundles::ROOT));
}

/// OpenSSL is the reader that least resembles ours. Where it is not installed, rustls' verifier has to do.
#[test]
fn openssl_accepts_them_too() {
    let Ok(version) = Command::new("openssl").arg("version").output() else {
        return;
    };
    assert!(version.status.success());
    for algorithm in [KeyAlgorithm::EcdsaP256, KeyAlgorithm::Rsa2048] {
        let mut wanted = wanted();
        wanted.algorithm = algorithm;
        let world = World::settled(&wanted);
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name).display().to_string();
        let time = world.now.as_second().to_string();
        let verify = |secret: &str, bundle: &str, purpose: &[&str]| {
            fs::write(path("leaf.pem"), world.text(secret, keys::TLS_CERTIFICATE)).unwrap();
            fs::write(path("trusted.pem"), world.bundle(bundle)).unwrap();
            let (leaf, trusted) = (path("leaf.pem"), path("trusted.pem"));
            let common = ["verify", "-x509_strict", "-attime", &time, "-CAfile", &trusted];
            let output = Command::new("openssl")
                .args(common)
                .args(purpose)
                .arg(&leaf)
                .output()
                .unwrap();
            assert!(
                output.status.success(),
                "{secret}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        };
        for (secret, bundle, names) in SERVERS {
            for name in *names {
                let kind = if name.parse::<std::net::IpAddr>().is_ok() {
                    "-verify_ip"
                } else {
                    "-verify_hostname"
                };
                verify(secret, bundle, &["-purpose", "sslserver", kind, name]);
            }
        }
        for (secret, bundle) in CLIENTS {
            verify(secret, bundle, &["-purpose", "sslclient"]);
        }
    }
}
