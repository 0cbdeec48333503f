//! Payloads: made when they are asked for, or when something that they are made from changes, and kept as long as nothing
//! does. Whether one could be made is written on the Secret of its token, once.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use hyperplane_api::constants::{Reason, objects::keys, reasons};
use hyperplane_ignition_render::Problem;
use hyperplane_runtime::{Api, Context, EventType, Failure, Next, ObjectKey, Reconciler};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{answer::Refusal, counts::Counts, reached::Reached, sources::Sources, token};

/// Payloads that are kept; there are two for a pool that is rolled. Beyond that they are made anew each time.
const MOST_KEPT: usize = 512;
/// Characters of a message: it ends up in a condition.
const LONGEST_MESSAGE: usize = 4096;

/// The events about a configuration that a machine has fetched for the first time, and about one that cannot be made, as the
/// reference calls them. It tells them for every request; here each is told once.
const GET_PAYLOAD: &str = "GetPayload";
const GET_PAYLOAD_FAILED: &str = "GetPayloadFailed";

/// What is said of the first machine.
const FETCHED: &str = "A machine has fetched its configuration.";

/// What is said of a payload that was made.
const MADE: &str = "The configuration of the machines was made";

/// Why there is no payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotMade {
    /// Something that it is made from is not there yet: what.
    Waiting(String),
    /// It cannot be made from what is there, and why.
    Broken(String),
}

impl NotMade {
    pub(crate) fn waiting(what: &str) -> Self {
        Self::Waiting(what.to_owned())
    }

    /// What a machine is told.
    pub(crate) fn refusal(self) -> Refusal {
        match self {
            Self::Waiting(_) => Refusal::NoPayload,
            Self::Broken(_) => Refusal::BadPayload,
        }
    }
}

/// All payloads of a namespace.
#[derive(Debug)]
pub struct Payloads {
    sources: Sources,
    counts: Counts,
    kept: Mutex<BTreeMap<ObjectKey, Kept>>,
}

/// A payload, or why there is none, and the digest of what it was made from.
struct Kept {
    inputs: Vec<u8>,
    outcome: Result<Bytes, String>,
}

/// What is in it is not for logs.
impl std::fmt::Debug for Kept {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "Kept({})",
            if self.outcome.is_ok() { "made" } else { "broken" }
        )
    }
}

impl Payloads {
    /// No payload yet.
    pub fn new(sources: Sources, counts: Counts) -> Self {
        Self {
            sources,
            counts,
            kept: Mutex::default(),
        }
    }

    /// The payload for machines that show a token of this Secret.
    pub fn of(&self, secret: &Secret) -> Result<Bytes, NotMade> {
        let gathered = self.sources.gather(secret)?;
        let inputs = gathered.digest();
        let key = ObjectKey::of(secret);
        // It is made while the lock is held, in some thousandths of a second: machines of a pool come all at once, and those
        // that wait here find it made.
        let mut kept = self.kept();
        if let Some(kept) = kept.get(&key).filter(|kept| kept.inputs == inputs) {
            return kept.outcome.clone().map_err(NotMade::Broken);
        }
        let start = Instant::now();
        let outcome = gathered.render().map(Bytes::from).map_err(|problems| told(&problems));
        self.counts.made(start.elapsed());
        if kept.len() < MOST_KEPT || kept.contains_key(&key) {
            let outcome = outcome.clone();
            kept.insert(key, Kept { inputs, outcome });
        }
        self.counts.kept(kept.len());
        outcome.map_err(NotMade::Broken)
    }

    /// Forgets payloads of Secrets that are gone, or hold no tokens any more.
    pub(crate) fn prune(&self) {
        let mut kept = self.kept();
        kept.retain(|key, _| {
            let secret = self.sources.secrets.get(key);
            secret.is_some_and(|secret| token::is_token(&secret))
        });
        self.counts.kept(kept.len());
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<ObjectKey, Kept>> {
        // What it guards is valid after every statement.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All problems in one text that fits into a condition.
fn told(problems: &[Problem]) -> String {
    let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
    shortened(all.join("; "))
}

fn shortened(text: String) -> String {
    if text.chars().count() <= LONGEST_MESSAGE {
        return text;
    }
    let mut text: String = text.chars().take(LONGEST_MESSAGE - 1).collect();
    text.push('…');
    text
}

/// What is written on the Secret of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    reason: Reason,
    message: String,
}

impl Verdict {
    /// What is to be written.
    pub(crate) fn of(outcome: &Result<(), NotMade>) -> Self {
        let (reason, message) = match outcome {
            Ok(()) => (reasons::AS_EXPECTED, MADE.to_owned()),
            Err(NotMade::Broken(message)) => (reasons::INVALID_CONFIG, message.clone()),
            // What was made before is not handed out any more, so a verdict from then must not stay.
            Err(NotMade::Waiting(what)) => (reasons::WAITING_FOR_DEPENDENCIES, format!("Waiting for {what}")),
        };
        Self {
            reason,
            message: shortened(message),
        }
    }

    /// Whether it is there already.
    pub(crate) fn is_on(&self, secret: &Secret) -> bool {
        let is = |key: &str, text: &str| token::data(secret, key) == Some(text.as_bytes());
        is(keys::REASON, self.reason.as_str()) && is(keys::MESSAGE, &self.message)
    }

    /// The change that writes it. The uid: another Secret of the same name is for other machines.
    pub(crate) fn patch(&self, secret: &Secret) -> Value {
        json!({
            "metadata": {"uid": secret.metadata.uid},
            "data": {
                keys::REASON: BASE64_STANDARD.encode(self.reason.as_str()),
                keys::MESSAGE: BASE64_STANDARD.encode(&self.message),
            },
        })
    }
}

/// Makes payloads before anybody comes, so that a pool learns what is wrong with its configuration.
pub(crate) struct Generator {
    pub(crate) payloads: Arc<Payloads>,
    pub(crate) reached: Arc<Reached>,
}

impl Reconciler for Generator {
    type Object = Secret;

    const SWEEPS: bool = true;

    async fn reconcile(&self, context: &Context, secret: Arc<Secret>) -> Result<Next, Failure> {
        if !token::is_token(&secret) {
            self.payloads.prune();
            return Ok(Next::OnChange);
        }
        // The mark is a change of the Secret, so that somebody looks at it here.
        if self.reached.take_written(&ObjectKey::of(secret.as_ref())) {
            context.event(EventType::Normal, GET_PAYLOAD, FETCHED);
        }
        let outcome = self.payloads.of(&secret).map(drop);
        let verdict = Verdict::of(&outcome);
        if !verdict.is_on(&secret) {
            write(context, &secret, &verdict).await?;
        }
        match outcome {
            Err(NotMade::Waiting(what)) => Err(Failure::wait(what)),
            Err(NotMade::Broken(_)) | Ok(()) => Ok(Next::OnChange),
        }
    }

    async fn sweep(&self, _: &Context, key: &ObjectKey) -> Result<(), Failure> {
        self.reached.take_written(key);
        self.payloads.prune();
        Ok(())
    }
}

/// Writes a verdict onto the Secret that it is about, and tells of one that is bad: once, because the next run finds it
/// there.
async fn write(context: &Context, secret: &Secret, verdict: &Verdict) -> Result<(), Failure> {
    let key = ObjectKey::of(secret);
    let api: Api<Secret> = Api::namespaced(context.client().clone(), &key.namespace);
    let parameters = PatchParams {
        field_manager: Some(context.field_manager().to_owned()),
        ..PatchParams::default()
    };
    let patch = Patch::Merge(verdict.patch(secret));
    match api.patch(&key.name, &parameters, &patch).await {
        Ok(_) => {
            tracing::info!(secret = %key, reason = verdict.reason.as_str(), "A configuration was judged.");
            if verdict.reason != reasons::AS_EXPECTED {
                context.event(EventType::Warning, GET_PAYLOAD_FAILED, verdict.message.clone());
            }
            Ok(())
        }
        // It is gone, or another one: there is nothing to write on.
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
