//! Stories in which something happens that claims say does not: they have to notice.

use std::collections::BTreeSet;

use hyperplane_api::{cluster_api::machine::Machine, constants::annotations};
use hyperplane_demo::{Ending, Event, StepId};
use kube::{
    Api, Client, ResourceExt as _,
    api::{DeleteParams, ListParams},
};
use tokio_util::sync::CancellationToken;

use crate::ground::{Ground, told_with};

/// Deletes one machine of a pool.
async fn delete_machine(client: Client, pool: &str) {
    let machines: Api<Machine> = Api::namespaced(client, "clusters-demo");
    let all = machines.list(&ListParams::default()).await.unwrap();
    let is_of_pool = |machine: &&Machine| annotations::NODE_POOL.of(*machine).is_some_and(|found| found == pool);
    let victim = all.iter().find(is_of_pool).unwrap().name_any();
    machines.delete(&victim, &DeleteParams::default()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_machine_that_somebody_deletes_does_not_go_unseen() {
    let ground = Ground::instant(7).await;
    let client = ground.client();
    let (outcome, text) = told_with(&ground.stage(), &CancellationToken::new(), |event| {
        if matches!(event, Event::StepStarted(start) if start.id == StepId::Roll) {
            tokio::spawn(delete_machine(client.clone(), "clusters/demo-batch"));
        }
    })
    .await;
    assert_eq!(outcome.ending, Ending::Played, "{text}");
    assert!(!outcome.is_success(), "{text}");
    let failed: BTreeSet<&str> = outcome
        .claims
        .iter()
        .filter(|claim| !claim.held)
        .map(|claim| claim.id)
        .collect();
    assert_eq!(failed, BTreeSet::from(["batch-kept", "roll-left-batch"]), "{text}");
}
