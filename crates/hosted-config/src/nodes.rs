//! What the nodes tell of the way between them and the control plane, in both directions. Pure.

use std::collections::BTreeSet;

use hyperplane_api::constants::{conditions::hosted_control_plane as types, ours, reasons};
use hyperplane_runtime::conditions::Observation;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::{
    certificates::v1::CertificateSigningRequest,
    coordination::v1::Lease,
    core::v1::{Node, NodeCondition},
};
use kube::ResourceExt as _;

/// A node that renewed its lease within this time reaches the API server; kubelets renew every ten seconds.
const FRESH: SignedDuration = SignedDuration::from_mins(5);

/// What kubelets say of a runtime without a network plugin.
const NETWORK_MISSING: &[&str] = &["NetworkPluginNotReady", "cni plugin not initialized"];

/// Who signs certificates of nodes: those with which they reach the API server, and those with which they are reached.
const NODE_SIGNERS: [&str; 2] = [
    "kubernetes.io/kube-apiserver-client-kubelet",
    "kubernetes.io/kubelet-serving",
];

/// How long a request may wait before somebody is told of it; the machine approver takes seconds.
const APPROVAL_TIME: SignedDuration = SignedDuration::from_mins(1);

/// How many requests are named; the rest is counted.
const MOST_REQUESTS: usize = 3;

/// How much of the name of whoever asks is told: that of a node fits. Tenants can ask under names of any length.
const LONGEST_USER: usize = 300;

/// What was seen of the nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Nodes {
    /// How many there are.
    pub(crate) count: i64,
    /// When a node last renewed its lease.
    pub(crate) last_renewal: Option<Timestamp>,
    /// What came of asking a node something through the tunnel; none where no agent runs.
    pub(crate) tunnel: Option<Result<(), String>>,
    /// How many are not ready.
    pub(crate) away: i32,
    /// How many of these wait for a network plugin.
    pub(crate) without_network: i32,
    /// Whether there are machines, whose requests somebody approves.
    pub(crate) has_machines: bool,
    /// The requests of nodes for certificates that nobody has answered, the oldest first.
    pub(crate) pending: Vec<PendingRequest>,
    /// The names of those that have not been given what their pools say, and since when they are there.
    pub(crate) unmarked: Vec<(String, Timestamp)>,
}

/// A request for a certificate that waits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PendingRequest {
    /// When it was made.
    pub(crate) created: Timestamp,
    /// Its name.
    pub(crate) name: String,
    /// Who asks.
    pub(crate) user: String,
}

/// Whether each side reaches the other, and what nodes lack.
pub(crate) fn conditions(nodes: &Nodes, now: Timestamp) -> Vec<Observation> {
    let mut conditions = vec![to_nodes(nodes), from_nodes(nodes, now)];
    conditions.extend((nodes.count > 0).then(|| network(nodes)));
    // Elsewhere machines tell, and not every status was read.
    conditions.extend((nodes.count > 0 && !nodes.has_machines).then(|| ready(nodes)));
    if nodes.count > 0 || !nodes.pending.is_empty() {
        conditions.push(certificates(nodes, now));
    }
    conditions
}

/// The request of a node for a certificate that nobody has answered.
pub(crate) fn pending(request: &CertificateSigningRequest) -> Option<PendingRequest> {
    let status = request.status.as_ref();
    let answers = status
        .and_then(|status| status.conditions.as_ref())
        .into_iter()
        .flatten();
    let is_answered = answers.count() > 0;
    let is_of_node = NODE_SIGNERS.contains(&request.spec.signer_name.as_str());
    (is_of_node && !is_answered).then(|| PendingRequest {
        created: request.creation_timestamp().map(|time| time.0).unwrap_or_default(),
        name: request.name_any(),
        user: request
            .spec
            .username
            .iter()
            .flat_map(|user| user.chars())
            .take(LONGEST_USER)
            .collect(),
    })
}

fn ready(nodes: &Nodes) -> Observation {
    let condition = ours::NODES_READY.as_str();
    let ready = nodes.count.saturating_sub(nodes.away.into());
    let message = format!("{ready} of {} nodes are ready", nodes.count);
    if nodes.away == 0 {
        Observation::holds(condition, reasons::AS_EXPECTED.as_str(), message)
    } else {
        Observation::fails(condition, ours::NODES_NOT_READY.as_str(), message)
    }
}

/// Requests that wait for longer than an approver takes.
fn certificates(nodes: &Nodes, now: Timestamp) -> Observation {
    let condition = ours::NODE_CERTIFICATES_APPROVED.as_str();
    let old = nodes.pending.iter().filter(|request| {
        // Where nobody approves, nothing is gained by waiting.
        !nodes.has_machines || now.duration_since(request.created) > APPROVAL_TIME
    });
    let waiting: Vec<&PendingRequest> = old.collect();
    if waiting.is_empty() {
        let message = "No request of a node for a certificate waits";
        return Observation::holds(condition, reasons::AS_EXPECTED.as_str(), message);
    }
    let shown = waiting.iter().take(MOST_REQUESTS);
    let mut shown: Vec<String> = shown.map(|one| format!("{} of {}", one.name, one.user)).collect();
    let more = waiting.len().saturating_sub(MOST_REQUESTS);
    shown.extend((more > 0).then(|| format!("and {more} more")));
    let who = if nodes.has_machines {
        "the machine approver has not approved them, because it knows no machine that they belong to"
    } else {
        "nobody approves them, because hosts that join by themselves are no machines of this cluster: look at each, and \
         approve those of hosts that you know with kubectl certificate approve"
    };
    let message = format!("Requests of nodes for certificates wait ({}); {who}", shown.join(", "));
    Observation::fails(condition, ours::NODE_CERTIFICATES_PENDING.as_str(), message)
}

/// Whether a lease that was renewed at a moment still proves something.
pub(crate) fn is_fresh(renewal: Timestamp, now: Timestamp) -> bool {
    now.duration_since(renewal) <= FRESH
}

/// The last renewal among leases of nodes that are there. A lease may outlive its node, and then proves nothing.
pub(crate) fn newest(leases: &[Lease], nodes: &BTreeSet<String>) -> Option<Timestamp> {
    let of_nodes = leases.iter().filter(|lease| nodes.contains(&lease.name_any()));
    let renewals = of_nodes.filter_map(|lease| lease.spec.as_ref()?.renew_time.as_ref());
    renewals.map(|time| time.0).max()
}

/// Whether a node is ready.
pub(crate) fn is_ready(node: &Node) -> bool {
    readiness(node).is_some_and(|condition| condition.status == "True")
}

/// Whether a node is not ready because nothing gives addresses to its pods, in the words of its kubelet
/// (pkg/kubelet/runtime.go: the runtime's condition NetworkReady).
pub(crate) fn waits_for_network(node: &Node) -> bool {
    let message = readiness(node).and_then(|condition| condition.message.as_deref());
    let is_said = message.is_some_and(|message| NETWORK_MISSING.iter().any(|words| message.contains(words)));
    is_said && !is_ready(node)
}

fn readiness(node: &Node) -> Option<&NodeCondition> {
    let mut conditions = node.status.as_ref()?.conditions.iter().flatten();
    conditions.find(|condition| condition.type_ == "Ready")
}

/// Without an operator of the release that brings a network plugin, only users can.
fn network(nodes: &Nodes) -> Observation {
    let condition = ours::NETWORK_PLUGIN_AVAILABLE.as_str();
    if nodes.without_network == 0 {
        let message = "No node waits for a network plugin";
        return Observation::holds(condition, reasons::AS_EXPECTED.as_str(), message);
    }
    let message = format!(
        "{} of {} nodes wait for a network plugin: this release brings none, so install one in the hosted cluster, such as \
         Cilium, Calico or Flannel, for the networks in spec.networking.clusterNetwork",
        nodes.without_network, nodes.count
    );
    Observation::fails(condition, ours::NETWORK_PLUGIN_MISSING.as_str(), message)
}

fn to_nodes(nodes: &Nodes) -> Observation {
    let condition = types::DATA_PLANE_CONNECTION_AVAILABLE.as_str();
    match &nodes.tunnel {
        _ if nodes.count == 0 => nobody(condition),
        Some(Ok(())) => Observation::holds(
            condition,
            reasons::AS_EXPECTED.as_str(),
            "The control plane reaches nodes",
        ),
        Some(Err(problem)) => Observation::fails(condition, reasons::LOGS_ACCESS_FAILED.as_str(), problem),
        None => {
            let reason = reasons::KONNECTIVITY_AGENT_PODS_NOT_FOUND.as_str();
            Observation::fails(condition, reason, "No konnectivity agent runs on any node")
        }
    }
}

fn from_nodes(nodes: &Nodes, now: Timestamp) -> Observation {
    let condition = types::CONTROL_PLANE_CONNECTION_AVAILABLE.as_str();
    match nodes.last_renewal {
        _ if nodes.count == 0 => nobody(condition),
        // Which second it was is not told: the text must not change while nothing happens.
        Some(last) if is_fresh(last, now) => {
            Observation::holds(condition, reasons::AS_EXPECTED.as_str(), "Nodes reach the API server")
        }
        Some(last) => {
            let message = format!("No node has reached the API server since {last}");
            Observation::fails(condition, reasons::CONNECTION_CHECK_STALE.as_str(), message)
        }
        None => {
            let message = "No node has a lease";
            Observation::fails(condition, reasons::KAS_ACCESS_FAILED.as_str(), message)
        }
    }
}

fn nobody(condition: &str) -> Observation {
    let reason = reasons::NO_WORKER_NODES_AVAILABLE.as_str();
    Observation::unknown(condition, reason, "The hosted cluster has no nodes")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statuses(nodes: &Nodes, now: i64) -> Vec<(Option<bool>, String)> {
        let conditions = conditions(nodes, Timestamp::constant(now, 0));
        conditions
            .into_iter()
            .take(2)
            .map(|found| (found.status, found.reason))
            .collect()
    }

    #[test]
    fn each_direction_has_its_own_word() {
        let (yes, no) = (Some(true), Some(false));
        let renewed = Some(Timestamp::constant(1000, 0));
        let cases = [
            (
                0,
                None,
                None,
                [(None, "NoWorkerNodesAvailable"), (None, "NoWorkerNodesAvailable")],
            ),
            (1, renewed, Some(Ok(())), [(yes, "AsExpected"), (yes, "AsExpected")]),
            (
                1,
                renewed,
                Some(Err("refused".to_owned())),
                [(no, "LogsAccessFailed"), (yes, "AsExpected")],
            ),
            (
                1,
                None,
                None,
                [(no, "KonnectivityAgentPodsNotFound"), (no, "KASAccessFailed")],
            ),
            (
                2,
                Some(Timestamp::constant(500, 0)),
                Some(Ok(())),
                [(yes, "AsExpected"), (no, "ConnectionCheckStale")],
            ),
        ];
        for (count, last_renewal, tunnel, expected) in cases {
            let nodes = Nodes {
                count,
                last_renewal,
                tunnel,
                ..Nodes::default()
            };
            let expected = expected.map(|(status, reason)| (status, reason.to_owned()));
            assert_eq!(statuses(&nodes, 1200), expected, "{nodes:?}");
        }
    }

    #[test]
    fn leases_of_nodes_that_are_gone_prove_nothing() {
        let lease = |name: &str, seconds: i64| -> Lease {
            let renewed = Timestamp::constant(seconds, 0).to_string();
            let lease = serde_json::json!({"metadata": {"name": name}, "spec": {"renewTime": renewed}});
            hyperplane_objects::read(&lease).unwrap()
        };
        let leases = [lease("gone", 900), lease("a", 500), lease("b", 700), Lease::default()];
        let newest_of = |names: &[&str]| newest(&leases, &names.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(newest_of(&["a", "b"]), Some(Timestamp::constant(700, 0)));
        assert_eq!(newest_of(&["a"]), Some(Timestamp::constant(500, 0)));
        assert_eq!(newest_of(&["new"]), None);
    }

    fn node(status: &str, message: &str) -> Node {
        let ready = serde_json::json!({"type": "Ready", "status": status, "reason": "Kubelet", "message": message});
        hyperplane_objects::read(serde_json::json!({"status": {"conditions": [ready]}})).unwrap()
    }

    #[test]
    fn kubelets_say_that_the_network_plugin_is_missing() {
        let missing = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady \
                       message:Network plugin returns error: cni plugin not initialized";
        for (node, ready, waits) in [
            (node("True", "kubelet is posting ready status"), true, false),
            (node("False", missing), false, true),
            (node("True", missing), true, false),
            (node("False", "PLEG is not healthy"), false, false),
            (node("Unknown", "Kubelet stopped posting node status."), false, false),
            (Node::default(), false, false),
        ] {
            assert_eq!((is_ready(&node), waits_for_network(&node)), (ready, waits), "{node:?}");
        }
    }

    #[test]
    fn a_missing_network_plugin_is_named_with_what_helps() {
        let judged = |count, without_network| {
            let nodes = Nodes {
                count,
                without_network,
                ..Nodes::default()
            };
            let all = conditions(&nodes, Timestamp::constant(0, 0));
            let found = all.into_iter().find(|found| found.type_ == "NetworkPluginAvailable");
            found.map(|found| (found.status, found.message))
        };
        assert_eq!(judged(0, 0), None);
        assert_eq!(judged(3, 0).unwrap().0, Some(true));
        let (status, message) = judged(3, 2).unwrap();
        assert_eq!(status, Some(false));
        assert!(
            message.contains("2 of 3 nodes") && message.contains("install"),
            "{message}"
        );
    }

    fn request(name: &str, signer: &str, answer: Option<&str>) -> CertificateSigningRequest {
        let conditions: Vec<_> = answer
            .into_iter()
            .map(|type_| serde_json::json!({"type": type_, "status": "True"}))
            .collect();
        hyperplane_objects::read(serde_json::json!({
            "metadata": {"name": name, "creationTimestamp": "1970-01-01T00:00:00Z"},
            "spec": {"request": "", "signerName": signer, "username": "system:bootstrap:abcdef"},
            "status": {"conditions": conditions},
        }))
        .unwrap()
    }

    #[test]
    fn nodes_are_said_to_be_ready_only_where_every_status_was_read() {
        // Agents and kube-proxy run on a node without a network, too: that they are well says nothing of it.
        for (has_machines, away, expected) in [
            (false, 0, Some(Some(true))),
            (false, 1, Some(Some(false))),
            (true, 0, None),
            (true, 1, None),
        ] {
            let nodes = Nodes {
                count: 2,
                away,
                has_machines,
                ..Nodes::default()
            };
            let all = conditions(&nodes, Timestamp::constant(0, 0));
            let found = all.iter().find(|found| found.type_ == "NodesReady");
            assert_eq!(found.map(|found| found.status), expected, "{has_machines} {away}");
        }
    }

    #[test]
    fn long_names_of_tenants_are_cut() {
        let mut asked = request("csr-1", "kubernetes.io/kubelet-serving", None);
        asked.spec.username = Some("ä".repeat(100_000));
        let found = pending(&asked).expect("it waits");
        assert_eq!(found.user.chars().count(), LONGEST_USER);
    }

    #[test]
    fn requests_that_wait_are_named_with_who_approves_them() {
        let signer = "kubernetes.io/kube-apiserver-client-kubelet";
        let all = [
            request("csr-1", signer, None),
            request("csr-2", signer, Some("Approved")),
            request("csr-3", signer, Some("Denied")),
            request("csr-4", "example.com/other", None),
            request("csr-5", "kubernetes.io/kubelet-serving", None),
        ];
        let pending: Vec<PendingRequest> = all.iter().filter_map(pending).collect();
        let judged = |has_machines: bool, pending: &[PendingRequest], now: i64| {
            let nodes = Nodes {
                count: 1,
                has_machines,
                pending: pending.to_vec(),
                ..Nodes::default()
            };
            let all = conditions(&nodes, Timestamp::constant(now, 0));
            let found = all.into_iter().find(|found| found.type_ == "NodeCertificatesApproved");
            let found = found.expect("it is told");
            (found.status, found.message)
        };
        let (status, message) = judged(false, &pending, 1);
        assert_eq!(status, Some(false));
        for word in [
            "csr-1 of system:bootstrap:abcdef",
            "csr-5",
            "nobody approves",
            "kubectl certificate approve",
        ] {
            assert!(message.contains(word), "{message}");
        }
        assert!(!message.contains("csr-2") && !message.contains("csr-4"), "{message}");
        assert_eq!(
            judged(true, &pending, 1).0,
            Some(true),
            "an approver takes some seconds"
        );
        let (status, message) = judged(true, &pending, 3600);
        assert!(
            status == Some(false) && message.contains("machine approver"),
            "{message}"
        );
        assert_eq!(judged(false, &[], 1).0, Some(true));
    }

    #[test]
    fn nodes_that_are_not_ready_are_counted() {
        let nodes = |away| Nodes {
            count: 3,
            away,
            ..Nodes::default()
        };
        for (away, status, message) in [
            (0, true, "3 of 3 nodes are ready"),
            (2, false, "1 of 3 nodes are ready"),
        ] {
            let found = ready(&nodes(away));
            assert_eq!((found.status, found.message.as_str()), (Some(status), message));
        }
    }
}
