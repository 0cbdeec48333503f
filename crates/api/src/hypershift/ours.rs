//! The fields that Hyperplane adds to HyperShift's kinds, all of them, and their annotation twins.
//!
//! Each is optional. Where HyperShift's own CustomResourceDefinitions are installed the API server drops the field;
//! there the annotation of the same name says the same. A field of a status needs no twin: nobody asks with it.

use std::str::FromStr as _;

use serde::{Deserialize, Serialize};

use crate::{
    constants::ours::DISTRIBUTION_VERSION,
    hypershift::hosted_cluster::HostedCluster,
    schema::{JsonSchema, properties},
    text::{InvalidText, string_type},
};

string_type! {
    /// The version of a whole cluster: control plane, node pools and extensions together. What it consists of is
    /// said by the DistributionRelease of that version.
    pub struct DistributionVersion {
        length: 1..=64,
        matches: r"^[0-9A-Za-z]([0-9A-Za-z.+_-]*[0-9A-Za-z])?$"
            => "must be a version such as 4.1.0-3 or v1.36.4",
    }
}

/// `HostedControlPlane.status.initialization`: what Cluster API's contract v1beta2 asks of a control plane.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct ControlPlaneInitialization {
    /// The API server has taken requests once; stays true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_plane_initialized: Option<bool>,
}

/// The version that a whole cluster is asked to have: the field, or else its annotation twin.
///
/// The annotation was judged by no schema, so it is judged here.
pub fn distribution_version(cluster: &HostedCluster) -> Result<Option<DistributionVersion>, InvalidText> {
    if let Some(version) = &cluster.spec.distribution_version {
        return Ok(Some(version.clone()));
    }
    cluster
        .metadata
        .annotations
        .as_ref()
        .and_then(|annotations| annotations.get(DISTRIBUTION_VERSION.as_str()))
        .map(|text| DistributionVersion::from_str(text))
        .transpose()
}
