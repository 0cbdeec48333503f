//! Sets and machines that have lost their owner, or never had one, and whom a selector matches: they are taken over, as
//! Cluster API does, so that nothing is left that nobody looks after.

use std::{collections::BTreeSet, sync::Arc};

use hyperplane_api::cluster_api::{machine::Machine, machine_set::MachineSet};
use hyperplane_objects::Kind;
use hyperplane_runtime::{Api, Context, Failure, ObjectKey, Store};
use k8s_openapi::{
    NamespaceResourceScope,
    apimachinery::pkg::apis::meta::v1::{LabelSelector, OwnerReference},
};
use kube::{
    Resource, ResourceExt as _,
    api::{Patch, PatchParams},
};
use serde_json::{Value, json};

use crate::owners::{self, control_by, controller, selects};

/// Machines that one run takes over at most: it has to end before its deadline, and each of them causes another run.
const AT_ONCE: usize = 50;

/// Who may be taken over, and by whom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim<'a> {
    pub(crate) cluster: &'a str,
    pub(crate) selector: &'a LabelSelector,
}

/// What belongs to a cluster.
pub(crate) trait Member: Kind + Resource<Scope = NamespaceResourceScope> {
    fn cluster(&self) -> &str;
}

impl Member for Machine {
    fn cluster(&self) -> &str {
        &self.spec.cluster_name
    }
}

impl Member for MachineSet {
    fn cluster(&self) -> &str {
        &self.spec.cluster_name
    }
}

impl Claim<'_> {
    /// Whether an object is without an owner, stays, and is meant by the selector.
    pub(crate) fn holds<K: Member>(&self, object: &K) -> bool {
        controller(object).is_none()
            && object.meta().deletion_timestamp.is_none()
            && object.cluster() == self.cluster
            && selects(self.selector, object)
    }
}

/// The objects of `owner`: those that it controls, and those that it may take over unless it goes itself. In order of
/// their names.
pub(crate) fn belonging<K: Member>(store: &Store<K>, owner: &impl Resource, claim: Claim<'_>) -> Vec<Arc<K>> {
    let mut found = owners::controlled(store, owner);
    if owner.meta().deletion_timestamp.is_none() {
        let namespace = owner.meta().namespace.as_deref().unwrap_or_default();
        let orphans = owners::uncontrolled(store, namespace).into_iter();
        found.extend(orphans.filter(|orphan| claim.holds(orphan.as_ref())));
        found.sort_by_cached_key(|object| object.name_any());
    }
    found
}

/// The owners that may take an object over, if it has none.
pub(crate) fn claimants<K: Member, O: Kind>(
    object: &K,
    owners: &Store<O>,
    claim: impl for<'a> Fn(&'a O) -> Claim<'a>,
) -> BTreeSet<ObjectKey> {
    if controller(object).is_some() {
        return BTreeSet::new();
    }
    let all = owners.namespace(object.namespace().unwrap_or_default()).all();
    let meant = all.iter().filter(|owner| claim(owner).holds(object));
    meant.map(|owner| ObjectKey::of(owner.as_ref())).collect()
}

/// Makes sure that an owner is there and stays, by the server and not by the cache: what has an owner that is gone is
/// collected as garbage.
pub(crate) async fn ensure_live<K>(context: &Context, owner: &K) -> Result<(), Failure>
where
    K: Kind + Resource<Scope = NamespaceResourceScope>,
{
    let api: Api<K> = Api::namespaced(context.client().clone(), &owner.namespace().unwrap_or_default());
    let live = api.get_metadata_opt(&owner.name_any()).await?;
    let is_live =
        live.is_some_and(|live| live.metadata.uid == owner.meta().uid && live.metadata.deletion_timestamp.is_none());
    if is_live {
        Ok(())
    } else {
        let what = format!("the cache to show that {} {} is gone", K::kind(&()), owner.name_any());
        Err(Failure::wait(what))
    }
}

/// Makes a set the controller of machines that have none, in exactly the state that was read.
pub(crate) async fn adopt(context: &Context, set: &MachineSet, machines: &[Arc<Machine>]) -> Result<(), Failure> {
    let mut orphans = machines.iter().filter(|machine| controller(machine.as_ref()).is_none());
    let Some(first) = orphans.next() else {
        return Ok(());
    };
    ensure_live(context, set).await?;
    let owner = control_by(set);
    let api: Api<Machine> = Api::namespaced(context.client().clone(), &set.namespace().unwrap_or_default());
    let parameters = PatchParams {
        field_manager: Some(context.field_manager().to_owned()),
        ..PatchParams::default()
    };
    for orphan in [first].into_iter().chain(orphans).take(AT_ONCE) {
        let patch = Patch::Merge(adopted(orphan, owner.as_ref()));
        api.patch(&orphan.name_any(), &parameters, &patch).await?;
        tracing::info!(machine = %ObjectKey::of(orphan.as_ref()), set = set.name_any(), "Took over a machine without an owner.");
    }
    Ok(())
}

fn adopted(machine: &Machine, owner: Option<&OwnerReference>) -> Value {
    let references: Vec<&OwnerReference> = machine.owner_references().iter().chain(owner).collect();
    json!({"metadata": {
        "uid": machine.metadata.uid,
        "resourceVersion": machine.metadata.resource_version,
        "ownerReferences": references,
    }})
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::conditions::tests::machine;

    fn selector(value: &Value) -> LabelSelector {
        hyperplane_objects::read(value).unwrap()
    }

    #[test]
    fn only_what_is_meant_and_has_no_owner_is_taken_over() {
        let reference = |is_controller: bool| json!([{"apiVersion": "v1", "kind": "Other", "name": "o", "uid": "o", "controller": is_controller}]);
        let meant = json!({"matchLabels": {"pool": "a"}});
        let labels = json!({"pool": "a"});
        for (metadata, selector_of_owner, cluster, expected) in [
            (json!({"labels": labels}), &meant, "c", true),
            (
                json!({"labels": labels, "ownerReferences": reference(false)}),
                &meant,
                "c",
                true,
            ),
            (
                json!({"labels": labels, "ownerReferences": reference(true)}),
                &meant,
                "c",
                false,
            ),
            (
                json!({"labels": labels, "deletionTimestamp": "2026-01-01T00:00:00Z"}),
                &meant,
                "c",
                false,
            ),
            (json!({"labels": {"pool": "b"}}), &meant, "c", false),
            (json!({"labels": labels}), &meant, "another", false),
            (json!({"labels": labels}), &json!({}), "c", false),
        ] {
            let claim = Claim {
                cluster,
                selector: &selector(selector_of_owner),
            };
            assert_eq!(claim.holds(&machine("m", "", &metadata)), expected, "{metadata}");
        }
    }

    #[test]
    fn other_owners_stay() {
        let other = json!({"apiVersion": "v1", "kind": "Other", "name": "o", "uid": "o"});
        let found = machine("m", "", &json!({"resourceVersion": "7", "ownerReferences": [other]}));
        let set: OwnerReference = hyperplane_objects::read(json!({
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineSet", "name": "s", "uid": "s", "controller": true,
        }))
        .unwrap();
        let patch = adopted(&found, Some(&set));
        assert_eq!(patch["metadata"]["uid"], "uid-of-m");
        assert_eq!(patch["metadata"]["resourceVersion"], "7");
        let uids: Vec<&Value> = patch["metadata"]["ownerReferences"]
            .as_array()
            .unwrap()
            .iter()
            .map(|reference| &reference["uid"])
            .collect();
        assert_eq!(uids, ["o", "s"]);
    }
}
