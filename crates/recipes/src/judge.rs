//! Collects everything that is wrong with flags, so that users are told once.

use std::{fmt, str::FromStr};

use hyperplane_api::text::InvalidText;

/// A flag that asks for what cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{flag}: {rule}")]
pub struct Problem {
    /// The flag, with its dashes; the path of a field where no single flag is at fault.
    pub flag: String,
    /// The rule that it breaks, and what to write instead.
    pub rule: String,
}

/// What was found so far.
#[derive(Debug, Default)]
pub(crate) struct Judge {
    pub(crate) problems: Vec<Problem>,
    /// What users should know and nobody refuses.
    pub(crate) notes: Vec<String>,
}

impl Judge {
    /// Something is wrong with a flag.
    pub(crate) fn wrong(&mut self, flag: impl Into<String>, rule: impl Into<String>) {
        let problem = Problem {
            flag: flag.into(),
            rule: rule.into(),
        };
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// Something that users should know.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// A word of a closed set, kept as it is where it is none: what is built with it is thrown away.
    pub(crate) fn word<T>(&mut self, flag: &str, text: &str) -> T
    where
        T: FromStr<Err = InvalidText> + for<'a> From<&'a str>,
    {
        self.check::<T>(flag, text);
        T::from(text)
    }

    /// A text with rules.
    pub(crate) fn text<T>(&mut self, flag: &str, text: &str, stored: fn(String) -> T) -> T
    where
        T: FromStr<Err = InvalidText>,
    {
        self.check::<T>(flag, text);
        stored(text.to_owned())
    }

    /// A text with rules, where there is one.
    pub(crate) fn optional<T>(&mut self, flag: &str, text: Option<&str>) -> Option<T>
    where
        T: FromStr<Err = InvalidText>,
    {
        let text = text?;
        self.check::<T>(flag, text);
        text.parse().ok()
    }

    /// Complaints about a text in Kubernetes' own words.
    pub(crate) fn complaints(&mut self, flag: &str, text: &str, complaints: &[String]) {
        for complaint in complaints {
            self.wrong(flag, format!("{text:?}: {complaint}"));
        }
    }

    /// What stands in for a text that was refused before is not refused once more.
    fn check<T: FromStr<Err = InvalidText>>(&mut self, flag: &str, text: &str) {
        if text.is_empty() && self.problems.iter().any(|problem| problem.flag == flag) {
            return;
        }
        if let Err(InvalidText { text, rule, .. }) = text.parse::<T>() {
            self.wrong(flag, format!("{text:?} {rule}"));
        }
    }
}

/// Some words in a sentence.
pub(crate) fn list<T: fmt::Display>(words: impl IntoIterator<Item = T>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| word.to_string()).collect();
    words.join(", ")
}
