//! Installs our CustomResourceDefinitions and waits until they serve.

use anyhow::{Context as _, Result, bail};
use hyperplane_api::{crd, schema::FeatureSet};
use hyperplane_testbed::ControlPlane;

/// Applies the definitions of a feature set as a user would, and waits until all are Established.
pub async fn install(control_plane: &ControlPlane, features: FeatureSet) -> Result<()> {
    let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": crd::definitions(features)});
    let applied = control_plane
        .kubectl_with_input(&["apply", "--server-side", "-f", "-"], &list.to_string())
        .await?;
    if !applied.status.success() {
        bail!("kubectl apply: {}", applied.stderr);
    }
    let waited = control_plane
        .kubectl(&["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"])
        .await
        .context("waiting for the definitions")?;
    if !waited.status.success() {
        bail!("kubectl wait: {}", waited.stderr);
    }
    Ok(())
}
