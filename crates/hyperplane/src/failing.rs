//! How a command fails: one sentence that says what to do, and one exit code, both by the one table of failures. Owns how
//! answers of API servers and silent ones are told to people. Pure.

use std::error::Error as StdError;

use hyperplane_runtime::{Disposition, Failure};
use kube::core::Status;

/// The codes, for the help.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  failed: a defect, or a permission that is missing
  2  wrong use: an argument, a file or an object breaks a rule
  3  looked at and not good, or not there in time: something else has to happen
  4  the cluster did not answer, or was busy: try again";

/// What is printed of a failure, and how the process ends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) sentence: String,
    pub(crate) exit_code: u8,
}

/// A mistake of whoever typed the command: what, the rule that it breaks, and what to do.
pub(crate) fn wrong_use(what: impl Into<String>, rule: impl Into<String>, remedy: impl Into<String>) -> anyhow::Error {
    Failure::user(what, rule, remedy).into()
}

/// Something that did not come in time: what it was.
pub(crate) fn not_yet(what: impl Into<String>) -> anyhow::Error {
    Failure::wait(what).into()
}

/// Tells a failure. What was being done comes first, then why it failed, then what to do.
pub(crate) fn told(error: &anyhow::Error) -> Told {
    let mut words = Vec::new();
    let mut disposition = Disposition::Fatal;
    for cause in error.chain() {
        if let Some(failure) = cause.downcast_ref::<Failure>() {
            disposition = failure.disposition();
            // Which row of the table it is says the code; people are told the cause.
            if !matches!(failure, Failure::Retry(_) | Failure::Fatal(_)) {
                words.push(failure.to_string());
            }
            continue;
        }
        if let Some(kube) = cause.downcast_ref::<kube::Error>() {
            let (row, sentence) = answer(kube);
            words.push(sentence);
            disposition = row;
            break;
        }
        words.push(cause.to_string());
    }
    Told {
        sentence: words.join(": "),
        exit_code: disposition.meaning().exit_code,
    }
}

/// What an error of the client means to people.
fn answer(error: &kube::Error) -> (Disposition, String) {
    match error {
        kube::Error::Api(status) => refusal(status),
        kube::Error::HyperError(_) | kube::Error::Service(_) | kube::Error::ReadEvents(_) => (
            Disposition::Retry,
            format!(
                "the API server cannot be reached ({}): see that it runs, and that the kubeconfig leads to it",
                innermost(error)
            ),
        ),
        kube::Error::SerdeError(_) => (
            Disposition::Fatal,
            "the API server answered with something else: see that the kubeconfig leads to a Kubernetes API server"
                .to_owned(),
        ),
        kube::Error::Auth(_) | kube::Error::InferConfig(_) | kube::Error::InferKubeconfig(_) => (
            Disposition::User,
            format!("the kubeconfig cannot be used: {}: correct it", innermost(error)),
        ),
        _ => (Disposition::Fatal, error.to_string()),
    }
}

/// What an answer of the server means to people.
fn refusal(status: &Status) -> (Disposition, String) {
    let message = status.message.trim_end_matches('.');
    let (disposition, remedy) = match (status.code, status.reason.as_str()) {
        (401, _) => (
            Disposition::Fatal,
            "the server does not know who asks: renew the credentials of the kubeconfig",
        ),
        (403, _) => (
            Disposition::Fatal,
            "ask an administrator of the management cluster for the right (hyperplane install renders roles)",
        ),
        (404, _) if message.contains("could not find the requested resource") => (
            Disposition::User,
            "the server does not have this kind: run hyperplane install apply first",
        ),
        (404, _) => (Disposition::User, "look at the name and at --namespace"),
        (409, "AlreadyExists") => (
            Disposition::User,
            "choose another name, or remove the one that is there",
        ),
        (409, _) => (Disposition::Retry, "somebody else changed it meanwhile: try again"),
        (400 | 413 | 415 | 422, _) => (Disposition::User, "correct what is named"),
        (429 | 500.., _) => (Disposition::Retry, "try again in a while"),
        _ => (Disposition::Fatal, "look at the log of the API server"),
    };
    let message = if message.is_empty() {
        status.reason.as_str()
    } else {
        message
    };
    (disposition, format!("{message}: {remedy}"))
}

/// The cause that no other has.
fn innermost(error: &dyn StdError) -> String {
    let mut last = error;
    while let Some(cause) = last.source() {
        last = cause;
    }
    last.to_string()
}

#[cfg(test)]
mod tests {
    use anyhow::{Context as _, anyhow};

    use super::*;

    fn api(code: u16, reason: &str, message: &str) -> anyhow::Error {
        let status = Status::failure(message, reason).with_code(code);
        anyhow::Error::from(kube::Error::Api(status.boxed()))
    }

    #[test]
    fn answers_are_told_with_what_to_do_and_end_by_the_table() {
        for (error, code, words) in [
            (api(401, "Unauthorized", "Unauthorized"), 1, "renew the credentials"),
            (
                api(403, "Forbidden", "nodes is forbidden"),
                1,
                "nodes is forbidden: ask an administrator",
            ),
            (api(404, "NotFound", "hostedclusters \"a\" not found"), 2, "--namespace"),
            (
                api(404, "NotFound", "the server could not find the requested resource"),
                2,
                "hyperplane install apply",
            ),
            (
                api(409, "AlreadyExists", "\"a\" already exists"),
                2,
                "choose another name",
            ),
            (api(409, "Conflict", "modified"), 4, "try again"),
            (api(422, "Invalid", "spec.a: wrong"), 2, "spec.a: wrong: correct"),
            (api(500, "InternalError", "etcd"), 4, "try again"),
            (api(503, "ServiceUnavailable", ""), 4, "ServiceUnavailable: try again"),
            (
                wrong_use("--name", "must be a DNS label", "use a-z"),
                2,
                "--name: must be a DNS label; use a-z",
            ),
            (not_yet("nodes of pool a"), 3, "waiting for nodes of pool a"),
            (anyhow!("the disk is full: make room"), 1, "make room"),
        ] {
            let told = told(&error);
            assert_eq!(told.exit_code, code, "{told:?}");
            assert!(told.sentence.contains(words), "{told:?}");
        }
    }

    #[test]
    fn what_was_being_done_comes_first_and_nothing_comes_twice() {
        let error = api(404, "NotFound", "\"a\" not found").context("cluster a cannot be read");
        assert_eq!(
            told(&error).sentence,
            "cluster a cannot be read: \"a\" not found: look at the name and at --namespace"
        );
        let failure = anyhow::Error::from(Failure::retry(std::io::Error::other("socket closed")));
        assert_eq!(
            told(&failure),
            Told {
                sentence: "socket closed".to_owned(),
                exit_code: 4
            }
        );
        let within = Err::<(), _>(Failure::from(kube::Error::Api(
            Status::failure("no", "Forbidden").with_code(403).boxed(),
        )));
        let told = told(&within.context("set up").unwrap_err());
        assert_eq!(
            (told.exit_code, told.sentence.starts_with("set up: no: ask")),
            (1, true),
            "{told:?}"
        );
    }

    #[test]
    fn the_codes_of_the_help_are_those_of_the_table() {
        for disposition in Disposition::ALL {
            let code = disposition.meaning().exit_code;
            assert!(EXIT_CODES.contains(&format!("\n  {code}  ")), "{code}");
        }
        assert!(EXIT_CODES.lines().all(|line| line.len() <= 80));
    }
}
