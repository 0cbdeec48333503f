//! What holds at every moment in the life of a pool, whatever goes wrong. Pure: from one moment, the one before and what is
//! remembered to what is wrong. Nothing here looks at how the operators decide; each rule is what a user was promised.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    history::{History, Wish, identity, identity_of, is_remediated, marks_of_machine, marks_of_node, pool_of},
    snapshot::{HOOK, Objects, Snapshot, annotation, has, is_available, is_leaving, minor, text},
};

/// The most machines that are replaced because they are unhealthy, where nobody says otherwise; with more the fault is
/// taken to lie elsewhere.
pub const MOST_UNHEALTHY: usize = 2;

/// By how many minors a kubelet may be older than an API server, as Kubernetes has it.
const MOST_BEHIND: u64 = 3;

/// Everything that is wrong at a moment.
pub fn broken(history: &History, now: &Snapshot) -> Vec<String> {
    let Some(before) = &history.before else {
        return Vec::new();
    };
    let pair = Pair { history, before, now };
    let mut wrong = pair.finalizers();
    wrong.extend(pair.names());
    wrong.extend(pair.marks());
    wrong.extend(pair.cordons());
    wrong.extend(pair.skew());
    if now.is_cluster_leaving() {
        return wrong;
    }
    wrong.extend(pair.nodes());
    wrong.extend(pair.drains());
    wrong.extend(pair.hooks());
    wrong.extend(pair.rolls());
    for pool in now.pools.keys() {
        wrong.extend(pair.surge(pool));
        wrong.extend(pair.unavailable(pool));
        wrong.extend(pair.unasked(pool));
        wrong.extend(pair.repairs(pool));
        wrong.extend(pair.given(pool));
    }
    wrong
}

/// Two moments, one after the other.
struct Pair<'a> {
    history: &'a History,
    before: &'a Snapshot,
    now: &'a Snapshot,
}

impl Pair<'_> {
    /// No machine is made beyond what the pool allows; those that go count until they are gone.
    fn surge(&self, pool: &str) -> Option<String> {
        let machines = Snapshot::of(&self.now.machines, pool);
        let is_growing = machines
            .iter()
            .any(|(name, _)| !self.before.machines.contains_key(*name));
        let roof = self.lately(pool).iter().map(|wish| wish.roof).max()?;
        let count = machines.len() as u64;
        (is_growing && count > roof)
            .then(|| format!("surge: pool {pool} has {count} machines, those that go included, and may have {roof}"))
    }

    /// No rollout takes available machines below what the pool allows.
    fn unavailable(&self, pool: &str) -> Option<String> {
        let before = Snapshot::of(&self.before.machines, pool);
        let before: BTreeMap<&String, &Value> = before.into_iter().filter(|(_, it)| is_available(it)).collect();
        // One that has become available since may be the reason why another one was taken.
        let now = Snapshot::of(&self.now.machines, pool);
        let staying = now
            .iter()
            .filter(|(name, machine)| !is_leaving(machine) && (is_available(machine) || before.contains_key(name)));
        let left = staying.count() as u64;
        let taken = before.iter().filter(|(name, machine)| {
            let is_going = self.now.machines.get(**name).is_none_or(is_leaving);
            is_going && !self.is_excused(name, machine)
        });
        let taken: Vec<&String> = taken.map(|(name, _)| *name).collect();
        let least = self.lately(pool).iter().map(|wish| wish.least).min()?;
        let is_wrong = !taken.is_empty() && left < least && !self.is_pool_leaving(pool);
        (is_wrong && !self.history.stumbled(pool, self.now.at)).then(|| {
            format!(
                "unavailable: pool {pool} keeps {left} available machines of at least {least}; {taken:?} were taken"
            )
        })
    }

    /// No machine goes that the spec does not ask to go.
    fn unasked(&self, pool: &str) -> Vec<String> {
        if self.is_pool_leaving(pool) {
            return Vec::new();
        }
        let wishes = self.lately(pool);
        let before = Snapshot::of(&self.before.machines, pool);
        let staying: Vec<_> = before.iter().filter(|(_, machine)| !is_leaving(machine)).collect();
        let is_current = |machine: &Value| match identity_of(machine, [self.before, self.now]) {
            Some(own) => wishes
                .iter()
                .all(|wish| wish.identity.as_ref().is_none_or(|wanted| *wanted == own)),
            None => false,
        };
        // Where only users replace machines, one that is outdated stays like any other.
        let is_manual = wishes.iter().all(|wish| wish.is_manual);
        let is_current = |machine: &Value| is_manual || is_current(machine);
        let current = staying.iter().filter(|(_, machine)| is_current(machine)).count() as u64;
        let desired = wishes.iter().map(|wish| wish.desired).min().unwrap_or_default();
        let leaving = staying.iter().filter(|(name, machine)| {
            let is_going = self.now.machines.get(*name).is_none_or(is_leaving);
            is_going && !self.is_excused(name, machine) && is_current(machine) && current <= desired
        });
        leaving
            .map(|(name, _)| format!("unasked: machine {name} of pool {pool} goes, and nobody asked for it"))
            .collect()
    }

    /// Where many machines are unhealthy at once, none is replaced.
    fn repairs(&self, pool: &str) -> Option<String> {
        let before = Snapshot::of(&self.before.machines, pool);
        let ill = before
            .iter()
            .filter(|(_, machine)| has(machine, "HealthCheckSucceeded", "False"));
        let ill: BTreeSet<&String> = ill.map(|(name, _)| *name).collect();
        let replaced = before.iter().find(|(name, machine)| {
            let is_new = !is_leaving(machine) && self.now.machines.get(*name).is_none_or(is_leaving);
            is_new && is_remediated(machine) && !self.history.asked.deleted.contains(*name)
        });
        let (name, _) = replaced.filter(|_| ill.len() > MOST_UNHEALTHY)?;
        Some(format!(
            "repairs: machine {name} is replaced while {} are unhealthy: {ill:?}",
            ill.len()
        ))
    }

    /// A new machine has for its node what the pool gives to new nodes.
    fn given(&self, pool: &str) -> Vec<String> {
        let wishes = self.lately(pool);
        let machines = Snapshot::of(&self.now.machines, pool).into_iter();
        let strange = machines.filter(|(name, machine)| {
            let marks = marks_of_machine(machine);
            !self.before.machines.contains_key(*name) && wishes.iter().all(|wish| wish.marks != marks)
        });
        strange
            .map(|(name, _)| format!("marks: new Machine {name} has other labels or taints than pool {pool}"))
            .collect()
    }

    /// No machine is made, and no node joins, that is newer than the oldest API server, or too old for the newest one.
    fn skew(&self) -> Vec<String> {
        let moments = [self.before, self.now].map(|moment| {
            let plane = moment.plane();
            plane.first().copied().zip(plane.last().copied())
        });
        let moments = moments.into_iter().flatten();
        let (oldest, newest): (Vec<_>, Vec<_>) = moments.unzip();
        let Some((oldest, newest)) = oldest.into_iter().max().zip(newest.into_iter().min()) else {
            return Vec::new();
        };
        let is_good = |minor: (u64, u64)| minor <= oldest && minor.1 + MOST_BEHIND >= newest.1;
        let machines = fresh(&self.before.machines, &self.now.machines);
        let machines = machines.map(|(name, machine)| (name, text(machine, "/spec/version")));
        let nodes = self.before.hosted.as_ref().zip(self.now.hosted.as_ref());
        let nodes = nodes
            .into_iter()
            .flat_map(|(before, now)| fresh(&before.nodes, &now.nodes));
        let nodes = nodes.map(|(name, node)| (name, text(node, "/status/nodeInfo/kubeletVersion")));
        machines
            .chain(nodes)
            .filter(|(_, version)| minor(version).is_some_and(|minor| !is_good(minor)))
            .map(|(name, version)| {
                format!("skew: {name} is new with {version} beside API servers of {oldest:?} to {newest:?}")
            })
            .collect()
    }

    /// No Node goes whose machine stays.
    fn nodes(&self) -> Vec<String> {
        let Some((before, now)) = self.before.hosted.as_ref().zip(self.now.hosted.as_ref()) else {
            return Vec::new();
        };
        let gone = before.nodes.keys().filter(|name| !now.nodes.contains_key(*name));
        let staying = gone.filter(|name| self.now.machines.get(*name).is_some_and(|machine| !is_leaving(machine)));
        staying
            .map(|name| format!("nodes: Node {name} is gone, and its machine stays"))
            .collect()
    }

    /// No name is given twice: whoever remembers a machine, or its node, would take one for the other.
    fn names(&self) -> Vec<String> {
        let again = self.now.machines.iter().filter(|(name, machine)| {
            let first = self.history.uids.get(*name);
            first.is_some_and(|first| first != text(machine, "/metadata/uid"))
        });
        again
            .map(|(name, _)| format!("names: there was a machine {name} before"))
            .collect()
    }

    /// A Machine is there until its instance is gone.
    fn finalizers(&self) -> Vec<String> {
        let gone = self
            .before
            .machines
            .keys()
            .filter(|name| !self.now.machines.contains_key(*name));
        let left = gone.filter(|name| self.now.instances.contains_key(*name));
        left.map(|name| format!("finalizers: Machine {name} is gone, and its instance is not"))
            .collect()
    }

    /// An instance ends when its node is empty, or when the time for that is over.
    fn drains(&self) -> Vec<String> {
        let going =
            self.before.instances.iter().filter(|(name, instance)| {
                !is_leaving(instance) && self.now.instances.get(*name).is_none_or(is_leaving)
            });
        going.filter_map(|(name, _)| self.undrained(name)).collect()
    }

    /// An instance that somebody still needs does not end.
    fn hooks(&self) -> Vec<String> {
        // Of a machine that is gone by now nobody knows whether it was let go first.
        let is_hooked = |name: &str| {
            let machine = self.now.machines.get(name);
            machine.is_some_and(|machine| !annotation(machine, HOOK).is_empty())
        };
        let ending = self.before.instances.iter().filter(|(name, instance)| {
            !is_leaving(instance) && self.now.instances.get(*name).is_none_or(is_leaving) && is_hooked(name)
        });
        ending
            .map(|(name, _)| format!("hooks: the instance of {name} ends, and somebody needs it"))
            .collect()
    }

    fn undrained(&self, name: &str) -> Option<String> {
        let machine = self.now.machines.get(name).or_else(|| self.before.machines.get(name))?;
        let (before, now) = (self.before.hosted.as_ref()?, self.now.hosted.as_ref()?);
        // On a machine that nothing is heard of, nothing ends.
        before.nodes.get(name).filter(|node| has(node, "Ready", "True"))?;
        let left = before.pods.iter().find(|(key, pod)| {
            let is_here = |pod: &Value| text(pod, "/spec/nodeName") == name && must_go(pod) && !is_leaving(pod);
            is_here(pod) && now.pods.get(*key).is_some_and(is_here)
        });
        let (pod, _) = left?;
        let limit = machine
            .pointer("/spec/deletion/nodeDrainTimeoutSeconds")
            .and_then(Value::as_i64);
        let since: jiff::Timestamp = text(machine, "/metadata/deletionTimestamp").parse().ok()?;
        let lasted = self.now.now.duration_since(since).as_secs();
        let is_over = limit.is_some_and(|limit| limit > 0 && lasted >= limit);
        (!is_over).then(|| format!("drains: the instance of {name} ends after {lasted} s, and pod {pod} is on it"))
    }

    /// What machines are made from changes only where something changed that rolls nodes.
    fn rolls(&self) -> Vec<String> {
        let changed = self.now.deployments.iter().filter(|(name, deployment)| {
            let before = self.before.deployments.get(*name);
            before.is_some_and(|before| identity(before) != identity(deployment))
        });
        changed
            .filter(|(name, _)| !self.history.asked.may_roll.contains(*name))
            .map(|(name, _)| format!("rolls: pool {name} rolls, and nothing changed that rolls nodes"))
            .collect()
    }

    /// What a Machine gives to its node, and what a node was given, stays as it is.
    fn marks(&self) -> Vec<String> {
        let machines = self.now.machines.iter().filter(|(_, machine)| {
            let first = self.history.of_machines.get(text(machine, "/metadata/uid"));
            first.is_some_and(|first| *first != marks_of_machine(machine))
        });
        let nodes = self.now.hosted.iter().flat_map(|hosted| &hosted.nodes);
        let nodes = nodes.filter(|(_, node)| {
            let first = self.history.of_nodes.get(text(node, "/metadata/uid"));
            first.is_some_and(|first| *first != marks_of_node(node))
        });
        machines
            .map(|(name, _)| format!("marks: labels or taints of Machine {name} changed"))
            .chain(nodes.map(|(name, _)| format!("marks: labels or taints of Node {name} changed")))
            .collect()
    }

    /// What a user closed stays closed.
    fn cordons(&self) -> Vec<String> {
        let nodes = self.now.hosted.iter().flat_map(|hosted| &hosted.nodes);
        let closed = nodes.filter(|(name, _)| self.history.asked.cordoned.contains(*name));
        closed
            .filter(|(_, node)| node["spec"]["unschedulable"] != true)
            .map(|(name, _)| format!("cordons: a user closed node {name}, and it is open"))
            .collect()
    }

    fn lately(&self, pool: &str) -> &[Wish] {
        self.history.lately(pool, self.now.at)
    }

    /// Whether somebody else than a rollout took a machine.
    fn is_excused(&self, name: &str, machine: &Value) -> bool {
        let is_remediated_now = self.now.machines.get(name).is_some_and(is_remediated);
        self.history.asked.deleted.contains(name) || is_remediated(machine) || is_remediated_now
    }

    fn is_pool_leaving(&self, pool: &str) -> bool {
        self.now.pools.get(pool).is_none_or(is_leaving)
    }
}

/// What was not there before.
fn fresh<'a>(before: &'a Objects, now: &'a Objects) -> impl Iterator<Item = (&'a String, &'a Value)> {
    now.iter().filter(|(name, _)| !before.contains_key(*name))
}

/// Whether a drain has to wait for a pod.
fn must_go(pod: &Value) -> bool {
    let mut owners = pod["metadata"]["ownerReferences"].as_array().into_iter().flatten();
    let is_daemon = owners.any(|owner| owner["kind"] == "DaemonSet");
    let is_mirror = !annotation(pod, "kubernetes.io/config.mirror").is_empty();
    let is_over = matches!(text(pod, "/status/phase"), "Succeeded" | "Failed");
    !is_daemon && !is_mirror && !is_over
}

/// What was made for a pool that is not there, by kind and name: it is looked at when the world is at rest.
pub fn without_pool(now: &Snapshot) -> Vec<String> {
    let kinds = [
        ("machine", &now.machines),
        ("deployment", &now.deployments),
        ("set", &now.sets),
        ("health check", &now.health_checks),
    ];
    let objects = kinds
        .into_iter()
        .flat_map(|(kind, objects)| objects.iter().map(move |object| (kind, object)));
    let lost = objects.filter(|(_, (_, object))| !now.pools.contains_key(pool_of(object)));
    lost.map(|(kind, (name, _))| format!("{kind} {name}")).collect()
}
