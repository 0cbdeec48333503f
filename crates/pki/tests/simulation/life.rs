//! The life of a control plane: everything is issued, nothing is written while nothing happens, and leaves are renewed in
//! time.

use std::collections::BTreeMap;

use hyperplane_api::constants::objects::{bundles, certificates, keys, kubeconfigs, services, signers};
use hyperplane_runtime::Scope;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret;
use rustls_pki_types::{CertificateDer, pem::PemObject as _};
use serde_json::json;
use x509_parser::parse_x509_certificate;

use crate::world::{NAMESPACE, World};

/// When each leaf ends.
fn ends(secrets: &BTreeMap<String, Secret>) -> BTreeMap<String, Timestamp> {
    let leaves = secrets.iter().filter_map(|(name, secret)| {
        let pem = secret.data.as_ref()?.get(keys::TLS_CERTIFICATE)?;
        let der = CertificateDer::from_pem_slice(&pem.0).unwrap();
        let (_, certificate) = parse_x509_certificate(&der).unwrap();
        let end = Timestamp::from_second(certificate.validity().not_after.timestamp()).unwrap();
        Some((name.clone(), end))
    });
    leaves.collect()
}

#[tokio::test(start_paused = true)]
async fn everything_is_issued_for_a_new_control_plane() {
    let (world, process) = World::settled().await;
    let secrets = world.secrets(NAMESPACE).await;
    for name in [
        signers::ROOT,
        certificates::API_SERVER,
        certificates::ETCD_CLIENT,
        certificates::SERVICE_ACCOUNT_KEYS,
        certificates::IGNITION_SERVER,
        kubeconfigs::ADMIN,
        kubeconfigs::CONFIG_OPERATOR,
        "example-x7k2p-kubeconfig",
    ] {
        assert!(secrets.contains_key(name), "{name} is missing");
    }
    let config_maps = world.config_maps(NAMESPACE).await;
    assert!(config_maps.contains_key(bundles::CLIENT) && config_maps.contains_key(bundles::ROOT));
    assert_eq!(config_maps.len(), 8);
    let kubeconfig = &secrets[kubeconfigs::ADMIN].data.as_ref().unwrap()[keys::KUBECONFIG];
    assert!(
        str::from_utf8(&kubeconfig.0)
            .unwrap()
            .contains("https://192.0.2.7:6443")
    );
    for secret in secrets.values() {
        let metadata = &secret.metadata;
        assert_eq!(
            metadata.labels.as_ref().unwrap()["app.kubernetes.io/managed-by"],
            "hyperplane"
        );
        assert_eq!(
            metadata.annotations.as_ref().unwrap()["hypershift.openshift.io/cluster"],
            "clusters/example"
        );
        let owner = &metadata.owner_references.as_ref().unwrap()[0];
        assert_eq!(
            (owner.kind.as_str(), owner.controller),
            ("HostedControlPlane", Some(true))
        );
    }
    let writes = world.writes_since(0);
    assert_eq!(
        writes.len(),
        secrets.len() + config_maps.len(),
        "nothing was written twice"
    );
    assert_eq!(
        writes.iter().filter(|write| write.starts_with("create")).count(),
        hyperplane_pki_issue::authority_names().count() + 1,
        "authorities and keys of tokens"
    );
    assert_eq!(world.conditions(NAMESPACE).await, BTreeMap::new());
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn leaves_are_renewed_in_time_and_nothing_is_written_on_other_days() {
    let (world, process) = World::settled().await;
    let first = ends(&world.secrets(NAMESPACE).await);
    let mut busy = Vec::new();
    for day in 1..=400 {
        let position = world.position();
        world.pass_days(1).await;
        if !world.writes_since(position).is_empty() {
            busy.push(day);
            let left = first.values().min().unwrap().duration_since(world.now()).as_hours() / 24;
            assert!((19..=30).contains(&left), "{left} days are left");
        }
        let ends = ends(&world.secrets(NAMESPACE).await);
        assert!(ends.values().all(|end| *end > world.now()), "day {day}");
    }
    assert_eq!(busy.len(), 1, "renewed on {busy:?}");
    let second = ends(&world.secrets(NAMESPACE).await);
    assert!(first.iter().all(|(name, end)| second[name] > *end));
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_touch_and_a_restart_write_nothing() {
    let (world, process) = World::settled().await;
    let position = world.position();
    world
        .change(NAMESPACE, json!({"metadata": {"labels": {"touched": "yes"}}}))
        .await;
    world.settle().await;
    process.stop().await;
    let process = world.start(Scope::Everywhere);
    world.settle().await;
    world.pass_days(3).await;
    assert_eq!(world.writes_since(position), [] as [&str; 0]);
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_not_published_yet_is_waited_for() {
    let world = World::new().await;
    world.tenant(NAMESPACE).await;
    world.control_plane(NAMESPACE, json!({})).await;
    let process = world.start(Scope::Everywhere);
    world.settle().await;
    let secrets = world.secrets(NAMESPACE).await;
    assert!(
        secrets.contains_key(certificates::ETCD_SERVER),
        "etcd does not wait for a load balancer"
    );
    assert!(!secrets.contains_key(certificates::API_SERVER) && !secrets.contains_key(kubeconfigs::ADMIN));
    world.publish(NAMESPACE).await;
    world.settle().await;
    let secrets = world.secrets(NAMESPACE).await;
    assert!(secrets.contains_key(certificates::API_SERVER) && secrets.contains_key(kubeconfigs::ADMIN));

    let position = world.position();
    world.balance(NAMESPACE, "192.0.2.99").await;
    world.settle().await;
    let expected = [
        format!("patch secrets/{} 200", certificates::API_SERVER),
        format!("patch secrets/{} 200", kubeconfigs::ADMIN),
        format!("patch secrets/{} 200", kubeconfigs::BOOTSTRAP),
    ];
    assert_eq!(world.writes_since(position), expected, "{}", services::API_SERVER);
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn paused_means_that_nothing_is_written() {
    let pauses = [
        json!({"spec": {"pausedUntil": "true"}}),
        json!({"spec": {"pausedUntil": "2027-01-20T08:00:00Z"}}),
        json!({"metadata": {"annotations": {"hypershift.openshift.io/disable-pki-reconciliation": "yes"}}}),
        json!({"metadata": {"annotations": {"hyperplane.dev/tenant-operators": "dedicated"}}}),
    ];
    for pause in pauses {
        let world = World::new().await;
        world.tenant(NAMESPACE).await;
        world.publish(NAMESPACE).await;
        world.control_plane(NAMESPACE, pause.clone()).await;
        let process = world.start(Scope::Everywhere);
        world.pass_days(4).await;
        assert_eq!(world.writes_since(0), [] as [&str; 0], "{pause}");
        world.pass_days(2).await;
        let is_over = pause["spec"]["pausedUntil"] == "2027-01-20T08:00:00Z";
        assert_eq!(!world.writes_since(0).is_empty(), is_over, "{pause}");
        process.stop().await;
    }
}
