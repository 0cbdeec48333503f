//! Probes and metrics of operators, over plain HTTP. The answers are made elsewhere.

use std::{future::pending, net::SocketAddr, time::Duration};

use http::{Method, Response};
use hyperplane_sidecars::{listen, probes};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::failing::wrong_use;

/// Connections at the same time.
const CONNECTIONS: usize = 32;

/// Answers for ever, if there is an address; it ends only where that cannot be done.
pub(crate) async fn serve<A>(address: Option<SocketAddr>, respond: A) -> anyhow::Result<()>
where
    A: Fn(&Method, &str) -> Response<String> + Clone + Send + Sync + 'static,
{
    let Some(address) = address else {
        return pending().await;
    };
    let listener = TcpListener::bind(address).await;
    let listener = listener.map_err(|error| {
        let what = format!("nothing can be served on {address}");
        wrong_use(what, error.to_string(), "choose another --listen address")
    })?;
    let never = CancellationToken::new();
    listen::accept(listener, CONNECTIONS, Duration::ZERO, &never, |stream, _| {
        probes::answer(stream, respond.clone())
    })
    .await;
    Ok(())
}
