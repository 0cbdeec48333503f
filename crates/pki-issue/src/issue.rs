//! Carrying a plan out: keys are made and certificates signed, one object after the other, so that whoever writes them
//! can stop anywhere and plan anew. Where the objects go is not known here.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, vec,
};

use hyperplane_api::constants::objects::{bundles, certificates, keys};
use jiff::Timestamp;
use k8s_openapi::{
    ByteString,
    api::core::v1::{ConfigMap, Secret},
};
use secrecy::ExposeSecret as _;
use thiserror::Error;

use crate::{
    authority::{Authority, Damage, Pair},
    bundle,
    existing::Existing,
    inspect::Certificate,
    key,
    kubeconfig::Content,
    kubeconfigs::{Kubeconfig, User},
    names::Host,
    plan::{Item, Plan, Step},
    planner::metadata,
    reason::Reason,
    table::{Bundle, Layout, Leaf, LeafRow, Signer},
    wanted::Wanted,
};

/// The type of the Secrets of Cluster API.
const CLUSTER_API_TYPE: &str = "cluster.x-k8s.io/secret";

/// What is to be written. How it prints tells no secret.
#[derive(Clone)]
pub enum Write {
    /// A Secret that must not be there yet: what it holds is trusted, and must never replace another.
    Create(Secret),
    /// A Secret.
    Secret(Secret),
    /// A ConfigMap.
    ConfigMap(ConfigMap),
}

impl Write {
    /// The name of the object.
    pub fn name(&self) -> &str {
        let metadata = match self {
            Self::Create(secret) | Self::Secret(secret) => &secret.metadata,
            Self::ConfigMap(config_map) => &config_map.metadata,
        };
        metadata.name.as_deref().unwrap_or_default()
    }
}

impl fmt::Debug for Write {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Self::Create(_) => "Create",
            Self::Secret(_) => "Secret",
            Self::ConfigMap(_) => "ConfigMap",
        };
        formatter.debug_tuple(kind).field(&self.name()).finish()
    }
}

/// Why something could not be issued.
#[derive(Debug, Error)]
pub enum IssueError {
    /// The library of cryptography refused.
    #[error("{name}: no certificate could be made")]
    Make {
        /// What was to be issued.
        name: String,
        /// Why not.
        #[source]
        source: rcgen::Error,
    },
    /// The signer has changed since the plan was made.
    #[error("Secret {signer}: {fault}; plan again")]
    Signer {
        /// The Secret of the signer.
        signer: &'static str,
        /// What is wrong with it.
        fault: String,
    },
    /// What it is made of has changed since the plan was made.
    #[error("{name}: what it is made of is missing; plan again")]
    Part {
        /// What was to be issued.
        name: String,
    },
}

/// A plan that is being carried out: an iterator over what is to be written.
pub struct Issuance<'a> {
    wanted: &'a Wanted,
    existing: &'a Existing,
    now: Timestamp,
    steps: vec::IntoIter<Step>,
    authorities: BTreeMap<&'static str, Authority>,
    bundles: BTreeMap<&'static str, String>,
    pairs: BTreeMap<&'static str, Pair>,
}

/// Carries out a plan that was made of the same wants, things and time.
pub fn issue<'a>(plan: &Plan, wanted: &'a Wanted, existing: &'a Existing, now: Timestamp) -> Issuance<'a> {
    Issuance {
        wanted,
        existing,
        now,
        steps: plan.issue.clone().into_iter(),
        authorities: BTreeMap::new(),
        bundles: BTreeMap::new(),
        pairs: BTreeMap::new(),
    }
}

impl fmt::Debug for Issuance<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Issuance")
            .field("steps", &self.steps.as_slice())
            .finish_non_exhaustive()
    }
}

impl Iterator for Issuance<'_> {
    type Item = Result<Write, IssueError>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.steps.next()?;
        Some(self.carry_out(&step))
    }
}

impl Issuance<'_> {
    fn carry_out(&mut self, step: &Step) -> Result<Write, IssueError> {
        match &step.item {
            Item::Signer(_) | Item::ServiceAccountKeys if step.reason == Reason::Metadata => self.rewrite(step),
            Item::Signer(row) => self.signer(step, row),
            Item::ServiceAccountKeys => self.service_account_keys(step),
            Item::Bundle(row) => Ok(self.bundle(step, row)),
            Item::Leaf(row, names) => self.leaf(step, row, names),
            Item::Kubeconfig(kubeconfig, server) => self.kubeconfig(step, kubeconfig, server),
        }
    }

    /// The same content again, for the sake of the metadata.
    fn rewrite(&self, step: &Step) -> Result<Write, IssueError> {
        let existing = self.existing.secrets.get(&step.name).ok_or_else(|| part(step))?;
        Ok(Write::Secret(Secret {
            data: existing.data.clone(),
            ..self.secret(step, [])
        }))
    }

    fn signer(&mut self, step: &Step, row: &'static Signer) -> Result<Write, IssueError> {
        let made = Authority::generate(row, self.wanted.algorithm, self.now);
        let (authority, key) = made.map_err(|source| make(step, source))?;
        let parts = [
            (keys::CA_CERTIFICATE, authority.pem.as_str()),
            (keys::CA_KEY, key.expose_secret()),
        ];
        let secret = self.secret(step, parts);
        self.authorities.insert(row.secret, authority);
        Ok(Write::Create(secret))
    }

    fn service_account_keys(&self, step: &Step) -> Result<Write, IssueError> {
        let name = certificates::SERVICE_ACCOUNT_KEYS;
        if step.reason == Reason::Missing {
            let key = self.wanted.algorithm.generate().map_err(|source| make(step, source))?;
            let (private, public) = (key::write(&key), key.public_key_pem());
            let parts = [
                (keys::SERVICE_ACCOUNT_KEY, private.expose_secret()),
                (keys::SERVICE_ACCOUNT_PUBLIC_KEY, public.as_str()),
            ];
            return Ok(Write::Create(self.secret(step, parts)));
        }
        // The public half was lost. Others that stood beside it verify tokens that are still around.
        let private = str::from_utf8(self.existing.bytes(name, keys::SERVICE_ACCOUNT_KEY)).unwrap_or_default();
        let key = key::read(private.as_bytes()).ok_or_else(|| part(step))?;
        let others = str::from_utf8(self.existing.bytes(name, keys::SERVICE_ACCOUNT_PUBLIC_KEY)).unwrap_or_default();
        let public = format!("{}{others}", key.public_key_pem());
        let parts = [
            (keys::SERVICE_ACCOUNT_KEY, private),
            (keys::SERVICE_ACCOUNT_PUBLIC_KEY, public.as_str()),
        ];
        Ok(Write::Secret(self.secret(step, parts)))
    }

    fn bundle(&mut self, step: &Step, row: &'static Bundle) -> Write {
        for signer in row.signers {
            // One that is damaged was reported; who trusts it already goes on.
            drop(self.authority(signer));
        }
        let signers = row.signers.iter().filter_map(|signer| self.authorities.get(signer));
        let signers = signers.map(|authority| &authority.certificate);
        let before = self.existing.trusted(row.config_map).unwrap_or_default();
        let text = bundle::write(&bundle::compose(signers, &before, self.now));
        self.bundles.insert(row.config_map, text.clone());
        Write::ConfigMap(ConfigMap {
            metadata: metadata(self.wanted, &step.name, &step.item),
            data: Some(BTreeMap::from([(keys::CA_CERTIFICATE.to_owned(), text)])),
            ..ConfigMap::default()
        })
    }

    fn leaf(&mut self, step: &Step, row: &'static LeafRow, names: &BTreeSet<Host>) -> Result<Write, IssueError> {
        let pair = if is_kept(step.reason) {
            self.existing.pair(row).ok_or_else(|| part(step))?
        } else {
            self.sign(step, &row.leaf(self.wanted), names)?
        };
        let (certificate, key) = row.layout.keys();
        let mut secret = self.secret(
            step,
            [
                (certificate, pair.certificate.as_str()),
                (key, pair.key.expose_secret()),
            ],
        );
        if row.layout == Layout::EtcdClient {
            let trusted = self.trusted(step, bundles::ETCD)?;
            let data = secret.data.get_or_insert_default();
            data.insert(keys::ETCD_CLIENT_CA.to_owned(), ByteString(trusted.into_bytes()));
        }
        self.pairs.insert(row.secret, pair);
        Ok(Write::Secret(secret))
    }

    fn kubeconfig(&mut self, step: &Step, kubeconfig: &Kubeconfig, server: &str) -> Result<Write, IssueError> {
        let leaf = kubeconfig.leaf(self.wanted);
        let client = match &kubeconfig.user {
            User::Row(row) => match self.pairs.get(row.secret) {
                Some(pair) => pair.clone(),
                None => self.existing.pair(row).ok_or_else(|| part(step))?,
            },
            User::Own(_) if is_kept(step.reason) => {
                let content = Content::read(self.existing.kubeconfig(&kubeconfig.place));
                content.ok_or_else(|| part(step))?.client
            }
            User::Own(_) => self.sign(step, &leaf, &BTreeSet::new())?,
        };
        let authority = self.trusted(step, bundles::ROOT)?;
        let content = Content {
            server: server.to_owned(),
            authority,
            client,
        };
        let text = content.write(&self.wanted.cluster, &leaf.common_name);
        Ok(Write::Secret(
            self.secret(step, [(kubeconfig.place.key.as_str(), text.as_str())]),
        ))
    }

    fn sign(&mut self, step: &Step, leaf: &Leaf, names: &BTreeSet<Host>) -> Result<Pair, IssueError> {
        let (algorithm, lifetime, now) = (self.wanted.algorithm, self.wanted.lifetime, self.now);
        let authority = self.authority(leaf.signer)?;
        if authority.certificate.end <= now {
            let fault = format!("it is over since {}", authority.certificate.end);
            return Err(IssueError::Signer {
                signer: leaf.signer,
                fault,
            });
        }
        authority
            .issue(leaf, names, algorithm, lifetime, now)
            .map_err(|source| make(step, source))
    }

    /// An authority that was made a moment ago, or before.
    fn authority(&mut self, signer: &'static str) -> Result<&Authority, IssueError> {
        if !self.authorities.contains_key(signer) {
            let (certificate, key) = self.existing.authority(signer);
            let damaged = |damage: Damage| IssueError::Signer {
                signer,
                fault: damage.to_string(),
            };
            self.authorities
                .insert(signer, Authority::read(certificate, key).map_err(damaged)?);
        }
        Ok(&self.authorities[signer])
    }

    /// The text of a bundle that was written a moment ago, or before.
    fn trusted(&self, step: &Step, config_map: &str) -> Result<String, IssueError> {
        let written = self.bundles.get(config_map).map(String::as_str);
        let text = written.or_else(|| self.existing.bundle(config_map));
        let text = text.filter(|text| Certificate::read_all(text.as_bytes()).is_some());
        Ok(text.ok_or_else(|| part(step))?.to_owned())
    }

    fn secret<'t>(&self, step: &Step, parts: impl IntoIterator<Item = (&'t str, &'t str)>) -> Secret {
        let bytes = |text: &str| ByteString(text.as_bytes().to_vec());
        let is_cluster_api = matches!(&step.item, Item::Kubeconfig(kubeconfig, _) if kubeconfig.is_cluster_api);
        Secret {
            metadata: metadata(self.wanted, &step.name, &step.item),
            type_: is_cluster_api.then(|| CLUSTER_API_TYPE.to_owned()),
            data: Some(
                parts
                    .into_iter()
                    .map(|(key, text)| (key.to_owned(), bytes(text)))
                    .collect(),
            ),
            ..Secret::default()
        }
    }
}

/// Whether key and certificate stay.
fn is_kept(reason: Reason) -> bool {
    matches!(reason, Reason::Content | Reason::Metadata)
}

fn make(step: &Step, source: rcgen::Error) -> IssueError {
    let name = step.name.clone();
    IssueError::Make { name, source }
}

fn part(step: &Step) -> IssueError {
    let name = step.name.clone();
    IssueError::Part { name }
}
