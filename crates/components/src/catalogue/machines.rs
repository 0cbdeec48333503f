//! What looks after the machines of a hosted cluster: the manager of Cluster API, its provider for the platform, and who
//! lets new nodes in.

use hyperplane_api::{
    constants::{annotations, groups, objects::components},
    hypershift::platform_type::PlatformType,
};

use crate::{
    component::{Asset, Component, HostedServiceAccount, Sidecar, Traits, WorkloadKind, asset},
    flags,
    inputs::Inputs,
    manifest::{Manifest, Workload},
};

const CLUSTER_API_ASSETS: &[Asset] = &[
    asset!("cluster-api/service-account.yaml"),
    asset!("cluster-api/role.yaml"),
    asset!("cluster-api/role-binding.yaml"),
    asset!("cluster-api/deployment.yaml"),
];

const PROVIDER_ASSETS: &[Asset] = &[
    asset!("capi-provider/service-account.yaml"),
    asset!("capi-provider/role.yaml").adapted(adapt_provider_role),
    asset!("capi-provider/role-binding.yaml"),
    asset!("capi-provider/deployment.yaml"),
];

const APPROVER_ASSETS: &[Asset] = &[
    asset!("machine-approver/service-account.yaml"),
    asset!("machine-approver/role.yaml"),
    asset!("machine-approver/role-binding.yaml"),
    asset!("machine-approver/deployment.yaml"),
];

/// Both must work after the API server has gone, or machines would be left behind.
const MANAGER_TRAITS: Traits = Traits {
    needs_management_api: true,
    precedes_api_server: true,
    ..Traits::ORDINARY
};

/// The manager of Cluster API, where our own controllers do not do its work.
pub(super) const CLUSTER_API: Component = Component {
    traits: MANAGER_TRAITS,
    predicate: are_managed_by_others,
    ..Component::new(components::CLUSTER_API, WorkloadKind::Deployment, CLUSTER_API_ASSETS)
};

/// The provider of Cluster API for the platform. Its inputs must name the platform of the HostedCluster: the control plane
/// of one with agents is of platform None.
pub(super) const PROVIDER: Component = Component {
    traits: MANAGER_TRAITS,
    predicate: are_managed,
    adapt: adapt_provider,
    ..Component::new(
        components::CLUSTER_API_PROVIDER,
        WorkloadKind::Deployment,
        PROVIDER_ASSETS,
    )
};

/// Who approves the certificate requests of nodes that belong to machines.
pub(super) const APPROVER: Component = Component {
    traits: Traits {
        needs_management_api: true,
        ..Traits::ORDINARY
    },
    predicate: are_managed,
    sidecars: &[Sidecar::AvailabilityProber(&[])],
    hosted_service_account: Some(HostedServiceAccount {
        namespace: "kube-system",
        name: components::MACHINE_APPROVER,
    }),
    ..Component::new(components::MACHINE_APPROVER, WorkloadKind::Deployment, APPROVER_ASSETS)
};

/// Whether machines are looked after at all.
pub(super) fn are_managed(inputs: &Inputs<'_>) -> bool {
    !inputs.is_set(annotations::DISABLE_MACHINE_MANAGEMENT)
}

fn are_managed_by_others(inputs: &Inputs<'_>) -> bool {
    are_managed(inputs) && !inputs.management.runs_machines
}

/// Groups that a provider needs only on its own platform.
const OF_KUBEVIRT: &[&str] = &["kubevirt.io", "subresources.kubevirt.io", "cdi.kubevirt.io"];
const OF_AGENTS: &[&str] = &[groups::AGENT_PROVIDER];

fn adapt_provider_role(inputs: &Inputs<'_>, manifest: &mut Manifest) {
    let Manifest::Role(role) = manifest else { return };
    let has = |groups: &Option<Vec<String>>, of: &[&str]| {
        let mut groups = groups.iter().flatten();
        groups.any(|group| of.contains(&group.as_str()))
    };
    let (on_kubevirt, with_agents) = match inputs.platform() {
        PlatformType::KubeVirt => (true, false),
        PlatformType::Agent => (false, true),
        _ => (false, false),
    };
    role.rules.get_or_insert_default().retain(|rule| {
        (on_kubevirt || !has(&rule.api_groups, OF_KUBEVIRT)) && (with_agents || !has(&rule.api_groups, OF_AGENTS))
    });
}

/// Providers are programs of different people, and call the same things by different names.
fn adapt_provider(inputs: &Inputs<'_>, workload: &mut Workload) {
    let Some(container) = workload.container_mut("manager") else {
        return;
    };
    let (health, metrics) = match inputs.platform() {
        PlatformType::KubeVirt => ("health-addr", "metrics-bind-addr"),
        _ => ("health-probe-bind-address", "metrics-bind-address"),
    };
    flags::set(container, health, ":9440");
    flags::set(container, metrics, "127.0.0.1:8080");
    let agent = inputs.control_plane.spec.platform.agent.as_ref();
    if let Some(agent) = agent.filter(|_| *inputs.platform() == PlatformType::Agent) {
        flags::set(container, "agent-namespace", &agent.agent_namespace);
    }
}
