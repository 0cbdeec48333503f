//! Feature gates that a user turns by hand.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Container;
use serde_json::Value;

use super::texts;
use crate::{flags, inputs::Inputs};

/// A gate of OpenShift that no program of Kubernetes knows: with it the level restricted of pod security is enforced.
const POD_SECURITY: &str = "OpenShiftPodSecurityAdmission";

/// Sets the flag for gates that were turned by hand; programs refuse an empty one.
pub(crate) fn set(inputs: &Inputs<'_>, container: &mut Container) {
    let gates = gates(inputs).into_iter().filter(|(name, _)| *name != POD_SECURITY);
    let gates: Vec<String> = gates.map(|(name, is_on)| format!("{name}={is_on}")).collect();
    if !gates.is_empty() {
        flags::set(container, "feature-gates", gates.join(","));
    }
}

/// Whether pod security is enforced where a namespace does not say.
pub(crate) fn enforces_pod_security(inputs: &Inputs<'_>) -> bool {
    gates(inputs).get(POD_SECURITY) == Some(&true)
}

/// What is left out.
pub(crate) fn warnings(inputs: &Inputs<'_>) -> Vec<String> {
    let custom = custom(inputs);
    let names = texts(&custom["enabled"]).chain(texts(&custom["disabled"]));
    let wrong = names.filter(|name| !is_gate(name));
    wrong
        .map(|name| format!("configuration.featureGate.customNoUpgrade: {name:?} is not the name of a feature gate"))
        .collect()
}

fn custom<'a>(inputs: &Inputs<'a>) -> &'a Value {
    inputs.configuration(&["featureGate", "customNoUpgrade"])
}

/// Gates by name. One that is both enabled and disabled is disabled.
fn gates<'a>(inputs: &Inputs<'a>) -> BTreeMap<&'a str, bool> {
    let custom = custom(inputs);
    let enabled = texts(&custom["enabled"]).map(|name| (name, true));
    let disabled = texts(&custom["disabled"]).map(|name| (name, false));
    enabled.chain(disabled).filter(|(name, _)| is_gate(name)).collect()
}

/// Whether a text can be the name of a gate, and so cannot smuggle in another one.
fn is_gate(name: &str) -> bool {
    const LONGEST: usize = 128;
    !name.is_empty() && name.len() <= LONGEST && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
