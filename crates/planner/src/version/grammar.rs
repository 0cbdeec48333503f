//! The shape that all schemes share: numbers, what follows a dash, what follows a plus. What these mean for the order
//! is not decided here.

use super::{Scheme, error::Problem};

/// The longest text that is read. Versions end up in labels and names, which hold half of this; what is longer is some
/// other text that ended up here by mistake.
pub const TEXT_LIMIT: usize = 128;

/// The largest major. Dates serve as majors somewhere, and eight digits hold a date.
pub const MAJOR_LIMIT: u64 = 99_999_999;

/// The largest minor, so that majors and minors fit into one number with room between the majors.
pub const MINOR_LIMIT: u64 = 999;

/// The majors of OpenShift. Old update graphs have a node `0.0.0`.
const OPENSHIFT_MAJORS: [u64; 3] = [0, 4, 5];

/// The ends by which releases of OpenShift were and images of it still are told apart. They say for which machine a
/// release is, not which release it is.
const ARCHITECTURES: [&str; 8] = [
    "amd64", "x86_64", "arm64", "aarch64", "ppc64le", "s390x", "riscv64", "multi",
];

/// A version in pieces, before its scheme ranks it.
pub(super) struct Parts<'a> {
    pub(super) major: u64,
    pub(super) minor: u64,
    pub(super) patch: u64,
    /// What follows the first dash; for OpenShift without the architecture.
    pub(super) suffix: Option<&'a str>,
    /// What follows the plus.
    pub(super) build: Option<&'a str>,
}

pub(super) fn split(scheme: Scheme, text: &str) -> Result<Parts<'_>, Problem> {
    if text.is_empty() {
        return Err(Problem::Empty);
    }
    let length = text.chars().count();
    if length > TEXT_LIMIT {
        return Err(Problem::TooLong { length });
    }
    let (release, build) = cut(text.strip_prefix('v').unwrap_or(text), '+');
    let (numbers, suffix) = cut(release, '-');
    let suffix = match scheme {
        Scheme::OpenShift => suffix.and_then(without_architecture),
        _ => suffix,
    };
    check_characters(numbers)?;
    if let Some(suffix) = suffix {
        check_characters(suffix)?;
        check_suffix(suffix)?;
    }
    if let Some(build) = build {
        check_build(build)?;
    }
    let (major, minor, patch) = split_numbers(numbers)?;
    if scheme == Scheme::OpenShift && !OPENSHIFT_MAJORS.contains(&major) {
        return Err(Problem::WrongMajor { major });
    }
    Ok(Parts {
        major,
        minor,
        patch,
        suffix,
        build,
    })
}

/// Digits as a number no larger than a limit. Zeros at the front are the caller's business.
pub(super) fn number(part: &'static str, digits: &str, limit: u64) -> Result<u64, Problem> {
    // The digits are only digits, so the one way to fail is to be too large.
    digits
        .parse()
        .ok()
        .filter(|value| *value <= limit)
        .ok_or_else(|| Problem::TooLarge {
            part,
            found: digits.to_owned(),
            limit,
        })
}

pub(super) fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn cut(text: &str, sign: char) -> (&str, Option<&str>) {
    match text.split_once(sign) {
        Some((before, after)) => (before, Some(after)),
        None => (text, None),
    }
}

/// The suffix without the architectures at its end; two of them stand in names such as `multi-x86_64`.
fn without_architecture(suffix: &str) -> Option<&str> {
    if ARCHITECTURES.contains(&suffix) {
        return None;
    }
    match suffix.rsplit_once('-') {
        Some((before, last)) if ARCHITECTURES.contains(&last) => without_architecture(before),
        _ => Some(suffix),
    }
}

fn check_characters(text: &str) -> Result<(), Problem> {
    let is_allowed = |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '-');
    match text.chars().find(|character| !is_allowed(*character)) {
        Some(character) => Err(Problem::UnknownCharacter { character }),
        None => Ok(()),
    }
}

fn check_suffix(suffix: &str) -> Result<(), Problem> {
    for identifier in suffix.split('.') {
        if identifier.is_empty() {
            return Err(Problem::EmptyIdentifier { sign: '-' });
        }
        if is_digits(identifier) {
            check_zero("number", identifier)?;
        }
    }
    Ok(())
}

fn check_build(build: &str) -> Result<(), Problem> {
    if build.contains('+') {
        return Err(Problem::SecondPlus);
    }
    check_characters(build)?;
    if build.split('.').any(str::is_empty) {
        return Err(Problem::EmptyIdentifier { sign: '+' });
    }
    Ok(())
}

fn split_numbers(numbers: &str) -> Result<(u64, u64, u64), Problem> {
    let mut numbers = numbers.splitn(4, '.');
    let major = core_number("major", numbers.next(), MAJOR_LIMIT)?;
    let minor = core_number("minor", numbers.next(), MINOR_LIMIT)?;
    let patch = match numbers.next() {
        None => 0,
        patch => core_number("patch", patch, u64::MAX)?,
    };
    match numbers.next() {
        None => Ok((major, minor, patch)),
        Some(found) => Err(Problem::TooManyNumbers {
            found: found.to_owned(),
        }),
    }
}

fn core_number(part: &'static str, found: Option<&str>, limit: u64) -> Result<u64, Problem> {
    let found = found
        .filter(|found| !found.is_empty())
        .ok_or(Problem::Missing { part })?;
    if !is_digits(found) {
        return Err(Problem::NotANumber {
            part,
            found: found.to_owned(),
        });
    }
    check_zero(part, found)?;
    number(part, found, limit)
}

/// Two spellings of one number would be two versions of one rank, and whoever writes `1.08` may mean a date.
fn check_zero(part: &'static str, digits: &str) -> Result<(), Problem> {
    if digits.len() > 1 && digits.starts_with('0') {
        return Err(Problem::LeadingZero {
            part,
            found: digits.to_owned(),
        });
    }
    Ok(())
}
