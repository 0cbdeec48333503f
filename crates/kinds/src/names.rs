//! Which texts may be names of what, in upstream's words (apimachinery, util/validation), beyond the rules that schemas
//! share. Each function gives what is wrong, nothing if the text is good.

const ENVIRONMENT_WORDS: &str =
    "a valid environment variable name must consist only of printable ASCII characters other than '='";
const KEY_WORDS: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
const KEY_PATTERN: &str = "[-._a-zA-Z0-9]+";
const HEADER_WORDS: &str = "a valid HTTP header must consist of alphanumeric characters or '-'";
const HEADER_PATTERN: &str = "[-A-Za-z0-9]+";
const PERCENT_WORDS: &str = "a valid percent string must be a numeric string followed by an ending '%'";
const IDENTIFIER_WORDS: &str = "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'";
const IDENTIFIER_PATTERN: &str = "[A-Za-z_][A-Za-z0-9_]*";
const WILDCARD_WORDS: &str = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character";
const WILDCARD_PATTERN: &str = r"\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";

/// The longest name of a port.
const PORT_NAME_LIMIT: usize = 15;
/// The longest key, and the longest subdomain.
const KEY_LIMIT: usize = 253;

/// A key of a ConfigMap or Secret.
pub(crate) fn config_key(text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if text.len() > KEY_LIMIT {
        complaints.push(longer_than(KEY_LIMIT));
    }
    let is_good = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    if text.is_empty() || !text.bytes().all(is_good) {
        complaints.push(pattern(KEY_WORDS, KEY_PATTERN, &["key.name", "KEY_NAME", "key-name"]));
    }
    match text {
        "." => complaints.push("must not be '.'".to_owned()),
        ".." => complaints.push("must not be '..'".to_owned()),
        _ if text.starts_with("..") => complaints.push("must not start with '..'".to_owned()),
        _ => {}
    }
    complaints
}

/// The name of an environment variable.
pub(crate) fn environment_variable(text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if text.is_empty() {
        complaints.push("environment variable name must be non-empty".to_owned());
    }
    if text
        .chars()
        .any(|character| !matches!(character, ' '..='~') || character == '=')
    {
        complaints.push(ENVIRONMENT_WORDS.to_owned());
    }
    complaints
}

/// The name of a port.
pub(crate) fn port_name(text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if text.len() > PORT_NAME_LIMIT {
        complaints.push(longer_than(PORT_NAME_LIMIT));
    }
    let is_good = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if text.is_empty() || !text.bytes().all(is_good) {
        complaints.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".to_owned());
    }
    if !text.bytes().any(|byte| byte.is_ascii_lowercase()) {
        complaints.push("must contain at least one letter (a-z)".to_owned());
    }
    if text.contains("--") {
        complaints.push("must not contain consecutive hyphens".to_owned());
    }
    if text.starts_with('-') || text.ends_with('-') {
        complaints.push("must not begin or end with a hyphen".to_owned());
    }
    complaints
}

/// The number of a port.
pub(crate) fn port_number(number: i64) -> Vec<String> {
    in_range(number, 1, 65_535)
}

/// A number within bounds.
pub(crate) fn in_range(number: i64, low: i64, high: i64) -> Vec<String> {
    if (low..=high).contains(&number) {
        Vec::new()
    } else {
        vec![format!("must be between {low} and {high}, inclusive")]
    }
}

/// An identifier of C.
pub(crate) fn c_identifier(text: &str) -> Vec<String> {
    let is_good = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let starts_well = text.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
    if starts_well && text.bytes().all(is_good) {
        Vec::new()
    } else {
        let examples = ["my_name", "MY_NAME", "MyName"];
        vec![pattern(IDENTIFIER_WORDS, IDENTIFIER_PATTERN, &examples)]
    }
}

/// Whether a text is a version as semver.org describes it.
pub(crate) fn is_semantic_version(text: &str) -> bool {
    let is_number = |part: &str| {
        let has_digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        has_digits && (part == "0" || !part.starts_with('0'))
    };
    let is_word = |part: &str| {
        let is_good = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        !part.is_empty() && part.bytes().all(is_good)
    };
    let (text, build) = text
        .split_once('+')
        .map_or((text, None), |(text, build)| (text, Some(build)));
    let (core, before) = text
        .split_once('-')
        .map_or((text, None), |(core, before)| (core, Some(before)));
    let is_before_release = |part: &str| {
        let is_numeric = part.bytes().all(|byte| byte.is_ascii_digit());
        is_word(part) && (!is_numeric || is_number(part))
    };
    core.split('.').count() == 3
        && core.split('.').all(is_number)
        && before.is_none_or(|before| before.split('.').all(is_before_release))
        && build.is_none_or(|build| build.split('.').all(is_word))
}

/// A share such as `25%`.
pub(crate) fn percent(text: &str) -> Vec<String> {
    let is_percent = text
        .strip_suffix('%')
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()));
    if is_percent {
        Vec::new()
    } else {
        vec![pattern(PERCENT_WORDS, "[0-9]+%", &["1%", "93%"])]
    }
}

/// The name of an HTTP header.
pub(crate) fn http_header(text: &str) -> Vec<String> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        Vec::new()
    } else {
        vec![pattern(HEADER_WORDS, HEADER_PATTERN, &["X-Header-Name"])]
    }
}

/// A subdomain below a wildcard, `*.example.com`.
pub(crate) fn wildcard_subdomain(text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if text.len() > KEY_LIMIT {
        complaints.push(longer_than(KEY_LIMIT));
    }
    let is_good = text
        .strip_prefix("*.")
        .is_some_and(|rest| hyperplane_schema::names::dns_1123_subdomain(rest).is_empty());
    if !is_good {
        complaints.push(pattern(WILDCARD_WORDS, WILDCARD_PATTERN, &["*.example.com"]));
    }
    complaints
}

fn longer_than(limit: usize) -> String {
    format!("must be no more than {limit} characters")
}

fn pattern(words: &str, pattern: &str, examples: &[&str]) -> String {
    let examples: Vec<String> = examples.iter().map(|example| format!("'{example}', ")).collect();
    format!(
        "{words} (e.g. {}regex used for validation is '{pattern}')",
        examples.join(" or ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_names_draw_no_complaint() {
        assert!(config_key("..a".trim_start_matches('.')).is_empty());
        assert!(environment_variable("MY_ENV.NAME").is_empty());
        assert!(port_name("http-1").is_empty());
        assert!(percent("25%").is_empty());
        assert!(c_identifier("_a1").is_empty());
        assert!(http_header("X-A").is_empty());
        assert!(wildcard_subdomain("*.a.b").is_empty());
    }

    #[test]
    fn bad_names_draw_upstreams_words() {
        assert_eq!(config_key(".."), ["must not be '..'"]);
        assert_eq!(environment_variable("a=b"), [ENVIRONMENT_WORDS]);
        assert_eq!(
            port_name("-"),
            [
                "must contain at least one letter (a-z)",
                "must not begin or end with a hyphen"
            ]
        );
        assert_eq!(port_number(0), ["must be between 1 and 65535, inclusive"]);
        assert_eq!(percent("x").len(), 1);
        assert_eq!(c_identifier("1a").len(), 1);
        assert_eq!(c_identifier("").len(), 1);
        assert_eq!(http_header("a b").len(), 1);
        assert_eq!(wildcard_subdomain("a.b").len(), 1);
    }

    #[test]
    fn versions_are_those_of_semver() {
        for good in ["0.0.1", "1.2.3-alpha.1+build.007", "1.2.3--", "1.2.3+0-x"] {
            assert!(is_semantic_version(good), "{good}");
        }
        for bad in [
            "",
            "1.2",
            "1.2.3.4",
            "01.2.3",
            "1.2.3-01",
            "1.2.3-",
            "1.2.3+",
            "1.2.3-a..b",
            "1.2.3-é",
        ] {
            assert!(!is_semantic_version(bad), "{bad}");
        }
    }
}
