//! A real management cluster with an audit log, and the machines that are simulated behind it in this process.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use anyhow::{Result, bail, ensure};
use hyperplane_apiserver::{Entropy, Shared};
use hyperplane_runtime::Clock;
use hyperplane_testbed::{ControlPlane, Options};
use hyperplane_twin::{Listeners, Mode, Network, Twin, TwinSettings};
use hyperplane_world::{ACCOUNT, MachineManager, NAMESPACE, set_up};
use k8s_openapi::api::coordination::v1::Lease;
use kube::{Api, Client};
use tempfile::TempDir;
use tokio::{net::TcpListener, task::JoinSet, time::sleep};
use tokio_util::sync::CancellationToken;

use super::audit::{Audit, Count};

/// How often machines tell that they live; the controllers of a cluster give them up after forty seconds.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// Clusters that one of three machines has room for.
const CLUSTERS_PER_MACHINE: usize = 10;
/// The port of hosted API servers.
const HOSTED_PORT: u16 = 6443;
/// The lease of the operators.
const LEASE: &str = "hyperplane-operator";
/// The longest that rest is waited for.
const PATIENCE: Duration = Duration::from_mins(10);
/// How often is looked.
const GLANCE: Duration = Duration::from_millis(500);

/// Who has asked for what, and nothing of what was said.
const POLICY: &str =
    "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n";

/// A management cluster without operators.
pub struct Ground {
    /// A client with all rights.
    pub administrator: Client,
    /// The kubeconfig of the operators.
    pub kubeconfig: PathBuf,
    /// Where hosted API servers are reached by name.
    pub relay: SocketAddr,
    /// The requests of the operators.
    pub audit: Audit,
    _machines: JoinSet<()>,
    _control_plane: ControlPlane,
    /// Where logs are.
    pub files: TempDir,
}

impl Ground {
    /// Starts a cluster with room for so many hosted clusters, and with machines that are furnished as the measurement
    /// needs them: by a client with all rights, and their network once it is there.
    pub async fn start(
        clusters: usize,
        furnish: impl FnOnce(&mut TwinSettings, Client, Arc<OnceLock<Network>>),
    ) -> Result<Self> {
        let files = tempfile::tempdir()?;
        let (policy, log) = (files.path().join("policy.yaml"), files.path().join("audit.log"));
        fs::write(&policy, POLICY)?;
        let options = Options {
            controller_manager: true,
            scheduler: true,
            is_durable: true,
            api_server_arguments: vec![
                format!("--audit-policy-file={}", policy.display()),
                format!("--audit-log-path={}", log.display()),
                // In MiB: the log must not be moved away while it is read.
                "--audit-log-maxsize=1000000".to_owned(),
            ],
            ..Options::default()
        };
        let control_plane = ControlPlane::start(options).await?;
        let administrator = control_plane.client()?;
        set_up(&administrator, MachineManager::Hyperplane).await?;
        let user = format!("system:serviceaccount:{NAMESPACE}:{ACCOUNT}");
        let of_namespace = format!("system:serviceaccounts:{NAMESPACE}");
        let kubeconfig = control_plane.kubeconfig_as(&user, &["system:serviceaccounts", &of_namespace])?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let relay = listener.local_addr()?;
        let (mut settings, network) = (twin_settings(clusters), Arc::new(OnceLock::new()));
        furnish(&mut settings, administrator.clone(), Arc::clone(&network));
        let twin = Twin::new(administrator.clone(), settings);
        let mut machines = JoinSet::new();
        machines.spawn(relay_all(listener, network.get_or_init(|| twin.network()).clone()));
        machines.spawn(async move { twin.run(CancellationToken::new()).await.expect("machines never end") });
        Ok(Self {
            administrator,
            kubeconfig,
            relay,
            audit: Audit::new(log, user),
            _machines: machines,
            _control_plane: control_plane,
            files,
        })
    }

    /// Waits until a process of the operators holds the lease: before that it writes nothing, and its rest says nothing.
    pub async fn until_led_by(&self, process: u32) -> Result<()> {
        let leases: Api<Lease> = Api::namespaced(self.administrator.clone(), NAMESPACE);
        let (began, holder) = (Instant::now(), format!("-{process}"));
        loop {
            let lease = leases.get_opt(LEASE).await?;
            let held_by = lease.and_then(|lease| lease.spec?.holder_identity);
            if held_by.is_some_and(|held_by| held_by.ends_with(&holder)) {
                return Ok(());
            }
            ensure!(began.elapsed() < PATIENCE, "process {process} never gets the lease");
            sleep(GLANCE).await;
        }
    }

    /// Waits until what is counted has not grown for so long, and gives back all of it since the last look.
    pub async fn until_quiet(&mut self, quiet: Duration, number: impl Fn(&Count) -> u64) -> Result<Count> {
        let (began, mut last) = (Instant::now(), Instant::now());
        let mut total = self.audit.take()?;
        while last.elapsed() < quiet {
            if began.elapsed() > PATIENCE {
                bail!("the operators never come to rest: {:?}", total.lines);
            }
            sleep(GLANCE).await;
            let more = self.audit.take()?;
            if number(&more) > 0 {
                last = Instant::now();
            }
            total.add(more);
        }
        Ok(total)
    }
}

fn twin_settings(clusters: usize) -> TwinSettings {
    let entropy = Entropy::new(|bytes| {
        aws_lc_rs::rand::fill(bytes).expect("the operating system has randomness once it has booted");
    });
    let seed = u64::from_le_bytes(entropy.bytes());
    let mut settings = TwinSettings::new(Clock::reading(jiff::Timestamp::now), seed, entropy, Shared::new());
    settings.mode = Mode::Kubelet;
    settings.listeners = Listeners::Loopback;
    settings.nodes.heartbeat = Some(HEARTBEAT);
    settings.nodes.count = 3 * clusters.div_ceil(CLUSTERS_PER_MACHINE);
    settings
}

/// Leads every connection to the hosted API server that it asks for.
async fn relay_all(listener: TcpListener, network: Network) {
    let mut connections = JoinSet::new();
    while let Ok((stream, remote)) = listener.accept().await {
        let network = network.clone();
        connections.spawn(async move { network.relay(stream, remote, HOSTED_PORT).await });
        while connections.try_join_next().is_some() {}
    }
}
