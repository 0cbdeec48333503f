//! Labels and annotations of sets, machines and instances.

use std::collections::BTreeMap;

use hyperplane_api::{
    cluster_api::machine_set::MachineSet,
    constants::{Annotation, annotations},
};
use hyperplane_rollout::{fingerprint, short};
use kube::Resource;

/// The longest value of a label.
const LONGEST_LABEL: usize = 63;

/// An annotation.
pub(crate) fn pair(key: Annotation, value: &str) -> (String, String) {
    (key.as_str().to_owned(), value.to_owned())
}

/// The annotations that say for which pool and for which cluster an object was made, handed on from its owner.
pub(crate) fn of_pool<K: Resource>(owner: &K) -> BTreeMap<String, String> {
    [annotations::NODE_POOL, annotations::CLUSTER, annotations::SCOPE]
        .into_iter()
        .filter_map(|key| key.of(owner).map(|value| pair(key, value)))
        .collect()
}

/// A name as the value of a label: a hash of it where it is too long.
pub(crate) fn label_value(name: &str) -> String {
    if name.len() <= LONGEST_LABEL {
        name.to_owned()
    } else {
        short(&fingerprint([name])).to_owned()
    }
}

/// The revision of a set; one without counts as older than all others.
pub(crate) fn revision(set: &MachineSet) -> u64 {
    let found = annotations::REVISION.of(set).and_then(|revision| revision.parse().ok());
    found.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_become_hashes() {
        assert_eq!(label_value("pool"), "pool");
        let long = label_value(&"a".repeat(64));
        assert_eq!(long.len(), 10);
        assert_ne!(long, label_value(&"a".repeat(65)));
    }
}
