//! The components of a control plane. One that waits for another is no cause: the other is.

use std::collections::{BTreeMap, BTreeSet};

use hyperplane_api::constants::{conditions::control_plane_component as types, reasons};

use super::{Walk, few, kubectl, leads, workload};
use crate::{
    cause::Trouble,
    explain::Link,
    kind::Kind,
    object::{Condition, Object, Truth},
    rule,
    scene::Place,
};

/// What the message of a component that waits begins with.
pub(crate) const WAITING: &str = "Waiting: ";
/// How long something that others make may be missing before that counts as a hold.
const PATIENCE_SECONDS: i64 = 60;
/// What is added to a message, and is not waited for.
const NOTES: &[&str] = &[". Ignored: ", ". Not waited for"];
/// How a message speaks of another component.
const OF_ANOTHER: &[&str] = &[
    "is not available",
    "is not rolled out",
    "has version ",
    "has no version yet",
    "has not been looked at yet",
];

/// What a component waits for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Waits<'a> {
    /// Other components.
    pub(crate) components: BTreeSet<&'a str>,
    /// Anything else, in sentences.
    pub(crate) others: Vec<&'a str>,
}

/// What a component says that it waits for.
pub(crate) fn waits(component: &Object) -> Option<Waits<'_>> {
    let rollout = component.condition(types::ROLLOUT_COMPLETE.as_str())?;
    if rollout.status == Truth::True || rollout.reason != reasons::WAITING_FOR_DEPENDENCIES.as_str() {
        return None;
    }
    let message = without_notes(rollout.message);
    let mut waits = Waits::default();
    for part in message.strip_prefix(WAITING).unwrap_or(message).split("; ") {
        match part.split_once(' ') {
            Some((name, rest)) if OF_ANOTHER.iter().any(|words| rest.starts_with(words)) => {
                waits.components.insert(name);
            }
            _ => waits.others.push(part),
        }
    }
    Some(waits)
}

/// A message without what is only noted in it.
pub(crate) fn without_notes(message: &str) -> &str {
    let ends = NOTES.iter().filter_map(|note| message.find(note));
    ends.min().map_or(message, |end| &message[..end])
}

/// The conditions of a component that do not hold.
pub(crate) fn unmet(component: &Object) -> Vec<Condition<'_>> {
    let wanted = [types::AVAILABLE, types::ROLLOUT_COMPLETE];
    let found = wanted.iter().filter_map(|type_| component.condition(type_.as_str()));
    found.filter(|condition| condition.status != Truth::True).collect()
}

/// What the components of a control plane wait for.
pub(super) fn components(walk: &mut Walk<'_>, plane: &Object) -> Vec<Link> {
    let place = Place::namespace(plane.namespace());
    if let Some(trouble) = walk.unread_trouble(plane, Kind::ControlPlaneComponent, &place) {
        walk.list(Kind::ControlPlaneComponent, &place);
        let is_good = plane.says("Available", Truth::True) && plane.says("Degraded", Truth::False);
        return if is_good {
            Vec::new()
        } else {
            walk.settle_all([trouble])
        };
    }
    let all = walk.list(Kind::ControlPlaneComponent, &place);
    let bad: Vec<&Object> = all.iter().filter(|component| is_bad(component)).collect();
    let names: BTreeSet<&str> = bad.iter().map(|component| component.name()).collect();
    let mut behind: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut first: Vec<&Object> = Vec::new();
    for component in bad {
        let waiting = waits(component).filter(|waits| waits.others.is_empty());
        let ahead: Vec<&str> = waiting
            .iter()
            .flat_map(|waits| &waits.components)
            .copied()
            .filter(|name| names.contains(name) && *name != component.name())
            .collect();
        if ahead.is_empty() {
            first.push(component);
        }
        for name in ahead {
            behind.entry(name).or_default().push(component.name());
        }
    }
    let links = first.into_iter().filter_map(|component| one(walk, component));
    let mut links: Vec<Link> = links.collect();
    for link in &mut links {
        if let Some(names) = behind.get(link.object.name.as_str()) {
            link.evidence.insert("behind it", few(names));
        }
    }
    links
}

/// Whether something is wrong with a component, or has not been told.
fn is_bad(component: &Object) -> bool {
    !unmet(component).is_empty() || component.conditions().next().is_none()
}

/// The way from one component.
fn one(walk: &mut Walk<'_>, component: &Object) -> Option<Link> {
    let unmet = unmet(component);
    let (what, since) = match unmet.first() {
        Some(condition) => (without_notes(condition.words()).to_owned(), condition.since),
        None => ("has reported nothing yet".to_owned(), component.created()),
    };
    let because = below(walk, component, &unmet);
    let is_empty = because.is_empty();
    let link = Link {
        since,
        ..leads(component, what, because)
    };
    (!is_empty).then_some(link)
}

/// What a component itself says it lacks, or what its workload shows.
fn below(walk: &mut Walk<'_>, component: &Object, unmet: &[Condition<'_>]) -> Vec<Link> {
    let failed = unmet
        .iter()
        .find(|condition| condition.reason == reasons::RECONCILIATION_ERROR.as_str());
    if let Some(condition) = failed {
        let remedy = format!(
            "Do what the message asks for; {} says more.",
            kubectl("describe", component)
        );
        let trouble = Trouble::new(
            component.reference(),
            &rule::FAILED,
            without_notes(condition.words()),
            remedy,
        );
        return walk.settle_all([trouble.since(condition.since)]);
    }
    if let Some(waits) = waits(component).filter(|waits| !waits.others.is_empty()) {
        let since = unmet.last().and_then(|condition| condition.since);
        let is_young = since.is_some_and(|since| walk.scene.now.as_second() - since.as_second() < PATIENCE_SECONDS);
        let lacks = waits.others.iter().map(|other| {
            let mut lack = lack(component, other).since(since);
            if is_young && is_made_by_others(other) {
                // What a control plane begins with is made one after the other.
                lack.rule = &rule::STARTING;
                "Wait: somebody else makes it.".clone_into(&mut lack.remedy);
            }
            lack
        });
        return walk.settle_all(lacks.collect::<Vec<_>>());
    }
    workload::of_component(walk, component)
}

/// Whether what is missing comes by itself.
fn is_made_by_others(what: &str) -> bool {
    what.contains("does not exist") || what.contains("has no key")
}

/// Something that a component lacks.
fn lack(component: &Object, what: &str) -> Trouble {
    let remedy = if is_made_by_others(what) {
        "Somebody else makes it: look at the operator of certificates, or at the object in the HostedCluster's namespace \
         that it is a copy of."
    } else if what.contains("has no image for") {
        "Use a release that carries the image, or add it to the DistributionRelease."
    } else {
        "Do what the message asks for in the HostedCluster."
    };
    let words = format!("waits: {what}");
    Trouble::new(component.reference(), &rule::MISSING_INPUT, words, remedy).part(what)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn waiting(message: &str) -> Object {
        Object::new(json!({"status": {"conditions": [{
            "type": "RolloutComplete", "status": "False", "reason": "WaitingForDependencies", "message": message,
        }]}}))
    }

    #[test]
    fn others_are_told_apart_from_what_is_missing() {
        let component = waiting(
            "Waiting: etcd is not available; kube-apiserver has version 1.35.8, not 1.36.4; Secret kas-server-crt does not \
             exist. Not waited for, as this control plane does not have it: router",
        );
        let found = waits(&component).unwrap();
        assert_eq!(found.components, BTreeSet::from(["etcd", "kube-apiserver"]));
        assert_eq!(found.others, ["Secret kas-server-crt does not exist"]);
    }

    #[test]
    fn a_message_without_words_waits_for_nothing_that_is_known() {
        let component = waiting("");
        let found = waits(&component).unwrap();
        assert_eq!(
            found,
            Waits {
                components: BTreeSet::new(),
                others: vec![""]
            }
        );
        assert_eq!(waits(&Object::default()), None);
    }
}
