//! A control plane for tests.

#[path = "../../api/tests/support/samples.rs"]
mod samples;

use hyperplane_api::hypershift::hosted_control_plane::HostedControlPlane;
use serde_json::{Value, json};

/// The namespace of the control plane.
pub(crate) const NAMESPACE: &str = "clusters-example";

/// A control plane with annotations.
pub(crate) fn control_plane(annotations: &Value) -> HostedControlPlane {
    let metadata = json!({"name": "example", "namespace": NAMESPACE, "annotations": annotations});
    hyperplane_objects::read(samples::hosted_control_plane(&json!({"metadata": metadata}))).unwrap()
}
