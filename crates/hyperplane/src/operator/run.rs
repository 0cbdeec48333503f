//! From the command line to a manager that runs until a signal. Owns the order of start and end.

use std::{
    convert::Infallible,
    future::pending,
    io::{self, Write as _},
    net::SocketAddr,
    time::Duration,
};

use anyhow::Context as _;
use http::Method;
use hyperplane_install::Program;
use hyperplane_runtime::{Admin, Fence, IdentityMode, LeaseSettings, Manager as Operators};
use hyperplane_twin::Twin;
use hyperplane_world::{Roles, furnish, manager as operators, surroundings_for};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::{MachineController, Manager, OnCluster, Place, relay};
use crate::{connection::connect, ending, health, signals::Signals, system};

/// How often it is looked whether the operators have begun.
const GLANCE: Duration = Duration::from_millis(100);

/// Sets a program up and runs it until it ends or a signal comes.
pub(super) fn process(setup: impl Future<Output = anyhow::Result<Ready>>) -> anyhow::Result<()> {
    system::log();
    let program = |stop: CancellationToken| async move {
        // A cluster that does not answer must not hold up the end, and half a setup is completed by the next one.
        match stop.run_until_cancelled(setup).await {
            Some(ready) => Box::pin(ready?.live(stop)).await,
            None => Ok(()),
        }
    };
    system::runtime()?.block_on(async { ending::serve(program, Signals::new()?).await })
}

/// A program that is set up, and has not begun.
pub(super) struct Ready {
    operators: Operators,
    /// The machines of the cluster, if they are played.
    twin: Option<Twin>,
    /// Where probes come in.
    listen: Option<SocketAddr>,
}

impl Ready {
    async fn live(self, stop: CancellationToken) -> anyhow::Result<()> {
        let (admin, fence) = (self.operators.admin(), self.operators.fence());
        let answers = admin.clone();
        let probes = health::serve(self.listen, move |method, path| answers.respond(method, path));
        let reconciling = async {
            tokio::select! {
                ended = self.operators.run(stop.clone()) => ended.map_err(Into::into),
                failed = probes => failed,
                never = announce(&admin, &fence) => match never {},
            }
        };
        // Both end at the stop; the one that ends before ends the other.
        let machines = async {
            match self.twin {
                Some(twin) => twin.run(stop.clone()).await.context("the simulated machines ended"),
                None => Ok(()),
            }
        };
        tokio::try_join!(reconciling, machines).map(drop)
    }
}

/// Says when work begins: everything has been read once, and this process may write.
async fn announce(admin: &Admin, fence: &Fence) -> Infallible {
    let is_ready = || admin.respond(&Method::GET, "/readyz").status().is_success();
    fence.opened().await;
    while !(fence.is_leader() && is_ready()) {
        sleep(GLANCE).await;
        fence.opened().await;
    }
    say("Reconciling.");
    pending().await
}

/// All operators.
pub(super) async fn manager(arguments: &Manager) -> anyhow::Result<Ready> {
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
    let twin = arguments.twin.then(|| {
        let of_twin = on_cluster.twin_settings(&settings);
        say("Playing the machines of the cluster.");
        on_cluster.twin(client.clone(), of_twin, &mut settings)
    });
    Ok(Ready {
        operators: operators(client, &settings, Roles::All),
        twin,
        listen: place.listen,
    })
}

/// The controllers of machines, as the account that this process has.
pub(super) async fn machine_controller(arguments: &MachineController) -> anyhow::Result<Ready> {
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
    Ok(Ready {
        operators: operators(client, &settings, Roles::Machines),
        twin: None,
        listen: place.listen,
    })
}

/// One operator of one control plane, as the account that this process has.
pub(super) async fn tenant(place: &Place, roles: Roles) -> anyhow::Result<Ready> {
    let client = connect(place.kubeconfig.as_deref(), place.context.as_deref()).await?;
    let on_cluster = OnCluster {
        image: super::DEFAULT_IMAGE.to_owned(),
        ingress_domain: None,
    };
    let mut settings = on_cluster.facts(&client).await?;
    settings.identity_mode = IdentityMode::Own;
    let (namespace, name) = roles.account();
    settings.lease = Some(LeaseSettings::new(namespace, name, settings.instance.clone()));
    Ok(Ready {
        operators: operators(client, &settings, roles),
        twin: None,
        listen: place.listen,
    })
}

/// Progress for people. Nobody may be listening.
fn say(line: &str) {
    writeln!(io::stderr(), "{line}").ok();
}
