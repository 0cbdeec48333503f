//! Optional parts of OpenShift that a hosted cluster has or lacks.

use serde::{Deserialize, Serialize};

use crate::{
    schema::{JsonSchema, atomic, immutable, rule},
    text::string_enum,
};

string_enum! {
    /// An optional part of OpenShift.
    pub enum OptionalCapability {
        /// The internal image registry.
        ImageRegistry,
        /// Sample templates and image streams.
        OpenShiftSamples = "openshift-samples",
        /// Reports of cluster health to Red Hat.
        Insights,
        /// Management of bare-metal hosts.
        BareMetal = "baremetal",
        /// The web console of the hosted cluster.
        Console,
        /// Tuning of nodes by profiles.
        NodeTuning,
        /// The ingress controller.
        Ingress,
    }
}

/// Which optional parts a hosted cluster has; chosen once, when it is created.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = immutable("capabilities"),
    transform = rule(
        "!has(self.enabled) || !has(self.disabled) || self.disabled.all(d, !(d in self.enabled))",
        "a capability must not be listed under both enabled and disabled",
    ),
)]
pub struct Capabilities {
    /// Parts that the cluster has although they are off by default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 25), transform = atomic(), transform = immutable("enabled"))]
    pub enabled: Vec<OptionalCapability>,
    /// Parts that the cluster lacks although they are on by default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(max = 25),
        transform = atomic(),
        transform = immutable("disabled"),
        transform = rule(
            "'Console' in self || !('Ingress' in self)",
            "the console needs ingress: disable Console together with Ingress",
        ),
    )]
    pub disabled: Vec<OptionalCapability>,
}
