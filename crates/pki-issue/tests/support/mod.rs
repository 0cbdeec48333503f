//! A control plane in memory: what was written is there in the next round.

#![allow(dead_code, reason = "each test needs a part of it")]

pub mod trust;

use std::{collections::BTreeMap, sync::Arc};

use hyperplane_api::constants::objects::{keys, kubeconfigs};
use hyperplane_pki_issue::{
    Etcd, Existing, Host, KeyAlgorithm, Lifetime, Plan, Published, Reason, SecretKey, ServiceAccount,
    ServiceAccountKey, Wanted, Write, issue, plan,
};
use jiff::Timestamp;
use k8s_openapi::{
    ByteString,
    api::core::v1::{ConfigMap, Secret},
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference},
};

pub const START: Timestamp = Timestamp::constant(1_800_000_000, 0);
pub const DAY: jiff::SignedDuration = jiff::SignedDuration::from_hours(24);

/// Rows of the table of leaves, and the one service account of [`wanted`].
pub const LEAVES: usize = 22;

pub fn host(text: &str) -> Host {
    Host::parse(text).unwrap()
}

pub fn published(text: &str, port: u16) -> Published {
    Published::At { host: host(text), port }
}

pub fn wanted() -> Wanted {
    Wanted {
        namespace: "clusters-example".to_owned(),
        cluster: "example".to_owned(),
        infra_id: "example-x7k2p".to_owned(),
        service_addresses: vec!["172.31.0.1".parse().unwrap(), "fd00::1".parse().unwrap()],
        api_server: published("api.example.com", 443),
        konnectivity: published("192.0.2.8", 8091),
        ignition: published("ignition.example.com", 443),
        api_server_name: Some(host("kubernetes.example.org")),
        api_server_addresses: vec![host("172.20.0.1"), host("node.example.com")],
        algorithm: KeyAlgorithm::EcdsaP256,
        lifetime: Lifetime::default(),
        service_accounts: vec![ServiceAccount {
            component: "cloud-controller-manager".to_owned(),
            namespace: "kube-system".to_owned(),
            name: "cloud-controller-manager".to_owned(),
        }],
        admin_kubeconfig: SecretKey {
            name: kubeconfigs::ADMIN.to_owned(),
            key: keys::KUBECONFIG.to_owned(),
        },
        service_account_key: ServiceAccountKey::Generated,
        etcd: Etcd::Managed,
        labels: BTreeMap::from([("managed-by".to_owned(), "us".to_owned())]),
        annotations: BTreeMap::from([("cluster".to_owned(), "clusters/example".to_owned())]),
        owner: Some(OwnerReference {
            name: "example".to_owned(),
            uid: "1234".to_owned(),
            ..OwnerReference::default()
        }),
    }
}

pub struct World {
    pub existing: Existing,
    pub now: Timestamp,
}

impl World {
    pub fn new() -> Self {
        Self {
            existing: Existing::default(),
            now: START,
        }
    }

    /// A world in which everything has been issued.
    pub fn settled(wanted: &Wanted) -> Self {
        let mut world = Self::new();
        world.round(wanted);
        assert_eq!(world.steps(wanted), []);
        world
    }

    pub fn plan(&self, wanted: &Wanted) -> Plan {
        plan(wanted, &self.existing, self.now)
    }

    /// What would be written, and why.
    pub fn steps(&self, wanted: &Wanted) -> Vec<(String, Reason)> {
        self.plan(wanted)
            .issue
            .into_iter()
            .map(|step| (step.name, step.reason))
            .collect()
    }

    /// Plans, and carries the plan out.
    pub fn round(&mut self, wanted: &Wanted) -> Plan {
        let plan = self.plan(wanted);
        let existing = self.existing.clone();
        for write in issue(&plan, wanted, &existing, self.now) {
            self.take(write.unwrap());
        }
        for name in &plan.unwanted {
            self.existing.secrets.remove(name);
        }
        plan
    }

    pub fn take(&mut self, write: Write) {
        match write {
            Write::Create(secret) => {
                let before = self.existing.secrets.insert(name(&secret.metadata), Arc::new(secret));
                assert!(before.is_none(), "what is trusted is never replaced");
            }
            Write::Secret(secret) => drop(self.existing.secrets.insert(name(&secret.metadata), Arc::new(secret))),
            Write::ConfigMap(map) => drop(self.existing.config_maps.insert(name(&map.metadata), Arc::new(map))),
        }
    }

    pub fn secret(&mut self, name: &str) -> &mut Secret {
        Arc::make_mut(self.existing.secrets.get_mut(name).unwrap())
    }

    pub fn config_map(&mut self, name: &str) -> &mut ConfigMap {
        Arc::make_mut(self.existing.config_maps.get_mut(name).unwrap())
    }

    pub fn text(&self, secret: &str, key: &str) -> String {
        let bytes = &self.existing.secrets[secret].data.as_ref().unwrap()[key];
        String::from_utf8(bytes.0.clone()).unwrap()
    }

    pub fn bundle(&self, config_map: &str) -> String {
        self.existing.config_maps[config_map].data.as_ref().unwrap()[keys::CA_CERTIFICATE].clone()
    }

    pub fn put(&mut self, secret: &str, key: &str, text: &str) {
        let data = self.secret(secret).data.get_or_insert_default();
        data.insert(key.to_owned(), ByteString(text.as_bytes().to_vec()));
    }

    pub fn put_bundle(&mut self, config_map: &str, text: &str) {
        let data = self.config_map(config_map).data.get_or_insert_default();
        data.insert(keys::CA_CERTIFICATE.to_owned(), text.to_owned());
    }

    /// Copies certificate and key of one leaf into the Secret of another.
    pub fn copy(&mut self, from: &str, to: &str) {
        for key in [keys::TLS_CERTIFICATE, keys::TLS_KEY] {
            let text = self.text(from, key);
            self.put(to, key, &text);
        }
    }

    /// Deletes a Secret.
    pub fn delete(&mut self, name: &str) {
        assert!(self.existing.secrets.remove(name).is_some(), "{name}");
    }

    /// Deletes a ConfigMap.
    pub fn delete_bundle(&mut self, name: &str) {
        assert!(self.existing.config_maps.remove(name).is_some(), "{name}");
    }
}

fn name(metadata: &ObjectMeta) -> String {
    metadata.name.clone().unwrap()
}

/// Something that happens to a settled world.
pub type Change = fn(&mut World, &mut Wanted);

/// A change of a settled world, and everything that it causes.
pub fn check(rule: &str, change: Change, expected: &[(&str, Reason)]) {
    let mut wanted = wanted();
    let mut world = World::settled(&wanted);
    change(&mut world, &mut wanted);
    let mut steps = world.steps(&wanted);
    steps.sort();
    let expected = expected.iter().map(|(name, reason)| ((*name).to_owned(), *reason));
    let mut expected: Vec<(String, Reason)> = expected.collect();
    expected.sort();
    assert_eq!(steps, expected, "{rule}");
    world.round(&wanted);
    assert_eq!(world.steps(&wanted), [], "{rule}: once is enough");
}
