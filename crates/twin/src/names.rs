//! Names and hashes that follow from content: what a controller makes has the same name however often it is made, so a
//! run that does not see its own last write yet repeats it instead of doing it twice. Pure.

use serde::Serialize;
use serde_json::Value;

/// The letters of upstream's generated names: no vowels, so that no words come out.
const LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
/// Letters of a suffix.
const SUFFIX: usize = 5;
/// Letters of the hash of a template; upstream's are as long.
const HASH: usize = 10;
/// The longest prefix of a pod's name, so that the whole fits into a label.
const LONGEST: usize = 63 - SUFFIX - 1;

/// A suffix that follows from a text.
pub(crate) fn suffix(of: &str) -> String {
    letters(fnv(of.as_bytes()), SUFFIX)
}

/// A name made of a prefix and a suffix that follows from a text.
pub(crate) fn named(prefix: &str, of: &str) -> String {
    let prefix: String = prefix.chars().take(LONGEST).collect();
    format!("{}-{}", prefix.trim_end_matches('-'), suffix(of))
}

/// The hash of a template, told apart from others of the same hash by how often that happened.
pub(crate) fn template_hash(template: &impl Serialize, collisions: i32) -> String {
    let value = serde_json::to_value(template).unwrap_or_default();
    let text = format!("{}/{collisions}", canonical(&value));
    letters(fnv(text.as_bytes()), HASH)
}

/// The same text for values that are equal; serde_json keeps keys in order unless somebody turns that off.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().filter(|(_, value)| !value.is_null()).collect();
            fields.sort_by_key(|(key, _)| *key);
            let fields: Vec<String> = fields
                .into_iter()
                .map(|(key, value)| format!("{key:?}:{}", canonical(value)))
                .collect();
            format!("{{{}}}", fields.join(","))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        other => other.to_string(),
    }
}

/// FNV-1a and a finish that spreads it over all bits.
fn fnv(bytes: &[u8]) -> u64 {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

fn letters(mut hash: u64, length: usize) -> String {
    let base = LETTERS.len() as u64;
    let next = |_| {
        let letter = LETTERS[usize::try_from(hash % base).unwrap_or_default()];
        hash /= base;
        char::from(letter)
    };
    (0..length).map(next).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hashes_follow_from_content_alone() {
        let template = json!({"spec": {"containers": [{"name": "a"}], "x": null}});
        let same = json!({"spec": {"containers": [{"name": "a"}]}});
        assert_eq!(template_hash(&template, 0), template_hash(&same, 0));
        assert_ne!(template_hash(&template, 0), template_hash(&template, 1));
        assert_eq!(template_hash(&template, 0).len(), HASH);
    }

    #[test]
    fn names_are_short_enough() {
        let name = named(&"a".repeat(200), "x");
        assert_eq!(name.len(), 63);
        assert_ne!(named("a", "1"), named("a", "2"));
    }
}
