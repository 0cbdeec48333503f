//! A server from its parts: opens the store, serves what was served before, and hands out what has to be driven. The
//! crate spawns nothing: who opens a server decides where its writer and its controllers run.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use hyperplane_access::{
    Policy,
    authenticate::{Authenticator, ClientAuthorities, StaticTokens},
    signing::SigningAuthority,
    tokens::Issuer,
};
use hyperplane_kinds::built_in;
use hyperplane_seams::Clock;
use hyperplane_store::{Disk, Observer, OpenError, Revision, Store, Writer};
use hyperplane_wire::{Failure, version::VersionInfo};
use tokio_util::sync::CancellationToken;

use crate::{
    allocation::{Allocations, ServiceRange},
    audit::{Audit, AuditSink},
    bootstrap, controllers,
    controllers::{Means, Observers, definitions},
    core::{Core, Published},
    entropy::Entropy,
    front::Front,
    limits::Limits,
    metrics::Metrics,
    object::Object,
    policy_observer::PolicyObserver,
    registry::Registry,
    service::Server,
    slots::Slots,
};

/// What is the same for all servers of a process: the built-in resources and what was compiled of them.
#[derive(Clone)]
pub struct Shared {
    registry: Arc<Registry>,
}

impl Shared {
    /// Compiles the built-in resources. Once per process is enough.
    pub fn new() -> Self {
        Self {
            registry: Arc::new(Registry::of_built_in(built_in())),
        }
    }
}

impl Default for Shared {
    fn default() -> Self {
        Self::new()
    }
}

/// The parameters of a server.
pub struct Settings {
    /// Where timestamps come from.
    pub clock: Clock,
    /// Where uids, names and secrets come from.
    pub entropy: Entropy,
    /// What it takes from clients at once.
    pub limits: Limits,
    /// What the store takes at once and keeps.
    pub store_limits: hyperplane_store::Limits,
    /// Whose client certificates are accepted.
    pub authorities: Option<ClientAuthorities>,
    /// Tokens that never change.
    pub static_tokens: StaticTokens,
    /// Who makes the tokens of service accounts.
    pub issuer: Option<Arc<Issuer>>,
    /// The certificates that pods trust, as PEM.
    pub root_certificates: String,
    /// The certificates of those who sign for clients, as PEM, for servers that extend this one.
    pub client_certificates: String,
    /// Who signs the certificates that are asked for.
    pub authority: Option<SigningAuthority>,
    /// The addresses of Services.
    pub service_range: ServiceRange,
    /// Where clients reach the server, as discovery tells it.
    pub address: String,
    /// Where audit lines go.
    pub audit: Option<AuditSink>,
}

impl Settings {
    /// The parameters of a server that lets in-process clients in and nobody else.
    pub fn new(clock: Clock, entropy: Entropy) -> Self {
        Self {
            clock,
            entropy,
            limits: Limits::default(),
            store_limits: hyperplane_store::Limits::default(),
            authorities: None,
            static_tokens: StaticTokens::default(),
            issuer: None,
            root_certificates: String::new(),
            client_certificates: String::new(),
            authority: None,
            service_range: ServiceRange::default(),
            address: "127.0.0.1:6443".to_owned(),
            audit: None,
        }
    }
}

/// The tasks of a server besides answering requests. They must be driven, by [`Controllers::run`].
pub struct Controllers {
    server: Server,
    observers: Observers,
    means: Means,
}

impl Server {
    /// Opens a server on a disk. The writer must be driven before anything is written, and [`Controllers::run`] after.
    pub fn open(
        shared: &Shared,
        settings: Settings,
        disk: impl Disk + 'static,
    ) -> Result<(Self, Writer<Object>, Controllers), OpenError> {
        let policy = Arc::new(Policy::new());
        let observers = Observers::new(&shared.registry, &settings.clock);
        let mut all = observers.all();
        let allocations = Arc::new(Allocations::new(settings.service_range));
        all.push(Arc::new(PolicyObserver(Arc::clone(&policy))));
        all.push(Arc::clone(&allocations) as Arc<dyn Observer<Object>>);
        let (store, writer) = Store::open(disk, settings.store_limits, all)?;
        let core = Core {
            store,
            registry: Published::new(Arc::clone(&shared.registry)),
            policy,
            allocations,
            clock: settings.clock,
            entropy: settings.entropy.clone(),
            limits: settings.limits,
            floor: AtomicU64::new(0),
            stop: CancellationToken::new(),
        };
        definitions::restore(&core, &observers.definitions);
        let front = Front {
            authenticator: Authenticator {
                authorities: settings.authorities,
                static_tokens: settings.static_tokens,
                issuer: settings.issuer,
                is_anonymous_allowed: true,
            },
            requests: Slots::new(settings.limits.requests),
            bodies: Slots::new(settings.limits.bodies),
            watches: Slots::new(settings.limits.watches),
            audit: Audit::new(settings.audit, settings.entropy),
            metrics: Metrics::default(),
            version: version(),
            address: settings.address,
        };
        let server = Self {
            core: Arc::new(core),
            front: Arc::new(front),
        };
        let controllers = Controllers {
            server: server.clone(),
            observers,
            means: Means {
                root_certificates: settings.root_certificates,
                client_certificates: settings.client_certificates,
                authority: settings.authority,
            },
        };
        Ok((server, writer, controllers))
    }

    /// Creates what every cluster begins with. The writer must run.
    pub async fn bootstrap(&self) -> Result<(), Failure> {
        let is_new = self.core.store.snapshot().revision() == Revision::default();
        bootstrap::run(&self.core, &self.front.address).await?;
        // Who watched before a restart goes on where it was.
        if is_new {
            self.core
                .floor
                .store(self.core.store.snapshot().revision().0, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Ends watches, for a stop that lets other requests finish: [`Server::close`] would refuse their writes.
    pub fn end_watches(&self) {
        self.core.stop.cancel();
    }

    /// Ends watches and takes no more writes; the writer ends when it has done those that wait.
    pub fn close(&self) {
        self.core.stop.cancel();
        self.core.store.close();
    }
}

impl Controllers {
    /// Runs until the token is cancelled or the server is closed.
    pub async fn run(self, stop: CancellationToken) {
        let core = &*self.server.core;
        tokio::select! {
            () = stop.cancelled() => {}
            () = core.stop.cancelled() => {}
            () = controllers::run(core, &self.observers, &self.means) => {}
        }
    }
}

fn version() -> VersionInfo {
    VersionInfo {
        major: "1".to_owned(),
        minor: "36".to_owned(),
        emulation_major: "1".to_owned(),
        emulation_minor: "36".to_owned(),
        min_compatibility_major: "1".to_owned(),
        min_compatibility_minor: "35".to_owned(),
        git_version: concat!("v1.36.4+hyperplane.", env!("CARGO_PKG_VERSION")).to_owned(),
        git_commit: String::new(),
        git_tree_state: "clean".to_owned(),
        build_date: "1970-01-01T00:00:00Z".to_owned(),
        go_version: "rust".to_owned(),
        compiler: "rustc".to_owned(),
        platform: format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
    }
}
