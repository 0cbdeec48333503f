//! Our definitions on a real API server, as a user installs them and moves from one feature set to the next: no warning,
//! no rule that costs too much, and far from the limits of size.

use anyhow::{Result, ensure};
use hyperplane_api::{crd, schema::FeatureSet};
use hyperplane_testbed::ControlPlane;

use crate::support::definitions;

/// etcd takes no request of more than 1.5 MiB, and an object is stored with an entry for every field of whoever wrote it.
const MOST: usize = 1 << 20;

#[tokio::test]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn definitions_are_installed_and_replaced_without_a_warning() -> Result<()> {
    let control_plane = ControlPlane::shared().await?;
    for features in FeatureSet::ALL {
        let said = definitions::install(control_plane, *features).await?;
        ensure!(!said.contains("Warning"), "{features}: {said}");
        for definition in crd::definitions(*features) {
            let name = definition["metadata"]["name"].as_str().unwrap_or_default();
            let stored = control_plane
                .kubectl(&["get", "crd", name, "-o", "json", "--show-managed-fields"])
                .await?;
            let size = stored.stdout.len();
            ensure!(size < MOST, "{features}: {name} is stored in {size} bytes");
            ensure!(
                !stored.stdout.contains("NonStructuralSchema"),
                "{features}: {name} has no structural schema"
            );
        }
    }
    Ok(())
}
