//! What can go wrong with a cluster of real pods. Details are in the output of commands and in the tails of logs.

use std::{io, path::PathBuf, process::ExitStatus, time::Duration};

use crate::assets;

/// Why a cluster of real pods could not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Programs are missing.
    #[error(transparent)]
    Assets(#[from] assets::Error),
    /// Certificates or guards could not be made.
    #[error(transparent)]
    Testbed(#[from] crate::Error),
    /// The machine refused a file, a process or a namespace.
    #[error("{step}")]
    Machine {
        /// What was being done.
        step: String,
        /// The machine's answer.
        #[source]
        source: io::Error,
    },
    /// A command ended with a failure.
    #[error("`{command}` ended with {status}:\n{output}")]
    Command {
        /// The command line.
        command: String,
        /// How it ended.
        status: ExitStatus,
        /// What it printed, both streams.
        output: String,
    },
    /// A program that is to run on has ended.
    #[error("{name} ended; last lines of {}:\n{tail}", log.display())]
    Ended {
        /// The program.
        name: String,
        /// Its log.
        log: PathBuf,
        /// The end of its log.
        tail: String,
    },
    /// Something did not come about in time.
    #[error("{what}: not within {} s; last: {last}", limit.as_secs())]
    Late {
        /// What was waited for.
        what: String,
        /// How long.
        limit: Duration,
        /// What was seen last.
        last: String,
    },
    /// The state of a cluster cannot be read, or is of one that is gone.
    #[error("no cluster runs from {}", directory.display())]
    NoCluster {
        /// Where its state would be.
        directory: PathBuf,
    },
    /// A cluster of this name runs already.
    #[error("a cluster runs from {}: end it first", directory.display())]
    Running {
        /// Its state.
        directory: PathBuf,
    },
}

impl Error {
    /// Says what was being done when the machine refused.
    pub(crate) fn at(step: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let step = step.into();
        |source| Self::Machine { step, source }
    }
}
