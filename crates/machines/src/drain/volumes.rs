//! Volumes that have to come off a node before its instance ends: those that the Node lists, and after them those that are
//! attached without being listed. Volumes of pods that stay are not among them: nobody takes these off before the instance
//! ends, so that nobody may wait for them.

use std::collections::BTreeSet;

use hyperplane_runtime::ObjectKey;
use jiff::Timestamp;
use k8s_openapi::api::{
    core::v1::{PersistentVolume, Pod},
    storage::v1::VolumeAttachment,
};
use kube::ResourceExt as _;

use super::plan::stays;
use crate::nodes::{HostedCluster, NoAnswer, NodeView};

/// Volumes of pods that stay, by both of their names.
#[derive(Debug, Default)]
struct Staying {
    /// As Nodes list what is attached.
    listed: BTreeSet<String>,
    /// The names of the objects.
    volumes: BTreeSet<String>,
}

/// The names of volumes that have to come off a node.
pub(crate) async fn volumes_left(
    hosted: &HostedCluster,
    node: &NodeView,
    now: Timestamp,
) -> Result<Vec<String>, NoAnswer> {
    let listed = node.status.volumes_attached.iter().flatten();
    let mut listed: Vec<String> = listed.map(|volume| volume.name.clone()).collect();
    let attached = if listed.is_empty() {
        let attached = hosted.attachments(node.name()).await?;
        if attached.is_empty() {
            return Ok(listed);
        }
        Some(attached)
    } else {
        None
    };
    let staying = staying(hosted, node.name(), now).await?;
    listed.retain(|name| !staying.listed.contains(name));
    if !listed.is_empty() {
        return Ok(listed);
    }
    let attached = match attached {
        Some(attached) => attached,
        None => hosted.attachments(node.name()).await?,
    };
    Ok(attached_beside(&attached, &staying.volumes))
}

/// What is attached, apart from volumes of pods that stay. An attachment without a volume is known by its own name.
fn attached_beside(attached: &[VolumeAttachment], staying: &BTreeSet<String>) -> Vec<String> {
    let volumes = attached.iter().map(|attachment| {
        let volume = attachment.spec.source.persistent_volume_name.clone();
        volume.unwrap_or_else(|| attachment.name_any())
    });
    volumes.filter(|volume| !staying.contains(volume)).collect()
}

async fn staying(hosted: &HostedCluster, node: &str, now: Timestamp) -> Result<Staying, NoAnswer> {
    let mut staying = Staying::default();
    for claim in claims(&hosted.pods(node).await?, now) {
        let claim = hosted.claim(&claim).await?;
        let volume = claim.and_then(|claim| claim.spec?.volume_name);
        let Some(volume) = volume.filter(|volume| !volume.is_empty()) else {
            continue;
        };
        let listed = hosted.volume(&volume).await?.as_ref().and_then(attached_name);
        staying.listed.extend(listed);
        staying.volumes.insert(volume);
    }
    Ok(staying)
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
        hyperplane_objects::read(json!({"metadata": all, "spec": {"containers": [], "volumes": [
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
    fn what_is_attached_is_named_by_its_volume() {
        let attachment = |name: &str, source: Value| -> VolumeAttachment {
            hyperplane_objects::read(json!({"metadata": {"name": name},
                "spec": {"attacher": "csi.example.com", "nodeName": "n", "source": source}}))
            .unwrap()
        };
        let all = [
            attachment("a", json!({"persistentVolumeName": "data"})),
            attachment("b", json!({"persistentVolumeName": "logs"})),
            attachment("c", json!({})),
        ];
        assert_eq!(attached_beside(&all, &["logs".to_owned()].into()), ["data", "c"]);
    }

    #[test]
    fn volumes_are_named_as_nodes_name_them() {
        let volume = |source: Value| hyperplane_objects::read(json!({"spec": source})).unwrap();
        let attached = volume(json!({"csi": {"driver": "csi.example.com", "volumeHandle": "v-1"}}));
        assert_eq!(
            attached_name(&attached).as_deref(),
            Some("kubernetes.io/csi/csi.example.com^v-1")
        );
        assert_eq!(attached_name(&volume(json!({"hostPath": {"path": "/data"}}))), None);
    }
}
