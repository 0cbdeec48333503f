//! Acts in which nothing may happen until a user says so: a pool that is paused, one that replaces nodes only where users
//! delete them, a machine that somebody still needs, a drain that a budget blocks, and a version that is too old.

use std::time::Duration;

use hyperplane_api::cluster_api::machine::Machine;
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use serde_json::{Value, json};

use crate::{
    history::{Wish, identity_of, pool_of},
    manifests::to_release,
    snapshot::{HOOK, INSIDE, Snapshot, text},
    story::Story,
    watch::Watch,
};

/// How long a user lets things wait.
const WAIT: Duration = Duration::from_mins(4);
/// Longer than pools usually give a drain.
const LONGER_THAN_DRAINS: Duration = Duration::from_mins(8);
/// A version that nodes must not have beside the newest control plane.
const TOO_OLD: &str = "1.32.9";

impl Story<'_> {
    /// A paused pool stays as it is, whatever its spec says; what was asked meanwhile is done afterwards.
    pub async fn pause(&mut self, name: &str, replicas: u64) {
        let before = self.watch.settle().await;
        self.change(name, &json!({"spec": {"pausedUntil": "true"}})).await;
        self.watch.pass(Duration::from_secs(5)).await;
        self.change(name, &json!({"spec": {"replicas": replicas + 1}})).await;
        self.watch.pass(WAIT).await;
        let after = self.watch.look().await;
        if Watch::nodes_of(&before, name) != Watch::nodes_of(&after, name) {
            self.watch
                .fail(&[format!("pause: machines of {name} came or went while it was paused")])
                .await;
        }
        self.change(name, &json!({"spec": {"pausedUntil": null}})).await;
    }

    /// A pool that users roll themselves keeps every machine that nobody deletes, and makes new ones as it is asked now.
    pub async fn roll_by_hand(&mut self, name: &str, number: u64) {
        let before = self.watch.settle().await;
        let rolling = before.pools[name]["spec"]["management"]["replace"].clone();
        let by_hand = json!({"strategy": "OnDelete", "rollingUpdate": null});
        self.change(name, &json!({"spec": {"management": {"replace": by_hand}}}))
            .await;
        self.watch.history.asked.may_roll.insert(name.to_owned());
        let config = format!("config-{number}");
        self.ground().machine_config(&config, &config).await;
        self.change(name, &json!({"spec": {"config": [{"name": config}]}}))
            .await;
        self.watch.pass(WAIT).await;
        let kept = self.watch.look().await;
        if Watch::nodes_of(&before, name) != Watch::nodes_of(&kept, name) {
            self.watch
                .fail(&[format!(
                    "by hand: machines of {name} came or went, and nobody deleted one"
                )])
                .await;
        }
        if let Some(machine) = Watch::nodes_of(&before, name).into_iter().next() {
            self.delete_machine(Some(machine.clone())).await;
            let renewed = |now: &Snapshot| has_successor(now, name, &machine).then_some(());
            self.watch.until("the successor of a deleted machine", renewed).await;
        }
        self.change(name, &json!({"spec": {"management": {"replace": rolling}}}))
            .await;
    }

    /// The instance of a machine that somebody still needs stays until they are done.
    pub async fn hold_machine(&mut self, machine: Option<String>) {
        let Some(machine) = machine else {
            return;
        };
        self.hook(&machine, &json!("tests")).await;
        self.delete_machine(Some(machine.clone())).await;
        self.watch.pass(WAIT).await;
        let now = self.watch.look().await;
        if !now.machines.contains_key(&machine) {
            self.watch
                .fail(&[format!("hooks: machine {machine} is gone, and somebody needed it")])
                .await;
        }
        self.hook(&machine, &Value::Null).await;
    }

    /// A drain that a budget blocks lasts as long as the pool says: to the end of its time, or until the budget gives way.
    pub async fn block_drain(&mut self, number: u64, before: &Snapshot) {
        self.ground().hold_workload(true).await;
        let Some((pool, machine)) = with_workload(before) else {
            return;
        };
        if number.is_multiple_of(2) {
            return self.delete_machine(Some(machine)).await;
        }
        self.change(&pool, &json!({"spec": {"nodeDrainTimeout": "0s"}})).await;
        self.watch.pass(Duration::from_secs(10)).await;
        self.delete_machine(Some(machine.clone())).await;
        self.watch.pass(LONGER_THAN_DRAINS).await;
        let now = self.watch.look().await;
        if !now.machines.contains_key(&machine) {
            self.watch
                .fail(&[format!(
                    "drains: machine {machine} is gone, and a budget holds its pods"
                )])
                .await;
        }
        self.ground().hold_workload(false).await;
        let is_gone = |now: &Snapshot| (!now.machines.contains_key(&machine)).then_some(());
        self.watch
            .until("the end of a drain that nothing blocks", is_gone)
            .await;
        self.change(&pool, &json!({"spec": {"nodeDrainTimeout": "5m"}})).await;
    }

    /// Nodes that would be too old for the control plane are not made, and the pool says so.
    pub async fn ask_for_too_old(&mut self, name: &str, before: &Snapshot) {
        if before.plane() != [(1, 36)] {
            return;
        }
        let release = before.pools[name]["spec"]["release"].clone();
        self.change(name, &to_release(TOO_OLD)).await;
        self.watch.pass(WAIT).await;
        let told = self.ground().condition_of_pool(name, "SupportedVersionSkew").await;
        if told.is_none_or(|[status, ..]| status != "False") {
            self.watch
                .fail(&[format!("skew: pool {name} does not say that {TOO_OLD} is too old")])
                .await;
        }
        self.change(name, &json!({"spec": {"release": release}})).await;
    }

    async fn hook(&self, machine: &str, value: &Value) {
        let api: Api<Machine> = self.ground().api(Some(INSIDE));
        let patch = Patch::Merge(json!({"metadata": {"annotations": {HOOK: value}}}));
        api.patch(machine, &PatchParams::default(), &patch).await.unwrap();
    }
}

/// A pool and a machine of it that bears a pod of the workload.
fn with_workload(now: &Snapshot) -> Option<(String, String)> {
    let pods = now.hosted.iter().flat_map(|hosted| hosted.pods.values());
    let pods = pods.filter(|pod| pod["metadata"]["labels"]["app"] == "web");
    let mut machines = pods.map(|pod| text(pod, "/spec/nodeName"));
    machines.find_map(|name| {
        let machine = now.machines.get(name)?;
        Some((pool_of(machine).to_owned(), name.to_owned()))
    })
}

/// Whether a machine is gone, and another one of its pool is what the pool wants now.
fn has_successor(now: &Snapshot, pool: &str, machine: &str) -> bool {
    let wanted = Wish::of(now, pool).and_then(|wish| wish.identity);
    let mut machines = Snapshot::of(&now.machines, pool).into_iter();
    !now.machines.contains_key(machine) && machines.any(|(_, other)| identity_of(other, [now, now]) == wanted)
}
