//! The schemes by which versions are written, by name. What a scheme makes of a text is in `grammar` and `precedence`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// By whose rules a version is written and ordered.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// Kubernetes and all that follows SemVer: what follows a dash comes before the release, a build does not count.
    Kubernetes,
    /// OpenShift and OKD: SemVer, but 5.y is 4.(23+y), and an architecture may stand at the end.
    OpenShift,
    /// Alauda's platform and the components it rebuilds: what comes after a dash is a rebuild of the release, unless a
    /// word such as `rc` says otherwise.
    Acp,
    /// k0s: Kubernetes with a counter of rebuilds, written `+k0s.1`, or `-k0s.1` where a plus is not allowed.
    K0s,
    /// Google's Kubernetes: with a counter of rebuilds, written `-gke.1350000`.
    Gke,
}

impl Scheme {
    /// All schemes, in their order.
    pub const ALL: [Self; 5] = [Self::Kubernetes, Self::OpenShift, Self::Acp, Self::K0s, Self::Gke];

    /// The name by which a scheme is written in configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kubernetes => "kubernetes",
            Self::OpenShift => "openshift",
            Self::Acp => "acp",
            Self::K0s => "k0s",
            Self::Gke => "gke",
        }
    }

    /// A version as this scheme writes it, to show to someone who wrote something else.
    pub(super) const fn example(self) -> &'static str {
        match self {
            Self::Kubernetes => "v1.36.2",
            Self::OpenShift => "4.18.3",
            Self::Acp => "v1.33.7-3",
            Self::K0s => "v1.31.3+k0s.0",
            Self::Gke => "1.33.4-gke.1350000",
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Scheme {
    type Err = SchemeError;

    fn from_str(name: &str) -> Result<Self, SchemeError> {
        Self::ALL
            .into_iter()
            .find(|scheme| scheme.name() == name)
            .ok_or_else(|| SchemeError { name: name.to_owned() })
    }
}

/// A name that no scheme has.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{name:?} is not a scheme of versions: write one of {}", Scheme::ALL.map(Scheme::name).join(", "))]
pub struct SchemeError {
    name: String,
}
