//! Our own keys, under `hyperplane.dev/`.
//!
//! Each optional field that we add to a kind of HyperShift has an annotation twin here, named after the field. It is
//! read where HyperShift's own definition of the kind is installed, which would prune the field.

use super::constants;

constants! { Annotation in ALL:
    /// On HostedCluster: the twin of spec.distributionVersion, the version of the cluster as a whole.
    DISTRIBUTION_VERSION = "hyperplane.dev/distributionVersion";
}
