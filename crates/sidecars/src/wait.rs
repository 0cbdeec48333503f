//! `wait-for`: ends when a name has an address, a port is open, or an HTTPS server says that it is well. An init container
//! that runs it keeps the containers behind it from failing for want of what they need.

use std::{io, time::Duration};

use http::{Method, StatusCode, Uri};
use thiserror::Error;

use crate::{
    call::{self, CallError},
    dial::{self, DialError},
    patience,
    place::Place,
    tls::{TlsError, TlsFiles},
};

/// How long one attempt may take.
const ATTEMPT: Duration = Duration::from_secs(5);

/// What is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// An answer with success.
    Https {
        /// What is asked.
        url: Uri,
        /// How.
        tls: TlsFiles,
    },
    /// An open port.
    Tcp(Place),
    /// A name that has an address.
    Dns(String),
}

/// Why it is not there yet.
#[derive(Debug, Error)]
pub enum WaitError {
    /// TLS cannot be spoken.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// There is no answer.
    #[error(transparent)]
    Call(#[from] CallError),
    /// There is another answer.
    #[error("{url} answers with {status}")]
    Unwell {
        /// What was asked.
        url: Uri,
        /// The answer.
        status: StatusCode,
    },
    /// The port is closed.
    #[error(transparent)]
    Dial(#[from] DialError),
    /// The name has no address.
    #[error("{name} has no address")]
    Name {
        /// The name.
        name: String,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
}

/// Waits for as long as it takes, and says now and then for what.
pub async fn run(target: &Target) {
    patience::until(&describe(target), async || attempt(target).await).await;
}

fn describe(target: &Target) -> String {
    match target {
        Target::Https { url, .. } => format!("{url} to answer with success"),
        Target::Tcp(place) => format!("{place} to be open"),
        Target::Dns(name) => format!("{name} to have an address"),
    }
}

/// Looks once.
pub async fn attempt(target: &Target) -> Result<(), WaitError> {
    match target {
        Target::Https { url, tls } => {
            let connector = tls.connector().await?;
            let answer = call::call(&connector, Method::GET, url, Vec::new(), ATTEMPT).await?;
            if answer.status.is_success() {
                Ok(())
            } else {
                let (url, status) = (url.clone(), answer.status);
                Err(WaitError::Unwell { url, status })
            }
        }
        Target::Tcp(place) => Ok(dial::dial(place, ATTEMPT).await.map(drop)?),
        Target::Dns(name) => dial::resolve(name).await.map_err(|source| WaitError::Name {
            name: name.clone(),
            source,
        }),
    }
}
