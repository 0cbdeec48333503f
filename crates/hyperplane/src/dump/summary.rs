//! What somebody who helps reads first. Pure.

use std::collections::BTreeMap;

use hyperplane_api::hypershift::hosted_cluster::HostedCluster;
use kube::ResourceExt as _;
use serde_json::Value;

use crate::printing::paragraph;

/// The file with the summary.
pub(super) const SUMMARY: &str = "summary.txt";
/// The file with everything that could not be read.
pub(super) const UNREAD: &str = "unread.txt";

/// The most lines about one thing.
const MOST: usize = 40;

/// The summary of everything that was read.
pub(super) fn of(clusters: &[HostedCluster], objects: &BTreeMap<String, Vec<Value>>, unread: &[String]) -> String {
    let mut text = String::new();
    let line = |text: &mut String, words: &str| paragraph(text, "", words);
    line(&mut text, &format!("Dump by hyperplane {}", env!("CARGO_PKG_VERSION")));
    let count: usize = objects.values().map(Vec::len).sum();
    line(
        &mut text,
        &format!("Objects: {count}. Could not be read: {} (see {UNREAD}).", unread.len()),
    );
    for cluster in clusters {
        text.push('\n');
        let title = format!("{}/{}", cluster.namespace().unwrap_or_default(), cluster.name_any());
        line(&mut text, &format!("CLUSTER {title} · {}", cluster.spec.release.image));
        let status = serde_json::to_value(&cluster.status).unwrap_or_default();
        conditions(&mut text, &status["conditions"]);
    }
    for (path, objects) in objects {
        pools_and_machines(&mut text, path, objects);
        let pods: Vec<&Value> = objects.iter().filter(|object| object["kind"] == "Pod").collect();
        waiting(&mut text, path, &pods);
    }
    warnings(&mut text, objects);
    text
}

/// Conditions, those that are not well among them at least.
fn conditions(text: &mut String, conditions: &Value) {
    for condition in conditions.as_array().into_iter().flatten().take(MOST) {
        let field = |name: &str| condition[name].as_str().unwrap_or_default();
        let (type_, status) = (field("type"), field("status"));
        let words = format!("{type_}={status} {}: {}", field("reason"), field("message"));
        paragraph(text, "  ", words.trim_end_matches([':', ' ']));
    }
}

fn pools_and_machines(text: &mut String, path: &str, objects: &[Value]) {
    let kind = objects.first().map(|object| object["kind"].clone()).unwrap_or_default();
    if kind == "NodePool" {
        for pool in objects {
            let status = &pool["status"];
            let name = pool["metadata"]["name"].as_str().unwrap_or_default();
            let wanted = &pool["spec"]["replicas"];
            let head = format!(
                "NODE POOL {name}: {} of {wanted} nodes, version {}",
                status["replicas"], status["version"]
            );
            paragraph(text, "", &head);
            let bad = status["conditions"].as_array().into_iter().flatten();
            let bad: Vec<Value> = bad
                .filter(|condition| condition["status"] != "True" && condition["reason"] != "AsExpected")
                .cloned()
                .collect();
            conditions(text, &Value::Array(bad));
        }
    }
    if kind == "Machine" {
        let mut phases: BTreeMap<&str, usize> = BTreeMap::new();
        for machine in objects {
            *phases
                .entry(machine["status"]["phase"].as_str().unwrap_or("Unknown"))
                .or_default() += 1;
        }
        let phases: Vec<String> = phases.iter().map(|(phase, count)| format!("{count} {phase}")).collect();
        paragraph(text, "", &format!("MACHINES {path}: {}", phases.join(", ")));
    }
}

/// Pods that are not ready, and why.
fn waiting(text: &mut String, path: &str, pods: &[&Value]) {
    let is_ready = |pod: &&&Value| {
        let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
        let mut ready = conditions.filter(|condition| condition["type"] == "Ready" && condition["status"] == "True");
        ready.next().is_some() || pod["status"]["phase"] == "Succeeded"
    };
    let bad: Vec<&&Value> = pods.iter().filter(|pod| !is_ready(pod)).collect();
    if pods.is_empty() {
        return;
    }
    paragraph(
        text,
        "",
        &format!("PODS {path}: {} of {} are not ready", bad.len(), pods.len()),
    );
    for pod in bad.into_iter().take(MOST) {
        let name = pod["metadata"]["name"].as_str().unwrap_or_default();
        let phase = pod["status"]["phase"].as_str().unwrap_or_default();
        let message = pod["status"]["message"].as_str().unwrap_or_default();
        paragraph(text, "  ", format!("{name} {phase} {message}").trim_end());
    }
}

/// Warnings by reason, the most frequent first.
fn warnings(text: &mut String, objects: &BTreeMap<String, Vec<Value>>) {
    let mut reasons: BTreeMap<(&str, &str), (u64, &str)> = BTreeMap::new();
    let events = objects
        .values()
        .flatten()
        .filter(|object| object["kind"] == "Event" && object["type"] == "Warning");
    for event in events {
        let field = |value: &'static str| event[value].as_str().unwrap_or_default();
        let kind = event["involvedObject"]["kind"].as_str().unwrap_or_default();
        let entry = reasons.entry((kind, field("reason"))).or_default();
        entry.0 += event["count"].as_u64().unwrap_or(1).max(1);
        entry.1 = field("message");
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    if !reasons.is_empty() {
        paragraph(text, "", "WARNINGS");
    }
    for ((kind, reason), (count, message)) in reasons.into_iter().take(MOST) {
        paragraph(text, "  ", &format!("{count} × {kind} {reason}: {message}"));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_wrong_is_told_in_lines_that_fit() {
        let event = json!({"kind": "Event", "type": "Warning", "reason": "Failed", "message": "no ".repeat(60), "count": 7,
            "involvedObject": {"kind": "Pod"}});
        let pod = |name: &str, ready: &str| {
            json!({"kind": "Pod", "metadata": {"name": name}, "status": {"phase": "Running",
            "conditions": [{"type": "Ready", "status": ready}]}})
        };
        let machine = json!({"kind": "Machine", "status": {"phase": "Running"}});
        let pool = json!({"kind": "NodePool", "metadata": {"name": "web"}, "spec": {"replicas": 3}, "status": {"replicas": 2,
            "version": "1.36.4", "conditions": [{"type": "Ready", "status": "False", "reason": "A", "message": "one is missing"}]}});
        let objects: BTreeMap<String, Vec<Value>> = [
            ("a/events.yaml".to_owned(), vec![event]),
            ("a/pods.yaml".to_owned(), vec![pod("one", "True"), pod("two", "False")]),
            ("a/machines.yaml".to_owned(), vec![machine]),
            ("a/nodepools.yaml".to_owned(), vec![pool]),
        ]
        .into();
        let text = of(&[], &objects, &["x".to_owned()]);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        for words in [
            "Could not be read: 1",
            "1 of 2 are not ready",
            "two Running",
            "7 × Pod Failed",
            "1 Running",
            "2 of 3 nodes",
            "one is missing",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }
}
