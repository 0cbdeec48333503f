//! Evicts a pod, unless a PodDisruptionBudget needs it.

use hyperplane_wire::{
    Failure, GroupResource, Reason, delete_options::DeleteOptions, negotiate::BodyFormat, status::Cause,
};
use serde_json::{Value, json};

use super::{set_pod_condition, success};
use crate::{call::Call, core::Core, label_selector, metadata, ownership, verbs::modify::Modification};

/// How many evictions may wait for the controller of a budget to see them.
const DISRUPTED_PODS: usize = 2_000;
const REFUSED: &str = "Cannot evict pod as it would violate the pod's disruption budget.";

/// Evicts the pod that an Eviction names.
pub(super) async fn create(core: &Core, call: &Call, eviction: &Value) -> Result<Value, Failure> {
    if metadata::text(eviction, "name") != call.name {
        return Err(Failure::bad_request(
            "name in URL does not match name in Eviction object",
        ));
    }
    let mut options = options(eviction)?;
    options.dry_run |= call.is_dry_run;
    let pod = pod(core, call)?;
    if !is_bound_by_budgets(&pod) {
        let is_final = matches!(phase(&pod), "Succeeded" | "Failed") || metadata::is_deleting(&pod);
        if !is_final {
            pin(&mut options, &pod);
        }
        return evict(core, call, options).await;
    }
    let budgets = budgets(core, &pod);
    match budgets.as_slice() {
        [] => {}
        [budget] if may_ignore(&pod, budget) => pin(&mut options, &pod),
        [budget] => take(core, call, metadata::text(budget, "name"), options.dry_run).await?,
        _ => {
            return Err(Failure::new(
                Reason::Unknown,
                "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
            ));
        }
    }
    evict(core, call, options).await
}

fn options(eviction: &Value) -> Result<DeleteOptions, Failure> {
    match eviction.get("deleteOptions").filter(|options| !options.is_null()) {
        Some(options) => DeleteOptions::parse("", options.to_string().as_bytes(), BodyFormat::Json),
        None => Ok(DeleteOptions::default()),
    }
}

fn pod(core: &Core, call: &Call) -> Result<Value, Failure> {
    let entry = Core::find(&core.store.snapshot(), &call.served, &call.namespace, &call.name);
    let entry = entry.ok_or_else(|| call.not_found())?;
    Ok(call.served.show(&entry, entry.revision))
}

fn phase(pod: &Value) -> &str {
    pod["status"]["phase"].as_str().unwrap_or_default()
}

/// A pod that does not run, or no longer will, is nobody's loss.
fn is_bound_by_budgets(pod: &Value) -> bool {
    !matches!(phase(pod), "Succeeded" | "Failed" | "Pending") && !metadata::is_deleting(pod)
}

/// What was decided holds for the pod as it was looked at.
fn pin(options: &mut DeleteOptions, pod: &Value) {
    let revision = &mut options.preconditions.resource_version;
    revision.get_or_insert_with(|| metadata::text(pod, "resourceVersion").to_owned());
}

/// The budgets that count a pod.
fn budgets(core: &Core, pod: &Value) -> Vec<Value> {
    let registry = core.registry.get();
    let Some(served) = registry.find("policy", "v1", "poddisruptionbudgets") else {
        return Vec::new();
    };
    let snapshot = core.store.snapshot();
    let namespace = metadata::text(pod, "namespace");
    let all = snapshot.range(&served.resource.collection, Some(namespace), None);
    let all = all.map(|entry| served.show(entry, entry.revision));
    all.filter(|budget| {
        label_selector::parse(&budget["spec"]["selector"]).is_some_and(|selector| selector.matches_object(pod))
    })
    .collect()
}

/// Whether a pod that is not ready may go although the budget is spent.
fn may_ignore(pod: &Value, budget: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    let is_ready = conditions
        .into_iter()
        .any(|entry| entry["type"] == "Ready" && entry["status"] == "True");
    let count = |field: &str| budget["status"][field].as_i64().unwrap_or_default();
    let is_healthy = count("currentHealthy") >= count("desiredHealthy") && count("desiredHealthy") > 0;
    !is_ready && (budget["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow" || is_healthy)
}

/// Takes one disruption from a budget, or says why there is none.
async fn take(core: &Core, call: &Call, name: &str, is_dry_run: bool) -> Result<(), Failure> {
    let Some(served) = core
        .registry
        .get()
        .find("policy", "v1", "poddisruptionbudgets")
        .cloned()
    else {
        return Ok(());
    };
    let mut budget_call = Call::internal(&served, &call.namespace, name, "status");
    budget_call.is_dry_run = is_dry_run;
    let now = metadata::time(core.clock.now());
    let next = |old: Option<&Value>| {
        let old = old.ok_or_else(|| budget_call.not_found())?;
        check_budget(old)?;
        let mut budget = old.clone();
        let allowed = budget["status"]["disruptionsAllowed"].as_i64().unwrap_or_default() - 1;
        budget["status"]["disruptionsAllowed"] = json!(allowed);
        if allowed == 0 {
            forbid_more(&mut budget, &now);
        }
        budget["status"]["disruptedPods"][call.name.as_str()] = json!(now);
        Ok(ownership::record_update(core, &budget_call, Some(old), budget))
    };
    let modification = Modification {
        uid: None,
        creates: false,
        next: &next,
    };
    core.modify(&budget_call, &modification).await.map(|_| ())
}

/// Shows that a budget is spent.
fn forbid_more(budget: &mut Value, now: &str) {
    let generation = metadata::generation(budget);
    let condition = json!({
        "type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods", "message": "",
        "observedGeneration": generation, "lastTransitionTime": now,
    });
    let conditions = &mut budget["status"]["conditions"];
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    let Some(conditions) = conditions.as_array_mut() else {
        return;
    };
    match conditions.iter_mut().find(|entry| entry["type"] == "DisruptionAllowed") {
        Some(entry) => *entry = condition,
        None => conditions.push(condition),
    }
}

fn check_budget(budget: &Value) -> Result<(), Failure> {
    let (name, status) = (metadata::text(budget, "name"), &budget["status"]);
    let count = |field: &str| status[field].as_i64().unwrap_or_default();
    let forbidden =
        |message: &str| Failure::forbidden(&GroupResource::new("policy", "poddisruptionbudget"), name, message);
    if count("observedGeneration") < metadata::generation(budget) {
        let message = format!("The disruption budget {name} is still being processed by the server.");
        return Err(Failure::too_many_requests(REFUSED, 10).with_cause(cause(message)));
    }
    if count("disruptionsAllowed") < 0 {
        return Err(forbidden("pdb disruptions allowed is negative"));
    }
    if status["disruptedPods"]
        .as_object()
        .is_some_and(|pods| pods.len() > DISRUPTED_PODS)
    {
        return Err(forbidden(
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
        ));
    }
    if count("disruptionsAllowed") > 0 {
        return Ok(());
    }
    Err(Failure::too_many_requests(REFUSED, 0).with_cause(cause(spent(name, status))))
}

/// Why a budget has nothing left.
fn spent(name: &str, status: &Value) -> String {
    let count = |field: &str| status[field].as_i64().unwrap_or_default();
    let conditions = status["conditions"].as_array().into_iter().flatten();
    let found = conditions
        .into_iter()
        .find(|entry| entry["type"] == "DisruptionAllowed" && entry["status"] == "False");
    let text = |field: &str| found.and_then(|entry| entry[field].as_str()).unwrap_or_default();
    let (reason, message) = (text("reason"), text("message"));
    let (healthy, desired) = (count("currentHealthy"), count("desiredHealthy"));
    if reason == "SyncFailed" && !message.is_empty() {
        format!("The disruption budget {name} does not allow evicting pods currently because it failed sync: {message}")
    } else if healthy <= desired {
        format!("The disruption budget {name} needs {desired} healthy pods and has {healthy} currently")
    } else if !message.is_empty() {
        format!("The disruption budget {name} does not allow evicting pods currently ({reason}): {message}")
    } else {
        format!("The disruption budget {name} does not allow evicting pods currently")
    }
}

fn cause(message: String) -> Cause {
    Cause {
        reason: "DisruptionBudget".to_owned(),
        message,
        field: String::new(),
    }
}

/// Marks the pod as a target of disruption, then deletes it.
async fn evict(core: &Core, call: &Call, mut options: DeleteOptions) -> Result<Value, Failure> {
    if !options.dry_run {
        let now = metadata::time(core.clock.now());
        let wanted = options.preconditions.clone();
        let next = |old: Option<&Value>| {
            let mut pod = old.ok_or_else(|| call.not_found())?.clone();
            crate::verbs::delete::check_preconditions(call, &wanted, &pod)?;
            let condition = json!({
                "type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
                "message": "Eviction API: evicting",
            });
            set_pod_condition(&mut pod, &condition, &now);
            Ok(pod)
        };
        let modification = Modification {
            uid: None,
            creates: false,
            next: &next,
        };
        let modified = core.modify(call, &modification).await?;
        if options.preconditions.resource_version.is_some()
            && let crate::call::Answer::Stored(entry) = &modified.answer
        {
            options.preconditions.resource_version = Some(entry.revision.to_string());
        }
    }
    let mut main = call.of(&call.namespace, &call.name);
    main.is_dry_run = options.dry_run;
    core.delete(&main, &options).await?;
    Ok(success())
}
