//! A running control plane: start, clients, restart, end. It knows the order of things; the parts know the how.

use std::{
    net::SocketAddrV4,
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use k8s_openapi::api::core::v1::Namespace;
use kube::{
    Api, Client, Config,
    api::{ObjectMeta, PostParams},
};
use tokio::{sync::OnceCell, task};

use crate::{
    addresses::Addresses,
    arguments,
    assets::{Assets, Program},
    certificates::{Authority, Identity},
    error::Error,
    guard::{Directory, Server},
    kubectl::{self, Answer},
    layout::{ADMIN, Authorities, Layout},
    readiness,
};

/// How long etcd may take; it needs half a second on a quiet machine.
const ETCD_LIMIT: Duration = Duration::from_secs(30);

/// How long a Kubernetes server may take; it needs some five seconds on a quiet machine, more beside a compiler.
const SERVER_LIMIT: Duration = Duration::from_mins(2);

/// What a control plane shall consist of. The default is etcd and kube-apiserver.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The programs; [`Assets::locate`] finds them if there are none.
    pub assets: Option<Assets>,
    /// Run kube-controller-manager: without it there are no service accounts, namespaces are never gone, and the
    /// roles that are put together from others (`view`, `edit`, `admin`) are empty.
    pub controller_manager: bool,
    /// Run kube-scheduler.
    pub scheduler: bool,
    /// Let etcd wait for the disk on every write, as in production. For measurements; the data goes all the same.
    pub is_durable: bool,
    /// More flags for kube-apiserver, for example `--runtime-config=…`.
    pub api_server_arguments: Vec<String>,
}

/// A real control plane that ends when this value is dropped or this process ends, however it ends.
///
/// It belongs to no tokio runtime, so that the tests of a binary can share one although each has its own runtime.
pub struct ControlPlane {
    // Fields are dropped in this order: the servers from top to bottom, then their directory.
    api_server: Mutex<Option<Server>>,
    others: Vec<Server>,
    directory: Directory,
    layout: Layout,
    assets: Assets,
    authorities: Authorities,
    api_server_arguments: Vec<String>,
    issued: AtomicUsize,
}

impl ControlPlane {
    /// Starts a control plane and waits until all its servers are ready.
    pub async fn start(options: Options) -> Result<Self, Error> {
        let mut control_plane = Self::prepare(&options)?;
        match control_plane.start_servers(&options).await {
            Ok(()) => Ok(control_plane),
            Err(error) => {
                control_plane.abandon();
                Err(error)
            }
        }
    }

    /// The control plane with default options that all tests of a binary share; the first caller starts it.
    ///
    /// A start that failed is not tried again, so that a broken machine fails every test at once.
    pub async fn shared() -> Result<&'static Self, &'static Error> {
        static SHARED: OnceCell<Result<ControlPlane, Error>> = OnceCell::const_new();
        SHARED.get_or_init(|| Self::start(Options::default())).await.as_ref()
    }

    /// A client with all rights. It lives on the runtime of the caller, so each test takes its own.
    pub fn client(&self) -> Result<Client, Error> {
        self.client_with(&self.layout.identity(ADMIN))
    }

    /// A client with a certificate of its own for this user, who has no rights beyond those of `groups`.
    pub fn client_as(&self, user: &str, groups: &[&str]) -> Result<Client, Error> {
        let name = self.issue(user, groups)?;
        self.client_with(&self.layout.identity(&name))
    }

    /// A kubeconfig with a certificate of its own for this user, for programs that take one.
    pub fn kubeconfig_as(&self, user: &str, groups: &[&str]) -> Result<PathBuf, Error> {
        let name = self.issue(user, groups)?;
        self.layout.write_kubeconfig(&name)
    }

    /// Signs a certificate for a user and gives back the name of its files.
    fn issue(&self, user: &str, groups: &[&str]) -> Result<String, Error> {
        let name = format!("user-{}", self.issued.fetch_add(1, Ordering::Relaxed));
        self.authorities
            .cluster
            .sign_client(user, groups, &self.layout.identity(&name))?;
        Ok(name)
    }

    /// The kubeconfig of the user with all rights.
    pub fn kubeconfig_path(&self) -> PathBuf {
        self.layout.kubeconfig(ADMIN)
    }

    /// The directory that holds everything of this control plane; it goes when the control plane goes.
    pub fn directory(&self) -> &Path {
        &self.directory.path
    }

    /// Runs the real kubectl with all rights. That kubectl fails is an answer, not an error.
    pub async fn kubectl(&self, arguments: &[&str]) -> Result<Answer, Error> {
        self.kubectl_with_input(arguments, "").await
    }

    /// Runs the real kubectl with text on its standard input, as `kubectl apply -f -` wants it.
    pub async fn kubectl_with_input(&self, arguments: &[&str], input: &str) -> Result<Answer, Error> {
        let program = self.assets.path(Program::Kubectl)?;
        kubectl::run(&program, &self.kubeconfig_path(), arguments, input).await
    }

    /// Makes a new namespace whose name begins with `prefix`, and gives back its name.
    pub async fn namespace(&self, prefix: &str) -> Result<String, Error> {
        let metadata = ObjectMeta {
            generate_name: Some(format!("{prefix}-")),
            ..ObjectMeta::default()
        };
        let namespace = Namespace {
            metadata,
            ..Namespace::default()
        };
        let created = Api::all(self.client()?)
            .create(&PostParams::default(), &namespace)
            .await?;
        Ok(created.metadata.name.unwrap_or_default())
    }

    /// Kills the API server and starts it again at the same address on the same data: all watches break.
    pub async fn restart_api_server(&self) -> Result<(), Error> {
        self.stop_api_server().await;
        self.start_api_server().await
    }

    /// Kills the API server, as a crash would. Nothing happens if it does not run.
    pub async fn stop_api_server(&self) {
        let server = self.api_server().take();
        // Waiting for the end of a process blocks. The task can only fail if the runtime is being shut down.
        drop(task::spawn_blocking(move || drop(server)).await);
    }

    /// Starts the API server again and waits until it is ready. Nothing happens if it runs.
    pub async fn start_api_server(&self) -> Result<(), Error> {
        if self.api_server().is_some() {
            return Ok(());
        }
        let program = self.assets.path(Program::ApiServer)?;
        let arguments = arguments::api_server(&self.layout, &self.api_server_arguments);
        let mut server = self.spawn(Program::ApiServer, &program, &arguments)?;
        readiness::wait(&mut server, &self.client()?, "/readyz", SERVER_LIMIT).await?;
        *self.api_server() = Some(server);
        Ok(())
    }

    fn prepare(options: &Options) -> Result<Self, Error> {
        let assets = match &options.assets {
            Some(assets) => assets.clone(),
            None => Assets::locate()?,
        };
        let addresses = Addresses::find().map_err(Error::at("finding free ports on loopback"))?;
        let directory = Directory::create()?;
        let layout = Layout {
            root: directory.path.clone(),
            addresses,
        };
        let authorities = layout.create()?;
        Ok(Self {
            api_server: Mutex::new(None),
            others: Vec::new(),
            directory,
            layout,
            assets,
            authorities,
            api_server_arguments: options.api_server_arguments.clone(),
            issued: AtomicUsize::new(0),
        })
    }

    async fn start_servers(&mut self, options: &Options) -> Result<(), Error> {
        self.start_etcd(options.is_durable).await?;
        self.start_api_server().await?;
        if options.controller_manager {
            let address = self.layout.addresses.controller_manager;
            let arguments = arguments::controller_manager(&self.layout);
            self.start_component(Program::ControllerManager, address, &arguments)
                .await?;
        }
        if options.scheduler {
            let address = self.layout.addresses.scheduler;
            let arguments = arguments::scheduler(&self.layout);
            self.start_component(Program::Scheduler, address, &arguments).await?;
        }
        Ok(())
    }

    async fn start_etcd(&mut self, is_durable: bool) -> Result<(), Error> {
        let program = self.assets.path(Program::Etcd)?;
        let mut server = self.spawn(Program::Etcd, &program, &arguments::etcd(&self.layout, is_durable))?;
        let identity = self.layout.identity("etcd-client");
        let client = client(self.layout.addresses.etcd, &self.authorities.etcd, &identity)?;
        readiness::wait(&mut server, &client, "/health", ETCD_LIMIT).await?;
        self.others.push(server);
        Ok(())
    }

    async fn start_component(
        &mut self,
        program: Program,
        address: SocketAddrV4,
        arguments: &[String],
    ) -> Result<(), Error> {
        let mut server = self.spawn(program, &self.assets.path(program)?, arguments)?;
        let client = client(address, &self.authorities.cluster, &self.layout.identity(ADMIN))?;
        readiness::wait(&mut server, &client, "/healthz", SERVER_LIMIT).await?;
        self.others.push(server);
        Ok(())
    }

    fn spawn(&self, program: Program, path: &Path, arguments: &[String]) -> Result<Server, Error> {
        Server::start(program.name(), path, arguments, self.layout.log(program.name()))
    }

    /// Ends what was started and leaves the logs to the reader of the error.
    fn abandon(self) {
        drop(self.api_server);
        drop(self.others);
        self.layout.remove_all_but_logs();
        self.directory.keep();
    }

    fn client_with(&self, identity: &Identity) -> Result<Client, Error> {
        client(self.layout.addresses.api_server, &self.authorities.cluster, identity)
    }

    fn api_server(&self) -> MutexGuard<'_, Option<Server>> {
        self.api_server.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A client of any of the servers: what they have in common is TLS and HTTP.
fn client(address: SocketAddrV4, authority: &Authority, identity: &Identity) -> Result<Client, Error> {
    let url = http::Uri::builder()
        .scheme("https")
        .authority(address.to_string())
        .path_and_query("/")
        .build()
        .expect("an address and a port are an authority");
    let mut config = Config::new(url);
    config.root_cert = Some(vec![authority.certificate()]);
    config.auth_info.client_certificate = Some(identity.certificate.display().to_string());
    config.auth_info.client_key = Some(identity.key.display().to_string());
    Ok(Client::try_from(config)?)
}
