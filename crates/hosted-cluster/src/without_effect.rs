//! Objects of kinds that nothing acts on: a condition on each says so, to whoever waits for it. Which kinds these are and
//! what is said, the table of `hyperplane_api::unused` knows; here is only who looks and writes.

use std::{borrow::Cow, collections::BTreeSet, marker::PhantomData, sync::Arc};

use hyperplane_api::{
    audit_log_persistence::audit_log_persistence_config::AuditLogPersistenceConfig,
    certificates::certificate_revocation_request::CertificateRevocationRequest, constants::ours,
    hypershift::etcd_backup::HCPEtcdBackup, karpenter::openshift_ec2_node_class::OpenshiftEC2NodeClass,
    resource::Defined, scheduling::cluster_sizing_configuration::ClusterSizingConfiguration, unused::UnusedKind,
};
use hyperplane_objects::Kind;
use hyperplane_runtime::{
    Context, Failure, Manager, Next, Reconciler, Watch,
    conditions::{Observation, merge},
};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use kube::Resource;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the names of the controllers begin with, and with them those of their field managers for ever.
const NAME: &str = "without-effect";

/// Adds a controller for each of these kinds that the management cluster serves, by the names of their definitions. Kinds
/// that controllers make objects of are not among them: nobody waits for those.
pub fn register_without_effect(manager: &mut Manager, served: &BTreeSet<String>) {
    add::<HCPEtcdBackup>(manager, served);
    add::<CertificateRevocationRequest>(manager, served);
    add::<ClusterSizingConfiguration>(manager, served);
    add::<AuditLogPersistenceConfig>(manager, served);
    add::<OpenshiftEC2NodeClass>(manager, served);
}

fn add<K: Kind + Defined>(manager: &mut Manager, served: &BTreeSet<String>) {
    let definition = K::definition();
    let row = UnusedKind::named(&definition.name()).filter(|_| served.contains(&definition.name()));
    if let Some(row) = row {
        let name = format!("{NAME}-{}", definition.plural);
        let reconciler = WithoutEffect::<K>(row, PhantomData);
        manager.controller(&name, Watch::all(), reconciler).register();
    }
}

/// Says on objects of a kind that nothing acts on them.
struct WithoutEffect<K>(&'static UnusedKind, PhantomData<fn() -> K>);

impl<K: Kind> Reconciler for WithoutEffect<K> {
    type Object = Idle<K>;

    async fn reconcile(&self, context: &Context, object: Arc<Idle<K>>) -> Result<Next, Failure> {
        let status = status(self.0, &object.metadata, &object.status, context.now());
        context.apply_status(object.as_ref(), &status).await?;
        Ok(Next::OnChange)
    }
}

/// The status of an object that nothing acts on. Conditions of others are not part of it, and stay.
fn status(kind: &UnusedKind, metadata: &ObjectMeta, before: &IdleStatus, now: Timestamp) -> IdleStatus {
    let told = Observation::holds(
        ours::WITHOUT_EFFECT.as_str(),
        ours::NOT_ACTED_ON.as_str(),
        kind.message(),
    );
    IdleStatus {
        conditions: merge(&before.conditions, [told], metadata.generation, now),
    }
}

/// An object of a kind without what is wanted of it, which nobody here reads.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(bound = "")]
struct Idle<K> {
    #[serde(default)]
    metadata: ObjectMeta,
    #[serde(default)]
    status: IdleStatus,
    #[serde(skip)]
    kind: PhantomData<fn() -> K>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
struct IdleStatus {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    conditions: Vec<Condition>,
}

impl<K: Kind> Kind for Idle<K> {
    fn from_json(json: &Value) -> serde_json::Result<Self> {
        hyperplane_objects::read(json)
    }

    fn to_json(&self) -> serde_json::Result<Value> {
        hyperplane_objects::write(self)
    }
}

// `view_of_kind!` is for types without parameters.
impl<K: Resource<DynamicType = ()>> Resource for Idle<K> {
    type DynamicType = ();
    type Scope = K::Scope;

    fn kind((): &()) -> Cow<'_, str> {
        K::kind(&())
    }

    fn group((): &()) -> Cow<'_, str> {
        K::group(&())
    }

    fn version((): &()) -> Cow<'_, str> {
        K::version(&())
    }

    fn plural((): &()) -> Cow<'_, str> {
        K::plural(&())
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}
