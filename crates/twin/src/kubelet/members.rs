//! Members of etcd: which claims hold the data of one, and whether a member may start without. Pure.
//!
//! It knows what `hyperplane etcd-reset-member` decides, as far as it depends on what the twin has: the state that the
//! operator has written down, the member's volume and the other members. A cluster that is said to have been there is
//! not begun anew, so one that never formed, and is believed to have, never forms.

use k8s_openapi::api::core::v1::{Container, PersistentVolumeClaim, Pod};
use kube::ResourceExt;

use super::{facts::Facts, files};
use crate::programs::{Address, Content, Flags, Need};

/// The subcommand that a member begins with.
pub(super) const RESET: &str = "etcd-reset-member";
/// What a claim is annotated with once etcd has run on its volume.
pub(super) const HOLDS_DATA: &str = "twin.hyperplane.dev/holds-etcd-data";
/// What the state is before there has been a cluster.
const NEW: &str = "new";
/// By which Service members find each other, and on which port they answer.
const DISCOVERY: &str = "etcd-discovery";
const CLIENT_PORT: u16 = 2379;

/// What becomes of a member that is about to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MemberStart {
    /// It starts.
    Starts,
    /// It goes on when enough of the others run.
    Waits(String),
    /// It never starts, with these words.
    Refused(String),
}

/// Whether the volume of a claim holds the data of a member.
pub(super) fn holds_data(claim: &PersistentVolumeClaim) -> bool {
    claim.annotations().contains_key(HOLDS_DATA)
}

/// The claims on whose volumes a container that runs etcd has its data, as far as they are not known to.
pub(super) fn unmarked(pod: &Pod, container: &Container, facts: &dyn Facts) -> Vec<String> {
    let namespace = pod.namespace().unwrap_or_default();
    let is_unmarked = |name: &&str| facts.claim(&namespace, name).is_some_and(|claim| !holds_data(&claim));
    let claims = files::claims(pod, container).filter(is_unmarked);
    claims.map(str::to_owned).collect()
}

/// What becomes of a member, by the flags of its init container.
pub(super) fn start(pod: &Pod, container: &Container, flags: &Flags, facts: &dyn Facts) -> MemberStart {
    let namespace = pod.namespace().unwrap_or_default();
    let path = |flag: &str| flags.last(flag).unwrap_or_default();
    let state = files::read(pod, container, path("state"), facts);
    let is_new = matches!(state, Content::Bytes(bytes) if bytes.trim_ascii() == NEW.as_bytes());
    let claim = files::claim_at(pod, container, path("data-dir")).and_then(|name| facts.claim(&namespace, name));
    if is_new || claim.is_some_and(|claim| holds_data(&claim)) {
        return MemberStart::Starts;
    }
    let replicas: usize = path("replicas").parse().unwrap_or(1);
    let own = pod.name_any();
    if replicas <= 1 {
        return MemberStart::Refused(format!("the data of {own} is gone, and no other member has it"));
    }
    let name = own.rsplit_once('-').map_or(own.as_str(), |(name, _)| name);
    let answers = |number: &usize| {
        let host = format!("{name}-{number}.{DISCOVERY}.{namespace}.svc");
        let address = Address {
            host,
            port: CLIENT_PORT,
        };
        facts.is_met(&namespace, &Need::Reach(address))
    };
    let ready = (0..replicas).filter(|number| format!("{name}-{number}") != own);
    if ready.filter(answers).count() > replicas / 2 {
        MemberStart::Starts
    } else {
        MemberStart::Waits("the data is gone and no majority of the others answers".to_owned())
    }
}
