//! How many replicas the parts of a hosted cluster run, and where catalogues run.

use crate::text::string_enum;

string_enum! {
    /// A replica policy.
    pub enum AvailabilityPolicy {
        /// Several replicas, spread over failure domains.
        HighlyAvailable,
        /// One replica.
        SingleReplica,
    }
}

impl AvailabilityPolicy {
    /// The policy of a control plane that does not choose one.
    pub fn of_control_plane() -> Self {
        Self::HighlyAvailable
    }

    /// The policy of the hosted cluster's own infrastructure when none is chosen.
    pub fn of_infrastructure() -> Self {
        Self::SingleReplica
    }
}

string_enum! {
    /// On which side the operator catalogues run.
    #[derive(Default)]
    pub enum OlmCatalogPlacement {
        /// On the management cluster.
        #[default]
        Management = "management",
        /// On the nodes of the hosted cluster.
        Guest = "guest",
    }
}
