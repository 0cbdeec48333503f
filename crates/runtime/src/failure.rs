//! The one table of failures. Owns what each kind of failure means everywhere: condition reason, event reason,
//! metric label, exit code, and what the runner does next. Knows nothing of any particular reconciler.

use std::{error::Error as StdError, time::Duration};

use kube::core::Status;
use thiserror::Error;

/// Any source of a failure.
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// Why a reconcile did not reach its goal. The variant says what happens next.
#[derive(Debug, Error)]
pub enum Failure {
    /// Something that passes by itself: it is tried again with growing delays.
    #[error("will be retried")]
    Retry(#[source] BoxError),
    /// Something else must happen first; its change triggers the next run.
    #[error("waiting for {0}")]
    Wait(String),
    /// Something happens by itself at a known time, which no event announces; the next run is then.
    #[error("waiting for {what}")]
    WaitUntil {
        /// What is waited for.
        what: String,
        /// How long that takes.
        after: Duration,
    },
    /// The user's input breaks a rule; only an edit helps.
    #[error("{field}: {rule}; {remedy}")]
    User {
        /// The path of the field at fault.
        field: String,
        /// The rule that it breaks.
        rule: String,
        /// What the user can do about it.
        remedy: String,
    },
    /// A defect of ours or a missing permission; a human must act.
    #[error("cannot continue")]
    Fatal(#[source] BoxError),
}

/// The four rows of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Disposition {
    /// See [`Failure::Retry`].
    Retry,
    /// See [`Failure::Wait`] and [`Failure::WaitUntil`].
    Wait,
    /// See [`Failure::User`].
    User,
    /// See [`Failure::Fatal`].
    Fatal,
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// The reason of the condition that reports it.
    pub condition_reason: &'static str,
    /// The reason of the event that reports it.
    pub event_reason: &'static str,
    /// The value of the metric label `category`.
    pub metric_label: &'static str,
    /// The exit code of a command that ends with it; 0 is success.
    pub exit_code: u8,
}

impl Disposition {
    /// All rows, in the order of their exit codes.
    pub const ALL: [Self; 4] = [Self::Fatal, Self::User, Self::Wait, Self::Retry];

    /// What this disposition is called everywhere.
    pub const fn meaning(self) -> Meaning {
        match self {
            Self::Fatal => Meaning {
                condition_reason: "InternalError",
                event_reason: "ReconcileError",
                metric_label: "fatal",
                exit_code: 1,
            },
            Self::User => Meaning {
                condition_reason: "InvalidConfiguration",
                event_reason: "InvalidConfiguration",
                metric_label: "user",
                exit_code: 2,
            },
            Self::Wait => Meaning {
                condition_reason: "WaitingForDependency",
                event_reason: "Waiting",
                metric_label: "wait",
                exit_code: 3,
            },
            Self::Retry => Meaning {
                condition_reason: "Retrying",
                event_reason: "ReconcileRetry",
                metric_label: "retry",
                exit_code: 4,
            },
        }
    }
}

impl Failure {
    /// A failure that passes by itself.
    pub fn retry(source: impl Into<BoxError>) -> Self {
        Self::Retry(source.into())
    }

    /// A failure that a change elsewhere ends.
    pub fn wait(what: impl Into<String>) -> Self {
        Self::Wait(what.into())
    }

    /// A failure that the clock ends.
    pub fn wait_until(what: impl Into<String>, after: Duration) -> Self {
        Self::WaitUntil {
            what: what.into(),
            after,
        }
    }

    /// A failure that needs an edit.
    pub fn user(field: impl Into<String>, rule: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::User {
            field: field.into(),
            rule: rule.into(),
            remedy: remedy.into(),
        }
    }

    /// A failure that needs a human.
    pub fn fatal(source: impl Into<BoxError>) -> Self {
        Self::Fatal(source.into())
    }

    /// The row of the table that this failure belongs to.
    pub const fn disposition(&self) -> Disposition {
        match self {
            Self::Retry(_) => Disposition::Retry,
            Self::Wait(_) | Self::WaitUntil { .. } => Disposition::Wait,
            Self::User { .. } => Disposition::User,
            Self::Fatal(_) => Disposition::Fatal,
        }
    }

    /// The whole chain of causes in one line, for events and conditions. The client's own errors repeat what is under them,
    /// an answer of the server even as a dump: only what is under them is told.
    pub fn report(&self) -> String {
        let mut line = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            cause = error.source();
            if error.is::<kube::Error>() && cause.is_some() {
                continue;
            }
            line.push_str(": ");
            line.push_str(&error.to_string());
        }
        line
    }
}

impl From<kube::Error> for Failure {
    /// Sorts an answer of the API server into the table. Everything that another attempt can cure is Retry.
    fn from(error: kube::Error) -> Self {
        match &error {
            kube::Error::Api(status) => match classify(status) {
                Disposition::Wait => Self::wait(status.message.clone()),
                Disposition::Fatal => Self::fatal(error),
                Disposition::Retry | Disposition::User => Self::retry(error),
            },
            kube::Error::BuildRequest(_) | kube::Error::HttpError(_) => Self::fatal(error),
            _ => Self::retry(error),
        }
    }
}

fn classify(status: &Status) -> Disposition {
    // The API server refuses creation in a namespace that is being deleted with 403 and this cause
    // (k8s.io/apiserver, plugin/namespace/lifecycle); a 403 without it is missing RBAC, which rendering order and
    // caches of the authorizer can cause for a while, so it is retried.
    let terminating = status.details.as_ref().is_some_and(|details| {
        details
            .causes
            .iter()
            .any(|cause| cause.reason == "NamespaceTerminating")
    });
    match status.code {
        403 if terminating => Disposition::Wait,
        // The object that we built is refused as such: running again builds the same one.
        400 | 405 | 406 | 413 | 415 | 422 => Disposition::Fatal,
        _ => Disposition::Retry,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_row_is_distinct_in_every_column() {
        let rows: Vec<Meaning> = Disposition::ALL.map(Disposition::meaning).to_vec();
        let distinct = |column: fn(&Meaning) -> String| rows.iter().map(column).collect::<BTreeSet<_>>().len();
        assert_eq!(distinct(|row| row.condition_reason.to_owned()), 4);
        assert_eq!(distinct(|row| row.event_reason.to_owned()), 4);
        assert_eq!(distinct(|row| row.metric_label.to_owned()), 4);
        assert_eq!(distinct(|row| row.exit_code.to_string()), 4);
        assert!(rows.iter().all(|row| row.exit_code != 0));
    }

    #[test]
    fn answers_of_the_server_are_sorted() {
        let cases = [
            (409, Disposition::Retry),
            (429, Disposition::Retry),
            (500, Disposition::Retry),
            (403, Disposition::Retry),
            (404, Disposition::Retry),
            (422, Disposition::Fatal),
            (400, Disposition::Fatal),
        ];
        for (code, expected) in cases {
            let status = Status::failure("message", "Reason").with_code(code);
            let failure = Failure::from(kube::Error::Api(status.boxed()));
            assert_eq!(failure.disposition(), expected, "code {code}");
        }
    }

    #[test]
    fn a_terminating_namespace_is_waited_for() {
        let status: Status = hyperplane_objects::read(serde_json::json!({
            "code": 403, "message": "namespace is being terminated", "reason": "Forbidden",
            "details": {"causes": [{"reason": "NamespaceTerminating", "message": "x", "field": "metadata.namespace"}]}
        }))
        .unwrap();
        let failure = Failure::from(kube::Error::Api(status.boxed()));
        assert_eq!(failure.to_string(), "waiting for namespace is being terminated");
    }

    #[test]
    fn a_report_names_the_whole_chain_once() {
        let failure = Failure::retry(std::io::Error::other("socket closed"));
        assert_eq!(failure.report(), "will be retried: socket closed");
        let status = Status::failure("pods \"a\" not found", "NotFound").with_code(404);
        let failure = Failure::from(kube::Error::Api(status.boxed()));
        assert_eq!(failure.report(), "will be retried: pods \"a\" not found: NotFound");
        let failure = Failure::from(kube::Error::Service("refused".into()));
        assert_eq!(failure.report(), "will be retried: refused");
    }
}
