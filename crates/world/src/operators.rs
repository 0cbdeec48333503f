//! All operators on one manager, or one of them for one namespace. The same code serves an embedded and a real cluster:
//! only the client and the way to hosted clusters differ.

use hyperplane_api::constants::{annotations, objects::roles, ours};
use hyperplane_component_driver::Facts;
use hyperplane_control_plane::ControlPlaneSettings;
use hyperplane_hosted_cluster::HostedClusterSettings;
use hyperplane_hosted_config::HostedConfigSettings;
use hyperplane_install::{MachineManager, NAMESPACE, Program};
use hyperplane_machines::MachinesSettings;
use hyperplane_node_pool::NodePoolSettings;
use hyperplane_pki::PkiSettings;
use hyperplane_runtime::{Clock, Entropy, IdentityMode, LeaseSettings, Manager, Only, Reach, Scope, Settings};
use kube::Client;

use crate::{arguments::flag, discovery::Surroundings};

/// Which operators run in this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Roles {
    /// All of them, for all namespaces.
    All,
    /// The control-plane operator of one namespace.
    ControlPlane {
        /// The namespace.
        namespace: String,
        /// The only release that it works on, if it is bound to one.
        only_release: Option<String>,
    },
    /// The PKI operator of one namespace.
    Pki {
        /// The namespace.
        namespace: String,
    },
    /// The controllers of machines alone, for all namespaces.
    Machines,
    /// The config operator of one namespace.
    Config {
        /// The namespace.
        namespace: String,
        /// The only release that it works on, if it is bound to one.
        only_release: Option<String>,
    },
}

impl Roles {
    /// The roles that a command line of this program asks for: the subcommand and its flags.
    pub fn of_arguments(arguments: &[String]) -> Option<Self> {
        let (subcommand, flags) = arguments.split_first()?;
        let flag = |name: &str| flag(flags, name).map(str::to_owned);
        if subcommand == Program::MachineController.account() {
            return Some(Self::Machines);
        }
        let namespace = flag("--namespace")?;
        match subcommand.as_str() {
            "control-plane-operator" => Some(Self::ControlPlane {
                namespace,
                only_release: flag("--only-release"),
            }),
            "pki-operator" => Some(Self::Pki { namespace }),
            "config-operator" => Some(Self::Config {
                namespace,
                only_release: flag("--only-release"),
            }),
            _ => None,
        }
    }

    /// The service account of operators: namespace and name. Those of all namespaces have theirs where they are installed
    /// if nothing else is asked for.
    pub fn account(&self) -> (&str, &'static str) {
        match self {
            Self::All => (NAMESPACE, Program::Operator.account()),
            Self::Machines => (NAMESPACE, Program::MachineController.account()),
            Self::ControlPlane { namespace, .. } => (namespace, roles::CONTROL_PLANE_OPERATOR),
            Self::Pki { namespace } => (namespace, roles::PKI_OPERATOR),
            Self::Config { namespace, .. } => (namespace, roles::CONFIG_OPERATOR),
        }
    }

    /// Whether they serve all namespaces, and must know the management cluster for it.
    pub const fn serves_all(&self) -> bool {
        matches!(self, Self::All | Self::Machines)
    }
}

/// What operators are told from outside.
#[derive(Clone, Debug)]
pub struct OperatorSettings {
    /// Tells this process from others.
    pub instance: String,
    /// Wall time.
    pub clock: Clock,
    /// All jitter follows from it.
    pub seed: u64,
    /// Where key material comes from.
    pub entropy: Entropy,
    /// How tenants' identities reach the server.
    pub identity_mode: IdentityMode,
    /// The lease to hold before writing.
    pub lease: Option<LeaseSettings>,
    /// The clusters that this process is for, by their annotation of scope; all of them where nothing is said.
    pub scope: Option<String>,
    /// What is known of the management cluster.
    pub facts: Facts,
    /// What only those must know who make control planes.
    pub surroundings: Surroundings,
    /// Who makes and removes machines.
    pub machines: MachineManager,
    /// What machines start from where neither their pool nor its release says.
    pub boot_image: Option<String>,
    /// How hosted API servers are reached.
    pub reach: Reach,
    /// How clusters are reached that users name: those with machines of theirs.
    pub elsewhere: Reach,
}

/// A manager with the operators of these roles.
pub fn manager(client: Client, settings: &OperatorSettings, roles: Roles) -> Manager {
    let mut of_manager = Settings::new(
        ours::MANAGED_BY_US,
        &settings.instance,
        settings.clock.clone(),
        settings.seed,
    );
    of_manager.identity_mode = settings.identity_mode;
    of_manager.lease.clone_from(&settings.lease);
    let scope = settings.scope.clone().filter(|_| roles.serves_all());
    of_manager.only = scope.map(|value| Only {
        annotation: annotations::SCOPE.as_str(),
        value,
    });
    let mut manager = Manager::new(client, of_manager);
    match roles {
        Roles::All => add_all(&mut manager, settings),
        Roles::Machines => add_machines(&mut manager, settings),
        Roles::ControlPlane {
            namespace,
            only_release,
        } => add_control_plane(&mut manager, settings, Scope::Namespace(namespace), only_release),
        Roles::Pki { namespace } => add_pki(&mut manager, settings, Scope::Namespace(namespace)),
        Roles::Config {
            namespace,
            only_release,
        } => add_config(&mut manager, settings, Scope::Namespace(namespace), only_release),
    }
    manager
}

fn add_all(manager: &mut Manager, settings: &OperatorSettings) {
    let of_operator = HostedClusterSettings {
        facts: Facts {
            runs_machines: settings.machines.is_ours(),
            ..settings.facts.clone()
        },
        served: settings.surroundings.served,
        dedicates_operators: settings.surroundings.dedicates_operators,
        assigns_user_ids: !settings.surroundings.is_openshift,
        networks: settings.surroundings.networks.clone(),
        management_platform: settings.surroundings.platform.clone(),
        reach: settings.elsewhere.clone(),
        seed: settings.seed,
        entropy: settings.entropy.clone(),
    };
    hyperplane_hosted_cluster::register(manager, of_operator);
    hyperplane_hosted_cluster::register_without_effect(manager, &settings.surroundings.without_effect);
    add_control_plane(manager, settings, Scope::Everywhere, None);
    add_pki(manager, settings, Scope::Everywhere);
    add_config(manager, settings, Scope::Everywhere, None);
    add_node_pools(manager, settings);
    match settings.machines {
        MachineManager::Hyperplane => add_machines(manager, settings),
        MachineManager::Separate => tracing::info!("Machines are left to the machine-controller."),
        MachineManager::ClusterApi => {
            tracing::info!("Machines are left to the manager of Cluster API in each control plane.");
        }
    }
}

fn add_node_pools(manager: &mut Manager, settings: &OperatorSettings) {
    let of_operator = NodePoolSettings {
        served: settings.surroundings.templates,
        entropy: settings.entropy.clone(),
        boot_image: settings.boot_image.clone(),
    };
    hyperplane_node_pool::register(manager, of_operator);
}

/// The choice decides, whoever else is there: two managers of the same machines would undo each other's work, and which of
/// them is to go is not ours to say.
fn add_machines(manager: &mut Manager, settings: &OperatorSettings) {
    if settings.surroundings.has_cluster_api {
        tracing::warn!(
            "Another manager of Cluster API is installed, and may look after the same machines. Keep it from what has the \
             label {}={}, or use --machines=cluster-api.",
            ours::MANAGED_BY.as_str(),
            ours::MANAGED_BY_US
        );
    }
    tracing::info!("Machines are made and removed by this process.");
    let of_operator = MachinesSettings {
        scope: Scope::Everywhere,
        reach: settings.reach.clone(),
        infrastructure: settings.surroundings.machines.clone(),
    };
    hyperplane_machines::register(manager, of_operator);
}

fn add_control_plane(manager: &mut Manager, settings: &OperatorSettings, scope: Scope, only_release: Option<String>) {
    let of_operator = ControlPlaneSettings {
        scope,
        facts: settings.facts.clone(),
        reach: settings.reach.clone(),
        only_release,
    };
    hyperplane_control_plane::register(manager, of_operator);
}

fn add_pki(manager: &mut Manager, settings: &OperatorSettings, scope: Scope) {
    let of_operator = PkiSettings {
        scope,
        facts: settings.facts.clone(),
    };
    hyperplane_pki::register(manager, of_operator);
}

fn add_config(manager: &mut Manager, settings: &OperatorSettings, scope: Scope, only_release: Option<String>) {
    let of_operator = HostedConfigSettings {
        scope,
        facts: settings.facts.clone(),
        reach: settings.reach.clone(),
        only_release,
    };
    hyperplane_hosted_config::register(manager, of_operator);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_known_by_their_arguments() {
        let roles = |line: &str| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            Roles::of_arguments(&words)
        };
        let namespace = || "clusters-one".to_owned();
        let cases = [
            ("", None),
            ("pki-operator", None),
            ("machine-controller --listen=[::]:8080", Some(Roles::Machines)),
            ("router --namespace=clusters-one", None),
            (
                "pki-operator --namespace=clusters-one",
                Some(Roles::Pki { namespace: namespace() }),
            ),
            (
                "config-operator --listen=:8080 --namespace=clusters-one",
                Some(Roles::Config {
                    namespace: namespace(),
                    only_release: None,
                }),
            ),
            (
                "config-operator --namespace=clusters-one --only-release=example.com/a:1",
                Some(Roles::Config {
                    namespace: namespace(),
                    only_release: Some("example.com/a:1".to_owned()),
                }),
            ),
            (
                "control-plane-operator --namespace=clusters-one --only-release=example.com/a:1",
                Some(Roles::ControlPlane {
                    namespace: namespace(),
                    only_release: Some("example.com/a:1".to_owned()),
                }),
            ),
        ];
        for (line, wanted) in cases {
            assert_eq!(roles(line), wanted, "{line}");
        }
    }
}
