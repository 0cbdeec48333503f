//! Feature gates that a user turns by hand. A program that is given a gate it does not know does not start, so that only
//! those are passed on that its minor knows.

use std::collections::BTreeMap;

use hyperplane_api::hypershift::configuration::feature_gate::{
    CustomFeatureGates, FeatureGateConfiguration, FeatureGateName, FeatureGateSet,
};
use k8s_openapi::api::core::v1::Container;

use crate::{flags, inputs::Inputs};

/// A gate of OpenShift that no program of Kubernetes knows: with it the level restricted of pod security is enforced.
const POD_SECURITY: &str = "OpenShiftPodSecurityAdmission";

/// The set in which gates are turned one by one.
const CUSTOM: &str = "CustomNoUpgrade";

/// Gates by minor.
const TABLES: &[(&str, &str)] = &[
    ("1.35", include_str!("feature-gates/1.35.txt")),
    ("1.36", include_str!("feature-gates/1.36.txt")),
];

/// Sets the flag for gates that were turned by hand and that the program, by the name of its container, knows; programs
/// refuse an empty flag.
pub(crate) fn set(inputs: &Inputs<'_>, container: &mut Container) {
    let gates = gates(inputs).into_iter();
    let known = gates.filter(|(name, _)| *name != POD_SECURITY && is_known(inputs, name, Some(&container.name)));
    let known: Vec<String> = known.map(|(name, is_on)| format!("{name}={is_on}")).collect();
    if !known.is_empty() {
        flags::set(container, "feature-gates", known.join(","));
    }
}

/// Whether pod security is enforced where a namespace does not say.
pub(crate) fn enforces_pod_security(inputs: &Inputs<'_>) -> bool {
    gates(inputs).get(POD_SECURITY) == Some(&true)
}

/// What is left out.
pub(crate) fn warnings(inputs: &Inputs<'_>) -> Vec<String> {
    let path = "configuration.featureGate";
    let names: Vec<&str> = enabled(inputs).chain(disabled(inputs)).collect();
    let mut warnings: Vec<String> = match set_of_gates(inputs) {
        "" | "Default" if !names.is_empty() => {
            vec![format!("{path}.customNoUpgrade counts only with featureSet {CUSTOM}")]
        }
        "" | "Default" | CUSTOM => Vec::new(),
        other => vec![format!("{path}.featureSet {other:?}: choose Default or {CUSTOM}")],
    };
    if set_of_gates(inputs) == CUSTOM {
        let minor = inputs.release.kubernetes.minor_text();
        warnings.extend(names.into_iter().filter_map(|name| {
            if !is_gate(name) {
                return Some(format!(
                    "{path}.customNoUpgrade: {name:?} is not the name of a feature gate"
                ));
            }
            let is_known = name == POD_SECURITY || is_known(inputs, name, None);
            (!is_known)
                .then(|| format!("{path}.customNoUpgrade: Kubernetes {minor} has no feature gate {name} to turn"))
        }));
    }
    warnings
}

fn settings<'a>(inputs: &Inputs<'a>) -> Option<&'a FeatureGateConfiguration> {
    inputs.configuration()?.feature_gate.as_ref()
}

fn set_of_gates<'a>(inputs: &Inputs<'a>) -> &'a str {
    let set = settings(inputs).and_then(|settings| settings.feature_set.as_ref());
    set.map(FeatureGateSet::as_str).unwrap_or_default()
}

fn enabled<'a>(inputs: &Inputs<'a>) -> impl Iterator<Item = &'a str> {
    named(settings(inputs), |custom| &custom.enabled)
}

fn disabled<'a>(inputs: &Inputs<'a>) -> impl Iterator<Item = &'a str> {
    named(settings(inputs), |custom| &custom.disabled)
}

fn named(
    settings: Option<&FeatureGateConfiguration>,
    list: fn(&CustomFeatureGates) -> &[FeatureGateName],
) -> impl Iterator<Item = &str> {
    let custom = settings.and_then(|settings| settings.custom_no_upgrade.as_ref());
    custom.into_iter().flat_map(list).map(|name| name.0.as_str())
}

/// Gates by name. One that is both enabled and disabled is disabled.
fn gates<'a>(inputs: &Inputs<'a>) -> BTreeMap<&'a str, bool> {
    if set_of_gates(inputs) != CUSTOM {
        return BTreeMap::new();
    }
    let enabled = enabled(inputs).map(|name| (name, true));
    let disabled = disabled(inputs).map(|name| (name, false));
    enabled.chain(disabled).filter(|(name, _)| is_gate(name)).collect()
}

/// Whether a text can be the name of a gate, and so cannot smuggle in another one.
fn is_gate(name: &str) -> bool {
    const LONGEST: usize = 128;
    !name.is_empty() && name.len() <= LONGEST && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Whether a program knows a gate, or any program does. What is not known of a minor is left to its programs.
fn is_known(inputs: &Inputs<'_>, name: &str, program: Option<&str>) -> bool {
    let minor = inputs.release.kubernetes.minor_text();
    let Some((_, table)) = TABLES.iter().find(|(of, _)| *of == minor) else {
        return true;
    };
    table.lines().any(|line| {
        let mut words = line.split_whitespace();
        let is_gate = words.next() == Some("gate") && words.next() == Some(name);
        let mut programs = words.peekable();
        let is_for_all = programs.peek().is_none() || program.is_none();
        is_gate && (is_for_all || programs.any(|one| Some(one) == program))
    })
}

/// The minors whose gates are known.
#[cfg(test)]
pub(super) fn known_minors() -> impl Iterator<Item = &'static str> {
    TABLES.iter().map(|(minor, _)| *minor)
}
