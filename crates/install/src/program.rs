//! The programs of ours that run once for a whole management cluster: their names, leases and command lines.

use crate::options::{MachineManager, NAMESPACE, Options, TenantOperators};

/// The port of probes and metrics.
pub(crate) const PORT: u16 = 8080;

/// A program that runs once for a whole management cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// The manager: all operators.
    Operator,
    /// The controllers of machines, where they are not part of the manager.
    MachineController,
}

impl Program {
    /// Those that the options ask for.
    pub fn of(options: &Options) -> Vec<Self> {
        match options.machines {
            MachineManager::Separate => vec![Self::Operator, Self::MachineController],
            MachineManager::Hyperplane | MachineManager::ClusterApi => vec![Self::Operator],
        }
    }

    /// The name of its service account, and of its Deployment.
    pub const fn account(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::MachineController => "machine-controller",
        }
    }

    /// The name of its lease: those for different clusters do not exclude each other.
    pub fn lease(self, scope: Option<&str>) -> String {
        let name = format!("{NAMESPACE}-{}", self.account());
        scope.map_or_else(|| name.clone(), |scope| format!("{name}-{scope}"))
    }

    /// What is on its command line, the subcommand first.
    pub(crate) fn arguments(self, options: &Options) -> Vec<String> {
        let mut words = vec![
            self.account().to_owned(),
            format!("--listen=[::]:{PORT}"),
            format!("--namespace={}", options.namespace),
        ];
        let mut say = |flag: &str, value: &str| words.push(format!("--{flag}={value}"));
        if let Some(scope) = &options.scope {
            say("scope", scope);
        }
        if self == Self::Operator {
            say("image", &options.image);
            say("machines", options.machines.word());
            if options.tenant_operators != TenantOperators::default() {
                say("tenant-operators", options.tenant_operators.word());
            }
            let optional = [
                ("ingress-domain", &options.ingress_domain),
                ("management-platform", &options.management_platform),
                ("boot-image", &options.boot_image),
            ];
            for (flag, value) in optional {
                if let Some(value) = value {
                    say(flag, value);
                }
            }
            for network in &options.management_networks {
                say("management-network", network);
            }
            for name in &options.monitoring_namespaces {
                say("monitoring-namespace", name);
            }
            // The account of the operator may not write what is written here.
            words.push("--no-setup".to_owned());
            words.extend(options.extra_arguments.iter().cloned());
        }
        words
    }
}
