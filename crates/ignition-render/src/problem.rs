//! Something that is wrong with what a user wrote: where, and what to write instead.

use std::fmt;

/// Something that is wrong. It never quotes a value, except words of which a list of allowed ones exists.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// In what: a ConfigMap and a document of it, or a part of the cluster; empty where that is plain.
    pub place: String,
    /// Where in it, such as `spec.config.storage.files[0].path`; empty means all of it.
    pub path: String,
    /// What is wrong, and what to do.
    pub problem: String,
}

impl Problem {
    /// A problem somewhere.
    pub fn new(place: impl Into<String>, path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            path: path.into(),
            problem: problem.into(),
        }
    }

    /// The same, seen from outside: in a place, under a path.
    pub(crate) fn within(self, place: &str, path: &str) -> Self {
        let joined = match (path.is_empty(), self.path.is_empty()) {
            (true, _) => self.path,
            (false, true) => path.to_owned(),
            (false, false) => format!("{path}.{}", self.path),
        };
        Self {
            place: place.to_owned(),
            path: joined,
            problem: self.problem,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in [&self.place, &self.path] {
            if !part.is_empty() {
                write!(formatter, "{part}: ")?;
            }
        }
        formatter.write_str(&self.problem)
    }
}

impl std::error::Error for Problem {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_say_where() {
        let problem = Problem::new("", "path", "must be absolute");
        assert_eq!(problem.to_string(), "path: must be absolute");
        let outside = problem.within("ConfigMap one, document 2", "spec.config");
        assert_eq!(
            outside.to_string(),
            "ConfigMap one, document 2: spec.config.path: must be absolute"
        );
        let whole = Problem::new("", "", "is missing").within("", "spec");
        assert_eq!(whole.to_string(), "spec: is missing");
    }
}
