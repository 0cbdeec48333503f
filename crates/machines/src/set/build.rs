//! A machine and its instance, made from the template of a set. Pure.

use std::collections::BTreeMap;

use hyperplane_api::{
    cluster_api::{
        common::{ContractVersionedObjectReference, KindName, ObjectName},
        machine::{Machine, MachineSpec},
        machine_set::MachineSet,
    },
    constants::{annotations, labels, ours},
};
use hyperplane_runtime::Failure;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{
    Resource as _, ResourceExt as _,
    api::{ApiResource, DynamicObject},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    InfrastructureKind,
    metadata::{label_value, of_pool, pair},
    owners::control_by,
};

/// What the kind of a template ends with, by Cluster API's contract.
const TEMPLATE: &str = "Template";

/// What instances are made from, as far as the contract goes.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct InstanceTemplate {
    metadata: TemplateMetadata,
    spec: Map<String, Value>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct TemplateMetadata {
    labels: BTreeMap<String, String>,
    annotations: BTreeMap<String, String>,
}

/// The kind of the instances that a set makes, if this manager serves it.
pub(super) fn kind(set: &MachineSet, served: &[InfrastructureKind]) -> Result<InfrastructureKind, Failure> {
    let reference = &set.spec.template.spec.infrastructure_ref;
    let kind = reference
        .kind
        .as_str()
        .strip_suffix(TEMPLATE)
        .and_then(|kind| InfrastructureKind::of(reference.api_group.as_str(), kind));
    kind.filter(|kind| served.contains(kind)).ok_or_else(|| {
        Failure::user(
            "spec.template.spec.infrastructureRef",
            format!(
                "{} of {} is no template that this manager serves",
                reference.kind, reference.api_group
            ),
            "refer to a template of a provider that is installed",
        )
    })
}

/// Where instances of a kind are.
pub(super) fn instances(kind: InfrastructureKind) -> ApiResource {
    let row = kind.row();
    ApiResource {
        group: row.group.to_owned(),
        version: row.version.to_owned(),
        api_version: format!("{}/{}", row.group, row.version),
        kind: row.kind.to_owned(),
        plural: row.plural.to_owned(),
    }
}

/// Where the templates of a kind are.
pub(super) fn templates(kind: InfrastructureKind) -> ApiResource {
    let instances = instances(kind);
    let singular = instances.plural.strip_suffix('s').unwrap_or(&instances.plural);
    ApiResource {
        kind: format!("{}{TEMPLATE}", instances.kind),
        plural: format!("{singular}templates"),
        ..instances
    }
}

/// What a provider's template says of the instances that are made from it.
pub(super) fn instance_template(template: &DynamicObject) -> Result<InstanceTemplate, Failure> {
    let content = template.data.pointer("/spec/template").cloned().unwrap_or_default();
    hyperplane_objects::read(&content).map_err(Failure::retry)
}

/// The instance of a machine. The Machine becomes its controller later; until then it goes with its set.
pub(super) fn instance(
    set: &MachineSet,
    name: &str,
    kind: InfrastructureKind,
    template: &InstanceTemplate,
) -> DynamicObject {
    let reference = &set.spec.template.spec.infrastructure_ref;
    let mut notes = template.metadata.annotations.clone();
    notes.extend(of_pool(set));
    notes.extend([
        pair(annotations::CLONED_FROM_NAME, reference.name.as_str()),
        pair(
            annotations::CLONED_FROM_GROUP_KIND,
            &format!("{}.{}", reference.kind, reference.api_group),
        ),
    ]);
    let mut marks = template.metadata.labels.clone();
    marks.extend(common_labels(set));
    let mut object = DynamicObject::new(name, &instances(kind)).data(json!({"spec": template.spec}));
    object.metadata = ObjectMeta {
        name: Some(name.to_owned()),
        namespace: set.namespace(),
        labels: Some(marks),
        annotations: Some(notes),
        owner_references: set.owner_ref(&()).map(|owner| vec![owner]),
        ..ObjectMeta::default()
    };
    object
}

/// A machine of a set. Labels and annotations of the template reach it now and never again.
pub(super) fn machine(set: &MachineSet, number: u64, name: &str, kind: InfrastructureKind) -> Machine {
    let template = &set.spec.template;
    let metadata = template.metadata.clone().unwrap_or_default();
    let mut marks = metadata.labels;
    marks.extend(common_labels(set));
    let mut notes = metadata.annotations;
    notes.extend(of_pool(set));
    notes.extend([pair(ours::MACHINE_NUMBER, &number.to_string())]);
    let mut machine = Machine::new(
        name,
        MachineSpec {
            cluster_name: set.spec.cluster_name.clone(),
            infrastructure_ref: ContractVersionedObjectReference {
                api_group: template.spec.infrastructure_ref.api_group.clone(),
                kind: KindName::stored(kind.row().kind),
                name: ObjectName::stored(name),
            },
            provider_id: None,
            ..template.spec.clone()
        },
    );
    machine.metadata = ObjectMeta {
        name: Some(name.to_owned()),
        namespace: set.namespace(),
        labels: Some(marks),
        annotations: Some(notes),
        owner_references: control_by(set).map(|owner| vec![owner]),
        ..ObjectMeta::default()
    };
    machine
}

/// The selector of the instances of a set.
pub(super) fn instances_of(set: &MachineSet) -> String {
    format!("{}={}", labels::CAPI_SET_NAME, label_value(&set.name_any()))
}

fn common_labels(set: &MachineSet) -> BTreeMap<String, String> {
    let cluster = set.spec.cluster_name.clone();
    BTreeMap::from([
        ours::label(),
        (labels::CAPI_CLUSTER_NAME.as_str().to_owned(), cluster),
        (labels::CAPI_SET_NAME.as_str().to_owned(), label_value(&set.name_any())),
    ])
}
