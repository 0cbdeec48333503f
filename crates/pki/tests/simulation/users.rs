//! What users ask for, what they bring themselves, and their mistakes.

use hyperplane_api::constants::objects::{certificates, keys, kubeconfigs, signers};
use hyperplane_runtime::Scope;
use k8s_openapi::api::core::v1::Secret;
use rustls_pki_types::{CertificateDer, pem::PemObject as _};
use serde_json::json;
use x509_parser::{parse_x509_certificate, public_key::PublicKey};

use crate::world::{NAMESPACE, World};

#[tokio::test(start_paused = true)]
async fn mistakes_of_users_are_told_and_stop_nothing() {
    let (world, process) = World::settled().await;
    world
        .change(
            NAMESPACE,
            json!({"metadata": {"annotations": {
                "hypershift.openshift.io/certificate-validity": "a year",
                "hyperplane.dev/key-algorithm": "dsa",
            }}}),
        )
        .await;
    world.settle().await;
    let conditions = world.conditions(NAMESPACE).await;
    let (status, message) = &conditions["TargetConfigControllerDegraded"];
    assert_eq!(status, "True");
    assert!(
        message.contains("certificate-validity") && message.contains("key-algorithm"),
        "{message}"
    );
    world.delete_secret(NAMESPACE, certificates::SCHEDULER_SERVER).await;
    world.settle().await;
    assert!(
        world
            .secrets(NAMESPACE)
            .await
            .contains_key(certificates::SCHEDULER_SERVER)
    );
    let position = world.position();
    world.pass_days(3).await;
    assert_eq!(world.writes_since(position), [] as [&str; 0]);
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_key_that_a_user_gave_is_waited_for_and_left_alone() {
    let world = World::new().await;
    world.tenant(NAMESPACE).await;
    world.publish(NAMESPACE).await;
    world
        .control_plane(
            NAMESPACE,
            json!({"spec": {"serviceAccountSigningKey": {"name": "mine"}}}),
        )
        .await;
    let process = world.start(Scope::Everywhere);
    world.settle().await;
    assert!(
        !world
            .secrets(NAMESPACE)
            .await
            .contains_key(certificates::SERVICE_ACCOUNT_KEYS)
    );
    let position = world.position();
    let copy = json!({
        "metadata": {"name": certificates::SERVICE_ACCOUNT_KEYS, "labels": {"app.kubernetes.io/managed-by": "hyperplane"}},
        "stringData": {keys::SERVICE_ACCOUNT_KEY: "theirs", keys::SERVICE_ACCOUNT_PUBLIC_KEY: "theirs"},
    });
    world.create::<Secret>(Some(NAMESPACE), copy).await;
    world.settle().await;
    // Only that it is waited for is taken back.
    assert_eq!(world.writes_since(position), ["patch hostedcontrolplanes/example 200"]);
    assert_eq!(world.conditions(NAMESPACE).await, std::collections::BTreeMap::new());
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_the_etcd_of_a_user_is_reached_with_is_left_alone() {
    let world = World::new().await;
    world.tenant(NAMESPACE).await;
    world.publish(NAMESPACE).await;
    let etcd = json!({
        "managementType": "Unmanaged",
        "managed": null,
        "unmanaged": {"endpoint": "https://etcd.example.com:2379", "tls": {"clientSecret": {"name": "mine"}}},
    });
    world.control_plane(NAMESPACE, json!({"spec": {"etcd": etcd}})).await;
    let process = world.start(Scope::Everywhere);
    world.settle().await;
    let secrets = world.secrets(NAMESPACE).await;
    for name in [signers::ETCD, certificates::ETCD_CLIENT, certificates::ETCD_SERVER] {
        assert!(!secrets.contains_key(name), "{name}");
    }
    let (status, message) = &world.conditions(NAMESPACE).await["TargetConfigControllerDegraded"];
    assert_eq!(status, "False");
    assert!(message.contains(certificates::ETCD_CLIENT), "{message}");
    let copy = json!({
        "metadata": {"name": certificates::ETCD_CLIENT, "labels": {"app.kubernetes.io/managed-by": "hyperplane"}},
        "stringData": {keys::ETCD_CLIENT_CA: "a", keys::ETCD_CLIENT_CERTIFICATE: "b", keys::ETCD_CLIENT_KEY: "c"},
    });
    world.create::<Secret>(Some(NAMESPACE), copy).await;
    world.settle().await;
    let secret = &world.secrets(NAMESPACE).await[certificates::ETCD_CLIENT];
    assert_eq!(secret.data.as_ref().unwrap()[keys::ETCD_CLIENT_KEY].0, b"c");
    assert!(
        !world
            .conditions(NAMESPACE)
            .await
            .contains_key("TargetConfigControllerDegraded")
    );
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_pause_that_nobody_can_read_does_not_let_certificates_run_out() {
    let (world, process) = World::settled().await;
    let pause = |text: &str| json!({"spec": {"pausedUntil": text}});
    for (text, is_issued) in [("true", false), ("2030-01-31T08:00:00 or so", true)] {
        world.change(NAMESPACE, pause(text)).await;
        world.settle().await;
        world.delete_secret(NAMESPACE, certificates::SCHEDULER_SERVER).await;
        world.settle().await;
        let is_there = world
            .secrets(NAMESPACE)
            .await
            .contains_key(certificates::SCHEDULER_SERVER);
        assert_eq!(is_there, is_issued, "{text}");
        if !is_there {
            world.change(NAMESPACE, pause("false")).await;
            world.settle().await;
        }
    }
    process.stop().await;
}

/// Whether the key of a certificate is RSA.
fn is_rsa(secret: &Secret, key: &str) -> bool {
    let der = CertificateDer::from_pem_slice(&secret.data.as_ref().unwrap()[key].0).unwrap();
    let (_, certificate) = parse_x509_certificate(&der).unwrap();
    matches!(certificate.public_key().parsed().unwrap(), PublicKey::RSA(_))
}

#[tokio::test(start_paused = true)]
async fn keys_are_rsa_on_request_and_ecdsa_otherwise() {
    for (annotations, expected) in [
        (json!({}), false),
        (json!({"hyperplane.dev/key-algorithm": "rsa-2048"}), true),
    ] {
        let world = World::new().await;
        world.tenant(NAMESPACE).await;
        world.publish(NAMESPACE).await;
        let change = json!({"metadata": {"annotations": annotations}});
        world.control_plane(NAMESPACE, change).await;
        let process = world.start(Scope::Everywhere);
        world.settle().await;
        let secrets = world.secrets(NAMESPACE).await;
        assert_eq!(is_rsa(&secrets[signers::ROOT], keys::CA_CERTIFICATE), expected);
        assert_eq!(
            is_rsa(&secrets[certificates::API_SERVER], keys::TLS_CERTIFICATE),
            expected
        );
        assert!(world.conditions(NAMESPACE).await.is_empty());
        process.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_further_name_has_a_kubeconfig_as_long_as_it_is_asked_for() {
    let (world, process) = World::settled().await;
    let name = kubeconfigs::CUSTOM_ADMIN;
    world
        .change(NAMESPACE, json!({"spec": {"kubeAPIServerDNSName": "api.example.org"}}))
        .await;
    world.settle().await;
    let secrets = world.secrets(NAMESPACE).await;
    let text = &secrets[name].data.as_ref().unwrap()[keys::KUBECONFIG].0;
    assert!(str::from_utf8(text).unwrap().contains("https://api.example.org:6443"));
    world
        .change(NAMESPACE, json!({"spec": {"kubeAPIServerDNSName": null}}))
        .await;
    world.settle().await;
    assert!(!world.secrets(NAMESPACE).await.contains_key(name));
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn certificates_of_users_are_not_touched() {
    let (world, process) = World::settled().await;
    let position = world.position();
    let copy = json!({
        "metadata": {"name": "mine", "labels": {"app.kubernetes.io/managed-by": "hyperplane"}},
        "stringData": {keys::TLS_CERTIFICATE: "theirs", keys::TLS_KEY: "theirs"},
    });
    world.create::<Secret>(Some(NAMESPACE), copy).await;
    let named = json!([{"names": ["api.example.net"], "servingCertificate": {"name": "mine"}}]);
    let servers = json!({"configuration": {"apiServer": {"servingCerts": {"namedCertificates": named}}}});
    world.change(NAMESPACE, json!({"spec": servers})).await;
    world.settle().await;
    world.pass_days(2).await;
    assert_eq!(world.writes_since(position), [] as [&str; 0]);
    process.stop().await;
}
