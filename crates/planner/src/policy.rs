//! Policies as tables. A policy says which versions may stand beside each other, which moves are legal and what they
//! need, each rule with its id, and where it comes from. Adding one is a file here and a line in [`ALL`].

mod acp;
mod cluster_api;
mod etcd;
mod gardener;
mod hypershift;
mod kubeadm;
mod kubernetes;
mod matrix;
mod openshift;
mod parity;
mod prerequisites;
pub mod register;
mod shared;

pub use crate::check::Named;
use crate::{
    blocker::Weight,
    check::{Case, Findings},
    version::{Scheme, Version},
};
pub(crate) use shared::{minor_at, minors};

/// A policy.
#[derive(Debug)]
pub struct Policy {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is.
    pub title: &'static str,
    /// Where its rules come from.
    pub source: &'static str,
    /// What it judges nothing without.
    pub need: Need,
    /// The rule under which that is reported.
    pub first_rule: &'static str,
    /// Who may be how far from whom.
    pub skews: &'static [Skew],
    /// Everything that is not a distance.
    pub(crate) judges: &'static [fn(Case<'_>, &mut Findings)],
}

/// What a policy cannot do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The versions of kube-apiserver.
    ApiServers,
    /// The version of the whole cluster.
    ClusterVersion,
    /// The versions of etcd.
    Etcd,
    /// Nothing in particular.
    Nothing,
}

/// Whose version is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// kube-apiserver.
    ApiServer,
    /// kube-controller-manager.
    ControllerManager,
    /// kube-scheduler.
    Scheduler,
    /// cloud-controller-manager.
    CloudControllerManager,
    /// The kubelets of a pool.
    Kubelet,
    /// The kube-proxies of a pool.
    KubeProxy,
    /// kubectl.
    Kubectl,
    /// The distribution's version of the cluster.
    Cluster,
    /// The distribution's versions of a pool.
    Pool,
}

/// When a line of the table counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Always.
    Always,
    /// The subject's minor is at least this.
    SubjectFrom(u64),
    /// The subject's minor is exactly this.
    SubjectAt(u64),
    /// The subject's minor is below this.
    SubjectBelow(u64),
    /// Both are of one major.
    SameMajor,
    /// They are of different majors.
    AcrossMajors,
    /// The other's minor is even.
    ObjectEven,
    /// The other's minor is odd.
    ObjectOdd,
}

impl When {
    /// Whether a line counts for a pair.
    pub fn holds(self, subject: &Version, object: &Version) -> bool {
        match self {
            Self::Always => true,
            Self::SubjectFrom(minor) => subject.generation() >= minor,
            Self::SubjectAt(minor) => subject.generation() == minor,
            Self::SubjectBelow(minor) => subject.generation() < minor,
            Self::SameMajor => subject.major() == object.major(),
            Self::AcrossMajors => subject.major() != object.major(),
            Self::ObjectEven => object.generation().is_multiple_of(2),
            Self::ObjectOdd => !object.generation().is_multiple_of(2),
        }
    }
}

/// A line of the table: how far a subject may be from another.
#[derive(Clone, Copy, Debug)]
pub struct Skew {
    /// Whose version is judged.
    pub subject: Role,
    /// By whose.
    pub object: Role,
    /// When the line counts.
    pub when: When,
    /// Minors that the subject may be older.
    pub older: u64,
    /// Minors that it may be newer.
    pub newer: u64,
    /// How a breach counts.
    pub weight: Weight,
    /// The rule for a subject that is too old.
    pub too_old: Named,
    /// The rule for a subject that is too new.
    pub too_new: Named,
    /// The same where the others differ among themselves and only some of them forbid it.
    pub mixed: Option<(Named, Named)>,
}

/// Every policy.
pub const ALL: [&Policy; 10] = [
    &kubernetes::POLICY,
    &etcd::POLICY,
    &kubeadm::POLICY,
    &openshift::POLICY,
    &parity::POLICY,
    &hypershift::POLICY,
    &cluster_api::POLICY,
    &gardener::POLICY,
    &acp::POLICY,
    &prerequisites::POLICY,
];

/// The policy with a name.
pub fn named(name: &str) -> Option<&'static Policy> {
    ALL.into_iter().find(|policy| policy.name == name)
}

/// What judges clusters of a scheme when nobody chooses: the safe and documented ones. The first must have something to
/// judge.
pub(crate) fn defaults(scheme: Scheme) -> &'static [&'static Policy] {
    match scheme {
        Scheme::Kubernetes | Scheme::K0s | Scheme::Gke => &[&kubernetes::POLICY, &etcd::POLICY, &prerequisites::POLICY],
        Scheme::OpenShift => &[
            &openshift::POLICY,
            &parity::POLICY,
            &hypershift::POLICY,
            &kubernetes::POLICY,
            &etcd::POLICY,
            &prerequisites::POLICY,
        ],
        Scheme::Acp => &[&acp::POLICY, &kubernetes::POLICY, &etcd::POLICY, &prerequisites::POLICY],
    }
}

/// What judges node pools beside that.
pub(crate) fn defaults_of_pools(scheme: Scheme) -> &'static [&'static Policy] {
    match scheme {
        // It is among the defaults.
        Scheme::OpenShift => &[],
        Scheme::Kubernetes | Scheme::K0s | Scheme::Gke | Scheme::Acp => &[&hypershift::NEVER_NEWER],
    }
}
