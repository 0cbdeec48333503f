//! What holds when nothing is under way any more: the pool is as the user wants it, and nothing is left over. Pure.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::{
    ground::USERS,
    history::{Asked, SYNCED, identity, identity_of, marks_of_machine, marks_of_node},
    invariants::without_pool,
    snapshot::{NODE_POOL, Objects, Snapshot, annotation, has, is_available, is_leaving, minor, text},
};

/// On a Node: we closed it.
const CORDONED_FOR: &str = "hyperplane.dev/cordoned-for";
/// On a token: when it ends.
const END: &str = "hypershift.openshift.io/ignition-token-expiration-timestamp";
/// On a token: when it was made.
const MADE: &str = "hypershift.openshift.io/last-token-generation-time";
/// How old a token gets.
const ROTATION: SignedDuration = SignedDuration::from_mins(330);
/// How late a clock may be noticed that somebody set forward: operators wait by the time that passes, and look at everything
/// once an hour. Until then nothing but the cleanup is late: whoever is shown a token looks at its end.
const SLACK: SignedDuration = SignedDuration::from_mins(65);

/// What is still under way.
pub fn under_way(now: &Snapshot) -> Vec<String> {
    let Some(hosted) = &now.hosted else {
        return vec!["the hosted cluster does not answer".to_owned()];
    };
    let mut what = Vec::new();
    for (name, pool) in &now.pools {
        let desired = pool["spec"]["replicas"].as_u64().unwrap_or_default();
        let machines = Snapshot::of(&now.machines, name);
        let wanted = now.deployments.get(name).map(identity);
        let done = machines.iter().filter(|(_, machine)| {
            is_available(machine) && wanted.is_some() && identity_of(machine, [now, now]) == wanted
        });
        let ready = machines.iter().filter(|(machine, _)| {
            let node = hosted.nodes.get(*machine);
            node.is_some_and(|node| has(node, "Ready", "True") && !annotation(node, SYNCED).is_empty())
        });
        let told = pool["status"]["replicas"].as_u64().unwrap_or_default();
        let counts = [machines.len(), done.count(), ready.count()].map(|count| count as u64);
        if is_leaving(pool) || counts != [desired; 3] || told != desired {
            what.push(format!(
                "pool {name}: {counts:?} machines, done, ready of {desired}; told {told}"
            ));
        }
    }
    what.extend(
        now.pools
            .is_empty()
            .then(|| without_pool(now))
            .into_iter()
            .flatten()
            .map(|what| format!("{what} has no pool")),
    );
    what
}

/// What is wrong at rest.
pub fn left_over(asked: &Asked, now: &Snapshot) -> Vec<String> {
    let mut wrong: Vec<String> = without_pool(now)
        .into_iter()
        .map(|what| format!("orphans: {what} has no pool"))
        .collect();
    wrong.extend(now.pools.iter().flat_map(|(name, pool)| versions(now, name, pool)));
    wrong.extend(lonely("instance", &now.instances, |name| {
        now.machines.contains_key(name)
    }));
    wrong.extend(lonely("machine", &now.machines, |name| {
        now.instances.contains_key(name)
    }));
    let used = used(now);
    wrong.extend(lonely("template", &now.templates, |name| used.contains(name)));
    wrong.extend(secrets(now, &used));
    if let Some(hosted) = &now.hosted {
        wrong.extend(lonely("node", &hosted.nodes, |name| now.machines.contains_key(name)));
        for (name, node) in &hosted.nodes {
            wrong.extend(cordon(asked, name, node));
            let machine = now.machines.get(name);
            let is_given = machine.is_none_or(|machine| marks_of_machine(machine) == marks_of_node(node));
            wrong.extend((!is_given).then(|| format!("marks: node {name} was not given what its machine has for it")));
        }
    }
    wrong
}

/// Nodes have the version that their pool asks for, unless that is newer than the control plane; the pool says so.
fn versions(now: &Snapshot, name: &str, pool: &Value) -> Vec<String> {
    let image = text(pool, "/spec/release/image");
    let wanted = image.rsplit_once(":v").map(|(_, version)| version).unwrap_or_default();
    if minor(wanted) > now.plane().first().copied() {
        return Vec::new();
    }
    let nodes = now.hosted.iter().flat_map(|hosted| &hosted.nodes);
    let machines = Snapshot::of(&now.machines, name);
    let of_pool = nodes.filter(|(node, _)| machines.iter().any(|(machine, _)| machine == node));
    let others =
        of_pool.filter(|(_, node)| text(node, "/status/nodeInfo/kubeletVersion").trim_start_matches('v') != wanted);
    let mut wrong: Vec<String> = others
        .map(|(node, _)| format!("versions: node {node} of pool {name} has not {wanted}"))
        .collect();
    let told = text(pool, "/status/version");
    wrong.extend((told != wanted).then(|| format!("versions: pool {name} tells of {told:?} and has {wanted}")));
    wrong
}

fn lonely(what: &str, objects: &Objects, has_other: impl Fn(&str) -> bool) -> Vec<String> {
    let alone = objects.keys().filter(|name| !has_other(name));
    alone
        .map(|name| format!("orphans: {what} {name} belongs to nothing"))
        .collect()
}

/// Names of data and templates that anything refers to: the deployments, their sets (one of which is kept to go back to),
/// and machines.
fn used(now: &Snapshot) -> BTreeSet<String> {
    let templates = now.deployments.values().chain(now.sets.values()).flat_map(identity);
    let machines = now
        .machines
        .values()
        .map(|machine| text(machine, "/spec/bootstrap/dataSecretName").to_owned());
    templates.chain(machines).collect()
}

/// Tokens and data: one token per pool without an end, which is not too old; others with an end that is to come; data that
/// somebody refers to.
fn secrets(now: &Snapshot, used: &BTreeSet<String>) -> Vec<String> {
    let mut wrong = Vec::new();
    let of_pools = now
        .secrets
        .iter()
        .filter(|(_, secret)| !annotation(secret, NODE_POOL).is_empty());
    for (name, secret) in of_pools {
        let pool = annotation(secret, NODE_POOL)
            .split_once('/')
            .map_or("", |(_, pool)| pool);
        if !now.pools.contains_key(pool) {
            wrong.push(format!("orphans: Secret {name} is of pool {pool}, which is not there"));
        } else if name.starts_with("token-") {
            wrong.extend(token(now, name, secret));
        } else if !used.contains(name) {
            wrong.push(format!("orphans: Secret {name} is used by nothing"));
        }
    }
    for pool in now.pools.keys() {
        let title = format!("{USERS}/{pool}");
        let active = now.secrets.iter().filter(|(name, secret)| {
            name.starts_with("token-") && annotation(secret, NODE_POOL) == title && annotation(secret, END).is_empty()
        });
        let count = active.count();
        wrong.extend((count != 1).then(|| format!("tokens: pool {pool} has {count} tokens without an end")));
    }
    wrong
}

fn token(now: &Snapshot, name: &str, secret: &Value) -> Option<String> {
    let moment = |key: &str| annotation(secret, key).parse::<Timestamp>().ok();
    match moment(END) {
        Some(end) if now.now.duration_since(end) > SLACK => Some(format!("tokens: {name} should have gone at {end}")),
        Some(_) => None,
        None => {
            let age = moment(MADE).map(|made| now.now.duration_since(made));
            let is_old = age.is_none_or(|age| age > ROTATION + SLACK);
            is_old.then(|| format!("tokens: {name} is {age:?} old"))
        }
    }
}

/// A node is closed only by users.
fn cordon(asked: &Asked, name: &str, node: &Value) -> Option<String> {
    let is_closed = node["spec"]["unschedulable"] == true;
    let is_marked = !annotation(node, CORDONED_FOR).is_empty();
    let is_of_user = asked.cordoned.contains(name);
    (is_marked || (is_closed && !is_of_user)).then(|| format!("cordons: node {name} is closed, and not by a user"))
}
