//! How packets get to the enforcer of network policies, upstream's kube-network-policies. It starts nothing.
//!
//! By itself the enforcer hooks its queue with nftables, which not every kernel can; iptables' NFQUEUE does the same
//! everywhere. There is no bypass: while nobody reads the queue, nothing passes.

use super::{arguments::POLICY_QUEUE, layout::POD_NETWORK};

/// The label of connections that the enforcer sets with its verdict. Naming it in a rule is also what makes the kernel
/// have room for labels, without which it refuses verdicts.
const ACCEPTED_LABEL: u8 = 100;

/// Rules as `iptables-restore --noflush` takes them: every packet from or to a pod is judged until its connection is
/// accepted, and so is what a pod sends to its node. What a node itself sends, for probes, is not judged.
pub(crate) fn rules() -> String {
    format!(
        "*mangle\n\
         :NETWORK-POLICIES - [0:0]\n\
         -A FORWARD -j NETWORK-POLICIES\n\
         -A NETWORK-POLICIES -m conntrack --ctstate ESTABLISHED,RELATED -m connlabel --label {ACCEPTED_LABEL} -j RETURN\n\
         -A NETWORK-POLICIES -s {POD_NETWORK} -j NFQUEUE --queue-num {POLICY_QUEUE}\n\
         -A NETWORK-POLICIES -d {POD_NETWORK} -j NFQUEUE --queue-num {POLICY_QUEUE}\n\
         -A INPUT ! -i lo -s {POD_NETWORK} -m conntrack --ctstate NEW -j NFQUEUE --queue-num {POLICY_QUEUE}\n\
         COMMIT\n"
    )
}
