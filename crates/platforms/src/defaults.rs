//! What is chosen for a cluster where it does not say. Chance comes from outside, so that the same cluster gets the same
//! choice however often it is made.

use std::collections::BTreeMap;

/// From what is chosen.
#[derive(Clone, Copy, Debug)]
pub struct Choices<'a> {
    /// Letters and digits that nobody else has.
    pub suffix: &'a str,
    /// The domain under which applications of the management cluster are found.
    pub ingress_domain: Option<&'a str>,
    /// The platform of the management cluster, where it is known.
    pub management_platform: Option<&'a str>,
}

/// What was chosen; what is absent stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// `spec.platform.kubevirt.generateID`.
    pub generate_id: Option<String>,
    /// `spec.dns.baseDomain`, which then has no prefix.
    pub base_domain: Option<String>,
    /// The name of a Secret with a key for AES-CBC, which is to be made unless it is there, and used.
    pub encryption_secret: Option<String>,
    /// Annotations of the cluster.
    pub annotations: BTreeMap<String, String>,
}
