//! Semantic versions.

use std::cmp::Ordering;

/// A version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cel) struct Semver {
    pub(in crate::cel) major: u64,
    pub(in crate::cel) minor: u64,
    pub(in crate::cel) patch: u64,
    pre_release: Vec<String>,
}

impl Semver {
    /// A version in full: `1.2.3-rc.1+build`. The error is upstream's.
    pub(in crate::cel) fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("Version string empty".to_owned());
        }
        let mut parts = text.splitn(3, '.');
        let (Some(major), Some(minor), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
            return Err("No Major.Minor.Patch elements found".to_owned());
        };
        let (rest, build) = rest
            .split_once('+')
            .map_or((rest, None), |(rest, build)| (rest, Some(build)));
        let (patch, pre_release) = rest
            .split_once('-')
            .map_or((rest, None), |(patch, pre)| (patch, Some(pre)));
        let pre_release = match pre_release {
            Some(text) => text.split('.').map(identifier).collect::<Result<Vec<_>, _>>()?,
            None => Vec::new(),
        };
        if let Some(build) = build {
            for part in build.split('.') {
                if part.is_empty() {
                    return Err("Build meta data is empty".to_owned());
                }
                if !is_identifier(part) {
                    return Err(format!("Invalid character(s) found in build meta data {part:?}"));
                }
            }
        }
        Ok(Self {
            major: number(major, "major")?,
            minor: number(minor, "minor")?,
            patch: number(patch, "patch")?,
            pre_release,
        })
    }

    /// A version that may be short, start with `v`, and have leading zeros.
    pub(in crate::cel) fn parse_tolerant(text: &str) -> Result<Self, String> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let mut parts: Vec<String> = text.splitn(3, '.').map(without_leading_zeros).collect();
        if parts.len() < 3 {
            if parts.last().is_some_and(|part| part.contains(['+', '-'])) {
                return Err("short version cannot contain PreRelease/Build meta data".to_owned());
            }
            parts.resize(3, "0".to_owned());
        }
        Self::parse(&parts.join("."))
    }

    /// By precedence; build metadata does not count.
    pub(in crate::cel) fn compare(&self, other: &Self) -> Ordering {
        let numbers = |version: &Self| (version.major, version.minor, version.patch);
        numbers(self).cmp(&numbers(other)).then_with(|| {
            match (self.pre_release.is_empty(), other.pre_release.is_empty()) {
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                (false, false) => compare_identifiers(&self.pre_release, &other.pre_release),
            }
        })
    }
}

fn without_leading_zeros(part: &str) -> String {
    if part.len() <= 1 {
        return part.to_owned();
    }
    let trimmed = part.trim_start_matches('0');
    if trimmed.starts_with(|character: char| character.is_ascii_digit()) {
        trimmed.to_owned()
    } else {
        format!("0{trimmed}")
    }
}

fn is_identifier(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn number(text: &str, name: &str) -> Result<u64, String> {
    let capital = match name {
        "major" => "Major",
        "minor" => "Minor",
        _ => "Patch",
    };
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("Invalid character(s) found in {name} number {text:?}"));
    }
    if text.len() > 1 && text.starts_with('0') {
        return Err(format!("{capital} number must not contain leading zeroes {text:?}"));
    }
    text.parse()
        .map_err(|_| format!("strconv.ParseUint: parsing {text:?}: value out of range"))
}

fn identifier(part: &str) -> Result<String, String> {
    if part.is_empty() {
        return Err("Prerelease is empty".to_owned());
    }
    if !is_identifier(part) {
        return Err(format!("Invalid character(s) found in prerelease {part:?}"));
    }
    let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
    if is_number && part.len() > 1 && part.starts_with('0') {
        return Err(format!(
            "Numeric PreRelease version must not contain leading zeroes {part:?}"
        ));
    }
    Ok(part.to_owned())
}

/// Numbers come before words and are compared as numbers; more parts come after fewer.
fn compare_identifiers(first: &[String], second: &[String]) -> Ordering {
    for (first, second) in first.iter().zip(second) {
        let order = match (first.parse::<u64>(), second.parse::<u64>()) {
            (Ok(first), Ok(second)) => first.cmp(&second),
            (Ok(_), Err(_)) => Ordering::Less,
            (Err(_), Ok(_)) => Ordering::Greater,
            (Err(_), Err(_)) => first.cmp(second),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    first.len().cmp(&second.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_precedence() {
        let order = [
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-beta",
            "1.0.0-rc.2",
            "1.0.0-rc.11",
            "1.0.0",
            "1.10.0",
        ];
        for pair in order.windows(2) {
            let (first, second) = (Semver::parse(pair[0]).unwrap(), Semver::parse(pair[1]).unwrap());
            assert_eq!(first.compare(&second), Ordering::Less, "{pair:?}");
        }
        assert!(Semver::parse("1.2").is_err() && Semver::parse("01.2.3").is_err());
        assert_eq!(
            Semver::parse_tolerant("v01.2").unwrap(),
            Semver::parse("1.2.0").unwrap()
        );
    }
}
