//! Crashes at every write: each process gets one write further than the one before and never hears of it. Whatever is
//! there in between is trusted by somebody, and nothing that is trusted is lost.

use std::collections::BTreeMap;

use hyperplane_api::constants::objects::{bundles, certificates, keys, kubeconfigs, signers};
use hyperplane_runtime::Scope;
use k8s_openapi::api::core::v1::Secret;
use rustls_pki_types::{CertificateDer, pem::PemObject as _};
use serde_json::json;
use x509_parser::parse_x509_certificate;

use crate::world::{NAMESPACE, World};

/// More writes than a control plane takes.
const ENOUGH: usize = 120;

/// The certificates of all bundles.
async fn trusted(world: &World) -> Vec<CertificateDer<'static>> {
    let maps = world.config_maps(NAMESPACE).await;
    let texts = maps
        .values()
        .filter_map(|map| map.data.as_ref()?.get(keys::CA_CERTIFICATE));
    texts
        .flat_map(|text| {
            CertificateDer::pem_slice_iter(text.as_bytes())
                .map(Result::unwrap)
                .collect::<Vec<_>>()
        })
        .collect()
}

fn leaves(secrets: &BTreeMap<String, Secret>) -> Vec<(&str, CertificateDer<'static>)> {
    let found = secrets.iter().filter_map(|(name, secret)| {
        let data = secret.data.as_ref()?;
        let pem = data
            .get(keys::TLS_CERTIFICATE)
            .or_else(|| data.get(keys::ETCD_CLIENT_CERTIFICATE))?;
        Some((name.as_str(), CertificateDer::from_pem_slice(&pem.0).unwrap()))
    });
    found.collect()
}

fn is_signed_by(leaf: &CertificateDer<'_>, authority: &CertificateDer<'_>) -> bool {
    let (_, leaf) = parse_x509_certificate(leaf).unwrap();
    let (_, authority) = parse_x509_certificate(authority).unwrap();
    leaf.issuer() == authority.subject() && leaf.verify_signature(Some(authority.public_key())).is_ok()
}

/// One process after the other, each crashing at its first write, until one has nothing to write.
async fn creep(world: &World) -> usize {
    let mut authorities: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for crash in 0..ENOUGH {
        let position = world.position();
        let process = world.start_cut(1);
        world.settle().await;
        process.crash().await;
        let secrets = world.secrets(NAMESPACE).await;
        let trusted = trusted(world).await;
        for (name, leaf) in leaves(&secrets) {
            let mut trusted = trusted.iter();
            assert!(
                trusted.any(|authority| is_signed_by(&leaf, authority)),
                "nobody trusts {name}"
            );
        }
        for (name, secret) in &secrets {
            if let Some(key) = secret.data.as_ref().unwrap().get(keys::CA_KEY) {
                let first = authorities.entry(name.clone()).or_insert_with(|| key.0.clone());
                assert_eq!(first, &key.0, "{name} was replaced");
            }
        }
        if world.writes_since(position).is_empty() {
            return crash;
        }
    }
    panic!("it never ends");
}

#[tokio::test(start_paused = true)]
async fn a_crash_at_every_write_of_a_new_control_plane() {
    let world = World::new().await;
    world.tenant(NAMESPACE).await;
    world.publish(NAMESPACE).await;
    world.control_plane(NAMESPACE, json!({})).await;
    let crashes = creep(&world).await;
    let secrets = world.secrets(NAMESPACE).await;
    assert!(secrets.contains_key(kubeconfigs::ADMIN));
    let config_maps = world.config_maps(NAMESPACE).await;
    assert_eq!(crashes, secrets.len() + config_maps.len(), "nothing was written twice");
}

#[tokio::test(start_paused = true)]
async fn a_crash_at_every_write_of_a_replaced_authority() {
    let (world, process) = World::settled().await;
    process.crash().await;
    for signer in [signers::ROOT, signers::ETCD, signers::CONTROL_PLANE] {
        let before = world.secrets(NAMESPACE).await;
        world.delete_secret(NAMESPACE, signer).await;
        assert!(creep(&world).await > 2, "{signer}");
        let after = world.secrets(NAMESPACE).await;
        assert_ne!(before[signer].data, after[signer].data, "{signer}");
    }
    let root = &world.config_maps(NAMESPACE).await[bundles::ROOT].data.clone().unwrap()[keys::CA_CERTIFICATE];
    assert_eq!(root.matches("BEGIN CERTIFICATE").count(), 2);
    let process = world.start(Scope::Everywhere);
    let position = world.position();
    world.pass_days(2).await;
    assert_eq!(
        world.writes_since(position),
        [] as [&str; 0],
        "{}",
        certificates::API_SERVER
    );
    process.stop().await;
}
