//! Whose infrastructure a name stands for. Machines, load balancers and disks are found by it, so that of two control
//! planes with one name each would take the other's: the first has it, whoever asks later waits until it is free.

use std::{cmp::Reverse, sync::Arc};

use hyperplane_api::{
    constants::annotations,
    hypershift::{hosted_cluster::HostedCluster, hosted_control_plane::HostedControlPlane},
};
use hyperplane_runtime::Store;
use kube::ResourceExt as _;

/// The index of control planes, and that of clusters, by the name of their infrastructure.
pub(crate) const INDEX: &str = "infra-id";

/// A store that also finds control planes by the name of their infrastructure.
pub(crate) fn indexed(store: Store<HostedControlPlane>) -> Store<HostedControlPlane> {
    store.add_index(INDEX, of_control_plane);
    store
}

/// The name in the words of the index.
pub(crate) fn of_control_plane(control_plane: &HostedControlPlane) -> Vec<String> {
    vec![control_plane.spec.infra_id.clone()]
}

/// The name that a cluster has or asks for, in the words of the index.
pub(crate) fn of_cluster(cluster: &HostedCluster) -> Vec<String> {
    let id = cluster.spec.infra_id.as_ref();
    id.map(|id| id.as_str().to_owned()).into_iter().collect()
}

/// Who else has the name, and has it by right: whoever has a control plane while this cluster has none, or had one before
/// it. Two that began in the same moment are told apart by their namespaces, so that exactly one goes on.
pub(crate) fn holder(own: Option<&HostedControlPlane>, all: &[Arc<HostedControlPlane>], home: &str) -> Option<String> {
    let age = |control_plane: &HostedControlPlane| {
        let created = control_plane.metadata.creation_timestamp.as_ref();
        let created = created.map(|created| created.0);
        // One that the server has not dated yet is the youngest of all.
        (created.is_none(), created, control_plane.namespace())
    };
    let others = all.iter().filter(|other| other.namespace().as_deref() != Some(home));
    let first = others.max_by_key(|other| Reverse(age(other)))?;
    let is_first = own.is_none_or(|own| age(first) < age(own));
    is_first.then(|| match annotations::CLUSTER.of(first.as_ref()) {
        Some(title) => title.to_owned(),
        None => format!("{}/{}", first.namespace().unwrap_or_default(), first.name_any()),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{cluster, desired, live, seen, settings};

    fn control_plane(namespace: &str, created: Option<&str>) -> Arc<HostedControlPlane> {
        let cluster = cluster(&json!({}));
        let made = desired(&cluster, &seen(&cluster), &settings()).control_plane;
        let title = namespace.replacen('-', "/", 1);
        let metadata = json!({"namespace": namespace, "creationTimestamp": created,
            "annotations": {"hypershift.openshift.io/cluster": title}});
        live(&made, &json!({"metadata": metadata}))
    }

    #[test]
    fn exactly_one_of_two_has_the_name() {
        let (early, late) = (Some("2026-01-01T00:00:00Z"), Some("2026-01-02T00:00:00Z"));
        for (blue, red, blue_waits, red_waits) in [
            (early, late, false, true),
            (late, early, true, false),
            (early, early, false, true),
            (None, late, true, false),
            (None, None, false, true),
        ] {
            let (blue, red) = (control_plane("a-blue", blue), control_plane("b-red", red));
            let all = [Arc::clone(&blue), Arc::clone(&red)];
            let waits = |own: &HostedControlPlane, home: &str| holder(Some(own), &all, home);
            assert_eq!(waits(&blue, "a-blue").as_deref(), blue_waits.then_some("b/red"));
            assert_eq!(waits(&red, "b-red").as_deref(), red_waits.then_some("a/blue"));
        }
    }

    #[test]
    fn whoever_has_no_control_plane_yet_waits_for_anybody_else() {
        let red = control_plane("b-red", None);
        assert_eq!(holder(None, &[Arc::clone(&red)], "a-blue").as_deref(), Some("b/red"));
        assert_eq!(
            holder(None, &[red], "b-red"),
            None,
            "what is in its own namespace is its own"
        );
        assert_eq!(holder(None, &[], "a-blue"), None);
    }
}
