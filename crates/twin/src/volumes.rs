//! Volumes: every claim gets one at once, and a volume goes with its claim. Owns claims' and volumes' status; what is
//! on a volume is the business of whoever uses it.

use std::sync::Arc;

use hyperplane_runtime::{Context, Failure, Next, ObjectKey, Reconciler, Store};
use k8s_openapi::{
    api::core::v1::{
        CSIPersistentVolumeSource, ObjectReference, PersistentVolume, PersistentVolumeClaim, PersistentVolumeSpec,
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::ResourceExt;
use serde_json::json;

use crate::{hosted::Hosted, write};

/// Who makes volumes; also the driver that they name.
pub(crate) const PROVISIONER: &str = "hyperplane.dev/twin";
/// What upstream writes on a claim that it has bound.
const BOUND: &str = "pv.kubernetes.io/bind-completed";
const BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";
/// Who made a volume.
const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";

/// Binds claims.
pub(crate) struct Claims {
    /// Whether claims are bound here; where a real controller does it, only volumes are made.
    pub(crate) binds: bool,
    /// Which claims are ours.
    pub(crate) selects: fn(&PersistentVolumeClaim) -> bool,
    /// What keeps its data on them.
    pub(crate) hosted: Arc<Hosted>,
}

impl Reconciler for Claims {
    type Object = PersistentVolumeClaim;

    const SWEEPS: bool = true;

    async fn reconcile(&self, context: &Context, claim: Arc<PersistentVolumeClaim>) -> Result<Next, Failure> {
        if !(self.selects)(&claim) {
            return Ok(Next::OnChange);
        }
        self.hosted.tidy(&claim.namespace().unwrap_or_default());
        let volume = build(&claim);
        context.apply(&volume).await?;
        if !self.binds {
            return Ok(Next::OnChange);
        }
        if claim.spec.as_ref().is_none_or(|spec| spec.volume_name.is_none()) {
            let change = json!({
                "metadata": {"annotations": {BOUND: "yes", BY_CONTROLLER: "yes"}},
                "spec": {"volumeName": volume.name_any()},
            });
            write::patch::<PersistentVolumeClaim>(context, &ObjectKey::of(claim.as_ref()), &change).await?;
        }
        let spec = volume.spec.unwrap_or_default();
        let status = json!({"phase": "Bound", "accessModes": spec.access_modes, "capacity": spec.capacity});
        context.apply_status(claim.as_ref(), &status).await?;
        Ok(Next::OnChange)
    }

    async fn sweep(&self, _: &Context, key: &ObjectKey) -> Result<(), Failure> {
        self.hosted.tidy(&key.namespace);
        Ok(())
    }
}

/// Whether a claim has its volume.
pub(crate) fn is_bound(claim: &PersistentVolumeClaim) -> bool {
    claim.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Bound")
}

/// The volume of a claim.
fn build(claim: &PersistentVolumeClaim) -> PersistentVolume {
    let spec = claim.spec.clone().unwrap_or_default();
    let uid = claim.uid().unwrap_or_default();
    let name = spec.volume_name.unwrap_or_else(|| format!("pvc-{uid}"));
    let annotations = [(PROVISIONED_BY.to_owned(), PROVISIONER.to_owned())];
    PersistentVolume {
        metadata: ObjectMeta {
            name: Some(name),
            annotations: Some(annotations.into()),
            ..ObjectMeta::default()
        },
        spec: Some(PersistentVolumeSpec {
            capacity: spec.resources.and_then(|resources| resources.requests),
            access_modes: spec.access_modes,
            storage_class_name: spec.storage_class_name,
            volume_mode: spec.volume_mode,
            persistent_volume_reclaim_policy: Some("Delete".to_owned()),
            claim_ref: Some(ObjectReference {
                api_version: Some("v1".to_owned()),
                kind: Some("PersistentVolumeClaim".to_owned()),
                name: Some(claim.name_any()),
                namespace: claim.namespace(),
                uid: Some(uid.clone()),
                ..ObjectReference::default()
            }),
            csi: Some(CSIPersistentVolumeSource {
                driver: "twin.hyperplane.dev".to_owned(),
                volume_handle: uid,
                ..CSIPersistentVolumeSource::default()
            }),
            ..PersistentVolumeSpec::default()
        }),
        status: None,
    }
}

/// Takes volumes away that nobody claims any more.
pub(crate) struct Volumes {
    /// Every claim.
    pub(crate) claims: Store<PersistentVolumeClaim>,
    /// Whether the phase of a volume is said here, and not by a real controller.
    pub(crate) binds: bool,
}

impl Reconciler for Volumes {
    type Object = PersistentVolume;

    async fn reconcile(&self, context: &Context, volume: Arc<PersistentVolume>) -> Result<Next, Failure> {
        if volume.annotations().get(PROVISIONED_BY).map(String::as_str) != Some(PROVISIONER) {
            return Ok(Next::OnChange);
        }
        let is_claimed = claim_of(&volume).is_some_and(|(key, uid)| {
            self.claims
                .get(&key)
                .is_some_and(|claim| claim.uid().as_deref() == Some(uid))
        });
        if self.binds {
            let phase = if is_claimed { "Bound" } else { "Released" };
            context.apply_status(volume.as_ref(), &json!({"phase": phase})).await?;
        }
        if !is_claimed {
            context.delete(volume.as_ref()).await?;
        }
        Ok(Next::OnChange)
    }
}

/// Who claims a volume.
pub(crate) fn claim_of(volume: &PersistentVolume) -> Option<(ObjectKey, &str)> {
    let claim = volume.spec.as_ref()?.claim_ref.as_ref()?;
    let key = ObjectKey::namespaced(claim.namespace.clone()?, claim.name.clone()?);
    Some((key, claim.uid.as_deref()?))
}
