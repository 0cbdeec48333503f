//! What is issued is what others accept: chains, names and purposes as rustls' verifier and OpenSSL see them.

use std::{fs, process::Command};

use hyperplane_api::constants::objects::{bundles, certificates, keys, kubeconfigs, signers};
use hyperplane_pki_issue::{KeyAlgorithm, Wanted};
use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, Issuer, KeyPair, date_time_ymd};

use crate::support::{
    DAY, World,
    trust::{CLIENTS, SERVERS, accept},
    wanted,
};

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

/// Kubelets get their certificates inside of the hosted cluster, where the old signer has signed some.
#[test]
fn kubelets_of_two_authorities_are_accepted_as_servers() {
    let wanted = wanted();
    let mut world = World::settled(&wanted);
    let old = kubelet(&world);
    world.now += DAY;
    world.delete(signers::CLUSTER);
    world.round(&wanted);
    for pem in [old, kubelet(&world)] {
        let trusted = world.bundle(bundles::KUBELET_SERVING);
        assert_eq!(accept(&world, &pem, &trusted, Some("192.0.2.30")), Ok(()));
        accept(&world, &pem, &world.bundle(bundles::ROOT), Some("192.0.2.30")).unwrap_err();
    }
}

/// What the controller manager signs for a kubelet.
fn kubelet(world: &World) -> String {
    let key = KeyPair::from_pem(&world.text(signers::CLUSTER, keys::CA_KEY)).unwrap();
    let certificate = world.text(signers::CLUSTER, keys::CA_CERTIFICATE);
    let issuer = Issuer::from_ca_cert_pem(&certificate, &key).unwrap();
    let mut parameters = CertificateParams::new(vec!["192.0.2.30".to_owned()]).unwrap();
    parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    parameters.not_before = date_time_ymd(2027, 1, 1);
    parameters.not_after = date_time_ymd(2028, 1, 1);
    let own = KeyPair::generate().unwrap();
    parameters.signed_by(&own, &issuer).unwrap().pem()
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
