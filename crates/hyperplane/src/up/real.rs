//! `hyperplane up --kubeconfig`: the same operators on a cluster that exists, under the rights that are rendered for them,
//! and simulated machines if they are asked for. Owns the order of start and end.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use anyhow::Context as _;
use hyperplane_install::Program;
use hyperplane_runtime::{Api, LeaseSettings};
use hyperplane_world::{ACCOUNT, MachineManager, NAMESPACE, Roles, manager, set_up};
use k8s_openapi::api::coordination::v1::Lease;
use kube::Client;
use serde_json::json;

use super::{Arguments, account::Account, pace, work::Ground};
use crate::{
    apiserver::{Output, Parts, ended_early},
    connection::Connection,
    operator::{DEFAULT_IMAGE, OnCluster},
    signals::Heard,
    system,
};

/// Runs until a signal comes, a part fails or the work is done.
pub(super) fn run(arguments: &Arguments, connection: &Connection) -> anyhow::Result<ExitCode> {
    system::log();
    system::runtime()?.block_on(async {
        let signals = Heard::new()?;
        // A cluster that does not answer must not hold up the end.
        let started = signals.unless_told(Box::pin(start(arguments, connection))).await;
        let parts = started.unwrap_or_else(|| Err(ended_early()))?;
        parts.live(None, &signals).await
    })
}

async fn start(arguments: &Arguments, connection: &Connection) -> anyhow::Result<Parts> {
    let config = connection.config().await?;
    let administrator = connection.client().await?;
    say("Writing kinds, priorities and rights.");
    set_up(&administrator, MachineManager::Hyperplane)
        .await
        .context("the management cluster cannot be set up")?;
    let account = Account::open(&administrator, NAMESPACE, ACCOUNT).await?;
    let on_cluster = OnCluster {
        image: DEFAULT_IMAGE.to_owned(),
        ingress_domain: Some(arguments.ingress_domain.clone()),
    };
    let client = account.client(&config)?;
    let mut settings = on_cluster.settings(&client).await?;
    // A manager that is installed there, or another of these, must not write at the same time.
    let lease = LeaseSettings::new(NAMESPACE, Program::Operator.lease(None), settings.instance.clone());
    if let Some(holder) = holder(&administrator, &lease.name).await? {
        say(&format!(
            "Lease {NAMESPACE}/{} is {holder}'s: nothing is written before it is given up or ends.",
            lease.name
        ));
    }
    settings.lease = Some(lease);
    let mut parts = Parts::default();
    if arguments.cluster.twin {
        let mut of_twin = on_cluster.twin_settings(&settings);
        arguments.work.furnish(&mut of_twin);
        pace::set(&mut of_twin, arguments.speed);
        let twin = on_cluster.twin(administrator.clone(), of_twin, &mut settings);
        say("Playing the machines of the cluster.");
        parts.start(|stop| async move { twin.run(stop).await.context("the simulated machines ended") });
    }
    let operators = manager(client, &settings, Roles::All);
    parts.start(|stop| async move { operators.run(stop).await.context("the operators ended") });
    let ground = Ground {
        client: administrator,
        reach: settings.reach.clone(),
        clock: settings.clock.clone(),
        speed: arguments.speed,
        directory: account.directory().to_owned(),
    };
    arguments.work.start(ground, arguments.output, &mut parts)?;
    parts.start(|stop| account.keep(stop));
    say("Reconciling. Ctrl-C ends it.");
    if arguments.work.is_none() && matches!(arguments.output, Output::Json) {
        // Programs that wait for a line get one, as on the embedded server.
        let ready = json!({"server": config.cluster_url.to_string()});
        writeln!(io::stdout(), "{ready}").context("nobody reads that everything is ready")?;
    }
    Ok(parts)
}

/// Who writes there now, or did until it was cut off.
async fn holder(client: &Client, lease: &str) -> anyhow::Result<Option<String>> {
    let leases: Api<Lease> = Api::namespaced(client.clone(), NAMESPACE);
    let lease = leases.get_opt(lease).await.context("the lease of the operators")?;
    let holder = lease.and_then(|lease| lease.spec?.holder_identity);
    Ok(holder.filter(|holder| !holder.is_empty()))
}

/// Progress for people. Nobody may be listening.
fn say(line: &str) {
    writeln!(io::stderr(), "{line}").ok();
}
