//! `hyperplane up` with nothing else: the embedded API server, simulated machines and the operators in this process. Owns
//! the order of start; the parts are made elsewhere.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context as _;
use hyperplane_apiserver::ServiceRange;
use hyperplane_twin::{Data, Listeners, Programs};
use hyperplane_world::{Embedded, Roles};
use tempfile::TempDir;

use super::{Arguments, DATA, greeting::Greeting, pace, work::Ground};
use crate::{
    apiserver::{self, Parts, Ready, Running, Serve},
    failing::failed,
    operator::DEFAULT_IMAGE,
    programs, system,
};

/// The part of the data that hosted clusters have.
const HOSTED: &str = "hosted";

/// Where everything is kept while it runs.
struct Place {
    directory: PathBuf,
    /// Removed at the end, where nothing is to be kept.
    _thrown_away: Option<TempDir>,
}

impl Place {
    fn of(arguments: &Arguments) -> anyhow::Result<Self> {
        let thrown_away = (arguments.ephemeral && arguments.data_dir.is_none())
            .then(|| tempfile::Builder::new().prefix("hyperplane-").tempdir())
            .transpose()
            .map_err(|error| failed("no temporary directory can be made", error, "use --data-dir DIR"))?;
        let named = arguments.data_dir.clone().unwrap_or_else(|| DATA.into());
        Ok(Self {
            directory: thrown_away.as_ref().map_or(named, |made| made.path().to_owned()),
            _thrown_away: thrown_away,
        })
    }
}

/// Serves until a signal comes, a part fails or the work is done.
pub(super) fn run(arguments: &Arguments, output: &mut impl Write) -> anyhow::Result<ExitCode> {
    let place = Place::of(arguments)?;
    let data = &place.directory;
    let greeting = |ready: &Ready| {
        let greeting = Greeting {
            server: &ready.server,
            kubeconfig: &ready.kubeconfig,
            data: (!arguments.ephemeral).then_some(data),
            took: ready.took,
        };
        // Whoever has work to show tells of it, and not of what to type.
        arguments.work.is_none().then(|| greeting.text())
    };
    let parts = async |running: &Running| start(arguments, data, running).await;
    apiserver::serve(&serve(arguments, data), &greeting, output, parts)
}

/// How the API server is to serve.
fn serve(arguments: &Arguments, data: &Path) -> Serve {
    Serve {
        data_dir: Some(data.to_owned()),
        in_memory: arguments.ephemeral,
        listen: arguments.listen,
        kubeconfig_out: arguments.kubeconfig_out.clone(),
        tls_san: Vec::new(),
        service_cluster_ip_range: ServiceRange::default(),
        external_controller_manager: false,
        audit_log: arguments.audit_log.clone(),
        output: arguments.work.greeting_output(arguments.output),
    }
}

/// Starts what runs beside the API server.
async fn start(arguments: &Arguments, data: &Path, running: &Running) -> anyhow::Result<Parts> {
    let embedded = Embedded {
        server: running.server.clone(),
        shared: running.shared.clone(),
        clock: system::clock(),
        seed: system::seed(),
        entropy: system::entropy(),
        image: DEFAULT_IMAGE.to_owned(),
        ingress_domain: Some(arguments.ingress_domain.clone()),
    };
    embedded
        .set_up()
        .await
        .context("the management cluster cannot be set up")?;
    let mut settings = embedded.twin_settings();
    settings.listeners = Listeners::Loopback;
    settings.programs = Programs::judged_by(programs::judge);
    settings.data = if arguments.ephemeral {
        Data::Memory
    } else {
        Data::Directory(data.join(HOSTED))
    };
    arguments.work.furnish(&mut settings);
    pace::set(&mut settings, arguments.speed);
    let twin = embedded.twin(settings);
    let network = twin.network();
    let operators = embedded.operators("up", &network, Roles::All).await;
    let operators = operators.context("the operators cannot start")?;
    let mut parts = Parts::default();
    parts.start(|stop| async move { twin.run(stop).await.context("the simulated machines ended") });
    parts.start(|stop| async move { operators.run(stop).await.context("the operators ended") });
    let ground = Ground {
        client: embedded.administrator(),
        reach: network.reach(),
        clock: embedded.clock.clone(),
        speed: arguments.speed,
        directory: data.to_owned(),
    };
    arguments.work.start(ground, arguments.output, &mut parts)?;
    Ok(parts)
}
