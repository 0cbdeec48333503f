//! On which nodes pods run, beside whom, and away from whom.

use hyperplane_api::constants::{annotations, labels};
use k8s_openapi::{
    api::core::v1::{
        Affinity, NodeSelectorRequirement, NodeSelectorTerm, PodAffinityTerm, PreferredSchedulingTerm, Toleration,
        WeightedPodAffinityTerm,
    },
    apimachinery::pkg::apis::meta::v1::LabelSelector,
};

use super::metadata::selector;
use crate::{
    component::{Component, WorkloadKind},
    inputs::Inputs,
    label,
    manifest::Workload,
};

/// How much a node that is meant for control planes is preferred, one that is meant for this control plane, and one that
/// runs pods of this control plane already.
const CONTROL_PLANE_WEIGHT: i32 = 50;
const CLUSTER_WEIGHT: i32 = 100;
const COLOCATION_WEIGHT: i32 = 100;

/// The same where replicas are only asked to keep apart: it counts for each pod that a node runs, and those of a control
/// plane together must not outweigh one sibling.
const FAINT_COLOCATION_WEIGHT: i32 = 1;

/// How much a zone or node without a sibling is preferred where it cannot be required.
const SPREAD_WEIGHT: i32 = 100;

/// The label by which a Deployment tells the pods of one template from those of another.
const POD_TEMPLATE_HASH: &str = "pod-template-hash";

/// The first minor of Kubernetes in which affinity to pods takes labels of the pod itself without a feature gate. One that
/// does not know the field drops it, and pods would keep apart from those that they replace.
const FIRST_WITH_MATCH_LABEL_KEYS: u64 = 33;

pub(super) fn apply(component: &Component, inputs: &Inputs<'_>, replicas: i32, workload: &mut Workload) {
    let is_isolated = component.traits.is_request_serving && inputs.has_dedicated_request_serving_nodes();
    let pod = workload.pod_mut();
    let affinity = pod.affinity.get_or_insert_default();
    prefer_nodes(inputs, affinity);
    if is_isolated {
        require_nodes(inputs, affinity);
    }
    let spread_is_required = if component.traits.is_spread && replicas > 1 {
        spread(component, inputs, replicas, affinity)
    } else {
        true
    };
    let weight = if spread_is_required {
        COLOCATION_WEIGHT
    } else {
        FAINT_COLOCATION_WEIGHT
    };
    colocate(inputs, weight, affinity);
    let tolerations = pod.tolerations.get_or_insert_default();
    tolerations.extend(own_tolerations(inputs, component.traits.is_request_serving));
    tolerations.extend(inputs.control_plane.spec.tolerations.iter().cloned());
    let selector = &inputs.control_plane.spec.node_selector;
    if !selector.is_empty() {
        let of_pod = pod.node_selector.get_or_insert_default();
        for (key, value) in selector {
            of_pod.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
}

fn prefer_nodes(inputs: &Inputs<'_>, affinity: &mut Affinity) {
    let preferred = |weight, key: &str, value: &str| PreferredSchedulingTerm {
        weight,
        preference: NodeSelectorTerm {
            match_expressions: Some(vec![is_in(key, value)]),
            ..NodeSelectorTerm::default()
        },
    };
    let nodes = affinity.node_affinity.get_or_insert_default();
    let terms = nodes
        .preferred_during_scheduling_ignored_during_execution
        .get_or_insert_default();
    terms.push(preferred(CONTROL_PLANE_WEIGHT, labels::CONTROL_PLANE.as_str(), "true"));
    terms.push(preferred(CLUSTER_WEIGHT, labels::CLUSTER.as_str(), inputs.namespace()));
}

/// Only nodes that are meant for what serves the requests of this control plane.
fn require_nodes(inputs: &Inputs<'_>, affinity: &mut Affinity) {
    let mut wanted = vec![
        is_in(labels::REQUEST_SERVING_COMPONENT.as_str(), "true"),
        is_in(labels::CLUSTER.as_str(), inputs.namespace()),
    ];
    let further = inputs.annotation(annotations::REQUEST_SERVING_NODE_ADDITIONAL_SELECTOR);
    let pairs = further
        .unwrap_or_default()
        .split(',')
        .filter_map(|pair| pair.split_once('='));
    let pairs = pairs.map(|(key, value)| (key.trim(), value.trim()));
    wanted.extend(
        pairs
            .filter(|(key, value)| label::is_key(key) && label::is_value(value))
            .map(|(key, value)| is_in(key, value)),
    );
    let nodes = affinity.node_affinity.get_or_insert_default();
    let required = nodes
        .required_during_scheduling_ignored_during_execution
        .get_or_insert_default();
    required.node_selector_terms.push(NodeSelectorTerm {
        match_expressions: Some(wanted),
        ..NodeSelectorTerm::default()
    });
}

fn is_in(key: &str, value: &str) -> NodeSelectorRequirement {
    NodeSelectorRequirement {
        key: key.to_owned(),
        operator: "In".to_owned(),
        values: Some(vec![value.to_owned()]),
    }
}

/// Pods of one control plane keep together: a node that goes then takes few of them along.
fn colocate(inputs: &Inputs<'_>, weight: i32, affinity: &mut Affinity) {
    let key = labels::HOSTED_CONTROL_PLANE.as_str().to_owned();
    let term = WeightedPodAffinityTerm {
        weight,
        pod_affinity_term: PodAffinityTerm {
            label_selector: Some(LabelSelector {
                match_labels: Some([(key, inputs.namespace().to_owned())].into()),
                ..LabelSelector::default()
            }),
            topology_key: labels::HOSTNAME.as_str().to_owned(),
            ..PodAffinityTerm::default()
        },
    };
    let pods = affinity.pod_affinity.get_or_insert_default();
    let terms = pods
        .preferred_during_scheduling_ignored_during_execution
        .get_or_insert_default();
    terms.push(term);
}

/// Whether replicas keep apart only from those of their own generation. A new pod may then stand beside an old one, and
/// comes before that goes: as many as ever serve during a rollout, on as many nodes as there are replicas.
pub(super) fn keeps_generations_apart(component: &Component, inputs: &Inputs<'_>) -> bool {
    let understands = inputs.management.kubernetes.generation() >= FIRST_WITH_MATCH_LABEL_KEYS;
    component.kind == WorkloadKind::Deployment && understands
}

/// Replicas keep apart: over zones where there are enough of them, else as far as possible; over nodes always, unless
/// nothing is known of the nodes. Whether all of it is required.
fn spread(component: &Component, inputs: &Inputs<'_>, replicas: i32, affinity: &mut Affinity) -> bool {
    let generation = keeps_generations_apart(component, inputs).then(|| vec![POD_TEMPLATE_HASH.to_owned()]);
    let zones = inputs.management.zones;
    let has_enough_zones = usize::try_from(replicas).is_ok_and(|replicas| zones >= replicas);
    let anti = affinity.pod_anti_affinity.get_or_insert_default();
    let levels = [
        (labels::ZONE.as_str(), has_enough_zones),
        (labels::HOSTNAME.as_str(), zones > 0),
    ];
    for (key, is_required) in levels {
        let term = PodAffinityTerm {
            label_selector: Some(LabelSelector {
                match_labels: Some(selector(component.name)),
                ..LabelSelector::default()
            }),
            topology_key: key.to_owned(),
            match_label_keys: generation.clone(),
            ..PodAffinityTerm::default()
        };
        if is_required {
            let terms = anti
                .required_during_scheduling_ignored_during_execution
                .get_or_insert_default();
            terms.push(term);
        } else {
            let terms = anti
                .preferred_during_scheduling_ignored_during_execution
                .get_or_insert_default();
            terms.push(WeightedPodAffinityTerm {
                weight: SPREAD_WEIGHT,
                pod_affinity_term: term,
            });
        }
    }
    levels.iter().all(|(_, is_required)| *is_required)
}

fn own_tolerations(inputs: &Inputs<'_>, is_request_serving: bool) -> Vec<Toleration> {
    let equals = |key: &str, value: &str| Toleration {
        key: Some(key.to_owned()),
        operator: Some("Equal".to_owned()),
        value: Some(value.to_owned()),
        effect: Some("NoSchedule".to_owned()),
        ..Toleration::default()
    };
    let mut own = vec![
        equals(labels::CONTROL_PLANE.as_str(), "true"),
        equals(labels::CLUSTER.as_str(), inputs.namespace()),
    ];
    if is_request_serving {
        own.push(equals(labels::REQUEST_SERVING_COMPONENT.as_str(), "true"));
    }
    own
}
