//! A server from its start to its end. Owns the order of both; every part is made elsewhere.

use std::{
    io::Write,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
    time::Instant,
};

use anyhow::anyhow;
use hyperplane_access::{
    authenticate::ClientAuthorities,
    signing::SigningAuthority,
    tokens::{Issuer, SigningKey},
};
use hyperplane_apiserver::{
    Controllers, Entropy, Object, Server, Settings, Shared,
    pki::{self, Credentials, ServingNames},
    serve::{ConnectionLimits, TlsSettings, serve},
};
use hyperplane_runtime::Disposition;
use hyperplane_seams::Clock;
use hyperplane_store::{Directory, Memory, OpenError, Writer};
use secrecy::ExposeSecret as _;
use tokio::{net::TcpListener, task::JoinSet};
use tokio_util::sync::CancellationToken;

use super::{
    arguments::Serve,
    audit,
    data::{self, Data},
    parts::Parts,
    ready::{Greeting, Ready},
    renewal::Renewal,
    writer::WriterThread,
};
use crate::{
    failing::{DEFECT, failed, in_order, not_yet, wrong_use},
    signals::Heard,
    system,
};

/// Who issues the tokens of service accounts. Upstream's usual name; it is the address of the server for pods.
const ISSUER: &str = "https://kubernetes.default.svc.cluster.local";

/// Serves until a signal comes, the disk fails, a part ends or the work is done. Parts are started once the server serves,
/// and end before it does.
pub(crate) fn run(
    arguments: &Serve,
    greeting: Greeting<'_>,
    output: &mut impl Write,
    parts: impl AsyncFnOnce(&Running) -> anyhow::Result<Parts>,
) -> anyhow::Result<ExitCode> {
    #[expect(
        clippy::disallowed_methods,
        reason = "how long a start took is for people, and decides nothing"
    )]
    let began = Instant::now();
    system::log();
    system::runtime()?.block_on(async {
        let signals = Heard::new()?;
        // This takes no longer than the data is large, and is let finish: half of the first objects would be no order.
        let running = Running::start(arguments).await?;
        let started = signals.unless_told(parts(&running)).await;
        let parts = match started.unwrap_or_else(|| Err(ended_early())) {
            Ok(parts) => parts,
            Err(error) => {
                signals.ending();
                return running.end().await.and(Err(error));
            }
        };
        let ready = Ready {
            server: running.server_url.clone(),
            kubeconfig: running.kubeconfig.clone(),
            took: began.elapsed(),
        };
        ready.print(arguments.output, greeting, output)?;
        parts.live(Some(running), &signals).await
    })
}

/// That a signal came before everything was ready. Nobody may take that for work that was done.
pub(crate) fn ended_early() -> anyhow::Error {
    not_yet("everything to be ready, which a signal ended; start again")
}

/// What a start needs, before anything is served.
struct Prepared {
    listener: TcpListener,
    disk: Option<Directory>,
    names: ServingNames,
    credentials: Credentials,
    pki: Option<PathBuf>,
    kubeconfig: PathBuf,
    clock: Clock,
    entropy: Entropy,
}

impl Prepared {
    /// Takes the directory and the port, and reads or makes the credentials.
    async fn new(arguments: &Serve) -> anyhow::Result<Self> {
        let (clock, entropy) = (system::clock(), system::entropy());
        let data = arguments.data_dir.as_deref().map(Data::at);
        data.as_ref().map_or(Ok(()), Data::refuse_foreign)?;
        let kubeconfig = arguments.kubeconfig_out.clone();
        let kubeconfig = kubeconfig.or_else(|| data.as_ref().map(Data::kubeconfig));
        let kubeconfig = kubeconfig.ok_or_else(|| wrong_use("--kubeconfig-out", "is missing", "name a file"))?;
        data::refuse_foreign_kubeconfig(&kubeconfig)?;
        let names = serving_names(arguments)?;
        let disk = data.as_ref().map(Data::take).transpose()?;
        let listener = listen(arguments.listen).await?;
        let pki = data.as_ref().map(Data::pki);
        let now = clock.now();
        let credentials = match &pki {
            Some(directory) => pki::open(directory, &names, now, &entropy)
                .map_err(|error| in_order(Disposition::Fatal, "the server has no credentials", &error, DEFECT))?,
            None => Credentials::generate(&names, now, &entropy)?,
        };
        Ok(Self {
            listener,
            disk,
            names,
            credentials,
            pki,
            kubeconfig,
            clock,
            entropy,
        })
    }
}

/// The names that clients may use: those of every API server, where it listens, and what was asked for.
fn serving_names(arguments: &Serve) -> anyhow::Result<ServingNames> {
    let mut names = ServingNames::of_cluster(arguments.service_cluster_ip_range.first().into());
    let listen = arguments.listen.ip();
    if !listen.is_unspecified() {
        names.addresses.insert(listen);
    }
    for name in &arguments.tls_san {
        let added = names.add(name);
        added.map_err(|error| in_order(Disposition::User, "--tls-san", &error, "give another name"))?;
    }
    Ok(names)
}

async fn listen(address: SocketAddr) -> anyhow::Result<TcpListener> {
    let listener = TcpListener::bind(address).await;
    listener.map_err(|error| {
        wrong_use(
            format!("nothing can be served on {address}"),
            error.to_string(),
            "choose another --listen address (port 0 picks a free port)",
        )
    })
}

/// Where clients of this machine reach a listener.
fn url(address: SocketAddr) -> String {
    let host: IpAddr = match address.ip() {
        IpAddr::V4(host) if host.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(host) if host.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        host => host,
    };
    format!("https://{}", SocketAddr::new(host, address.port()))
}

/// A server that runs.
pub(crate) struct Running {
    pub(crate) server: Server,
    server_url: String,
    /// Where the administrator's kubeconfig is.
    pub(crate) kubeconfig: PathBuf,
    /// What all servers of this process share.
    pub(crate) shared: Shared,
    writer: WriterThread,
    tasks: JoinSet<()>,
    connections: JoinSet<()>,
    stop: CancellationToken,
    /// Held where the store is in memory: the credentials in it are ours alone.
    _directory: Option<Directory>,
}

impl Running {
    /// Starts a server, and returns once it serves.
    async fn start(arguments: &Serve) -> anyhow::Result<Self> {
        let mut prepared = Prepared::new(arguments).await?;
        let address = prepared.listener.local_addr()?;
        let settings = settings(arguments, &prepared, address)?;
        let disk = prepared.disk.take_if(|_| !arguments.in_memory);
        let shared = Shared::new();
        let (server, writer, controllers) = open(&shared, settings, disk)?;
        let writer = WriterThread::start(writer)?;
        let bootstrapped = server.bootstrap().await;
        bootstrapped.map_err(|failure| failed("the first objects cannot be created", failure.message, DEFECT))?;

        let authorities =
            [&prepared.credentials.cluster, &prepared.credentials.front_proxy].map(|pair| &*pair.certificate);
        let tls = TlsSettings::new(
            &prepared.credentials.serving,
            &authorities.concat(),
            prepared.clock.clone(),
        )?;
        let renewal = Renewal {
            credentials: prepared.credentials,
            names: prepared.names,
            directory: prepared.pki,
            server: url(address),
            kubeconfig: prepared.kubeconfig.clone(),
            tls: tls.clone(),
            clock: prepared.clock,
            entropy: prepared.entropy,
        };
        renewal.write_kubeconfig()?;

        let stop = CancellationToken::new();
        let (mut tasks, mut connections) = (JoinSet::new(), JoinSet::new());
        let limits = ConnectionLimits::default();
        connections.spawn(serve(prepared.listener, tls, server.clone(), limits, stop.clone()));
        let controllers = if arguments.external_controller_manager {
            controllers.split().0
        } else {
            controllers
        };
        tasks.spawn(controllers.run(stop.clone()));
        tasks.spawn(renewal.run());
        Ok(Self {
            server,
            server_url: url(address),
            kubeconfig: prepared.kubeconfig,
            shared,
            writer,
            tasks,
            connections,
            stop,
            _directory: prepared.disk,
        })
    }

    /// Waits until something ends that never should.
    pub(super) async fn failed(&mut self) -> anyhow::Error {
        let ended = tokio::select! {
            ended = self.writer.ended() => return ended.err().unwrap_or_else(|| anyhow!("the store was closed: {DEFECT}")),
            Some(ended) = self.tasks.join_next() => ended,
            Some(ended) = self.connections.join_next() => ended,
        };
        match ended {
            Ok(()) => anyhow!("a part of the server ended: {DEFECT}"),
            Err(error) => failed("a part of the server ended", error, DEFECT),
        }
    }

    /// Takes no more connections, ends watches, lets requests finish, then closes the store.
    pub(super) async fn end(mut self) -> anyhow::Result<()> {
        self.stop.cancel();
        self.server.end_watches();
        while self.connections.join_next().await.is_some() {}
        // Before the store, so that none of them is refused a write and complains.
        self.tasks.shutdown().await;
        self.server.close();
        self.writer.ended().await
    }
}

/// The server's parameters.
fn settings(arguments: &Serve, prepared: &Prepared, address: SocketAddr) -> anyhow::Result<Settings> {
    let credentials = &prepared.credentials;
    let key = SigningKey::from_pem(credentials.service_account_key.expose_secret())?;
    let mut settings = Settings::new(prepared.clock.clone(), prepared.entropy.clone());
    settings.authorities = Some(ClientAuthorities::from_pem(&credentials.cluster.certificate)?);
    settings.issuer = Some(Arc::new(Issuer::new(ISSUER, key)));
    let cluster = &credentials.cluster;
    settings.authority = Some(SigningAuthority::from_pem(
        &cluster.certificate,
        cluster.key.expose_secret(),
    )?);
    settings.root_certificates.clone_from(&cluster.certificate);
    settings.client_certificates.clone_from(&cluster.certificate);
    settings.service_range = arguments.service_cluster_ip_range;
    settings.address = address.to_string();
    settings.audit = arguments.audit_log.as_deref().map(audit::sink).transpose()?;
    Ok(settings)
}

/// Opens the server on its directory, or in memory.
fn open(
    shared: &Shared,
    settings: Settings,
    disk: Option<Directory>,
) -> anyhow::Result<(Server, Writer<Object>, Controllers)> {
    let opened: Result<_, OpenError> = match disk {
        Some(directory) => Server::open(shared, settings, directory),
        None => Server::open(shared, settings, Memory),
    };
    opened.map_err(|error| data::unusable(&error))
}
