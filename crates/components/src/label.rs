//! What Kubernetes takes as a label: tenants write labels, and one that it refuses would stop a whole component.

use hyperplane_schema::names;

/// Whether a text can be the key of a label.
pub(crate) fn is_key(text: &str) -> bool {
    names::qualified_name(text).is_empty()
}

/// Whether a text can be the value of a label.
pub(crate) fn is_value(text: &str) -> bool {
    names::label_value(text).is_empty()
}
