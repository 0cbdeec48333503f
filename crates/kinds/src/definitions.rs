//! OpenAPI definitions of the built-in types: the facts of the table, with the descriptions of the generated client.
//! Made when somebody asks; servers that nobody asks never pay for them.

use std::{collections::BTreeMap, sync::LazyLock};

use k8s_openapi::{
    api::{
        admissionregistration::v1 as admissionregistration, apps::v1 as apps, authentication::v1 as authentication,
        authorization::v1 as authorization, autoscaling::v1 as autoscaling_v1, autoscaling::v2 as autoscaling_v2,
        batch::v1 as batch, certificates::v1 as certificates, coordination::v1 as coordination, core::v1 as core,
        discovery::v1 as discovery, events::v1 as events, flowcontrol::v1 as flowcontrol, networking::v1 as networking,
        node::v1 as node, policy::v1 as policy, rbac::v1 as rbac, resource::v1 as resource,
        scheduling::v1 as scheduling, storage::v1 as storage,
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1 as apiextensions,
    apimachinery::pkg::apis::meta::v1 as meta,
    kube_aggregator::pkg::apis::apiregistration::v1 as apiregistration,
};
use schemars::{SchemaGenerator, generate::SchemaSettings};
use serde_json::Value;

use crate::types::{Types, as_all_of};

/// What is said of a type and of its fields.
#[derive(Debug, Default)]
struct Description {
    text: Option<String>,
    fields: BTreeMap<String, String>,
}

/// Constants, made once: every server of the process shows the same documents.
static DESCRIPTIONS: LazyLock<BTreeMap<String, Description>> = LazyLock::new(descriptions);

/// The definition of a built-in type by its name in OpenAPI, such as `io.k8s.api.core.v1.ConfigMap`.
pub fn definition(name: &str) -> Option<Value> {
    let mut schema = Types::shared().definition(name)?;
    let description = DESCRIPTIONS.get(name);
    if let Some(text) = description.and_then(|description| description.text.as_ref()) {
        schema["description"] = Value::from(text.as_str());
    }
    for (field, property) in schema
        .get_mut("properties")
        .and_then(Value::as_object_mut)
        .into_iter()
        .flatten()
    {
        if let Some(text) = description.and_then(|description| description.fields.get(field)) {
            property["description"] = Value::from(text.as_str());
        }
        *property = as_all_of(property.take());
    }
    Some(schema)
}

/// Notes every type that the given ones lead to.
macro_rules! describe {
    ($generator:ident: $($module:ident { $($kind:ident),* $(,)? })*) => {
        $($( $generator.subschema_for::<$module::$kind>(); )*)*
    };
}

fn descriptions() -> BTreeMap<String, Description> {
    let mut generator = SchemaSettings::openapi3().into_generator();
    describe_core(&mut generator);
    describe_groups(&mut generator);
    describe_machinery(&mut generator);
    let definitions = generator.take_definitions(false);
    definitions
        .into_iter()
        .map(|(name, schema)| (name, description(&schema)))
        .collect()
}

fn describe_core(generator: &mut SchemaGenerator) {
    describe!(generator:
        core {
            Binding, ComponentStatus, ConfigMap, Endpoints, Event, LimitRange, Namespace, Node, PersistentVolume,
            PersistentVolumeClaim, Pod, PodTemplate, ReplicationController, ResourceQuota, Secret, Service,
            ServiceAccount,
        }
    );
}

fn describe_groups(generator: &mut SchemaGenerator) {
    describe!(generator:
        admissionregistration {
            MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, MutatingWebhookConfiguration,
            ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, ValidatingWebhookConfiguration,
        }
        apps { ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet }
        authentication { SelfSubjectReview, TokenRequest, TokenReview }
        authorization {
            LocalSubjectAccessReview, SelfSubjectAccessReview, SelfSubjectRulesReview, SubjectAccessReview,
        }
        autoscaling_v1 { HorizontalPodAutoscaler, Scale }
        autoscaling_v2 { HorizontalPodAutoscaler }
        batch { CronJob, Job }
        certificates { CertificateSigningRequest }
        coordination { Lease }
        discovery { EndpointSlice }
        events { Event }
        flowcontrol { FlowSchema, PriorityLevelConfiguration }
        networking { IPAddress, Ingress, IngressClass, NetworkPolicy, ServiceCIDR }
        node { RuntimeClass }
        policy { Eviction, PodDisruptionBudget }
        rbac { ClusterRole, ClusterRoleBinding, Role, RoleBinding }
        resource { DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice }
        scheduling { PriorityClass }
        storage {
            CSIDriver, CSINode, CSIStorageCapacity, StorageClass, VolumeAttachment, VolumeAttributesClass,
        }
    );
}

fn describe_machinery(generator: &mut SchemaGenerator) {
    describe!(generator:
        apiextensions { CustomResourceDefinition }
        apiregistration { APIService }
        meta { APIGroup, APIGroupList, APIResourceList, APIVersions, DeleteOptions, ListMeta, Status }
    );
}

fn description(schema: &Value) -> Description {
    let text = |schema: &Value| schema.get("description").and_then(Value::as_str).map(ToOwned::to_owned);
    let properties = schema.get("properties").and_then(Value::as_object);
    Description {
        text: text(schema),
        fields: properties
            .into_iter()
            .flatten()
            .filter_map(|(name, property)| Some((name.clone(), text(property)?)))
            .collect(),
    }
}
