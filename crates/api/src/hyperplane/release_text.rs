//! The short texts of a release. How versions are ordered is not known here.

use serde::{Deserialize, Serialize};

use crate::{
    schema::{JsonSchema, pattern},
    text::{string_enum, string_type},
};

string_type! {
    /// The name of a distribution, such as kubernetes or openshift.
    pub struct DistributionName {
        length: 1..=63,
        matches: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
            => "must be lower-case letters, digits and dashes, such as kubernetes",
    }
}

string_type! {
    /// A version of Kubernetes, or of a distribution that keeps its numbers.
    pub struct KubernetesVersion {
        length: 1..=64,
        matches: r"^v?[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]*[0-9A-Za-z])?$"
            => "must be a version of Kubernetes such as v1.36.4 or v1.33.7-3",
    }
}

string_type! {
    /// A version of anything that a release names: a component, an extension, a provider, another release.
    // A keyword and no rule: it stands at many places, and in long lists.
    pub struct VersionText {
        length: 1..=64,
        pattern: "^[0-9A-Za-z]([0-9A-Za-z.+_-]*[0-9A-Za-z])?$" => "must be a version such as 3.5.26 or v4.3.2",
    }
}

string_type! {
    /// Where a container image is pulled from: a name with a tag, a digest or both.
    pub struct ImageReference {
        length: 1..=447,
        pattern: "^[0-9A-Za-z][0-9A-Za-z._:/-]*(@sha256:[0-9a-f]{64})?$"
            => "must be an image such as registry.k8s.io/etcd:3.6.8-0",
    }
}

string_enum! {
    /// By whose rules versions of a distribution are ordered.
    pub enum VersionScheme {
        /// By SemVer: what follows a dash comes before the release.
        Kubernetes = "kubernetes",
        /// By SemVer, but 5.y is 4.(23+y).
        OpenShift = "openshift",
        /// What follows a dash is a rebuild and comes after the release.
        Acp = "acp",
        /// With a counter of rebuilds after +k0s.
        K0s = "k0s",
        /// With a counter of rebuilds after -gke.
        Gke = "gke",
    }
}

/// A minor of Kubernetes, such as 1.30. In YAML it stands in quotes, or 1.30 would be 1.3.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct KubernetesMinor(#[schemars(length(max = 8), transform = pattern(r"^[0-9]+\.[0-9]+$"))] pub String);
