//! A management cluster in this process: the embedded API server, the twin that is everything behind it, and the
//! operators. Owns who reaches the server as whom.

use std::sync::{Arc, OnceLock};

use futures::FutureExt as _;
use hyperplane_access::User;
use hyperplane_apiserver::{Entropy, Server, Shared};
use hyperplane_runtime::{Clock, Failure, IdentityMode, LeaseSettings, Manager, Reach};
use hyperplane_twin::{Network, Program, Twin, TwinSettings, Work};
use kube::Client;
use tokio_util::sync::CancellationToken;

use crate::{
    discovery::{Surroundings, discover, surroundings},
    images::images,
    operators::{self, OperatorSettings, Roles},
    recovery,
    setup::{ACCOUNT, NAMESPACE, set_up},
};

/// The account of the twin. It is the machines, the scheduler and the controllers of the cluster at once.
const TWIN: &str = "system:hyperplane:twin";
/// The group whose members may do everything.
const MASTERS: &str = "system:masters";

/// A management cluster in this process. Cheap to clone.
#[derive(Clone)]
pub struct Embedded {
    /// The API server. Whoever opened it drives its writer and its controllers.
    pub server: Server,
    /// What all API servers of this process share.
    pub shared: Shared,
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

impl Embedded {
    /// A client with all rights.
    pub fn administrator(&self) -> Client {
        self.client(User::admin())
    }

    /// A client for a user.
    pub fn client(&self, user: User) -> Client {
        Client::new(self.server.in_process(user), "default")
    }

    /// Writes what the operators need before they run.
    pub async fn set_up(&self) -> Result<(), Failure> {
        set_up(&self.administrator()).await
    }

    /// The settings of a twin for this cluster, with everything else as usual.
    pub fn twin_settings(&self) -> TwinSettings {
        let mut settings = TwinSettings::new(self.clock.clone(), self.seed, self.entropy.clone(), self.shared.clone());
        settings.images = images(&self.image);
        settings
    }

    /// The twin of this cluster. Operators that have pods of their own run in it, as the accounts of those pods, and so
    /// does what brings members of etcd back.
    pub fn twin(&self, mut settings: TwinSettings) -> Twin {
        let network = Arc::new(OnceLock::new());
        let (embedded, known) = (self.clone(), Arc::clone(&network));
        settings.programs = settings
            .programs
            .run_by(move |program| embedded.program(program, known.get()?));
        let user = User::with_groups(TWIN, vec![MASTERS.to_owned()]);
        let twin = Twin::new(self.client(user), settings);
        network.get_or_init(|| twin.network());
        twin
    }

    /// What a program does whose container runs.
    fn program(&self, program: &Program, network: &Network) -> Option<Work> {
        if let Some(settings) = recovery::settings(&program.arguments) {
            let user = User::service_account(&program.namespace, &program.service_account, "");
            let (client, all) = (self.client(user), self.administrator());
            return Some(recovery::run(settings, client, all).boxed());
        }
        let roles = Roles::of_arguments(&program.arguments)?;
        let (embedded, network, pod) = (self.clone(), network.clone(), program.pod.clone());
        let work = async move {
            let ended = match embedded.operators(&pod, &network, roles).await {
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

    /// The operators of these roles, with the rights that they would have on any cluster.
    pub async fn operators(&self, instance: &str, network: &Network, roles: Roles) -> Result<Manager, Failure> {
        let user = match roles.account() {
            Some((namespace, account)) => User::service_account(namespace, account, ""),
            None => User::service_account(NAMESPACE, ACCOUNT, ""),
        };
        let client = self.client(user);
        let mut facts = discover(&client, &self.image).await?;
        facts.ingress_domain.clone_from(&self.ingress_domain);
        let surroundings = match roles {
            Roles::All => surroundings(&client).await?,
            _ => Surroundings::default(),
        };
        let settings = OperatorSettings {
            instance: instance.to_owned(),
            clock: self.clock.clone(),
            seed: self.seed,
            entropy: self.entropy.clone(),
            identity_mode: IdentityMode::Extension,
            lease: None::<LeaseSettings>,
            scope: None,
            facts,
            surroundings,
            reach: network.reach(),
            elsewhere: Reach::sockets(),
        };
        Ok(operators::manager(client, &settings, roles))
    }
}
