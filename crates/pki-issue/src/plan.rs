//! What is to be done about the certificates of a control plane, as a value that can be printed and compared. It holds no
//! secret.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::{
    existing::Existing,
    kubeconfigs::Kubeconfig,
    names::Host,
    planner::Planner,
    reason::Reason,
    table::{Bundle, LeafRow, Signer},
    wanted::Wanted,
};

/// What is to be done.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What stays as it is, by name.
    pub keep: Vec<String>,
    /// What is to be written, in order: what is signed comes after who signs it, and who trusts comes before both.
    pub issue: Vec<Step>,
    /// Secrets of ours that are to go.
    pub unwanted: Vec<String>,
    /// What must happen before the rest can be issued, in sentences.
    pub waiting: Vec<String>,
    /// What only people can mend.
    pub problems: Vec<Problem>,
    /// When there will be something to do although nothing else changes.
    pub next_look: Timestamp,
}

/// One thing that is to be written.
#[derive(Clone, Debug)]
pub struct Step {
    /// The name of its Secret or ConfigMap.
    pub name: String,
    /// Why.
    pub reason: Reason,
    pub(crate) item: Item,
}

/// Something that only people can mend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The Secret at fault.
    pub secret: String,
    /// What is wrong with it.
    pub fault: String,
    /// What people can do about it.
    pub remedy: &'static str,
}

/// What is to be written.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    Signer(&'static Signer),
    ServiceAccountKeys,
    Bundle(&'static Bundle),
    /// A leaf, with the names that it gets.
    Leaf(&'static LeafRow, BTreeSet<Host>),
    /// A kubeconfig, with the URL that it gets.
    Kubeconfig(Box<Kubeconfig>, String),
}

/// What is to be done, given what is wanted, what is there, and the time.
pub fn plan(wanted: &Wanted, existing: &Existing, now: Timestamp) -> Plan {
    Planner::new(wanted, existing, now).plan()
}
