//! How a command fails: one sentence that says what to do, and one exit code, both by the one table of failures. Owns how
//! answers of API servers and silent ones are told to people. Pure.

use std::{
    error::Error as StdError,
    fmt::{self, Display, Formatter},
};

use hyperplane_runtime::{Disposition, Failure};
use kube::core::Status;

/// The codes, for the help.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  failed: a defect, or a permission that is missing
  2  wrong use: an argument, a file or an object breaks a rule, or is taken
  3  looked at and not good, or not there in time: something else has to happen
  4  the cluster did not answer, or was busy: try again";

/// What is printed of a failure, and how the process ends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) sentence: String,
    pub(crate) exit_code: u8,
}

/// What to do about something that must never happen.
pub(crate) const DEFECT: &str = "this is a mistake of ours: please report it, with the log (RUST_LOG=debug says more)";

/// A failure whose words are in the order in which people read them, what to do last, and its row of the table. Causes are
/// in the words already: one that came below would be told after what to do.
#[derive(Debug)]
struct Sentence {
    words: String,
    disposition: Disposition,
}

impl Display for Sentence {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.words)
    }
}

impl StdError for Sentence {}

/// A mistake of whoever typed the command: what, the rule that it breaks, and what to do.
pub(crate) fn wrong_use(what: impl Into<String>, rule: impl Into<String>, remedy: impl Into<String>) -> anyhow::Error {
    Failure::user(what, rule, remedy).into()
}

/// Several mistakes in what a file holds, a line each. Every one of them says what to write instead.
pub(crate) fn wrong_content(what: impl Display, mistakes: impl IntoIterator<Item = impl Display>) -> anyhow::Error {
    let lines: Vec<String> = mistakes.into_iter().map(|mistake| format!("\n  {mistake}")).collect();
    let words = format!("{what}:{}\nCorrect what is named.", lines.concat());
    let disposition = Disposition::User;
    Sentence { words, disposition }.into()
}

/// Two wrong uses, told at once.
pub(crate) fn both(one: &anyhow::Error, other: &anyhow::Error) -> anyhow::Error {
    let words = format!("{}\nerror: {}", told(one).sentence, told(other).sentence);
    let disposition = Disposition::User;
    Sentence { words, disposition }.into()
}

/// Something that failed and that no other use of the command would mend: what, why, and what to do.
pub(crate) fn failed(what: impl Display, cause: impl Display, remedy: impl Display) -> anyhow::Error {
    let words = format!("{what}: {cause}; {remedy}");
    let disposition = Disposition::Fatal;
    Sentence { words, disposition }.into()
}

/// What an error of a library of ours says, as a failure of a row of the table. Many of them say what to do themselves, as
/// `what: what to do`, and have causes below them: those go in between. Where one says nothing of that, `otherwise` does.
pub(crate) fn in_order(
    disposition: Disposition,
    what: impl Display,
    error: &(dyn StdError + 'static),
    otherwise: &str,
) -> anyhow::Error {
    let own = error.to_string();
    let causes: Vec<String> = anyhow::Chain::new(error).skip(1).map(ToString::to_string).collect();
    let causes = causes.join(": ");
    let words = match (own.rsplit_once(": "), causes.is_empty()) {
        (Some(_), true) => format!("{what}: {own}"),
        (Some((own, remedy)), false) => format!("{what}: {own}: {causes}; {remedy}"),
        (None, true) => format!("{what}: {own}; {otherwise}"),
        (None, false) => format!("{what}: {own}: {causes}; {otherwise}"),
    };
    Sentence { words, disposition }.into()
}

/// Something that did not come in time: what it was.
pub(crate) fn not_yet(what: impl Into<String>) -> anyhow::Error {
    Failure::wait(what).into()
}

/// Tells a failure. What was being done comes first, then why it failed, then what to do.
pub(crate) fn told(error: &anyhow::Error) -> Told {
    let mut words = Vec::new();
    let mut disposition = Disposition::Fatal;
    let mut remedy = "";
    for cause in error.chain() {
        if let Some(failure) = cause.downcast_ref::<Failure>() {
            disposition = failure.disposition();
            remedy = match failure {
                Failure::Retry(_) => "; try again in a while",
                _ => "",
            };
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
            remedy = "";
            break;
        }
        if let Some(sentence) = cause.downcast_ref::<Sentence>() {
            disposition = sentence.disposition;
            remedy = "";
        }
        words.push(cause.to_string());
    }
    Told {
        sentence: format!("{}{remedy}", words.join(": ")),
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
        kube::Error::RustlsTls(_) => (
            Disposition::User,
            format!(
                "the kubeconfig cannot be used: {}; correct the certificates and the key in it",
                innermost(error)
            ),
        ),
        // The address of a proxy may hold a password.
        kube::Error::ProxyProtocolUnsupported { .. } | kube::Error::ProxyProtocolDisabled { .. } => (
            Disposition::User,
            "the proxy cannot be used: name one that speaks HTTP in proxy-url of the kubeconfig, or in HTTPS_PROXY"
                .to_owned(),
        ),
        _ => (Disposition::Fatal, format!("{error}; {DEFECT}")),
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
            (
                failed("a.yaml cannot be written", "no room", "make some"),
                1,
                "a.yaml cannot be written: no room; make some",
            ),
            (
                wrong_content("a.yaml is no state", ["b: is a number", "c: is none"]),
                2,
                "a.yaml is no state:\n  b: is a number\n  c: is none\nCorrect what is named.",
            ),
            (
                kube::Error::RustlsTls(kube::client::RustlsTlsError::MissingCertificate).into(),
                2,
                "identity PEM is missing certificate; correct the certificates and the key in it",
            ),
            (
                kube::Error::LinesCodecMaxLineLengthExceeded.into(),
                1,
                "Error finding newline character; this is a mistake of ours: please report it",
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
                sentence: "socket closed; try again in a while".to_owned(),
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

    /// An error of a library, with or without something below it.
    #[derive(Debug)]
    struct Library(&'static str, Option<std::io::Error>);

    impl Display for Library {
        fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
            formatter.write_str(self.0)
        }
    }

    impl StdError for Library {
        fn source(&self) -> Option<&(dyn StdError + 'static)> {
            self.1.as_ref().map(|source| source as &(dyn StdError + 'static))
        }
    }

    #[test]
    fn what_to_do_comes_last_whoever_says_it() {
        let full = || Some(std::io::Error::other("no space"));
        for (error, words) in [
            (
                Library("the log: free space", full()),
                "stopped: the log: no space; free space",
            ),
            (Library("it is taken: stop it", None), "stopped: it is taken: stop it"),
            (Library("reading a", full()), "stopped: reading a: no space; see fsck"),
            (Library("nothing there", None), "stopped: nothing there; see fsck"),
        ] {
            let error = in_order(Disposition::User, "stopped", &error, "see fsck").context("up");
            let expected = Told {
                sentence: format!("up: {words}"),
                exit_code: 2,
            };
            assert_eq!(told(&error), expected);
        }
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
