//! How everything stands, in numbers and words that fit on a screen: components in the order of their dependencies,
//! machines and nodes of each pool. Pure.

use std::collections::BTreeMap;

use hyperplane_components::{Component, catalogue, manager_catalogue};
use serde::Serialize;
use serde_json::Value;

use crate::{
    json::{condition, holds, is_leaving, text},
    picture::{Picture, serves, version_of},
    plan::{Plan, PoolPlan},
    record::{Kind, Sighting, State},
};

/// How everything stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Board {
    /// The version that the control plane is to have.
    pub wanted: String,
    /// Its components, those first that others wait for.
    pub components: Vec<ComponentState>,
    /// The pools.
    pub pools: Vec<PoolState>,
}

/// How a component stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ComponentState {
    /// Its name.
    pub name: String,
    /// The version that all of its replicas last had; empty where there is none yet.
    pub version: String,
    /// How far it has come.
    pub phase: Phase,
    /// What it waits for or how it gets on, in its own words; empty when it is done.
    pub message: String,
}

/// How far a component has come towards the version that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    /// It does not serve yet.
    Waiting,
    /// It serves, and not all of it is as wanted.
    Rolling,
    /// All of it serves as wanted.
    Done,
}

/// How a pool stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PoolState {
    /// What people call it.
    pub title: String,
    /// How many nodes it is to have.
    pub wanted: usize,
    /// How many machines it has that are to stay.
    pub machines: usize,
    /// How many machines are on their way out.
    pub leaving: usize,
    /// How many of its nodes serve, by version.
    pub ready: BTreeMap<String, usize>,
}

impl Board {
    /// How everything stands in a picture.
    pub(crate) fn of(now: &Picture, plan: &Plan) -> Self {
        let image = text(&now.cluster, "/spec/release/image");
        let wanted = plan.version_of(image).unwrap_or_default().to_owned();
        let mut components: Vec<ComponentState> = now
            .components
            .iter()
            .map(|(name, component)| ComponentState::of(name, component, &wanted))
            .collect();
        components.sort_by_key(|component| order(&component.name));
        Self {
            components,
            pools: plan.pools().map(|pool| PoolState::of(now, plan, pool)).into(),
            wanted,
        }
    }

    /// How many components are done.
    pub fn components_done(&self) -> usize {
        let done = self
            .components
            .iter()
            .filter(|component| component.phase == Phase::Done);
        done.count()
    }

    /// What people want to hear of a change of components.
    pub(crate) fn news(&self, before: &Self) -> Vec<String> {
        let phase_before = |name: &str| {
            let found = before.components.iter().find(|component| component.name == name);
            found.map(|component| (component.phase, before.wanted.as_str()))
        };
        let news = self.components.iter().filter_map(|component| {
            let before = phase_before(&component.name);
            let is_new = before != Some((component.phase, &self.wanted));
            match component.phase {
                Phase::Done if is_new => Some(format!("{} serves in {}", component.name, component.version)),
                Phase::Rolling if before.map(|(phase, _)| phase) == Some(Phase::Done) => Some(format!(
                    "{} leaves {} for {}",
                    component.name, component.version, self.wanted
                )),
                _ => None,
            }
        });
        news.collect()
    }
}

impl ComponentState {
    fn of(name: &str, component: &Value, wanted: &str) -> Self {
        let version = text(component, "/status/version");
        let is_available = holds(component, "Available");
        let is_done = is_available && holds(component, "RolloutComplete") && version == wanted;
        let (phase, types) = match (is_done, is_available) {
            (true, _) => (Phase::Done, &[][..]),
            (false, true) => (Phase::Rolling, &["RolloutComplete"][..]),
            (false, false) => (Phase::Waiting, &["Available", "RolloutComplete"][..]),
        };
        let messages = types.iter().filter_map(|type_| condition(component, type_));
        let mut messages = messages
            .filter(|found| found.status != "True")
            .map(|found| found.message);
        Self {
            name: name.to_owned(),
            version: version.to_owned(),
            phase,
            message: messages.next().unwrap_or_default().to_owned(),
        }
    }
}

impl PoolState {
    fn of(now: &Picture, plan: &Plan, pool: &PoolPlan) -> Self {
        let machines = now.machines_of(plan, pool);
        let leaving = machines.iter().filter(|machine| is_leaving(machine)).count();
        let mut ready: BTreeMap<String, usize> = BTreeMap::new();
        for node in now.nodes_of(plan, pool).into_iter().filter(|node| serves(node)) {
            *ready.entry(version_of(node).to_owned()).or_default() += 1;
        }
        Self {
            title: pool.title.clone(),
            wanted: pool.replicas,
            machines: machines.len() - leaving,
            leaving,
            ready,
        }
    }

    /// How many of its nodes serve, whichever version they have.
    pub fn nodes(&self) -> usize {
        self.ready.values().sum()
    }
}

/// What people want to hear of a machine or a node.
pub(crate) fn news_of(sighting: &Sighting, is_known: bool) -> Option<String> {
    let Sighting { kind, name, seen, .. } = sighting;
    match (kind, seen.state) {
        (Kind::Machine, State::Present) if !is_known => Some(format!("machine {name} is made for {}", seen.version)),
        (Kind::Machine, State::Leaving) => Some(format!("machine {name} leaves")),
        (Kind::Machine, State::Gone) => Some(format!("machine {name} is gone")),
        (Kind::Node, State::Present) if seen.serves => Some(format!("node {name} is ready with {}", seen.version)),
        _ => None,
    }
}

/// The place of a component: how many others it waits for in a row, and its place in the catalogue. Those that nobody knows
/// come last, by name.
fn order(name: &str) -> (usize, usize, String) {
    let all: Vec<&Component> = manager_catalogue().iter().chain(catalogue()).collect();
    let place = all.iter().position(|component| component.name == name);
    let depth = depth(&all, name, all.len());
    (depth, place.unwrap_or(usize::MAX), name.to_owned())
}

/// How many components have to come before one, in a row. Nothing is deeper than there are components.
fn depth(all: &[&Component], name: &str, most: usize) -> usize {
    const API_SERVER: &str = hyperplane_api::constants::objects::components::API_SERVER;
    let Some(component) = all.iter().find(|component| component.name == name) else {
        return usize::MAX;
    };
    if most == 0 {
        return all.len();
    }
    let waits = !component.traits.precedes_api_server && name != API_SERVER;
    let implicit = waits.then_some(API_SERVER);
    let before = component.dependencies.iter().copied().chain(implicit);
    let before = before.filter(|other| *other != name && all.iter().any(|known| known.name == *other));
    before.map(|other| depth(all, other, most - 1) + 1).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::{json::by_name, picture::tests::picture, record::tests::seen, story::StepId};

    fn component(name: &str, version: &str, available: &str, complete: &str) -> Value {
        json!({
            "metadata": {"name": name},
            "status": {"version": version, "conditions": [
                {"type": "Available", "status": available, "message": "Waiting for etcd."},
                {"type": "RolloutComplete", "status": complete, "message": "1 of 3 replicas."},
            ]},
        })
    }

    fn board(components: Vec<Value>, image: &str) -> Board {
        let now = Picture {
            cluster: json!({"spec": {"release": {"image": image}}}),
            components: by_name(components),
            ..picture(&[("a", "1", "demo-web", "1.35.8")])
        };
        Board::of(&now, &Plan::new("demo").unwrap())
    }

    #[test]
    fn components_come_in_the_order_of_their_dependencies() {
        let names = [
            "kube-scheduler",
            "a-stranger",
            "kube-apiserver",
            "etcd",
            "konnectivity-agent",
        ];
        let components = names.iter().map(|name| component(name, "1.35.8", "True", "True"));
        let board = board(components.collect(), "hyperplane.dev/kubernetes:v1.35.8");
        let names: Vec<&str> = board
            .components
            .iter()
            .map(|component| component.name.as_str())
            .collect();
        assert_eq!(names[..2], ["etcd", "kube-apiserver"]);
        assert_eq!(names.last(), Some(&"a-stranger"));
        assert_eq!(board.components_done(), 5);
    }

    #[test]
    fn a_component_tells_what_it_waits_for() {
        let phases = |available: &str, complete: &str, version: &str| {
            let mut board = board(
                vec![component("etcd", version, available, complete)],
                "hyperplane.dev/kubernetes:v1.35.8",
            );
            let found = board.components.remove(0);
            (found.phase, found.message)
        };
        assert_eq!(phases("True", "True", "1.35.8"), (Phase::Done, String::new()));
        assert_eq!(phases("True", "True", "1.34.0"), (Phase::Rolling, String::new()));
        assert_eq!(
            phases("True", "False", "1.35.8"),
            (Phase::Rolling, "1 of 3 replicas.".to_owned())
        );
        assert_eq!(
            phases("False", "False", ""),
            (Phase::Waiting, "Waiting for etcd.".to_owned())
        );
    }

    #[test]
    fn news_are_told_once() {
        let images = ["hyperplane.dev/kubernetes:v1.35.8", "hyperplane.dev/kubernetes:v1.36.3"];
        let boards = [
            board(vec![component("etcd", "", "False", "False")], images[0]),
            board(vec![component("etcd", "1.35.8", "True", "True")], images[0]),
            board(vec![component("etcd", "1.35.8", "True", "True")], images[1]),
            board(vec![component("etcd", "1.36.3", "True", "True")], images[1]),
        ];
        let expected = [
            "etcd serves in 1.35.8",
            "etcd leaves 1.35.8 for 1.36.3",
            "etcd serves in 1.36.3",
        ];
        for (pair, expected) in boards.windows(2).zip(expected) {
            assert_eq!(pair[1].news(&pair[0]), [expected]);
            assert_eq!(pair[1].news(&pair[1]), [""; 0]);
        }
    }

    #[test]
    fn machines_and_nodes_are_told_of() {
        let sighting = |kind: Kind, serves: bool, state: State| Sighting {
            at: Timestamp::UNIX_EPOCH,
            step: StepId::Join,
            kind,
            name: "a".to_owned(),
            seen: seen("1", "", "1.35.8", serves, state),
        };
        let told = |kind: Kind, serves: bool, state: State| news_of(&sighting(kind, serves, state), false);
        assert_eq!(
            told(Kind::Machine, false, State::Present).unwrap(),
            "machine a is made for 1.35.8"
        );
        assert_eq!(told(Kind::Machine, true, State::Leaving).unwrap(), "machine a leaves");
        assert_eq!(
            told(Kind::Node, true, State::Present).unwrap(),
            "node a is ready with 1.35.8"
        );
        assert_eq!(told(Kind::Node, false, State::Present), None);
    }

    #[test]
    fn a_pool_counts_what_serves() {
        let board = board(Vec::new(), "");
        assert_eq!(
            (board.pools[0].machines, board.pools[0].nodes(), board.pools[1].nodes()),
            (1, 1, 0)
        );
        assert_eq!(board.wanted, "");
    }
}
