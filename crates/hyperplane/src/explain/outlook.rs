//! What becomes of each pool between two states. Pure: from objects to a value that is printed.

use std::{collections::BTreeSet, sync::Arc};

use hyperplane_api::hypershift::{hosted_cluster::HostedCluster, node_pool::NodePool};
use hyperplane_hosted_cluster::control_plane_namespace;
use hyperplane_node_pool::{Explanation, Manner, Skew, SkewOutcome, Subject, explain, explain_skew};
use hyperplane_planner::release::{Release, resolve};
use serde::Serialize;

use super::files::{Key, Objects};

/// What becomes of all pools.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Outlook {
    /// How many nodes are replaced, without those whose replacement is held.
    pub(super) nodes: i64,
    /// Every pool, by namespace and name.
    pub(super) pools: Vec<Pool>,
}

/// What becomes of a pool.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Pool {
    /// Namespace and name.
    #[serde(rename = "pool")]
    pub(super) name: String,
    /// The name of its cluster.
    pub(super) cluster: String,
    /// What becomes of its nodes.
    pub(super) outcome: Outcome,
    /// How many of them are replaced, now or once nothing holds it.
    pub(super) nodes: i32,
    /// Every field that differs.
    pub(super) changes: Vec<Field>,
    /// Who replaces nodes, where the manager does not by itself.
    pub(super) notes: Vec<String>,
    /// What versions of the control plane and of nodes say to it.
    pub(super) skew: Vec<String>,
    /// Why nothing can be said.
    pub(super) problems: Vec<String>,
}

/// What becomes of the nodes of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) enum Outcome {
    /// They are replaced.
    Rolls,
    /// Those that users delete come back as something else.
    OnDelete,
    /// They would be replaced, if versions did not forbid it.
    Held,
    /// They stay.
    Stays,
    /// The pool has none yet.
    New,
    /// It cannot be said.
    Unknown,
}

/// A field that differs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Field {
    /// The field, as users know it.
    #[serde(rename = "field")]
    pub(super) path: String,
    /// What it was; empty where that says nothing.
    pub(super) from: String,
    /// What it is, or what that does.
    pub(super) to: String,
    /// Whether nodes are replaced because of it.
    pub(super) rolls: bool,
}

impl Outlook {
    /// Whether every node is known to stay.
    pub(super) fn stays(&self) -> bool {
        let others = [Outcome::Rolls, Outcome::OnDelete, Outcome::Held, Outcome::Unknown];
        others.iter().all(|outcome| self.count(*outcome) == 0)
    }

    /// How many pools this becomes of.
    pub(super) fn count(&self, outcome: Outcome) -> usize {
        self.pools.iter().filter(|pool| pool.outcome == outcome).count()
    }
}

/// Judges every pool.
pub(super) fn judge(before: &Objects, after: &Objects, boot_image: Option<&str>) -> Outlook {
    let pools = after.pools.iter().map(|(key, new)| {
        let Some(old) = before.pools.get(key) else {
            return new_pool(key, &new.object, after, boot_image);
        };
        pool(key, &new.object, || {
            let old = Surroundings::of(before, key, &old.object).map_err(|problems| said("as it is", &problems))?;
            let new =
                Surroundings::of(after, key, &new.object).map_err(|problems| said("as it would be", &problems))?;
            explain(&old.subject(boot_image), &new.subject(boot_image), release_of(after))
        })
    });
    let pools: Vec<Pool> = pools.collect();
    let rolling = pools.iter().filter(|pool| pool.outcome == Outcome::Rolls);
    Outlook {
        nodes: rolling.map(|pool| i64::from(pool.nodes)).sum(),
        pools,
    }
}

/// Finds the release of an image.
fn release_of(objects: &Objects) -> impl Fn(&str) -> Option<Arc<Release>> {
    |image| {
        resolve(image, objects.releases.values())
            .ok()
            .map(|found| found.release)
    }
}

fn said(state: &str, problems: &[String]) -> Vec<String> {
    problems.iter().map(|problem| format!("{state}: {problem}")).collect()
}

/// A pool of which nothing is known yet.
fn blank((namespace, name): &Key, pool: &NodePool, outcome: Outcome) -> Pool {
    Pool {
        name: format!("{namespace}/{name}"),
        cluster: pool.spec.cluster_name.as_str().to_owned(),
        outcome,
        nodes: 0,
        changes: Vec::new(),
        notes: Vec::new(),
        skew: Vec::new(),
        problems: Vec::new(),
    }
}

/// A pool that was not there before. Whether its first nodes may come is said where everything that decides it is there.
fn new_pool(key: &Key, pool: &NodePool, objects: &Objects, boot_image: Option<&str>) -> Pool {
    let mut outlook = blank(key, pool, Outcome::New);
    if let Ok(found) = Surroundings::of(objects, key, pool) {
        let skew = explain_skew(&found.subject(boot_image), release_of(objects));
        outlook.skew = remarks("makes no nodes", "Nodes are made", &skew);
    }
    outlook
}

/// A pool with what is explained of it.
fn pool(key: &Key, pool: &NodePool, told: impl FnOnce() -> Result<Explanation, Vec<String>>) -> Pool {
    let mut outlook = blank(key, pool, Outcome::Unknown);
    match told() {
        Err(problems) => outlook.problems = problems,
        Ok(explanation) => {
            outlook.outcome = match (explanation.rolls, explanation.skew.outcome) {
                (false, _) => Outcome::Stays,
                (true, SkewOutcome::Held) => Outcome::Held,
                (true, _) if explanation.manner == Manner::OnDelete => Outcome::OnDelete,
                (true, SkewOutcome::Allowed | SkewOutcome::Forced | SkewOutcome::Unknown) => Outcome::Rolls,
            };
            if !explanation.changes.is_empty() {
                outlook.notes = note(explanation.manner).map(str::to_owned).into_iter().collect();
            }
            outlook.nodes = explanation.nodes;
            outlook.skew = remarks("does not roll", "Nodes roll", &explanation.skew);
            let changes = explanation.changes.into_iter();
            outlook.changes = changes
                .map(|change| Field {
                    path: change.field.to_owned(),
                    from: change.from,
                    to: change.to,
                    rolls: change.rolls,
                })
                .collect();
        }
    }
    outlook
}

/// What is said of pools whose nodes the manager does not replace by itself.
const fn note(manner: Manner) -> Option<&'static str> {
    match manner {
        Manner::Rolling => None,
        Manner::OnDelete => Some("The strategy is OnDelete: nodes would be replaced when users delete them."),
        Manner::InPlace => Some("upgradeType InPlace is not carried out by this manager: no node is touched."),
        Manner::Nobody => Some("Nobody makes machines for the pool: its hosts stay as they are."),
    }
}

/// What is said of versions that speak against a roll, or against first nodes.
fn remarks(held: &str, forced: &str, skew: &Skew) -> Vec<String> {
    let head = match skew.outcome {
        SkewOutcome::Allowed => return Vec::new(),
        SkewOutcome::Held => format!("The pool {held} until this has changed:"),
        SkewOutcome::Forced => format!("{forced} although versions forbid it, because an annotation says so:"),
        SkewOutcome::Unknown => "Whether versions hold it cannot be said:".to_owned(),
    };
    skew.refusals
        .iter()
        .map(|refusal| format!("{head} {refusal}."))
        .collect()
}

/// A pool with everything that its nodes are made from.
struct Surroundings<'a> {
    cluster: &'a HostedCluster,
    pool: &'a NodePool,
    release: Arc<Release>,
    config: Vec<(String, String)>,
    core: Vec<(String, String)>,
}

impl<'a> Surroundings<'a> {
    /// Finds everything, or says all that is missing.
    fn of(objects: &'a Objects, (namespace, _): &Key, pool: &'a NodePool) -> Result<Self, Vec<String>> {
        let name = pool.spec.cluster_name.as_str();
        let mut problems = Vec::new();
        let cluster = objects.clusters.get(&(namespace.clone(), name.to_owned()));
        if cluster.is_none() {
            problems.push(format!(
                "HostedCluster {namespace}/{name} is in no file: add it to the objects as they are"
            ));
        }
        let release = resolve(pool.spec.release.image.as_str(), objects.releases.values());
        let release = release
            .map_err(|error| problems.push(format!("spec.release.image: {error}")))
            .ok();
        let config = config(objects, namespace, pool, &mut problems);
        match (cluster, release) {
            (Some(cluster), Some(resolved)) if problems.is_empty() => Ok(Self {
                cluster: &cluster.object,
                pool,
                release: resolved.release,
                config,
                core: core(objects, &control_plane_namespace(namespace, name)),
            }),
            _ => Err(problems),
        }
    }

    fn subject<'b>(&'b self, boot_image: Option<&'b str>) -> Subject<'b> {
        Subject {
            cluster: self.cluster,
            pool: self.pool,
            release: &self.release,
            config: &self.config,
            core: &self.core,
            boot_image,
        }
    }
}

/// The ConfigMaps of `spec.config`, each once, in the order of their names.
fn config(objects: &Objects, namespace: &str, pool: &NodePool, problems: &mut Vec<String>) -> Vec<(String, String)> {
    let names: BTreeSet<&String> = pool.spec.config.iter().map(|reference| &reference.name).collect();
    let mut texts = Vec::new();
    for name in names {
        let found = objects.config_maps.get(&(namespace.to_owned(), name.clone()));
        match found.map(|told| told.text.clone()) {
            Some(Some(text)) => texts.push((name.clone(), text)),
            Some(None) => problems.push(format!(
                "ConfigMap {namespace}/{name} of spec.config has nothing under config"
            )),
            None => problems.push(format!(
                "ConfigMap {namespace}/{name} of spec.config is in no file: add it to the objects as they are"
            )),
        }
    }
    texts
}

/// What every node of a cluster is told.
fn core(objects: &Objects, namespace: &str) -> Vec<(String, String)> {
    let beside = objects.config_maps.iter().filter(|((of, _), _)| of == namespace);
    let core = beside.filter(|(_, told)| told.is_core);
    core.map(|((_, name), told)| (name.clone(), told.text.clone().unwrap_or_default()))
        .collect()
}
