//! What a MachineHealthCheck asks for, in the terms of the arithmetic. Pure; it is here that a spec is found to make no
//! sense.

use std::time::Duration;

use hyperplane_api::{
    cluster_api::{
        constants::DEFAULT_NODE_STARTUP_TIMEOUT_SECONDS,
        machine_health_check::{MachineHealthCheck, MachineHealthChecks, RemediationTrigger, UnhealthyRange},
    },
    common::IntOrString,
};
use hyperplane_rollout::health::{Amount, BadCondition, Policy, Trigger};
use hyperplane_runtime::Failure;
use k8s_openapi::apimachinery::pkg::util::intstr;

/// What a check asks for.
pub(crate) fn policy(check: &MachineHealthCheck) -> Result<Policy, Failure> {
    let none = MachineHealthChecks::default();
    let checks = check.spec.checks.as_ref().unwrap_or(&none);
    let remediation = check.spec.remediation.as_ref();
    let trigger = remediation.and_then(|remediation| remediation.trigger_if.as_ref());
    let startup = checks
        .node_startup_timeout_seconds
        .unwrap_or(DEFAULT_NODE_STARTUP_TIMEOUT_SECONDS);
    Ok(Policy {
        node_startup_timeout: Some(seconds(startup)).filter(|timeout| !timeout.is_zero()),
        node_conditions: checks
            .unhealthy_node_conditions
            .iter()
            .map(|bad| condition(&bad.r#type, &bad.status, bad.timeout_seconds))
            .collect(),
        machine_conditions: checks
            .unhealthy_machine_conditions
            .iter()
            .map(|bad| condition(bad.r#type.as_str(), bad.status.as_str(), bad.timeout_seconds))
            .collect(),
        trigger: trigger.map_or(Ok(Trigger::Always), read_trigger)?,
    })
}

/// Whether somebody else repairs machines, so that their owner must not replace them.
pub(crate) fn is_external(check: &MachineHealthCheck) -> bool {
    let remediation = check.spec.remediation.as_ref();
    remediation.is_some_and(|remediation| remediation.template_ref.is_some())
}

fn read_trigger(trigger: &RemediationTrigger) -> Result<Trigger, Failure> {
    match (&trigger.unhealthy_in_range, &trigger.unhealthy_less_than_or_equal_to) {
        (Some(range), _) => read_range(range),
        (None, Some(amount)) => read_amount(amount).map(Trigger::AtMost),
        (None, None) => Ok(Trigger::Always),
    }
}

fn read_range(range: &UnhealthyRange) -> Result<Trigger, Failure> {
    let text = range.as_str();
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let ends = inner.and_then(|inner| inner.split_once('-'));
    let ends = ends.and_then(|(least, most)| Some((least.parse::<u32>().ok()?, most.parse::<u32>().ok()?)));
    match ends {
        Some((least, most)) if least <= most => Ok(Trigger::Within { least, most }),
        _ => Err(Failure::user(
            "spec.remediation.triggerIf.unhealthyInRange",
            "must be two numbers in brackets, the smaller one first",
            "write for example [1-3]",
        )),
    }
}

fn read_amount(amount: &IntOrString) -> Result<Amount, Failure> {
    let read = match &amount.0 {
        intstr::IntOrString::Int(count) => u32::try_from(*count).ok().map(Amount::Count),
        intstr::IntOrString::String(text) => {
            let percent = text.strip_suffix('%');
            percent
                .and_then(|percent| percent.parse::<u32>().ok())
                .map(Amount::Percent)
        }
    };
    read.ok_or_else(|| {
        Failure::user(
            "spec.remediation.triggerIf.unhealthyLessThanOrEqualTo",
            "must be a number from 0 or a percentage",
            "write for example 2 or 40%",
        )
    })
}

fn condition(type_: &str, status: &str, timeout: i32) -> BadCondition {
    BadCondition {
        type_: type_.to_owned(),
        status: status.to_owned(),
        timeout: seconds(timeout),
    }
}

fn seconds(seconds: i32) -> Duration {
    Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::health_check::targets::testing::check;

    fn read(spec: &Value) -> Result<Policy, Failure> {
        policy(&check("a", spec))
    }

    fn trigger(trigger_if: &Value) -> Result<Trigger, Failure> {
        read(&json!({"remediation": {"triggerIf": trigger_if}})).map(|policy| policy.trigger)
    }

    #[test]
    fn defaults_are_those_of_cluster_api() {
        let policy = read(&json!({})).unwrap();
        assert_eq!(policy.node_startup_timeout, Some(Duration::from_mins(10)));
        assert_eq!(policy.trigger, Trigger::Always);
        let off = read(&json!({"checks": {"nodeStartupTimeoutSeconds": 0}})).unwrap();
        assert_eq!(off.node_startup_timeout, None);
    }

    #[test]
    fn conditions_of_nodes_and_machines_are_read() {
        let spec = json!({"checks": {
            "unhealthyNodeConditions": [{"type": "Ready", "status": "Unknown", "timeoutSeconds": 480}],
            "unhealthyMachineConditions": [{"type": "InfrastructureReady", "status": "False", "timeoutSeconds": 5}],
        }});
        let policy = read(&spec).unwrap();
        assert_eq!(policy.node_conditions, [condition("Ready", "Unknown", 480)]);
        assert_eq!(
            policy.machine_conditions,
            [condition("InfrastructureReady", "False", 5)]
        );
    }

    #[test]
    fn triggers_are_read_or_refused_with_their_field() {
        for (given, expected) in [
            (
                json!({"unhealthyLessThanOrEqualTo": 2}),
                Trigger::AtMost(Amount::Count(2)),
            ),
            (
                json!({"unhealthyLessThanOrEqualTo": "40%"}),
                Trigger::AtMost(Amount::Percent(40)),
            ),
            (
                json!({"unhealthyInRange": "[1-3]"}),
                Trigger::Within { least: 1, most: 3 },
            ),
            (
                json!({"unhealthyInRange": "[1-3]", "unhealthyLessThanOrEqualTo": 9}),
                Trigger::Within { least: 1, most: 3 },
            ),
        ] {
            assert_eq!(trigger(&given).unwrap(), expected, "{given}");
        }
        for given in [
            json!({"unhealthyLessThanOrEqualTo": -1}),
            json!({"unhealthyLessThanOrEqualTo": "many"}),
            json!({"unhealthyInRange": "[3-1]"}),
            json!({"unhealthyInRange": "[1-99999999999]"}),
        ] {
            assert!(matches!(trigger(&given), Err(Failure::User { .. })), "{given}");
        }
    }

    #[test]
    fn a_template_says_that_others_repair() {
        let reference = json!({"apiVersion": "example.com/v1", "kind": "FixTemplate", "name": "a"});
        assert!(is_external(&check(
            "a",
            &json!({"remediation": {"templateRef": reference}})
        )));
        assert!(!is_external(&check("a", &json!({}))));
    }
}
