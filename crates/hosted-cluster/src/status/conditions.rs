//! Every condition of a cluster with its reason.

use hyperplane_api::hypershift::paused::PauseState;
use hyperplane_api::{
    constants::{
        ConditionType, Reason,
        conditions::{hosted_cluster as types, hosted_control_plane, node_pool},
        ours, reasons,
    },
    hypershift::{
        etcd::EtcdManagementType, node_pool::status::ConditionStatus, platform_type::PlatformType,
        version_status::ClusterVersionStatus,
    },
    unused::{self, unused},
};
use hyperplane_components::ETCD_RECOVERY;
use hyperplane_platforms::Problem;
use hyperplane_runtime::{Disposition, Failure, conditions::Observation};

use super::{Report, copied, progress};
use crate::{
    elsewhere,
    recovery::{self, Recovery},
    references::Purpose,
};

/// All conditions.
pub(super) fn observe(report: &Report<'_>, version: Option<&ClusterVersionStatus>) -> Vec<Observation> {
    let mut observed = copied::observe(report);
    observed.extend([
        available(report),
        progress::observe(report, version),
        degraded(report),
        valid_configuration(report),
        supported(report),
        valid_release(report),
        active(report),
        succeeded(report.failure),
        credentials(report),
        proxy(report),
        ignition(report),
        succeeding(report),
    ]);
    observed.extend(unmanaged_etcd(report));
    observed.extend(etcd_recovery(report));
    observed.extend(live_migratable(report));
    observed.extend(isolated(report));
    observed.extend(without_effect(report));
    observed
}

fn holds(type_: ConditionType, reason: Reason, message: impl Into<String>) -> Observation {
    Observation::holds(type_.as_str(), reason.as_str(), message)
}

fn fails(type_: ConditionType, reason: Reason, message: impl Into<String>) -> Observation {
    Observation::fails(type_.as_str(), reason.as_str(), message)
}

/// All problems in one text.
fn list(problems: &[Problem]) -> String {
    let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
    texts.join("; ")
}

fn judged(type_: ConditionType, problems: &[Problem], good: &str, bad: Reason) -> Observation {
    match problems {
        [] => holds(type_, reasons::AS_EXPECTED, good),
        problems => fails(type_, bad, list(problems)),
    }
}

fn available(report: &Report<'_>) -> Observation {
    let type_ = types::AVAILABLE;
    match copied::find(report, hosted_control_plane::AVAILABLE) {
        Some(condition) if condition.status == "True" => {
            holds(type_, reasons::AS_EXPECTED, "The control plane serves.")
        }
        Some(condition) => Observation {
            status: Some(false),
            ..copied::copy(condition)
        },
        None => {
            let blocked = progress::blocked_by(report);
            let message = blocked.unwrap_or_else(|| "The control plane has not been reported yet.".to_owned());
            fails(type_, reasons::WAITING_FOR_AVAILABLE, message)
        }
    }
}

fn degraded(report: &Report<'_>) -> Observation {
    match copied::find(report, hosted_control_plane::DEGRADED) {
        Some(condition) => copied::copy(condition),
        None => copied::unknown(types::DEGRADED),
    }
}

/// What has not been judged is never said to be good.
fn unjudged(type_: ConditionType, why: &str) -> Observation {
    Observation::unknown(type_.as_str(), reasons::STATUS_UNKNOWN.as_str(), why)
}

/// Why nothing is said of what only a platform could tell.
const UNKNOWN_PLATFORM: &str = "The platform is not supported here, so that what concerns it was not judged.";

fn valid_configuration(report: &Report<'_>) -> Observation {
    let type_ = types::VALID_CONFIGURATION;
    if report.verdict.configuration.is_empty() && report.verdict.lacks_platform {
        return unjudged(type_, UNKNOWN_PLATFORM);
    }
    judged(
        type_,
        &report.verdict.configuration,
        "The configuration passes every check.",
        reasons::INVALID_CONFIGURATION,
    )
}

fn supported(report: &Report<'_>) -> Observation {
    judged(
        types::SUPPORTED_HOSTED_CLUSTER,
        &report.verdict.support,
        "Such a cluster can be hosted here.",
        reasons::UNSUPPORTED_HOSTED_CLUSTER,
    )
}

fn valid_release(report: &Report<'_>) -> Observation {
    let verdict = report.verdict;
    let type_ = types::VALID_RELEASE_IMAGE;
    if verdict.release.is_empty() && verdict.lacks_pull_secret {
        let message = "The pull secret is missing, without which no release can be pulled.";
        return fails(type_, reasons::SECRET_NOT_FOUND, message);
    }
    judged(
        type_,
        &verdict.release,
        "The release can be used.",
        reasons::INVALID_IMAGE,
    )
}

fn active(report: &Report<'_>) -> Observation {
    let type_ = types::RECONCILIATION_ACTIVE;
    match report.pause {
        PauseState::Active => holds(type_, reasons::RECONCILIATION_ACTIVE, "The cluster is not paused."),
        PauseState::Paused { text, .. } => fails(
            type_,
            reasons::RECONCILIATION_PAUSED,
            format!("The cluster is paused: pausedUntil is {text}."),
        ),
        PauseState::Unreadable(error) => holds(
            type_,
            reasons::INVALID_PAUSED_UNTIL_VALUE,
            format!("The cluster is not paused: {error}."),
        ),
    }
}

/// Waiting is no error: what is waited for has its own way to be told, and its change brings the next run.
fn succeeded(failure: Option<&Failure>) -> Observation {
    let type_ = types::RECONCILIATION_SUCCEEDED;
    match failure {
        None => holds(
            type_,
            reasons::RECONCILIATION_SUCCEEDED,
            "Everything is as it is asked for.",
        ),
        Some(failure) if failure.disposition() == Disposition::Wait => {
            holds(type_, reasons::RECONCILIATION_SUCCEEDED, failure.report())
        }
        Some(failure) => fails(type_, reasons::RECONCILIATION_ERROR, failure.report()),
    }
}

fn credentials(report: &Report<'_>) -> Observation {
    let type_ = types::PLATFORM_CREDENTIALS_FOUND;
    if report.verdict.credentials.is_empty() && report.verdict.lacks_platform {
        return unjudged(type_, UNKNOWN_PLATFORM);
    }
    judged(
        type_,
        &report.verdict.credentials,
        "The platform has all the credentials that it needs.",
        reasons::PLATFORM_CREDENTIALS_NOT_FOUND,
    )
}

fn proxy(report: &Report<'_>) -> Observation {
    let type_ = types::VALID_PROXY_CONFIGURATION;
    if report.verdict.proxy.is_empty() && report.verdict.lacks_proxy_bundle {
        return unjudged(type_, "The certificates of the proxy are missing.");
    }
    judged(
        type_,
        &report.verdict.proxy,
        "The certificates of the proxy can be used, or there is none.",
        reasons::PROXY_CA_BUNDLE_INVALID,
    )
}

fn ignition(report: &Report<'_>) -> Observation {
    let type_ = types::IGNITION_ENDPOINT_AVAILABLE;
    let Some(deployment) = &report.seen.ignition_server else {
        return fails(type_, reasons::NOT_FOUND, "There is no ignition server.");
    };
    let conditions = deployment
        .status
        .iter()
        .flat_map(|status| status.conditions.iter().flatten());
    let mut available = conditions.filter(|condition| condition.type_ == "Available");
    match available.next().map(|condition| condition.status.as_str()) {
        Some("True") => holds(type_, reasons::AS_EXPECTED, "The ignition server serves."),
        Some(_) => fails(
            type_,
            reasons::WAITING_FOR_AVAILABLE,
            "The ignition server does not serve yet.",
        ),
        None => copied::unknown(type_),
    }
}

fn succeeding(report: &Report<'_>) -> Observation {
    let type_ = types::CLUSTER_VERSION_SUCCEEDING;
    match copied::find(report, hosted_control_plane::CLUSTER_VERSION_FAILING) {
        Some(condition) => Observation {
            type_: type_.as_str().to_owned(),
            status: copied::status_of(condition).map(|is_failing| !is_failing),
            ..copied::copy(condition)
        },
        None => copied::unknown(type_),
    }
}

fn unmanaged_etcd(report: &Report<'_>) -> Option<Observation> {
    let type_ = types::UNMANAGED_ETCD_AVAILABLE;
    if report.cluster.spec.etcd.management_type != EtcdManagementType::Unmanaged {
        return None;
    }
    let mut sources = report.seen.sources.iter();
    let order = sources
        .find(|source| source.order.purpose == Purpose::EtcdClient)
        .map(|source| &source.order);
    let is_of_etcd = |problem: &&Problem| order.is_some_and(|order| order.field == problem.field);
    let problems: Vec<Problem> = report
        .verdict
        .configuration
        .iter()
        .filter(is_of_etcd)
        .cloned()
        .collect();
    Some(match problems.as_slice() {
        [] if order.is_some() => holds(
            type_,
            reasons::UNMANAGED_ETCD_AS_EXPECTED,
            "The Secret for etcd has all that is needed.",
        ),
        [] => fails(
            type_,
            reasons::UNMANAGED_ETCD_MISCONFIGURED,
            "No Secret for etcd is named.",
        ),
        problems => fails(type_, reasons::UNMANAGED_ETCD_MISCONFIGURED, list(problems)),
    })
}

/// Whether a member of etcd is being brought back, where that can be.
fn etcd_recovery(report: &Report<'_>) -> Option<Observation> {
    let type_ = types::ETCD_RECOVERY_ACTIVE;
    let etcd = report.seen.etcd.as_ref()?;
    Some(match recovery::decide(etcd) {
        Recovery::Idle | Recovery::Over => {
            fails(type_, reasons::AS_EXPECTED, "No member of etcd has to be brought back.")
        }
        Recovery::Start(member) => fails(
            type_,
            reasons::AS_EXPECTED,
            format!("{} keeps failing, and is to be brought back.", member.name),
        ),
        Recovery::Running(member) => holds(
            type_,
            reasons::AS_EXPECTED,
            format!("Job {ETCD_RECOVERY} brings {member} back."),
        ),
        Recovery::Joining(member) => holds(
            type_,
            reasons::AS_EXPECTED,
            format!("{member} starts without its data and joins the others."),
        ),
        Recovery::Failed(why) => fails(type_, reasons::ETCD_RECOVERY_JOB_FAILED, why),
    })
}

/// The sum of what the pools report.
fn live_migratable(report: &Report<'_>) -> Option<Observation> {
    if report.cluster.spec.platform.type_ != PlatformType::KubeVirt {
        return None;
    }
    let wanted = node_pool::KUBEVIRT_NODES_LIVE_MIGRATABLE.as_str();
    let mut reported = Vec::new();
    for pool in &report.seen.node_pools {
        let conditions = pool.status.iter().flat_map(|status| &status.conditions);
        let mut found = conditions.filter(|condition| condition.type_ == wanted);
        reported.extend(
            found
                .next()
                .map(|condition| (pool.metadata.name.clone().unwrap_or_default(), condition)),
        );
    }
    if reported.is_empty() {
        return None;
    }
    let type_ = types::KUBEVIRT_NODES_LIVE_MIGRATABLE;
    let stuck = reported
        .iter()
        .filter(|(_, condition)| condition.status != ConditionStatus::True);
    let stuck = stuck.map(|(pool, condition)| {
        let message = condition.message.as_deref().unwrap_or("it does not say why");
        format!("{pool}: {message}")
    });
    let stuck: Vec<String> = stuck.collect();
    Some(if stuck.is_empty() {
        holds(type_, reasons::AS_EXPECTED, "Every virtual machine can migrate.")
    } else {
        fails(type_, reasons::KUBEVIRT_NODES_NOT_LIVE_MIGRATABLE, stuck.join("; "))
    })
}

/// What was found on the cluster with the machines, where that is another one. Where nobody has been there in this run it
/// is what was found before.
fn isolated(report: &Report<'_>) -> Option<Observation> {
    elsewhere::namespace(&report.cluster.spec.platform)?;
    let type_ = elsewhere::CONDITION;
    let Some(outcome) = &report.seen.elsewhere else {
        return Some(elsewhere::condition(report.cluster).map_or_else(|| copied::unknown(type_), copied::copy));
    };
    Some(match outcome.trouble() {
        None => holds(
            type_,
            reasons::AS_EXPECTED,
            "Virtual machines are kept from the networks of the cluster that they run on.",
        ),
        Some((reason, why)) => fails(type_, reason, why),
    })
}

/// Only told where something is asked for in vain.
fn without_effect(report: &Report<'_>) -> Option<Observation> {
    let spec = serde_json::to_value(&report.cluster.spec).expect("a spec has only text keys and finite numbers");
    let found = unused(unused::HOSTED_CLUSTER, &spec);
    (!found.is_empty()).then(|| holds(ours::UNUSED_FIELDS, ours::NOT_ACTED_ON, unused::message(&found)))
}
