//! What the control-plane operator of a cluster can do: that of this version everything, one with an image of its own what
//! the labels of the image declare. No registry is asked: whoever names an image says its labels beside it.

use std::collections::BTreeSet;

use hyperplane_api::{
    constants::{annotations, operator_capabilities as capabilities},
    hypershift::hosted_cluster::HostedCluster,
};

/// What this manager leaves to the operator and does not do in its place.
const NEEDED: &[&str] = &[
    capabilities::SUBCOMMANDS,
    capabilities::TELLS_COMPONENTS,
    capabilities::MANAGES_IGNITION_SERVER,
    capabilities::MANAGES_MACHINE_APPROVER,
    capabilities::MANAGES_AUTOSCALER,
    capabilities::IGNITION_SERVER_PROBES,
];

/// What an image declares of which nothing is said: the first version, and all since, declare it.
const SINCE_THE_FIRST: &[&str] = capabilities::ALL;

/// What the operator of a cluster declares.
fn declared(cluster: &HostedCluster) -> BTreeSet<&str> {
    if annotations::CONTROL_PLANE_OPERATOR_IMAGE.of(cluster).is_none() {
        return capabilities::ALL.iter().copied().collect();
    }
    match annotations::CONTROL_PLANE_OPERATOR_IMAGE_LABELS.of(cluster) {
        Some(labels) => labels.split(',').filter_map(declaration).collect(),
        None => SINCE_THE_FIRST.iter().copied().collect(),
    }
}

/// The capability in a label, where it is one and is set.
fn declaration(label: &str) -> Option<&str> {
    let (key, value) = label.trim().split_once('=')?;
    key.strip_prefix(capabilities::PREFIX).filter(|_| value == "true")
}

/// What this manager needs of the operator of a cluster and the operator does not declare.
pub(crate) fn lacking(cluster: &HostedCluster) -> Vec<&'static str> {
    let declared = declared(cluster);
    NEEDED.iter().copied().filter(|one| !declared.contains(one)).collect()
}

/// Whether what the operator makes runs under the restricted standard of pod security.
pub(crate) fn runs_restricted(cluster: &HostedCluster) -> bool {
    declared(cluster).contains(capabilities::RESTRICTED_PODS)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::cluster;

    fn with_labels(labels: Option<&str>) -> HostedCluster {
        let image = annotations::CONTROL_PLANE_OPERATOR_IMAGE.as_str();
        let mut change = json!({"metadata": {"annotations": {image: "example.com/operator:v0.0"}}});
        if let Some(labels) = labels {
            let key = annotations::CONTROL_PLANE_OPERATOR_IMAGE_LABELS.as_str();
            change["metadata"]["annotations"][key] = labels.into();
        }
        cluster(&change)
    }

    fn label(capability: &str, value: &str) -> String {
        format!("{}{capability}={value}", capabilities::PREFIX)
    }

    #[test]
    fn an_image_is_driven_by_what_it_declares() {
        let everything: Vec<String> = NEEDED.iter().map(|one| label(one, "true")).collect();
        let everything = everything.join(",");
        let denied = everything.replacen("=true", "=false", 1);
        for (labels, lacks, restricted) in [
            (None, vec![], true),
            (Some(everything.as_str()), vec![], false),
            (Some(denied.as_str()), vec![NEEDED[0]], false),
            (Some("restricted-psa=true"), NEEDED.to_vec(), false),
            (
                Some("io.openshift.hypershift.restricted-psa=true"),
                NEEDED.to_vec(),
                true,
            ),
        ] {
            let cluster = with_labels(labels);
            assert_eq!(lacking(&cluster), lacks, "{labels:?}");
            assert_eq!(runs_restricted(&cluster), restricted, "{labels:?}");
        }
    }

    #[test]
    fn the_operator_of_this_version_can_do_everything_whatever_labels_say() {
        let key = annotations::CONTROL_PLANE_OPERATOR_IMAGE_LABELS.as_str();
        let cluster = cluster(&json!({"metadata": {"annotations": {key: "a=b"}}}));
        assert_eq!(lacking(&cluster), Vec::<&str>::new());
        assert!(runs_restricted(&cluster));
    }
}
