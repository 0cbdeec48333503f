//! From the command line to a manager that runs until a signal. Owns the order of start and end.

use std::io::{self, Write as _};

use anyhow::Context as _;
use hyperplane_install::Program;
use hyperplane_runtime::{IdentityMode, LeaseSettings, Manager as Operators};
use hyperplane_world::{Roles, furnish, manager as operators, surroundings_for};
use tokio_util::sync::CancellationToken;

use super::{MachineController, Manager, OnCluster, Place, relay};
use crate::{connection::connect, ending, health, signals::Signals, system};

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
        furnish(&client, &arguments.options())
            .await
            .context("the management cluster cannot be set up")?;
    }
    let on_cluster = OnCluster {
        image: arguments.image.clone(),
        ingress_domain: arguments.ingress_domain.clone(),
    };
    let mut settings = on_cluster.settings(&client).await?;
    settings.surroundings = arguments.surroundings(settings.surroundings);
    settings.machines = arguments.machines.into();
    settings.boot_image.clone_from(&arguments.boot_image);
    settings.scope.clone_from(&arguments.scope);
    let lease = || LeaseSettings::new(&arguments.namespace, arguments.lease(), settings.instance.clone());
    settings.lease = (!arguments.no_lease).then(lease);
    if let Some(relay) = arguments.hosted_relay {
        settings.reach = relay::through(relay);
    }
    if !arguments.twin {
        return serve(place, operators(client, &settings, Roles::All), stop).await;
    }
    let of_twin = on_cluster.twin_settings(&settings);
    let twin = on_cluster.twin(client.clone(), of_twin, &mut settings);
    say("Playing the machines of the cluster.");
    let all = serve(place, operators(client, &settings, Roles::All), stop.clone());
    // Both end at the stop; the one that ends before ends the other.
    let machines = async { twin.run(stop.clone()).await.context("the simulated machines ended") };
    tokio::try_join!(all, machines).map(drop)
}

/// The controllers of machines, as the account that this process has.
pub(super) async fn machine_controller(arguments: &MachineController, stop: CancellationToken) -> anyhow::Result<()> {
    let place = &arguments.place;
    let client = connect(place.kubeconfig.as_deref(), place.context.as_deref()).await?;
    let on_cluster = OnCluster {
        image: super::DEFAULT_IMAGE.to_owned(),
        ingress_domain: None,
    };
    let mut settings = on_cluster.facts(&client).await?;
    settings.surroundings = surroundings_for(&client, &Roles::Machines).await?;
    settings.scope.clone_from(&arguments.scope);
    let name = Program::MachineController.lease(arguments.scope.as_deref());
    let lease = || LeaseSettings::new(&arguments.namespace, name, settings.instance.clone());
    settings.lease = (!arguments.no_lease).then(lease);
    if let Some(relay) = arguments.hosted_relay {
        settings.reach = relay::through(relay);
    }
    serve(place, operators(client, &settings, Roles::Machines), stop).await
}

/// One operator of one control plane, as the account that this process has.
pub(super) async fn tenant(place: &Place, roles: Roles, stop: CancellationToken) -> anyhow::Result<()> {
    let client = connect(place.kubeconfig.as_deref(), place.context.as_deref()).await?;
    let on_cluster = OnCluster {
        image: super::DEFAULT_IMAGE.to_owned(),
        ingress_domain: None,
    };
    let mut settings = on_cluster.facts(&client).await?;
    settings.identity_mode = IdentityMode::Own;
    let (namespace, name) = roles.account();
    settings.lease = Some(LeaseSettings::new(namespace, name, settings.instance.clone()));
    serve(place, operators(client, &settings, roles), stop).await
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
