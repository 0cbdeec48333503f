//! The conditions of a control plane: a function of what was seen in one run.

use std::collections::BTreeMap;

use hyperplane_api::{
    constants::{
        conditions::{control_plane_component, hosted_control_plane as types},
        objects::{components, kubeconfigs},
        reasons,
    },
    hypershift::{
        control_plane_component::ControlPlaneComponentStatus,
        etcd::EtcdManagementType,
        hosted_control_plane::HostedControlPlane,
        services::{PublishedService, PublishingStrategyType},
    },
};
use hyperplane_components::{Infrastructure, Judgement, Objects, Subject, Warning, Workload};
use hyperplane_runtime::conditions::{Observation, holds};

use crate::health::kubeconfig;

/// What was seen in one run.
#[derive(Clone, Debug)]
pub(crate) struct Seen<'a> {
    /// The control plane, with its status before the run.
    pub(crate) control_plane: &'a HostedControlPlane,
    /// What of the spec is not carried out as it was asked for.
    pub(crate) warnings: &'a [Warning],
    /// Why the release cannot be used, in sentences.
    pub(crate) release_problems: &'a [String],
    /// Where it is published.
    pub(crate) infrastructure: &'a Infrastructure,
    /// Live workloads by name.
    pub(crate) workloads: &'a BTreeMap<String, Workload>,
    /// Whether the administrator's kubeconfig is there.
    pub(crate) has_kubeconfig: bool,
    /// What the published endpoint answered, if it was asked.
    pub(crate) health: Option<Result<(), String>>,
    /// Components that are not available.
    pub(crate) unavailable: &'a [String],
    /// What those say who make load balancers.
    pub(crate) troubles: &'a [String],
    /// Whether what is stored is encrypted with the active key; none where nothing is.
    pub(crate) encryption: Option<Judgement>,
}

impl<'a> Seen<'a> {
    /// What is there, before anything was judged.
    pub(crate) fn new(
        control_plane: &'a HostedControlPlane,
        infrastructure: &'a Infrastructure,
        objects: &Objects,
        workloads: &'a BTreeMap<String, Workload>,
    ) -> Self {
        Self {
            control_plane,
            warnings: &[],
            release_problems: &[],
            infrastructure,
            workloads,
            has_kubeconfig: kubeconfig(objects).is_some(),
            health: None,
            unavailable: &[],
            troubles: &[],
            encryption: None,
        }
    }
}

/// Components that report that they are not available.
pub(crate) fn unavailable(reports: &BTreeMap<String, ControlPlaneComponentStatus>) -> Vec<String> {
    let condition = control_plane_component::AVAILABLE.as_str();
    let lacking = reports
        .iter()
        .filter(|(_, report)| !holds(&report.conditions, condition));
    lacking.map(|(name, _)| name.clone()).collect()
}

/// Whether a warning is not told yet by the condition that tells it.
pub(crate) fn is_new_warning(control_plane: &HostedControlPlane, warning: &Warning) -> bool {
    let type_ = types::VALID_HOSTED_CONTROL_PLANE_CONFIGURATION.as_str();
    let conditions = control_plane.status.iter().flat_map(|status| &status.conditions);
    let mut told = conditions.filter(|condition| condition.type_ == type_);
    !told.any(|condition| condition.message.contains(&warning.sentence))
}

/// All conditions.
pub(crate) fn conditions(seen: &Seen<'_>) -> Vec<Observation> {
    let infrastructure = infrastructure_ready(seen);
    let etcd = etcd_available(seen);
    let api_server = api_server_available(seen);
    let available = available(seen, &[&infrastructure, &etcd, &api_server]);
    let mut conditions = vec![
        valid_configuration(seen),
        valid_release(seen),
        external_name(seen),
        degraded(seen),
        infrastructure,
        etcd,
        api_server,
        available,
    ];
    conditions.extend(seen.encryption.as_ref().map(encryption_up_to_date));
    conditions
}

fn encryption_up_to_date(judgement: &Judgement) -> Observation {
    Observation {
        type_: types::ETCD_DATA_ENCRYPTION_UP_TO_DATE.as_str().to_owned(),
        status: Some(judgement.holds),
        reason: judgement.reason.to_owned(),
        message: judgement.message.clone(),
    }
}

/// Mistakes make it invalid; zones that are too few are nobody's mistake and are told all the same.
fn valid_configuration(seen: &Seen<'_>) -> Observation {
    let condition = types::VALID_HOSTED_CONTROL_PLANE_CONFIGURATION.as_str();
    let sentences: Vec<&str> = seen.warnings.iter().map(|warning| warning.sentence.as_str()).collect();
    let message = sentences.join("; ");
    if seen.warnings.iter().any(|warning| warning.about == Subject::Settings) {
        return Observation::fails(condition, reasons::INVALID_CONFIGURATION.as_str(), message);
    }
    let message = if message.is_empty() {
        "All is well".to_owned()
    } else {
        message
    };
    Observation::holds(condition, reasons::AS_EXPECTED.as_str(), message)
}

fn valid_release(seen: &Seen<'_>) -> Observation {
    let condition = types::VALID_RELEASE_INFO.as_str();
    if seen.release_problems.is_empty() {
        return Observation::holds(condition, reasons::AS_EXPECTED.as_str(), "All is well");
    }
    let reason = reasons::MISSING_RELEASE_IMAGES.as_str();
    Observation::fails(condition, reason, seen.release_problems.join("; "))
}

fn infrastructure_ready(seen: &Seen<'_>) -> Observation {
    let condition = types::INFRASTRUCTURE_READY.as_str();
    let missing = &seen.infrastructure.missing;
    if missing.is_empty() {
        return Observation::holds(condition, reasons::AS_EXPECTED.as_str(), "All endpoints are published");
    }
    let reason = reasons::WAITING_ON_INFRASTRUCTURE_READY.as_str();
    let sentences = [missing.as_slice(), seen.troubles].concat();
    Observation::fails(condition, reason, sentences.join("; "))
}

fn etcd_available(seen: &Seen<'_>) -> Observation {
    let condition = types::ETCD_AVAILABLE.as_str();
    if seen.control_plane.spec.etcd.management_type == EtcdManagementType::Unmanaged {
        return Observation::holds(condition, reasons::ETCD_RUNNING.as_str(), "Its owner runs etcd");
    }
    let Some(Workload::StatefulSet(set)) = seen.workloads.get(components::ETCD) else {
        return Observation::fails(
            condition,
            reasons::STATEFUL_SET_NOT_FOUND.as_str(),
            "etcd is not deployed yet",
        );
    };
    let replicas = set.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1);
    let ready = set
        .status
        .as_ref()
        .and_then(|status| status.ready_replicas)
        .unwrap_or(0);
    let quorum = replicas / 2 + 1;
    if ready >= quorum {
        return Observation::holds(condition, reasons::QUORUM_AVAILABLE.as_str(), "etcd has a quorum");
    }
    let message = format!("{ready} of {replicas} members are ready, {quorum} make a quorum");
    Observation::fails(condition, reasons::ETCD_WAITING_FOR_QUORUM.as_str(), message)
}

fn api_server_available(seen: &Seen<'_>) -> Observation {
    let condition = types::KUBE_API_SERVER_AVAILABLE.as_str();
    let Some(Workload::Deployment(deployment)) = seen.workloads.get(components::API_SERVER) else {
        return Observation::fails(
            condition,
            reasons::NOT_FOUND.as_str(),
            "kube-apiserver is not deployed yet",
        );
    };
    let conditions = deployment
        .status
        .iter()
        .flat_map(|status| status.conditions.iter().flatten());
    let mut available = conditions.filter(|condition| condition.type_ == "Available");
    if available.any(|condition| condition.status == "True") {
        return Observation::holds(condition, reasons::AS_EXPECTED.as_str(), "kube-apiserver is available");
    }
    let message = "kube-apiserver has too few available replicas";
    Observation::fails(condition, reasons::WAITING_FOR_AVAILABLE.as_str(), message)
}

/// True when part of the control plane does not work, although the whole may still serve.
fn degraded(seen: &Seen<'_>) -> Observation {
    let condition = types::DEGRADED.as_str();
    let lacking: Vec<String> = seen
        .workloads
        .iter()
        .filter_map(|(name, workload)| unavailable_replicas(workload).map(|count| format!("{name} lacks {count}")))
        .collect();
    if lacking.is_empty() {
        return Observation::fails(condition, reasons::AS_EXPECTED.as_str(), "Every replica is available");
    }
    let message = format!("Replicas are unavailable: {}", lacking.join(", "));
    Observation::holds(condition, reasons::UNAVAILABLE_REPLICAS.as_str(), message)
}

fn unavailable_replicas(workload: &Workload) -> Option<i32> {
    let count = match workload {
        Workload::Deployment(deployment) => deployment.status.as_ref()?.unavailable_replicas?,
        Workload::StatefulSet(set) => {
            let wanted = set.spec.as_ref()?.replicas.unwrap_or(1);
            wanted - set.status.as_ref()?.ready_replicas.unwrap_or(0)
        }
        Workload::Job(_) | Workload::CronJob(_) => return None,
    };
    (count > 0).then_some(count)
}

/// Whether the hostname that the spec gives to the API server leads there. The check asks by that very name.
fn external_name(seen: &Seen<'_>) -> Observation {
    let condition = types::EXTERNAL_DNS_REACHABLE.as_str();
    let Some(name) = hostname(seen.control_plane) else {
        let message = "No external hostname is asked for";
        return Observation::unknown(condition, reasons::STATUS_UNKNOWN.as_str(), message);
    };
    match &seen.health {
        Some(Ok(())) => Observation::holds(condition, reasons::AS_EXPECTED.as_str(), format!("{name} answers")),
        Some(Err(problem)) => {
            let reason = reasons::EXTERNAL_DNS_HOST_NOT_REACHABLE.as_str();
            Observation::fails(condition, reason, format!("{name}: {problem}"))
        }
        None => Observation::unknown(
            condition,
            reasons::STATUS_UNKNOWN.as_str(),
            format!("{name} was not asked yet"),
        ),
    }
}

fn hostname(control_plane: &HostedControlPlane) -> Option<String> {
    let services = &control_plane.spec.services;
    let service = services
        .iter()
        .find(|service| service.service == PublishedService::ApiServer)?;
    let strategy = &service.service_publishing_strategy;
    let name = match strategy.strategy_type {
        PublishingStrategyType::LoadBalancer => strategy.load_balancer.as_ref()?.hostname.as_ref(),
        PublishingStrategyType::Route => strategy.route.as_ref()?.hostname.as_ref(),
        _ => None,
    };
    name.map(ToString::to_string)
}

/// The first of the reasons, in the order of what rests on what, why the control plane does not serve.
fn available(seen: &Seen<'_>, parts: &[&Observation]) -> Observation {
    let condition = types::AVAILABLE.as_str();
    let fails = |reason: &str, message: String| Observation::fails(condition, reason, message);
    let [infrastructure, rest @ ..] = parts else {
        return Observation::unknown(condition, reasons::STATUS_UNKNOWN.as_str(), "Nothing was looked at");
    };
    if infrastructure.status != Some(true) {
        return fails(&infrastructure.reason, infrastructure.message.clone());
    }
    if !seen.has_kubeconfig {
        let message = format!("Secret {} is not there yet", kubeconfigs::ADMIN);
        return fails(reasons::KUBECONFIG_WAITING_FOR_CREATE.as_str(), message);
    }
    if let Some(part) = rest.iter().find(|part| part.status != Some(true)) {
        return fails(&part.reason, part.message.clone());
    }
    if let Some(Err(problem)) = &seen.health {
        return fails(reasons::KAS_LOAD_BALANCER_NOT_REACHABLE.as_str(), problem.clone());
    }
    if !was_available(seen.control_plane) && !seen.unavailable.is_empty() {
        let message = format!("Waiting for components: {}", seen.unavailable.join(", "));
        return fails(reasons::COMPONENTS_NOT_AVAILABLE.as_str(), message);
    }
    Observation::holds(
        condition,
        reasons::AS_EXPECTED.as_str(),
        "The hosted control plane is available",
    )
}

/// Whether it ever served: from then on a component that fails is told by Degraded and by its own report.
pub(crate) fn was_available(control_plane: &HostedControlPlane) -> bool {
    let Some(status) = &control_plane.status else {
        return false;
    };
    let initialized = status
        .initialization
        .as_ref()
        .and_then(|state| state.control_plane_initialized);
    initialized == Some(true) || holds(&status.conditions, types::AVAILABLE.as_str())
}

#[cfg(test)]
mod tests;
