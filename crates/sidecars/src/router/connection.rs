//! One connection from its hello to its end. Owns the order of things; the parts know the how.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::TcpStream,
    sync::watch,
    time::timeout,
};

use super::{
    counts::{Counts, Outcome},
    hello::{Hello, MISSING_EXTENSION, Reader, UNRECOGNIZED_NAME},
    routes::Routes,
};
use crate::{
    dial,
    patience::chain,
    place::Place,
    relay::{Ended, Silence, relay},
};

/// How long a client may take to say whom it wants, over a slow line with loss.
const HELLO: Duration = Duration::from_secs(10);

/// How long a backend may take to accept.
const DIAL: Duration = Duration::from_secs(5);

/// How long a client may take to be told that it is refused.
const REFUSAL: Duration = Duration::from_secs(1);

/// How much is read at once before the name is known.
const CHUNK_BYTES: usize = 4 << 10;

/// What connections are passed on by.
#[derive(Clone)]
pub(super) struct Passing {
    pub(super) routes: watch::Receiver<Arc<Routes>>,
    pub(super) counts: Arc<Counts>,
    pub(super) silence: Silence,
}

impl Passing {
    /// Passes one connection on until it ends.
    pub(super) async fn serve(self, stream: TcpStream, remote: SocketAddr) {
        self.counts.open();
        let outcome = self.pass(stream, remote).await;
        self.counts.end(outcome);
    }

    async fn pass(&self, mut client: TcpStream, remote: SocketAddr) -> Outcome {
        let Ok((hello, bytes)) = timeout(HELLO, read_hello(&mut client)).await else {
            return Outcome::NoName;
        };
        let name = match hello {
            Hello::Name(name) => name,
            Hello::Nameless => return refuse(client, &MISSING_EXTENSION, Outcome::NoName).await,
            Hello::Refused(alert) => return refuse(client, &alert, Outcome::NoName).await,
            Hello::Incomplete => return Outcome::NoName,
        };
        let Some(place) = self.backend(&name) else {
            tracing::debug!(%remote, name, "Nobody has this name.");
            return refuse(client, &UNRECOGNIZED_NAME, Outcome::UnknownName).await;
        };
        let mut backend = match dial::dial(&place, DIAL).await {
            Ok(backend) => backend,
            Err(error) => {
                tracing::debug!(%remote, name, error = chain(&error), "A backend is away.");
                return Outcome::BackendAway;
            }
        };
        if backend.write_all(&bytes).await.is_err() {
            return Outcome::Broken;
        }
        match relay(client, backend, self.silence).await {
            Ended::Finished => Outcome::Finished,
            Ended::Silent => Outcome::Silent,
            Ended::Broken => Outcome::Broken,
        }
    }

    fn backend(&self, name: &str) -> Option<Place> {
        self.routes.borrow().backend(name).cloned()
    }
}

/// Reads until the name is known. Gives back all that was read, for the backend.
async fn read_hello(client: &mut (impl AsyncRead + Unpin)) -> (Hello, Vec<u8>) {
    let mut reader = Reader::new();
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        let hello = match client.read(&mut buffer).await {
            Ok(0) | Err(_) => return (Hello::Incomplete, Vec::new()),
            Ok(count) => reader.read(&buffer[..count]),
        };
        if hello != Hello::Incomplete {
            return (hello, reader.into_bytes());
        }
    }
}

/// Tells a client why, if it listens.
async fn refuse(mut client: impl AsyncWrite + Unpin, alert: &[u8], outcome: Outcome) -> Outcome {
    let telling = async {
        client.write_all(alert).await?;
        client.shutdown().await
    };
    // A client that is gone already needs no answer.
    drop(timeout(REFUSAL, telling).await);
    outcome
}
