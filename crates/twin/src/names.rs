//! Names and hashes that follow from content: what a controller makes has the same name however often it is made, so a
//! run that does not see its own last write yet repeats it instead of doing it twice. Pure.

use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt as _;
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

/// The hash of a template, told apart from others of the same hash by how often that happened. It begins with the hash
/// of what is no annotation: annotations are where components put hashes of their certificates, whose keys no seed
/// decides, and sets of one workload stand in the order of their names.
pub(crate) fn template_hash(template: &impl Serialize, collisions: i32) -> String {
    let mut value = serde_json::to_value(template).unwrap_or_default();
    let whole = format!("{}/{collisions}", canonical(&value));
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("annotations");
    }
    let plain = canonical(&value);
    let (first, rest) = (HASH / 2, HASH - HASH / 2);
    letters(fnv(plain.as_bytes()), first) + &letters(fnv(whole.as_bytes()), rest)
}

/// What a pod is called in every life of a seed: its name without the hash of its template, which is one of
/// certificates, too. How long it takes to do something is drawn by this name.
pub(crate) fn steady(pod: &Pod) -> String {
    let (namespace, name) = (pod.namespace().unwrap_or_default(), pod.name_any());
    let hash = pod.labels().get("pod-template-hash");
    let name = hash.map_or(name.clone(), |hash| name.replacen(&format!("-{hash}"), "", 1));
    format!("{namespace}/{name}")
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
    fn hashes_of_certificates_decide_no_order() {
        let template = |hash: &str, image: &str| {
            let annotations = json!({"config-hash": hash});
            json!({"metadata": {"annotations": annotations}, "spec": {"containers": [{"name": "a", "image": image}]}})
        };
        let hashes = ["1", "2"].map(|hash| template_hash(&template(hash, "a:1"), 0));
        assert_ne!(hashes[0], hashes[1]);
        assert_eq!(hashes[0][..HASH / 2], hashes[1][..HASH / 2]);
        assert_ne!(
            hashes[0][..HASH / 2],
            template_hash(&template("1", "a:2"), 0)[..HASH / 2]
        );
    }

    #[test]
    fn a_pod_is_called_the_same_whatever_is_in_its_hash() {
        let pod = |hash: &str| -> Pod {
            let labels = json!({"pod-template-hash": hash});
            let metadata = json!({"namespace": "n", "name": format!("web-{hash}-x2"), "labels": labels});
            hyperplane_objects::read(json!({"metadata": metadata})).unwrap()
        };
        assert_eq!(steady(&pod("abc")), "n/web-x2");
        assert_eq!(steady(&pod("abc")), steady(&pod("def")));
    }

    #[test]
    fn names_are_short_enough() {
        let name = named(&"a".repeat(200), "x");
        assert_eq!(name.len(), 63);
        assert_ne!(named("a", "1"), named("a", "2"));
    }
}
