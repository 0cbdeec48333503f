//! The list of all components, in the order in which they are looked at. An entry is one small file and its assets.

mod cluster_autoscaler;
pub(crate) mod etcd;
mod ignition_server;
mod konnectivity_agent;
mod kube_apiserver;
mod kube_controller_manager;
mod kube_scheduler;
mod kubevirt_cloud_controller_manager;
mod machines;
mod openshift_apiserver;
mod operators;
mod router;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use k8s_openapi::api::{core::v1::Container, rbac::v1::PolicyRule};

use crate::{
    assets,
    component::{Component, HostedServiceAccount},
    images,
    inputs::Inputs,
    manifest::{Manifest, Workload},
    recovery,
    render::render,
};

/// The components that the control-plane operator runs.
pub fn catalogue() -> &'static [Component] {
    static CATALOGUE: &[Component] = &[
        operators::PKI,
        etcd::COMPONENT,
        kube_apiserver::COMPONENT,
        kube_controller_manager::COMPONENT,
        kube_scheduler::COMPONENT,
        openshift_apiserver::COMPONENT,
        cluster_autoscaler::COMPONENT,
        operators::CONFIG,
        kubevirt_cloud_controller_manager::COMPONENT,
        machines::APPROVER,
        konnectivity_agent::COMPONENT,
        ignition_server::COMPONENT,
        router::COMPONENT,
    ];
    CATALOGUE
}

/// The components that the manager runs in the namespace of a control plane, because they must work before and after its
/// operator does.
pub fn manager_catalogue() -> &'static [Component] {
    static CATALOGUE: &[Component] = &[operators::CONTROL_PLANE, machines::CLUSTER_API, machines::PROVIDER];
    CATALOGUE
}

/// Components that act in the hosted cluster as service accounts of it, with these.
pub fn hosted_service_accounts() -> impl Iterator<Item = (&'static str, HostedServiceAccount)> {
    let all = catalogue().iter().chain(manager_catalogue());
    all.filter_map(|component| Some((component.name, component.hosted_service_account?)))
}

/// The subcommands of this program that rendered containers run.
pub const SUBCOMMANDS: &[&str] = &[
    "availability-prober",
    "config-operator",
    "control-plane-operator",
    "etcd-defrag",
    "etcd-recover-member",
    "etcd-reset-member",
    "ignition-server",
    "konnectivity-https-proxy",
    "konnectivity-socks5-proxy",
    "machine-approver",
    "pki-operator",
    "router",
    "tail",
    "token-minter",
    "wait-for",
];

/// The arguments of every container in a control plane that runs this program, the subcommand first.
pub fn subcommands(inputs: &Inputs<'_>) -> BTreeSet<Vec<String>> {
    let all = catalogue().iter().chain(manager_catalogue());
    let is_rendered =
        |component: &&Component| images::exists(component, inputs) && images::lacking(component, inputs).is_empty();
    let present = all.filter(is_rendered);
    let mut found = recovery::subcommands(inputs);
    for component in present {
        found.extend(subcommands_of(component, inputs));
    }
    found
}

/// The same of one component, whether the control plane has it or not.
pub fn subcommands_of(component: &Component, inputs: &Inputs<'_>) -> Vec<Vec<String>> {
    let (rendered, ..) = render(component, inputs, None);
    arguments_of(&rendered.workload).collect()
}

/// The arguments of the containers of a workload that run this program.
pub(crate) fn arguments_of(workload: &Workload) -> impl Iterator<Item = Vec<String>> {
    let is_ours = |container: &&Container| container.command.as_deref() == Some(&["hyperplane".to_owned()]);
    let ours = workload.containers().filter(is_ours);
    ours.filter_map(|container| container.args.clone())
}

/// Everything that the Roles of components allow, in any control plane. Whoever writes Roles must hold what they allow.
pub fn granted_rules(components: &[Component]) -> Vec<PolicyRule> {
    let manifests = components.iter().flat_map(assets::manifests);
    let roles = manifests.filter_map(|(_, manifest)| match manifest {
        Manifest::Role(role) => role.rules,
        _ => None,
    });
    let mut rules: Vec<PolicyRule> = Vec::new();
    for rule in roles.flatten() {
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    rules
}
