//! What operators on a cluster that is reached by sockets are told, and the simulated machines of such a cluster. Owns how
//! both are put together; the command line is elsewhere.

use anyhow::Context as _;
use hyperplane_apiserver::Shared;
use hyperplane_runtime::{IdentityMode, Reach};
use hyperplane_twin::{HEARTBEAT, Listeners, Mode, Programs, Twin, TwinSettings};
use hyperplane_world::{
    BOOT_IMAGE, Entrance, MachineManager, OperatorSettings, Runner, Surroundings, discover, images, provided,
    surroundings,
};
use kube::Client;

use crate::{programs, system};

/// What is wrong when discovery fails.
const SILENT: &str = "the management cluster does not say what it is";

/// A cluster that is reached by sockets.
pub(crate) struct OnCluster {
    /// The image of this program, for what runs in control planes.
    pub(crate) image: String,
    /// The domain for endpoints that are published by Route without a hostname.
    pub(crate) ingress_domain: Option<String>,
}

impl OnCluster {
    /// What operators of one control plane are told.
    pub(super) async fn facts(&self, client: &Client) -> anyhow::Result<OperatorSettings> {
        let mut facts = discover(client, &self.image).await.context(SILENT)?;
        facts.ingress_domain.clone_from(&self.ingress_domain);
        Ok(OperatorSettings {
            instance: system::instance(),
            clock: system::clock(),
            seed: system::seed(),
            entropy: system::entropy(),
            identity_mode: IdentityMode::Impersonation,
            lease: None,
            scope: None,
            facts,
            surroundings: Surroundings::default(),
            machines: MachineManager::default(),
            boot_image: None,
            reach: Reach::sockets(),
            elsewhere: Reach::sockets(),
        })
    }

    /// What all operators are told.
    pub(crate) async fn settings(&self, client: &Client) -> anyhow::Result<OperatorSettings> {
        Ok(OperatorSettings {
            surroundings: surroundings(client).await.context(SILENT)?,
            ..self.facts(client).await?
        })
    }

    /// The machines of a cluster that has its own controllers and scheduler, and those of hosted clusters.
    pub(crate) fn twin_settings(&self, operators: &OperatorSettings) -> TwinSettings {
        let (clock, entropy) = (operators.clock.clone(), operators.entropy.clone());
        let mut settings = TwinSettings::new(clock, operators.seed, entropy, Shared::new());
        settings.mode = Mode::Kubelet;
        settings.images = images(&self.image);
        settings.nodes.heartbeat = Some(HEARTBEAT);
        settings.programs = Programs::judged_by(programs::judge);
        settings.listeners = Listeners::Loopback;
        settings.machines = provided(&operators.surroundings);
        settings.machines.heartbeat = Some(HEARTBEAT);
        settings
    }

    /// The twin of the cluster. Operators reach hosted API servers through it, and machines start from nothing.
    pub(crate) fn twin(&self, client: Client, settings: TwinSettings, operators: &mut OperatorSettings) -> Twin {
        let runner = Runner {
            entrance: Entrance::Impersonating(client.clone()),
            clock: operators.clock.clone(),
            seed: operators.seed,
            entropy: operators.entropy.clone(),
            image: self.image.clone(),
            ingress_domain: self.ingress_domain.clone(),
        };
        let twin = runner.twin(client, settings);
        operators.reach = twin.network().reach();
        operators.boot_image.get_or_insert_with(|| BOOT_IMAGE.to_owned());
        twin
    }
}
