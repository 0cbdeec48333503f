//! What a deletion waits for: what is left of a cluster or a pool, and who holds it.

use hyperplane_api::constants::{
    Finalizer,
    conditions::{hosted_cluster as cluster_types, node_pool as pool_types},
    finalizers,
};

use super::{Walk, few, kubectl, leads, machines, pool};
use crate::{
    cause::Trouble,
    explain::{Link, namespace_of_pool, pools_of},
    kind::Kind,
    object::Object,
    rule,
    scene::{Place, control_plane_namespace},
};

/// Who holds what, in words.
const HOLDERS: &[(Finalizer, &str)] = &[
    (
        finalizers::HYPERSHIFT,
        "the operators, until what it stands for is gone",
    ),
    (finalizers::COMPONENT, "the operators, until the machines are gone"),
    (
        finalizers::DESTROY_CLUSTER,
        "the command that made its infrastructure: end it with that command",
    ),
    (
        finalizers::AWS_OIDC_DISCOVERY,
        "the operator, until its OIDC documents are gone from S3",
    ),
    (
        finalizers::GCP_OIDC_DISCOVERY,
        "the operator, until its OIDC documents are gone from the storage",
    ),
    (finalizers::KARPENTER, "Karpenter, until its nodes are gone"),
    (
        finalizers::DEDICATED_REQUEST_SERVING_SCHEDULER,
        "the scheduler of dedicated nodes, until they are given back",
    ),
    (
        finalizers::AZURE_ENDPOINT_CLEANUP,
        "the operator, until the private endpoints are gone",
    ),
    (finalizers::CLUSTER, "Cluster API, until its machines are gone"),
    (finalizers::MACHINE, "Cluster API, until node and instance are gone"),
    (finalizers::MACHINE_SET, "Cluster API, until its machines are gone"),
    (finalizers::MACHINE_DEPLOYMENT, "Cluster API, until its sets are gone"),
];

/// Finalizers with which our own operators hold what they take apart: their progress is told elsewhere.
const OURS: &[Finalizer] = &[
    finalizers::HYPERSHIFT,
    finalizers::COMPONENT,
    finalizers::CLUSTER,
    finalizers::MACHINE,
    finalizers::MACHINE_SET,
    finalizers::MACHINE_DEPLOYMENT,
];

/// What holds an object that goes, besides ourselves.
pub(super) fn held(object: &Object) -> Vec<Trouble> {
    let is_ours = |name: &str| OURS.iter().any(|ours| ours.as_str() == name);
    let foreign = object.finalizers().into_iter().filter(|name| !is_ours(name));
    foreign
        .map(|name| {
            let holder = HOLDERS.iter().find(|(known, _)| known.as_str() == name);
            let who = holder.map_or("a controller that is not one of ours", |(_, who)| *who);
            let what = format!("is held by the finalizer {name}: {who}");
            let remedy = format!(
                "Let the owner of {name} finish. Only if it is gone for good, take the finalizer away: {}.",
                kubectl("edit", object)
            );
            let trouble = Trouble::new(object.reference(), &rule::HELD_BY_FINALIZER, what, remedy);
            trouble.since(object.deleted()).part(name)
        })
        .collect()
}

/// That something goes, and takes its time.
fn leaving(object: &Object, what: impl Into<String>) -> Trouble {
    let remedy = "Wait: hyperplane status -w shows how it goes on.";
    Trouble::new(object.reference(), &rule::LEAVING, what, remedy).since(object.deleted())
}

/// What the end of a cluster waits for.
pub(super) fn of_cluster(walk: &mut Walk<'_>, cluster: &Object) -> Vec<Link> {
    let before = walk.found();
    let mut links = Vec::new();
    walk.list(Kind::NodePool, &Place::namespace(cluster.namespace()));
    for found in pools_of(walk.scene, cluster.namespace(), cluster.name()) {
        links.extend(pool(walk, found));
    }
    let place = Place::namespace(&control_plane_namespace(cluster.namespace(), cluster.name()));
    if links.is_empty() {
        links.extend(machines::leaving(walk, &place));
    }
    for kind in [Kind::Cluster, Kind::HostedControlPlane] {
        let going = walk.list(kind, &place).iter().filter(|object| object.is_leaving());
        for object in going {
            let held = walk.settle_all(held(object));
            links.extend((!held.is_empty()).then(|| leads(object, "does not go", held)));
        }
    }
    links.extend(walk.settle_all(held(cluster)));
    if walk.found() == before {
        let said = cluster.condition(cluster_types::PROGRESSING.as_str());
        let what = said.map_or("is being deleted, and does not say what it waits for", |said| {
            said.words()
        });
        links.extend(walk.settle_all([leaving(cluster, what)]));
    }
    links
}

/// What the end of a pool waits for.
pub(super) fn of_pool(walk: &mut Walk<'_>, pool: &Object) -> Vec<Link> {
    let before = walk.found();
    let place = Place::namespace(&namespace_of_pool(pool));
    let mut links = machines::of_pool(walk, pool, &place);
    links.extend(walk.settle_all(held(pool)));
    if walk.found() == before {
        let said = pool.condition(pool_types::READY.as_str());
        let what = said.map_or("is being deleted", |said| said.words());
        let finalizers = pool.finalizers();
        let trouble = leaving(pool, what).fact("finalizers", (!finalizers.is_empty()).then(|| few(&finalizers)));
        links.extend(walk.settle_all([trouble]));
    }
    links
}

/// What the end of an instance waits for: its provider, or somebody else.
pub(super) fn of_instance(instance: &Object) -> Trouble {
    let finalizers = instance.finalizers();
    if finalizers.is_empty() {
        return leaving(instance, "is about to be gone");
    }
    let what = format!("waits for its provider to remove it (finalizers: {})", few(&finalizers));
    leaving(instance, what)
}
