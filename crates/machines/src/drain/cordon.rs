//! Whose cordon it is. A node that somebody else keeps pods away from stays so; one that we closed is opened again when
//! its machine stays after all. Pure.

use hyperplane_api::constants::ours;
use serde_json::{Value, json};

use crate::nodes::NodeView;

const MARK: &str = ours::CORDONED_FOR.as_str();

/// The Machine for which we cordoned a node; none if we did not.
pub(crate) fn cordoned_for(node: &NodeView) -> Option<&str> {
    node.annotation(MARK)
}

/// What has to change so that no new pods come; nothing if none do.
///
/// Mark and cordon come in one write over the state that was read, so that the mark is never on a cordon of others.
pub(crate) fn cordon(node: &NodeView, machine: &str) -> Option<Value> {
    if node.spec.unschedulable == Some(true) {
        return None;
    }
    Some(json!({"metadata": {"annotations": {MARK: machine}}, "spec": {"unschedulable": true}}))
}

/// What has to change so that our cordon is off; nothing if it is not ours. The taint that goes with it is the business
/// of the node controller in the hosted cluster.
pub(crate) fn uncordon(node: &NodeView) -> Option<Value> {
    cordoned_for(node)?;
    let mut patch = json!({"metadata": {"annotations": {MARK: null}}});
    if node.spec.unschedulable == Some(true) {
        patch["spec"] = json!({"unschedulable": null});
    }
    Some(patch)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn node(is_closed: bool, mark: Option<&str>) -> NodeView {
        let annotations = mark.map(|mark| json!({MARK: mark, "other": "kept"}));
        hyperplane_objects::read(json!({
            "metadata": {"name": "n", "annotations": annotations},
            "spec": if is_closed { json!({"unschedulable": true}) } else { json!({}) },
        }))
        .unwrap()
    }

    /// A merge patch, as far as these go.
    fn patched(node: &NodeView, patch: Option<Value>) -> NodeView {
        let mut node = node.clone();
        let Some(patch) = patch else {
            return node;
        };
        if let Some(mark) = patch["metadata"]["annotations"].get(MARK) {
            let annotations = node.metadata.annotations.get_or_insert_default();
            annotations.remove(MARK);
            if let Some(mark) = mark.as_str() {
                annotations.insert(MARK.to_owned(), mark.to_owned());
            }
        }
        if let Some(closed) = patch["spec"].get("unschedulable") {
            node.spec.unschedulable = closed.as_bool();
        }
        node
    }

    #[test]
    fn only_our_own_cordon_carries_the_mark() {
        let fresh = node(false, None);
        let closed = patched(&fresh, cordon(&fresh, "m"));
        assert_eq!(
            (closed.spec.unschedulable, cordoned_for(&closed)),
            (Some(true), Some("m"))
        );
        assert_eq!(cordon(&closed, "m"), None, "nothing is written twice");
        let theirs = node(true, None);
        assert_eq!(cordon(&theirs, "m"), None);
        assert_eq!(uncordon(&theirs), None, "what we did not close stays closed");
        let reopened = node(false, Some("m"));
        assert!(cordon(&reopened, "m").is_some(), "somebody opened it in mid-drain");
        assert_eq!(uncordon(&reopened).unwrap().get("spec"), None);
    }

    proptest! {
        #[test]
        fn closing_and_opening_restores_what_was(is_closed: bool) {
            let before = node(is_closed, None);
            let during = patched(&before, cordon(&before, "m"));
            prop_assert_eq!(during.spec.unschedulable, Some(true));
            let after = patched(&during, uncordon(&during));
            prop_assert_eq!(after.spec.unschedulable.unwrap_or(false), is_closed);
            prop_assert_eq!(cordoned_for(&after), None);
        }
    }
}
