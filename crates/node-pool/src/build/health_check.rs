//! The MachineHealthCheck of a pool: when one of its machines counts as unhealthy, and up to how many are replaced.

use std::time::Duration;

use hyperplane_api::{
    cluster_api::machine_health_check::{
        MachineHealthCheck, MachineHealthCheckRemediation, MachineHealthCheckSpec, MachineHealthChecks,
        RemediationTrigger, UnhealthyNodeCondition,
    },
    common::{GoDuration, IntOrString},
    constants::{Annotation, annotations},
    hypershift::{hosted_cluster::HostedCluster, platform_type::PlatformType},
};
use hyperplane_rollout::{Rounding, amount};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use crate::{metadata::Owner, names};

/// How long a node may be unhealthy.
const TIMEOUT: Duration = Duration::from_mins(8);
/// The same for hosts that take longer to come back: those that are not made anew.
const TIMEOUT_OF_HOSTS: Duration = Duration::from_mins(16);
/// How long a machine may take to become a node.
const STARTUP: Duration = Duration::from_mins(20);
/// How many unhealthy machines are replaced; with more, the fault is taken to lie elsewhere.
const MAX_UNHEALTHY: i32 = 2;

pub(super) fn build(owner: &Owner<'_>, cluster: &HostedCluster) -> MachineHealthCheck {
    let said = Said { owner, cluster };
    let is_host = matches!(owner.pool.spec.platform.type_, PlatformType::Agent | PlatformType::None);
    let usual = if is_host { TIMEOUT_OF_HOSTS } else { TIMEOUT };
    let timeout = said.duration(annotations::MACHINE_HEALTH_CHECK_TIMEOUT, usual);
    let startup = said.duration(annotations::MACHINE_HEALTH_CHECK_NODE_STARTUP_TIMEOUT, STARTUP);
    let condition = |status: &str| UnhealthyNodeCondition {
        r#type: "Ready".to_owned(),
        status: status.to_owned(),
        timeout_seconds: timeout,
    };
    let name = names::machines(owner.pool);
    let spec = MachineHealthCheckSpec {
        cluster_name: owner.infra_id.to_owned(),
        selector: LabelSelector {
            match_labels: Some(owner.selector()),
            match_expressions: None,
        },
        checks: Some(MachineHealthChecks {
            node_startup_timeout_seconds: Some(startup),
            unhealthy_node_conditions: vec![condition("False"), condition("Unknown")],
            unhealthy_machine_conditions: Vec::new(),
        }),
        remediation: Some(MachineHealthCheckRemediation {
            trigger_if: Some(RemediationTrigger {
                unhealthy_less_than_or_equal_to: Some(said.max_unhealthy()),
                unhealthy_in_range: None,
            }),
            template_ref: None,
        }),
    };
    let mut check = MachineHealthCheck::new(&name, spec);
    check.metadata = owner.metadata(&name);
    check
}

/// What annotations say: those of the pool before those of the cluster. What cannot be read says nothing.
struct Said<'a> {
    owner: &'a Owner<'a>,
    cluster: &'a HostedCluster,
}

impl Said<'_> {
    fn read<T>(&self, key: Annotation, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        let of_pool = key.of(self.owner.pool).and_then(&parse);
        of_pool.or_else(|| key.of(self.cluster).and_then(&parse))
    }

    fn duration(&self, key: Annotation, usual: Duration) -> i32 {
        let said = self.read(key, |text| text.parse::<GoDuration>().ok()?.to_duration().ok());
        i32::try_from(said.unwrap_or(usual).as_secs()).unwrap_or(i32::MAX)
    }

    fn max_unhealthy(&self) -> IntOrString {
        let said = self.read(annotations::MACHINE_HEALTH_CHECK_MAX_UNHEALTHY, |text| {
            let given = text
                .parse::<i32>()
                .map_or_else(|_| IntOrString::from(text), IntOrString::from);
            amount(&given, 1, Rounding::Down).is_ok().then_some(given)
        });
        said.unwrap_or_else(|| MAX_UNHEALTHY.into())
    }
}
