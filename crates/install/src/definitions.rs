//! Which kinds are defined, and whose they are.

use hyperplane_api::{
    constants::{groups, ours},
    crd,
};
use serde_json::{Value, json};

use crate::options::{Kinds, Options};

/// Whose a kind is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Ours, or HyperShift's in our shape: nothing works without it.
    Own,
    /// That of Cluster API, without which there are no machines of ours.
    ClusterApi,
    /// That of a provider, without which its platform is not used.
    Provider,
}

/// Whose a definition is, by its group.
pub fn origin(definition: &Value) -> Origin {
    match definition["spec"]["group"].as_str().unwrap_or_default() {
        groups::CLUSTER_API => Origin::ClusterApi,
        groups::INFRASTRUCTURE | groups::AGENT_PROVIDER => Origin::Provider,
        _ => Origin::Own,
    }
}

/// The definitions that the options ask for. All carry our label, by which we know them again.
pub fn definitions(options: &Options) -> Vec<Value> {
    let wanted: &[Origin] = match options.kinds {
        Kinds::All => &[Origin::Own, Origin::ClusterApi, Origin::Provider],
        Kinds::WithoutProviders => &[Origin::Own, Origin::ClusterApi],
        Kinds::Own => &[Origin::Own],
        Kinds::Nothing => &[],
    };
    let all = crd::definitions(options.feature_set).into_iter();
    let all = all.chain(crd::provider_definitions(options.feature_set));
    all.filter(|definition| wanted.contains(&origin(definition)))
        .map(labelled)
        .collect()
}

fn labelled(mut definition: Value) -> Value {
    let labels = &mut definition["metadata"]["labels"];
    if labels.is_null() {
        *labels = json!({});
    }
    labels[ours::MANAGED_BY.as_str()] = ours::MANAGED_BY_US.into();
    definition
}
