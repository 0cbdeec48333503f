//! Claims about machines and nodes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Claim, Evidence, Verdict, unless};
use crate::{
    json::{self, is_leaving, list, number, text},
    picture::{Picture, node_of, pool_title, serves, uids, version_of},
    plan::{Plan, PoolPlan},
    record::{Kind, State},
    story::StepId,
};

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "web-renewed",
        sentence: |plan| {
            format!(
                "Every node of pool {} is new, and has {}.",
                plan.web.title, plan.versions.to.number
            )
        },
        how: |_| {
            "Nodes of the pool's Machines: as many as spec.replicas of the NodePool, all ready, kubeletVersion is the new \
             version, and no uid is one of those listed before the roll."
                .to_owned()
        },
        judge: web_renewed,
    },
    Claim {
        id: "web-never-short",
        sentence: |plan| {
            format!(
                "Pool {} was never short of more nodes than its pace allows.",
                plan.web.title
            )
        },
        how: |_| {
            "From the moment on at which the watch of Nodes had seen spec.replicas of them serve (ready, open for pods), it \
             never saw fewer than spec.replicas less maxUnavailable."
                .to_owned()
        },
        judge: web_never_short,
    },
    Claim {
        id: "batch-kept",
        sentence: |plan| {
            format!(
                "Pool {} has the nodes that it began with, in {}.",
                plan.batch.title, plan.versions.from.number
            )
        },
        how: |_| {
            "Nodes of the pool's Machines: the uids at the end equal those listed when all had joined; all are ready, and \
             kubeletVersion is the old version."
                .to_owned()
        },
        judge: batch_kept,
    },
    Claim {
        id: "roll-left-batch",
        sentence: |plan| {
            format!(
                "The roll of pool {} did not touch machines of pool {}.",
                plan.web.title, plan.batch.title
            )
        },
        how: |_| {
            "The pool's Machines before and after the roll: uid, generation and spec are equal; in between, the watch of \
             Machines saw none of them come, leave or go."
                .to_owned()
        },
        judge: roll_left_batch,
    },
    Claim {
        id: "machines-are-nodes",
        sentence: |_| "There is no Machine without its Node, and no Node without its Machine.".to_owned(),
        how: |_| {
            "status.nodeRef of every Machine names a Node with the same providerID, each another one; every Node is named. \
             No Machine is leaving."
                .to_owned()
        },
        judge: machines_are_nodes,
    },
    Claim {
        id: "pools-tell-truth",
        sentence: |_| "Both NodePools tell of their nodes what the nodes tell of themselves.".to_owned(),
        how: |_| {
            "status.nodesInfo.nodeVersions of each NodePool (ready nodes by kubelet), counted from the Nodes; status.replicas \
             and status.version likewise."
                .to_owned()
        },
        judge: pools_tell_truth,
    },
    Claim {
        id: "never-ahead",
        sentence: |plan| {
            format!(
                "No kubelet was ever newer than {}, the control plane's version.",
                plan.versions.to.number
            )
        },
        how: |_| {
            "Every version that the watch of Nodes saw: the old one, and from the roll on the new one; never another one, \
             and never the new one before the control plane had completed it."
                .to_owned()
        },
        judge: never_ahead,
    },
];

/// The nodes of a pool, if they are all there, ready and of one version.
fn good<'a>(picture: &'a Picture, plan: &Plan, pool: &PoolPlan, version: &str) -> Result<Vec<&'a Value>, String> {
    let nodes = picture.nodes_of(plan, pool);
    let wanted = number(picture.pool(pool), "/spec/replicas");
    let mut against = Vec::new();
    if wanted == 0 || nodes.len() as u64 != wanted {
        against.push(format!("there are {} nodes of {wanted}", nodes.len()));
    }
    for node in &nodes {
        if !serves(node) || version_of(node) != version {
            against.push(format!(
                "Node {} has {:?}, serves: {}",
                json::name(node),
                version_of(node),
                serves(node)
            ));
        }
    }
    if against.is_empty() {
        Ok(nodes)
    } else {
        Err(against.join("; "))
    }
}

fn web_renewed(evidence: &Evidence<'_>) -> Verdict {
    let plan = evidence.plan;
    let nodes = good(evidence.end()?, plan, &plan.web, &plan.versions.to.number)?;
    let before = uids(evidence.after(StepId::Upgrade)?.nodes_of(plan, &plan.web));
    let kept: Vec<&str> = nodes
        .iter()
        .map(|node| json::uid(node))
        .filter(|uid| before.contains(*uid))
        .collect();
    if before.is_empty() || !kept.is_empty() {
        return Err(format!("of {} nodes before, {kept:?} are still there", before.len()));
    }
    Ok(format!(
        "{} nodes, none of the {} before among them",
        nodes.len(),
        before.len()
    ))
}

fn web_never_short(evidence: &Evidence<'_>) -> Verdict {
    let plan = evidence.plan;
    let pool = evidence.after(StepId::Roll)?.pool(&plan.web);
    let Some(least) = least(pool) else {
        return Err("the NodePool does not tell its pace as numbers".to_owned());
    };
    let title = pool_title(plan, &plan.web);
    let replicas = usize::try_from(number(pool, "/spec/replicas")).unwrap_or(usize::MAX);
    let Some(fewest) = evidence.record.fewest_serving(&title, replicas) else {
        return Err(format!("{replicas} nodes were never seen to serve at once"));
    };
    let names = evidence.record.names_of(&title);
    let changes = evidence.record.during(StepId::Roll, Kind::Node);
    let changes = changes
        .filter(|sighting| names.contains(sighting.name.as_str()))
        .count();
    if (fewest as u64) < least || changes == 0 {
        return Err(format!(
            "{fewest} served at one moment, at least {least} had to; {changes} changes were seen"
        ));
    }
    Ok(format!(
        "never fewer than {fewest} of {replicas}, at least {least} had to be; {changes} changes were seen"
    ))
}

/// How many nodes a pool keeps at least while it rolls.
fn least(pool: &Value) -> Option<u64> {
    let replicas = number(pool, "/spec/replicas");
    let unavailable = match pool.pointer("/spec/management/replace/rollingUpdate/maxUnavailable") {
        None => Some(0),
        Some(Value::String(text)) => {
            let percent: u64 = text.strip_suffix('%')?.parse().ok()?;
            Some(replicas * percent / 100)
        }
        Some(value) => value.as_u64(),
    };
    unavailable.map(|unavailable| replicas.saturating_sub(unavailable))
}

fn batch_kept(evidence: &Evidence<'_>) -> Verdict {
    let plan = evidence.plan;
    let nodes = good(evidence.end()?, plan, &plan.batch, &plan.versions.from.number)?;
    let (now, before) = (
        uids(nodes),
        uids(evidence.after(StepId::Join)?.nodes_of(plan, &plan.batch)),
    );
    if now != before {
        return Err(format!("there were {before:?}, and there are {now:?}"));
    }
    Ok(format!("{} nodes with the same uids", now.len()))
}

fn roll_left_batch(evidence: &Evidence<'_>) -> Verdict {
    let (before, after) = (evidence.after(StepId::Upgrade)?, evidence.after(StepId::Roll)?);
    untouched(evidence, before, after, StepId::Roll)
}

/// Whether machines of the pool that stays are the same in two pictures and in the step between.
pub(super) fn untouched(evidence: &Evidence<'_>, before: &Picture, after: &Picture, step: StepId) -> Verdict {
    let (plan, pool) = (evidence.plan, &evidence.plan.batch);
    let of = |picture: &Picture| -> BTreeMap<String, (Value, u64)> {
        let machines = picture
            .machines_of(plan, pool)
            .into_iter()
            .filter(|machine| !is_leaving(machine));
        let facts = |machine: &Value| (machine["spec"].clone(), number(machine, "/metadata/generation"));
        machines
            .map(|machine| (json::uid(machine).to_owned(), facts(machine)))
            .collect()
    };
    let (before, after) = (of(before), of(after));
    let mut against = Vec::new();
    if before.len() != pool.replicas || before != after {
        let names = |machines: &BTreeMap<String, (Value, u64)>| machines.keys().cloned().collect::<Vec<_>>();
        against.push(format!(
            "machines {:?} became {:?}, or changed",
            names(&before),
            names(&after)
        ));
    }
    let title = pool_title(plan, pool);
    let seen = evidence
        .record
        .during(step, Kind::Machine)
        .filter(|sighting| sighting.seen.pool == title);
    let strange =
        seen.filter(|sighting| sighting.seen.state != State::Present || !before.contains_key(&sighting.seen.uid));
    against.extend(strange.map(|sighting| format!("Machine {} was seen to come, leave or go", sighting.name)));
    unless(&against, || {
        format!("{} machines with the same uid, generation and spec", before.len())
    })
}

fn machines_are_nodes(evidence: &Evidence<'_>) -> Verdict {
    let end = evidence.end()?;
    let Some(nodes) = &end.nodes else {
        return Err("the hosted cluster did not tell its nodes".to_owned());
    };
    let mut against = Vec::new();
    let mut named = BTreeSet::new();
    for (name, machine) in &end.machines {
        let (node, provider) = (node_of(machine), text(machine, "/spec/providerID"));
        let found = nodes.get(node);
        if is_leaving(machine) {
            against.push(format!("Machine {name} is leaving"));
        }
        if provider.is_empty() || found.is_none_or(|found| text(found, "/spec/providerID") != provider) {
            against.push(format!(
                "Machine {name} has no Node: it names {node:?} and provider {provider:?}"
            ));
        }
        if !named.insert(node) {
            against.push(format!("Machine {name} names Node {node:?}, and so does another one"));
        }
    }
    let alone = nodes.keys().filter(|name| !named.contains(name.as_str()));
    against.extend(alone.map(|name| format!("Node {name} has no Machine")));
    if end.machines.is_empty() {
        against.push("there is no Machine".to_owned());
    }
    unless(&against, || format!("{} of each", nodes.len()))
}

fn pools_tell_truth(evidence: &Evidence<'_>) -> Verdict {
    let (plan, end) = (evidence.plan, evidence.end()?);
    let mut told = Vec::new();
    let mut against = Vec::new();
    for (pool, version) in [
        (&plan.web, &plan.versions.to.number),
        (&plan.batch, &plan.versions.from.number),
    ] {
        let object = end.pool(pool);
        let mut counted: BTreeMap<String, u64> = BTreeMap::new();
        for node in end
            .nodes_of(plan, pool)
            .into_iter()
            .filter(|node| json::holds(node, "Ready"))
        {
            *counted.entry(version_of(node).to_owned()).or_default() += 1;
        }
        let mut says: BTreeMap<String, u64> = BTreeMap::new();
        for entry in list(object, "/status/nodesInfo/nodeVersions") {
            let kubelet = text(entry, "/kubeletVersion").trim_start_matches('v');
            *says.entry(kubelet.to_owned()).or_default() += number(entry, "/readyNodeCount");
        }
        let (replicas, reached) = (number(object, "/status/replicas"), text(object, "/status/version"));
        let total: u64 = counted.values().sum();
        if total == 0 || says != counted || replicas != total || reached != version {
            against.push(format!(
                "NodePool {} tells {says:?}, {replicas} replicas and version {reached:?}; its nodes tell {counted:?}",
                pool.name
            ));
        }
        told.push(format!("{}: {counted:?}", pool.title));
    }
    unless(&against, || told.join("; ").replace('"', ""))
}

fn never_ahead(evidence: &Evidence<'_>) -> Verdict {
    let versions = &evidence.plan.versions;
    let mut versions_seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut against = Vec::new();
    for sighting in evidence
        .record
        .sightings
        .iter()
        .filter(|sighting| sighting.kind == Kind::Node)
    {
        let version = sighting.seen.version.as_str();
        // A Node registers before its kubelet says what it is.
        if version.is_empty() || sighting.seen.state == State::Gone {
            continue;
        }
        let is_old = version == versions.from.number;
        let is_new = version == versions.to.number && sighting.step >= StepId::Roll;
        if !is_old && !is_new {
            against.push(format!("Node {} was seen with {version}", sighting.name));
        }
        *versions_seen.entry(version).or_default() += 1;
    }
    if versions_seen.is_empty() {
        against.push("no Node was seen".to_owned());
    }
    unless(&against, || {
        let told: Vec<String> = versions_seen
            .iter()
            .map(|(version, times)| format!("{version} {times} times"))
            .collect();
        format!("seen: {}", told.join(", "))
    })
}

#[cfg(test)]
mod tests;
