//! The rules for names, labels and annotations, in upstream's words (apimachinery, util/validation and api/validate).

const LABEL_PATTERN: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN_PATTERN: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const DNS_1035_PATTERN: &str = "[a-z]([-a-z0-9]*[a-z0-9])?";
const QUALIFIED_PATTERN: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const LABEL_WORDS: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const SUBDOMAIN_WORDS: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const DNS_1035_WORDS: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
const QUALIFIED_WORDS: &str =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const LABEL_VALUE_WORDS: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

/// The longest label.
const LABEL_LIMIT: usize = 63;
/// The longest subdomain.
const SUBDOMAIN_LIMIT: usize = 253;

/// What is wrong with a text as a label of RFC 1123.
pub fn dns_1123_label(text: &str) -> Vec<String> {
    let mut complaints = longer_than(text, LABEL_LIMIT, "characters");
    if !is_label(text) {
        complaints.push(if is_subdomain(text) {
            "must not contain dots".to_owned()
        } else {
            pattern_words(LABEL_WORDS, LABEL_PATTERN, &["my-name", "123-abc"])
        });
    }
    complaints
}

/// What is wrong with a text as a subdomain of RFC 1123.
pub fn dns_1123_subdomain(text: &str) -> Vec<String> {
    subdomain(text, "characters")
}

fn subdomain(text: &str, unit: &str) -> Vec<String> {
    let mut complaints = longer_than(text, SUBDOMAIN_LIMIT, unit);
    if !is_subdomain(text) {
        complaints.push(pattern_words(SUBDOMAIN_WORDS, SUBDOMAIN_PATTERN, &["example.com"]));
    }
    complaints
}

/// What is wrong with a text as a label of RFC 1035.
pub fn dns_1035_label(text: &str) -> Vec<String> {
    let mut complaints = longer_than(text, LABEL_LIMIT, "characters");
    let starts_well = text.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
    if !starts_well || !is_label(text) {
        complaints.push(pattern_words(DNS_1035_WORDS, DNS_1035_PATTERN, &["my-name", "abc-123"]));
    }
    complaints
}

/// What is wrong with a text as the key of a label, an annotation or a finalizer: `name` or `prefix/name`.
pub fn qualified_name(text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    let examples = ["MyName", "my.name", "123-abc"];
    let name = match text.split('/').collect::<Vec<_>>()[..] {
        [name] => name,
        [prefix, name] => {
            if prefix.is_empty() {
                complaints.push("prefix part must be non-empty".to_owned());
            } else {
                complaints.extend(
                    subdomain(prefix, "bytes")
                        .iter()
                        .map(|words| format!("prefix part {words}")),
                );
            }
            name
        }
        _ => {
            return vec![format!(
                "a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
                pattern_words(QUALIFIED_WORDS, QUALIFIED_PATTERN, &examples)
            )];
        }
    };
    if name.is_empty() {
        complaints.push("name part must be non-empty".to_owned());
    }
    complaints.extend(
        longer_than(name, LABEL_LIMIT, "bytes")
            .iter()
            .map(|words| format!("name part {words}")),
    );
    if !is_qualified_part(name) {
        complaints.push(format!(
            "name part {}",
            pattern_words(QUALIFIED_WORDS, QUALIFIED_PATTERN, &examples)
        ));
    }
    complaints
}

/// What is wrong with a text as the value of a label.
pub fn label_value(text: &str) -> Vec<String> {
    let mut complaints = longer_than(text, LABEL_LIMIT, "bytes");
    if !text.is_empty() && !is_qualified_part(text) {
        let pattern = format!("({QUALIFIED_PATTERN})?");
        complaints.push(pattern_words(
            LABEL_VALUE_WORDS,
            &pattern,
            &["MyValue", "my_value", "12345"],
        ));
    }
    complaints
}

/// What is wrong with a text as a segment of a path; a prefix of a name may be `.`.
pub fn path_segment(text: &str, is_prefix: bool) -> Vec<String> {
    if !is_prefix && matches!(text, "." | "..") {
        return vec![format!("may not be '{text}'")];
    }
    let forbidden = ["/", "%"].into_iter().filter(|part| text.contains(part));
    forbidden.map(|part| format!("may not contain '{part}'")).collect()
}

/// What is wrong with a text as a name that is a subdomain; a prefix may end in a hyphen, because something will follow.
pub fn name_is_subdomain(text: &str, is_prefix: bool) -> Vec<String> {
    dns_1123_subdomain(&without_trailing_hyphen(text, is_prefix))
}

/// What is wrong with a text as a name that is a label; a prefix may end in a hyphen, because something will follow.
pub fn name_is_label(text: &str, is_prefix: bool) -> Vec<String> {
    dns_1123_label(&without_trailing_hyphen(text, is_prefix))
}

/// What is wrong with a text as a name that is a label of RFC 1035; a prefix may end in a hyphen.
pub fn name_is_dns_1035_label(text: &str, is_prefix: bool) -> Vec<String> {
    dns_1035_label(&without_trailing_hyphen(text, is_prefix))
}

/// Upstream puts one letter in place of the last two characters.
fn without_trailing_hyphen(text: &str, is_prefix: bool) -> String {
    let kept = text.strip_suffix('-').filter(|_| is_prefix && text.len() > 1);
    let kept = kept.and_then(|before| before.get(..before.len() - 1));
    kept.map_or_else(|| text.to_owned(), |kept| format!("{kept}a"))
}

/// Lower-case letters, digits and inner hyphens.
pub(crate) fn is_label(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !text.is_empty() && !text.starts_with('-') && !text.ends_with('-') && text.bytes().all(is_inner)
}

/// Labels with dots between them.
pub(crate) fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

fn is_qualified_part(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let is_edge = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    is_edge(text.bytes().next()) && is_edge(text.bytes().next_back()) && text.bytes().all(is_inner)
}

fn longer_than(text: &str, limit: usize, unit: &str) -> Vec<String> {
    let complaint = (text.len() > limit).then(|| format!("must be no more than {limit} {unit}"));
    complaint.into_iter().collect()
}

fn pattern_words(words: &str, pattern: &str, examples: &[&str]) -> String {
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
        assert!(dns_1123_label("0-a").is_empty());
        assert!(dns_1123_subdomain("a.b-c").is_empty());
        assert!(dns_1035_label("a-0").is_empty());
        assert!(qualified_name("example.com/My_Name").is_empty());
        assert!(label_value("").is_empty());
        assert!(path_segment("a:b", false).is_empty());
    }

    #[test]
    fn bad_names_draw_upstreams_words() {
        assert_eq!(dns_1123_label("a.b"), ["must not contain dots"]);
        assert_eq!(
            dns_1123_subdomain("A"),
            [format!(
                "{SUBDOMAIN_WORDS} (e.g. 'example.com', regex used for validation is '{SUBDOMAIN_PATTERN}')"
            )]
        );
        assert_eq!(
            dns_1035_label("1a"),
            [format!(
                "{DNS_1035_WORDS} (e.g. 'my-name',  or 'abc-123', regex used for validation is '{DNS_1035_PATTERN}')"
            )]
        );
        assert_eq!(qualified_name("/a"), ["prefix part must be non-empty"]);
        assert_eq!(
            path_segment("a/b%", false),
            ["may not contain '/'", "may not contain '%'"]
        );
        assert_eq!(label_value(&"a".repeat(64)), ["must be no more than 63 bytes"]);
    }
}
