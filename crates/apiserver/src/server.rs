//! A server from its parts: opens the store, serves what was served before, and hands out what has to be driven. The
//! crate spawns nothing: who opens a server decides where its writer and its controllers run.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64, Ordering},
};

use futures::{FutureExt as _, future::BoxFuture};
use hyperplane_access::{
    Policy, Witness,
    authenticate::{Authenticator, ClientAuthorities, StaticTokens},
    signing::SigningAuthority,
    tokens::Issuer,
};
use hyperplane_kinds::built_in;
use hyperplane_seams::{Clock, Entropy};
use hyperplane_store::{Disk, Observer, OpenError, Revision, Store, Writer};
use hyperplane_wire::{Failure, version::VersionInfo};
use tokio_util::sync::CancellationToken;

use crate::{
    allocation::{Allocations, ServiceRange},
    audit::{Audit, AuditSink},
    bootstrap, controllers,
    controllers::{Means, Observers, definitions},
    core::{Core, Published},
    front::Front,
    limits::Limits,
    metrics::Metrics,
    object::Object,
    policy_observer::PolicyObserver,
    registry::Registry,
    service::Server,
    slots::Slots,
    subresources::log::Logs,
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
    /// Who is told of every right that is asked for.
    pub witness: Option<Witness>,
    /// What `/version` says it is, such as `v1.36.4`; our own version where nothing is said.
    pub git_version: Option<String>,
}

/// What one of several fronts of a server shows and whom it lets in. A cluster has one store and any number of these,
/// as replicas of an API server do while it is rolled to other credentials or to another version.
pub struct FrontSettings {
    /// What it takes from clients at once.
    pub limits: Limits,
    /// Whose client certificates are accepted.
    pub authorities: Option<ClientAuthorities>,
    /// Tokens that never change.
    pub static_tokens: StaticTokens,
    /// Who makes the tokens of service accounts.
    pub issuer: Option<Arc<Issuer>>,
    /// Where clients reach it, as discovery tells it.
    pub address: String,
    /// What `/version` says it is, such as `v1.36.4`; our own version where nothing is said.
    pub git_version: Option<String>,
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
            witness: None,
            git_version: None,
        }
    }
}

/// The tasks of a server besides answering requests. They must be driven, by [`Controllers::run`].
pub struct Controllers {
    server: Server,
    observers: Observers,
    means: Means,
    part: Part,
}

/// Which of the tasks.
#[derive(Clone, Copy)]
enum Part {
    All,
    Server,
    Manager,
}

impl Server {
    /// Opens a server on a disk. The writer must be driven before anything is written, and [`Controllers::run`] after.
    pub fn open(
        shared: &Shared,
        settings: Settings,
        disk: impl Disk + 'static,
    ) -> Result<(Self, Writer<Object>, Controllers), OpenError> {
        let policy = Arc::new(Policy::witnessed(settings.witness));
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
            logs: OnceLock::new(),
            stop: CancellationToken::new(),
        };
        definitions::restore(&core, &observers.definitions);
        let audit = Audit::new(settings.audit, settings.entropy);
        let front = FrontSettings {
            limits: settings.limits,
            authorities: settings.authorities,
            static_tokens: settings.static_tokens,
            issuer: settings.issuer,
            address: settings.address,
            git_version: settings.git_version,
        };
        let front = front.build(audit);
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
            part: Part::All,
        };
        Ok((server, writer, controllers))
    }

    /// The same cluster behind another front. Watches and writes end with the cluster, not with the front. Nothing of
    /// what it answers is written to the audit.
    pub fn behind(&self, front: FrontSettings) -> Self {
        let audit = Audit::new(None, self.core.entropy.clone());
        Self {
            core: Arc::clone(&self.core),
            front: Arc::new(front.build(audit)),
        }
    }

    /// Lets somebody answer for the kubelets of the cluster: whoever runs its pods comes after the server. Only the first
    /// one does.
    pub fn answer_logs(&self, logs: Logs) {
        self.core.logs.get_or_init(|| logs);
    }

    /// Creates what every cluster begins with. The writer must run.
    pub fn bootstrap(&self) -> BoxFuture<'_, Result<(), Failure>> {
        async move {
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
        .boxed()
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

impl FrontSettings {
    fn build(self, audit: Audit) -> Front {
        Front {
            authenticator: Authenticator {
                authorities: self.authorities,
                static_tokens: self.static_tokens,
                issuer: self.issuer,
                is_anonymous_allowed: true,
            },
            requests: Slots::new(self.limits.requests),
            bodies: Slots::new(self.limits.bodies),
            watches: Slots::new(self.limits.watches),
            audit,
            metrics: Metrics::default(),
            version: version(self.git_version.as_deref()),
            address: self.address,
        }
    }
}

impl Controllers {
    /// The same with other certificates that pods trust, and another who signs: where they are not known yet when the
    /// server is opened, as they belong to a program of their own.
    pub fn with_authority(mut self, root_certificates: String, authority: Option<SigningAuthority>) -> Self {
        self.means.root_certificates = root_certificates;
        self.means.authority = authority;
        self
    }

    /// Those that upstream's API server has itself, and those of its controller manager, for whoever lets the one run
    /// without the other.
    pub fn split(self) -> (Self, Self) {
        let of_server = Self {
            server: self.server.clone(),
            observers: self.observers.clone(),
            means: Means {
                root_certificates: String::new(),
                client_certificates: self.means.client_certificates.clone(),
                authority: None,
            },
            part: Part::Server,
        };
        let of_manager = Self {
            part: Part::Manager,
            ..self
        };
        (of_server, of_manager)
    }

    /// Runs until the token is cancelled or the server is closed.
    pub fn run(self, stop: CancellationToken) -> BoxFuture<'static, ()> {
        async move {
            let core = &*self.server.core;
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                () = core.stop.cancelled() => {}
                () = self.work(core) => {}
            }
        }
        .boxed()
    }

    async fn work(&self, core: &Core) {
        let server = controllers::run_server(core, &self.observers, &self.means);
        let manager = controllers::run_manager(core, &self.observers, &self.means);
        match self.part {
            Part::Server => server.await,
            Part::Manager => manager.await,
            Part::All => {
                tokio::join!(server, manager);
            }
        }
    }
}

/// Which interface is served is fixed; what a cluster claims to be can be older or newer.
fn version(claimed: Option<&str>) -> VersionInfo {
    let git_version = claimed.unwrap_or(concat!("v1.36.4+hyperplane.", env!("CARGO_PKG_VERSION")));
    let mut numbers = git_version.trim_start_matches('v').split(['.', '-', '+']);
    let mut number = |default: &str| numbers.next().unwrap_or(default).to_owned();
    let (major, minor) = (number("1"), number("36"));
    let before = minor.parse::<u32>().map_or(0, |minor| minor.saturating_sub(1));
    VersionInfo {
        emulation_major: major.clone(),
        emulation_minor: minor.clone(),
        min_compatibility_major: major.clone(),
        min_compatibility_minor: before.to_string(),
        major,
        minor,
        git_version: git_version.to_owned(),
        git_commit: String::new(),
        git_tree_state: "clean".to_owned(),
        build_date: "1970-01-01T00:00:00Z".to_owned(),
        go_version: "rust".to_owned(),
        compiler: "rustc".to_owned(),
        platform: format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_may_claim_another_version() {
        let cases = [
            (None, "1", "36", "35"),
            (Some("v1.35.9"), "1", "35", "34"),
            (Some("v1.37.0-rc.1"), "1", "37", "36"),
        ];
        for (claimed, major, minor, before) in cases {
            let version = version(claimed);
            assert_eq!((&*version.major, &*version.minor), (major, minor));
            assert_eq!(version.min_compatibility_minor, before);
            assert!(version.git_version.starts_with(claimed.unwrap_or("v1.36.4+")));
        }
    }
}
