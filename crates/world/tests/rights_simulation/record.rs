//! What was asked for and what was granted, by account. Accounts of control planes are told apart by their names only.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, Mutex},
};

use hyperplane_access::{Attributes, Decision, Witness};

/// The accounts whose programs are ours.
pub const ACCOUNTS: &[&str] = &[
    "operator",
    "machine-controller",
    "control-plane-operator",
    "control-plane-pki-operator",
    "hosted-cluster-config-operator",
    "ignition-server",
    "machine-approver",
    "etcd-recovery",
];

/// One verb on one resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Right {
    pub account: String,
    pub group: String,
    /// With its subresource, as rules name it.
    pub resource: String,
    pub verb: String,
}

impl fmt::Display for Right {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            account,
            group,
            resource,
            verb,
        } = self;
        write!(formatter, "{account}: {verb} {resource} of {group:?}")
    }
}

/// Everything that was seen. Cheap to clone; clones share it.
#[derive(Clone, Default)]
pub struct Record(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    used: BTreeSet<Right>,
    granted: BTreeSet<Right>,
    refused: BTreeMap<String, usize>,
}

impl Record {
    /// Who notes every question of these accounts. Where one account has the rights of several programs, only what it is
    /// refused can tell something.
    pub fn witness(&self, tells_use: bool) -> Witness {
        let record = self.clone();
        Box::new(move |attributes, decision| record.note(attributes, decision, tells_use))
    }

    fn note(&self, attributes: &Attributes<'_>, decision: &Decision, tells_use: bool) {
        let account = attributes.user.name.strip_prefix("system:serviceaccount:");
        let Some((namespace, account)) = account.and_then(|name| name.split_once(':')) else {
            return;
        };
        // Before the right to impersonate, a server asks for narrower ones (kubernetes, KEP 5284), which nobody needs who
        // has that one.
        let is_narrower = attributes.verb.starts_with("impersonate-on:");
        if !attributes.is_resource || !ACCOUNTS.contains(&account) || is_narrower {
            return;
        }
        let resource = match attributes.subresource {
            "" => attributes.resource.to_owned(),
            subresource => format!("{}/{subresource}", attributes.resource),
        };
        let right = Right {
            account: account.to_owned(),
            group: attributes.group.to_owned(),
            resource,
            verb: attributes.verb.to_owned(),
        };
        let mut seen = self.0.lock().unwrap();
        if decision.is_allowed() {
            if tells_use {
                seen.used.insert(right);
            }
        } else {
            let line = format!(
                "{right}, {:?} in {:?} (of {namespace})",
                attributes.name, attributes.namespace
            );
            *seen.refused.entry(line).or_default() += 1;
        }
    }

    /// Notes what an account has.
    pub fn grant(&self, right: Right) {
        self.0.lock().unwrap().granted.insert(right);
    }

    /// What was asked for in vain.
    pub fn refused(&self) -> Vec<String> {
        self.0.lock().unwrap().refused.keys().cloned().collect()
    }

    /// What was granted, and never asked for.
    pub fn unused(&self) -> BTreeSet<Right> {
        let seen = self.0.lock().unwrap();
        assert!(!seen.granted.is_empty(), "no rules were looked at");
        seen.granted.difference(&seen.used).cloned().collect()
    }
}
