//! The list of all components, in the order in which they are looked at. An entry is one small file and its assets.

use crate::component::Component;

/// The components that the control-plane operator runs.
pub fn catalogue() -> &'static [Component] {
    &[]
}

/// The components that the manager runs in the namespace of a control plane, because they must work before and after its
/// operator does.
pub fn manager_catalogue() -> &'static [Component] {
    &[]
}
