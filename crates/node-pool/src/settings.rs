//! What the operator is told from outside.

use hyperplane_runtime::Entropy;

/// What the operator is told from outside.
#[derive(Clone, Debug)]
pub struct NodePoolSettings {
    /// Which kinds of machine templates the management cluster serves. A kind that is not served cannot be watched.
    pub served: ServedTemplates,
    /// Where tokens come from.
    pub entropy: Entropy,
    /// What machines start from where neither their pool nor its release says.
    pub boot_image: Option<String>,
}

/// Which kinds of machine templates the management cluster has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServedTemplates {
    /// KubevirtMachineTemplate.
    pub kubevirt: bool,
    /// AgentMachineTemplate.
    pub agent: bool,
}

impl ServedTemplates {
    /// Every kind.
    pub const ALL: Self = Self {
        kubevirt: true,
        agent: true,
    };
}
