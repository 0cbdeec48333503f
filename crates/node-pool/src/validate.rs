//! Every rule about a pool that needs more than a schema, one family per file. All that is wrong is said at once. Pure:
//! everything that is judged was read before.

mod config;
mod management;
mod nodes;
mod platform;
mod release;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use hyperplane_api::hypershift::{hosted_cluster::HostedCluster, node_pool::NodePool};
use hyperplane_planner::release::{Release, Shelf};
use hyperplane_platforms::{MachineTemplate, Problem, Rule};

pub(crate) use self::{
    management::{has_pace, seconds},
    nodes::{has_labels, has_taints},
    platform::{boot_image, makes_machines, spreads_by_topology},
};
use crate::{dereference::Seen, documents::Documents, settings::NodePoolSettings};

/// What is judged.
#[derive(Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(crate) pool: &'a NodePool,
    pub(crate) cluster: &'a HostedCluster,
    pub(crate) seen: &'a Seen,
    pub(crate) settings: &'a NodePoolSettings,
    pub(crate) shelf: &'a Shelf,
}

impl Case<'_> {
    /// The release of an image.
    pub(crate) fn release(&self, image: &str) -> Option<Arc<Release>> {
        let objects = self.seen.releases.iter().map(AsRef::as_ref);
        self.shelf.resolve(image, objects).ok().map(|found| found.release)
    }
}

/// What came of it, by the aspect that each problem concerns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Verdict {
    /// How nodes are changed is not known here.
    pub(crate) management: Vec<Problem>,
    /// The pace, a timeout or a number cannot be carried out; those that are in force stay so.
    pub(crate) pace: Vec<Problem>,
    /// Nodes are to be changed in place, which is not done here.
    pub(crate) is_in_place: bool,
    /// The bounds of the autoscaler cannot be kept; nothing else is held up by it.
    pub(crate) autoscaling: Vec<Problem>,
    /// The pool does not go with its cluster.
    pub(crate) platform: Vec<Problem>,
    /// The release cannot be used.
    pub(crate) release: Vec<Problem>,
    /// There are no such machines.
    pub(crate) architecture: Vec<Problem>,
    /// The configuration of nodes cannot be made.
    pub(crate) config: Vec<Problem>,
    /// The machine template cannot be made.
    pub(crate) template: Vec<Problem>,
    /// The release, where it is found.
    pub(crate) found: Option<Arc<Release>>,
    /// The documents, where they can be read.
    pub(crate) documents: Option<Documents>,
    /// What machines are made from, where it can be said.
    pub(crate) machines: Option<MachineTemplate>,
}

impl Verdict {
    /// Whether anything may be done for the pool at all.
    pub(crate) fn is_sound(&self) -> bool {
        self.management.is_empty() && self.platform.is_empty() && !self.is_in_place
    }

    /// What keeps nodes from becoming what they are to be, although those that are there go on.
    pub(crate) fn holds(&self) -> impl Iterator<Item = &Problem> {
        self.pace
            .iter()
            .chain(&self.release)
            .chain(&self.architecture)
            .chain(&self.config)
            .chain(&self.template)
    }

    /// Everything that is wrong.
    pub(crate) fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.management.iter().chain(&self.platform).chain(self.holds())
    }
}

/// Judges a pool.
pub(crate) fn validate(case: &Case<'_>) -> Verdict {
    let mut verdict = Verdict::default();
    management::judge(case, &mut verdict);
    nodes::judge(case, &mut verdict.config);
    config::judge(case, &mut verdict);
    release::judge(case, &mut verdict);
    platform::judge(case, &mut verdict);
    verdict
}

/// Every rule, those of platforms included.
pub fn rules() -> Vec<&'static Rule> {
    let ours = [
        management::RULES,
        nodes::RULES,
        config::RULES,
        release::RULES,
        platform::RULES,
    ];
    ours.into_iter()
        .flatten()
        .chain(hyperplane_platforms::pool_rules())
        .collect()
}
