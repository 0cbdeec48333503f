//! Every rule of our schemas on a real API server.

use anyhow::Result;
use hyperplane_api::schema::FeatureSet;
use hyperplane_testbed::ControlPlane;

use crate::support::{definitions, rules};

#[tokio::test]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn every_rule_holds_and_breaks_where_it_should() -> Result<()> {
    let control_plane = ControlPlane::shared().await?;
    definitions::install(control_plane, FeatureSet::CustomNoUpgrade).await?;
    rules::judge_all(&control_plane.client()?).await
}
