//! The Secrets and ConfigMaps that are there already, and what stands in them under the keys of ours.

use std::{collections::BTreeMap, fmt, sync::Arc};

use hyperplane_api::constants::objects::keys;
use k8s_openapi::{
    api::core::v1::{ConfigMap, Secret},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use secrecy::SecretString;

use crate::{
    authority::Pair,
    inspect::Certificate,
    table::{Layout, LeafRow},
    wanted::SecretKey,
};

/// What is there, by name.
#[derive(Clone, Default)]
pub struct Existing {
    /// Secrets.
    pub secrets: BTreeMap<String, Arc<Secret>>,
    /// ConfigMaps.
    pub config_maps: BTreeMap<String, Arc<ConfigMap>>,
}

impl fmt::Debug for Existing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (secrets, config_maps) = (self.secrets.keys(), self.config_maps.keys());
        formatter
            .debug_struct("Existing")
            .field("secrets", &secrets.collect::<Vec<_>>())
            .field("config_maps", &config_maps.collect::<Vec<_>>())
            .finish()
    }
}

impl Existing {
    /// The content of a key of a Secret; empty where there is none.
    pub(crate) fn bytes(&self, secret: &str, key: &str) -> &[u8] {
        let data = self.secrets.get(secret).and_then(|secret| secret.data.as_ref());
        data.and_then(|data| data.get(key)).map_or(&[], |bytes| &bytes.0)
    }

    /// Certificate and key of an authority.
    pub(crate) fn authority(&self, secret: &str) -> (&[u8], &[u8]) {
        (
            self.bytes(secret, keys::CA_CERTIFICATE),
            self.bytes(secret, keys::CA_KEY),
        )
    }

    /// Certificate and key of a leaf.
    pub(crate) fn leaf(&self, row: &LeafRow) -> (&[u8], &[u8]) {
        let (certificate, key) = row.layout.keys();
        (self.bytes(row.secret, certificate), self.bytes(row.secret, key))
    }

    /// Certificate and key of a leaf that can be read.
    pub(crate) fn pair(&self, row: &LeafRow) -> Option<Pair> {
        let (certificate, key) = self.leaf(row);
        Some(Pair {
            certificate: str::from_utf8(certificate).ok()?.to_owned(),
            key: SecretString::from(str::from_utf8(key).ok()?.to_owned()),
        })
    }

    /// The text of a kubeconfig.
    pub(crate) fn kubeconfig(&self, place: &SecretKey) -> &[u8] {
        self.bytes(&place.name, &place.key)
    }

    /// The text of a bundle; none where there is none.
    pub(crate) fn bundle(&self, config_map: &str) -> Option<&str> {
        let data = self.config_maps.get(config_map)?.data.as_ref()?;
        data.get(keys::CA_CERTIFICATE).map(String::as_str)
    }

    /// The certificates of a bundle; none where it cannot be read.
    pub(crate) fn trusted(&self, config_map: &str) -> Option<Vec<Certificate>> {
        Certificate::read_all(self.bundle(config_map)?.as_bytes())
    }
}

impl Layout {
    /// The keys of certificate and private key.
    pub(crate) const fn keys(self) -> (&'static str, &'static str) {
        match self {
            Self::Tls => (keys::TLS_CERTIFICATE, keys::TLS_KEY),
            Self::EtcdClient => (keys::ETCD_CLIENT_CERTIFICATE, keys::ETCD_CLIENT_KEY),
        }
    }
}

/// Whether an object carries all labels, annotations and owners that it should. More do no harm.
pub(crate) fn carries(found: &ObjectMeta, asked: &ObjectMeta) -> bool {
    let has = |found: &Option<BTreeMap<String, String>>, asked: &Option<BTreeMap<String, String>>| {
        let mut asked = asked.iter().flatten();
        asked.all(|(key, value)| found.as_ref().and_then(|found| found.get(key)) == Some(value))
    };
    let owners = found.owner_references.as_deref().unwrap_or_default();
    has(&found.labels, &asked.labels)
        && has(&found.annotations, &asked.annotations)
        && asked
            .owner_references
            .iter()
            .flatten()
            .all(|owner| owners.contains(owner))
}
