//! The tag of an image reference, as far as the pull policy needs it.

/// `Always` for images whose tag is or defaults to `latest`, else `IfNotPresent`. References that do not parse have no
/// tag, as upstream has it.
pub(super) fn pull_policy(image: &str) -> &'static str {
    if is_reference(image) && tag(image) == Some("latest") {
        "Always"
    } else {
        "IfNotPresent"
    }
}

/// The tag, `latest` where neither tag nor digest is given.
fn tag(image: &str) -> Option<&str> {
    let (name, digest) = match image.split_once('@') {
        Some((name, digest)) => (name, Some(digest)),
        None => (image, None),
    };
    let last = name.rsplit('/').next().unwrap_or(name);
    match (last.split_once(':'), digest) {
        (Some((_, tag)), _) => Some(tag),
        (None, Some(_)) => None,
        (None, None) => Some("latest"),
    }
}

/// Whether the text can be an image reference: repositories are lower case and not empty.
fn is_reference(image: &str) -> bool {
    let name = image.split('@').next().unwrap_or(image);
    let (repository, tag) = match name.rsplit_once(':') {
        Some((repository, tag)) if !tag.contains('/') => (repository, Some(tag)),
        _ => (name, None),
    };
    let host_ends = repository.find('/');
    let path = match host_ends {
        Some(end) if is_host(&repository[..end]) => &repository[end + 1..],
        _ => repository,
    };
    !path.is_empty()
        && path.split('/').all(is_component)
        && tag.is_none_or(|tag| !tag.is_empty() && tag.len() <= 128 && tag.bytes().all(is_tag_byte))
}

fn is_host(text: &str) -> bool {
    text.contains(['.', ':']) || text == "localhost"
}

fn is_component(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|byte| is_letter(*byte))
        && bytes.last().is_some_and(|byte| is_letter(*byte))
        && bytes
            .iter()
            .all(|byte| is_letter(*byte) || matches!(byte, b'.' | b'_' | b'-'))
}

fn is_tag_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_latest_image_is_always_pulled() {
        for (image, policy) in [
            ("nginx", "Always"),
            ("nginx:latest", "Always"),
            ("nginx:1.27", "IfNotPresent"),
            ("localhost:5000/nginx", "Always"),
            ("localhost:5000/nginx:1", "IfNotPresent"),
            ("quay.io/a/b@sha256:0000", "IfNotPresent"),
            ("quay.io/a/b:latest@sha256:0000", "Always"),
            ("", "IfNotPresent"),
            ("Not An Image", "IfNotPresent"),
        ] {
            assert_eq!(pull_policy(image), policy, "{image}");
        }
    }
}
