//! Encryption of Secrets in etcd with keys that lie in Secrets: the keys of the spec, and the configuration that the API
//! server gets. In which order keys come and go is [`rotation`]'s.

mod rotation;
#[cfg(test)]
mod tests;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hyperplane_api::{
    constants::{
        Annotation, annotations,
        objects::{copies, keys},
        ours, reasons,
    },
    hypershift::secret_encryption::SecretEncryptionType,
};
use serde_json::{Value, json};

use self::rotation::{InUse, Provider, Step, Wanted};
use super::file;
use crate::{
    hash,
    inputs::Inputs,
    manifest::Workload,
    report::{self, Judgement},
};

/// The Secret with the configuration.
pub(crate) const SECRET: &str = "kas-secret-encryption-config";

/// How long keys of AES are.
const KEY_LENGTHS: &[usize] = &[16, 24, 32];

/// How many digits of a hash name a key.
const NAME_DIGITS: usize = 8;

/// Whether Secrets are encrypted.
pub(crate) fn is_wanted(inputs: &Inputs<'_>) -> bool {
    inputs.control_plane.spec.secret_encryption.is_some()
}

/// What the API servers get.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Configuration {
    /// The file.
    pub text: String,
    /// How many others there were before.
    pub step: u64,
}

impl Configuration {
    /// What pods carry so that it can be told which configuration they are made with.
    pub(crate) fn annotations(&self) -> impl Iterator<Item = (String, String)> {
        let hash = hash::of_bytes(self.text.as_bytes());
        let of_text = (annotations::ENCRYPTION_CONFIG_HASH.as_str().to_owned(), hash);
        [of_text].into_iter().chain(self.step_annotation())
    }

    /// What its Secret carries.
    pub(crate) fn step_annotation(&self) -> Option<(String, String)> {
        let annotation = (ours::ENCRYPTION_STEP.as_str().to_owned(), self.step.to_string());
        (self.step > 0).then_some(annotation)
    }
}

/// The configuration that the API servers get next, given those that run; none while a key is missing or nothing is
/// encrypted. The other half is what is waited for before the next one.
pub(crate) fn next(inputs: &Inputs<'_>, live: Option<&Workload>) -> (Option<Configuration>, Vec<String>) {
    if !is_wanted(inputs) {
        let is_encrypted = live.is_some_and(|live| annotation(live, annotations::ENCRYPTION_CONFIG_HASH).is_some());
        let sentence = "spec.secretEncryption is gone, but Secrets are stored encrypted: give the keys again";
        return (None, is_encrypted.then(|| sentence.to_owned()).into_iter().collect());
    }
    let Some(wanted) = wanted(inputs) else {
        return (None, Vec::new());
    };
    match wanted.next(&in_use(inputs, live, &wanted)) {
        Step::Use { providers, step } => {
            let text = text(&providers);
            (Some(Configuration { text, step }), Vec::new())
        }
        Step::Refuse(sentence) => (None, vec![sentence.to_owned()]),
    }
}

/// Whether everything that is written from now on is written with the active key, in every API server; none where
/// nothing is encrypted. `live` is the workload of the API server.
pub fn encryption_up_to_date(inputs: &Inputs<'_>, live: Option<&Workload>) -> Option<Judgement> {
    if !is_wanted(inputs) {
        return None;
    }
    let no = |reason, message: &str| Some(Judgement::new(false, reason, message));
    let waits = waits(inputs);
    let Some(wanted) = wanted(inputs).filter(|_| waits.is_empty()) else {
        return no(reasons::RE_ENCRYPTION_FAILED, &waits.join("; "));
    };
    let in_use = in_use(inputs, live, &wanted);
    match (wanted.next(&in_use), in_use) {
        (Step::Refuse(sentence), InUse::Later) => no(reasons::RE_ENCRYPTION_WAITING_FOR_KAS_CONVERGENCE, sentence),
        (Step::Refuse(sentence), _) => no(reasons::RE_ENCRYPTION_FAILED, sentence),
        (
            Step::Use { providers, .. },
            InUse::Told {
                told,
                is_everywhere: true,
                ..
            },
        ) if providers == told => Some(Judgement::new(
            true,
            reasons::AS_EXPECTED,
            "The active key writes; what was stored before can be read until it is written again",
        )),
        (Step::Use { providers, .. }, _) if providers == wanted.last() => no(
            reasons::WRITE_PROMOTION_IN_PROGRESS,
            "API servers begin to write with the active key",
        ),
        (Step::Use { .. }, _) => no(
            reasons::READ_ONLY_ROLLOUT_IN_PROGRESS,
            "API servers learn to read with the active key before any of them writes with it",
        ),
    }
}

/// What the configuration waits for. Secrets are never stored in plain text because a key has not come yet.
pub(crate) fn waits(inputs: &Inputs<'_>) -> Vec<String> {
    let Some(encryption) = &inputs.control_plane.spec.secret_encryption else {
        return Vec::new();
    };
    if encryption.encryption_type != SecretEncryptionType::AesCbc {
        return vec![format!(
            "spec.secretEncryption.type {} cannot be carried out: choose aescbc",
            encryption.encryption_type
        )];
    }
    let mut wanted = vec![copies::ENCRYPTION_KEY];
    if wants_key_before(inputs) {
        wanted.push(copies::ENCRYPTION_KEY_BEFORE);
    }
    wanted.into_iter().filter_map(|name| problem(inputs, name)).collect()
}

/// What is known of the API servers that run: what they were told last, and whether all of them have taken it up.
fn in_use(inputs: &Inputs<'_>, live: Option<&Workload>, wanted: &Wanted) -> InUse {
    let written = written(inputs);
    let hash = live.and_then(|live| Some((live, annotation(live, annotations::ENCRYPTION_CONFIG_HASH)?)));
    let Some((live, hash)) = hash else {
        let otherwise = if live.is_some() { InUse::Plain } else { InUse::Nothing };
        return written.map_or(otherwise, |(told, step)| InUse::Told {
            told,
            step,
            is_everywhere: false,
        });
    };
    let is_of_pods = |providers: &[Provider]| hash::of_bytes(text(providers).as_bytes()) == hash;
    let of_pods = step(annotation(live, ours::ENCRYPTION_STEP));
    match written {
        Some((_, step)) if step < of_pods => InUse::Later,
        Some((told, step)) => InUse::Told {
            is_everywhere: step == of_pods && is_of_pods(&told) && report::is_rolled_out(live),
            told,
            step,
        },
        // Somebody took the Secret away. A pod that has started since then has nothing: all are made anew.
        None => {
            let mut possible = wanted.possible().into_iter();
            let told = possible.find(|one| is_of_pods(one));
            told.map_or(InUse::Unknown, |told| InUse::Told {
                told,
                step: of_pods.saturating_add(1),
                is_everywhere: false,
            })
        }
    }
}

/// What the Secret holds, and how many others there were before.
fn written(inputs: &Inputs<'_>) -> Option<(Vec<Provider>, u64)> {
    let secret = inputs.objects.secrets.get(SECRET)?;
    let value = inputs.objects.secret_value(SECRET, keys::ENCRYPTION_CONFIGURATION)?;
    Some((parse(value)?, step(ours::ENCRYPTION_STEP.of(&**secret))))
}

fn step(text: Option<&str>) -> u64 {
    text.and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// An annotation of the pods of a workload.
fn annotation(live: &Workload, key: Annotation) -> Option<&str> {
    let annotations = live.template()?.metadata.as_ref()?.annotations.as_ref()?;
    annotations.get(key.as_str()).map(String::as_str)
}

/// The keys of the spec; none while one is missing.
fn wanted(inputs: &Inputs<'_>) -> Option<Wanted> {
    let active = key(inputs, copies::ENCRYPTION_KEY)?;
    let before = if wants_key_before(inputs) {
        let before = key(inputs, copies::ENCRYPTION_KEY_BEFORE)?;
        (before != active).then_some(before)
    } else {
        None
    };
    Some(Wanted {
        active: active.to_vec(),
        before: before.map(<[u8]>::to_vec),
    })
}

/// The configuration as the API server reads it: what stands first writes, everything reads.
fn text(providers: &[Provider]) -> String {
    let providers: Vec<Value> = providers.iter().map(provider).collect();
    file(&json!({
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "EncryptionConfiguration",
        "resources": [{"resources": ["secrets"], "providers": providers}],
    }))
}

fn provider(provider: &Provider) -> Value {
    match provider {
        Provider::Key(key) => {
            let name = format!("key-{}", &hash::of_bytes(key)[..NAME_DIGITS]);
            json!({"aescbc": {"keys": [{"name": name, "secret": STANDARD.encode(key)}]}})
        }
        Provider::Identity => json!({"identity": {}}),
    }
}

/// The other way round; none for a text that is not ours.
fn parse(bytes: &[u8]) -> Option<Vec<Provider>> {
    let file: Value = serde_json::from_slice(bytes).ok()?;
    let providers = file["resources"][0]["providers"].as_array()?.iter().map(|provider| {
        if provider.get("identity").is_some() {
            return Some(Provider::Identity);
        }
        let secret = provider["aescbc"]["keys"][0]["secret"].as_str()?;
        STANDARD.decode(secret).ok().map(Provider::Key)
    });
    let providers: Vec<Provider> = providers.collect::<Option<_>>()?;
    (!providers.is_empty()).then_some(providers)
}

fn wants_key_before(inputs: &Inputs<'_>) -> bool {
    let encryption = inputs.control_plane.spec.secret_encryption.as_ref();
    let keys = encryption.and_then(|encryption| encryption.aescbc.as_ref());
    keys.is_some_and(|keys| keys.backup_key.as_ref().is_some_and(|key| !key.name.is_empty()))
}

fn key<'a>(inputs: &Inputs<'a>, name: &str) -> Option<&'a [u8]> {
    let key = inputs.objects.secret_value(name, keys::ENCRYPTION_KEY)?;
    KEY_LENGTHS.contains(&key.len()).then_some(key)
}

fn problem(inputs: &Inputs<'_>, name: &str) -> Option<String> {
    let key = keys::ENCRYPTION_KEY;
    if !inputs.objects.secrets.contains_key(name) {
        return Some(format!("Secret {name} does not exist"));
    }
    match inputs.objects.secret_value(name, key) {
        None => Some(format!("Secret {name} has no key {key}")),
        Some(value) if !KEY_LENGTHS.contains(&value.len()) => Some(format!(
            "Secret {name} has {} bytes under {key}: give 16, 24 or 32",
            value.len()
        )),
        Some(_) => None,
    }
}
