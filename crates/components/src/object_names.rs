//! The names that components give to what they write, whatever the control plane: whoever copies objects of a user into
//! the same namespace must not take them.

use std::collections::BTreeSet;

use crate::{
    assets,
    catalogue::{catalogue, manager_catalogue},
    manifest::Manifest,
};

/// Every Secret and ConfigMap that a component may write in any control plane, by kind and name.
pub fn object_names() -> BTreeSet<(&'static str, String)> {
    let components = catalogue().iter().chain(manager_catalogue());
    let manifests = components.flat_map(assets::manifests).map(|(_, manifest)| manifest);
    let data = manifests.filter(|manifest| matches!(manifest, Manifest::ConfigMap(_) | Manifest::Secret(_)));
    data.map(|manifest| manifest.object_name())
        .map(|name| (name.kind.as_str(), name.name))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::support::{World, extended_release};

    #[test]
    fn whatever_is_rendered_is_among_the_names() {
        let names = object_names();
        let wanted = json!({"spec": {
            "platform": {"type": "KubeVirt"},
            "secretEncryption": {"type": "aescbc", "aescbc": {"activeKey": {"name": "one"}}},
        }});
        let rendered = World::new(&wanted, &extended_release()).all_rendered();
        let manifests = rendered.iter().flat_map(|(_, rendered)| &rendered.manifests);
        let found: BTreeSet<(&str, String)> = manifests
            .filter(|manifest| matches!(manifest, Manifest::ConfigMap(_) | Manifest::Secret(_)))
            .map(Manifest::object_name)
            .map(|name| (name.kind.as_str(), name.name))
            .collect();
        assert!(found.is_subset(&names), "{found:?}");
        assert!(found.len() > 8, "{found:?}");
        // What only some control planes have is a name of ours all the same.
        assert!(names.contains(&("ConfigMap", "auth-config".to_owned())));
    }
}
