//! What is left of something that goes, as text. Pure.

use std::fmt::Write as _;

use crate::printing::paragraph;

/// The most names that are told; of more, the rest is counted.
const MOST_NAMES: usize = 6;

/// What is left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Remaining {
    /// What goes.
    pub(super) what: String,
    /// Who has to clean up before it may go.
    pub(super) finalizers: Vec<String>,
    /// Its node pools.
    pub(super) pools: Vec<String>,
    /// Its machines.
    pub(super) machines: Vec<String>,
    /// The namespace of its control plane, with its phase.
    pub(super) namespace: Option<(String, String)>,
    /// The components in it.
    pub(super) components: Vec<String>,
    /// Why it waits, in the words of its operators.
    pub(super) message: Option<String>,
}

impl Remaining {
    /// Some lines for people.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        paragraph(&mut text, "", &format!("Waiting until {} is gone. Left:", self.what));
        for (title, names) in [
            ("node pools", &self.pools),
            ("machines", &self.machines),
            ("components", &self.components),
            ("finalizers", &self.finalizers),
        ] {
            if !names.is_empty() {
                paragraph(&mut text, "  ", &format!("{title}: {}", some(names)));
            }
        }
        if let Some((name, phase)) = &self.namespace {
            paragraph(&mut text, "  ", &format!("namespace: {name} ({phase})"));
        }
        if let Some(message) = &self.message {
            paragraph(&mut text, "  ", message);
        }
        text
    }
}

fn some(names: &[String]) -> String {
    let mut text = names
        .iter()
        .take(MOST_NAMES)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > MOST_NAMES {
        write!(text, " and {} more", names.len() - MOST_NAMES).expect("a string takes everything");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_is_left_is_told_in_lines_that_fit() {
        let names = |count: usize| (0..count).map(|number| format!("name-{number}")).collect();
        let left = Remaining {
            what: "cluster blue".to_owned(),
            finalizers: vec!["hypershift.openshift.io/finalizer".to_owned()],
            pools: names(2),
            machines: names(100),
            namespace: Some(("clusters-blue".to_owned(), "Terminating".to_owned())),
            components: names(23),
            message: Some("a word ".repeat(30)),
        };
        let text = left.text();
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        for words in [
            "until cluster blue is gone",
            "node pools: name-0, name-1\n",
            "and 94 more",
            "clusters-blue (Terminating)",
            "finalizers: hypershift.openshift.io/finalizer",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }
}
