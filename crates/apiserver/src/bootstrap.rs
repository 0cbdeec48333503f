//! What a cluster begins with: the namespaces of the system, the default policy, the Service under which pods find the
//! server, and the addresses of Services. Every start puts back what is missing, and leaves what was added.

mod policy;
mod service;

use futures::future::try_join_all;
use hyperplane_access::bootstrap;
use hyperplane_wire::{Failure, Reason, delete_options::DeleteOptions};
use serde_json::{Value, json};

use crate::{call::Call, core::Core, metadata};

/// The namespaces of the system.
const NAMESPACES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];
/// Priorities of what the system runs.
const PRIORITIES: [(&str, i64, &str); 2] = [
    (
        "system-cluster-critical",
        2_000_000_000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ),
    (
        "system-node-critical",
        2_000_001_000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
];

/// The group and the plural of ranges of addresses.
const RANGES: (&str, &str) = ("networking.k8s.io", "servicecidrs");

/// What is to be done about an object that is there.
#[derive(Clone, Debug, PartialEq)]
enum Repair {
    /// Nothing.
    Keep,
    /// It becomes this.
    Change(Value),
    /// It is made anew: what a binding refers to cannot be changed.
    Replace,
}

/// Creates what is missing of it, for a server that listens at an address.
pub(crate) async fn run(core: &Core, address: &str) -> Result<(), Failure> {
    let mut objects: Vec<(&str, &str, Value)> = Vec::new();
    for name in NAMESPACES {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        objects.push(("", "namespaces", namespace));
    }
    for (name, value, description) in PRIORITIES {
        let class = json!({
            "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name},
            "value": value, "description": description, "preemptionPolicy": "PreemptLowerPriority",
        });
        objects.push(("scheduling.k8s.io", "priorityclasses", class));
    }
    ensure_all(core, objects).await?;
    // These have objects in namespaces, which are there now.
    let policy = bootstrap::objects().iter();
    let policy = policy.map(|entry| (bootstrap::GROUP, entry.resource, (*entry.object).clone()));
    let range = core.allocations.range();
    let service = service::objects(address, range.first());
    let range = [(RANGES.0, RANGES.1, service::range(range))];
    ensure_all(core, policy.chain(range).chain(service).collect()).await?;
    tell_ready(core).await
}

/// What is told of the range is in its status, which is not written with it.
async fn tell_ready(core: &Core) -> Result<(), Failure> {
    let (group, plural) = RANGES;
    let Some(served) = core.registry.get().find(group, "v1", plural).cloned() else {
        return Ok(());
    };
    let Some(entry) = Core::find(&core.store.snapshot(), &served, "", service::NAME) else {
        return Ok(());
    };
    let call = Call::internal(&served, "", service::NAME, "status");
    match service::ready(&served.show(&entry, entry.revision), &metadata::time(core.clock.now())) {
        Repair::Change(ready) => core.update(&call, ready).await.map(|_| ()),
        Repair::Keep | Repair::Replace => Ok(()),
    }
}

/// All at once: the store writes them together, which a start can tell from one after the other.
async fn ensure_all(core: &Core, objects: Vec<(&str, &str, Value)>) -> Result<(), Failure> {
    let created = objects
        .into_iter()
        .map(|(group, plural, object)| ensure(core, group, plural, object));
    try_join_all(created).await.map(|_| ())
}

async fn ensure(core: &Core, group: &str, plural: &str, object: Value) -> Result<(), Failure> {
    let Some(served) = core.registry.get().find(group, "v1", plural).cloned() else {
        return Ok(());
    };
    let (namespace, name) = (
        metadata::text(&object, "namespace").to_owned(),
        metadata::text(&object, "name").to_owned(),
    );
    let call = Call::internal(&served, &namespace, &name, "");
    let mut object = object;
    served.resource.behaviour.default(&mut object);
    match Core::find(&core.store.snapshot(), &served, &namespace, &name) {
        None => create(core, &call, object).await,
        Some(entry) => {
            let judge = match plural {
                "namespaces" | "priorityclasses" => return Ok(()),
                "services" | "endpoints" | "endpointslices" => service::repair,
                "servicecidrs" => service::repair_range,
                _ => policy::repair,
            };
            let repair = judge(&object, &served.show(&entry, entry.revision));
            carry_out(core, &call, repair, object).await
        }
    }
}

async fn create(core: &Core, call: &Call, object: Value) -> Result<(), Failure> {
    match core.create(call, object).await {
        Err(failure) if failure.reason != Reason::AlreadyExists => Err(failure),
        _ => Ok(()),
    }
}

async fn carry_out(core: &Core, call: &Call, repair: Repair, expected: Value) -> Result<(), Failure> {
    match repair {
        Repair::Keep => Ok(()),
        Repair::Change(repaired) => core.update(call, repaired).await.map(|_| ()),
        Repair::Replace => {
            core.delete(call, &DeleteOptions::default()).await?;
            create(core, call, expected).await
        }
    }
}
