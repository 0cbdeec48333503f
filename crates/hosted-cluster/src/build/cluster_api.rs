//! What stands for a cluster in Cluster API: a Cluster that holds its control plane and its infrastructure together. A
//! platform without infrastructure has neither.

use hyperplane_api::{
    cluster_api::{
        cluster::{Cluster, ClusterSpec},
        common::{ApiGroup, ContractVersionedObjectReference, KindName, ObjectName},
    },
    constants::{annotations, labels, ours},
    hypershift::{endpoint::ApiEndpoint, hosted_control_plane::HostedControlPlane},
};
use hyperplane_platforms::{Facts, Infrastructure, InfrastructureObject};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource as _;

use super::{Blueprint, control_plane_name};
use crate::metadata;

/// The objects of a cluster in Cluster API.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClusterApi {
    pub(crate) infrastructure: InfrastructureObject,
    pub(crate) cluster: Cluster,
}

pub(super) fn build(blueprint: &Blueprint<'_>) -> (Infrastructure, Option<ClusterApi>) {
    if annotations::DISABLE_MACHINE_MANAGEMENT.is_true(blueprint.cluster) {
        return (Infrastructure::None, None);
    }
    let endpoint = endpoint(blueprint);
    let facts = Facts {
        cluster: blueprint.cluster,
        infra_id: blueprint.infra_id,
        namespace: blueprint.namespace,
        endpoint: endpoint.as_ref(),
        ignition_endpoint: blueprint.ignition_endpoint,
    };
    let infrastructure = blueprint.platform.infrastructure(&facts);
    let objects = match &infrastructure {
        Infrastructure::Object(object) => {
            let mut object = object.clone();
            mark(blueprint, &mut object);
            Some(ClusterApi {
                cluster: cluster(blueprint, &object),
                infrastructure: object,
            })
        }
        Infrastructure::None | Infrastructure::Waiting(_) => None,
    };
    (infrastructure, objects)
}

fn endpoint(blueprint: &Blueprint<'_>) -> Option<ApiEndpoint> {
    let status = blueprint.seen.control_plane.as_ref()?.status.as_ref()?;
    status.control_plane_endpoint.clone()
}

/// Says whose an object of a platform is.
fn mark(blueprint: &Blueprint<'_>, object: &mut InfrastructureObject) {
    let metadata: &mut ObjectMeta = match object {
        InfrastructureObject::KubeVirt(object) => &mut object.metadata,
        InfrastructureObject::Agent(object) => &mut object.metadata,
    };
    let ours = metadata::in_namespace(blueprint.cluster, blueprint.namespace, "");
    metadata
        .labels
        .get_or_insert_default()
        .extend(ours.labels.unwrap_or_default());
    metadata.labels.get_or_insert_default().insert(
        labels::CAPI_CLUSTER_NAME.as_str().to_owned(),
        blueprint.infra_id.to_owned(),
    );
    metadata
        .annotations
        .get_or_insert_default()
        .extend(ours.annotations.unwrap_or_default());
}

fn cluster(blueprint: &Blueprint<'_>, infrastructure: &InfrastructureObject) -> Cluster {
    let spec = ClusterSpec {
        control_plane_ref: Some(ContractVersionedObjectReference {
            api_group: ApiGroup::stored(HostedControlPlane::group(&())),
            kind: KindName::stored(HostedControlPlane::kind(&())),
            name: ObjectName::stored(control_plane_name(blueprint.cluster)),
        }),
        infrastructure_ref: Some(infrastructure.reference()),
        // Its controllers fill in the endpoint from the control plane; all that changes here later is the pause.
        paused: Some(false),
        ..ClusterSpec::default()
    };
    let mut cluster = Cluster::new(blueprint.infra_id, spec);
    cluster.metadata = blueprint.metadata(blueprint.infra_id);
    // Machines follow the scope of their Cluster.
    let scope = annotations::SCOPE.of(blueprint.cluster);
    let scope = scope.map(|scope| metadata::pair(annotations::SCOPE, scope));
    cluster.metadata.annotations.get_or_insert_default().extend(scope);
    cluster
}

/// The Cluster as it is, paused or not.
pub(crate) fn cluster_with_pause(live: &Cluster, is_paused: bool) -> Cluster {
    let name = live.metadata.name.clone().unwrap_or_default();
    let spec = ClusterSpec {
        control_plane_ref: live.spec.control_plane_ref.clone(),
        infrastructure_ref: live.spec.infrastructure_ref.clone(),
        paused: Some(is_paused),
        ..ClusterSpec::default()
    };
    let mut cluster = Cluster::new(&name, spec);
    cluster.metadata.namespace.clone_from(&live.metadata.namespace);
    let (key, value) = ours::label();
    cluster.metadata.labels = Some([(key, value)].into());
    let kept = [annotations::CLUSTER, annotations::SCOPE].into_iter();
    let kept = kept.filter_map(|key| Some(metadata::pair(key, key.of(live)?)));
    cluster.metadata.annotations = Some(kept.collect());
    cluster
}
