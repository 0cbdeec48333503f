//! The Deployment or StatefulSet of a component: its pods, and what keeps them from being made.

use serde_json::Value;

use super::{Walk, components::without_notes, events, kubectl, leads, pod};
use crate::{
    cause::Trouble,
    explain::Link,
    kind::Kind,
    object::{Object, Truth},
    rule,
    scene::Place,
};

/// The workloads that are looked at.
const KINDS: [Kind; 2] = [Kind::Deployment, Kind::StatefulSet];
/// Why pods could not be made, in the words of the controllers of Kubernetes.
const NOT_MADE: &[&str] = &["FailedCreate", "FailedDaemonPod"];

/// The way from a component through its workload.
pub(super) fn of_component(walk: &mut Walk<'_>, component: &Object) -> Vec<Link> {
    let place = Place::namespace(component.namespace());
    for kind in KINDS {
        let found = walk
            .list(kind, &place)
            .iter()
            .find(|found| found.name() == component.name());
        if let Some(workload) = found {
            return vec![workload_link(walk, workload)];
        }
    }
    let unread = KINDS
        .iter()
        .find_map(|kind| walk.unread_trouble(component, *kind, &place));
    let trouble = unread.unwrap_or_else(|| without_workload(component));
    walk.settle_all([trouble])
}

/// A component whose workload is not there, or is of a kind that nobody looks at.
fn without_workload(component: &Object) -> Trouble {
    let mut said = component
        .conditions()
        .filter(|condition| condition.status != Truth::True);
    let words = said
        .next()
        .map(|condition| (without_notes(condition.words()), condition.since));
    let (what, since) = words.unwrap_or(("has reported nothing yet", component.created()));
    let remedy = format!("Look again in a moment, and at {}.", kubectl("describe", component));
    Trouble::new(component.reference(), &rule::STARTING, what, remedy).since(since)
}

fn workload_link(walk: &mut Walk<'_>, workload: &Object) -> Link {
    let (what, is_short) = counted(workload);
    let mut because = pods(walk, workload);
    if because.is_empty() {
        let trouble = not_made(walk, workload).or_else(|| unread_pods(walk, workload));
        because = walk.settle_all(trouble);
    }
    if because.is_empty() {
        let remedy = "Wait: nothing is wrong with its pods so far. hyperplane status -w shows how it goes on.";
        let rule = if is_short { &rule::STARTING } else { &rule::ROLLING };
        return walk.settle(&Trouble::new(workload.reference(), rule, what, remedy), &[]);
    }
    leads(workload, what, because)
}

/// How many replicas there are of those that are wanted, and whether some are missing.
fn counted(workload: &Object) -> (String, bool) {
    let wanted = workload.number("/spec/replicas").unwrap_or(1);
    let number = |field: &str| workload.number(&format!("/status/{field}")).unwrap_or(0);
    let (ready, updated) = (number("readyReplicas"), number("updatedReplicas"));
    let what = format!("{ready} of {wanted} replicas are ready, {updated} are updated");
    (what, ready < wanted)
}

/// What is wrong with pods; what several have is told once.
fn pods(walk: &mut Walk<'_>, workload: &Object) -> Vec<Link> {
    let all = walk.list(Kind::Pod, &Place::namespace(workload.namespace()));
    let mine: Vec<&Object> = all.iter().filter(|pod| is_selected(workload, pod)).collect();
    let troubles: Vec<Trouble> = mine.iter().filter_map(|found| pod::trouble(walk, found)).collect();
    walk.settle_all(troubles)
}

/// Whether a workload selects a pod. One without a selector selects none.
fn is_selected(workload: &Object, pod: &Object) -> bool {
    let (wanted, labels) = (
        workload.texts("/spec/selector/matchLabels"),
        pod.texts("/metadata/labels"),
    );
    let is_matched = wanted.iter().all(|(key, value)| labels.get(key) == Some(value));
    !wanted.is_empty()
        && is_matched
        && workload
            .items("/spec/selector/matchExpressions")
            .all(|one| matches(one, pod))
}

/// One expression of a selector; one that cannot be read selects nothing.
fn matches(expression: &Value, pod: &Object) -> bool {
    let text = |key: &str| expression.get(key).and_then(Value::as_str).unwrap_or_default();
    let labels = pod.texts("/metadata/labels");
    let label = labels.get(text("key"));
    let values = expression.get("values").and_then(Value::as_array).into_iter().flatten();
    let is_among = values.filter_map(Value::as_str).any(|value| label == Some(&value));
    match text("operator") {
        "In" => is_among,
        "NotIn" => !is_among,
        "Exists" => label.is_some(),
        "DoesNotExist" => label.is_none(),
        _ => false,
    }
}

/// What keeps pods from being made: a quota, an admission.
fn not_made(walk: &mut Walk<'_>, workload: &Object) -> Option<Trouble> {
    let failure = workload
        .condition("ReplicaFailure")
        .filter(|found| found.status == Truth::True);
    let words = failure.map(|found| (found.words().to_owned(), found.since));
    let words = words.or_else(|| {
        let said = events::last_warning(walk, workload, NOT_MADE)?;
        Some((said.words(), said.at))
    });
    let (words, since) = words?;
    let remedy = "Let the namespace of the control plane have what the message refuses: a quota, a policy, a webhook.";
    let what = format!("its pods cannot be made: {words}");
    Some(Trouble::new(workload.reference(), &rule::PODS_NOT_MADE, what, remedy).since(since))
}

fn unread_pods(walk: &Walk<'_>, workload: &Object) -> Option<Trouble> {
    walk.unread_trouble(workload, Kind::Pod, &Place::namespace(workload.namespace()))
}
