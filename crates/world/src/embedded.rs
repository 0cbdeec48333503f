//! A management cluster in this process: the embedded API server, the twin that is everything behind it, and the
//! operators. Owns who reaches the server as whom.

use futures::{FutureExt as _, future::BoxFuture};
use hyperplane_access::User;
use hyperplane_apiserver::{Entropy, Server, Shared};
use hyperplane_install::MachineManager;
use hyperplane_runtime::{Clock, Failure, Manager};
use hyperplane_twin::{MachineSettings, Network, Twin, TwinSettings};
use kube::Client;

use crate::{
    images::images,
    operators::Roles,
    programs::{Entrance, Runner},
    setup::set_up,
};

/// The account of the twin. It is the machines, the scheduler and the controllers of the cluster at once.
const TWIN: &str = "system:hyperplane:twin";
/// The group whose members may do everything.
const MASTERS: &str = "system:masters";

/// What simulated machines start from. Nothing is in it: they only do what they fetch.
pub const BOOT_IMAGE: &str = "hyperplane.dev/simulated-machine:v1";

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
    pub fn set_up(&self) -> BoxFuture<'_, Result<(), Failure>> {
        async move { set_up(&self.administrator(), MachineManager::Hyperplane).await }.boxed()
    }

    /// The settings of a twin for this cluster, with everything else as usual.
    pub fn twin_settings(&self) -> TwinSettings {
        let mut settings = TwinSettings::new(self.clock.clone(), self.seed, self.entropy.clone(), self.shared.clone());
        settings.images = images(&self.image);
        settings.machines = MachineSettings::kubevirt();
        settings
    }

    /// The twin of this cluster, in which programs that have pods of their own run.
    pub fn twin(&self, settings: TwinSettings) -> Twin {
        let user = User::with_groups(TWIN, vec![MASTERS.to_owned()]);
        self.runner().twin(self.client(user), settings)
    }

    /// The operators of these roles, with the rights that they would have on any cluster.
    pub fn operators<'a>(
        &'a self,
        instance: &'a str,
        network: &'a Network,
        roles: Roles,
    ) -> BoxFuture<'a, Result<Manager, Failure>> {
        async move {
            let (namespace, account) = roles.account();
            let client = self.client(User::service_account(namespace, account, ""));
            self.runner().operators(client, instance, network, roles).await
        }
        .boxed()
    }

    fn runner(&self) -> Runner {
        Runner {
            entrance: Entrance::Embedded(self.server.clone()),
            clock: self.clock.clone(),
            seed: self.seed,
            entropy: self.entropy.clone(),
            image: self.image.clone(),
            ingress_domain: self.ingress_domain.clone(),
        }
    }
}
