//! `hyperplane operator` and the operators of one control plane: everything that reconciles on a cluster that is reached
//! by sockets. Owns the command line, the client and the end of the process.

mod on_cluster;
mod relay;
mod run;

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, ValueEnum};
use hyperplane_install::{MachineManager, NAMESPACE, Options, Program, TenantOperators};
use hyperplane_world::{Roles, Surroundings};

pub(crate) use self::on_cluster::OnCluster;
pub(crate) use hyperplane_install::DEFAULT_IMAGE;

/// How long a scope may be.
const LONGEST_SCOPE: usize = 40;

/// How the management cluster is reached.
#[derive(Args)]
pub struct Place {
    /// The kubeconfig of the management cluster [default: as any client finds it, or the account of this pod].
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The context in it.
    #[arg(long, value_name = "NAME", requires = "kubeconfig")]
    context: Option<String>,
    /// Where to answer /healthz, /readyz and /metrics; without it nothing listens.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
}

/// The manager: all operators for all control planes.
#[derive(Args)]
pub struct Manager {
    #[command(flatten)]
    place: Place,
    /// The namespace that this program is installed in, with its lease.
    #[arg(long, value_name = "NAME", default_value = NAMESPACE)]
    namespace: String,
    /// The image of this program, for what runs in control planes.
    #[arg(long, value_name = "IMAGE", default_value = DEFAULT_IMAGE)]
    image: String,
    /// The domain for endpoints that are published by Route without a hostname.
    #[arg(long, value_name = "DOMAIN")]
    ingress_domain: Option<String>,
    /// A network of the management cluster that hosted control planes must not reach, besides those that it tells of
    /// itself; repeatable.
    #[arg(long, value_name = "CIDR", value_parser = network)]
    management_network: Vec<String>,
    /// A namespace whose pods may collect metrics of hosted control planes, besides those that OpenShift labels for it;
    /// repeatable.
    #[arg(long, value_name = "NAME")]
    monitoring_namespace: Vec<String>,
    /// The platform that the management cluster runs on [default: what an OpenShift cluster says].
    #[arg(long, value_name = "NAME")]
    management_platform: Option<String>,
    /// Serve only HostedClusters whose annotation hypershift.openshift.io/scope has this value: others have a manager of
    /// their own.
    #[arg(long, value_name = "NAME", value_parser = scope)]
    scope: Option<String>,
    /// Who makes and removes the machines of hosted clusters.
    #[arg(long, value_enum, default_value_t = Machines::Hyperplane)]
    machines: Machines,
    /// Where the operators of a control plane run if the annotation hyperplane.dev/tenant-operators of its cluster does
    /// not say.
    #[arg(long, value_enum, default_value_t = TenantsRun::Shared)]
    tenant_operators: TenantsRun,
    /// What machines of KubeVirt start from where neither their NodePool nor its release says.
    #[arg(long, value_name = "IMAGE")]
    boot_image: Option<String>,
    /// Do not write kinds, priorities and the rights of the manager: somebody else does.
    #[arg(long)]
    no_setup: bool,
    /// Write without a lease: no other manager runs.
    #[arg(long)]
    no_lease: bool,
    /// Reach hosted API servers through this address, where the name in the TLS greeting leads on: for a manager outside
    /// of the management cluster.
    #[arg(long, value_name = "ADDRESS", conflicts_with = "twin")]
    hosted_relay: Option<SocketAddr>,
    /// Play the machines of the management cluster: pods are run by a simulation, with hosted API servers that answer.
    #[arg(long)]
    twin: bool,
}

impl Manager {
    /// The name of the lease: managers for different clusters do not exclude each other.
    fn lease(&self) -> String {
        Program::Operator.lease(self.scope.as_deref())
    }

    /// What is set up, where nobody has installed it before.
    fn options(&self) -> Options {
        Options {
            namespace: self.namespace.clone(),
            scope: self.scope.clone(),
            machines: self.machines.into(),
            ..Options::default()
        }
    }

    /// What the cluster tells of itself, and what is said besides.
    fn surroundings(&self, mut found: Surroundings) -> Surroundings {
        found.networks.closed.clone_from(&self.management_network);
        let named = |name: &String| [("kubernetes.io/metadata.name".to_owned(), name.clone())].into();
        found
            .networks
            .monitoring
            .extend(self.monitoring_namespace.iter().map(named));
        found.platform = self.management_platform.clone().or(found.platform);
        found.dedicates_operators = self.tenant_operators == TenantsRun::Dedicated;
        found
    }
}

/// Who makes and removes the machines of hosted clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Machines {
    /// This program, for all control planes
    Hyperplane,
    /// The same controllers in a process of their own: hyperplane machine-controller
    Separate,
    /// A manager of Cluster API in each control plane, from its release
    ClusterApi,
}

impl From<Machines> for MachineManager {
    fn from(chosen: Machines) -> Self {
        match chosen {
            Machines::Hyperplane => Self::Hyperplane,
            Machines::Separate => Self::Separate,
            Machines::ClusterApi => Self::ClusterApi,
        }
    }
}

/// Where the operators of control planes run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TenantsRun {
    /// In the process of the manager, each under the account of its control plane
    Shared,
    /// In the namespace of each control plane
    Dedicated,
}

impl From<TenantsRun> for TenantOperators {
    fn from(chosen: TenantsRun) -> Self {
        match chosen {
            TenantsRun::Shared => Self::Shared,
            TenantsRun::Dedicated => Self::Dedicated,
        }
    }
}

/// A network as policies have it.
pub(crate) fn network(text: &str) -> Result<String, String> {
    hyperplane_hosted_cluster::check_network(text)?;
    Ok(text.to_owned())
}

/// A scope is part of the name of a lease.
pub(crate) fn scope(text: &str) -> Result<String, String> {
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let has_ends = text.bytes().next().is_some_and(is_word) && text.bytes().next_back().is_some_and(is_word);
    let is_name = has_ends && text.len() <= LONGEST_SCOPE && text.bytes().all(|byte| is_word(byte) || byte == b'-');
    if is_name {
        Ok(text.to_owned())
    } else {
        Err(format!(
            "use at most {LONGEST_SCOPE} of a-z, 0-9 and -, with none of the last at an end"
        ))
    }
}

/// The controllers of machines, beside a manager that leaves machines to them.
#[derive(Args)]
pub struct MachineController {
    #[command(flatten)]
    place: Place,
    /// The namespace that this program is installed in, with its lease.
    #[arg(long, value_name = "NAME", default_value = NAMESPACE)]
    namespace: String,
    /// Serve only machines of HostedClusters whose annotation hypershift.openshift.io/scope has this value.
    #[arg(long, value_name = "NAME", value_parser = scope)]
    scope: Option<String>,
    /// Write without a lease: no other machine-controller runs.
    #[arg(long)]
    no_lease: bool,
    /// Reach hosted API servers through this address, where the name in the TLS greeting leads on: for a process outside
    /// of the management cluster.
    #[arg(long, value_name = "ADDRESS")]
    hosted_relay: Option<SocketAddr>,
}

/// One operator of one control plane.
#[derive(Args)]
pub struct Tenant {
    #[command(flatten)]
    place: Place,
    /// The namespace of the control plane.
    #[arg(long, value_name = "NAME")]
    namespace: String,
    /// Work only while the control plane is asked to have this release; another operator has the others.
    #[arg(long, value_name = "IMAGE")]
    only_release: Option<String>,
}

/// Which operator of a control plane.
#[derive(Clone, Copy)]
pub enum Part {
    /// That of its components.
    ControlPlane,
    /// That of its certificates.
    Pki,
    /// That of what is inside.
    Config,
}

/// Runs the manager.
pub fn manage(arguments: &Manager) -> anyhow::Result<()> {
    run::process(run::manager(arguments))
}

/// Runs the controllers of machines alone.
pub fn control_machines(arguments: &MachineController) -> anyhow::Result<()> {
    run::process(run::machine_controller(arguments))
}

/// Runs one operator of one control plane.
pub fn serve_tenant(part: Part, arguments: &Tenant) -> anyhow::Result<()> {
    let namespace = arguments.namespace.clone();
    let only_release = arguments.only_release.clone();
    let roles = match part {
        Part::ControlPlane => Roles::ControlPlane {
            namespace,
            only_release,
        },
        Part::Pki => {
            // Certificates belong to no release: whoever asks for that means another operator.
            anyhow::ensure!(
                only_release.is_none(),
                "--only-release: the PKI operator serves every release"
            );
            Roles::Pki { namespace }
        }
        Part::Config => Roles::Config {
            namespace,
            only_release,
        },
    };
    run::process(run::tenant(&arguments.place, roles))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        manager: Manager,
    }

    fn manager(words: &[&str]) -> Result<Manager, clap::Error> {
        Line::try_parse_from(["operator"].iter().chain(words)).map(|line| line.manager)
    }

    #[test]
    fn what_is_said_of_the_cluster_is_added_to_what_it_tells() {
        let words = "--monitoring-namespace metrics --management-network 10.0.0.0/8 --management-platform AWS";
        let told = Surroundings {
            platform: Some("None".to_owned()),
            ..Surroundings::default()
        };
        let words: Vec<&str> = words.split(' ').collect();
        let found = manager(&words).unwrap().surroundings(told.clone());
        assert_eq!(found.networks.closed, ["10.0.0.0/8"]);
        assert_eq!(found.platform.as_deref(), Some("AWS"));
        let monitoring = &found.networks.monitoring;
        assert_eq!(
            monitoring.len(),
            told.networks.monitoring.len() + 1,
            "labels of OpenShift stay"
        );
        assert_eq!(monitoring[1]["kubernetes.io/metadata.name"], "metrics");
        assert!(!found.dedicates_operators);
        let dedicated = manager(&["--tenant-operators=dedicated"]).unwrap();
        assert!(dedicated.surroundings(told.clone()).dedicates_operators);
        let silent = manager(&[]).unwrap().surroundings(told);
        assert_eq!(silent.platform.as_deref(), Some("None"));
    }

    #[test]
    fn machines_are_ours_unless_somebody_else_is_named() {
        let chosen = |words: &[&str]| manager(words).map(|found| MachineManager::from(found.machines));
        assert_eq!(chosen(&[]).unwrap(), MachineManager::Hyperplane);
        assert_eq!(chosen(&["--machines=hyperplane"]).unwrap(), MachineManager::Hyperplane);
        assert_eq!(chosen(&["--machines=separate"]).unwrap(), MachineManager::Separate);
        assert_eq!(chosen(&["--machines=cluster-api"]).unwrap(), MachineManager::ClusterApi);
        assert!(chosen(&["--machines=nobody"]).is_err());
    }

    #[test]
    fn a_scope_has_a_lease_of_its_own_and_must_fit_into_its_name() {
        assert_eq!(manager(&[]).unwrap().lease(), "hyperplane-operator");
        assert_eq!(manager(&["--scope", "a-1"]).unwrap().lease(), "hyperplane-operator-a-1");
        let long = "a".repeat(LONGEST_SCOPE + 1);
        for text in ["", "A", "-a", "a-", "a_b", "a/b", &long] {
            assert!(manager(&[&format!("--scope={text}")]).is_err(), "{text}");
        }
        assert!(manager(&["--management-network", "10.0.0.1/8"]).is_err());
    }
}
