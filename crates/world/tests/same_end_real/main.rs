//! The same HostedCluster on the embedded API server and on a real one: it ends with equal objects, and its deletion
//! leaves nothing behind on either. Each is asked, and given the same; the world behind the real one is made by the real
//! controllers and the real scheduler, with simulated kubelets.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails where it stands")]

#[path = "../both/mod.rs"]
mod both;
mod difference;
mod drawn;
mod mask;
mod objects;
mod pools;
mod real;
#[path = "../../../api/tests/support/samples.rs"]
mod samples;
mod site;

use std::{collections::BTreeMap, time::Duration};

use hyperplane_world::Roles;
use serde_json::{Value, json};
use tokio::{runtime::Builder, time::sleep};
use tokio_util::sync::CancellationToken;

use crate::{
    both::{
        embedded,
        users::{Users, cluster},
    },
    objects::collect,
    real::Real,
    site::Site,
};

/// The name of the cluster.
const NAME: &str = "one";
/// Its version.
const VERSION: &str = "1.36.4";
/// Virtual time in which everything has followed that follows from what was waited for.
const REST: Duration = Duration::from_mins(10);

/// Everything of a cluster that is complete, and everything that is there after its deletion.
struct Ends {
    complete: BTreeMap<String, Value>,
    deleted: BTreeMap<String, Value>,
}

#[test]
#[ignore = "needs a real control plane: cargo xtask test"]
fn both_servers_end_with_equal_objects() {
    let paused = Builder::new_current_thread().enable_all().start_paused(true).build();
    let expected = paused.unwrap().block_on(ends_on_embedded());
    let running = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    running.unwrap().block_on(async {
        let real = Real::start().await;
        let users = &real.site.users;
        users.create_cluster(manifest()).await;
        users.until_complete(NAME, VERSION).await;
        real.until_equal("the complete cluster", &expected.complete).await;
        users.delete_cluster(NAME).await;
        users.until_gone(NAME).await;
        real.until_equal("what a deleted cluster leaves", &expected.deleted)
            .await;
        real.stop().await;
    });
}

async fn ends_on_embedded() -> Ends {
    let (embedded, network) = embedded::start().await;
    let users = Users::settle(embedded.administrator()).await;
    let operators = embedded.operators("test", &network, Roles::All).await.unwrap();
    let site = Site { users, network };
    let before = collect(&site).await;
    let running = tokio::spawn(operators.run(CancellationToken::new()));
    site.users.create_cluster(manifest()).await;
    site.users.until_complete(NAME, VERSION).await;
    sleep(REST).await;
    let complete = collect(&site).await;
    site.users.delete_cluster(NAME).await;
    site.users.until_gone(NAME).await;
    sleep(REST).await;
    let deleted = collect(&site).await;
    running.abort();
    assert!(
        deleted.keys().eq(before.keys()),
        "a deletion leaves {:?} of {:?}",
        deleted.keys(),
        before.keys()
    );
    Ends { complete, deleted }
}

/// The cluster that both are asked for.
fn manifest() -> Value {
    let release = format!("hyperplane.dev/kubernetes:v{VERSION}");
    cluster(NAME, &release, &json!({"type": "None"}), "HighlyAvailable")
}
