//! What judges have to remember: what was wanted lately, what users did themselves, and how things were at first sight.

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
    time::Duration,
};

use serde_json::Value;

use crate::snapshot::{CLONED_FROM, SET_NAME, Snapshot, annotation, is_available, is_leaving, label, text};

/// How long a wish may take to reach everybody while requests go wrong or processes die: what was wanted in this time
/// excuses.
const LONG_WINDOW: Duration = Duration::from_mins(10);
/// The same where nothing stands between users and operators.
const SHORT_WINDOW: Duration = Duration::from_secs(15);

/// What is under the prefix of labels and taints that users of these worlds give.
pub const OF_USERS: &str = "example.com/";
/// The prefix of labels of Machines that are meant for their nodes.
const MANAGED: &str = "managed.hypershift.openshift.io.";
/// On a Machine: taints for its node.
const TAINTS: &str = "hypershift.openshift.io/nodePoolTaints";
/// On a Node: its labels and taints were given.
pub const SYNCED: &str = "hypershift.openshift.io/labelsSynced";

/// What users did themselves, so that nobody has to answer for it.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Machines that users deleted.
    pub deleted: BTreeSet<String>,
    /// Nodes that users keep pods away from.
    pub cordoned: BTreeSet<String>,
    /// Pools of which something changed that rolls nodes.
    pub may_roll: BTreeSet<String>,
}

/// What a pool wanted from some moment on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    pub at: Duration,
    pub desired: u64,
    /// The most machines that there may be.
    pub roof: u64,
    /// The fewest available machines that a rollout may leave.
    pub least: u64,
    /// Only users replace machines.
    pub is_manual: bool,
    /// What machines are made from, as the deployment has it.
    pub identity: Option<Identity>,
    /// What new nodes are given.
    pub marks: Marks,
}

/// What machines are made from: data, template and version.
pub type Identity = [String; 3];

/// What is given to a node, as its Machine or the Node itself has it.
pub type Marks = (BTreeMap<String, String>, Vec<Value>);

/// Everything that is remembered.
#[derive(Clone, Debug, Default)]
pub struct History {
    pub asked: Asked,
    /// Whether it may take long until everybody knows what is wanted.
    pub delays_news: bool,
    /// The moment before.
    pub before: Option<Rc<Snapshot>>,
    /// What pools wanted, the newest last.
    wishes: BTreeMap<String, Vec<Wish>>,
    /// When an available machine of a pool was last lost to something else than a rollout.
    stumbles: BTreeMap<String, Duration>,
    /// What Machines were to give to their nodes when they were first seen.
    pub of_machines: BTreeMap<String, Marks>,
    /// Every machine that ever was, with its identity.
    pub uids: BTreeMap<String, String>,
    /// Machines that the health check ever had replaced.
    pub remediated: BTreeSet<String>,
    /// What nodes had when they were first seen with everything given.
    pub of_nodes: BTreeMap<String, Marks>,
}

impl History {
    /// What a pool wanted lately, the present included.
    pub fn lately(&self, pool: &str, at: Duration) -> &[Wish] {
        let wishes = self.wishes.get(pool).map(Vec::as_slice).unwrap_or_default();
        // The last one before the window was still in force when the window began.
        let window = if self.delays_news { LONG_WINDOW } else { SHORT_WINDOW };
        let begin = at.saturating_sub(window);
        let first = wishes.iter().rposition(|wish| wish.at <= begin).unwrap_or(0);
        &wishes[first..]
    }

    /// Whether machines of a pool fell over so lately that not everybody may know.
    pub fn stumbled(&self, pool: &str, at: Duration) -> bool {
        const LATELY: Duration = Duration::from_mins(1);
        self.stumbles
            .get(pool)
            .is_some_and(|then| at.saturating_sub(*then) <= LATELY)
    }

    /// Takes note of what is wanted now. Comes before judgement.
    pub fn note(&mut self, now: &Snapshot) {
        for (name, pool) in &now.pools {
            let wish = wish(now, name, pool);
            let wishes = self.wishes.entry(name.clone()).or_default();
            let is_same = wishes.last().is_some_and(|last| {
                Wish {
                    at: wish.at,
                    ..last.clone()
                } == wish
            });
            if !is_same {
                wishes.push(wish);
            }
        }
        let before = self.before.as_deref();
        let fallen: BTreeSet<String> = before
            .map(|before| fallen(before, now, &self.asked))
            .unwrap_or_default();
        self.stumbles.extend(fallen.into_iter().map(|pool| (pool, now.at)));
    }

    /// Keeps the moment. Comes after judgement.
    pub fn keep(&mut self, now: Rc<Snapshot>) {
        for (name, machine) in &now.machines {
            if is_remediated(machine) {
                self.remediated.insert(name.clone());
            }
            let uid = text(machine, "/metadata/uid").to_owned();
            self.uids.insert(name.clone(), uid.clone());
            self.of_machines.entry(uid).or_insert_with(|| marks_of_machine(machine));
        }
        for node in now.hosted.iter().flat_map(|hosted| hosted.nodes.values()) {
            if !annotation(node, SYNCED).is_empty() {
                let uid = text(node, "/metadata/uid").to_owned();
                self.of_nodes.entry(uid).or_insert_with(|| marks_of_node(node));
            }
        }
        self.before = Some(now);
    }
}

/// Pools of which an available machine is not any more, although nobody rolled it away.
fn fallen(before: &Snapshot, now: &Snapshot, asked: &Asked) -> BTreeSet<String> {
    let available = before.machines.iter().filter(|(_, machine)| is_available(machine));
    let lost = available.filter(|(name, machine)| match now.machines.get(*name) {
        Some(now) if !is_leaving(now) => !is_available(now),
        _ => asked.deleted.contains(*name) || is_remediated(machine),
    });
    lost.map(|(_, machine)| pool_of(machine).to_owned()).collect()
}

impl Wish {
    /// What a pool wants at a moment.
    pub fn of(now: &Snapshot, pool: &str) -> Option<Self> {
        now.pools.get(pool).map(|found| wish(now, pool, found))
    }
}

fn wish(now: &Snapshot, name: &str, pool: &Value) -> Wish {
    let desired = pool["spec"]["replicas"].as_u64().unwrap_or_default();
    let update = &pool["spec"]["management"]["replace"];
    let is_manual = update["strategy"] == "OnDelete";
    let (surge, missing) = bounds(&update["rollingUpdate"], desired);
    Wish {
        at: now.at,
        desired,
        roof: if is_manual { desired } else { desired + surge },
        least: if is_manual { 0 } else { desired.saturating_sub(missing) },
        is_manual,
        identity: now.deployments.get(name).map(identity),
        marks: marks_of_pool(pool),
    }
}

/// How many machines there may be too many and too few. Written anew from the documentation of the fields.
pub fn bounds(update: &Value, desired: u64) -> (u64, u64) {
    let read = |value: &Value, usual: u64, is_up: bool| match value {
        Value::Number(number) => number.as_u64().unwrap_or_default(),
        Value::String(text) => {
            let percent: u64 = text.trim_end_matches('%').parse().unwrap();
            if is_up {
                (percent * desired).div_ceil(100)
            } else {
                percent * desired / 100
            }
        }
        _ => usual,
    };
    let (surge, missing) = (
        read(&update["maxSurge"], 1, true),
        read(&update["maxUnavailable"], 0, false),
    );
    if surge == 0 && missing == 0 {
        (0, 1)
    } else {
        (surge, missing)
    }
}

/// What the machines of a deployment or of a set are made from.
pub fn identity(object: &Value) -> Identity {
    [
        "/spec/template/spec/bootstrap/dataSecretName",
        "/spec/template/spec/infrastructureRef/name",
        "/spec/template/spec/version",
    ]
    .map(|place| text(object, place).to_owned())
}

/// What a machine was made from; none if neither its set nor its instance is there any more.
pub fn identity_of(machine: &Value, moments: [&Snapshot; 2]) -> Option<Identity> {
    let name = text(machine, "/metadata/name");
    let set = label(machine, SET_NAME);
    let set = moments.iter().find_map(|moment| moment.sets.get(set));
    let instance = moments.iter().find_map(|moment| moment.instances.get(name));
    let of_instance = |instance: &Value| {
        [
            text(machine, "/spec/bootstrap/dataSecretName").to_owned(),
            annotation(instance, CLONED_FROM).to_owned(),
            text(machine, "/spec/version").to_owned(),
        ]
    };
    instance.map(of_instance).or_else(|| set.map(identity))
}

/// The pool of a machine.
pub fn pool_of(object: &Value) -> &str {
    let title = annotation(object, crate::snapshot::NODE_POOL);
    title.split_once('/').map(|(_, name)| name).unwrap_or_default()
}

/// Whether the health check had a machine replaced.
pub fn is_remediated(machine: &Value) -> bool {
    crate::snapshot::has(machine, "OwnerRemediated", "False")
}

/// What a Machine gives to its node.
pub fn marks_of_machine(machine: &Value) -> Marks {
    let labels = machine["metadata"]["labels"].as_object().into_iter().flatten();
    let labels = labels.filter_map(|(key, value)| {
        let key = key.strip_prefix(MANAGED)?;
        Some((key.to_owned(), value.as_str()?.to_owned()))
    });
    let taints = serde_json::from_str(annotation(machine, TAINTS)).unwrap_or_default();
    (labels.collect(), sorted(taints))
}

/// What a pool gives to new nodes.
fn marks_of_pool(pool: &Value) -> Marks {
    let labels = pool["spec"]["nodeLabels"].as_object().into_iter().flatten();
    let labels = labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
    let taints = pool["spec"]["taints"].as_array().cloned().unwrap_or_default();
    (labels.collect(), sorted(taints))
}

/// What users gave to a node.
pub fn marks_of_node(node: &Value) -> Marks {
    let labels = node["metadata"]["labels"].as_object().into_iter().flatten();
    let labels = labels.filter(|(key, _)| key.starts_with(OF_USERS));
    let labels = labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
    let taints = node["spec"]["taints"].as_array().into_iter().flatten();
    let taints = taints.filter(|taint| text(taint, "/key").starts_with(OF_USERS));
    (labels.collect(), sorted(taints.cloned().collect()))
}

fn sorted(mut taints: Vec<Value>) -> Vec<Value> {
    for taint in &mut taints {
        if let Some(fields) = taint.as_object_mut() {
            fields.retain(|key, value| matches!(key.as_str(), "key" | "value" | "effect") && *value != "");
        }
    }
    taints.sort_by_key(ToString::to_string);
    taints
}
