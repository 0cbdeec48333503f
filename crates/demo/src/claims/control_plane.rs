//! Claims about the control plane and its upgrade.

use hyperplane_api::constants::ours;
use serde_json::Value;

use super::{Claim, Evidence, Verdict, unless};
use crate::{
    json::{self, annotation, condition, list, text},
    picture::{has_version, uids},
    plan::Plan,
    record::{Kind, State},
    story::StepId,
};

/// Both histories of a cluster.
const HISTORIES: [&str; 2] = ["version", "controlPlaneVersion"];

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        id: "namespace-claimed",
        sentence: |plan| {
            format!(
                "Namespace {} was made for this very cluster and for no other.",
                plan.control_plane_namespace()
            )
        },
        how: |_| {
            format!(
                "Annotation {} of the Namespace equals metadata.uid of the HostedCluster.",
                ours::CLAIMED_BY
            )
        },
        judge: namespace_claimed,
    },
    Claim {
        id: "components-available",
        sentence: |plan| format!("Every component of the control plane serves in {}.", to(plan)),
        how: |plan| {
            format!(
                "Each ControlPlaneComponent of {}: conditions Available and RolloutComplete are True, status.version is {}.",
                plan.control_plane_namespace(),
                to(plan)
            )
        },
        judge: components_available,
    },
    Claim {
        id: "history-in-order",
        sentence: |plan| {
            format!(
                "The cluster completed {}, then {}, and nothing else.",
                plan.versions.from.number,
                to(plan)
            )
        },
        how: |_| {
            "status.version.history and status.controlPlaneVersion.history of the HostedCluster: two entries, both \
             Completed, and the older one ended before the newer one began."
                .to_owned()
        },
        judge: history_in_order,
    },
    Claim {
        id: "api-answers",
        sentence: |plan| format!("The hosted API server answers its administrator in {}.", to(plan)),
        how: |plan| {
            format!(
                "GET /version with the kubeconfig of Secret {}/{}.",
                plan.namespace,
                plan.kubeconfig_secret()
            )
        },
        judge: api_answers,
    },
    Claim {
        id: "upgrade-kept-nodes",
        sentence: |_| "While the control plane was upgraded, no node was replaced.".to_owned(),
        how: |_| {
            "The uids of Nodes that were listed before the upgrade equal those listed after it; in between, the watch of \
             Nodes saw none come and none go."
                .to_owned()
        },
        judge: upgrade_kept_nodes,
    },
];

fn to(plan: &Plan) -> &str {
    &plan.versions.to.number
}

fn namespace_claimed(evidence: &Evidence<'_>) -> Verdict {
    let end = evidence.end()?;
    let (claimed_by, uid) = (
        annotation(&end.namespace, ours::CLAIMED_BY.as_str()),
        json::uid(&end.cluster),
    );
    if uid.is_empty() || claimed_by != uid {
        return Err(format!("the namespace says {claimed_by:?}, the cluster is {uid:?}"));
    }
    Ok(format!("both say {uid}"))
}

fn components_available(evidence: &Evidence<'_>) -> Verdict {
    let end = evidence.end()?;
    if end.components.is_empty() {
        return Err("there is no ControlPlaneComponent".to_owned());
    }
    let version = to(evidence.plan);
    let behind = end
        .components
        .iter()
        .filter(|(_, component)| !has_version(component, version));
    let against: Vec<String> = behind.map(|(name, component)| stands(name, component)).collect();
    unless(&against, || {
        let names: Vec<&str> = end.components.keys().map(String::as_str).collect();
        format!("{} of {0}: {}", names.len(), names.join(", "))
    })
}

fn stands(name: &str, component: &Value) -> String {
    let status = |type_: &str| condition(component, type_).map_or("unknown", |found| found.status);
    format!(
        "{name} has version {:?}, Available={}, RolloutComplete={}",
        text(component, "/status/version"),
        status("Available"),
        status("RolloutComplete")
    )
}

fn history_in_order(evidence: &Evidence<'_>) -> Verdict {
    let end = evidence.end()?;
    let versions = &evidence.plan.versions;
    let mut told = Vec::new();
    for field in HISTORIES {
        let history = list(&end.cluster, &format!("/status/{field}/history"));
        let entries: Vec<String> = history.iter().map(entry).collect();
        let wanted = [&versions.to.number, &versions.from.number].map(|version| format!("{version} Completed"));
        if entries != wanted {
            return Err(format!("status.{field}.history is {entries:?}, newest first"));
        }
        let (ended, began) = (text(&history[1], "/completionTime"), text(&history[0], "/startedTime"));
        // Both are RFC 3339 in UTC to the second, so that the order of texts is that of time.
        if ended.is_empty() || began.is_empty() || ended > began {
            return Err(format!(
                "status.{field}.history: the first ended at {ended:?}, the second began at {began:?}"
            ));
        }
        told.push(format!("{field}: {ended} before {began}"));
    }
    Ok(told.join("; "))
}

fn entry(entry: &Value) -> String {
    format!("{} {}", text(entry, "/version"), text(entry, "/state"))
}

fn api_answers(evidence: &Evidence<'_>) -> Verdict {
    let end = evidence.end()?;
    match end.api_version.as_deref() {
        Some(found) if found.trim_start_matches('v') == to(evidence.plan) => Ok(format!("gitVersion is {found}")),
        Some(found) => Err(format!("gitVersion is {found}")),
        None => Err("it did not answer".to_owned()),
    }
}

fn upgrade_kept_nodes(evidence: &Evidence<'_>) -> Verdict {
    let (before, after) = (evidence.after(StepId::Join)?, evidence.after(StepId::Upgrade)?);
    let (Some(before), Some(after)) = (&before.nodes, &after.nodes) else {
        return Err("the hosted cluster did not tell its nodes".to_owned());
    };
    let (before, after) = (uids(before.values()), uids(after.values()));
    if before.len() != evidence.plan.nodes() || before != after {
        return Err(format!("there were {before:?}, and then {after:?}"));
    }
    let known = evidence.record.present_before(StepId::Upgrade, Kind::Node);
    let during = evidence.record.during(StepId::Upgrade, Kind::Node);
    let strange = during.filter(|sighting| sighting.seen.state == State::Gone || !known.contains(&sighting.seen.uid));
    let against: Vec<String> = strange
        .map(|sighting| format!("Node {} was seen to come or go", sighting.name))
        .collect();
    unless(&against, || {
        format!("{} nodes with the same uids before and after", before.len())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        claims::testing::{Told, fails, whole},
        picture::tests::node,
        record::tests::seen,
    };

    #[test]
    fn a_namespace_of_another_cluster_is_found() {
        let mut told = whole();
        told.end().namespace["metadata"]["annotations"][ours::CLAIMED_BY.as_str()] = json!("another");
        fails(&told, "namespace-claimed", "\"another\"");
        told.end().namespace = Value::Null;
        fails(&told, "namespace-claimed", "\"\"");
    }

    #[test]
    fn a_component_that_lags_behind_is_found() {
        let spoil = |pointer: &str, value: Value| {
            let mut told = whole();
            let component = told.end().components.get_mut("etcd").unwrap();
            *component.pointer_mut(pointer).unwrap() = value;
            told
        };
        fails(
            &spoil("/status/version", json!("1.35.8")),
            "components-available",
            "etcd has version \"1.35.8\"",
        );
        fails(
            &spoil("/status/conditions/0/status", json!("False")),
            "components-available",
            "Available=False",
        );
        fails(
            &spoil("/status/conditions/1/status", json!("Unknown")),
            "components-available",
            "RolloutComplete=Unknown",
        );
        let mut none = whole();
        none.end().components.clear();
        fails(&none, "components-available", "no ControlPlaneComponent");
    }

    #[test]
    fn histories_that_are_not_in_order_are_found() {
        for field in HISTORIES {
            type Change = dyn Fn(&mut Vec<Value>);
            let history = |told: &mut Told, change: &Change| {
                let history = &mut told.end().cluster["status"][field]["history"];
                change(history.as_array_mut().unwrap());
            };
            let changes: [(&Change, &str); 4] = [
                (&|history| history[0]["state"] = json!("Partial"), "1.36.3 Partial"),
                (&|history| history.reverse(), "newest first"),
                (&|history| history.truncate(1), "newest first"),
                (
                    &|history| history[1]["completionTime"] = json!("2027-01-15T09:00:00Z"),
                    "the first ended at",
                ),
            ];
            for (change, expected) in changes {
                let mut told = whole();
                history(&mut told, change);
                fails(&told, "history-in-order", expected);
            }
        }
    }

    #[test]
    fn an_api_server_of_another_version_is_found() {
        let mut told = whole();
        told.end().api_version = Some("v1.35.8".to_owned());
        fails(&told, "api-answers", "gitVersion is v1.35.8");
        told.end().api_version = None;
        fails(&told, "api-answers", "did not answer");
    }

    #[test]
    fn a_node_that_is_replaced_during_the_upgrade_is_found() {
        let mut told = whole();
        let nodes = told.after(StepId::Upgrade).nodes.as_mut().unwrap();
        nodes.insert("web-a".to_owned(), node("web-a", "other", "1.35.8"));
        fails(&told, "upgrade-kept-nodes", "other");
        let mut told = whole();
        told.after(StepId::Upgrade).nodes = None;
        fails(&told, "upgrade-kept-nodes", "did not tell");
    }

    #[test]
    fn a_node_that_was_there_for_a_moment_of_the_upgrade_is_found() {
        let mut told = whole();
        for state in [State::Present, State::Gone] {
            told.see(
                StepId::Upgrade,
                Kind::Node,
                "brief",
                seen("brief", "", "1.35.8", false, state),
            );
        }
        fails(&told, "upgrade-kept-nodes", "Node brief was seen");
    }
}
