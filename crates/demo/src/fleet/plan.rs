//! What a fleet is: how many clusters of how many nodes, and their manifests. Pure.

use hyperplane_planner::catalogue;
use serde::Serialize;
use serde_json::{Value, json};
use thiserror::Error;

use crate::{
    manifests::{hosted_cluster, node_pool},
    plan::{Availability, Plan, Version},
};

/// On everything of a fleet.
pub(super) const LABEL: &str = "hyperplane.dev/demo";
/// Its value.
pub(super) const MARKED: &str = "fleet";

/// The most clusters of a fleet: names have three digits or four.
pub const MOST_CLUSTERS: usize = 10_000;
/// The most nodes of each.
pub const MOST_NODES: usize = 1_000;
/// How many clusters are under way at a time unless somebody says otherwise. Each mostly waits, so that a few per core are
/// meant to keep all of them busy; the number is an estimate.
pub const AT_ONCE: usize = 16;

/// A fleet of like clusters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FleetPlan {
    /// The namespace of the clusters.
    pub namespace: String,
    /// How many clusters.
    pub clusters: usize,
    /// How many nodes each has, in one pool.
    pub nodes: usize,
    /// How many clusters are under way at a time.
    pub at_once: usize,
    /// The version of all of them.
    pub version: Version,
    #[serde(skip)]
    model: Plan,
}

/// Why a fleet cannot be planned.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FleetError {
    /// None, or too many.
    #[error("a fleet cannot have {0} clusters: give a number from 1 to {MOST_CLUSTERS}")]
    Clusters(usize),
    /// Too many.
    #[error("a cluster of a fleet cannot have {0} nodes: give a number from 0 to {MOST_NODES}")]
    Nodes(usize),
    /// None.
    #[error("at least one cluster has to be under way at a time: give a number from 1 on")]
    AtOnce,
    /// There is no release to make clusters of.
    #[error(transparent)]
    Plan(#[from] crate::plan::PlanError),
}

impl FleetPlan {
    /// So many clusters of so many nodes, of the newest release.
    pub fn new(clusters: usize, nodes: usize, at_once: usize) -> Result<Self, FleetError> {
        if clusters == 0 || clusters > MOST_CLUSTERS {
            return Err(FleetError::Clusters(clusters));
        }
        if nodes > MOST_NODES {
            return Err(FleetError::Nodes(nodes));
        }
        if at_once == 0 {
            return Err(FleetError::AtOnce);
        }
        let mut model = Plan::new("fleet")?;
        model.availability = Availability::SingleReplica;
        let newest = catalogue::releases().last().and_then(Version::of);
        let version = newest.unwrap_or_else(|| model.versions.ahead.clone());
        model.versions.from = version.clone();
        Ok(Self {
            namespace: model.namespace.clone(),
            clusters,
            nodes,
            at_once,
            version,
            model,
        })
    }

    /// The name of a cluster, from zero.
    pub fn name(&self, number: usize) -> String {
        if self.clusters > 1_000 {
            format!("f{number:04}")
        } else {
            format!("f{number:03}")
        }
    }

    /// Whether a name is one of the fleet, of a cluster or of its pool.
    pub(super) fn has(&self, name: &str) -> bool {
        let digits = name
            .strip_prefix('f')
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()));
        let number = digits.and_then(|digits| digits.parse::<usize>().ok());
        number.is_some_and(|number| number < self.clusters && name == self.name(number))
    }

    /// A cluster with its pool.
    pub(super) fn objects(&self, name: &str) -> Vec<Value> {
        let mut plan = self.model.clone();
        name.clone_into(&mut plan.cluster);
        let mut pool = plan.web.clone();
        name.clone_into(&mut pool.name);
        pool.replicas = self.nodes;
        let objects = [hosted_cluster(&plan), node_pool(&plan, &pool)];
        let marked = objects.into_iter().map(|mut object| {
            object["metadata"]["labels"] = json!({LABEL: MARKED});
            object
        });
        marked.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fleet_has_bounds() {
        assert_eq!(FleetPlan::new(0, 1, 1), Err(FleetError::Clusters(0)));
        assert_eq!(FleetPlan::new(10_001, 1, 1), Err(FleetError::Clusters(10_001)));
        assert_eq!(FleetPlan::new(1, 1_001, 1), Err(FleetError::Nodes(1_001)));
        assert_eq!(FleetPlan::new(1, 1, 0), Err(FleetError::AtOnce));
    }

    #[test]
    fn names_are_numbers_of_one_length() {
        let plan = FleetPlan::new(12, 2, 4).unwrap();
        assert_eq!((plan.name(0), plan.name(11)), ("f000".to_owned(), "f011".to_owned()));
        assert_eq!(FleetPlan::new(1_001, 0, 1).unwrap().name(7), "f0007");
        for (name, is_ours) in [
            ("f000", true),
            ("f011", true),
            ("f012", false),
            ("f11", false),
            ("f", false),
            ("g000", false),
        ] {
            assert_eq!(plan.has(name), is_ours, "{name}");
        }
    }

    #[test]
    fn a_cluster_comes_with_its_pool() {
        let plan = FleetPlan::new(1, 4, 1).unwrap();
        let objects = plan.objects("f000");
        assert_eq!(objects[0]["metadata"]["name"], "f000");
        assert_eq!(objects[0]["spec"]["release"]["image"], plan.version.image.as_str());
        assert_eq!(objects[0]["spec"]["controllerAvailabilityPolicy"], "SingleReplica");
        assert_eq!(objects[1]["spec"]["clusterName"], "f000");
        assert_eq!(objects[1]["spec"]["replicas"], 4);
        assert!(
            objects
                .iter()
                .all(|object| object["metadata"]["labels"][LABEL] == MARKED)
        );
    }
}
