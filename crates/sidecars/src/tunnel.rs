//! Tunnels through konnectivity into the network of a hosted cluster: `konnectivity-https-proxy` and
//! `konnectivity-socks5-proxy`. Both take a wish for a connection from a program in the same pod, each in its own
//! language, and open a tunnel by mutual TLS and HTTP CONNECT.

pub mod http_proxy;
mod open;
pub mod socks;
pub mod socks_proxy;

use std::{net::SocketAddr, time::Duration};

pub use open::{OpenError, Tunnels};
use tokio_util::sync::CancellationToken;

use crate::{
    listen::{self, ListenError},
    relay::Silence,
};

/// Tunnels at a time. A program in the same pod has some dozens.
const CONNECTIONS: usize = 1024;

/// How long a program may take to say where it wants to go.
const WISH: Duration = Duration::from_secs(10);

/// How long tunnels may take to end once the program is told to.
const FAREWELL: Duration = Duration::from_secs(2);

/// A language in which a connection is wished for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// HTTP CONNECT.
    Http,
    /// SOCKS, version 5.
    Socks,
}

/// Serves until it is told to stop.
pub async fn run(
    language: Language,
    listen: SocketAddr,
    tunnels: &Tunnels,
    stop: &CancellationToken,
) -> Result<(), ListenError> {
    let listener = listen::bind(listen).await?;
    tracing::info!(%listen, "Ready.");
    let silence = Silence::default();
    listen::accept(listener, CONNECTIONS, FAREWELL, stop, |stream, _| {
        let tunnels = tunnels.clone();
        async move {
            match language {
                Language::Http => http_proxy::serve(stream, &tunnels, silence).await,
                Language::Socks => socks_proxy::serve(stream, &tunnels, silence).await,
            }
        }
    })
    .await;
    Ok(())
}
