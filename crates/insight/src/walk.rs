//! The way from an object to its root causes, one file per stage of it. Each looks at objects and says what it found; what
//! was looked at, what could not be, and every cause are noted here.
//!
//! ```text
//!  HostedCluster ─► HostedControlPlane ─► component ─► workload ─► pod ─► claim, event
//!  NodePool ─► MachineDeployment ─► MachineSet ─► Machine ─► instance ─► configuration ─► request ─► Node
//!  either, when it goes: what is left of it ─► drain, hook, finalizer
//! ```

mod cluster;
mod components;
mod control_plane;
mod deletion;
mod drain;
mod events;
mod joining;
mod judgements;
mod machine;
mod machines;
mod pause;
mod pod;
mod pool;
mod workload;

use std::collections::{BTreeMap, BTreeSet};

pub(crate) use self::{
    cluster::cluster,
    components::{WAITING, unmet, without_notes},
    machines::is_of_pool,
    pool::pool,
};
use crate::{
    cause::{Cause, Trouble, gathered},
    explain::{Explanation, Link, Looked, outcome},
    kind::Kind,
    object::{Object, Reference},
    rule,
    scene::{Place, Scene, Unread},
};

/// A walk under way.
pub(crate) struct Walk<'a> {
    pub(crate) scene: &'a Scene,
    causes: Vec<Cause>,
    looked: BTreeMap<(Kind, Place), usize>,
    unread: BTreeSet<Unread>,
    visited: BTreeSet<Reference>,
}

impl<'a> Walk<'a> {
    pub(crate) const fn new(scene: &'a Scene) -> Self {
        Self {
            scene,
            causes: Vec::new(),
            looked: BTreeMap::new(),
            unread: BTreeSet::new(),
            visited: BTreeSet::new(),
        }
    }

    /// The objects of a kind at a place; none, and a note, where they are not known.
    pub(crate) fn list(&mut self, kind: Kind, place: &Place) -> &'a [Object] {
        match self.scene.list(kind, place) {
            Ok(objects) => {
                self.looked.insert((kind, place.clone()), objects.len());
                objects
            }
            Err(unread) => {
                self.unread.insert(unread);
                &[]
            }
        }
    }

    /// Whether the objects of a kind at a place are known.
    fn knows(&self, kind: Kind, place: &Place) -> bool {
        self.scene.list(kind, place).is_ok()
    }

    /// Whether an object is met for the first time.
    fn enters(&mut self, object: &Object) -> bool {
        self.visited.insert(object.reference())
    }

    /// Where a way ends: the cause is noted, and the last link names it.
    fn settle(&mut self, trouble: &Trouble, others: &[Reference]) -> Link {
        let cause = trouble.cause(others);
        // That nodes have no network is one cause, however many tell it.
        let is_same = |known: &&Cause| {
            let is_told = known.blocker.id == cause.blocker.id && known.blocker.message == cause.blocker.message;
            is_told || (known.blocker.rule == cause.blocker.rule && cause.blocker.rule == rule::NETWORK_PLUGIN.id)
        };
        let known = self.causes.iter().find(is_same).map(|known| known.blocker.id.clone());
        let link = Link {
            object: trouble.object.clone(),
            what: trouble.what.clone(),
            since: trouble.since,
            evidence: trouble.evidence.clone(),
            cause: Some(known.clone().unwrap_or_else(|| cause.blocker.id.clone())),
            because: Vec::new(),
        };
        if known.is_none() {
            self.causes.push(cause);
        }
        link
    }

    /// The same for many, where what several have is told once.
    fn settle_all(&mut self, troubles: impl IntoIterator<Item = Trouble>) -> Vec<Link> {
        gathered(troubles)
            .iter()
            .map(|(trouble, others)| {
                let mut link = self.settle(trouble, others);
                more(&mut link, others);
                link
            })
            .collect()
    }

    /// How many causes were found so far.
    fn found(&self) -> usize {
        self.causes.len()
    }

    /// Whether a cause says what these words say.
    fn is_told(&self, words: &str) -> bool {
        self.causes
            .iter()
            .any(|cause| cause.blocker.message.contains(words) || words.contains(&cause.blocker.message))
    }

    /// Notes a list that would tell and could not be read, where nothing else was found.
    fn unread_trouble(&self, object: &Object, kind: Kind, place: &Place) -> Option<Trouble> {
        let unread = self.scene.list(kind, place).err()?;
        let remedy = format!("Ask somebody who may read {} {place}, or look again.", kind.several());
        let what = format!("cannot be told further: {unread}");
        Some(Trouble::new(object.reference(), &rule::UNREAD, what, remedy))
    }

    /// The whole explanation.
    pub(crate) fn end(self, about: Reference, links: Vec<Link>) -> Explanation {
        let mut causes = self.causes;
        causes.sort_by(|one, other| {
            let key = |cause: &Cause| (cause.weight, cause.rank, cause.blocker.subject.clone());
            key(one).cmp(&key(other))
        });
        let mut counts: BTreeMap<Kind, usize> = BTreeMap::new();
        for ((kind, _), count) in &self.looked {
            *counts.entry(*kind).or_default() += count;
        }
        let unread: Vec<Unread> = self.unread.into_iter().collect();
        Explanation {
            about,
            outcome: outcome(&causes, &unread),
            links,
            causes,
            unused: Vec::new(),
            unused_objects: Vec::new(),
            looked: counts.into_iter().map(|(kind, count)| Looked { kind, count }).collect(),
            unread,
        }
    }
}

/// A link that leads further.
fn leads(object: &Object, what: impl Into<String>, because: Vec<Link>) -> Link {
    Link {
        object: object.reference(),
        what: what.into(),
        since: None,
        evidence: BTreeMap::new(),
        cause: None,
        because,
    }
}

/// Says on a link who else has what it says.
fn more(link: &mut Link, others: &[Reference]) {
    if !others.is_empty() {
        let names: Vec<&str> = others.iter().map(|other| other.name.as_str()).collect();
        link.evidence.insert("also", few(&names));
    }
}

/// How many names a text has before it counts the rest.
const MOST_NAMES: usize = 5;

/// Names, of bounded number.
fn few(names: &[&str]) -> String {
    let shown = names.iter().take(MOST_NAMES).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST_NAMES) {
        0 => shown,
        rest => format!("{shown} and {rest} more"),
    }
}

/// How somebody looks at an object, or changes it.
fn kubectl(verb: &str, object: &Object) -> String {
    let kind = object.kind().to_lowercase();
    match object.namespace() {
        "" => format!("kubectl {verb} {kind} {}", object.name()),
        namespace => format!("kubectl -n {namespace} {verb} {kind} {}", object.name()),
    }
}
