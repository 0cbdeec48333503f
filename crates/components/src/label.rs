//! What Kubernetes takes as a label: tenants write labels, and one that it refuses would stop a whole component.

/// The longest name in a key, the longest value, and the longest domain.
const NAME_LIMIT: usize = 63;
const DOMAIN_LIMIT: usize = 253;

/// Whether a text can be the key of a label.
pub(crate) fn is_key(text: &str) -> bool {
    match text.split_once('/') {
        None => is_name(text),
        Some((domain, name)) => is_domain(domain) && is_name(name),
    }
}

/// Whether a text can be the value of a label.
pub(crate) fn is_value(text: &str) -> bool {
    text.is_empty() || is_name(text)
}

fn is_name(text: &str) -> bool {
    let edges = [text.chars().next(), text.chars().next_back()];
    let inner = |one: char| one.is_ascii_alphanumeric() || matches!(one, '-' | '_' | '.');
    text.len() <= NAME_LIMIT
        && edges
            .into_iter()
            .all(|edge| edge.is_some_and(|one| one.is_ascii_alphanumeric()))
        && text.chars().all(inner)
}

fn is_domain(text: &str) -> bool {
    let is_part = |part: &str| {
        let is_inner = |one: char| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '-';
        !part.is_empty() && part.chars().all(is_inner) && !part.starts_with('-') && !part.ends_with('-')
    };
    text.len() <= DOMAIN_LIMIT && text.split('.').all(is_part)
}
