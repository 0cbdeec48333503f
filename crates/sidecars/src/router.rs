//! `router`: passes TLS connections on by the name that a client asks for (SNI), without ending TLS. Its routes are a
//! file that may change at any time.
//!
//! ```text
//! client ─► listener ─► hello (whose name?) ─► routes ─► dial ─► relay ─► backend
//!                                                 ▲
//!                                      file ──► reload
//! ```

mod connection;
mod counts;
mod health;
pub mod hello;
mod reload;
pub mod routes;

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use thiserror::Error;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use self::{connection::Passing, counts::Counts, health::Health, routes::RoutesError};
use crate::{
    listen::{self, ListenError},
    probes,
    relay::Silence,
};

/// Connections at a time. Each costs some forty kilobytes, and clients of Kubernetes have one or two.
const CONNECTIONS: usize = 4096;

/// Probes and readers of metrics at a time.
const HEALTH_CONNECTIONS: usize = 64;

/// How long a probe may take once the program is told to end.
const HEALTH_FAREWELL: Duration = Duration::from_secs(1);

/// What the program is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The file with the routes.
    pub config: PathBuf,
    /// Where clients come in.
    pub listen: SocketAddr,
    /// Where probes come in.
    pub health: SocketAddr,
    /// How long connections may take to end once the program is told to.
    pub farewell: Duration,
}

/// Why nothing is routed.
#[derive(Debug, Error)]
pub enum RouterError {
    /// A port cannot be taken.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The routes cannot be used.
    #[error(transparent)]
    Routes(#[from] RoutesError),
}

/// Serves until it is told to stop.
pub async fn run(settings: &Settings, stop: &CancellationToken) -> Result<(), RouterError> {
    let (text, routes) = reload::read(&settings.config).await?;
    let listener = listen::bind(settings.listen).await?;
    let health_listener = listen::bind(settings.health).await?;
    tracing::info!(listen = %settings.listen, routes = routes.len(), "Ready.");
    let counts = Arc::new(Counts::default());
    let (sender, receiver) = watch::channel(Arc::new(routes));
    let passing = Passing {
        routes: receiver,
        counts: Arc::clone(&counts),
        silence: Silence::default(),
    };
    let health = Health {
        counts: Arc::clone(&counts),
        stop: stop.clone(),
    };
    // Probes are answered until the last connection has ended: so long the program is alive.
    let over = CancellationToken::new();
    let serving = async {
        listen::accept(listener, CONNECTIONS, settings.farewell, stop, |stream, remote| {
            passing.clone().serve(stream, remote)
        })
        .await;
        over.cancel();
    };
    let probing = listen::accept(
        health_listener,
        HEALTH_CONNECTIONS,
        HEALTH_FAREWELL,
        &over,
        |stream, _| {
            let health = health.clone();
            probes::answer(stream, move |method, path| health.respond(method, path))
        },
    );
    let reloading = over.run_until_cancelled(reload::run(&settings.config, text, sender, &counts));
    tokio::join!(serving, probing, reloading);
    Ok(())
}
