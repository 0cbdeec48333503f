//! Aggregated ClusterRoles: their rules are those of the roles that they select, now and whenever one changes.

use std::sync::Arc;

use hyperplane_access::aggregate;
use hyperplane_store::{Event, Observer, Snapshot};
use hyperplane_wire::{Failure, Reason};
use serde_json::Value;

use super::{change, pending::Pending};
use crate::{call::Call, core::Core, metadata, object::Object};

/// The collection of ClusterRoles.
const COLLECTION: &str = "clusterroles.rbac.authorization.k8s.io";
const GROUP: &str = "rbac.authorization.k8s.io";

/// Whether the aggregated roles have to be looked at.
#[derive(Debug, Default)]
pub(crate) struct Roles(Pending<()>);

impl Observer<Object> for Roles {
    fn reset(&self, _: &Snapshot<Object>) {
        self.0.add(());
    }

    fn committed(&self, events: &[Arc<Event<Object>>]) {
        if events.iter().any(|event| &*event.entry.key.collection == COLLECTION) {
            self.0.add(());
        }
    }
}

/// Fills aggregated roles for ever.
pub(crate) async fn run(core: &Core, roles: &Roles) {
    loop {
        roles.0.next().await;
        match fill(core).await {
            Ok(()) => {}
            Err(failure) if failure.reason == Reason::NotFound => {}
            Err(failure) => {
                tracing::warn!(error = %failure, "Aggregated roles were not filled; it is tried again.");
                tokio::time::sleep(core.limits.retry_pause).await;
                roles.0.add(());
            }
        }
    }
}

async fn fill(core: &Core) -> Result<(), Failure> {
    let Some(served) = core.registry.get().find(GROUP, "v1", "clusterroles").cloned() else {
        return Ok(());
    };
    let snapshot = core.store.snapshot();
    let all: Vec<Value> = snapshot
        .range(COLLECTION, None, None)
        .map(|entry| entry.payload.value(entry.revision))
        .collect();
    for role in &all {
        let Some(rules) = aggregate(role, &all) else {
            continue;
        };
        if role.get("rules") != Some(&rules) {
            let call = Call::internal(&served, "", metadata::text(role, "name"), "");
            change(core, &call, &|object| object["rules"] = rules.clone()).await?;
        }
    }
    Ok(())
}
