//! The `format` of strings that upstream checks (kube-openapi, strfmt); every other format says nothing.

use std::sync::LazyLock;

use regex::Regex;

use crate::{go_net, go_time};

/// A format of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    BsonObjectId,
    Uri,
    Email,
    Hostname,
    Ipv4,
    Ipv6,
    Cidr,
    Mac,
    Uuid(Option<char>),
    Isbn(Option<usize>),
    CreditCard,
    SocialSecurityNumber,
    HexColor,
    RgbColor,
    Byte,
    Password,
    Date,
    Duration,
    DateTime,
    ShortName,
    LongName,
}

impl Format {
    /// The format of that name; hyphens do not count.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Some(match name.replace('-', "").as_str() {
            "bsonobjectid" => Self::BsonObjectId,
            "uri" => Self::Uri,
            "email" => Self::Email,
            "hostname" => Self::Hostname,
            "ipv4" => Self::Ipv4,
            "ipv6" => Self::Ipv6,
            "cidr" => Self::Cidr,
            "mac" => Self::Mac,
            "uuid" => Self::Uuid(None),
            "uuid3" => Self::Uuid(Some('3')),
            "uuid4" => Self::Uuid(Some('4')),
            "uuid5" => Self::Uuid(Some('5')),
            "isbn" => Self::Isbn(None),
            "isbn10" => Self::Isbn(Some(10)),
            "isbn13" => Self::Isbn(Some(13)),
            "creditcard" => Self::CreditCard,
            "ssn" => Self::SocialSecurityNumber,
            "hexcolor" => Self::HexColor,
            "rgbcolor" => Self::RgbColor,
            "byte" => Self::Byte,
            "password" => Self::Password,
            "date" => Self::Date,
            "duration" => Self::Duration,
            "datetime" => Self::DateTime,
            "k8sshortname" => Self::ShortName,
            "k8slongname" => Self::LongName,
            _ => return None,
        })
    }

    /// Whether the text has the format.
    pub(crate) fn accepts(self, text: &str) -> bool {
        match self {
            Self::BsonObjectId => text.len() == 24 && text.bytes().all(|byte| byte.is_ascii_hexdigit()),
            Self::Uri => go_net::Url::parse_request(text).is_ok(),
            Self::Email => is_email(text),
            Self::Hostname => is_hostname(text),
            Self::Ipv4 => text.contains('.') && go_net::parse_ip_sloppy(text).is_some(),
            Self::Ipv6 => text.contains(':') && go_net::parse_ip(text).is_some(),
            Self::Cidr => go_net::parse_cidr_sloppy(text).is_some(),
            Self::Mac => go_net::is_mac(text),
            Self::Uuid(version) => is_uuid(text, version),
            Self::Isbn(None) => is_isbn10(text) || is_isbn13(text),
            Self::Isbn(Some(10)) => is_isbn10(text),
            Self::Isbn(_) => is_isbn13(text),
            Self::CreditCard => is_credit_card(text),
            Self::SocialSecurityNumber => text.len() == 11 && SOCIAL_SECURITY_NUMBER.is_match(text),
            Self::HexColor => is_hex_color(text),
            Self::RgbColor => RGB_COLOR.is_match(text),
            Self::Byte => is_base64(text),
            Self::Password => true,
            Self::Date => go_time::is_date(text),
            Self::Duration => parse_duration(text).is_some(),
            Self::DateTime => is_date_time(text),
            Self::ShortName => text.len() <= 63 && crate::names::is_label(text),
            Self::LongName => text.len() <= 253 && crate::names::is_subdomain(text),
        }
    }
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is written above and tested")
}

static HOSTNAME: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)",
        r"|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$"
    ))
});
static SOCIAL_SECURITY_NUMBER: LazyLock<Regex> = LazyLock::new(|| regex("^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$"));
static RGB_COLOR: LazyLock<Regex> = LazyLock::new(|| {
    const PART: &str = r"[\t\n\x0C\r ]*(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])[\t\n\x0C\r ]*";
    regex(&format!(r"^rgb\({PART},{PART},{PART}\)$"))
});
static CREDIT_CARD: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        "^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}",
        "|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11})$"
    ))
});

fn is_hostname(text: &str) -> bool {
    text.len() <= 255 && text.split('.').all(|label| label.len() <= 63) && HOSTNAME.is_match(text)
}

/// `local@domain`, alone or in angle brackets after a name.
fn is_email(text: &str) -> bool {
    let text = text.trim_matches([' ', '\t']);
    let address = match text.strip_suffix('>').and_then(|text| text.rsplit_once('<')) {
        Some((name, address)) if is_phrase(name.trim()) => address,
        Some(_) => return false,
        None => text,
    };
    let Some((local, domain)) = address.rsplit_once('@') else {
        return false;
    };
    let is_quoted = local.len() > 2 && local.starts_with('"') && local.ends_with('"');
    (is_quoted || is_dot_atom(local)) && (is_dot_atom(domain) || is_domain_literal(domain))
}

fn is_atom(text: &str) -> bool {
    let is_atom_character = |character: char| {
        character.is_alphanumeric() || !character.is_ascii() || "!#$%&'*+-/=?^_`{|}~".contains(character)
    };
    !text.is_empty() && text.chars().all(is_atom_character)
}

fn is_dot_atom(text: &str) -> bool {
    text.split('.').all(is_atom)
}

fn is_domain_literal(text: &str) -> bool {
    let literal = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    literal.is_some_and(|literal| go_net::parse_ip(literal.trim_start_matches("IPv6:")).is_some())
}

fn is_phrase(text: &str) -> bool {
    let is_quoted = text.len() >= 2 && text.starts_with('"') && text.ends_with('"');
    text.is_empty() || is_quoted || text.split_whitespace().all(is_dot_atom)
}

fn is_uuid(text: &str, version: Option<char>) -> bool {
    let mut digits = Vec::with_capacity(32);
    for (index, part) in [8, 4, 4, 4, 12]
        .into_iter()
        .scan(0, |at, length| {
            let start = *at;
            *at += length;
            let mut after = &text.as_bytes()[start.min(text.len())..];
            if start > 0 && after.first() == Some(&b'-') {
                after = &after[1..];
                *at += 1;
            }
            Some(&after[..length.min(after.len())])
        })
        .enumerate()
    {
        if part.len() != [8, 4, 4, 4, 12][index] || !part.iter().all(u8::is_ascii_hexdigit) {
            return false;
        }
        digits.extend_from_slice(part);
    }
    let hyphens = text.bytes().filter(|byte| *byte == b'-').count();
    let is_version = version.is_none_or(|version| char::from(digits[12]) == version);
    let is_variant = !matches!(version, Some('4' | '5')) || b"89abAB".contains(&digits[16]);
    text.len() == 32 + hyphens && is_version && is_variant
}

fn without_separators(text: &str) -> String {
    text.chars()
        .filter(|character| !matches!(character, '-' | ' ' | '\t' | '\n' | '\r' | '\u{c}'))
        .collect()
}

fn is_isbn10(text: &str) -> bool {
    let digits = without_separators(text);
    let (Some(body), Some(last)) = (digits.get(..9), digits.get(9..)) else {
        return false;
    };
    let last = match last {
        "X" => 10,
        digit if digit.len() == 1 => match digit.parse() {
            Ok(value) => value,
            Err(_) => return false,
        },
        _ => return false,
    };
    if !body.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let sum: u32 = (1..)
        .zip(body.bytes())
        .map(|(weight, byte)| weight * u32::from(byte - b'0'))
        .sum();
    (sum + 10 * last).is_multiple_of(11)
}

fn is_isbn13(text: &str) -> bool {
    let digits = without_separators(text);
    if digits.len() != 13 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let sum: u32 = digits
        .bytes()
        .zip([1, 3].into_iter().cycle())
        .map(|(byte, weight)| weight * u32::from(byte - b'0'))
        .sum();
    sum.is_multiple_of(10)
}

fn is_credit_card(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let doubled = |digit: u32| if digit >= 5 { digit * 2 - 9 } else { digit * 2 };
    let sum: u32 = digits
        .bytes()
        .rev()
        .map(|byte| u32::from(byte - b'0'))
        .enumerate()
        .map(|(index, digit)| if index % 2 == 1 { doubled(digit) } else { digit })
        .sum();
    CREDIT_CARD.is_match(&digits) && sum.is_multiple_of(10)
}

fn is_hex_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    matches!(digits.len(), 3 | 6) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Padded and in the standard alphabet; upstream's expression refuses the empty string.
pub(crate) fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let padding = text.len() - body.len();
    let is_alphabet = body
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'));
    !body.is_empty() && text.len().is_multiple_of(4) && padding <= 2 && is_alphabet
}

/// Nanoseconds of Go's durations, and of those of Scala: `22 ns`, `3 weeks`.
pub(crate) fn parse_duration(text: &str) -> Option<i64> {
    const UNITS: [(&[&str], i64); 8] = [
        (&["ns", "nano"], 1),
        (&["us", "µs", "micro"], 1_000),
        (&["ms", "milli"], 1_000_000),
        (&["s", "sec"], 1_000_000_000),
        (&["m", "min"], 60_000_000_000),
        (&["h", "hr", "hour"], 3_600_000_000_000),
        (&["d", "day"], 86_400_000_000_000),
        (&["w", "wk", "week"], 604_800_000_000_000),
    ];
    if let Some(nanos) = go_time::parse_duration(text) {
        return Some(nanos);
    }
    let (mut rest, mut nanos, mut is_found) = (text, 0_i64, false);
    while let Some(start) = rest.find(|character: char| character.is_ascii_digit()) {
        let number = &rest[start..];
        let end = number
            .find(|character: char| !character.is_ascii_digit())
            .unwrap_or(number.len());
        let factor: i64 = number[..end].parse().ok()?;
        let after = number[end..].trim_start_matches([' ', '\t', '\n', '\r', '\u{c}']);
        let is_letter = |character: char| character.is_ascii_alphabetic() || character == 'µ';
        let length = after
            .find(|character: char| !is_letter(character))
            .unwrap_or(after.len());
        let unit = after[..length].to_lowercase();
        for (variants, size) in UNITS {
            let longest = variants[variants.len() - 1];
            if !unit.is_empty() && (unit.starts_with(longest) || variants.contains(&unit.as_str())) {
                nanos = nanos.wrapping_add(factor.wrapping_mul(size));
                is_found = true;
            }
        }
        rest = &after[length..];
    }
    is_found.then_some(nanos)
}

fn is_date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(clock)) = (parts.next(), parts.next()) else {
        return false;
    };
    go_time::is_date(date) && is_clock(clock)
}

/// `15:04:05`, a fraction after any character, and `z` or an offset.
fn is_clock(clock: &str) -> bool {
    static CLOCK: LazyLock<Regex> =
        LazyLock::new(|| regex("^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$"));
    CLOCK
        .captures(clock)
        .is_some_and(|parts| &parts[1] <= "23" && &parts[2] <= "59" && &parts[3] <= "59")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_accept_and_refuse() {
        for (name, good, bad) in [
            ("date-time", "2026-01-02T03:04:05Z", "2026-01-02 03:04:05"),
            ("date", "2026-02-28", "2026-02-30"),
            ("duration", "3 weeks", "soon"),
            ("duration", "1h30m", "1"),
            ("byte", "YWI=", "YWI"),
            ("byte", "YWJj", ""),
            ("uri", "https://a.b/c", "a.b"),
            ("email", "a@b.c", "a.b.c"),
            ("hostname", "a-b.example.com", "-a"),
            ("ipv4", "010.1.1.1", "1.1.1"),
            ("ipv6", "::1", "1.1.1.1"),
            ("cidr", "10.0.0.0/8", "10.0.0.0"),
            ("mac", "01:23:45:67:89:ab", "01"),
            ("uuid", "123E4567e89b12d3a456426614174000", "123"),
            (
                "uuid4",
                "123e4567-e89b-42d3-a456-426614174000",
                "123e4567-e89b-12d3-a456-426614174000",
            ),
            ("isbn10", "0321751043", "0321751044"),
            ("isbn13", "978-0321751041", "978-0321751042"),
            ("creditcard", "4111 1111 1111 1111", "4111 1111 1111 1112"),
            ("ssn", "111-22-3333", "111223333"),
            ("hexcolor", "#fff", "#ffff"),
            ("rgbcolor", "rgb(1, 2,3)", "rgb(1,2)"),
            ("bsonobjectid", "507f1f77bcf86cd799439011", "507f"),
            ("k8s-short-name", "a-b", "a.b"),
            ("k8s-long-name", "a.b", "A.b"),
        ] {
            let format = Format::parse(name).unwrap();
            assert!(format.accepts(good), "{name} takes {good}");
            assert!(!format.accepts(bad), "{name} refuses {bad}");
        }
        assert!(Format::parse("int-or-string").is_none());
    }
}
