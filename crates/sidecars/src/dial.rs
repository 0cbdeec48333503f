//! A connection to a place. Owns what it means that nobody is there; knows nothing of what is said.

use std::{io, time::Duration};

use thiserror::Error;
use tokio::{
    net::{TcpStream, lookup_host},
    time::timeout,
};

use crate::place::Place;

/// Why there is no connection.
#[derive(Debug, Error)]
pub enum DialError {
    /// Nobody is there: the name is unknown, or the port is closed.
    #[error("nobody is at {place}")]
    Nobody {
        /// Where.
        place: Place,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// The name cannot be looked up, or the way there is broken.
    #[error("{place} cannot be reached")]
    Unreachable {
        /// Where.
        place: Place,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// There is no answer.
    #[error("{place} does not answer within {} s", limit.as_secs())]
    Slow {
        /// Where.
        place: Place,
        /// How long it was given.
        limit: Duration,
    },
}

/// Connects, to any of the addresses of a name.
pub(crate) async fn dial(place: &Place, limit: Duration) -> Result<TcpStream, DialError> {
    let connecting = async {
        let stream = TcpStream::connect((place.host(), place.port())).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    };
    let place = place.clone();
    match timeout(limit, connecting).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(source)) if means_nobody(&source) => Err(DialError::Nobody { place, source }),
        Ok(Err(source)) => Err(DialError::Unreachable { place, source }),
        Err(_) => Err(DialError::Slow { place, limit }),
    }
}

/// Whether a name has an address.
pub(crate) async fn resolve(name: &str) -> io::Result<()> {
    // The port plays no part in it.
    match lookup_host((name, 1)).await?.next() {
        Some(_) => Ok(()),
        None => Err(io::Error::new(io::ErrorKind::NotFound, "the name has no address")),
    }
}

/// What the C libraries say of a name that is not there. A name server that does not answer says something else, and
/// must not be taken for an answer.
const UNKNOWN_NAME: [&str; 4] = [
    "Name or service not known",
    "No address associated with hostname",
    "Name does not resolve",
    "Name has no usable address",
];

fn means_nobody(error: &io::Error) -> bool {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => true,
        _ if error.raw_os_error().is_some() => false,
        _ => {
            let text = error.to_string();
            UNKNOWN_NAME.iter().any(|unknown| text.contains(unknown))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_answer_means_that_nobody_is_there() {
        let lookup = |text: &str| io::Error::other(format!("failed to lookup address information: {text}"));
        let cases = [
            (io::ErrorKind::ConnectionRefused.into(), true),
            (lookup("Name or service not known"), true),
            (lookup("No address associated with hostname"), true),
            (lookup("Name does not resolve"), true),
            (lookup("Temporary failure in name resolution"), false),
            (lookup("Try again"), false),
            (io::ErrorKind::ConnectionReset.into(), false),
            (io::ErrorKind::HostUnreachable.into(), false),
            (io::Error::from_raw_os_error(110), false),
        ];
        for (error, expected) in cases {
            assert_eq!(means_nobody(&error), expected, "{error}");
        }
    }
}
