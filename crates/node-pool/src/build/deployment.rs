//! The MachineDeployment of a pool. What rolls machines comes from the target, or stays as it is where the roll is held;
//! everything else follows the pool at once.

use std::collections::BTreeMap;

use hyperplane_api::{
    cluster_api::{
        common::{ContractVersionedObjectReference, TemplateMetadata},
        machine::{Bootstrap, MachineDeletionSpec, MachineSpec},
        machine_deployment::{
            MachineDeployment, MachineDeploymentRollingUpdate, MachineDeploymentRollout, MachineDeploymentSpec,
            MachineDeploymentStrategy, MachineDeploymentStrategyType,
        },
        replicas::MachineTemplateSpec,
    },
    constants::{annotations, labels, ours},
    hypershift::node_pool::{
        NodePool,
        management::{ReplaceUpgrade, UpgradeStrategy},
    },
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::ResourceExt as _;

use crate::{
    metadata::{Owner, annotation, label},
    names,
    target::Target,
    validate,
};

/// How long the removal of a Node is tried. A hosted API server that is away for a moment must not leave Nodes behind, and
/// one that never comes back must not hold machines for ever. The ten seconds that unset means are over before it restarts.
const NODE_DELETION_SECONDS: i32 = 600;

/// What rolls machines when it changes.
struct Parts {
    version: Option<String>,
    release_version: Option<String>,
    data_secret_name: Option<String>,
    infrastructure_ref: ContractVersionedObjectReference,
}

/// The deployment for a target, or as it is made where there is none. None where nobody makes machines, or where none may be
/// made yet.
pub(super) fn build(
    owner: &Owner<'_>,
    target: Option<&Target>,
    live: Option<&MachineDeployment>,
) -> Option<MachineDeployment> {
    let pool = owner.pool;
    let parts = match target {
        Some(target) => of_target(pool, target)?,
        None => of_live(live?),
    };
    let name = names::machines(pool);
    let spec = MachineDeploymentSpec {
        cluster_name: owner.infra_id.to_owned(),
        replicas: Some(replicas(pool, live.and_then(|live| live.spec.replicas))),
        selector: LabelSelector {
            match_labels: Some(owner.selector()),
            match_expressions: None,
        },
        template: template(owner, parts, live),
        rollout: rollout(&pool.spec.management.replace, live),
        remediation: None,
        machine_naming: None,
        deletion: None,
        paused: None,
    };
    let mut deployment = MachineDeployment::new(&name, spec);
    deployment.metadata = owner.metadata(&name);
    if pool.spec.auto_scaling.is_some() {
        // The number is the autoscaler's. To leave it out would take it away where it was ours before; so the one that was
        // seen is written back, and only onto the state in which it was seen.
        deployment.metadata.resource_version = live.and_then(|live| live.metadata.resource_version.clone());
    }
    let (min, max) = bounds(pool);
    deployment.metadata.annotations.get_or_insert_default().extend([
        annotation(annotations::AUTOSCALER_MIN_SIZE, &min.to_string()),
        annotation(annotations::AUTOSCALER_MAX_SIZE, &max.to_string()),
    ]);
    Some(deployment)
}

fn of_target(pool: &NodePool, target: &Target) -> Option<Parts> {
    let version = target.release.version.number().to_owned();
    Some(Parts {
        version: Some(version.clone()),
        release_version: Some(version),
        data_secret_name: Some(names::user_data(pool, &target.hash)),
        infrastructure_ref: target.template.as_ref()?.reference()?,
    })
}

fn of_live(live: &MachineDeployment) -> Parts {
    let spec = &live.spec.template.spec;
    let release =
        metadata_of(Some(live)).and_then(|metadata| metadata.annotations.get(annotations::RELEASE_VERSION.as_str()));
    Parts {
        version: spec.version.clone(),
        release_version: release.cloned(),
        data_secret_name: spec.bootstrap.data_secret_name.clone(),
        infrastructure_ref: spec.infrastructure_ref.clone(),
    }
}

fn template(owner: &Owner<'_>, parts: Parts, live: Option<&MachineDeployment>) -> MachineTemplateSpec {
    let pool = owner.pool;
    let mut all_labels = owner.selector();
    all_labels.extend([ours::label(), label(labels::NODE_POOL, &names::label(pool))]);
    all_labels.extend(labels_of_nodes(pool, live));
    MachineTemplateSpec {
        metadata: Some(TemplateMetadata {
            labels: all_labels,
            annotations: annotations_of(owner, parts.release_version.as_deref(), live),
        }),
        spec: MachineSpec {
            cluster_name: owner.infra_id.to_owned(),
            bootstrap: Bootstrap {
                config_ref: None,
                data_secret_name: parts.data_secret_name,
            },
            infrastructure_ref: parts.infrastructure_ref,
            version: parts.version,
            provider_id: None,
            failure_domain: None,
            min_ready_seconds: None,
            readiness_gates: Vec::new(),
            deletion: Some(deletion(pool, live)),
            taints: Vec::new(),
        },
    }
}

/// How long the steps of a deletion may take. What cannot be read stays as it is.
fn deletion(pool: &NodePool, live: Option<&MachineDeployment>) -> MachineDeletionSpec {
    let in_force = live.and_then(|live| live.spec.template.spec.deletion.as_ref());
    MachineDeletionSpec {
        node_drain_timeout_seconds: validate::seconds(
            pool.spec.node_drain_timeout.as_ref(),
            in_force.and_then(|deletion| deletion.node_drain_timeout_seconds),
        ),
        node_volume_detach_timeout_seconds: validate::seconds(
            pool.spec.node_volume_detach_timeout.as_ref(),
            in_force.and_then(|deletion| deletion.node_volume_detach_timeout_seconds),
        ),
        node_deletion_timeout_seconds: Some(NODE_DELETION_SECONDS),
    }
}

/// Labels that machines carry for their nodes. An API server would refuse a machine with one that is none, so that those
/// that machines are made with stay.
fn labels_of_nodes(pool: &NodePool, live: Option<&MachineDeployment>) -> BTreeMap<String, String> {
    if validate::has_labels(pool) {
        let all = pool.spec.node_labels.iter();
        return all
            .map(|(key, value)| (labels::MANAGED_NODE_LABEL.key(key), value.clone()))
            .collect();
    }
    let all = metadata_of(live).into_iter().flat_map(|metadata| &metadata.labels);
    let of_nodes = all.filter(|(key, _)| key.starts_with(labels::MANAGED_NODE_LABEL.as_str()));
    of_nodes.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Annotations of machines.
fn annotations_of(
    owner: &Owner<'_>,
    release_version: Option<&str>,
    live: Option<&MachineDeployment>,
) -> BTreeMap<String, String> {
    let mut all = owner.annotations();
    all.extend(release_version.map(|version| annotation(annotations::RELEASE_VERSION, version)));
    all.extend(taints(owner.pool, live).map(|taints| annotation(annotations::TAINTS, &taints)));
    all
}

/// Taints are put on a node once, when it is new, by who reads them here. Those that no node can have leave the ones that
/// machines are made with.
fn taints(pool: &NodePool, live: Option<&MachineDeployment>) -> Option<String> {
    if !validate::has_taints(pool) {
        return metadata_of(live)?
            .annotations
            .get(annotations::TAINTS.as_str())
            .cloned();
    }
    let taints = Some(&pool.spec.taints).filter(|taints| !taints.is_empty())?;
    Some(serde_json::to_string(taints).expect("taints have text keys only, and writing to memory does not fail"))
}

fn metadata_of(live: Option<&MachineDeployment>) -> Option<&TemplateMetadata> {
    live?.spec.template.metadata.as_ref()
}

/// How machines are replaced. What cannot be carried out leaves it as it is.
fn rollout(replace: &ReplaceUpgrade, live: Option<&MachineDeployment>) -> Option<MachineDeploymentRollout> {
    if !validate::has_pace(replace)
        && let Some(live) = live
    {
        return live.spec.rollout.clone();
    }
    Some(MachineDeploymentRollout {
        after: None,
        strategy: Some(strategy(replace)),
    })
}

fn strategy(replace: &ReplaceUpgrade) -> MachineDeploymentStrategy {
    if replace.strategy == Some(UpgradeStrategy::OnDelete) {
        return MachineDeploymentStrategy {
            r#type: MachineDeploymentStrategyType::OnDelete,
            rolling_update: None,
        };
    }
    let update = replace.rolling_update.clone().unwrap_or_default();
    MachineDeploymentStrategy {
        r#type: MachineDeploymentStrategyType::RollingUpdate,
        rolling_update: Some(MachineDeploymentRollingUpdate {
            max_surge: Some(update.max_surge.unwrap_or_else(|| 1.into())),
            max_unavailable: Some(update.max_unavailable.unwrap_or_else(|| 0.into())),
        }),
    }
}

/// How many machines there are to be: as many as the pool says, or within its bounds as many as there are. A number that
/// makes no sense takes none away.
pub(crate) fn replicas(pool: &NodePool, live: Option<i32>) -> i32 {
    if pool.spec.auto_scaling.is_none() {
        let wanted = pool.spec.replicas.unwrap_or(0);
        return if wanted < 0 { live.unwrap_or(0) } else { wanted };
    }
    let (min, max) = bounds(pool);
    live.unwrap_or(min).min(max).max(min)
}

/// The bounds of the autoscaler; none at all is said by two zeros. Nobody knows the size of a machine that does not exist
/// here, so that the last one stays.
fn bounds(pool: &NodePool) -> (i32, i32) {
    let scaling = pool.spec.auto_scaling.as_ref();
    scaling.map_or((0, 0), |scaling| (scaling.min.max(1), scaling.max.max(1)))
}

/// The deployment as it is, left alone by its controllers or not; it must still be as it was seen.
pub(crate) fn with_pause(live: &MachineDeployment, is_paused: bool) -> MachineDeployment {
    let mut deployment = MachineDeployment::new(&live.name_any(), live.spec.clone());
    deployment.metadata.namespace.clone_from(&live.metadata.namespace);
    deployment
        .metadata
        .resource_version
        .clone_from(&live.metadata.resource_version);
    deployment.metadata.labels.clone_from(&live.metadata.labels);
    let ours = [
        annotations::NODE_POOL,
        annotations::CLUSTER,
        annotations::SCOPE,
        annotations::AUTOSCALER_MIN_SIZE,
        annotations::AUTOSCALER_MAX_SIZE,
    ];
    let kept = ours.into_iter().filter_map(|key| Some(annotation(key, key.of(live)?)));
    let paused = is_paused.then(|| annotation(annotations::PAUSED, "true"));
    deployment.metadata.annotations = Some(kept.chain(paused).collect());
    deployment
}

/// Whether all machines of a deployment were made from this, and can be used. What its controllers have not seen yet is not
/// done.
pub(crate) fn is_rolled_out(deployment: &MachineDeployment, user_data: &str, template: &str) -> bool {
    let spec = &deployment.spec.template.spec;
    let is_meant = spec.bootstrap.data_secret_name.as_deref() == Some(user_data)
        && spec.infrastructure_ref.name.as_str() == template;
    let Some(status) = &deployment.status else {
        return false;
    };
    let wanted = deployment.spec.replicas.unwrap_or(1);
    let is_seen = status.observed_generation >= deployment.metadata.generation;
    let count = |replicas: Option<i32>| replicas.unwrap_or(0);
    is_meant
        && is_seen
        && count(status.replicas) == wanted
        && count(status.up_to_date_replicas) == wanted
        && count(status.available_replicas) == wanted
}
