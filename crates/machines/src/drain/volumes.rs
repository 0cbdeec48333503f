//! Volumes of pods that stay on a node which is emptied: nobody takes them off before the instance ends, so that nobody
//! may wait for them.

use std::collections::BTreeSet;

use hyperplane_runtime::ObjectKey;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{PersistentVolume, Pod};
use kube::ResourceExt as _;

use super::plan::stays;
use crate::nodes::{HostedCluster, NoAnswer};

/// The names of volumes on a node that belong to pods which stay there, as the Node lists what is attached.
pub(crate) async fn staying(hosted: &HostedCluster, node: &str, now: Timestamp) -> Result<BTreeSet<String>, NoAnswer> {
    let mut names = BTreeSet::new();
    for claim in claims(&hosted.pods(node).await?, now) {
        let claim = hosted.claim(&claim).await?;
        let volume = claim.and_then(|claim| claim.spec?.volume_name);
        let Some(volume) = volume.filter(|volume| !volume.is_empty()) else {
            continue;
        };
        names.extend(hosted.volume(&volume).await?.as_ref().and_then(attached_name));
    }
    Ok(names)
}

/// The claims of pods that stay.
fn claims(pods: &[Pod], now: Timestamp) -> BTreeSet<ObjectKey> {
    let staying = pods.iter().filter(|pod| stays(pod, now));
    staying.flat_map(claims_of).collect()
}

fn claims_of(pod: &Pod) -> Vec<ObjectKey> {
    let namespace = pod.namespace().unwrap_or_default();
    let volumes = pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
    let names = volumes.filter_map(|volume| match (&volume.persistent_volume_claim, &volume.ephemeral) {
        (Some(claim), _) => Some(claim.claim_name.clone()),
        // The claim of a volume that lives as long as its pod is named after both.
        (None, Some(_)) => Some(format!("{}-{}", pod.name_any(), volume.name)),
        (None, None) => None,
    });
    names.map(|name| ObjectKey::namespaced(&namespace, name)).collect()
}

/// How a Node lists a volume that is attached to it; drivers are the only ones who attach any.
fn attached_name(volume: &PersistentVolume) -> Option<String> {
    let source = volume.spec.as_ref()?.csi.as_ref()?;
    Some(format!("kubernetes.io/csi/{}^{}", source.driver, source.volume_handle))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn pod(name: &str, metadata: &Value) -> Pod {
        let mut all = json!({"name": name, "namespace": "shop"});
        if let (Some(all), Some(metadata)) = (all.as_object_mut(), metadata.as_object()) {
            all.extend(metadata.clone());
        }
        serde_json::from_value(json!({"metadata": all, "spec": {"containers": [], "volumes": [
            {"name": "data", "persistentVolumeClaim": {"claimName": format!("claim-of-{name}")}},
            {"name": "scratch", "ephemeral": {}},
            {"name": "config", "configMap": {"name": "c"}},
        ]}}))
        .unwrap()
    }

    #[test]
    fn only_claims_of_pods_that_stay_are_looked_for() {
        let skipped = json!({"labels": {"cluster.x-k8s.io/drain": "skip"}});
        let pods = [pod("stays", &skipped), pod("goes", &json!({}))];
        let found: Vec<String> = claims(&pods, Timestamp::UNIX_EPOCH)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(found, ["shop/claim-of-stays", "shop/stays-scratch"]);
    }

    #[test]
    fn volumes_are_named_as_nodes_name_them() {
        let volume = |source: Value| serde_json::from_value(json!({"spec": source})).unwrap();
        let attached = volume(json!({"csi": {"driver": "csi.example.com", "volumeHandle": "v-1"}}));
        assert_eq!(
            attached_name(&attached).as_deref(),
            Some("kubernetes.io/csi/csi.example.com^v-1")
        );
        assert_eq!(attached_name(&volume(json!({"hostPath": {"path": "/data"}}))), None);
    }
}
