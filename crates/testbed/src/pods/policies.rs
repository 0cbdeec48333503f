//! How packets get to the enforcer of network policies, upstream's kube-network-policies. It starts nothing.
//!
//! By itself the enforcer hooks its queue with nftables and notes its verdict in the label of a connection. Not every kernel
//! can do either; iptables' NFQUEUE and a mark do the same everywhere. There is no bypass: while nobody reads the queue,
//! nothing passes.

use super::{arguments::POLICY_QUEUE, layout::POD_NETWORK};

/// The mark of connections whose first packet has passed. kube-proxy marks packets, and with other bits.
const ACCEPTED: &str = "0x1000/0x1000";

/// Rules as `iptables-restore --noflush` takes them: what comes from a pod or goes to one is judged until its connection is
/// accepted, and so is what a pod sends to its node. Whatever gets as far as POSTROUTING was accepted on its way. What a node
/// itself sends, for probes, is not judged.
pub(crate) fn rules() -> String {
    format!(
        "*mangle\n\
         :NETWORK-POLICIES - [0:0]\n\
         -A FORWARD -j NETWORK-POLICIES\n\
         -A NETWORK-POLICIES -m conntrack --ctstate ESTABLISHED,RELATED -m connmark --mark {ACCEPTED} -j RETURN\n\
         -A NETWORK-POLICIES -s {POD_NETWORK} -j NFQUEUE --queue-num {POLICY_QUEUE}\n\
         -A NETWORK-POLICIES -d {POD_NETWORK} -j NFQUEUE --queue-num {POLICY_QUEUE}\n\
         -A INPUT ! -i lo -s {POD_NETWORK} -m conntrack --ctstate NEW -j NFQUEUE --queue-num {POLICY_QUEUE}\n\
         -A POSTROUTING -s {POD_NETWORK} -j CONNMARK --set-xmark {ACCEPTED}\n\
         -A POSTROUTING -d {POD_NETWORK} -j CONNMARK --set-xmark {ACCEPTED}\n\
         COMMIT\n"
    )
}
