//! Every condition of a pool with its reason. Those that only a cloud has are not among them.

use hyperplane_api::hypershift::paused::PauseState;
use hyperplane_api::{
    constants::{ConditionType, Reason, conditions::node_pool as types, objects::keys, ours, reasons},
    hypershift::platform_type::PlatformType,
    unused::{self, unused},
};
use hyperplane_platforms::Problem;
use hyperplane_runtime::conditions::Observation;
use kube::ResourceExt as _;

use super::{Report, addresses, machines, updates};
use crate::{
    build::{data, reached},
    names,
    skew::Finding,
    surroundings::{self, Missing},
    validate::Verdict,
};

/// What the ignition server writes when a configuration could be made.
const PAYLOAD_AS_EXPECTED: &str = "AsExpected";
/// The rule about what machines start from, which has a condition of its own.
const BOOT_IMAGE_RULE: &str = "pool-kubevirt-boot-image";

/// All conditions.
pub(super) fn observe(report: &Report<'_>) -> Vec<Observation> {
    let mut observed = vec![active(report), autoscaling(report), skew(report)];
    observed.extend(ignition(report));
    observed.extend(judged_all(report));
    observed.extend(updates::observe(report));
    observed.extend(tokens(report));
    observed.extend(machines::observe(report));
    observed.extend(tuning(report));
    observed.extend(conflict(report));
    observed.extend(without_effect(report));
    observed.push(autorepair(report));
    observed
}

pub(super) fn holds(type_: ConditionType, reason: Reason, message: impl Into<String>) -> Observation {
    Observation::holds(type_.as_str(), reason.as_str(), message)
}

pub(super) fn fails(type_: ConditionType, reason: Reason, message: impl Into<String>) -> Observation {
    Observation::fails(type_.as_str(), reason.as_str(), message)
}

pub(super) fn unknown(type_: ConditionType, message: impl Into<String>) -> Observation {
    Observation::unknown(type_.as_str(), reasons::STATUS_UNKNOWN.as_str(), message)
}

/// All problems in one text.
pub(super) fn list<'a>(problems: impl IntoIterator<Item = &'a Problem>) -> String {
    let texts: Vec<String> = problems.into_iter().map(ToString::to_string).collect();
    texts.join("; ")
}

/// What is said of a pool that goes.
pub(super) fn going(message: String) -> Observation {
    fails(types::READY, reasons::DELETING, message)
}

/// Why nothing is judged without a cluster.
const NO_CLUSTER: &str = "The cluster of the pool does not exist, so that nothing was judged.";

fn active(report: &Report<'_>) -> Observation {
    let type_ = types::RECONCILIATION_ACTIVE;
    match report.pause {
        PauseState::Active => holds(type_, reasons::RECONCILIATION_ACTIVE, "The pool is not paused."),
        PauseState::Paused { text, .. } => fails(
            type_,
            reasons::RECONCILIATION_PAUSED,
            format!("The pool is paused: pausedUntil is {text}."),
        ),
        PauseState::Unreadable(error) => holds(
            type_,
            reasons::INVALID_PAUSED_UNTIL_VALUE,
            format!("The pool is not paused: {error}."),
        ),
    }
}

fn autoscaling(report: &Report<'_>) -> Observation {
    let type_ = types::AUTOSCALING_ENABLED;
    let problems = report
        .plan
        .verdict
        .as_ref()
        .map(|verdict| verdict.autoscaling.as_slice());
    match (&report.pool.spec.auto_scaling, problems) {
        (Some(_), Some([_, ..])) => fails(type_, reasons::VALIDATION_FAILED, list(problems.unwrap_or_default())),
        (Some(scaling), _) => holds(
            type_,
            reasons::AS_EXPECTED,
            format!("Maximum nodes: {}, Minimum nodes: {}", scaling.max, scaling.min),
        ),
        (None, _) => fails(type_, reasons::AS_EXPECTED, "The pool has a fixed number of nodes."),
    }
}

/// What follows from the verdict alone.
fn judged_all(report: &Report<'_>) -> Vec<Observation> {
    let judged_types = [
        types::UPDATE_MANAGEMENT_ENABLED,
        types::VALID_RELEASE_IMAGE,
        types::VALID_ARCH_PLATFORM,
        types::VALID_MACHINE_CONFIG,
        types::VALID_PLATFORM_CONFIG,
        types::VALID_MACHINE_TEMPLATE,
    ];
    let Some(verdict) = &report.plan.verdict else {
        return judged_types.map(|type_| unknown(type_, NO_CLUSTER)).into();
    };
    let judged = |type_: ConditionType, problems: &[Problem], good: &str, bad: Reason| match problems {
        [] => holds(type_, reasons::AS_EXPECTED, good),
        problems => fails(type_, bad, list(problems)),
    };
    let mut observed = vec![
        management(verdict),
        judged(
            types::VALID_RELEASE_IMAGE,
            &verdict.release,
            "The release can be used.",
            reasons::VALIDATION_FAILED,
        ),
        architecture(verdict),
        judged(
            types::VALID_MACHINE_CONFIG,
            &verdict.config,
            "The configuration of nodes can be made.",
            reasons::VALIDATION_FAILED,
        ),
        judged(
            types::VALID_PLATFORM_CONFIG,
            &verdict.platform,
            "The pool is on the platform of its cluster.",
            reasons::VALIDATION_FAILED,
        ),
        template(report, verdict),
    ];
    observed.extend(image(report, verdict));
    observed
}

fn management(verdict: &Verdict) -> Observation {
    let type_ = types::UPDATE_MANAGEMENT_ENABLED;
    if verdict.is_in_place {
        let message = "upgradeType InPlace is not carried out by this manager yet, and nothing of the pool is touched; \
                       make a pool with upgradeType Replace.";
        return fails(type_, reasons::NOT_SUPPORTED, message);
    }
    let problems = list(verdict.management.iter().chain(&verdict.pace));
    if problems.is_empty() {
        return holds(type_, reasons::AS_EXPECTED, "Nodes are replaced as the pool says.");
    }
    fails(type_, reasons::VALIDATION_FAILED, problems)
}

fn architecture(verdict: &Verdict) -> Observation {
    let type_ = types::VALID_ARCH_PLATFORM;
    match verdict.architecture.as_slice() {
        [] => holds(
            type_,
            reasons::VALID_ARCH_PLATFORM,
            "The platform has machines of the architecture.",
        ),
        problems => fails(type_, reasons::INVALID_ARCH_PLATFORM, list(problems)),
    }
}

fn template(report: &Report<'_>, verdict: &Verdict) -> Observation {
    let type_ = types::VALID_MACHINE_TEMPLATE;
    let reason = match report.pool.spec.platform.type_ {
        PlatformType::KubeVirt => reasons::INVALID_KUBEVIRT_MACHINE_TEMPLATE,
        PlatformType::Agent => reasons::INVALID_AGENT_MACHINE_TEMPLATE,
        _ => reasons::VALIDATION_FAILED,
    };
    match (verdict.template.as_slice(), &verdict.machines) {
        ([], Some(_)) => holds(type_, reasons::AS_EXPECTED, "Machines can be made."),
        ([], None) => unknown(
            type_,
            "Nothing can be said before the release and the platform are right.",
        ),
        (problems, _) => fails(type_, reason, list(problems)),
    }
}

/// Whether there is something that machines start from, on platforms where there has to be.
fn image(report: &Report<'_>, verdict: &Verdict) -> Option<Observation> {
    if report.pool.spec.platform.type_ != PlatformType::KubeVirt {
        return None;
    }
    let type_ = types::VALID_PLATFORM_IMAGE;
    let problem = verdict.template.iter().find(|problem| problem.rule == BOOT_IMAGE_RULE);
    Some(match (problem, &verdict.found) {
        (Some(problem), _) => fails(type_, reasons::VALIDATION_FAILED, problem.to_string()),
        (None, Some(_)) => holds(
            type_,
            reasons::AS_EXPECTED,
            "An image that machines start from is known.",
        ),
        (None, None) => unknown(type_, "Nothing can be said before the release is found."),
    })
}

fn skew(report: &Report<'_>) -> Observation {
    let type_ = types::SUPPORTED_VERSION_SKEW;
    let Some(verdict) = &report.plan.skew else {
        return unknown(type_, "The release of the pool is not known.");
    };
    let told = |findings: &[Finding]| {
        let texts: Vec<String> = findings.iter().map(ToString::to_string).collect();
        texts.join("; ")
    };
    let refused = told(&verdict.refusals);
    if report.plan.is_forced {
        let by = hyperplane_api::constants::annotations::SKIP_RELEASE_IMAGE_VALIDATION;
        let message = format!("{refused}. Nodes roll all the same, because of the annotation {by}.");
        return fails(type_, reasons::UNSUPPORTED_SKEW, message);
    }
    match (verdict.refusals.as_slice(), verdict.observed.as_slice()) {
        ([], []) => holds(
            type_,
            reasons::AS_EXPECTED,
            "Nodes and the control plane may stand beside each other.",
        ),
        ([], observed) => fails(type_, reasons::UNSUPPORTED_SKEW, told(observed)),
        (refusals, _) if refusals.iter().all(|finding| finding.is_unknown) => {
            unknown(type_, format!("Nodes do not roll: {refused}."))
        }
        _ => fails(
            type_,
            reasons::UNSUPPORTED_SKEW,
            format!("Nodes do not roll: {refused}. Scaling, repair and deletion go on."),
        ),
    }
}

/// Only told while it does not hold.
fn ignition(report: &Report<'_>) -> Option<Observation> {
    let missing = surroundings::of(report.seen).err()?;
    let missing: Vec<Missing> = missing.into_iter().filter(|one| one.ignition.is_some()).collect();
    let reason = missing.first()?.ignition?;
    let message = format!("Waiting for {}.", surroundings::told(&missing));
    Some(fails(types::IGNITION_ENDPOINT_AVAILABLE, reason, message))
}

/// What the ignition server tells of the configuration that machines are made with.
fn tokens(report: &Report<'_>) -> Vec<Observation> {
    let (payload, fetched) = (types::VALID_GENERATED_PAYLOAD, types::REACHED_IGNITION_ENDPOINT);
    let hash = updates::active_hash(report);
    let token = hash.as_deref().and_then(|hash| {
        let name = names::token(report.pool, hash);
        report.seen.tokens.iter().find(|secret| secret.name_any() == name)
    });
    let (Some(hash), Some(token)) = (&hash, token) else {
        let message = "There is no token for machines yet.";
        return vec![
            fails(payload, reasons::NOT_FOUND, message),
            fails(fetched, reasons::IGNITION_NOT_REACHED, message),
        ];
    };
    let text = |key: &str| {
        let value = data(token, key).map(String::from_utf8_lossy);
        value.map(std::borrow::Cow::into_owned)
    };
    let message = text(keys::MESSAGE);
    let made = match text(keys::REASON).as_deref() {
        None => unknown(
            payload,
            "The ignition server has not judged the configuration of machines yet.",
        ),
        Some(PAYLOAD_AS_EXPECTED) => holds(payload, reasons::AS_EXPECTED, message.unwrap_or_default()),
        Some(reason) => Observation::fails(payload.as_str(), reason, message.unwrap_or_default()),
    };
    let came = if reached(report.seen, hash) {
        holds(
            fetched,
            reasons::AS_EXPECTED,
            "A machine has fetched its configuration.",
        )
    } else {
        fails(
            fetched,
            reasons::IGNITION_NOT_REACHED,
            "No machine has fetched its configuration yet.",
        )
    };
    vec![made, came]
}

fn tuning(report: &Report<'_>) -> Option<Observation> {
    let message = "tuningConfig is not carried out by this manager; write what it comes to into spec.config.";
    let is_asked = !report.pool.spec.tuning_config.is_empty();
    is_asked.then(|| fails(types::VALID_TUNING_CONFIG, reasons::NOT_SUPPORTED, message))
}

/// Only told where something is asked for in vain.
fn without_effect(report: &Report<'_>) -> Option<Observation> {
    let spec = serde_json::to_value(&report.pool.spec).expect("a spec has only text keys and finite numbers");
    let found = unused(unused::NODE_POOL, &spec);
    (!found.is_empty()).then(|| holds(ours::UNUSED_FIELDS, ours::NOT_ACTED_ON, unused::message(&found)))
}

/// Only told while it holds.
fn conflict(report: &Report<'_>) -> Option<Observation> {
    let cluster = report.seen.cluster.as_deref()?;
    let all = report.seen.machines.all.iter().map(AsRef::as_ref);
    let message = addresses::conflict(cluster, all)?;
    Some(holds(
        types::CLUSTER_NETWORK_CIDR_CONFLICT,
        reasons::INVALID_CONFIGURATION,
        message,
    ))
}

fn autorepair(report: &Report<'_>) -> Observation {
    let type_ = types::AUTOREPAIR_ENABLED;
    match (
        report.pool.spec.management.auto_repair,
        &report.seen.machines.health_check,
    ) {
        (false, _) => fails(type_, reasons::AS_EXPECTED, "The pool does not ask for repair."),
        (true, Some(_)) => holds(type_, reasons::AS_EXPECTED, "Unhealthy machines are replaced."),
        (true, None) => fails(
            type_,
            reasons::IGNITION_NOT_REACHED,
            "Repair begins once a machine has fetched its configuration: replacing machines that cannot would not help.",
        ),
    }
}
