//! What can go wrong with a control plane. It knows no server's details: those are in the tail of its log.

use std::{io, path::PathBuf, process::ExitStatus, time::Duration};

use crate::assets;

/// Why a control plane could not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The programs are missing.
    #[error(transparent)]
    Assets(#[from] assets::Error),
    /// The machine refused a file, a port or a process.
    #[error("{step}")]
    Machine {
        /// What was being done.
        step: String,
        /// The machine's answer.
        #[source]
        source: io::Error,
    },
    /// A certificate could not be made.
    #[error("certificate of {subject}")]
    Certificate {
        /// Whom it was for.
        subject: String,
        /// The library's answer.
        #[source]
        source: rcgen::Error,
    },
    /// A client certificate cannot carry so many groups.
    #[error("{user} has {groups} groups and a client certificate holds {limit}: impersonate the user as admin instead")]
    TooManyGroups {
        /// The user.
        user: String,
        /// How many groups were asked for.
        groups: usize,
        /// How many fit.
        limit: usize,
    },
    /// A server ended before it was ready.
    #[error("{server} ended with {status} before it was ready; last lines of {}:\n{tail}", log.display())]
    Ended {
        /// The server's name.
        server: &'static str,
        /// How it ended.
        status: ExitStatus,
        /// Its log, which is kept.
        log: PathBuf,
        /// The end of its log.
        tail: String,
    },
    /// A server took too long.
    #[error(
        "{server} did not become ready within {} s ({answer}); last lines of {}:\n{tail}",
        limit.as_secs(), log.display()
    )]
    NotReady {
        /// The server's name.
        server: &'static str,
        /// How long it was given.
        limit: Duration,
        /// What it last answered.
        answer: String,
        /// Its log, which is kept.
        log: PathBuf,
        /// The end of its log.
        tail: String,
    },
    /// A program did not finish in time.
    #[error("kubectl {arguments} did not finish within {} s", limit.as_secs())]
    Slow {
        /// What kubectl was asked.
        arguments: String,
        /// How long it was given.
        limit: Duration,
    },
    /// The API server refused a request that the test bed made for itself.
    #[error("request to the API server")]
    Request(#[source] Box<kube::Error>),
}

impl Error {
    /// Says what was being done when the machine refused.
    pub(crate) fn at(step: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let step = step.into();
        |source| Self::Machine { step, source }
    }
}

impl From<kube::Error> for Error {
    fn from(error: kube::Error) -> Self {
        Self::Request(Box::new(error))
    }
}
