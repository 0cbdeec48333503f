//! Acts in which nothing may happen until a user says so: a pool that is paused, one that replaces nodes only where users
//! delete them, and a machine that somebody still needs.

use std::time::Duration;

use hyperplane_api::cluster_api::machine::Machine;
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use serde_json::{Value, json};

use crate::{
    history::{Wish, identity_of},
    snapshot::{HOOK, INSIDE, Snapshot},
    story::Story,
    watch::Watch,
};

/// How long a user lets things wait.
const WAIT: Duration = Duration::from_mins(4);

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

    async fn hook(&self, machine: &str, value: &Value) {
        let api: Api<Machine> = self.ground().api(Some(INSIDE));
        let patch = Patch::Merge(json!({"metadata": {"annotations": {HOOK: value}}}));
        api.patch(machine, &PatchParams::default(), &patch).await.unwrap();
    }
}

/// Whether a machine is gone, and another one of its pool is what the pool wants now.
fn has_successor(now: &Snapshot, pool: &str, machine: &str) -> bool {
    let wanted = Wish::of(now, pool).and_then(|wish| wish.identity);
    let mut machines = Snapshot::of(&now.machines, pool).into_iter();
    !now.machines.contains_key(machine) && machines.any(|(_, other)| identity_of(other, [now, now]) == wanted)
}
