//! Defaults of the apps group.

use serde_json::{Map, Value, json};

use crate::{
    types::DefaultFunction,
    value::{entry, field, put, put_text},
};

pub(super) const FUNCTIONS: &[(&str, DefaultFunction)] = &[
    ("apps.DaemonSet", daemon_set),
    ("apps.Deployment", deployment),
    ("apps.ReplicaSet", replica_set),
    ("apps.StatefulSet", stateful_set),
];

/// How many old revisions are kept.
const HISTORY: i64 = 10;
/// After how long a rollout without progress has failed.
const PROGRESS_SECONDS: i64 = 600;

fn deployment(map: &mut Map<String, Value>) {
    let specification = entry(map, "spec");
    put(specification, "replicas", 1);
    let strategy = entry(specification, "strategy");
    put_text(strategy, "type", "RollingUpdate");
    if field(strategy, "type") == "RollingUpdate" {
        let rolling = entry(strategy, "rollingUpdate");
        put(rolling, "maxUnavailable", "25%");
        put(rolling, "maxSurge", "25%");
    }
    put(specification, "revisionHistoryLimit", HISTORY);
    put(specification, "progressDeadlineSeconds", PROGRESS_SECONDS);
}

fn daemon_set(map: &mut Map<String, Value>) {
    // Upstream's decoder writes the number of an old API; whoever creates the object owns it.
    put_text(
        entry(entry(map, "metadata"), "annotations"),
        "deprecated.daemonset.template.generation",
        "0",
    );
    let specification = entry(map, "spec");
    let strategy = entry(specification, "updateStrategy");
    put_text(strategy, "type", "RollingUpdate");
    if field(strategy, "type") == "RollingUpdate" {
        let rolling = entry(strategy, "rollingUpdate");
        put(rolling, "maxUnavailable", 1);
        put(rolling, "maxSurge", 0);
    }
    put(specification, "revisionHistoryLimit", HISTORY);
}

fn stateful_set(map: &mut Map<String, Value>) {
    let specification = entry(map, "spec");
    put_text(specification, "podManagementPolicy", "OrderedReady");
    let strategy = entry(specification, "updateStrategy");
    if field(strategy, "type").is_empty() {
        strategy.insert("type".to_owned(), Value::from("RollingUpdate"));
        put(strategy, "rollingUpdate", json!({}));
    }
    if field(strategy, "type") == "RollingUpdate"
        && let Some(Value::Object(rolling)) = strategy.get_mut("rollingUpdate")
    {
        put(rolling, "partition", 0);
    }
    let retention = entry(specification, "persistentVolumeClaimRetentionPolicy");
    put_text(retention, "whenDeleted", "Retain");
    put_text(retention, "whenScaled", "Retain");
    put(specification, "replicas", 1);
    put(specification, "revisionHistoryLimit", HISTORY);
    let claims = specification
        .get_mut("volumeClaimTemplates")
        .and_then(Value::as_array_mut);
    for claim in claims.into_iter().flatten().filter_map(Value::as_object_mut) {
        put_text(claim, "apiVersion", "v1");
        put_text(claim, "kind", "PersistentVolumeClaim");
    }
}

fn replica_set(map: &mut Map<String, Value>) {
    put(entry(map, "spec"), "replicas", 1);
}
