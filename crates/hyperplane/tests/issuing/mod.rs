//! The certificates of a control plane as our own pure functions issue them, and what else its pods mount.

use std::{collections::BTreeMap, net::Ipv4Addr, sync::Arc};

use anyhow::{Result, ensure};
use hyperplane_api::constants::objects::{keys, kubeconfigs};
use hyperplane_components::{Manifest, Objects, hosted_service_accounts};
use hyperplane_pki_issue::{
    Etcd, Existing, Host, KeyAlgorithm, Lifetime, Published, SecretKey, ServiceAccount, ServiceAccountKey, Wanted,
    Write, first_address, issue, plan,
};
use jiff::Timestamp;

use crate::rendering::NAMESPACE;

/// Ports of nodes.
pub const KONNECTIVITY: u16 = 30_445;
pub const IGNITION: u16 = 30_446;

/// Issues everything that the PKI operator would.
pub fn certificates(node: Ipv4Addr, api_server: u16, now: Timestamp) -> Result<Existing> {
    let wanted = wanted(node, api_server)?;
    let mut existing = Existing::default();
    let planned = plan(&wanted, &existing, now);
    let before = existing.clone();
    for write in issue(&planned, &wanted, &before, now) {
        match write? {
            Write::Create(secret) | Write::Secret(secret) => {
                let name = secret.metadata.name.clone().unwrap_or_default();
                existing.secrets.insert(name, Arc::new(secret));
            }
            Write::ConfigMap(map) => {
                let name = map.metadata.name.clone().unwrap_or_default();
                existing.config_maps.insert(name, Arc::new(map));
            }
        }
    }
    let left = plan(&wanted, &existing, now);
    ensure!(left.issue.is_empty(), "not all is issued at once");
    Ok(existing)
}

fn wanted(node: Ipv4Addr, api_server: u16) -> Result<Wanted> {
    let at = |port: u16| Published::At {
        host: Host::Address(node.into()),
        port,
    };
    let accounts = hosted_service_accounts().map(|(component, account)| ServiceAccount {
        component: component.to_owned(),
        namespace: account.namespace.to_owned(),
        name: account.name.to_owned(),
    });
    Ok(Wanted {
        namespace: NAMESPACE.to_owned(),
        cluster: "one".to_owned(),
        infra_id: "one-abcde".to_owned(),
        service_addresses: vec![first_address("172.31.0.0/16")?],
        api_server: at(api_server),
        konnectivity: at(KONNECTIVITY),
        ignition: at(IGNITION),
        api_server_name: None,
        api_server_addresses: vec![Host::parse("172.20.0.1")?],
        etcd: Etcd::Managed,
        algorithm: KeyAlgorithm::EcdsaP256,
        lifetime: Lifetime::default(),
        service_accounts: accounts.collect(),
        admin_kubeconfig: SecretKey {
            name: kubeconfigs::ADMIN.to_owned(),
            key: keys::KUBECONFIG.to_owned(),
        },
        service_account_key: ServiceAccountKey::Generated,
        labels: BTreeMap::new(),
        annotations: BTreeMap::new(),
        owner: None,
    })
}

/// Keeps what pods mount.
pub fn keep(manifest: Manifest, objects: &mut Objects) {
    match manifest {
        Manifest::ConfigMap(map) => {
            let name = map.metadata.name.clone().unwrap_or_default();
            objects.config_maps.insert(name, Arc::new(*map));
        }
        Manifest::Secret(secret) => {
            let name = secret.metadata.name.clone().unwrap_or_default();
            objects.secrets.insert(name, Arc::new(*secret));
        }
        _ => {}
    }
}
