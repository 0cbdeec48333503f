//! Members of etcd that keep failing: one is brought back by itself, and where the others could not go on nothing is
//! touched.

use std::{collections::BTreeMap, time::Duration};

use hyperplane_twin::{Fault, FaultKind, FaultSelector, Faults};
use k8s_openapi::api::{
    batch::v1::Job,
    core::v1::{PersistentVolumeClaim, Pod, ServiceAccount},
    rbac::v1::{Role, RoleBinding},
};
use kube::{
    ResourceExt as _,
    api::{DeleteParams, ListParams},
};
use serde_json::json;
use tokio::time::sleep;

use crate::ground::{Ground, Process};

const INSIDE: &str = "clusters-one";
const CONDITION: &str = "EtcdRecoveryActive";

/// A cluster with three members that all work.
async fn available(seed: u64) -> (Ground, Process, Faults) {
    let faults = Faults::default();
    let of_twin = faults.clone();
    let ground = Ground::with(seed, |settings| settings.faults = of_twin).await;
    let operators = ground.start().await;
    ground.cluster("one", json!({})).await;
    ground.until_condition("one", "Available", "True").await;
    ground.until_version("one", "1.36.4").await;
    let condition = ground.until_condition("one", CONDITION, "False").await;
    assert_eq!(condition.reason, "AsExpected");
    (ground, operators, faults)
}

/// Lets members fail from their next start on, which is now.
async fn fail(ground: &Ground, faults: &Faults, members: &[&str]) {
    let fault = |member: &&str| Fault {
        selector: FaultSelector {
            namespace: INSIDE.to_owned(),
            pod: (*member).to_owned(),
            container: "etcd".to_owned(),
            ..FaultSelector::default()
        },
        kind: FaultKind::CrashLoop { times: i32::MAX },
    };
    faults.set(members.iter().map(fault).collect());
    for member in members {
        let pods = ground.api::<Pod>(Some(INSIDE));
        let before = pods.get(member).await.unwrap().uid();
        pods.delete(member, &DeleteParams::default()).await.unwrap();
        let look = async || pods.get_opt(member).await.unwrap().filter(|pod| pod.uid() != before);
        ground.until(&format!("another {member}"), look).await;
    }
}

/// The uid of every claim.
async fn claims(ground: &Ground) -> BTreeMap<String, Option<String>> {
    let claims = ground.api::<PersistentVolumeClaim>(Some(INSIDE));
    let claims = claims.list(&ListParams::default()).await.unwrap();
    claims.iter().map(|claim| (claim.name_any(), claim.uid())).collect()
}

#[tokio::test(start_paused = true)]
async fn a_member_that_keeps_failing_starts_without_its_data() {
    let (ground, operators, faults) = available(41).await;
    let before = claims(&ground).await;
    fail(&ground, &faults, &["etcd-1"]).await;
    let pods = ground.api::<Pod>(Some(INSIDE));
    let sick = pods.get("etcd-1").await.unwrap().uid();
    let condition = ground.until_condition("one", CONDITION, "True").await;
    assert!(condition.message.contains("etcd-1"), "{}", condition.message);
    let replaced = async || pods.get_opt("etcd-1").await.unwrap().filter(|pod| pod.uid() != sick);
    ground.until("another etcd-1", replaced).await;
    // What was wrong was in its data.
    faults.set(Vec::new());
    let condition = ground.until_condition("one", CONDITION, "False").await;
    assert_eq!(condition.reason, "AsExpected");
    let jobs = ground.api::<Job>(Some(INSIDE));
    let gone = async || jobs.get_opt("etcd-recovery").await.unwrap().is_none().then_some(());
    ground.until("the end of the Job", gone).await;
    ground.until_condition("one", "Degraded", "False").await;
    let after = claims(&ground).await;
    let changed: Vec<&String> = after.keys().filter(|name| after[*name] != before[*name]).collect();
    assert_eq!(changed, ["data-etcd-1"]);
    rests(&ground).await;
    operators.stop().await;
}

/// Nothing of a recovery is left, and nothing is written any more.
async fn rests(ground: &Ground) {
    sleep(Duration::from_mins(10)).await;
    let name = "etcd-recovery";
    assert!(ground.api::<Role>(Some(INSIDE)).get_opt(name).await.unwrap().is_none());
    let bindings = ground.api::<RoleBinding>(Some(INSIDE));
    assert!(bindings.get_opt(name).await.unwrap().is_none());
    let accounts = ground.api::<ServiceAccount>(Some(INSIDE));
    assert!(accounts.get_opt(name).await.unwrap().is_none());
    let mark = ground.written();
    sleep(Duration::from_mins(20)).await;
    assert_eq!(ground.since(mark), []);
}

#[tokio::test(start_paused = true)]
async fn without_a_quorum_nothing_is_touched() {
    let (ground, operators, faults) = available(42).await;
    let before = claims(&ground).await;
    fail(&ground, &faults, &["etcd-1", "etcd-2"]).await;
    ground.until_condition("one", "EtcdAvailable", "False").await;
    sleep(Duration::from_hours(1)).await;
    let jobs = ground.api::<Job>(Some(INSIDE));
    assert!(jobs.get_opt("etcd-recovery").await.unwrap().is_none());
    assert_eq!(ground.conditions("one").await[CONDITION].status, "False");
    faults.set(Vec::new());
    ground.until_condition("one", "Available", "True").await;
    ground.until_condition("one", "Degraded", "False").await;
    assert_eq!(claims(&ground).await, before);
    operators.stop().await;
}
