//! What watches have told so far: the present as a picture, and the past as a record. Pure.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value;

use crate::{
    json::{self, Objects, is_leaving, text},
    picture::{Picture, node_of, pool_of, serves, version_of},
    plan::Plan,
    record::{Kind, Record, Seen, Sighting, State},
    story::StepId,
};

/// What a watch is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    Cluster,
    Pools,
    Components,
    Machines,
    Nodes,
}

/// What a watch tells.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// All objects follow, and then [`Change::Listed`].
    Listing,
    /// An object is there.
    Applied(Value),
    /// An object has gone.
    Deleted(Value),
    /// All that are there were told.
    Listed,
}

/// The present and the past.
#[derive(Debug, Default)]
pub(crate) struct Scene {
    pub(crate) now: Picture,
    pub(crate) record: Record,
    /// Names that a list has told so far.
    listing: [Option<BTreeSet<String>>; 5],
}

impl Scene {
    /// Takes what a watch told, and gives what is new of machines and nodes.
    pub(crate) fn take(
        &mut self,
        plan: &Plan,
        at: Timestamp,
        step: StepId,
        source: Source,
        change: Change,
    ) -> Vec<Sighting> {
        match change {
            Change::Listing => {
                self.listing[source as usize] = Some(BTreeSet::new());
                Vec::new()
            }
            Change::Applied(object) if is_of(plan, source, &object) => {
                let name = json::name(&object).to_owned();
                if let Some(listing) = &mut self.listing[source as usize] {
                    listing.insert(name.clone());
                }
                let noted = self.note(at, step, source, &object, None);
                self.put(source, name, object);
                noted
            }
            Change::Applied(_) => Vec::new(),
            Change::Deleted(object) => self.remove(at, step, source, &object),
            Change::Listed => {
                let Some(listed) = self.listing[source as usize].take() else {
                    return Vec::new();
                };
                let gone: Vec<Value> = self.missing(source, &listed);
                gone.iter()
                    .flat_map(|object| self.remove(at, step, source, object))
                    .collect()
            }
        }
    }

    fn remove(&mut self, at: Timestamp, step: StepId, source: Source, object: &Value) -> Vec<Sighting> {
        if source != Source::Cluster {
            self.objects(source).remove(json::name(object));
        } else if is_same(&self.now.cluster, object) {
            self.now.cluster = Value::Null;
        }
        self.note(at, step, source, object, Some(State::Gone))
    }

    fn note(
        &mut self,
        at: Timestamp,
        step: StepId,
        source: Source,
        object: &Value,
        state: Option<State>,
    ) -> Vec<Sighting> {
        let kind = match source {
            Source::Machines => Kind::Machine,
            Source::Nodes => Kind::Node,
            Source::Cluster | Source::Pools | Source::Components => return Vec::new(),
        };
        let present = if is_leaving(object) {
            State::Leaving
        } else {
            State::Present
        };
        let seen = seen(kind, object, state.unwrap_or(present));
        self.record.note(at, step, kind, json::name(object), seen)
    }

    fn put(&mut self, source: Source, name: String, object: Value) {
        if source == Source::Cluster {
            self.now.cluster = object;
        } else {
            self.objects(source).insert(name, object);
        }
    }

    /// What was there, and was not in a list.
    fn missing(&mut self, source: Source, listed: &BTreeSet<String>) -> Vec<Value> {
        if source == Source::Cluster {
            let is_missing = listed.is_empty() && !self.now.cluster.is_null();
            return is_missing.then(|| self.now.cluster.clone()).into_iter().collect();
        }
        let missing = self.objects(source).iter().filter(|(name, _)| !listed.contains(*name));
        missing.map(|(_, object)| object.clone()).collect()
    }

    /// Where objects are kept of a source that has many. The cluster is alone, and callers see to it themselves.
    fn objects(&mut self, source: Source) -> &mut Objects {
        match source {
            Source::Cluster | Source::Pools => &mut self.now.pools,
            Source::Components => &mut self.now.components,
            Source::Machines => &mut self.now.machines,
            Source::Nodes => self.now.nodes.get_or_insert_default(),
        }
    }
}

/// Whether an object is one of the story: other clusters may share its namespace.
fn is_of(plan: &Plan, source: Source, object: &Value) -> bool {
    match source {
        Source::Cluster => json::name(object) == plan.cluster,
        Source::Pools => text(object, "/spec/clusterName") == plan.cluster,
        Source::Components | Source::Machines | Source::Nodes => true,
    }
}

fn is_same(one: &Value, other: &Value) -> bool {
    json::uid(one) == json::uid(other)
}

fn seen(kind: Kind, object: &Value, state: State) -> Seen {
    let (version, serves) = match kind {
        Kind::Machine => (
            text(object, "/spec/version").trim_start_matches('v'),
            !node_of(object).is_empty(),
        ),
        Kind::Node => (version_of(object), serves(object)),
    };
    Seen {
        uid: json::uid(object).to_owned(),
        version: version.to_owned(),
        pool: pool_of(object).to_owned(),
        serves: serves && state != State::Gone,
        state,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::picture::tests::{machine, node};

    fn take(scene: &mut Scene, source: Source, change: Change) -> usize {
        let plan = Plan::new("demo").unwrap();
        scene
            .take(&plan, Timestamp::UNIX_EPOCH, StepId::Create, source, change)
            .len()
    }

    #[test]
    fn what_a_new_list_leaves_out_has_gone() {
        let mut scene = Scene::default();
        take(&mut scene, Source::Machines, Change::Listing);
        for name in ["a", "b"] {
            assert_eq!(
                take(
                    &mut scene,
                    Source::Machines,
                    Change::Applied(machine(name, name, "demo-web", "1.35.8"))
                ),
                1
            );
        }
        assert_eq!(take(&mut scene, Source::Machines, Change::Listed), 0);
        take(&mut scene, Source::Machines, Change::Listing);
        assert_eq!(scene.now.machines.len(), 2, "nothing goes before the list is whole");
        take(
            &mut scene,
            Source::Machines,
            Change::Applied(machine("b", "b", "demo-web", "1.35.8")),
        );
        assert_eq!(take(&mut scene, Source::Machines, Change::Listed), 1);
        assert_eq!(scene.now.machines.keys().collect::<Vec<_>>(), ["b"]);
        assert_eq!(
            take(
                &mut scene,
                Source::Machines,
                Change::Deleted(machine("b", "b", "demo-web", "1.35.8"))
            ),
            1
        );
        assert!(scene.now.machines.is_empty());
    }

    #[test]
    fn others_in_the_namespace_are_passed_over() {
        let mut scene = Scene::default();
        let pool = |cluster: &str| json!({"metadata": {"name": cluster}, "spec": {"clusterName": cluster}});
        for cluster in ["demo", "blue"] {
            take(&mut scene, Source::Pools, Change::Applied(pool(cluster)));
            take(
                &mut scene,
                Source::Cluster,
                Change::Applied(json!({"metadata": {"name": cluster, "uid": cluster}})),
            );
        }
        assert_eq!(scene.now.pools.keys().collect::<Vec<_>>(), ["demo"]);
        assert_eq!(json::name(&scene.now.cluster), "demo");
        take(
            &mut scene,
            Source::Cluster,
            Change::Deleted(json!({"metadata": {"name": "blue", "uid": "blue"}})),
        );
        assert!(!scene.now.cluster.is_null());
        take(
            &mut scene,
            Source::Cluster,
            Change::Deleted(json!({"metadata": {"name": "demo", "uid": "demo"}})),
        );
        assert!(scene.now.cluster.is_null());
    }

    #[test]
    fn nodes_are_unknown_until_somebody_could_ask() {
        let mut scene = Scene::default();
        assert_eq!(scene.now.nodes, None);
        take(&mut scene, Source::Nodes, Change::Listing);
        assert_eq!(scene.now.nodes, None, "a list was asked for, and nobody has answered");
        take(&mut scene, Source::Nodes, Change::Listed);
        assert_eq!(scene.now.nodes, Some(Objects::new()));
        take(&mut scene, Source::Nodes, Change::Applied(node("a", "1", "1.35.8")));
        assert_eq!(scene.now.nodes.unwrap().len(), 1);
    }
}
