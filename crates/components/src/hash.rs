//! Hashes that tell whether something changed. Every part is preceded by its length, so that no two different lists of
//! parts look alike.

use std::fmt::Write as _;

use hyperplane_api::constants::objects::bundles;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::{
    configuration::client_ca,
    inputs::Objects,
    manifest::Manifest,
    mounts::{Needs, Source, values},
};

/// ConfigMaps that are read anew while a program runs: a change of them restarts nothing.
const READ_WHILE_RUNNING: &[&str] = &[bundles::CLIENT, "etcd-state", client_ca::BOTH, "router"];

/// The hash of everything that pods mount, whichever order it is in.
pub(crate) fn of_mounted(needs: &Needs, rendered: &[Manifest], objects: &Objects) -> String {
    let mut digest = Sha256::new();
    for (source, name) in needs.keys() {
        if *source == Source::ConfigMap && READ_WHILE_RUNNING.contains(&name.as_str()) {
            continue;
        }
        for (key, value) in values(*source, name, rendered, objects).unwrap_or_default() {
            for part in [source.kind().as_bytes(), name.as_bytes(), key.as_bytes(), value] {
                add(&mut digest, part);
            }
        }
    }
    hexadecimal(digest)
}

/// The hash of an object as it is written.
pub(crate) fn of_object(object: &impl Serialize) -> String {
    let text = serde_json::to_vec(object).expect("objects have text keys only, and writing to memory does not fail");
    of_bytes(&text)
}

/// The hash of some bytes.
pub(crate) fn of_bytes(bytes: &[u8]) -> String {
    hexadecimal(Sha256::new().chain_update(bytes))
}

fn add(digest: &mut Sha256, part: &[u8]) {
    let length = u64::try_from(part.len()).expect("a length fits into 64 bits");
    digest.update(length.to_be_bytes());
    digest.update(part);
}

fn hexadecimal(digest: Sha256) -> String {
    let mut text = String::new();
    for byte in digest.finalize() {
        write!(text, "{byte:02x}").expect("memory can be written to");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, sync::Arc};

    use k8s_openapi::api::core::v1::{ConfigMap, PodSpec, Volume};

    use super::*;
    use crate::mounts::needs;

    fn objects(maps: &[(&str, &[(&str, &str)])]) -> Objects {
        let map = |(name, data): &(&str, &[(&str, &str)])| {
            let data: BTreeMap<String, String> = data
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect();
            let object = ConfigMap {
                data: Some(data),
                ..ConfigMap::default()
            };
            ((*name).to_owned(), Arc::new(object))
        };
        Objects {
            config_maps: maps.iter().map(map).collect(),
            ..Objects::default()
        }
    }

    fn pod(names: &[&str]) -> PodSpec {
        let volume = |name: &&str| {
            let mut volume = Volume::default();
            volume.config_map.get_or_insert_default().name = (*name).to_owned();
            volume
        };
        PodSpec {
            volumes: Some(names.iter().map(volume).collect()),
            ..PodSpec::default()
        }
    }

    fn hash(names: &[&str], maps: &[(&str, &[(&str, &str)])]) -> String {
        of_mounted(&needs(&pod(names)), &[], &objects(maps))
    }

    #[test]
    fn the_order_of_volumes_does_not_count() {
        let maps: &[(&str, &[(&str, &str)])] = &[("a", &[("x", "1")]), ("b", &[("y", "2")])];
        assert_eq!(hash(&["a", "b"], maps), hash(&["b", "a"], maps));
    }

    #[test]
    fn parts_that_are_cut_elsewhere_give_another_hash() {
        let whole = hash(&["a"], &[("a", &[("key", "value")])]);
        for other in [
            [("a", &[("keyv", "alue")] as &[(&str, &str)])],
            [("a", &[("ke", "yvalue")])],
            [("a", &[("key", "value"), ("", "")])],
            [("a", &[("key", "valu"), ("e", "")])],
        ] {
            assert_ne!(whole, hash(&["a"], &other), "{other:?}");
        }
        assert_ne!(
            hash(&["a"], &[("a", &[("k", "v")])]),
            hash(&["ak"], &[("ak", &[("", "v")])])
        );
    }

    #[test]
    fn what_is_not_mounted_or_is_read_while_running_does_not_count() {
        let one = hash(
            &["a", "client-ca"],
            &[("a", &[("x", "1")]), ("client-ca", &[("ca.crt", "old")])],
        );
        let other: &[(&str, &[(&str, &str)])] = &[
            ("a", &[("x", "1")]),
            ("b", &[("x", "1")]),
            ("client-ca", &[("ca.crt", "new")]),
        ];
        assert_eq!(one, hash(&["a", "client-ca"], other));
        assert_ne!(one, hash(&["a", "b"], other));
    }
}
