//! Whether controllers leave an object alone: by itself, or with its whole cluster.

use hyperplane_api::{cluster_api::cluster::Cluster, constants::annotations};
use kube::Resource;

/// Why an object is left alone, in words; none if it is not. The annotation counts by being there, whatever its value.
pub(crate) fn pause(object: &impl Resource, cluster: Option<&Cluster>) -> Option<&'static str> {
    let found = object.meta().annotations.as_ref();
    if found.is_some_and(|found| found.contains_key(annotations::PAUSED.as_str())) {
        Some("an annotation says so")
    } else if cluster.is_some_and(|cluster| cluster.spec.paused == Some(true)) {
        Some("its cluster is paused")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use hyperplane_api::cluster_api::cluster::ClusterSpec;
    use k8s_openapi::api::core::v1::ConfigMap;
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_is_paused_by_itself_or_with_its_cluster() {
        let object = |annotations: serde_json::Value| -> ConfigMap {
            hyperplane_objects::read(json!({"metadata": {"annotations": annotations}})).unwrap()
        };
        let cluster = |paused: Option<bool>| {
            let spec = ClusterSpec {
                paused,
                ..ClusterSpec::default()
            };
            Cluster::new("c", spec)
        };
        let (marked, plain) = (object(json!({"cluster.x-k8s.io/paused": ""})), object(json!({})));
        assert!(pause(&marked, None).is_some());
        assert!(pause(&plain, Some(&cluster(Some(true)))).is_some());
        assert!(pause(&plain, Some(&cluster(Some(false)))).is_none());
        assert!(pause(&plain, Some(&cluster(None))).is_none());
        assert!(pause(&plain, None).is_none());
    }
}
