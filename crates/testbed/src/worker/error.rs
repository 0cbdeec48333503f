//! What can go wrong with a host. Details are in the output of commands and in the tails of logs.

use std::{io, path::PathBuf, process::ExitStatus, time::Duration};

/// Why a host could not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The payload is not what a host can be made of.
    #[error("the payload: {0}")]
    Payload(String),
    /// The machine refused a file or a process.
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
}

impl Error {
    /// Says what was being done when the machine refused.
    pub(super) fn at(step: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let step = step.into();
        |source| Self::Machine { step, source }
    }
}
