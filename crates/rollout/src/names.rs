//! Names that are put together from others and must not become too long.

use crate::hash::fingerprint;

/// How many hexadecimal digits keep two names apart that were cut at the same place.
const DIGITS: usize = 8;

/// `base-suffix`; where that is longer than `limit`, the base is cut and told from others by a hash of the whole of it.
/// The suffix must leave room for the hash: names are made with suffixes of a known length.
pub fn joined(base: &str, suffix: &str, limit: usize) -> String {
    let whole = format!("{base}-{suffix}");
    if whole.len() <= limit {
        return whole;
    }
    let hash = fingerprint([base]);
    let room = limit.saturating_sub(suffix.len() + DIGITS + 2);
    let end = (0..=room.min(base.len())).rev().find(|end| base.is_char_boundary(*end));
    let head = base[..end.unwrap_or_default()].trim_end_matches(['-', '.']);
    let separator = if head.is_empty() { "" } else { "-" };
    format!("{head}{separator}{}-{suffix}", &hash[..DIGITS])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn short_names_stay_as_they_are() {
        assert_eq!(joined("workers", "0123456789", 57), "workers-0123456789");
    }

    #[test]
    fn names_that_were_cut_at_the_same_place_differ() {
        let base = "a".repeat(60);
        let (one, other) = (joined(&base, "x", 40), joined(&format!("{base}b"), "x", 40));
        assert_ne!(one, other);
        assert!(one.len() <= 40 && one.ends_with("-x"), "{one}");
    }

    #[test]
    fn no_name_begins_or_goes_on_with_two_dashes() {
        let name = joined("abcdef-ghijklmnop", "suffix", 23);
        assert_eq!(name.len(), 22, "{name}");
        assert!(!name.contains("--"), "{name}");
        assert!(!joined("-----------------------", "suffix", 20).starts_with('-'));
    }

    proptest! {
        #[test]
        fn names_fit(base in "[a-z][a-z0-9.-]{0,80}", limit in 30_usize..70) {
            prop_assert!(joined(&base, "0123456789", limit).len() <= limit);
        }
    }
}
