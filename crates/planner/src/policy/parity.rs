//! OpenShift's documentation of node pools: two minors behind an even control plane, one behind an odd one. The
//! narrowest of three published limits, and therefore what judges when nobody chooses.

use super::{Need, Policy, Role, Skew, When};
use crate::{blocker::Weight, check::Named};

/// The policy.
pub(super) const POLICY: Policy = Policy {
    name: "openshift-parity",
    title: "OpenShift's documented skew of node pools",
    source: "openshift/openshift-docs, modules/hcp-np-version-skew.adoc",
    need: Need::ClusterVersion,
    first_rule: "H-16",
    skews: &SKEWS,
    judges: &[super::hypershift::pools_not_newer, super::hypershift::disputed],
};

const fn pool(when: When, older: u64, too_old: Named) -> Skew {
    Skew {
        subject: Role::Pool,
        object: Role::Cluster,
        when,
        older,
        newer: 0,
        weight: Weight::Violation,
        too_old,
        too_new: Named::with("H-08", "NodePoolNewer", &["H-04"]),
        mixed: None,
    }
}

const SKEWS: [Skew; 2] = [
    pool(When::ObjectEven, 2, Named::with("H-17", "NodePoolTooOld", &["H-05"])),
    pool(When::ObjectOdd, 1, Named::with("H-16", "NodePoolTooOld", &["H-05"])),
];
