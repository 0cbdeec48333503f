//! Holds what a recipe made against the schemas of our kinds, as an API server does with every field that it serves.

use std::sync::LazyLock;

use hyperplane_api::{
    crd,
    hypershift::{hosted_cluster::HostedCluster, node_pool::NodePool},
    resource::{Defined as _, KindDefinition},
    schema::FeatureSet,
};
use hyperplane_schema::{ROOT_PATH, Schema};
use serde_json::Value;

use crate::{judge::Judge, manifest::Manifest};

static CLUSTERS: LazyLock<Schema> = LazyLock::new(|| schema(&HostedCluster::definition()));
static POOLS: LazyLock<Schema> = LazyLock::new(|| schema(&NodePool::definition()));

/// Tells what an API server would not take. What flags are at fault was told before; this is for what only the whole says.
pub(crate) fn judge_objects(objects: &[Manifest], judge: &mut Judge) {
    for manifest in objects {
        let schema: &Schema = match manifest.kind() {
            "HostedCluster" => &CLUSTERS,
            "NodePool" => &POOLS,
            _ => continue,
        };
        for (field, problem) in complaints(schema, manifest.object.clone()) {
            judge.wrong(format!("{} {field}", manifest.title()), problem);
        }
    }
}

/// Complaints, each with its field.
fn complaints(schema: &Schema, mut value: Value) -> Vec<(String, String)> {
    if let Some(problem) = schema.type_errors(&value) {
        return vec![(String::new(), problem)];
    }
    let unknown = schema.prune(&mut value).into_iter();
    let mut found: Vec<(String, String)> = unknown
        .map(|field| (field, "the management cluster does not know it".to_owned()))
        .collect();
    schema.default(&mut value);
    let mut errors = schema.validate(&value, None);
    schema.rules_after(&mut errors, &value, None);
    // The root stands for rules that were not evaluated, because something else is wrong.
    let errors = errors.into_iter().filter(|error| error.field != ROOT_PATH);
    found.extend(errors.map(|error| (error.field.clone(), error.body())));
    found
}

/// The schema of a kind as every management cluster has it.
fn schema(kind: &KindDefinition) -> Schema {
    let definition = crd::definition(kind, FeatureSet::Default);
    let published = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    Schema::structural(published).expect("the schemas of our kinds are structural, and a test installs them")
}
