//! What was seen to happen, in the order in which watches told it, and in which step. Claims about the way from one moment
//! to another are judged by it. Pure.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::story::StepId;

/// Everything that was seen of machines and nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    pub(crate) sightings: Vec<Sighting>,
    /// The last that was seen of each object, so that what does not change is noted once.
    last: BTreeMap<(Kind, String), Seen>,
}

/// Something that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sighting {
    pub(crate) at: Timestamp,
    pub(crate) step: StepId,
    pub(crate) kind: Kind,
    pub(crate) name: String,
    pub(crate) seen: Seen,
}

/// What it was seen of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Machine,
    Node,
}

/// What was seen of a Machine or a Node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) uid: String,
    /// Of a Machine that which was asked for, of a Node that which its kubelet reports; without a letter in front.
    pub(crate) version: String,
    /// The pool that a Machine names; empty for a Node.
    pub(crate) pool: String,
    /// Of a Node whether it is ready and takes pods, of a Machine whether it became a Node.
    pub(crate) serves: bool,
    pub(crate) state: State,
}

/// Whether an object is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Present,
    Leaving,
    Gone,
}

impl Record {
    /// Notes what was seen; nothing if it was seen last time. An object that takes the name of another means that the other
    /// has gone.
    pub(crate) fn note(&mut self, at: Timestamp, step: StepId, kind: Kind, name: &str, seen: Seen) -> Vec<Sighting> {
        let key = (kind, name.to_owned());
        let mut noted = Vec::new();
        match self.last.get(&key) {
            Some(last) if *last == seen => return Vec::new(),
            None if seen.state == State::Gone => return Vec::new(),
            Some(last) if last.uid != seen.uid => noted.push(Seen {
                state: State::Gone,
                serves: false,
                ..last.clone()
            }),
            _ => {}
        }
        if seen.state == State::Gone {
            self.last.remove(&key);
        } else {
            self.last.insert(key, seen.clone());
        }
        noted.push(seen);
        let sightings = noted.into_iter().map(|seen| Sighting {
            at,
            step,
            kind,
            name: name.to_owned(),
            seen,
        });
        let sightings: Vec<Sighting> = sightings.collect();
        self.sightings.extend(sightings.iter().cloned());
        sightings
    }

    /// What was seen of a kind in a step.
    pub(crate) fn during(&self, step: StepId, kind: Kind) -> impl Iterator<Item = &Sighting> {
        self.sightings
            .iter()
            .filter(move |sighting| sighting.step == step && sighting.kind == kind)
    }

    /// The uids that were seen of a kind before a step, and were there when it began.
    pub(crate) fn present_before(&self, step: StepId, kind: Kind) -> BTreeSet<String> {
        let mut present = BTreeSet::new();
        for sighting in self
            .sightings
            .iter()
            .filter(|sighting| sighting.kind == kind && sighting.step < step)
        {
            if sighting.seen.state == State::Gone {
                present.remove(&sighting.seen.uid);
            } else {
                present.insert(sighting.seen.uid.clone());
            }
        }
        present
    }

    /// The names of all Machines of a pool that ever were, which are those of their Nodes, too.
    pub(crate) fn names_of(&self, pool: &str) -> BTreeSet<&str> {
        let machines = self.sightings.iter().filter(|sighting| sighting.kind == Kind::Machine);
        machines
            .filter(|sighting| sighting.seen.pool == pool)
            .map(|sighting| sighting.name.as_str())
            .collect()
    }

    /// The fewest Nodes of a pool that served at once, from the moment on at which so many did for the first time; none if
    /// there never were so many.
    pub(crate) fn fewest_serving(&self, pool: &str, from: usize) -> Option<usize> {
        let names = self.names_of(pool);
        let mut serving = BTreeSet::new();
        let mut fewest = None;
        for sighting in self.sightings.iter().filter(|sighting| sighting.kind == Kind::Node) {
            if !names.contains(sighting.name.as_str()) {
                continue;
            }
            if sighting.seen.serves {
                serving.insert(sighting.seen.uid.as_str());
            } else {
                serving.remove(sighting.seen.uid.as_str());
            }
            let is_begun = fewest.is_some() || serving.len() >= from;
            fewest = is_begun.then(|| fewest.unwrap_or(serving.len()).min(serving.len()));
        }
        fewest
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A short way to write what was seen.
    pub(crate) fn seen(uid: &str, pool: &str, version: &str, serves: bool, state: State) -> Seen {
        Seen {
            uid: uid.to_owned(),
            version: version.to_owned(),
            pool: pool.to_owned(),
            serves,
            state,
        }
    }

    /// A record of such entries.
    pub(crate) fn record(entries: &[(StepId, Kind, &str, Seen)]) -> Record {
        let mut record = Record::default();
        for (step, kind, name, seen) in entries {
            record.note(Timestamp::UNIX_EPOCH, *step, *kind, name, seen.clone());
        }
        record
    }

    #[test]
    fn what_does_not_change_is_noted_once() {
        let mut record = Record::default();
        let mut note = |seen: Seen| {
            record
                .note(Timestamp::UNIX_EPOCH, StepId::Create, Kind::Node, "a", seen)
                .len()
        };
        let whole = seen("1", "", "1.35.8", true, State::Present);
        assert_eq!(
            note(seen("1", "", "1.35.8", true, State::Gone)),
            0,
            "it never was there"
        );
        assert_eq!((note(whole.clone()), note(whole.clone())), (1, 0));
        assert_eq!(
            note(seen("2", "", "1.35.8", true, State::Present)),
            2,
            "one goes and another comes"
        );
        assert_eq!(note(seen("2", "", "1.35.8", false, State::Gone)), 1);
        assert_eq!(note(whole), 1);
    }

    #[test]
    fn the_fewest_nodes_count_from_the_first_time_that_all_are_there() {
        let pool = |name: &'static str| {
            (
                StepId::Join,
                Kind::Machine,
                name,
                seen(name, "p", "1", true, State::Present),
            )
        };
        let node = |name: &'static str, serves: bool, state: State| {
            (StepId::Roll, Kind::Node, name, seen(name, "", "1", serves, state))
        };
        let mut entries = vec![
            pool("a"),
            pool("b"),
            pool("c"),
            node("a", true, State::Present),
            node("other", true, State::Present),
        ];
        assert_eq!(record(&entries).fewest_serving("p", 2), None);
        entries.push(node("b", true, State::Present));
        assert_eq!(record(&entries).fewest_serving("p", 2), Some(2));
        entries.extend([node("c", true, State::Present), node("a", false, State::Gone)]);
        assert_eq!(record(&entries).fewest_serving("p", 2), Some(2));
        entries.push(node("b", false, State::Present));
        entries.push(node("b", true, State::Present));
        assert_eq!(record(&entries).fewest_serving("p", 2), Some(1));
    }
}
