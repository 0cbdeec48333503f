//! Installs our CustomResourceDefinitions and waits until they serve.

use anyhow::{Context as _, Result, bail};
use hyperplane_api::{crd, schema::FeatureSet};
use hyperplane_testbed::ControlPlane;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client, ResourceExt as _,
    api::PostParams,
    runtime::wait::{await_condition, conditions::is_crd_established},
};
use serde_json::Value;

/// Applies the definitions of a feature set as a user would, waits until all are Established, and gives back what kubectl
/// said beside its results.
pub async fn install(control_plane: &ControlPlane, features: FeatureSet) -> Result<String> {
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
    Ok(applied.stderr)
}

/// Creates the definitions of a feature set, and waits until all are Established.
pub async fn create(client: &Client, features: FeatureSet) -> Result<()> {
    create_these(client, crd::definitions(features)).await
}

/// Creates definitions, and waits until all are Established.
pub async fn create_these(client: &Client, definitions: Vec<Value>) -> Result<()> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    for definition in definitions {
        let definition: CustomResourceDefinition = hyperplane_objects::read(&definition)?;
        let name = definition.name_any();
        api.create(&PostParams::default(), &definition)
            .await
            .with_context(|| name.clone())?;
        await_condition(api.clone(), &name, is_crd_established()).await?;
    }
    Ok(())
}
