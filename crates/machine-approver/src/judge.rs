//! Whether a request for a certificate is approved. Pure: the request and what is known of machines in, a verdict out.
//!
//! Nobody is denied: a request that is refused today may be right when its machine is known, and is judged again.

use std::{net::IpAddr, sync::Arc};

use hyperplane_api::cluster_api::machine::Machine;
use jiff::SignedDuration;
use k8s_openapi::api::certificates::v1::CertificateSigningRequest;
use kube::ResourceExt as _;
use thiserror::Error;

use crate::{
    machine::{node, node_names, past_names, serving_addresses, serving_names},
    request::{Claim, Purpose, read},
};

/// How far the clocks of the two clusters may differ.
const SKEW: SignedDuration = SignedDuration::from_secs(10);

/// What is known beside the request.
pub trait Surroundings {
    /// Machines of the namespace whose node may have this name.
    fn machines(&self, node: &str) -> Vec<Arc<Machine>>;
    /// Whether the hosted cluster has a Node of this name.
    fn has_node(&self, node: &str) -> bool;
    /// The requests with which a node of this name was given its first certificate.
    fn approved(&self, node: &str) -> Vec<Arc<CertificateSigningRequest>>;
    /// The requests that wait for the first certificate of a node of this name, in a fixed order.
    fn pending(&self, node: &str) -> Vec<Arc<CertificateSigningRequest>>;
}

/// What becomes of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is somebody else's business, or decided.
    Ignored,
    /// It is not approved now.
    Refused(Refusal),
    /// It is what it says.
    Approved {
        /// What it is for.
        purpose: Purpose,
        /// The machine that asks.
        machine: String,
        /// The node that it is or becomes.
        node: String,
    },
}

/// Why a request is not approved.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// It is no request.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// Names, groups or usages are not those of a node.
    #[error("it is not what a node asks for: {0}")]
    Form(String),
    /// Somebody else asks.
    #[error("{0:?} asks, who may not ask for it")]
    Asker(String),
    /// Whoever asks does not have the key.
    #[error("it is not signed with its own key")]
    Signature,
    /// There is no such machine.
    #[error("there is no machine for node {0}")]
    NoMachine(String),
    /// Several machines could be meant.
    #[error("machines {} may all become node {node}", machines.join(", "))]
    Ambiguous {
        /// The node.
        node: String,
        /// The machines.
        machines: Vec<String>,
    },
    /// The machine is going away.
    #[error("machine {0} is being deleted")]
    Leaving(String),
    /// It was asked for before there was a machine.
    #[error("it is older than machine {0}")]
    Early(String),
    /// The machine is a node already.
    #[error("machine {machine} is node {node} already")]
    SecondNode {
        /// The machine.
        machine: String,
        /// Its node.
        node: String,
    },
    /// The machine was given a certificate already.
    #[error("machine {0} was given its first certificate already")]
    SecondCertificate(String),
    /// Somebody else asks in the place of the machine, and nobody can tell which of them it is.
    #[error(
        "request {rival} asks for machine {machine} with another key: \
         it waits until one of them is denied or deleted, and that should be the one which the machine did not make"
    )]
    Contested {
        /// The machine.
        machine: String,
        /// The other request.
        rival: String,
    },
    /// A name that is not the machine's.
    #[error("{name:?} is no name of machine {machine}")]
    Name {
        /// The machine.
        machine: String,
        /// The name.
        name: String,
    },
    /// An address that is not the machine's.
    #[error("{} is no address of machine {machine}", address.map_or("something".to_owned(), |address| address.to_string()))]
    Address {
        /// The machine.
        machine: String,
        /// The address, if it is one.
        address: Option<IpAddr>,
    },
}

/// Judges a request.
pub fn judge(object: &CertificateSigningRequest, surroundings: &impl Surroundings) -> Verdict {
    match read(object) {
        Ok(None) => Verdict::Ignored,
        Ok(Some(claim)) => match check(object, &claim, surroundings) {
            Ok(machine) => Verdict::Approved {
                purpose: claim.purpose,
                machine: machine.name_any(),
                node: claim.node,
            },
            Err(refusal) => Verdict::Refused(refusal),
        },
        Err(refusal) => Verdict::Refused(refusal),
    }
}

fn check(
    object: &CertificateSigningRequest,
    claim: &Claim,
    surroundings: &impl Surroundings,
) -> Result<Arc<Machine>, Refusal> {
    let machine = find(&claim.node, surroundings)?;
    match claim.purpose {
        Purpose::FirstClient => {
            check_first(object, &machine, surroundings)?;
            check_alone(object, claim, &machine, surroundings)?;
        }
        Purpose::Serving => check_names(claim, &machine)?,
    }
    // Last, because it costs most.
    claim.request.check_signature().map_err(|_| Refusal::Signature)?;
    Ok(machine)
}

/// The one machine that a node can be.
fn find(node: &str, surroundings: &impl Surroundings) -> Result<Arc<Machine>, Refusal> {
    let mut machines = surroundings.machines(node);
    machines.retain(|machine| node_names(machine).contains(node));
    match machines.as_slice() {
        [] => Err(Refusal::NoMachine(node.to_owned())),
        [machine] => Ok(Arc::clone(machine)),
        several => Err(Refusal::Ambiguous {
            node: node.to_owned(),
            machines: several.iter().map(|machine| machine.name_any()).collect(),
        }),
    }
}

/// A machine becomes one node, once.
fn check_first(
    object: &CertificateSigningRequest,
    machine: &Machine,
    surroundings: &impl Surroundings,
) -> Result<(), Refusal> {
    let name = machine.name_any();
    if machine.metadata.deletion_timestamp.is_some() {
        return Err(Refusal::Leaving(name));
    }
    if is_older(object, machine) {
        return Err(Refusal::Early(name));
    }
    if let Some(node) = node(machine) {
        let node = node.to_owned();
        return Err(Refusal::SecondNode { machine: name, node });
    }
    // Under any of its names: who has fetched one configuration may try them all.
    for node in past_names(machine) {
        if surroundings.has_node(&node) {
            return Err(Refusal::SecondNode { machine: name, node });
        }
        // One from before the machine was for another machine, which had its name.
        let is_other = |other: &Arc<CertificateSigningRequest>| {
            other.metadata.uid != object.metadata.uid && !is_older(other, machine)
        };
        if surroundings.approved(&node).iter().any(is_other) {
            return Err(Refusal::SecondCertificate(name));
        }
    }
    Ok(())
}

/// All machines ask as the same identity, and each can see what the others ask for. While a request waits, another machine
/// may ask for the same node; who comes first must not decide, because that is whose timer fires first.
fn check_alone(
    object: &CertificateSigningRequest,
    claim: &Claim,
    machine: &Machine,
    surroundings: &impl Surroundings,
) -> Result<(), Refusal> {
    let is_rival = |other: &Arc<CertificateSigningRequest>| {
        other.metadata.uid != object.metadata.uid && !is_older(other, machine) && has_other_key(other, claim)
    };
    let names = node_names(machine);
    let mut pending = names.iter().flat_map(|node| surroundings.pending(node));
    // One is enough: however many there are, each judgement stays cheap.
    pending.find(is_rival).map_or(Ok(()), |rival| {
        Err(Refusal::Contested {
            machine: machine.name_any(),
            rival: rival.name_any(),
        })
    })
}

/// Whether a request could be approved for another key. Who does not have the key that it names keeps nobody out.
fn has_other_key(other: &CertificateSigningRequest, claim: &Claim) -> bool {
    read(other).ok().flatten().is_some_and(|other| {
        other.request.public_key != claim.request.public_key && other.request.check_signature().is_ok()
    })
}

/// A request that waits for a machine of some name must not get its certificate once there is one. What has no time was
/// not made by an API server.
fn is_older(object: &CertificateSigningRequest, machine: &Machine) -> bool {
    let times = (
        &object.metadata.creation_timestamp,
        &machine.metadata.creation_timestamp,
    );
    let (Some(asked), Some(made)) = times else {
        return true;
    };
    asked.0.duration_since(made.0) < -SKEW
}

/// A node serves under names and addresses of its own machine and no other.
fn check_names(claim: &Claim, machine: &Machine) -> Result<(), Refusal> {
    let (names, addresses) = (serving_names(machine), serving_addresses(machine));
    for name in claim.request.dns_names() {
        if !names.contains(&name.to_ascii_lowercase()) {
            let machine = machine.name_any();
            return Err(Refusal::Name { machine, name });
        }
    }
    for address in claim.request.addresses() {
        if !address.is_some_and(|address| addresses.contains(&address)) {
            let machine = machine.name_any();
            return Err(Refusal::Address { machine, address });
        }
    }
    Ok(())
}
