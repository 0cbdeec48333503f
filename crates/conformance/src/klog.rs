//! The logs of Go programs of Kubernetes (klog's text format): which errors they tell, in a form in which two runs can be
//! compared. Knows no message of any program.

use std::{collections::BTreeSet, sync::LazyLock};

use regex::Regex;

/// The head of an entry: severity, month and day, time, process, file and line.
static HEAD: LazyLock<Regex> =
    LazyLock::new(|| compile(r"^([IWEF])\d{4} \d{2}:\d{2}:\d{2}\.\d{6}\s+\d+ ([^\s:]+):\d+\] (.*)$"));

/// What differs from run to run, and what stands in its place. Names that a server completes end in letters of its
/// choice (apimachinery, util/rand), those of replica sets in two groups of them.
static VARIABLES: LazyLock<[(Regex, &str); 5]> = LazyLock::new(|| {
    let letters = "[bcdfghjklmnpqrstvwxz2456789]";
    [
        (
            compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
            "UID",
        ),
        // Names of events end in the time of the first.
        (compile(r"\.[0-9a-f]{16}\b"), ".TIME"),
        (compile(r"\d+\.\d+\.\d+\.\d+(:\d+)?"), "ADDRESS"),
        (compile(&format!(r"-{letters}{{5,10}}(-{letters}{{5}})?\b")), "-RANDOM"),
        (compile(r"\d+"), "N"),
    ]
});

/// The errors that a log tells: of each its file and its text, without what differs from run to run. What follows an
/// entry without a head, such as a stack, belongs to it and is left out; a panic that no entry announces is an error.
pub fn errors(log: &str) -> BTreeSet<String> {
    log.lines().filter_map(error).collect()
}

fn error(line: &str) -> Option<String> {
    let Some(head) = HEAD.captures(line) else {
        return line.starts_with("panic: ").then(|| without_variables(line));
    };
    let is_error = matches!(&head[1], "E" | "F");
    is_error.then(|| format!("{}: {}", &head[2], without_variables(&head[3])))
}

fn without_variables(text: &str) -> String {
    VARIABLES.iter().fold(text.to_owned(), |text, (pattern, word)| {
        pattern.replace_all(&text, *word).into_owned()
    })
}

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the patterns of this module are constants; its tests compile them")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_two_runs_are_alike() {
        let first = r#"I1119 21:46:37.000001   12 serving.go:380] Generated self-signed cert
E1119 21:46:37.123456   12345 replica_set.go:587] "Unhandled Error" err="pods \"web-6d4cf56db6-x2b4k\" not found, event web.18e9920cd59342d3, uid 6f1c9f3e-0000-4000-8000-000000000001"
E1119 21:46:38.000000   12345 reflector.go:227] "Failed to watch" err="dial tcp 127.0.0.1:6443: connect: connection refused"
goroutine 1 [running]:
"#;
        let second = r#"E0101 00:00:00.000000       1 replica_set.go:590] "Unhandled Error" err="pods \"web-75b9c54f99-zz7wq\" not found, event web.18e9920cd5aaaaaa, uid 6f1c9f3e-1111-4000-8000-000000000009"
E0101 00:00:00.000000       1 reflector.go:227] "Failed to watch" err="dial tcp 127.0.0.1:41231: connect: connection refused"
W0101 00:00:00.000000       1 reflector.go:227] only a warning
"#;
        assert_eq!(errors(first), errors(second));
        assert_eq!(
            errors(first).first().map(String::as_str),
            Some(r#"reflector.go: "Failed to watch" err="dial tcp ADDRESS: connect: connection refused""#)
        );
    }

    #[test]
    fn a_panic_is_an_error() {
        assert_eq!(errors("panic: no luck 7\n"), ["panic: no luck N".to_owned()].into());
    }
}
