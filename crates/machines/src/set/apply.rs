//! Carrying out what was planned. Instances are made before their machines, so that whoever sees a machine finds its
//! instance; what a run that was cut short leaves without a machine is found again and removed.

use std::{
    collections::BTreeSet,
    sync::{MutexGuard, PoisonError},
    time::Duration,
};

use hyperplane_api::{
    cluster_api::{machine::Machine, machine_set::MachineSet},
    constants::ours,
};
use hyperplane_runtime::{Api, Context, EventType, Failure};
use kube::{
    ResourceExt as _,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams, Preconditions},
};
use serde_json::{Value, json};

use super::{Sets, build, dereference::Seen, plan::Plan};
use crate::{InfrastructureKind, adoption::adopt};

/// Machines that one run makes, deletes or changes at most: it has to end before its deadline.
pub(super) const BATCH: usize = 50;
/// How soon it is looked again for something that no event announces.
pub(super) const LOOK_AGAIN: Duration = Duration::from_secs(10);

/// Tells whether everything was done; what is beyond the bound of one run is left to the next.
pub(super) async fn carry_out(sets: &Sets, context: &Context, seen: &Seen, plan: &Plan) -> Result<bool, Failure> {
    adopt(context, &seen.set, &seen.machines).await?;
    if let Some(mark) = plan.mark {
        keep_mark(context, &seen.set, mark).await?;
    }
    for (name, change) in plan.change.iter().take(BATCH) {
        change_machine(context, seen, name, change).await?;
    }
    let unhealthy = plan.replace.iter().map(|name| (name, Why::Unhealthy));
    let superfluous = plan.remove.iter().map(|name| (name, Why::TooMany));
    let going: Vec<(&String, Why)> = unhealthy.chain(superfluous).take(BATCH).collect();
    for (name, why) in going {
        delete_machine(sets, context, seen, name, why).await?;
    }
    if plan.make.is_empty() {
        tidy(sets, context, seen).await?;
    } else {
        make(sets, context, seen, plan).await?;
    }
    Ok(plan.change.len() <= BATCH && plan.replace.len() + plan.remove.len() <= BATCH && plan.make.len() < BATCH)
}

/// Drops what is remembered of a set that goes.
pub(super) fn forget(sets: &Sets, set: &MachineSet) {
    settled(sets).remove(set.metadata.uid.as_deref().unwrap_or_default());
}

/// Keeps the mark on the set. Its other fields belong to its deployment, so this is no apply.
async fn keep_mark(context: &Context, set: &MachineSet, mark: u64) -> Result<(), Failure> {
    let sets: Api<MachineSet> = Api::namespaced(context.client().clone(), &set.namespace().unwrap_or_default());
    let mark = json!({(ours::NEXT_MACHINE_NUMBER.as_str()): mark.to_string()});
    let patch = json!({"metadata": {"uid": set.metadata.uid, "annotations": mark}});
    sets.patch(&set.name_any(), &parameters(context), &Patch::Merge(patch))
        .await?;
    Ok(())
}

async fn change_machine(context: &Context, seen: &Seen, name: &str, change: &Value) -> Result<(), Failure> {
    let namespace = seen.set.namespace().unwrap_or_default();
    let machines: Api<Machine> = Api::namespaced(context.client().clone(), &namespace);
    match machines.patch(name, &parameters(context), &Patch::Merge(change)).await {
        // It went meanwhile.
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        result => Ok(result.map(drop)?),
    }
}

/// Why a set deletes a machine.
#[derive(Clone, Copy, Debug)]
enum Why {
    Unhealthy,
    TooMany,
}

async fn delete_machine(sets: &Sets, context: &Context, seen: &Seen, name: &str, why: Why) -> Result<(), Failure> {
    let Some(machine) = seen.machines.iter().find(|machine| machine.name_any() == name) else {
        return Ok(());
    };
    sets.going.note(&seen.set, machine);
    let why = match why {
        // The check may have taken its word back: when all fall silent at once, none is replaced.
        Why::Unhealthy => {
            if !context.delete_unchanged(machine.as_ref()).await? {
                sets.going.take_back(&seen.set, machine);
                return Ok(());
            }
            "it is unhealthy"
        }
        Why::TooMany => {
            context.delete(machine.as_ref()).await?;
            "there are too many"
        }
    };
    let message = format!("Deleted machine {name}: {why}.");
    context.event(EventType::Normal, "SuccessfulDelete", message);
    Ok(())
}

async fn make(sets: &Sets, context: &Context, seen: &Seen, plan: &Plan) -> Result<(), Failure> {
    let set = seen.set.as_ref();
    if set.spec.template.spec.bootstrap.config_ref.is_some() {
        return Err(Failure::user(
            "spec.template.spec.bootstrap.configRef",
            "bootstrap objects are not made by this manager",
            "give the data by dataSecretName",
        ));
    }
    let kind = build::kind(set, &sets.infrastructure)?;
    let template = instance_template(context, set, kind).await?;
    let namespace = set.namespace().unwrap_or_default();
    let instances: kube::Api<DynamicObject> =
        kube::Api::namespaced_with(context.client().clone(), &namespace, &build::instances(kind));
    // From here on an instance may be left without a machine.
    forget(sets, set);
    for (number, name) in &plan.make {
        create_instance(&instances, &build::instance(set, name, kind, &template)).await?;
        context.apply(&build::machine(set, *number, name, kind)).await?;
        context.event(EventType::Normal, "SuccessfulCreate", format!("Made machine {name}."));
    }
    Ok(())
}

async fn instance_template(
    context: &Context,
    set: &MachineSet,
    kind: InfrastructureKind,
) -> Result<build::InstanceTemplate, Failure> {
    let namespace = set.namespace().unwrap_or_default();
    let resource = build::templates(kind);
    let templates: kube::Api<DynamicObject> =
        kube::Api::namespaced_with(context.client().clone(), &namespace, &resource);
    let name = set.spec.template.spec.infrastructure_ref.name.as_str();
    match templates.get_opt(name).await? {
        Some(template) => build::instance_template(&template),
        None => Err(Failure::wait_until(format!("{} {name}", resource.kind), LOOK_AGAIN)),
    }
}

/// Makes an instance; one that is there already was made by a run that was cut short.
async fn create_instance(instances: &kube::Api<DynamicObject>, instance: &DynamicObject) -> Result<(), Failure> {
    match instances.create(&PostParams::default(), instance).await {
        Err(kube::Error::Api(status)) if status.is_already_exists() => {}
        result => return Ok(result.map(drop)?),
    }
    let name = instance.name_any();
    match instances.get_metadata_opt(&name).await? {
        Some(live) if live.metadata.deletion_timestamp.is_none() => Ok(()),
        _ => Err(Failure::wait_until(
            format!("an older instance {name} to go"),
            LOOK_AGAIN,
        )),
    }
}

/// Removes instances that never got a machine. Nothing is being made when this is called, so whatever has none by now
/// never will.
async fn tidy(sets: &Sets, context: &Context, seen: &Seen) -> Result<(), Failure> {
    let set = seen.set.as_ref();
    let uid = set.metadata.uid.clone().unwrap_or_default();
    if settled(sets).contains(&uid) {
        return Ok(());
    }
    let Ok(kind) = build::kind(set, &sets.infrastructure) else {
        // Nothing was made of a kind that is not served.
        return Ok(());
    };
    let namespace = set.namespace().unwrap_or_default();
    let instances: kube::Api<DynamicObject> =
        kube::Api::namespaced_with(context.client().clone(), &namespace, &build::instances(kind));
    let machines: Api<Machine> = Api::namespaced(context.client().clone(), &namespace);
    let found = instances
        .list_metadata(&ListParams::default().labels(&build::instances_of(set)))
        .await?;
    for instance in found {
        let name = instance.name_any();
        let is_known = seen.machines.iter().any(|machine| machine.name_any() == name);
        let is_ours = instance.owner_references().iter().any(|owner| owner.uid == uid);
        let is_leaving = instance.metadata.deletion_timestamp.is_some();
        // The cache may be behind: the server knows.
        if is_known || !is_ours || is_leaving || machines.get_metadata_opt(&name).await?.is_some() {
            continue;
        }
        let exactly = Preconditions {
            uid: instance.uid(),
            resource_version: None,
        };
        let parameters = DeleteParams::background().preconditions(exactly);
        match instances.delete(&name, &parameters).await {
            Err(kube::Error::Api(status)) if status.is_not_found() => {}
            result => drop(result?),
        }
        tracing::info!(%namespace, instance = %name, "Removed an instance that never got a machine.");
    }
    settled(sets).insert(uid);
    Ok(())
}

fn settled(sets: &Sets) -> MutexGuard<'_, BTreeSet<String>> {
    sets.settled.lock().unwrap_or_else(PoisonError::into_inner)
}

fn parameters(context: &Context) -> PatchParams {
    PatchParams {
        field_manager: Some(context.field_manager().to_owned()),
        ..PatchParams::default()
    }
}
