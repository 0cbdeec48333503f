//! Feature gates and the three sets in which HyperShift publishes its APIs.

use std::{fmt, str::FromStr};

use schemars::{Schema, transform::Transform};
use serde_json::{Map, Value};

use super::marker;

macro_rules! feature_gates {
    ($($(#[$meta:meta])* $gate:ident in $first:ident;)+) => {
        /// A part of the API that only some feature sets carry.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum FeatureGate {
            $($(#[$meta])* $gate,)+
        }

        impl FeatureGate {
            /// Every gate.
            pub const ALL: &[Self] = &[$(Self::$gate),+];

            /// The smallest feature set that carries this gate.
            pub const fn first_set(self) -> FeatureSet {
                match self { $(Self::$gate => FeatureSet::$first,)+ }
            }
        }

        impl fmt::Display for FeatureGate {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(match self { $(Self::$gate => stringify!($gate),)+ })
            }
        }
    };
}

feature_gates! {
    /// The GCP platform.
    GcpPlatform in TechPreviewNoUpgrade;
    /// The OpenStack platform.
    OpenStack in TechPreviewNoUpgrade;
    /// Backups of a hosted etcd as objects.
    EtcdBackup in TechPreviewNoUpgrade;
    /// More than one etcd cluster behind one API server.
    EtcdSharding in TechPreviewNoUpgrade;
    /// The choice of an operating system stream for a node pool.
    OsStreams in TechPreviewNoUpgrade;
    /// Settings of OpenShift's cluster-version operator.
    ClusterVersionOperatorConfiguration in TechPreviewNoUpgrade;
    /// How strictly components follow the TLS settings of the API server.
    TlsAdherence in TechPreviewNoUpgrade;
    /// Which risks of an update the cluster accepts.
    ClusterUpdateAcceptRisks in CustomNoUpgrade;
    /// Whether a release, and an import of images, is for one processor architecture or many.
    ImageStreamImportMode in CustomNoUpgrade;
    /// Encryption of what the API server stores by an outside key service.
    KmsEncryption in CustomNoUpgrade;
    /// The choice of groups for the key exchange of TLS.
    TlsGroupPreferences in CustomNoUpgrade;
    /// Claims of a user that are fetched from outside of the token.
    ExternalClaimsSources in CustomNoUpgrade;
    /// Labels on the routes of OpenShift's components.
    IngressComponentRouteLabels in CustomNoUpgrade;
    /// Whether network observability comes with the cluster.
    NetworkObservabilityInstall in CustomNoUpgrade;
}

/// A published selection of gates, each larger than the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum FeatureSet {
    /// What is supported and can be upgraded.
    #[default]
    Default,
    /// Adds previews; a cluster that uses them cannot be upgraded.
    TechPreviewNoUpgrade,
    /// Adds everything.
    CustomNoUpgrade,
}

impl FeatureSet {
    /// Every set, the smallest first.
    pub const ALL: &[Self] = &[Self::Default, Self::TechPreviewNoUpgrade, Self::CustomNoUpgrade];

    /// Whether the set carries a gate.
    pub fn has(self, gate: FeatureGate) -> bool {
        self >= gate.first_set()
    }

    /// Whether the set carries the gate that a marker in a schema names.
    pub(super) fn has_named(self, name: &str) -> bool {
        FeatureGate::ALL
            .iter()
            .any(|gate| gate.to_string() == name && self.has(*gate))
    }
}

impl fmt::Display for FeatureSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Default => "Default",
            Self::TechPreviewNoUpgrade => "TechPreviewNoUpgrade",
            Self::CustomNoUpgrade => "CustomNoUpgrade",
        })
    }
}

/// A name that is not a feature set.
#[derive(Debug, thiserror::Error)]
#[error("\"{0}\" is not a feature set: use Default, TechPreviewNoUpgrade or CustomNoUpgrade")]
pub struct UnknownFeatureSet(String);

impl FromStr for FeatureSet {
    type Err = UnknownFeatureSet;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .iter()
            .find(|set| set.to_string() == text)
            .copied()
            .ok_or_else(|| UnknownFeatureSet(text.to_owned()))
    }
}

/// The field exists only where the gate is on.
pub fn gated(gate: FeatureGate) -> impl Transform {
    move |schema: &mut Schema| {
        schema.insert(marker::FEATURE_GATE.to_owned(), Value::from(gate.to_string()));
    }
}

/// These values of an enumeration, separated by commas, exist only where the gate is on.
pub fn gated_values(gate: FeatureGate, values: &'static str) -> impl Transform {
    move |schema: &mut Schema| {
        let gated = schema
            .ensure_object()
            .entry(marker::GATED_VALUES)
            .or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(gated) = gated {
            gated.extend(
                values
                    .split(',')
                    .map(|value| (value.to_owned(), gate.to_string().into())),
            );
        }
    }
}
