//! The one type for a version: what was written, by whose rules it was read, and where it stands in their order. It
//! knows nothing of releases, channels or policies, and never repairs a text: what it cannot read it refuses.
//!
//! The same characters mean different things to different distributions. In SemVer `v1.33.7-3` comes before `v1.33.7`;
//! in ACP it is the third rebuild of it. So a text is always read by a [`Scheme`], and the reading is done once.

mod error;
mod grammar;
mod precedence;
mod scheme;
#[cfg(test)]
mod tests;

use std::{
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
};

use serde::{Serialize, Serializer};

use self::precedence::Precedence;
pub use self::{
    error::VersionError,
    grammar::{MAJOR_LIMIT, MINOR_LIMIT, TEXT_LIMIT},
    scheme::{Scheme, SchemeError},
};

/// What one major adds to the [generation](Version::generation); a minor always stays below it.
const GENERATIONS_IN_MAJOR: u64 = MINOR_LIMIT + 1;

/// A version as it was written, read by the rules of its scheme.
///
/// Two versions are equal when scheme and text are, so that a version is a safe key of a map and prints as its author
/// wrote it. Policies ask for [`precedence`](Version::precedence) instead, to which `v1.31.3+k0s.0` and `1.31.3-k0s.0`
/// are one version. The order is by scheme, then by precedence, then by text.
#[derive(Clone)]
pub struct Version {
    scheme: Scheme,
    text: String,
    major: u64,
    minor: u64,
    patch: u64,
    precedence: Precedence,
}

impl Version {
    /// Reads a text by the rules of a scheme. A leading `v` is optional, a missing patch is zero.
    pub fn parse(scheme: Scheme, text: &str) -> Result<Self, VersionError> {
        let read = || {
            let parts = grammar::split(scheme, text)?;
            let precedence = Precedence::of(scheme, &parts)?;
            Ok((parts, precedence))
        };
        let (parts, precedence) = read().map_err(|problem| VersionError::new(scheme, text, problem))?;
        Ok(Self {
            scheme,
            text: text.to_owned(),
            major: parts.major,
            minor: parts.minor,
            patch: parts.patch,
            precedence,
        })
    }

    /// The scheme by which the text was read.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The text as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The version as statuses hold it: it begins with a number.
    pub fn number(&self) -> &str {
        self.as_str().trim_start_matches('v')
    }

    /// The major as it was written: 5 in OpenShift's `5.0.3`.
    pub fn major(&self) -> u64 {
        self.major
    }

    /// The minor as it was written: 0 in OpenShift's `5.0.3`.
    pub fn minor(&self) -> u64 {
        self.minor
    }

    /// The patch, zero where none was written.
    pub fn patch(&self) -> u64 {
        self.patch
    }

    /// The number by which minors are compared and counted: two versions whose generations differ by one are one minor
    /// apart. It never falls from a version to a later one of its scheme.
    ///
    /// In OpenShift 4.y is y and 5.y is 23+y. Elsewhere major 1 counts its minors (1.36 is 36) and x.y of a later major
    /// is 1000·x+y, so that a step from one major to the next is never taken for a step to the next minor (no major
    /// comes near its 999th). Everything of major 0 is 0, as there is no room below 1.0: whoever must tell 0.15 from
    /// 0.16 asks [`same_minor`](Version::same_minor).
    pub fn generation(&self) -> u64 {
        let (major, minor) = self.precedence.minor();
        match (self.scheme, major) {
            (_, 0) => 0,
            (Scheme::OpenShift, _) | (_, 1) => minor,
            _ => major * GENERATIONS_IN_MAJOR + minor,
        }
    }

    /// Whether both are patches of one minor. OpenShift's 5.0 and 4.23 are one minor under two names.
    pub fn same_minor(&self, other: &Self) -> bool {
        self.precedence.minor() == other.precedence.minor()
    }

    /// Which of two versions is the later one, as policies see it. Build metadata, a leading `v`, architectures and
    /// spellings of the same release do not count; OpenShift's 5.0.3 and 4.23.3 are equal.
    ///
    /// Versions of different schemes are compared by what their own schemes made of them. That is right between the
    /// distributions that keep the numbers of Kubernetes, and means nothing between these and OpenShift.
    pub fn precedence(&self, other: &Self) -> Ordering {
        self.precedence.cmp(&other.precedence)
    }

    /// Whether this comes before the release, or before the rebuild, that it is named after.
    pub fn is_pre_release(&self) -> bool {
        self.precedence.is_pre_release()
    }

    /// Major and minor as they were written, without anything around them: `1.36`, `5.0`.
    pub fn minor_text(&self) -> String {
        format!("{}.{}", self.major, self.minor)
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.scheme == other.scheme && self.text == other.text
    }
}

impl Eq for Version {}

impl Hash for Version {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.scheme.hash(state);
        self.text.hash(state);
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.scheme
            .cmp(&other.scheme)
            .then_with(|| self.precedence(other))
            .then_with(|| self.text.cmp(&other.text))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.text)
    }
}

/// Scheme and text say everything; what was read from them would bury it.
impl fmt::Debug for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Version({} {:?})", self.scheme, self.text)
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}
