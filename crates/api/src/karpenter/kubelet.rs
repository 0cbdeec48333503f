//! Kubelet settings of nodes that Karpenter creates.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    schema::{JsonSchema, Rule, open, properties, rule},
    text::string_type,
};

/// Settings of the kubelet. Those that are named here are checked; any other field of a KubeletConfiguration is
/// passed on as it is.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = open(),
    transform = rule(
        "!has(self.imageGCHighThresholdPercent) || !has(self.imageGCLowThresholdPercent) || \
         self.imageGCLowThresholdPercent < self.imageGCHighThresholdPercent",
        "imageGCLowThresholdPercent must be below imageGCHighThresholdPercent",
    ),
    transform = rule(
        "!has(self.maxPods) || !has(self.podsPerCore) || self.maxPods >= self.podsPerCore",
        "maxPods must be at least podsPerCore",
    ),
    transform = rule(
        "!has(self.evictionSoft) || (has(self.evictionSoftGracePeriod) && \
         self.evictionSoft.all(signal, signal in self.evictionSoftGracePeriod))",
        "every signal in evictionSoft must have a period in evictionSoftGracePeriod",
    ),
    transform = rule(
        "!has(self.evictionSoftGracePeriod) || (has(self.evictionSoft) && \
         self.evictionSoftGracePeriod.all(signal, signal in self.evictionSoft))",
        "every signal in evictionSoftGracePeriod must have a threshold in evictionSoft",
    ),
    transform = soft_before_hard(),
)]
pub struct KubeletSettings {
    /// Most pods on a node, 1 to 2500.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 2500))]
    pub max_pods: Option<i32>,
    /// Most pods on a node for each of its processors, 1 to 2500 and no more than maxPods.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 2500))]
    pub pods_per_core: Option<i32>,
    /// What is kept for the operating system: cpu, memory, ephemeral-storage and pid, each with a quantity.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(
        transform = properties(Some(1), Some(20)),
        transform = reservable(),
        transform = not_negative(),
        transform = not_empty(),
    )]
    pub system_reserved: BTreeMap<String, String>,
    /// What is kept for the kubelet and the container runtime: cpu, memory, ephemeral-storage and pid, each with a
    /// quantity.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(
        transform = properties(Some(1), Some(20)),
        transform = reservable(),
        transform = not_negative(),
        transform = not_empty(),
    )]
    pub kube_reserved: BTreeMap<String, String>,
    /// Thresholds at which pods are evicted at once, by signal; a quantity or a percentage of what the node has.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = properties(Some(1), Some(20)), transform = eviction_signals(), transform = not_empty())]
    pub eviction_hard: BTreeMap<String, EvictionThreshold>,
    /// Thresholds at which pods are evicted after a while, by signal; reached before those of evictionHard.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = properties(Some(1), Some(20)), transform = eviction_signals(), transform = not_empty())]
    pub eviction_soft: BTreeMap<String, EvictionThreshold>,
    /// How long a threshold of evictionSoft must be passed before pods are evicted, by signal.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = properties(Some(1), Some(20)), transform = eviction_signals())]
    pub eviction_soft_grace_period: BTreeMap<String, String>,
    /// Seconds that a pod gets at most to end when a threshold of evictionSoft is passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eviction_max_pod_grace_period: Option<i32>,
    /// Percentage of the disk in use at which unused images are removed.
    #[serde(rename = "imageGCHighThresholdPercent", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub image_gc_high_threshold_percent: Option<i32>,
    /// Percentage of the disk in use at which the removal of unused images stops.
    #[serde(rename = "imageGCLowThresholdPercent", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub image_gc_low_threshold_percent: Option<i32>,
    /// Whether processor limits of containers are enforced by quota.
    #[serde(rename = "cpuCFSQuota", skip_serializing_if = "Option::is_none")]
    pub cpu_cfs_quota: Option<bool>,
    /// Every other field, as it was given.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

string_type! {
    /// A threshold of an eviction signal: a percentage such as 10%, or a quantity such as 100Mi.
    pub struct EvictionThreshold {
        length: 0..=64,
    }
}

fn reservable() -> Rule {
    rule(
        "self.all(resource, resource in ['cpu', 'memory', 'ephemeral-storage', 'pid'])",
        "only cpu, memory, ephemeral-storage and pid can be reserved",
    )
}

fn not_negative() -> Rule {
    rule(
        "self.all(key, !self[key].startsWith('-'))",
        "a reserved quantity must not be below zero",
    )
}

fn not_empty() -> Rule {
    rule("self.all(key, self[key].size() > 0)", "every key needs a value")
}

fn eviction_signals() -> Rule {
    rule(
        "self.all(signal, signal in ['memory.available', 'nodefs.available', 'nodefs.inodesFree', \
         'imagefs.available', 'imagefs.inodesFree', 'pid.available'])",
        "use memory.available, pid.available, or available and inodesFree of nodefs and imagefs",
    )
}

/// Two percentages or two quantities of the same signal are compared; a percentage and a quantity cannot be. A
/// percentage without a number is let through, and one that is no number is refused because double() fails.
fn soft_before_hard() -> Rule {
    let soft = "self.evictionSoft[signal]";
    let hard = "self.evictionHard[signal]";
    let number = |text: &str| format!("double({text}.substring(0, {text}.size() - 1))");
    rule(
        format!(
            "!has(self.evictionSoft) || !has(self.evictionHard) || \
             self.evictionHard.all(signal, !(signal in self.evictionSoft) || \
             ({soft}.endsWith('%') && {hard}.endsWith('%') ? \
             {soft} == '%' || {hard} == '%' || {soft_number} >= {hard_number} : \
             !isQuantity({soft}) || !isQuantity({hard}) || !quantity({soft}).isLessThan(quantity({hard}))))",
            soft_number = number(soft),
            hard_number = number(hard),
        ),
        "a threshold in evictionSoft must not be below the one in evictionHard: the soft one has to come first",
    )
}
