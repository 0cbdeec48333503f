//! One HTTP request over TLS and its answer, with limits on time and size. Knows nothing of what is asked.

use std::{io, time::Duration};

use bytes::Bytes;
use http::{Method, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use thiserror::Error;
use tokio::{
    net::TcpStream,
    time::{Instant, timeout_at},
};
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::{
    dial::{self, DialError},
    place::Place,
};

/// Bytes of an answer: a list of members has a few kilobytes, and a state of health less.
const BODY_BYTES: usize = 1 << 20;

/// Where HTTPS is spoken if a URL does not say.
const HTTPS_PORT: u16 = 443;

/// What was answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
}

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum CallError {
    /// The URL cannot be called.
    #[error("{url} cannot be called: write it like https://host:port/path")]
    Url {
        /// The URL.
        url: Uri,
    },
    /// There is no connection.
    #[error(transparent)]
    Dial(#[from] DialError),
    /// The two do not trust each other.
    #[error("no TLS with {place}: look at the certificates of both sides")]
    Handshake {
        /// Who was called.
        place: Place,
        /// The library's answer.
        #[source]
        source: io::Error,
    },
    /// The connection broke.
    #[error("no answer from {place}")]
    Http {
        /// Who was called.
        place: Place,
        /// The library's answer.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The answer is too long.
    #[error("the answer of {place} has more than {BODY_BYTES} bytes: this is no server that is meant to be called")]
    Long {
        /// Who was called.
        place: Place,
    },
    /// The answer takes too long.
    #[error("no answer from {place} within {} s", limit.as_secs())]
    Slow {
        /// Who was called.
        place: Place,
        /// How long it was given.
        limit: Duration,
    },
}

impl CallError {
    /// Whether nobody is there at all.
    pub(crate) fn means_nobody(&self) -> bool {
        matches!(self, Self::Dial(DialError::Nobody { .. }))
    }
}

/// Asks and reads the whole answer. The connection serves this one request: whoever asks does so seldom.
pub(crate) async fn call(
    connector: &TlsConnector,
    method: Method,
    url: &Uri,
    body: Vec<u8>,
    limit: Duration,
) -> Result<Answer, CallError> {
    let place = place(url)?;
    let end = Instant::now() + limit;
    let slow = |_| CallError::Slow {
        place: place.clone(),
        limit,
    };
    let stream = connect(connector, &place, limit);
    let stream = timeout_at(end, stream).await.map_err(slow)??;
    let request = request(method, url, &place, body);
    let exchanged = timeout_at(end, exchange(stream, request)).await.map_err(slow)?;
    exchanged.map_err(|source| {
        if source.is::<LengthLimitError>() {
            CallError::Long { place }
        } else {
            CallError::Http { place, source }
        }
    })
}

/// Connects and shakes hands.
pub(crate) async fn connect(
    connector: &TlsConnector,
    place: &Place,
    limit: Duration,
) -> Result<TlsStream<TcpStream>, CallError> {
    let stream = dial::dial(place, limit).await?;
    let failed = |source| CallError::Handshake {
        place: place.clone(),
        source,
    };
    let name = ServerName::try_from(place.host().trim_end_matches('.').to_owned())
        .map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidInput, error)))?;
    connector.connect(name, stream).await.map_err(failed)
}

fn place(url: &Uri) -> Result<Place, CallError> {
    let refused = || CallError::Url { url: url.clone() };
    if url.scheme_str() != Some("https") {
        return Err(refused());
    }
    let host = url.host().ok_or_else(refused)?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    Place::new(host, url.port_u16().unwrap_or(HTTPS_PORT)).map_err(|_| refused())
}

fn request(method: Method, url: &Uri, place: &Place, body: Vec<u8>) -> Request<Full<Bytes>> {
    let path = url.path_and_query().map_or("/", |path| path.as_str());
    let mut request = Request::new(Full::new(Bytes::from(body)));
    *request.method_mut() = method;
    *request.uri_mut() = path.parse().expect("the path of a URL is a URL");
    let host = place.to_string().parse().expect("a place is a header's value");
    request.headers_mut().insert(header::HOST, host);
    request
}

async fn exchange(
    stream: TlsStream<TcpStream>,
    request: Request<Full<Bytes>>,
) -> Result<Answer, Box<dyn std::error::Error + Send + Sync>> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let asking = async {
        let answer = sender.send_request(request).await?;
        let status = answer.status();
        let body = Limited::new(answer.into_body(), BODY_BYTES).collect().await?.to_bytes();
        Ok(Answer { status, body })
    };
    let mut asking = std::pin::pin!(asking);
    tokio::select! {
        biased;
        answer = &mut asking => answer,
        // The connection ends when it broke, or right behind an answer that closes it. Either way asking knows.
        _ = connection => asking.await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_is_called() {
        let place_of = |url: &'static str| place(&Uri::from_static(url)).map(|place| place.to_string()).ok();
        assert_eq!(
            place_of("https://etcd-client:2379/health"),
            Some("etcd-client:2379".to_owned())
        );
        assert_eq!(place_of("https://[::1]:1/"), Some("[::1]:1".to_owned()));
        assert_eq!(place_of("https://a"), Some("a:443".to_owned()));
        assert_eq!(place_of("http://a:1/"), None);
        assert_eq!(place_of("/health"), None);
    }

    #[test]
    fn a_request_names_path_and_host() {
        let url = Uri::from_static("https://a:1/v3/x?y=z");
        let request = request(Method::POST, &url, &place(&url).unwrap(), b"{}".to_vec());
        assert_eq!(request.uri(), "/v3/x?y=z");
        assert_eq!(request.headers()[header::HOST], "a:1");
    }
}
