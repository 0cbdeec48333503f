//! Company that is counted once says the same as looking at every pod for every node.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Namespace;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const KEYS: [&str; 3] = ["host", "zone", "nowhere"];

/// Whether a node is in the same place as another by a key; nodes without the key are nowhere.
fn is_beside(key: &str, node: &Node, other: &str, cluster: &Cluster) -> bool {
    let there = cluster.node_labels(other).and_then(|labels| labels.get(key));
    there.is_some() && node.labels().get(key) == there
}

fn near(term: &PodAffinityTerm, pod: &Pod, node: &Node, cluster: &Cluster) -> usize {
    let near = cluster.assigned().filter(|other| {
        means(term, pod, &other.pod, cluster) && is_beside(&term.topology_key, node, &other.node, cluster)
    });
    near.count()
}

/// The model: what keeps a pod from a node, by the definition.
fn refusal(pod: &Pod, node: &Node, cluster: &Cluster) -> Option<&'static str> {
    let terms = required_terms(pod, false);
    let is_meant = |term: &PodAffinityTerm| cluster.assigned().any(|other| means(term, pod, &other.pod, cluster));
    let is_first = !terms.iter().any(is_meant) && terms.iter().all(|term| means(term, pod, pod, cluster));
    let has_company = |term: &PodAffinityTerm| {
        near(term, pod, node, cluster) > 0 || (is_first && node.labels().contains_key(&term.topology_key))
    };
    if !terms.iter().all(has_company) {
        return Some("node(s) didn't match pod affinity rules");
    }
    if required_terms(pod, true)
        .iter()
        .any(|term| near(term, pod, node, cluster) > 0)
    {
        return Some("node(s) didn't match pod anti-affinity rules");
    }
    let is_unwelcome = cluster.assigned().any(|other| {
        required_terms(&other.pod, true).iter().any(|term| {
            means(term, &other.pod, pod, cluster) && is_beside(&term.topology_key, node, &other.node, cluster)
        })
    });
    is_unwelcome.then_some("node(s) didn't satisfy existing pods anti-affinity rules")
}

/// The model: what siblings cost, by the definition.
fn cost(pod: &Pod, node: &Node, cluster: &Cluster) -> i64 {
    let Some(owner) = pods::controller(pod) else { return 0 };
    let siblings = cluster
        .assigned()
        .filter(|other| pods::is_controlled_by(other.pod.as_ref(), Some(&owner.uid)));
    let each = siblings.map(|other| {
        if other.node == node.name_any() {
            SIBLING
        } else if is_beside(ZONE, node, &other.node, cluster) {
            SIBLING_IN_ZONE
        } else {
            0
        }
    });
    each.sum()
}

fn nodes() -> Vec<Arc<Node>> {
    let labels = [
        json!({"host": "a", "zone": "1", ZONE: "1"}),
        json!({"host": "b", "zone": "1", ZONE: "1"}),
        json!({"host": "c", "zone": "2", ZONE: "2"}),
        json!({"host": "d"}),
    ];
    let nodes = labels.into_iter().map(|labels| {
        let node = json!({"metadata": {"name": labels["host"], "labels": labels}});
        Arc::new(hyperplane_objects::read(&node).unwrap())
    });
    nodes.collect()
}

fn namespaces() -> Vec<Arc<Namespace>> {
    let namespace = |name: &str| {
        let namespace = json!({"metadata": {"name": name, "labels": {"team": name}}});
        Arc::new(hyperplane_objects::read(&namespace).unwrap())
    };
    vec![namespace("m"), namespace("n")]
}

fn term() -> impl Strategy<Value = Value> {
    let scope = prop_oneof![
        Just(json!({})),
        Just(json!({"namespaces": ["m"]})),
        Just(json!({"namespaceSelector": {"matchLabels": {"team": "n"}}})),
        Just(json!({"namespaceSelector": {}})),
    ];
    (0..KEYS.len(), prop::sample::select(vec!["x", "y"]), scope).prop_map(|(key, app, scope)| {
        let mut term = json!({"topologyKey": KEYS[key], "labelSelector": {"matchLabels": {"app": app}}});
        for (field, value) in scope.as_object().unwrap() {
            term[field] = value.clone();
        }
        term
    })
}

fn pod() -> impl Strategy<Value = Pod> {
    let required = || prop::collection::vec(term(), 0..2);
    let wished = || prop::collection::vec((1..100, term()), 0..2);
    let identity = (
        prop::sample::select(vec!["m", "n"]),
        prop::sample::select(vec!["x", "y"]),
        prop::sample::select(vec!["", "one", "two"]),
    );
    (identity, required(), required(), wished(), wished()).prop_map(|((namespace, app, owner), near, far, like, dislike)| {
        let wishes = |wishes: Vec<(i32, Value)>| -> Value {
            wishes
                .into_iter()
                .map(|(weight, term)| json!({"weight": weight, "podAffinityTerm": term}))
                .collect()
        };
        let mut pod = json!({
            "metadata": {"name": "p", "namespace": namespace, "labels": {"app": app}},
            "spec": {"containers": [], "affinity": {
                "podAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": near,
                    "preferredDuringSchedulingIgnoredDuringExecution": wishes(like),
                },
                "podAntiAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": far,
                    "preferredDuringSchedulingIgnoredDuringExecution": wishes(dislike),
                },
            }},
        });
        if !owner.is_empty() {
            // Owners live in the namespaces of what they own.
            let uid = format!("{owner}-{namespace}");
            pod["metadata"]["ownerReferences"] =
                json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": uid, "controller": true}]);
        }
        hyperplane_objects::read(&pod).unwrap()
    })
}

fn fulfilment(pod: &Pod, node: &Node, cluster: &Cluster) -> i64 {
    let affinity = affinity(pod).unwrap();
    let sum = |wishes: &Option<Vec<WeightedPodAffinityTerm>>| -> i64 {
        let wishes = wishes.iter().flatten();
        let counted = wishes.map(|wish| {
            let near = near(&wish.pod_affinity_term, pod, node, cluster);
            i64::from(wish.weight) * i64::try_from(near).unwrap()
        });
        counted.sum()
    };
    let (near, far) = (&affinity.pod_affinity, &affinity.pod_anti_affinity);
    sum(&near
        .as_ref()
        .unwrap()
        .preferred_during_scheduling_ignored_during_execution)
        - sum(&far
            .as_ref()
            .unwrap()
            .preferred_during_scheduling_ignored_during_execution)
}

proptest! {
    #[test]
    fn counting_once_changes_nothing(
        pod in pod(),
        // One of the nodes is not known any more.
        there in prop::collection::vec((pod(), prop::sample::select(vec!["a", "b", "c", "d", "gone"])), 0..8),
    ) {
        let mut cluster = Cluster::new(nodes(), namespaces());
        for (pod, node) in there {
            cluster.add(Assigned { pod: Arc::new(pod), node: node.to_owned() });
        }
        let company = Company::new(&pod, &cluster);
        for node in cluster.nodes() {
            prop_assert_eq!(company.refusal(node), refusal(&pod, node, &cluster));
            prop_assert_eq!(company.cost(node), cost(&pod, node, &cluster));
            prop_assert_eq!(company.fulfilment(node), fulfilment(&pod, node, &cluster));
        }
    }
}
