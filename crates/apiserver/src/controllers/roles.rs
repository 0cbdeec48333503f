//! Aggregated ClusterRoles: their rules are those of the roles that they select, now and whenever one changes.

use std::sync::Arc;

use hyperplane_access::aggregate;
use hyperplane_store::{Event, Observer, Snapshot};
use hyperplane_wire::Failure;
use serde_json::Value;

use super::{
    change, ignore_absent,
    pending::{self, Pending},
};
use crate::{call::Call, core::Core, metadata, object::Object};

/// The collection of ClusterRoles.
const COLLECTION: &str = "clusterroles.rbac.authorization.k8s.io";
const GROUP: &str = "rbac.authorization.k8s.io";

/// There is one thing to look at: all of them.
const ALL: &str = "aggregated roles";

/// Whether the aggregated roles have to be looked at.
#[derive(Debug, Default)]
pub(crate) struct Roles(Pending<&'static str>);

impl Observer<Object> for Roles {
    fn reset(&self, _: &Snapshot<Object>) {
        self.0.add([ALL]);
    }

    fn committed(&self, events: &[Arc<Event<Object>>]) {
        let last = events.iter().rfind(|event| &*event.entry.key.collection == COLLECTION);
        if let Some(event) = last {
            self.0.note(event.revision, [ALL]);
        }
    }
}

/// Fills aggregated roles for ever.
pub(crate) async fn run(core: &Core, roles: &Roles) {
    pending::drive(core, &roles.0, 1, |_| fill(core)).await;
}

async fn fill(core: &Core) -> Result<(), Failure> {
    let Some(served) = core.registry.get().find(GROUP, "v1", "clusterroles").cloned() else {
        return Ok(());
    };
    let snapshot = core.store.snapshot();
    let mut all: Vec<Value> = snapshot
        .range(COLLECTION, None, None)
        .map(|entry| entry.payload.value(entry.revision))
        .collect();
    for index in 0..all.len() {
        let role = &all[index];
        let Some(rules) = aggregate(role, &all) else {
            continue;
        };
        if role.get("rules") == Some(&rules) {
            continue;
        }
        let call = Call::internal(&served, "", metadata::text(role, "name"), "");
        ignore_absent(change(core, &call, None, &|object| object["rules"] = rules.clone()).await)?;
        // The next one may select this one; two that select each other must not swap their rules for ever.
        all[index]["rules"] = rules;
    }
    Ok(())
}
