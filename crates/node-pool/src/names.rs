//! Names that follow from those of a pool and its cluster. A name that is too long is shortened with a hash of all of it,
//! so that two of them never become one.

use std::fmt::Write as _;

use hyperplane_api::hypershift::node_pool::NodePool;
use kube::ResourceExt as _;
use sha2::{Digest as _, Sha256};

/// Digits of a hash in a name.
pub(crate) const HASH_DIGITS: usize = 10;
/// The longest name of most objects, by Kubernetes' own rule.
const LONGEST_NAME: usize = 253;
/// The longest value of a label, and the longest name of what is named in one.
pub(crate) const LONGEST_LABEL: usize = 63;
/// The longest name by which everything of a pool is selected; clouds allow no more in names that are made from it.
const LONGEST_RESOURCES_NAME: usize = 43;
/// Digits that tell shortened names apart.
const SHORTENED_DIGITS: usize = 8;

const TOKEN: &str = "token-";
const USER_DATA: &str = "user-data-";

/// The namespace of the control plane of a pool's cluster. It follows from names alone, so that it is known when the
/// cluster is gone.
pub(crate) fn control_plane_namespace(pool: &NodePool) -> String {
    let cluster = pool.spec.cluster_name.as_str().replace('.', "-");
    format!("{}-{cluster}", pool.namespace().unwrap_or_default())
}

/// A pool as annotations name it: namespace/name.
pub(crate) fn title(pool: &NodePool) -> String {
    format!("{}/{}", pool.namespace().unwrap_or_default(), pool.name_any())
}

/// The cluster of a pool as annotations name it.
pub(crate) fn cluster_title(pool: &NodePool) -> String {
    format!(
        "{}/{}",
        pool.namespace().unwrap_or_default(),
        pool.spec.cluster_name.as_str()
    )
}

/// The MachineDeployment and the MachineHealthCheck of a pool. Labels name them, so the name fits into one.
pub(crate) fn machines(pool: &NodePool) -> String {
    shortened(&pool.name_any(), LONGEST_LABEL)
}

/// The pool as the value of a label.
pub(crate) fn label(pool: &NodePool) -> String {
    shortened(&pool.name_any(), LONGEST_LABEL)
}

/// What all machines of a pool are selected by: key and value of a label.
pub(crate) fn resources_name(pool: &NodePool, infra_id: &str) -> String {
    let name = format!("{infra_id}-{}-{}", pool.spec.cluster_name.as_str(), pool.name_any());
    shortened(&name, LONGEST_RESOURCES_NAME)
}

/// The Secret with the token of a configuration.
pub(crate) fn token(pool: &NodePool, hash: &str) -> String {
    of_hash(TOKEN, pool, hash)
}

/// The Secret with what machines of a configuration read first.
pub(crate) fn user_data(pool: &NodePool, hash: &str) -> String {
    of_hash(USER_DATA, pool, hash)
}

/// The machine template with a content.
pub(crate) fn template(pool: &NodePool, content: &[u8]) -> String {
    let digest = digest(content);
    of_hash("", pool, &digest[..HASH_DIGITS])
}

/// Whether a name is that of a token.
pub(crate) fn is_token(name: &str) -> bool {
    name.starts_with(TOKEN)
}

/// Whether a name is that of user data.
pub(crate) fn is_user_data(name: &str) -> bool {
    name.starts_with(USER_DATA)
}

/// The hash in the name of a token or of user data.
pub(crate) fn hash_of(name: &str) -> Option<&str> {
    let (_, hash) = name.rsplit_once('-')?;
    (hash.len() == HASH_DIGITS).then_some(hash)
}

fn of_hash(prefix: &str, pool: &NodePool, hash: &str) -> String {
    let room = LONGEST_NAME - prefix.len() - hash.len() - 1;
    format!("{prefix}{}-{hash}", shortened(&pool.name_any(), room))
}

/// A name that fits: as it is, or cut with a hash of all of it at the end.
pub(crate) fn shortened(name: &str, longest: usize) -> String {
    if name.len() <= longest {
        return name.to_owned();
    }
    let digest = digest(name.as_bytes());
    let room = longest.saturating_sub(SHORTENED_DIGITS + 1);
    let end = (0..=room.min(name.len())).rev().find(|end| name.is_char_boundary(*end));
    let kept = name[..end.unwrap_or_default()].trim_end_matches(|one: char| !one.is_ascii_alphanumeric());
    format!("{kept}-{}", &digest[..SHORTENED_DIGITS])
}

/// SHA-256 in hexadecimal digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    let digest: [u8; 32] = Sha256::digest(bytes).into();
    digest.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
        text
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::testing;

    #[test]
    fn names_tell_what_they_are_of() {
        let pool = testing::pool(&json!({}));
        assert_eq!(control_plane_namespace(&pool), "clusters-blue");
        assert_eq!(token(&pool, "0123456789"), "token-workers-0123456789");
        assert_eq!(user_data(&pool, "0123456789"), "user-data-workers-0123456789");
        assert_eq!(hash_of("user-data-workers-0123456789"), Some("0123456789"));
        assert_eq!(hash_of("user-data-workers"), None);
        assert_eq!(resources_name(&pool, "blue-abcde"), "blue-abcde-blue-workers");
        assert_eq!(template(&pool, b"").len(), "workers-".len() + HASH_DIGITS);
    }

    #[test]
    fn long_names_fit_and_differ() {
        let of = |last: char| testing::pool(&json!({"metadata": {"name": format!("{}{last}", "p".repeat(250))}}));
        let (one, other) = (of('1'), of('2'));
        assert_ne!(machines(&one), machines(&other));
        assert!(machines(&one).len() <= LONGEST_LABEL);
        assert!(user_data(&one, "0123456789").len() <= LONGEST_NAME);
        assert_eq!(hash_of(&user_data(&one, "0123456789")), Some("0123456789"));
    }

    proptest! {
        #[test]
        fn a_shortened_name_fits_and_is_a_name(name in "[a-z0-9]([-a-z0-9.]{0,250}[a-z0-9])?", longest in 10_usize..253) {
            let short = shortened(&name, longest);
            prop_assert!(short.len() <= longest);
            prop_assert!(short.ends_with(|one: char| one.is_ascii_alphanumeric()));
            prop_assert_eq!(shortened(&name, 253), name);
        }
    }
}
