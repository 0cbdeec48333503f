//! What can be wrong with the text of a version, said so that its author can mend it.

use super::{Scheme, grammar::TEXT_LIMIT};

/// How much of a text is shown of one that is too long to be a version at all.
const SHOWN_OF_TOO_LONG: usize = 32;

/// A text that is not a version of its scheme. Always a mistake of whoever wrote it: trying again does not help.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{text:?} is not a version of {scheme}: {problem}; write it like {}", scheme.example())]
pub struct VersionError {
    scheme: Scheme,
    text: String,
    problem: Problem,
}

impl VersionError {
    pub(super) fn new(scheme: Scheme, text: &str, problem: Problem) -> Self {
        let text = match problem {
            Problem::TooLong { .. } => text.chars().take(SHOWN_OF_TOO_LONG).chain(['…']).collect(),
            _ => text.to_owned(),
        };
        Self { scheme, text, problem }
    }
}

#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(super) enum Problem {
    #[error("it is empty")]
    Empty,
    #[error("it has {length} characters, and {TEXT_LIMIT} are allowed")]
    TooLong { length: usize },
    #[error("{character:?} is not allowed, only letters, digits, \".\", \"-\" and \"+\" are")]
    UnknownCharacter { character: char },
    #[error("it has more than one \"+\"")]
    SecondPlus,
    #[error("the {part} is missing")]
    Missing { part: &'static str },
    #[error("the {part} {found:?} is not a number")]
    NotANumber { part: &'static str, found: String },
    #[error("the {part} {found:?} begins with a zero")]
    LeadingZero { part: &'static str, found: String },
    #[error("the {part} {found} is too large, {limit} is the largest")]
    TooLarge {
        part: &'static str,
        found: String,
        limit: u64,
    },
    #[error("there is {found:?} after major, minor and patch")]
    TooManyNumbers { found: String },
    #[error("there is an empty part after \"{sign}\"")]
    EmptyIdentifier { sign: char },
    #[error("the major {major} does not exist, 4 and 5 do")]
    WrongMajor { major: u64 },
    #[error("{found:?} after {word:?} is not a number")]
    NoCounter { word: &'static str, found: String },
}
