//! Secrets with tokens: what a machine shows to the ignition server, beside everything from which that makes what the
//! machine is given.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use hyperplane_api::constants::{annotations, objects::keys};
use hyperplane_ignition_render::gzip;
use jiff::Timestamp;
use k8s_openapi::{ByteString, api::core::v1::Secret};
use kube::ResourceExt as _;

use super::{Blueprint, user_data};
use crate::{
    dereference::Seen,
    inputs, metadata, names,
    target::{Roll, Target},
    token::{self, Care},
};

/// The type of Secrets that hold anything.
pub(super) const OPAQUE: &str = "Opaque";

/// The token of the configuration that machines are made with.
#[derive(Clone, Debug)]
pub(crate) struct Active {
    /// The hash of the configuration.
    pub(crate) hash: String,
    /// The Secret as it is, if it is there.
    pub(crate) live: Option<Arc<Secret>>,
    /// The tokens in it.
    pub(crate) tokens: Tokens,
    /// Whether they differ from those that are there.
    pub(crate) is_changed: bool,
    /// When the next one is due.
    pub(crate) next: Option<Duration>,
    /// Tokens of configurations that sets from before still make machines with: a machine that they make tomorrow needs a
    /// good one as well.
    pub(crate) older: Vec<Active>,
}

/// Tokens, and when the newest was made.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Tokens {
    pub(crate) token: Vec<u8>,
    pub(crate) before: Option<Vec<u8>>,
    pub(crate) made: String,
}

/// Tokens are secrets.
impl std::fmt::Debug for Tokens {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Tokens(made {})", self.made)
    }
}

impl Active {
    /// The token for a roll: of its target, or of the configuration that machines are made with now. None where there is
    /// nothing to make machines with. Fresh tokens are drawn only where one is needed.
    pub(crate) fn of(
        pool: &hyperplane_api::hypershift::node_pool::NodePool,
        seen: &Seen,
        roll: &Roll,
        now: Timestamp,
        mut fresh: impl FnMut() -> String,
    ) -> Option<Self> {
        let hash = match roll {
            Roll::To(target) => target.hash.clone(),
            Roll::Held => held_hash(seen)?.to_owned(),
        };
        let name = names::token(pool, &hash);
        let live = seen.tokens.iter().find(|secret| secret.name_any() == name).cloned();
        if live.is_none() && roll.target().is_none() {
            // What it was made from is not known any more, so that it cannot be made again.
            return None;
        }
        let older = older_hashes(seen).filter(|older| *older != hash);
        let older = older.filter_map(|older| {
            let name = names::token(pool, older);
            let mut all = seen
                .tokens
                .iter()
                .filter(|live| live.metadata.deletion_timestamp.is_none());
            let live = all.find(|secret| secret.name_any() == name).cloned();
            live.map(|live| Self::care(older.to_owned(), Some(live), now, &mut fresh))
        });
        let older = older.collect();
        Some(Self {
            older,
            ..Self::care(hash, live, now, &mut fresh)
        })
    }

    /// The token of a configuration, kept or replaced as its age asks for.
    fn care(hash: String, live: Option<Arc<Secret>>, now: Timestamp, fresh: &mut impl FnMut() -> String) -> Self {
        let care = token::care(live.as_deref(), now);
        let tokens = tokens(live.as_deref(), care, now, fresh);
        Self {
            hash,
            is_changed: !matches!(care, Care::Keep(_)),
            next: Some(match care {
                Care::Keep(left) => left,
                Care::Create | Care::Rotate => token::ROTATION.unsigned_abs(),
            }),
            live,
            tokens,
            older: Vec::new(),
        }
    }

    /// Whether another token takes the place of the one that is there.
    pub(crate) fn is_rotated(&self) -> bool {
        self.is_changed && self.live.is_some()
    }
}

/// Hashes of the configurations that sets of the pool make machines with, each once.
fn older_hashes(seen: &Seen) -> impl Iterator<Item = &str> {
    let used: BTreeSet<&str> = user_data::of_sets(&seen.machines).filter_map(names::hash_of).collect();
    used.into_iter()
}

fn tokens(live: Option<&Secret>, care: Care, now: Timestamp, fresh: &mut impl FnMut() -> String) -> Tokens {
    let value = |key: &str| live.and_then(|live| data(live, key)).map(<[u8]>::to_vec);
    let (token, before) = (value(keys::TOKEN), value(keys::OLD_TOKEN));
    match (care, token) {
        (Care::Keep(_), Some(token)) => Tokens {
            token,
            before,
            made: live
                .and_then(|live| annotations::LAST_TOKEN_GENERATION_TIME.of(live))
                .unwrap_or_default()
                .to_owned(),
        },
        (_, token) => Tokens {
            token: fresh().into_bytes(),
            before: token,
            made: token::written(now),
        },
    }
}

/// The hash of the configuration that machines are made with now.
fn held_hash(seen: &Seen) -> Option<&str> {
    let deployment = seen.machines.deployment.as_ref()?;
    let name = deployment.spec.template.spec.bootstrap.data_secret_name.as_deref()?;
    names::hash_of(name)
}

/// Whether a machine has shown the token of a configuration.
pub(crate) fn reached(seen: &Seen, hash: &str) -> bool {
    let mut tokens = seen.tokens.iter().filter(|secret| {
        let name = secret.name_any();
        names::hash_of(&name) == Some(hash)
    });
    tokens.any(|secret| {
        let mark = annotations::IGNITION_REACHED.of(secret.as_ref());
        mark.is_some_and(|mark| mark.eq_ignore_ascii_case("true"))
    })
}

/// The Secret of the configuration that machines are made with. It never carries an end.
pub(super) fn active(blueprint: &Blueprint<'_>) -> Secret {
    let active = blueprint.active;
    let content = match (blueprint.roll.target(), &active.live) {
        (Some(target), _) => content(blueprint, target),
        (None, Some(live)) => kept(live),
        (None, None) => BTreeMap::new(),
    };
    let name = names::token(blueprint.pool, &active.hash);
    let mut secret = secret(blueprint, &name, content, &active.tokens);
    if active.live.is_none()
        && annotations::RESTORED_FROM_BACKUP
            .of(blueprint.surroundings.cluster)
            .is_some()
    {
        // Its machines came before its token: they have fetched what they need, and are to be watched.
        let (key, value) = metadata::annotation(annotations::IGNITION_REACHED, "True");
        secret.metadata.annotations.get_or_insert_default().insert(key, value);
    }
    guard(&mut secret, active);
    secret
}

/// The Secret of a configuration that sets from before still make machines with. It has no end either.
pub(super) fn older(blueprint: &Blueprint<'_>, older: &Active) -> Secret {
    let name = names::token(blueprint.pool, &older.hash);
    let content = older.live.as_deref().map(kept).unwrap_or_default();
    let mut secret = secret(blueprint, &name, content, &older.tokens);
    guard(&mut secret, older);
    secret
}

/// Two runs that both replace a token would leave machines with one that nobody knows; so the one that replaces it must have
/// seen the latest.
fn guard(secret: &mut Secret, active: &Active) {
    if active.is_changed {
        let live = active.live.as_ref();
        secret.metadata.resource_version = live.and_then(|live| live.metadata.resource_version.clone());
    }
}

/// The Secret of a configuration that machines are not made with any more, as it is, with an end.
pub(super) fn expiring(blueprint: &Blueprint<'_>, live: &Secret, end: Timestamp) -> Secret {
    let tokens = Tokens {
        token: data(live, keys::TOKEN).unwrap_or_default().to_vec(),
        before: data(live, keys::OLD_TOKEN).map(<[u8]>::to_vec),
        made: annotations::LAST_TOKEN_GENERATION_TIME
            .of(live)
            .unwrap_or_default()
            .to_owned(),
    };
    let mut secret = secret(blueprint, &live.name_any(), kept(live), &tokens);
    let (key, value) = metadata::annotation(annotations::IGNITION_TOKEN_EXPIRATION_TIMESTAMP, &token::written(end));
    secret.metadata.annotations.get_or_insert_default().insert(key, value);
    secret
}

fn secret(blueprint: &Blueprint<'_>, name: &str, mut data: BTreeMap<String, ByteString>, tokens: &Tokens) -> Secret {
    data.insert(keys::TOKEN.to_owned(), ByteString(tokens.token.clone()));
    if let Some(before) = &tokens.before {
        data.insert(keys::OLD_TOKEN.to_owned(), ByteString(before.clone()));
    }
    let mut metadata = blueprint.owner().metadata(name);
    metadata.annotations.get_or_insert_default().extend([
        metadata::annotation(annotations::IGNITION_CONFIG, "true"),
        metadata::annotation(
            annotations::NODE_POOL_UPGRADE_TYPE,
            blueprint.pool.spec.management.upgrade_type.as_str(),
        ),
        metadata::annotation(annotations::LAST_TOKEN_GENERATION_TIME, &tokens.made),
    ]);
    Secret {
        metadata,
        type_: Some(OPAQUE.to_owned()),
        data: Some(data),
        ..Secret::default()
    }
}

/// What a configuration is made from.
fn content(blueprint: &Blueprint<'_>, target: &Target) -> BTreeMap<String, ByteString> {
    let text = |value: &str| ByteString(value.as_bytes().to_vec());
    let mut content = BTreeMap::from([
        (keys::RELEASE.to_owned(), text(&target.image)),
        (keys::RELEASE_VERSION.to_owned(), text(target.release.version.number())),
        (
            keys::RENDER_REVISION.to_owned(),
            text(&target.inputs.render_revision.to_string()),
        ),
        (
            keys::CONFIG.to_owned(),
            ByteString(packed(&target.documents, blueprint.active.live.as_deref())),
        ),
    ]);
    let stream = inputs::os_stream(blueprint.pool, &target.release);
    if !stream.is_empty() {
        content.insert(keys::OS_STREAM.to_owned(), text(&stream));
    }
    content
}

/// Documents as a Secret holds them: as it does already, where it is these. To unpack them is a fraction of the work, and
/// another program that packs otherwise has nothing to write.
fn packed(documents: &str, live: Option<&Secret>) -> Vec<u8> {
    let known = live.and_then(|live| data(live, keys::CONFIG));
    let is_same = |packed: &&[u8]| {
        let unpacked = gzip::decompress(packed, documents.len());
        unpacked.is_ok_and(|unpacked| unpacked == documents.as_bytes())
    };
    match known.filter(is_same) {
        Some(known) => known.to_vec(),
        None => gzip::compress(documents.as_bytes()),
    }
}

/// What a configuration was made from, as its Secret says: what we wrote into it, and nothing that the ignition server did.
fn kept(live: &Secret) -> BTreeMap<String, ByteString> {
    const OURS: [&str; 5] = [
        keys::RELEASE,
        keys::RELEASE_VERSION,
        keys::CONFIG,
        keys::OS_STREAM,
        keys::RENDER_REVISION,
    ];
    let data = live.data.iter().flatten();
    data.filter(|(key, _)| OURS.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// The content of a key; what is empty is not there.
pub(crate) fn data<'a>(secret: &'a Secret, key: &str) -> Option<&'a [u8]> {
    let value = secret.data.as_ref()?.get(key)?;
    (!value.0.is_empty()).then_some(&value.0)
}
