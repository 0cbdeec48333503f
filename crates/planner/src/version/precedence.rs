//! Where a version stands: every scheme translates what it wrote into one list of marks, and the marks have one order.
//! So there is one comparison for all schemes, and it is a total order because the order of lists is.

use super::{
    Scheme,
    error::Problem,
    grammar::{Parts, is_digits, number},
};

/// OpenShift went from 4.22 to 5.0 and builds 4.23 and 5.0 from the same source: 5.y is 4.(23+y).
const OPENSHIFT_MAJOR_OFFSET: u64 = 23;

/// The words by which a rebuild, or a release of ACP, says that it is not finished. All other words are names of
/// rebuilds. Words that could be the beginning of a commit in hexadecimal digits are left out.
const UNFINISHED: [&str; 16] = [
    "alpha",
    "beta",
    "canary",
    "ci",
    "daily",
    "dev",
    "devel",
    "nightly",
    "pr",
    "pre",
    "prerelease",
    "preview",
    "rc",
    "snapshot",
    "test",
    "unstable",
];

/// The rank of a version: its numbers, then what stands behind them.
#[derive(Clone, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Precedence {
    major: u64,
    minor: u64,
    patch: u64,
    marks: Vec<Mark>,
}

impl Precedence {
    pub(super) fn of(scheme: Scheme, parts: &Parts<'_>) -> Result<Self, Problem> {
        let (major, minor) = match (scheme, parts.major) {
            (Scheme::OpenShift, 5) => (4, parts.minor + OPENSHIFT_MAJOR_OFFSET),
            _ => (parts.major, parts.minor),
        };
        let mut marks = Vec::new();
        match scheme {
            Scheme::Kubernetes | Scheme::OpenShift => pre_release(parts.suffix, &mut marks)?,
            Scheme::Acp => rebuild(parts.suffix.unwrap_or_default(), &mut marks)?,
            Scheme::K0s => counted("k0s", parts, &mut marks)?,
            Scheme::Gke => counted("gke", parts, &mut marks)?,
        }
        marks.push(Mark::End);
        Ok(Self {
            major,
            minor,
            patch: parts.patch,
            marks,
        })
    }

    /// Major and minor, with the two names of one OpenShift minor made one.
    pub(super) fn minor(&self) -> (u64, u64) {
        (self.major, self.minor)
    }

    pub(super) fn is_pre_release(&self) -> bool {
        self.marks.contains(&Mark::Before)
    }
}

/// A step away from the bare numbers. The order of the variants is the whole order: what is unfinished comes before the
/// end of the text, and what was rebuilt after it. A rebuild of a pre-release still comes before the next pre-release,
/// so it is less than any further identifier. Among identifiers numbers come before words, as SemVer has it.
#[derive(Clone, Eq, Ord, PartialEq, PartialOrd)]
enum Mark {
    /// What follows is a pre-release of what went before.
    Before,
    /// Nothing follows. Ends every list.
    End,
    /// What follows is a rebuild of what went before.
    After,
    Number(u64),
    Word(String),
}

impl Mark {
    fn of(identifier: &str) -> Result<Self, Problem> {
        if is_digits(identifier) {
            Ok(Self::Number(number("number", identifier, u64::MAX)?))
        } else {
            Ok(Self::Word(identifier.to_owned()))
        }
    }
}

/// SemVer's reading of a suffix.
fn pre_release(suffix: Option<&str>, marks: &mut Vec<Mark>) -> Result<(), Problem> {
    let Some(suffix) = suffix else {
        return Ok(());
    };
    marks.push(Mark::Before);
    for identifier in suffix.split('.') {
        marks.push(Mark::of(identifier)?);
    }
    Ok(())
}

/// A pre-release as in SemVer, and behind it, after a dash or a plus, a counter of rebuilds under a vendor's word.
fn counted(word: &'static str, parts: &Parts<'_>, marks: &mut Vec<Mark>) -> Result<(), Problem> {
    match parts.suffix.and_then(|suffix| find_counter(word, suffix)) {
        Some((suffix, counter)) => {
            pre_release(suffix, marks)?;
            count(word, counter, marks)?;
        }
        None => pre_release(parts.suffix, marks)?,
    }
    if let Some((None, counter)) = parts.build.and_then(|build| find_counter(word, build)) {
        count(word, counter, marks)?;
    }
    Ok(())
}

/// Cuts `rc.1-k0s.0` into `rc.1` and `0`. A counter may stand right behind its word, as in `k0s1`.
fn find_counter<'a>(word: &str, text: &'a str) -> Option<(Option<&'a str>, &'a str)> {
    let starts = text.match_indices('-').map(|(dash, _)| dash + 1);
    std::iter::once(0).chain(starts).find_map(|start| {
        let counter = text[start..].strip_prefix(word)?;
        let ends = counter.is_empty() || counter.starts_with(|next: char| next.is_ascii_digit() || ".-".contains(next));
        let before = start.checked_sub(1).map(|dash| &text[..dash]);
        ends.then(|| (before, counter.trim_start_matches(['.', '-'])))
    })
}

/// Kubelets of k0s report `+k0s` without a number: that tells who built it, and is no rebuild.
fn count(word: &'static str, counter: &str, marks: &mut Vec<Mark>) -> Result<(), Problem> {
    if !counter.is_empty() && !counter.starts_with(|first: char| first.is_ascii_digit()) {
        let found = counter.to_owned();
        return Err(Problem::NoCounter { word, found });
    }
    rebuild(counter, marks)
}

/// A rebuild, as free in its form as those who name them: `3`, `acp.1`, `251215`, `v4.0.20`. Dots and dashes separate
/// alike, and digits are numbers wherever they stand. An unfinished rebuild (`3-rc.1`) comes before the rebuild, and a
/// text that begins unfinished (`rc.1`) is a pre-release of the release.
fn rebuild(text: &str, marks: &mut Vec<Mark>) -> Result<(), Problem> {
    let mut is_first = true;
    let mut is_unfinished = false;
    for token in text.split(['.', '-']).filter(|token| !token.is_empty()) {
        if !is_unfinished && begins_unfinished(token) {
            is_unfinished = true;
            marks.push(Mark::Before);
        } else if is_first {
            marks.push(Mark::After);
        }
        is_first = false;
        for run in runs(token) {
            marks.push(Mark::of(run)?);
        }
    }
    Ok(())
}

fn begins_unfinished(token: &str) -> bool {
    runs(token)
        .next()
        .is_some_and(|word| UNFINISHED.iter().any(|known| word.eq_ignore_ascii_case(known)))
}

/// A text in its runs of digits and of anything else: `rc10` is `rc` and `10`, so that it comes after `rc9`.
fn runs(text: &str) -> impl Iterator<Item = &str> {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    text.as_bytes()
        .chunk_by(move |left, right| is_digit(left) == is_digit(right))
        .scan(0, |start, run| {
            let begin = *start;
            *start += run.len();
            Some(begin..*start)
        })
        .map(|range| &text[range])
}
