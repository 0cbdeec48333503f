//! In which order keys come and go. While pods are exchanged, API servers of two neighbouring configurations serve at the
//! same time, and what one of them writes the other must be able to read: a new key is read everywhere before any server
//! writes with it.
//!
//! ```text
//!  [old]  ──►  [old, new]  ──►  [new, old]  ──►  [new]
//!         all have it      all have it      the old one is no longer given
//! ```

use std::fmt;

/// How Secrets are written and read.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Provider {
    /// With this key.
    Key(Vec<u8>),
    /// In plain text.
    Identity,
}

/// The kind only: keys are not for logs.
impl fmt::Debug for Provider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Key(_) => "Key",
            Self::Identity => "Identity",
        })
    }
}

/// The keys of a spec.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    /// The key that is to write.
    pub active: Vec<u8>,
    /// Another key that is to be read with.
    pub before: Option<Vec<u8>>,
}

/// What the API servers use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum InUse {
    /// There are no API servers and there never were.
    Nothing,
    /// API servers write plain text and can read nothing else.
    Plain,
    /// This was given to them last: what stands first writes, everything reads.
    Told {
        /// The providers.
        told: Vec<Provider>,
        /// How many others there were before.
        step: u64,
        /// Whether every one of them has taken it up; else some may still use the one before.
        is_everywhere: bool,
    },
    /// They have keys, and nobody knows which.
    Unknown,
    /// They were given something later than what can be seen.
    Later,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Give this to the API servers.
    Use {
        /// The providers.
        providers: Vec<Provider>,
        /// How many others there were before.
        step: u64,
    },
    /// Leave them as they are, for this reason.
    Refuse(&'static str),
}

impl Wanted {
    /// What to do next.
    pub(super) fn next(&self, in_use: &InUse) -> Step {
        let first = |providers| Step::Use { providers, step: 0 };
        match in_use {
            InUse::Nothing => first(self.last()),
            InUse::Plain => first(self.reading(&Provider::Identity)),
            InUse::Later => Step::Refuse("the encryption configuration that was written last has not been seen yet"),
            InUse::Unknown => Step::Refuse(
                "the keys in use are neither in Secret kas-secret-encryption-config nor in spec.secretEncryption: \
                 give them",
            ),
            InUse::Told {
                told,
                step,
                is_everywhere: false,
            } => Step::Use {
                providers: told.clone(),
                step: *step,
            },
            InUse::Told { told, step, .. } => match self.after(told) {
                Err(sentence) => Step::Refuse(sentence),
                Ok(providers) => Step::Use {
                    step: step.saturating_add(u64::from(providers != *told)),
                    providers,
                },
            },
        }
    }

    /// What follows on something that every API server uses, or why nothing does.
    fn after(&self, told: &[Provider]) -> Result<Vec<Provider>, &'static str> {
        let active = Provider::Key(self.active.clone());
        match told.first() {
            Some(writes) if !self.reads(writes) => Err(
                "the key that Secrets are written with is neither the active nor the backup key: \
                 give it as spec.secretEncryption.aescbc.backupKey",
            ),
            Some(writes) if *writes != active && !told.contains(&active) => Ok(self.reading(writes)),
            _ => Ok(self.last()),
        }
    }

    /// Everything that API servers may have been given on the way to these keys.
    pub(super) fn possible(&self) -> Vec<Vec<Provider>> {
        let alone = |key: &Vec<u8>| vec![Provider::Key(key.clone()), Provider::Identity];
        let before = self.before.iter();
        let mut all = vec![self.last()];
        all.extend(before.clone().map(|key| self.reading(&Provider::Key(key.clone()))));
        all.push(self.reading(&Provider::Identity));
        all.push(alone(&self.active));
        all.extend(before.map(alone));
        all
    }

    /// What the rotation ends with.
    pub(super) fn last(&self) -> Vec<Provider> {
        self.all().collect()
    }

    /// The step in which another provider still writes.
    fn reading(&self, writes: &Provider) -> Vec<Provider> {
        let others = self.all().filter(|provider| provider != writes);
        [writes.clone()].into_iter().chain(others).collect()
    }

    fn reads(&self, provider: &Provider) -> bool {
        self.all().any(|one| one == *provider)
    }

    fn all(&self) -> impl Iterator<Item = Provider> {
        let keys = [&self.active].into_iter().chain(&self.before).cloned();
        keys.map(Provider::Key).chain([Provider::Identity])
    }
}
