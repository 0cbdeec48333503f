//! What the programs of ours do that have pods of their own, where machines are simulated: the same as anywhere, with the
//! rights of the accounts of their pods. Owns which program is which, and as whom each comes in.

use std::sync::{Arc, OnceLock};

use futures::FutureExt as _;
use hyperplane_access::User;
use hyperplane_apiserver::Server;
use hyperplane_install::MachineManager;
use hyperplane_machines::InfrastructureKind;
use hyperplane_runtime::{Clock, Entropy, Failure, Identity, IdentityLayer, IdentityMode, Manager, Reach};
use hyperplane_twin::{MachineSettings, Network, Program, Twin, TwinSettings, Work};
use kube::Client;
use tokio_util::sync::CancellationToken;

use crate::{
    approver,
    discovery::{Surroundings, discover, surroundings_for},
    embedded::BOOT_IMAGE,
    ignition,
    operators::{self, OperatorSettings, Roles},
    recovery,
};

/// How programs reach the management cluster.
#[derive(Clone)]
pub enum Entrance {
    /// It is in this process, and believes who they are.
    Embedded(Server),
    /// By a client that may speak for others.
    Impersonating(Client),
}

impl Entrance {
    /// A client for an account; none where the names cannot be those of one.
    fn account(&self, namespace: &str, name: &str) -> Option<Client> {
        match self {
            Self::Embedded(server) => {
                let user = User::service_account(namespace, name, "");
                Some(Client::new(server.in_process(user), "default"))
            }
            Self::Impersonating(client) => {
                let identity = Identity::new(namespace, name).ok()?;
                Some(IdentityLayer::new(identity, IdentityMode::Impersonation).around(client))
            }
        }
    }

    /// A client with all rights.
    fn administrator(&self) -> Client {
        match self {
            Self::Embedded(server) => Client::new(server.in_process(User::admin()), "default"),
            Self::Impersonating(client) => client.clone(),
        }
    }

    /// How operators of one control plane say that they act for it: whoever impersonates says so already.
    const fn identity_mode(&self) -> IdentityMode {
        match self {
            Self::Embedded(_) => IdentityMode::Extension,
            Self::Impersonating(_) => IdentityMode::Own,
        }
    }
}

/// The machines that a twin provides on a cluster: of the kinds that are defined there. No provider can be beside a twin,
/// since all pods are simulated.
pub fn provided(surroundings: &Surroundings) -> MachineSettings {
    if surroundings.machines.contains(&InfrastructureKind::Kubevirt) {
        MachineSettings::kubevirt()
    } else {
        MachineSettings::default()
    }
}

/// Runs programs of ours that have pods. Cheap to clone.
#[derive(Clone)]
pub struct Runner {
    /// How they reach the management cluster.
    pub entrance: Entrance,
    /// Wall time.
    pub clock: Clock,
    /// All chance that decides anything follows from it.
    pub seed: u64,
    /// Where names and keys come from.
    pub entropy: Entropy,
    /// The image of this program, for what runs in control planes.
    pub image: String,
    /// The domain for endpoints that are published by Route without a hostname.
    pub ingress_domain: Option<String>,
}

impl Runner {
    /// The twin of a cluster. Programs that have pods of their own run in it: operators of one control plane, ignition
    /// servers, approvers of machines' certificates, and what brings members of etcd back.
    pub fn twin(&self, client: Client, mut settings: TwinSettings) -> Twin {
        let network = Arc::new(OnceLock::new());
        let (runner, known) = (self.clone(), Arc::clone(&network));
        settings.programs = settings
            .programs
            .run_by(move |program| runner.work(program, known.get()?));
        let twin = Twin::new(client, settings);
        network.get_or_init(|| twin.network());
        if let Entrance::Embedded(server) = &self.entrance {
            server.answer_logs(twin.logs());
        }
        twin
    }

    /// What a program does whose container runs.
    fn work(&self, program: &Program, network: &Network) -> Option<Work> {
        let account = || self.entrance.account(&program.namespace, &program.service_account);
        if let Some(settings) = recovery::settings(&program.arguments) {
            return Some(recovery::run(settings, account()?, self.entrance.administrator()).boxed());
        }
        if let Some(settings) = ignition::settings(program, &self.clock, self.seed) {
            return Some(ignition::run(settings, account()?, network.clone()).boxed());
        }
        if let Some(settings) = approver::settings(program, &self.clock, self.seed) {
            let all = self.entrance.administrator();
            return Some(approver::run(settings, account()?, all, network.clone()).boxed());
        }
        let roles = Roles::of_arguments(&program.arguments)?;
        let (namespace, name) = roles.account();
        let client = self.entrance.account(namespace, name)?;
        let (runner, network, pod) = (self.clone(), network.clone(), program.pod.clone());
        let work = async move {
            let ended = match runner.operators(client, &pod, &network, roles).await {
                Ok(manager) => manager.run(CancellationToken::new()).await.map_err(Failure::fatal),
                Err(failure) => Err(failure),
            };
            if let Err(failure) = &ended {
                tracing::error!(pod, error = failure.report(), "An operator ended.");
            }
            ended.map_err(|failure| failure.report())
        };
        Some(work.boxed())
    }

    /// The operators of these roles on a client, with the way to hosted clusters that a twin has.
    pub async fn operators(
        &self,
        client: Client,
        instance: &str,
        network: &Network,
        roles: Roles,
    ) -> Result<Manager, Failure> {
        let mut facts = discover(&client, &self.image).await?;
        facts.ingress_domain.clone_from(&self.ingress_domain);
        let surroundings = surroundings_for(&client, &roles).await?;
        let settings = OperatorSettings {
            instance: instance.to_owned(),
            clock: self.clock.clone(),
            seed: self.seed,
            entropy: self.entropy.clone(),
            identity_mode: self.entrance.identity_mode(),
            lease: None,
            scope: None,
            facts,
            surroundings,
            machines: MachineManager::Hyperplane,
            boot_image: Some(BOOT_IMAGE.to_owned()),
            reach: network.reach(),
            elsewhere: Reach::sockets(),
        };
        Ok(operators::manager(client, &settings, roles))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_defined_is_provided() {
        let mut found = Surroundings::default();
        assert_eq!(provided(&found), MachineSettings::default());
        found.machines.push(InfrastructureKind::Agent);
        assert!(provided(&found).kinds.is_empty());
        found.machines.push(InfrastructureKind::Kubevirt);
        assert_eq!(provided(&found), MachineSettings::kubevirt());
    }
}
