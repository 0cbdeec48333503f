//! The providers' objects behind machines, by Cluster API's contract: what is read of them, and the two writes that
//! belong to the Machine. Which providers there are is the table here; what they do is their business.
//!
//! Contract v1beta2 is read first and v1beta1 where a provider still speaks that, as the API of its kinds says nothing
//! of which it is.

use std::{borrow::Cow, fmt::Debug, marker::PhantomData, sync::Arc};

use hyperplane_api::{
    cluster_api::{machine::Machine, machine_set::MachineSet, machine_status::MachineAddress},
    constants::{groups, labels},
};
use hyperplane_objects::Kind;
use hyperplane_runtime::{Api, Context, Failure, Manager, ObjectKey, Scope, Store};
use k8s_openapi::{
    NamespaceResourceScope,
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference},
};
use kube::{
    Resource,
    api::{Patch, PatchParams},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The names of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindRow {
    /// Its group.
    pub group: &'static str,
    /// The version that is read and written.
    pub version: &'static str,
    /// The kind itself.
    pub kind: &'static str,
    /// The name of its resource.
    pub plural: &'static str,
}

/// Infrastructure machines that machines can be made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InfrastructureKind {
    /// Virtual machines of KubeVirt.
    Kubevirt,
    /// Hosts that the assisted installer has discovered.
    Agent,
}

impl InfrastructureKind {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Kubevirt, Self::Agent];

    /// The kind that a reference names; none if nobody here knows it.
    pub fn of(api_group: &str, kind: &str) -> Option<Self> {
        let is_meant = |known: &&Self| known.row().group == api_group && known.row().kind == kind;
        Self::ALL.iter().find(is_meant).copied()
    }

    /// Its names.
    pub const fn row(self) -> KindRow {
        match self {
            Self::Kubevirt => Kubevirt::ROW,
            Self::Agent => Agent::ROW,
        }
    }
}

/// A provider, as a type: watches know their kind when they are compiled.
pub(crate) trait Provider: Clone + Debug + Send + Sync + 'static {
    /// The names of its machines.
    const ROW: KindRow;
}

/// KubeVirt.
#[derive(Clone, Debug)]
pub(crate) struct Kubevirt;

/// The assisted installer.
#[derive(Clone, Debug)]
pub(crate) struct Agent;

impl Provider for Kubevirt {
    const ROW: KindRow = KindRow {
        group: groups::INFRASTRUCTURE,
        version: "v1alpha1",
        kind: "KubevirtMachine",
        plural: "kubevirtmachines",
    };
}

impl Provider for Agent {
    const ROW: KindRow = KindRow {
        group: groups::AGENT_PROVIDER,
        version: "v1beta1",
        kind: "AgentMachine",
        plural: "agentmachines",
    };
}

/// An infrastructure machine, as far as the contract goes.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(bound = "")]
pub(crate) struct Instance<P> {
    #[serde(default)]
    pub(crate) metadata: ObjectMeta,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) spec: Option<InstanceSpec>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<InstanceStatus>,
    #[serde(skip)]
    pub(crate) provider: PhantomData<fn() -> P>,
}

/// What a provider decides.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct InstanceSpec {
    #[serde(rename = "providerID", skip_serializing_if = "Option::is_none")]
    pub(crate) provider_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failure_domain: Option<String>,
}

/// What a provider reports.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct InstanceStatus {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) initialization: Option<InstanceInitialization>,
    /// The word of contract v1beta1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ready: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failure_domain: Option<String>,
    /// Why it failed for good, in one word of contract v1beta1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failure_reason: Option<String>,
    /// The same for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failure_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) addresses: Option<Vec<MachineAddress>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) conditions: Option<Vec<InstanceCondition>>,
}

/// How far an instance has come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct InstanceInitialization {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) provisioned: Option<bool>,
}

/// A condition in the form of either contract: v1beta1 had no generation and could leave out reason and message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct InstanceCondition {
    #[serde(rename = "type")]
    pub(crate) type_: String,
    pub(crate) status: String,
    pub(crate) reason: Option<String>,
    pub(crate) message: Option<String>,
}

impl<P: Provider> Kind for Instance<P> {
    fn from_json(json: &Value) -> serde_json::Result<Self> {
        hyperplane_objects::read(json)
    }

    fn to_json(&self) -> serde_json::Result<Value> {
        hyperplane_objects::write(self)
    }
}

impl<P: Provider> Resource for Instance<P> {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        P::ROW.kind.into()
    }

    fn group((): &()) -> Cow<'_, str> {
        P::ROW.group.into()
    }

    fn version((): &()) -> Cow<'_, str> {
        P::ROW.version.into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        P::ROW.plural.into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

/// What is known of the instance of a machine, whoever provides it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct InstanceFacts {
    pub(crate) metadata: ObjectMeta,
    pub(crate) spec: InstanceSpec,
    pub(crate) status: InstanceStatus,
}

impl InstanceFacts {
    /// Whether the instance exists.
    pub(crate) fn is_provisioned(&self) -> bool {
        let initialization = self.status.initialization.as_ref();
        let provisioned = initialization.and_then(|initialization| initialization.provisioned);
        provisioned.or(self.status.ready) == Some(true)
    }

    /// Its identity at the provider.
    pub(crate) fn provider_id(&self) -> Option<&str> {
        self.spec.provider_id.as_deref().filter(|id| !id.is_empty())
    }

    /// Where it stands: contract v1beta2 has it in the status, v1beta1 in the spec.
    pub(crate) fn failure_domain(&self) -> Option<&str> {
        let reported = self.status.failure_domain.as_deref();
        reported
            .or(self.spec.failure_domain.as_deref())
            .filter(|domain| !domain.is_empty())
    }

    /// Why it failed for good, as providers of contract v1beta1 say; none while it did not.
    pub(crate) fn failure(&self) -> Option<String> {
        let words = [&self.status.failure_reason, &self.status.failure_message];
        let words = words.into_iter().flatten().map(String::as_str);
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        (!words.is_empty()).then(|| words.join(": "))
    }

    /// What the provider says of it as a whole.
    pub(crate) fn readiness(&self) -> Option<&InstanceCondition> {
        let mut conditions = self.status.conditions.iter().flatten();
        conditions.find(|condition| condition.type_ == "Ready")
    }

    /// The controller that it has, as kind and name, if that is not the machine with this identity.
    pub(crate) fn foreign_controller(&self, machine_uid: Option<&str>) -> Option<String> {
        let mut owners = self.metadata.owner_references.iter().flatten();
        let controller = owners.find(|owner| owner.controller == Some(true))?;
        let is_ours = machine_uid == Some(controller.uid.as_str());
        (!is_ours).then(|| format!("{} {}", controller.kind, controller.name))
    }

    /// Whether the machine is its controller, no set is its owner any more, and it says to which cluster it belongs.
    pub(crate) fn is_adopted(&self, machine: &Machine) -> bool {
        let uid = machine.metadata.uid.as_deref();
        let owners = self.metadata.owner_references.as_deref().unwrap_or_default();
        let is_owned = !owners.iter().any(is_set)
            && owners
                .iter()
                .any(|owner| owner.controller == Some(true) && uid == Some(owner.uid.as_str()));
        let found = self.metadata.labels.as_ref();
        let cluster = found.and_then(|found| found.get(labels::CAPI_CLUSTER_NAME.as_str()));
        is_owned && cluster == Some(&machine.spec.cluster_name)
    }
}

/// The instances of all providers that are served here. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Instances {
    kubevirt: Option<Store<Instance<Kubevirt>>>,
    agent: Option<Store<Instance<Agent>>>,
}

impl Instances {
    /// The stores of a manager.
    pub(crate) fn new(manager: &Manager, scope: &Scope, served: &[InfrastructureKind]) -> Self {
        let serves = |kind| served.contains(&kind);
        Self {
            kubevirt: serves(InfrastructureKind::Kubevirt).then(|| manager.store(scope.watch())),
            agent: serves(InfrastructureKind::Agent).then(|| manager.store(scope.watch())),
        }
    }

    /// Whether instances of a kind are watched at all.
    pub(crate) const fn serves(&self, kind: InfrastructureKind) -> bool {
        match kind {
            InfrastructureKind::Kubevirt => self.kubevirt.is_some(),
            InfrastructureKind::Agent => self.agent.is_some(),
        }
    }

    /// One instance.
    pub(crate) fn get(&self, kind: InfrastructureKind, key: &ObjectKey) -> Option<InstanceFacts> {
        match kind {
            InfrastructureKind::Kubevirt => facts(self.kubevirt.as_ref(), key),
            InfrastructureKind::Agent => facts(self.agent.as_ref(), key),
        }
    }

    /// One instance as it is this moment, past the cache.
    pub(crate) async fn ask(
        &self,
        context: &Context,
        kind: InfrastructureKind,
        key: &ObjectKey,
    ) -> Result<Option<InstanceFacts>, Failure> {
        match kind {
            InfrastructureKind::Kubevirt => ask::<Kubevirt>(context, key).await,
            InfrastructureKind::Agent => ask::<Agent>(context, key).await,
        }
    }

    /// Makes a machine the controller of an instance, and names the cluster on it.
    pub(crate) async fn adopt(
        &self,
        context: &Context,
        kind: InfrastructureKind,
        instance: &InstanceFacts,
        machine: &Machine,
    ) -> Result<(), Failure> {
        let change = adoption(instance, machine);
        match kind {
            InfrastructureKind::Kubevirt => patch::<Kubevirt>(context, instance, &change).await,
            InfrastructureKind::Agent => patch::<Agent>(context, instance, &change).await,
        }
    }

    /// Asks the provider to remove an instance.
    pub(crate) async fn delete(
        &self,
        context: &Context,
        kind: InfrastructureKind,
        instance: &InstanceFacts,
    ) -> Result<(), Failure> {
        let metadata = instance.metadata.clone();
        match kind {
            InfrastructureKind::Kubevirt => context.delete(&bare::<Kubevirt>(metadata)).await,
            InfrastructureKind::Agent => context.delete(&bare::<Agent>(metadata)).await,
        }
    }
}

/// Under what an instance is found by the machines that refer to it.
pub(crate) fn index_value(kind: &str, namespace: &str, name: &str) -> String {
    format!("{kind}/{namespace}/{name}")
}

fn facts<P: Provider>(store: Option<&Store<Instance<P>>>, key: &ObjectKey) -> Option<InstanceFacts> {
    let found: Arc<Instance<P>> = store?.get(key)?;
    Some(facts_of(&found))
}

fn facts_of<P: Provider>(instance: &Instance<P>) -> InstanceFacts {
    InstanceFacts {
        metadata: instance.metadata.clone(),
        spec: instance.spec.clone().unwrap_or_default(),
        status: instance.status.clone().unwrap_or_default(),
    }
}

async fn ask<P: Provider>(context: &Context, key: &ObjectKey) -> Result<Option<InstanceFacts>, Failure> {
    let api: Api<Instance<P>> = Api::namespaced(context.client().clone(), &key.namespace);
    let found = api.get_opt(&key.name).await?;
    Ok(found.as_ref().map(facts_of))
}

/// The change that makes a machine the controller of an instance, over the state that was read. The set that made both was
/// the owner until now; if it stayed one, the instance of a machine that was let go by hand would stay with it.
fn adoption(instance: &InstanceFacts, machine: &Machine) -> Value {
    let owner = OwnerReference {
        api_version: Machine::api_version(&()).into_owned(),
        kind: Machine::kind(&()).into_owned(),
        name: machine.metadata.name.clone().unwrap_or_default(),
        uid: machine.metadata.uid.clone().unwrap_or_default(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    };
    let others = instance.metadata.owner_references.iter().flatten();
    let others = others.filter(|other| !is_set(other) && other.uid != owner.uid);
    let owners: Vec<&OwnerReference> = others.chain([&owner]).collect();
    json!({"metadata": {
        "uid": instance.metadata.uid,
        "resourceVersion": instance.metadata.resource_version,
        "labels": {(labels::CAPI_CLUSTER_NAME.as_str()): machine.spec.cluster_name},
        "ownerReferences": owners,
    }})
}

fn is_set(owner: &OwnerReference) -> bool {
    owner.kind == MachineSet::kind(&()) && owner.controller != Some(true)
}

async fn patch<P: Provider>(context: &Context, instance: &InstanceFacts, change: &Value) -> Result<(), Failure> {
    let metadata = &instance.metadata;
    let namespace = metadata.namespace.as_deref().unwrap_or_default();
    let api: Api<Instance<P>> = Api::namespaced(context.client().clone(), namespace);
    let parameters = PatchParams {
        field_manager: Some(context.field_manager().to_owned()),
        ..PatchParams::default()
    };
    let name = metadata.name.as_deref().unwrap_or_default();
    match api.patch(name, &parameters, &Patch::Merge(change)).await {
        // It went meanwhile.
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        result => Ok(result.map(drop)?),
    }
}

const fn bare<P: Provider>(metadata: ObjectMeta) -> Instance<P> {
    Instance {
        metadata,
        spec: None,
        status: None,
        provider: PhantomData,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instance(object: &Value) -> InstanceFacts {
        let read: Instance<Kubevirt> = hyperplane_objects::read(object).unwrap();
        InstanceFacts {
            metadata: read.metadata,
            spec: read.spec.unwrap_or_default(),
            status: read.status.unwrap_or_default(),
        }
    }

    #[test]
    fn kinds_are_found_by_their_reference() {
        for kind in InfrastructureKind::ALL {
            let row = kind.row();
            assert_eq!(InfrastructureKind::of(row.group, row.kind), Some(*kind));
        }
        assert_eq!(InfrastructureKind::of(groups::INFRASTRUCTURE, "AWSMachine"), None);
        assert_eq!(InfrastructureKind::of("example.com", "KubevirtMachine"), None);
    }

    #[test]
    fn either_contract_tells_that_an_instance_exists() {
        for (status, expected) in [
            (json!({}), false),
            (json!({"ready": true}), true),
            (json!({"ready": false}), false),
            (json!({"initialization": {"provisioned": true}}), true),
            (json!({"initialization": {"provisioned": false}, "ready": true}), false),
            (json!({"initialization": {}, "ready": true}), true),
        ] {
            let found = instance(&json!({"metadata": {"name": "a"}, "status": status}));
            assert_eq!(found.is_provisioned(), expected, "{status}");
        }
        let found = instance(&json!({
            "metadata": {"name": "a"}, "spec": {"failureDomain": "old", "providerID": "", "template": {}},
            "status": {"failureDomain": "new", "conditions": [{"type": "Ready", "status": "False"}]},
        }));
        assert_eq!(found.failure_domain(), Some("new"));
        assert_eq!(found.provider_id(), None, "an empty identity is none");
        assert_eq!(found.readiness().unwrap().status, "False");
    }

    fn machine() -> Machine {
        hyperplane_objects::read(json!({
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine",
            "metadata": {"name": "m", "namespace": "n", "uid": "machine-uid"},
            "spec": {"clusterName": "c", "bootstrap": {}, "infrastructureRef": {
                "apiGroup": groups::INFRASTRUCTURE, "kind": "KubevirtMachine", "name": "m"}},
        }))
        .unwrap()
    }

    #[test]
    fn an_adopted_instance_names_machine_and_cluster() {
        let set = json!({"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineSet", "name": "s", "uid": "s"});
        let other = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "o"});
        let known = instance(&json!({"metadata": {"name": "m", "uid": "u", "ownerReferences": [set, other]}}));
        assert!(!known.is_adopted(&machine()));
        let change = adoption(&known, &machine());
        assert_eq!(change["metadata"]["uid"], "u", "or another object would be changed");
        let fields: Vec<&String> = change.as_object().unwrap().keys().collect();
        assert_eq!(fields, ["metadata"], "what is left belongs to the provider");
        let adopted = instance(&change);
        assert!(adopted.is_adopted(&machine()));
        let owners = adopted.metadata.owner_references.as_deref().unwrap();
        let uids: Vec<&str> = owners.iter().map(|owner| owner.uid.as_str()).collect();
        assert_eq!(uids, ["o", "machine-uid"]);
        assert_eq!(adopted.foreign_controller(Some("machine-uid")), None);
        assert_eq!(
            adopted.foreign_controller(Some("another")),
            Some("Machine m".to_owned())
        );
    }
}
