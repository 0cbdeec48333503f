//! Versions: the document of `/version`, and the order in which versions of a group are listed (apimachinery,
//! version/helpers.go).

use std::cmp::{Ordering, Reverse};

use serde::Serialize;

/// What `/version` says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionInfo {
    /// The major version.
    pub major: String,
    /// The minor version.
    pub minor: String,
    /// The major version of the API that is served, which upstream can set apart from that of the program.
    pub emulation_major: String,
    /// Its minor version.
    pub emulation_minor: String,
    /// The major version of the oldest clients and storage that it gets along with.
    pub min_compatibility_major: String,
    /// Its minor version.
    pub min_compatibility_minor: String,
    /// The version that clients parse, such as `v1.36.4+hyperplane`.
    pub git_version: String,
    /// The commit.
    pub git_commit: String,
    /// `clean` or `dirty`.
    pub git_tree_state: String,
    /// When it was built, in RFC 3339.
    pub build_date: String,
    /// The language it is written in and its version.
    pub go_version: String,
    /// The compiler.
    pub compiler: String,
    /// The operating system and architecture.
    pub platform: String,
}

/// Orders versions as discovery lists them: `v2`, `v1`, `v2beta1`, `v1beta2`, `v1alpha1`, and then everything that is
/// no such version, by the alphabet.
pub fn compare(left: &str, right: &str) -> Ordering {
    match (Kube::parse(left), Kube::parse(right)) {
        (Some(left), Some(right)) => right.cmp(&left),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => left.cmp(right),
    }
}

/// A version, the better the greater.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Kube {
    stage: Stage,
    major: u64,
    minor: u64,
    /// Leading zeros are no numbers, but must not make two texts equal.
    text: Reverse<String>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Alpha,
    Beta,
    Stable,
}

impl Kube {
    fn parse(text: &str) -> Option<Self> {
        let (major, rest) = leading_number(text.strip_prefix('v')?)?;
        let (stage, rest) = if rest.is_empty() {
            (Stage::Stable, "")
        } else if let Some(rest) = rest.strip_prefix("beta") {
            (Stage::Beta, rest)
        } else {
            (Stage::Alpha, rest.strip_prefix("alpha")?)
        };
        let minor = match (&stage, leading_number(rest)) {
            (Stage::Stable, _) => 0,
            (_, Some((minor, ""))) => minor,
            _ => return None,
        };
        Some(Self {
            stage,
            major,
            minor,
            text: Reverse(text.to_owned()),
        })
    }
}

fn leading_number(text: &str) -> Option<(u64, &str)> {
    let end = text
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    digits.parse().ok().map(|number| (number, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_listed_best_first() {
        let expected = [
            "v10",
            "v2",
            "v1",
            "v11beta2",
            "v10beta3",
            "v3beta1",
            "v12alpha1",
            "v11alpha2",
            "foo1",
            "foo10",
            "v1gamma1",
        ];
        let mut versions = expected;
        versions.reverse();
        versions.sort_by(|left, right| compare(left, right));
        assert_eq!(versions, expected);
    }

    #[test]
    fn the_document_has_the_names_that_clients_read() {
        let info = VersionInfo {
            major: "1".to_owned(),
            minor: "36".to_owned(),
            emulation_major: "1".to_owned(),
            emulation_minor: "36".to_owned(),
            min_compatibility_major: "1".to_owned(),
            min_compatibility_minor: "35".to_owned(),
            git_version: "v1.36.4+x".to_owned(),
            git_commit: "c".to_owned(),
            git_tree_state: "clean".to_owned(),
            build_date: "1970-01-01T00:00:00Z".to_owned(),
            go_version: "none".to_owned(),
            compiler: "rustc".to_owned(),
            platform: "linux/amd64".to_owned(),
        };
        let document = serde_json::to_value(&info).unwrap();
        for name in [
            "major",
            "minor",
            "emulationMajor",
            "emulationMinor",
            "minCompatibilityMajor",
            "minCompatibilityMinor",
            "gitVersion",
            "gitCommit",
            "gitTreeState",
            "buildDate",
            "goVersion",
            "compiler",
            "platform",
        ] {
            assert!(document[name].is_string(), "{name}");
        }
    }
}
