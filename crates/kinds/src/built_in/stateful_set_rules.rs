//! What a StatefulSet and its changes must be.

use hyperplane_schema::{BadValue, names::dns_1123_label};
use serde_json::{Map, Value, json};

use super::{
    volume_rules::validate_claim_template,
    workload_rules::{shown_strategy, validate_selector_and_template},
};
use crate::{
    Target,
    complaints::{Complaints, Path, is_different},
    labels::validate_labels,
    value::{at, carry_over, entry, list, text},
};

const SPECIFICATION: Path<'static> = Path::new("spec");
const CHANGEABLE: &str = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

pub(super) fn validate_stateful_set(
    object: &Value,
    old: Option<&Value>,
    target: Target<'_>,
    complaints: &mut Complaints,
) {
    if target == Target::Status {
        return;
    }
    let specification = &object["spec"];
    let path = &SPECIFICATION;
    let policy = text(specification, "podManagementPolicy");
    if !matches!(policy, "OrderedReady" | "Parallel") {
        complaints.invalid(
            &path.child("podManagementPolicy"),
            policy,
            "must be 'OrderedReady' or 'Parallel'",
        );
    }
    validate_stateful_strategy(
        &specification["updateStrategy"],
        &path.child("updateStrategy"),
        complaints,
    );
    if old.is_none() {
        let templates = path.child("volumeClaimTemplates");
        for (index, claim) in list(specification, "volumeClaimTemplates").iter().enumerate() {
            validate_claim_template(claim, &templates.index(index), complaints);
        }
    }
    for field in ["replicas", "minReadySeconds"] {
        complaints.not_negative(&path.child(field), specification.get(field));
    }
    let service = text(specification, "serviceName");
    if old.is_none() && !service.is_empty() {
        complaints.each(&path.child("serviceName"), service, dns_1123_label(service));
    }
    validate_stateful_template(specification, path, complaints);
    if old.is_some_and(|old| is_stateful_set_changed(specification, &old["spec"])) {
        complaints.forbidden(path, CHANGEABLE);
    }
}

fn validate_stateful_strategy(strategy: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let rolling = strategy.get("rollingUpdate");
    match text(strategy, "type") {
        "OnDelete" => {
            if let Some(rolling) = rolling {
                let detail = "only allowed for updateStrategy 'RollingUpdate'";
                let partition = rolling.get("partition").cloned().unwrap_or(Value::Null);
                let unavailable = rolling.get("maxUnavailable").cloned().unwrap_or(Value::Null);
                let shown = format!(r#"{{"Partition":{partition},"MaxUnavailable":{unavailable}}}"#);
                complaints.invalid(&path.child("rollingUpdate"), BadValue::Text(shown), detail);
            }
        }
        "RollingUpdate" => {
            let path = path.child("rollingUpdate");
            let partition = rolling.and_then(|rolling| rolling.get("partition"));
            complaints.not_negative(&path.child("partition"), partition);
        }
        _ => {
            complaints.invalid(path, shown_strategy(strategy), "must be 'RollingUpdate' or 'OnDelete'");
        }
    }
}

/// The template, with the volumes that its claims will be.
fn validate_stateful_template(specification: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let mut whole = specification.clone();
    let claims: Vec<Value> = list(specification, "volumeClaimTemplates")
        .iter()
        .map(|claim| {
            let name = text(claim, "metadata.name");
            json!({ "name": name, "persistentVolumeClaim": { "claimName": name } })
        })
        .collect();
    if let Some(map) = whole.as_object_mut() {
        let template = entry(entry(map, "template"), "spec");
        template.remove("hostname");
        template.remove("subdomain");
        add_volumes(template, claims);
    }
    validate_selector_and_template(&whole, "statefulset", "StatefulSet", path, complaints);
    // Upstream looks at the metadata of the template twice.
    let template = &specification["template"];
    let path = path.child("template");
    validate_labels(at(template, "metadata.labels"), &path.child("labels"), complaints);
}

fn add_volumes(specification: &mut Map<String, Value>, mut claims: Vec<Value>) {
    let others = specification
        .get("volumes")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    let names: Vec<String> = claims.iter().map(|claim| text(claim, "name").to_owned()).collect();
    claims.extend(
        others
            .into_iter()
            .filter(|volume| !names.iter().any(|name| name == text(volume, "name"))),
    );
    if !claims.is_empty() {
        specification.insert("volumes".to_owned(), Value::Array(claims));
    }
}

fn is_stateful_set_changed(new: &Value, old: &Value) -> bool {
    let mut new = new.clone();
    for field in [
        "replicas",
        "template",
        "updateStrategy",
        "minReadySeconds",
        "ordinals",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
    ] {
        carry_over(&mut new, old, field);
    }
    is_different(Some(&new), Some(old))
}
