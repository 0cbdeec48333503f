//! What the machines of a pool are to be made with: one hash for everything that their configuration is made from, and a
//! template for the machines themselves. And whether they may become so now.

use std::sync::Arc;

use hyperplane_api::{
    cluster_api::common::{ApiGroup, ContractVersionedObjectReference, ObjectName},
    constants::{annotations, ours},
    hypershift::node_pool::NodePool,
};
use hyperplane_planner::release::Release;
use hyperplane_platforms::MachineTemplate;
use hyperplane_rollout::{RolloutInputs, short};

use crate::{
    RENDER_REVISION,
    inputs::{self, Gathered},
    names,
};

/// What machines are to be made with.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) release: Arc<Release>,
    /// The image by which the pool asks for the release.
    pub(crate) image: String,
    /// What the hash is made from.
    pub(crate) inputs: RolloutInputs,
    /// The hash in names: configuration and version.
    pub(crate) hash: String,
    /// The hash of the configuration alone.
    pub(crate) config_hash: String,
    /// The documents of the configuration, in one text.
    pub(crate) documents: String,
    /// What machines are made from, where the platform has machines.
    pub(crate) template: Option<NamedTemplate>,
}

/// A machine template with its name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NamedTemplate {
    pub(crate) name: String,
    pub(crate) template: MachineTemplate,
}

impl NamedTemplate {
    /// The template under the name that follows from what is in it; none where there is nothing in it.
    pub(crate) fn of(pool: &NodePool, template: MachineTemplate) -> Option<Self> {
        template.kind()?;
        Some(Self {
            name: names::template(pool, &template.canonical()),
            template,
        })
    }

    /// How machines refer to it.
    pub(crate) fn reference(&self) -> Option<ContractVersionedObjectReference> {
        let (group, kind) = self.template.kind()?;
        Some(ContractVersionedObjectReference {
            api_group: ApiGroup::stored(group),
            kind,
            name: ObjectName::stored(self.name.clone()),
        })
    }
}

/// The target of a pool.
pub(crate) fn target(gathered: &Gathered<'_>, release: &Arc<Release>, template: Option<NamedTemplate>) -> Target {
    let inputs = inputs::inputs(gathered, revision(gathered));
    Target {
        release: release.clone(),
        image: gathered.pool.spec.release.image.as_str().to_owned(),
        hash: short(&inputs.rollout_hash()).to_owned(),
        config_hash: short(&inputs.config_hash()).to_owned(),
        inputs,
        documents: gathered.documents.text.clone(),
        template,
    }
}

/// By which revision a pool is rendered: the one that its nodes have, as long as nothing else rolls them, or else the
/// newest.
fn revision(gathered: &Gathered<'_>) -> u32 {
    let pinned = ours::RENDER_REVISION.of(gathered.pool);
    let pinned = pinned.and_then(|text| text.parse::<u32>().ok());
    let pinned = pinned.filter(|revision| (1..=RENDER_REVISION).contains(revision));
    let current = annotations::CURRENT_CONFIG_VERSION.of(gathered.pool);
    let is_current = |revision: &u32| {
        let hash = inputs::inputs(gathered, *revision).rollout_hash();
        current == Some(short(&hash))
    };
    pinned.filter(is_current).unwrap_or(RENDER_REVISION)
}

/// Whether machines may become what they are to be.
#[derive(Clone, Debug)]
pub(crate) enum Roll {
    /// They do.
    To(Box<Target>),
    /// They stay as they are made now.
    Held,
}

impl Roll {
    /// The target, where machines move to it.
    pub(crate) fn target(&self) -> Option<&Target> {
        match self {
            Self::To(target) => Some(target),
            Self::Held => None,
        }
    }
}
