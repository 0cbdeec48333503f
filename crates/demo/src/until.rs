//! Until when each step waits: what is still missing, in words, from what watches have told. Pure.

use serde_json::Value;

use crate::{
    json::{self, condition, is_leaving, list, text},
    picture::{Picture, has_version, serves, version_of},
    plan::{Plan, PoolPlan},
};

/// The most lines that are told of one thing.
const MOST_LINES: usize = 6;

/// The control plane serves in the first version.
pub(crate) fn created(now: &Picture, plan: &Plan) -> Vec<String> {
    let mut missing = served(now, &plan.versions.from.number);
    missing.extend(reached(now, "controlPlaneVersion", &plan.versions.from.number));
    missing
}

/// All nodes are there, and the cluster as a whole has the first version.
pub(crate) fn joined(now: &Picture, plan: &Plan) -> Vec<String> {
    let from = &plan.versions.from.number;
    let mut missing = Vec::new();
    for pool in plan.pools() {
        missing.extend(filled(now, plan, pool, from));
    }
    missing.extend(reached(now, "version", from));
    missing
}

/// The control plane has the second version. The cluster as a whole may take longer, for what runs on its nodes; a pool does
/// not have to wait for that.
pub(crate) fn upgraded(now: &Picture, plan: &Plan) -> Vec<String> {
    let to = &plan.versions.to.number;
    let mut missing = served(now, to);
    missing.extend(reached(now, "controlPlaneVersion", to));
    missing
}

/// All nodes of the first pool have the second version.
pub(crate) fn rolled(now: &Picture, plan: &Plan) -> Vec<String> {
    filled(now, plan, &plan.web, &plan.versions.to.number)
}

/// The second pool says that it does not go.
pub(crate) fn refused(now: &Picture, plan: &Plan) -> Vec<String> {
    skew(now, &plan.batch, "False")
}

/// The second pool says that all is well, the cluster as a whole has the second version, and nodes and control plane reach
/// each other.
pub(crate) fn put_back(now: &Picture, plan: &Plan) -> Vec<String> {
    let mut missing = skew(now, &plan.batch, "True");
    for type_ in ["ControlPlaneConnectionAvailable", "DataPlaneConnectionAvailable"] {
        missing.extend(unlike("HostedCluster", &now.cluster, type_, "True"));
    }
    missing.extend(reached(now, "version", &plan.versions.to.number));
    missing.extend(filled(now, plan, &plan.batch, &plan.versions.from.number));
    missing
}

/// What keeps a control plane from serving in a version.
fn served(now: &Picture, version: &str) -> Vec<String> {
    if now.cluster.is_null() {
        return vec!["the HostedCluster".to_owned()];
    }
    let mut missing = Vec::new();
    for (type_, wanted) in [("Available", "True"), ("Progressing", "False"), ("Degraded", "False")] {
        missing.extend(unlike("HostedCluster", &now.cluster, type_, wanted));
    }
    let behind = now
        .components
        .iter()
        .filter(|(_, component)| !has_version(component, version));
    let behind = behind.map(|(name, component)| format!("component {name} at {version}: {}", why(component)));
    missing.extend(short(behind.collect()));
    if now.components.is_empty() {
        missing.push("components of the control plane".to_owned());
    }
    missing
}

/// What a component says of itself.
fn why(component: &Value) -> String {
    let bad = ["Available", "RolloutComplete"].into_iter().filter_map(|type_| {
        let found = condition(component, type_)?;
        (found.status != "True").then(|| format!("{type_}={} {}", found.status, found.message))
    });
    let bad: Vec<String> = bad.collect();
    match (bad.is_empty(), text(component, "/status/version")) {
        (false, _) => bad.join(", "),
        (true, "") => "nothing is known of it yet".to_owned(),
        (true, version) => format!("it has {version}"),
    }
}

/// What keeps a history of the cluster from telling that a version was reached.
fn reached(now: &Picture, field: &str, version: &str) -> Option<String> {
    let newest = list(&now.cluster, &format!("/status/{field}/history")).first();
    let is_reached = newest.is_some_and(|entry| entry["version"] == version && entry["state"] == "Completed");
    let told = newest.map_or_else(
        || "nothing yet".to_owned(),
        |entry| format!("{} {}", text(entry, "/version"), text(entry, "/state")),
    );
    (!is_reached)
        .then(|| format!("{version} Completed in status.{field}.history of the HostedCluster: it tells {told}"))
}

/// What keeps a pool from having all of its nodes in a version, and nothing else.
fn filled(now: &Picture, plan: &Plan, pool: &PoolPlan, version: &str) -> Vec<String> {
    let (machines, nodes) = (now.machines_of(plan, pool), now.nodes_of(plan, pool));
    let ready = nodes
        .iter()
        .filter(|node| serves(node) && version_of(node) == version)
        .count();
    let leaving = machines.iter().filter(|machine| is_leaving(machine)).count();
    let mut missing = Vec::new();
    if [machines.len(), nodes.len(), ready, leaving] != [pool.replicas, pool.replicas, pool.replicas, 0] {
        missing.push(format!(
            "{} nodes of pool {} at {version}: {} machines ({leaving} leaving), {ready} nodes ready",
            pool.replicas,
            pool.title,
            machines.len()
        ));
        missing.extend(short(machines.iter().filter_map(|machine| unready(machine)).collect()));
        let conditions = [
            "Ready",
            "AllMachinesReady",
            "AllNodesHealthy",
            "ValidMachineConfig",
            "ValidGeneratedPayload",
        ];
        let title = format!("NodePool {}", pool.name);
        missing.extend(
            conditions
                .iter()
                .filter_map(|type_| unlike(&title, now.pool(pool), type_, "True")),
        );
    }
    let told = text(now.pool(pool), "/status/version");
    if told != version {
        missing.push(format!(
            "{version} in status.version of NodePool {}: it tells {told:?}",
            pool.name
        ));
    }
    missing
}

fn unready(machine: &Value) -> Option<String> {
    unlike(&format!("Machine {}", json::name(machine)), machine, "Ready", "True")
}

fn skew(now: &Picture, pool: &PoolPlan, wanted: &str) -> Vec<String> {
    let type_ = "SupportedVersionSkew";
    let object = now.pool(pool);
    let found = condition(object, type_);
    if found.is_some_and(|found| found.is_current && found.status == wanted) {
        return Vec::new();
    }
    let told = match found {
        Some(found) if !found.is_current => "it is about the spec before".to_owned(),
        Some(found) => format!("{} {}", found.status, found.message),
        None => "nothing yet".to_owned(),
    };
    vec![format!("{type_}={wanted} of NodePool {}: {told}", pool.name)]
}

/// A condition that is not as it should be, in words.
fn unlike(title: &str, object: &Value, type_: &str, wanted: &str) -> Option<String> {
    match condition(object, type_) {
        Some(found) if found.status == wanted => None,
        Some(found) => Some(format!(
            "{title}: {type_}={} {} {}",
            found.status, found.reason, found.message
        )),
        None => Some(format!("{title}: {type_} is not told yet")),
    }
}

fn short(mut lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(MOST_LINES);
    if more > 0 {
        lines.truncate(MOST_LINES);
        lines.push(format!("and {more} more"));
    }
    lines
}

#[cfg(test)]
mod tests;
