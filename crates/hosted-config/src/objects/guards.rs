//! What keeps users of the hosted cluster out of what its manager keeps there. It protects against accidents: an
//! administrator can remove the guard, and finds it again a little later.

use k8s_openapi::api::admissionregistration::v1::{ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding};

use super::Set;

pub(super) fn add(set: &mut Set) {
    set.add_asset::<ValidatingAdmissionPolicy>(include_str!("../assets/guard.yaml"));
    set.add_asset::<ValidatingAdmissionPolicyBinding>(include_str!("../assets/guard-binding.yaml"));
    set.add_asset::<ValidatingAdmissionPolicy>(include_str!("../assets/guard-scale.yaml"));
    set.add_asset::<ValidatingAdmissionPolicyBinding>(include_str!("../assets/guard-scale-binding.yaml"));
}

/// Nothing that stands for something outside of the cluster is made any more.
pub(super) fn add_ending(set: &mut Set) {
    set.add_asset::<ValidatingAdmissionPolicy>(include_str!("../assets/ending.yaml"));
    set.add_asset::<ValidatingAdmissionPolicyBinding>(include_str!("../assets/ending-binding.yaml"));
}
