//! When two templates make the same machine, and which set a template belongs to. What is not listed here replaces
//! nobody: metadata and taints, which only new machines get, and timeouts, the time until a machine counts as available
//! and its readiness gates, which all get.

use hyperplane_api::cluster_api::{common::ContractVersionedObjectReference, replicas::MachineTemplateSpec};
use hyperplane_rollout::fingerprint;
use jiff::Timestamp;

/// The hash of everything whose change replaces machines. `after` is the moment behind which machines have to be made,
/// where one was given and has passed.
pub(super) fn identity(template: &MachineTemplateSpec, after: Option<Timestamp>) -> String {
    let spec = &template.spec;
    let config = spec.bootstrap.config_ref.as_ref().map(reference);
    // With an object that makes the data, the Secret is filled in for each machine.
    let secret = match config {
        Some(_) => "",
        None => spec.bootstrap.data_secret_name.as_deref().unwrap_or_default(),
    };
    let after = after.map(|after| after.as_second().to_string());
    fingerprint([
        &*spec.cluster_name,
        config.as_deref().unwrap_or_default(),
        secret,
        &*reference(&spec.infrastructure_ref),
        spec.version.as_deref().unwrap_or_default(),
        spec.failure_domain.as_deref().unwrap_or_default(),
        after.as_deref().unwrap_or_default(),
    ])
}

fn reference(reference: &ContractVersionedObjectReference) -> String {
    format!("{}/{}/{}", reference.api_group, reference.kind, reference.name)
}

/// Copies from the deployment what machines that exist get, too.
pub(super) fn change_in_place(template: &mut MachineTemplateSpec, current: &MachineTemplateSpec) {
    template.spec.deletion.clone_from(&current.spec.deletion);
    template.spec.min_ready_seconds = current.spec.min_ready_seconds;
    template.spec.readiness_gates.clone_from(&current.spec.readiness_gates);
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn template(change: &Value) -> MachineTemplateSpec {
        let mut spec = json!({
            "clusterName": "c", "version": "1.36.2", "bootstrap": {"dataSecretName": "data"},
            "infrastructureRef": {"apiGroup": "g", "kind": "KubevirtMachineTemplate", "name": "t"},
        });
        for (field, value) in change["spec"].as_object().into_iter().flatten() {
            spec[field] = value.clone();
        }
        hyperplane_objects::read(json!({"metadata": change["metadata"], "spec": spec})).unwrap()
    }

    #[test]
    fn what_replaces_machines_and_what_does_not() {
        let before = identity(&template(&json!({})), None);
        for (change, rolls) in [
            (json!({"spec": {"version": "1.36.3"}}), true),
            (json!({"spec": {"bootstrap": {"dataSecretName": "other"}}}), true),
            (
                json!({"spec": {"infrastructureRef": {"apiGroup": "g", "kind": "KubevirtMachineTemplate", "name": "u"}}}),
                true,
            ),
            (json!({"spec": {"failureDomain": "zone"}}), true),
            (json!({"metadata": {"labels": {"a": "b"}}}), false),
            (json!({"metadata": {"annotations": {"a": "b"}}}), false),
            (json!({"spec": {"deletion": {"nodeDrainTimeoutSeconds": 60}}}), false),
            (json!({"spec": {"minReadySeconds": 60}}), false),
        ] {
            assert_eq!(identity(&template(&change), None) != before, rolls, "{change}");
        }
        assert_ne!(identity(&template(&json!({})), Some(Timestamp::UNIX_EPOCH)), before);
    }
}
