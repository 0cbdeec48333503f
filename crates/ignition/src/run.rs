//! The server from its start to its end. Owns the order of both; every part is made elsewhere.

use std::{net::SocketAddr, time::Duration};

use bytes::Bytes;
use futures::{FutureExt as _, future::BoxFuture};
use http_body_util::Full;
use hyperplane_runtime::{Admin, Clock, Manager, ManagerError, Settings as ManagerSettings};
use kube::Client;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::{
    connection::{self, serve_machine},
    install::install,
    listen::{self, ListenError},
    tls::{Certificate, CertificateFiles, TlsError},
};

/// Machines at the same time; a whole pool may start at once, and further ones wait in the queue of the kernel.
const CONNECTIONS: usize = 512;
/// Probes at the same time.
const PROBES: usize = 32;
/// How long connections may take to end once the server is told to: less than the 30 seconds that a pod is given.
const FAREWELL: Duration = Duration::from_secs(20);

/// What the server is told from outside.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The namespace of the control plane, with its tokens.
    pub namespace: String,
    /// Where machines come in.
    pub listen: SocketAddr,
    /// Where probes come in, over plain HTTP.
    pub health: SocketAddr,
    /// The certificate that is shown to machines.
    pub certificate: CertificateFiles,
    /// Tells this process from others.
    pub instance: String,
    /// Wall time.
    pub clock: Clock,
    /// All jitter follows from it.
    pub seed: u64,
}

/// Why the server ended.
#[derive(Debug, Error)]
pub enum ServerError {
    /// TLS cannot be spoken.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// A port cannot be had.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// A part of it ended by a mistake of ours.
    #[error(transparent)]
    Manager(#[from] ManagerError),
}

/// Serves until `stop`; requests that are under way then are finished.
pub fn run(client: Client, settings: Settings, stop: CancellationToken) -> BoxFuture<'static, Result<(), ServerError>> {
    async move {
        let certificate = Certificate::open(settings.certificate.clone()).await?;
        let machines = listen::bind(settings.listen).await?;
        let probes = listen::bind(settings.health).await?;
        let of_manager = ManagerSettings::new("hyperplane", &settings.instance, settings.clock.clone(), settings.seed);
        let mut manager = Manager::new(client.clone(), of_manager);
        let installed = install(&mut manager, &settings.namespace, settings.clock);
        let service = &installed.service;
        let admin = manager.admin();
        let stop = stop.child_token();
        let serving = listen::accept(machines, CONNECTIONS, FAREWELL, &stop, |stream| {
            serve_machine(stream, certificate.clone(), service.clone(), stop.clone())
        });
        let watching = async {
            let ended = manager.run(stop.clone()).await;
            // Without its watches the server would go on to tell what was true once.
            stop.cancel();
            ended
        };
        let beside = async {
            let (never, _, ()) = tokio::join!(
                certificate.keep(),
                installed.write_marks(&client),
                answer_probes(probes, admin),
            );
            never
        };
        tokio::select! {
            // Which of two comes first must not be chance.
            biased;
            ((), ended) = async { tokio::join!(serving, watching) } => Ok(ended?),
            never = beside => match never {},
        }
    }
    .boxed()
}

/// Answers probes and readers of metrics, until it is dropped.
async fn answer_probes(listener: TcpListener, admin: Admin) {
    let never = CancellationToken::new();
    listen::accept(listener, PROBES, Duration::ZERO, &never, |stream| {
        let (admin, never) = (admin.clone(), never.clone());
        async move {
            let respond = |request: &http::Request<hyper::body::Incoming>| {
                let response = admin.respond(request.method(), request.uri().path());
                response.map(|text| Full::new(Bytes::from(text)))
            };
            connection::serve(stream, false, &never, respond).await;
        }
    })
    .await;
}
