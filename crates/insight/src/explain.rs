//! Why something waits, as data: a chain of links from what was asked about down to each root cause, and what to do.

use std::collections::BTreeMap;

use hyperplane_api::unused::{self, Unused, unused};
use jiff::Timestamp;
use serde::Serialize;

use crate::{
    cause::{Cause, Weight},
    kind::Kind,
    object::{Object, Reference},
    scene::{Place, Scene, Unread, control_plane_namespace},
    walk::{self, Walk},
};

/// One step on the way from an object to what it waits for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Link {
    /// Which object.
    pub object: Reference,
    /// What is the matter with it.
    pub what: String,
    /// Since when, where that is known.
    pub since: Option<Timestamp>,
    /// The facts that say so.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub evidence: BTreeMap<&'static str, String>,
    /// The id of the cause, where the way ends here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// What it is because of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<Link>,
}

/// What an explanation comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// Everything is as it is asked for, and all was looked at.
    Nothing,
    /// Something takes its time, and nothing holds it up.
    Progresses,
    /// Something does not go on by itself.
    Held,
    /// Nothing was found, and not everything could be looked at.
    Unknown,
}

/// How many objects of a kind were looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Looked {
    /// The kind.
    pub kind: Kind,
    /// How many.
    pub count: usize,
}

/// Fields of an object that are set, and that nothing acts on.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UnusedFields {
    /// Which object.
    pub object: Reference,
    /// The fields.
    pub fields: Vec<Unused>,
}

impl UnusedFields {
    /// Those of an object; none where there are none.
    pub(crate) fn of(object: &Object) -> Option<Self> {
        let table = match object.kind() {
            kind if kind == Kind::HostedCluster.name() => unused::HOSTED_CLUSTER,
            kind if kind == Kind::NodePool.name() => unused::NODE_POOL,
            _ => return None,
        };
        let fields = unused(table, object.at("/spec")?);
        (!fields.is_empty()).then(|| Self {
            object: object.reference(),
            fields,
        })
    }
}

/// An object of a kind that nothing acts on.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UnusedObject {
    /// Which object.
    pub object: Reference,
    /// What it would do; completes "it would".
    pub would: &'static str,
    /// What to do instead; empty where there is nothing.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub instead: &'static str,
}

/// Why something waits, or that nothing does.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// What was asked about.
    pub about: Reference,
    /// What it comes to.
    pub outcome: Outcome,
    /// The ways from there to the causes.
    pub links: Vec<Link>,
    /// Every root cause, the most decisive first.
    pub causes: Vec<Cause>,
    /// What is asked for in vain: fields that are set, and that nothing acts on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unused: Vec<UnusedFields>,
    /// The same of whole objects: those of kinds that nothing acts on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unused_objects: Vec<UnusedObject>,
    /// What was looked at.
    pub looked: Vec<Looked>,
    /// What could not be.
    pub unread: Vec<Unread>,
}

/// Explains a cluster together with its pools; none where there is no such cluster.
pub fn explain_cluster(scene: &Scene, namespace: &str, name: &str) -> Option<Explanation> {
    let cluster = scene.find(Kind::HostedCluster, namespace, name)?;
    let mut walk = Walk::new(scene);
    let mut links: Vec<Link> = walk::cluster(&mut walk, cluster).into_iter().collect();
    walk.list(Kind::NodePool, &Place::namespace(namespace));
    let pools = pools_of(scene, namespace, name);
    for pool in &pools {
        links.extend(walk::pool(&mut walk, pool));
    }
    let unused = [cluster]
        .into_iter()
        .chain(pools)
        .filter_map(UnusedFields::of)
        .collect();
    Some(Explanation {
        unused,
        unused_objects: unused_objects(scene),
        ..walk.end(cluster.reference(), links)
    })
}

fn unused_objects(scene: &Scene) -> Vec<UnusedObject> {
    let told = scene.idle().iter().map(|(kind, object)| UnusedObject {
        object: object.reference(),
        would: kind.would,
        instead: kind.instead,
    });
    told.collect()
}

/// Explains a pool; none where there is no such pool.
pub fn explain_pool(scene: &Scene, namespace: &str, name: &str) -> Option<Explanation> {
    let pool = scene.find(Kind::NodePool, namespace, name)?;
    let mut walk = Walk::new(scene);
    let links = walk::pool(&mut walk, pool).into_iter().collect();
    Some(Explanation {
        unused: UnusedFields::of(pool).into_iter().collect(),
        ..walk.end(pool.reference(), links)
    })
}

/// The pools of a cluster.
pub(crate) fn pools_of<'a>(scene: &'a Scene, namespace: &str, cluster: &str) -> Vec<&'a Object> {
    let place = Place::namespace(namespace);
    let pools = scene.list(Kind::NodePool, &place).unwrap_or_default();
    pools
        .iter()
        .filter(|pool| pool.text("/spec/clusterName") == Some(cluster))
        .collect()
}

/// The namespace of the control plane of a pool's cluster.
pub(crate) fn namespace_of_pool(pool: &Object) -> String {
    control_plane_namespace(pool.namespace(), pool.text("/spec/clusterName").unwrap_or_default())
}

/// What causes and gaps come to.
pub(crate) fn outcome(causes: &[Cause], unread: &[Unread]) -> Outcome {
    let has = |weight: Weight| causes.iter().any(|cause| cause.weight == weight);
    if has(Weight::Holds) {
        Outcome::Held
    } else if has(Weight::Unknown) {
        Outcome::Unknown
    } else if has(Weight::Progresses) {
        Outcome::Progresses
    } else if unread.is_empty() {
        Outcome::Nothing
    } else {
        Outcome::Unknown
    }
}
