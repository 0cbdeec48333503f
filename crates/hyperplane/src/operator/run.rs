//! From the command line to a manager that runs until a signal. Owns the order of start and end.

use std::io::{self, Write as _};

use anyhow::Context as _;
use hyperplane_apiserver::Shared;
use hyperplane_runtime::{IdentityMode, LeaseSettings, Manager as Operators, Reach};
use hyperplane_twin::{HEARTBEAT, Listeners, Mode, Programs, Twin, TwinSettings};
use hyperplane_world::{
    BOOT_IMAGE, Entrance, MachineManager, NAMESPACE, OperatorSettings, Roles, Runner, Surroundings, discover, images,
    manager as operators, provided, set_up, surroundings,
};
use kube::Client;
use tokio_util::sync::CancellationToken;

use super::{
    Manager, Place,
    client::{self, connect},
};
use crate::{ending, health, programs, signals::Signals, system};

/// What is wrong when discovery fails.
const SILENT: &str = "the management cluster does not say what it is";

/// Runs a program until it ends or a signal comes.
pub(super) fn process<F>(program: impl FnOnce(CancellationToken) -> F) -> anyhow::Result<()>
where
    F: Future<Output = anyhow::Result<()>>,
{
    system::log();
    system::runtime()?.block_on(async { ending::serve(program, Signals::new()?).await })
}

/// All operators.
pub(super) async fn manager(arguments: &Manager, stop: CancellationToken) -> anyhow::Result<()> {
    let place = &arguments.place;
    let client = connect(place.kubeconfig.as_deref(), place.context.as_deref()).await?;
    if !arguments.no_setup {
        say("Writing kinds, priorities and rights.");
        set_up(&client, arguments.machines.into())
            .await
            .context("the management cluster cannot be set up")?;
    }
    let instance = system::instance();
    let mut settings = settings(&client, &arguments.image, instance.clone()).await?;
    settings.facts.ingress_domain.clone_from(&arguments.ingress_domain);
    settings.surroundings = arguments.surroundings(surroundings(&client).await.context(SILENT)?);
    settings.machines = arguments.machines.into();
    settings.boot_image.clone_from(&arguments.boot_image);
    settings.scope.clone_from(&arguments.scope);
    settings.lease = (!arguments.no_lease).then(|| LeaseSettings::new(NAMESPACE, arguments.lease(), instance));
    if let Some(relay) = arguments.hosted_relay {
        settings.reach = client::through(relay);
    }
    if !arguments.twin {
        return serve(place, operators(client, &settings, Roles::All), stop).await;
    }
    let twin = twin(client.clone(), arguments, &settings);
    settings.reach = twin.network().reach();
    settings.boot_image.get_or_insert_with(|| BOOT_IMAGE.to_owned());
    say("Playing the machines of the cluster.");
    let all = serve(place, operators(client, &settings, Roles::All), stop.clone());
    // Both end at the stop; the one that ends before ends the other.
    let machines = async { twin.run(stop.clone()).await.context("the simulated machines ended") };
    tokio::try_join!(all, machines).map(drop)
}

/// The machines of a cluster that has its own controllers and scheduler, and those of hosted clusters.
fn twin(client: Client, arguments: &Manager, operators: &OperatorSettings) -> Twin {
    let (clock, entropy) = (operators.clock.clone(), operators.entropy.clone());
    let mut settings = TwinSettings::new(clock.clone(), operators.seed, entropy.clone(), Shared::new());
    settings.mode = Mode::Kubelet;
    settings.images = images(&arguments.image);
    settings.nodes.heartbeat = Some(HEARTBEAT);
    settings.programs = Programs::judged_by(programs::judge);
    settings.listeners = Listeners::Loopback;
    settings.machines = provided(&operators.surroundings);
    settings.machines.heartbeat = Some(HEARTBEAT);
    let runner = Runner {
        entrance: Entrance::Impersonating(client.clone()),
        clock,
        seed: operators.seed,
        entropy,
        image: arguments.image.clone(),
        ingress_domain: arguments.ingress_domain.clone(),
    };
    runner.twin(client, settings)
}

/// One operator of one control plane, as the account that this process has.
pub(super) async fn tenant(place: &Place, roles: Roles, stop: CancellationToken) -> anyhow::Result<()> {
    let client = connect(place.kubeconfig.as_deref(), place.context.as_deref()).await?;
    let instance = system::instance();
    let mut settings = settings(&client, super::DEFAULT_IMAGE, instance.clone()).await?;
    settings.identity_mode = IdentityMode::Own;
    settings.lease = roles
        .account()
        .map(|(namespace, name)| LeaseSettings::new(namespace, name, instance));
    serve(place, operators(client, &settings, roles), stop).await
}

async fn settings(client: &Client, image: &str, instance: String) -> anyhow::Result<OperatorSettings> {
    let facts = discover(client, image).await.context(SILENT)?;
    Ok(OperatorSettings {
        instance,
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

/// Runs a manager, with its probes.
async fn serve(place: &Place, operators: Operators, stop: CancellationToken) -> anyhow::Result<()> {
    let admin = operators.admin();
    let probes = health::serve(place.listen, move |method, path| admin.respond(method, path));
    say("Reconciling.");
    tokio::select! {
        ended = operators.run(stop) => ended.map_err(Into::into),
        failed = probes => failed,
    }
}

/// Progress for people. Nobody may be listening.
fn say(line: &str) {
    writeln!(io::stderr(), "{line}").ok();
}
