//! One pod from its start to its end, as a kubelet drives it: init containers one after the other, then all others,
//! each started again when it ends; probes; and at the end a signal, and patience for as long as the pod asks for.

use std::{
    collections::BTreeMap,
    fs,
    net::Ipv4Addr,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use futures::future::join_all;
use hyperplane_components::Objects;
use k8s_openapi::api::core::v1::{Container, PodTemplateSpec};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
    sync::{Mutex, watch},
    task::JoinHandle,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    command,
    container::{self, Surroundings},
    network::Network,
    probe, volumes,
};

/// How long a container that ended stays away.
const RESTART_PAUSE: Duration = Duration::from_secs(1);

/// How long a pod has to end where it does not say.
const USUAL_GRACE_SECONDS: i64 = 30;

/// What a pod is made of.
pub struct Description<'a> {
    pub name: String,
    pub namespace: &'a str,
    pub address: Ipv4Addr,
    pub template: &'a PodTemplateSpec,
    pub objects: &'a Objects,
    pub claims: BTreeMap<String, PathBuf>,
    pub programs: &'a BTreeMap<String, PathBuf>,
    pub hosts: &'a str,
    pub directory: &'a Path,
}

/// A pod that runs.
pub struct Pod {
    pub name: String,
    pub address: Ipv4Addr,
    pub labels: BTreeMap<String, String>,
    pub generation: String,
    ready: watch::Receiver<bool>,
    restarts: Arc<AtomicU32>,
    stop: CancellationToken,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Pod {
    /// Starts a pod. Its network is there when this returns; its containers follow.
    pub async fn start(description: Description<'_>, network: &Network, generation: &str) -> Result<Self> {
        let Description { name, address, .. } = &description;
        let sandbox = sandbox(name).await?;
        let process = sandbox.id().context("the sandbox runs")?;
        network.connect(process, *address).await?;
        let parts = Parts::new(&description, process).with_context(|| format!("preparing {name}"))?;
        let (sender, ready) = watch::channel(false);
        let (stop, restarts) = (CancellationToken::new(), Arc::clone(&parts.restarts));
        let labels = description.template.metadata.as_ref().and_then(|it| it.labels.clone());
        let until = stop.clone();
        let task = tokio::spawn(async move {
            parts.live(&sender, &until).await;
            drop(sandbox);
        });
        Ok(Self {
            name: description.name,
            address: description.address,
            labels: labels.unwrap_or_default(),
            generation: generation.to_owned(),
            ready,
            restarts,
            stop,
            task: Mutex::new(Some(task)),
        })
    }

    /// Whether a Service leads to it: one that is told to end gets no new connection.
    pub fn is_ready(&self) -> bool {
        *self.ready.borrow() && !self.stop.is_cancelled()
    }

    /// Whether it was told to end.
    pub fn is_ending(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// How often its containers were started again.
    pub fn restarts(&self) -> u32 {
        self.restarts.load(Ordering::Relaxed)
    }

    /// Waits until it is ready.
    pub async fn wait_until_ready(&self, limit: Duration) -> Result<()> {
        let mut ready = self.ready.clone();
        let waited = timeout(limit, ready.wait_for(|ready| *ready)).await;
        ensure!(
            matches!(waited, Ok(Ok(_))),
            "{} is not ready after {} s",
            self.name,
            limit.as_secs()
        );
        Ok(())
    }

    /// Tells it to end.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Waits for its end.
    pub async fn ended(&self) {
        if let Some(task) = self.task.lock().await.take() {
            drop(task.await);
        }
    }
}

/// A process that holds the network of a pod, and its name.
async fn sandbox(name: &str) -> Result<Child> {
    let script = "echo \"$1\" > /proc/sys/kernel/hostname && echo ready && exec sleep infinity";
    let mut child = Command::new("unshare")
        .args(["--net", "--uts", "--", "sh", "-c", script, "sh", name])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let output = child.stdout.take().context("the output is a pipe")?;
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).await?;
    ensure!(line == "ready\n", "the namespaces of {name} cannot be made");
    Ok(child)
}

/// What the task of a pod holds.
struct Parts {
    template: PodTemplateSpec,
    address: Ipv4Addr,
    sandbox: u32,
    hosts: PathBuf,
    volumes: BTreeMap<String, PathBuf>,
    fields: BTreeMap<String, String>,
    programs: BTreeMap<String, PathBuf>,
    directory: PathBuf,
    restarts: Arc<AtomicU32>,
}

impl Parts {
    fn new(description: &Description<'_>, sandbox: u32) -> Result<Self> {
        let spec = description.template.spec.as_ref().context("a pod has a spec")?;
        let directory = description.directory.join(&description.name);
        fs::create_dir_all(&directory)?;
        let hosts = directory.join("hosts");
        let own = format!("127.0.0.1 localhost\n{} {}\n", description.address, description.name);
        fs::write(&hosts, format!("{own}{}", description.hosts))?;
        let volumes = volumes::write(
            spec,
            description.objects,
            &directory.join("volumes"),
            &description.claims,
        )?;
        let fields = [
            ("metadata.name", description.name.clone()),
            ("metadata.namespace", description.namespace.to_owned()),
            ("status.podIP", description.address.to_string()),
        ];
        Ok(Self {
            template: description.template.clone(),
            address: description.address,
            sandbox,
            hosts,
            volumes,
            fields: fields.map(|(key, value)| (key.to_owned(), value)).into(),
            programs: description.programs.clone(),
            directory,
            restarts: Arc::default(),
        })
    }

    fn start(&self, container: &Container) -> Result<Child> {
        let around = Surroundings {
            pod: self.template.spec.as_ref().context("a pod has a spec")?,
            sandbox: self.sandbox,
            hosts: &self.hosts,
            volumes: &self.volumes,
            fields: &self.fields,
            programs: &self.programs,
            directory: &self.directory,
        };
        container::start(container, &around)
    }

    async fn live(&self, ready: &watch::Sender<bool>, stop: &CancellationToken) {
        let Some(spec) = &self.template.spec else { return };
        let is_sidecar = |container: &&Container| container.restart_policy.as_deref() == Some("Always");
        let inits = spec.init_containers.iter().flatten();
        let sidecars: Vec<&Container> = inits.clone().filter(is_sidecar).collect();
        for init in inits.filter(|container| !is_sidecar(container)) {
            if stop.run_until_cancelled(self.finish(init)).await.is_none() {
                return;
            }
        }
        let grace = spec.termination_grace_period_seconds.unwrap_or(USUAL_GRACE_SECONDS);
        let grace = Duration::from_secs(u64::try_from(grace).unwrap_or_default());
        let all = sidecars.into_iter().chain(&spec.containers);
        let running = join_all(all.map(|container| self.keep(container, grace, stop)));
        let watching = stop.run_until_cancelled(self.watch(&spec.containers, ready));
        tokio::join!(running, watching);
    }

    /// Runs an init container until it has ended well.
    async fn finish(&self, container: &Container) {
        loop {
            let ended = match self.start(container) {
                Ok(mut child) => child.wait().await.map_err(Into::into),
                Err(error) => Err(error),
            };
            match ended {
                Ok(status) if status.success() => return,
                ended => eprintln!("{} ended: {ended:?}", container.name),
            }
            self.restarts.fetch_add(1, Ordering::Relaxed);
            sleep(RESTART_PAUSE).await;
        }
    }

    /// Keeps a container running until the pod is told to end.
    async fn keep(&self, container: &Container, grace: Duration, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            match self.start(container) {
                Ok(mut child) => tokio::select! {
                    ended = child.wait() => eprintln!("{} ended: {ended:?}", container.name),
                    () = stop.cancelled() => return end(child, grace).await,
                },
                Err(error) => eprintln!("{}: {error:#}", container.name),
            }
            self.restarts.fetch_add(1, Ordering::Relaxed);
            stop.run_until_cancelled(sleep(RESTART_PAUSE)).await;
        }
    }

    /// Says whether all containers are ready, as often as each of them is asked.
    async fn watch(&self, containers: &[Container], ready: &watch::Sender<bool>) {
        let started = containers
            .iter()
            .filter_map(|container| container.startup_probe.as_ref());
        for startup in started {
            while probe::attempt(startup, self.address).await.is_err() {
                sleep(probe::period(startup)).await;
            }
        }
        let probes: Vec<_> = containers.iter().filter_map(|it| it.readiness_probe.as_ref()).collect();
        let period = probes.iter().map(|it| probe::period(it)).min();
        loop {
            let answers = join_all(probes.iter().map(|it| probe::attempt(it, self.address))).await;
            ready.send_replace(answers.iter().all(Result::is_ok));
            sleep(period.unwrap_or(RESTART_PAUSE)).await;
        }
    }
}

/// Asks a process to end, and insists when its time is over.
async fn end(mut child: Child, grace: Duration) {
    if let Some(process) = child.id() {
        drop(command::run(&format!("kill -TERM {process}")).await);
    }
    if timeout(grace, child.wait()).await.is_err() {
        eprintln!("a container had to be killed after {} s", grace.as_secs());
        drop(child.kill().await);
    }
}
