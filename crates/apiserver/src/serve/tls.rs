//! TLS as the server speaks it: which certificate it shows, which it asks for, and by which clock. Owns rustls'
//! configuration; knows nothing of connections.

use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use hyperplane_seams::Clock;
use rustls::{
    RootCertStore, ServerConfig,
    crypto::{CryptoProvider, aws_lc_rs},
    pki_types::{CertificateDer, PrivateKeyDer, UnixTime, pem},
    server::{ClientHello, NoServerSessionStorage, ResolvesServerCert},
    sign::CertifiedKey,
    time_provider::TimeProvider,
};
use secrecy::ExposeSecret as _;
use thiserror::Error;

use super::asking::Asking;
use crate::pki::Pair;

/// HTTP/2, as a handshake names it.
pub(super) const HTTP_2: &[u8] = b"h2";
/// The protocols that are spoken, the better one first.
const PROTOCOLS: [&[u8]; 2] = [HTTP_2, b"http/1.1"];

/// Why TLS cannot be spoken.
#[derive(Debug, Error)]
pub enum TlsError {
    /// Something is not PEM, or not of the right kind.
    #[error("{what} cannot be read: make it anew")]
    Pem {
        /// Which part of the credentials.
        what: &'static str,
        /// What the parser said.
        #[source]
        source: pem::Error,
    },
    /// An authority cannot be one.
    #[error("no chain of certificates can lead to the authority of clients: make it anew")]
    Authority(#[source] rustls::Error),
    /// The certificate and its key do not fit, or the provider cannot use them.
    #[error("the serving certificate cannot be used with its key: make both anew")]
    Serving(#[source] rustls::Error),
}

/// What a listener shows and asks for. Cheap to clone; every clone shows the same certificate.
#[derive(Clone)]
pub struct TlsSettings {
    pub(super) config: Arc<ServerConfig>,
    pub(super) clock: Clock,
    shown: Arc<Shown>,
}

impl TlsSettings {
    /// Settings that show a certificate, tell clients by which authorities (PEM of one or more certificates) theirs
    /// should be signed, and read this clock.
    pub fn new(serving: &Pair, authorities: &str, clock: Clock) -> Result<Self, TlsError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let shown = Arc::new(Shown {
            key: RwLock::new(Arc::new(certified_key(serving, &provider)?)),
            named: RwLock::default(),
            provider: Arc::clone(&provider),
        });
        let asking = Arc::new(Asking::new(roots(authorities)?.subjects(), &provider));
        let builder = ServerConfig::builder_with_details(provider, Arc::new(Time(clock.clone())));
        let mut config = builder
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Serving)?
            .with_client_cert_verifier(asking)
            .with_cert_resolver(Arc::clone(&shown) as Arc<dyn ResolvesServerCert>);
        config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
        // A full handshake takes a fraction of a millisecond, and clients of Kubernetes keep their connections. Sessions
        // would have to be held for thousands of servers in a process.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        let config = Arc::new(config);
        Ok(Self { config, clock, shown })
    }

    /// Shows another certificate from the next handshake on. Connections that are there stay as they are.
    pub fn replace_certificate(&self, serving: &Pair) -> Result<(), TlsError> {
        let key = certified_key(serving, &self.shown.provider)?;
        *self.shown.key.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(key);
        Ok(())
    }
}

impl TlsSettings {
    /// Shows other certificates to clients that ask for certain names, from the next handshake on. A name may begin with
    /// a star, which stands for one part of it; the first pair that fits is shown.
    pub fn name_certificates(&self, named: &[(Vec<String>, Pair)]) -> Result<(), TlsError> {
        let pairs = named.iter().map(|(names, pair)| {
            let names = names.iter().map(|name| name.to_ascii_lowercase()).collect();
            Ok((names, Arc::new(certified_key(pair, &self.shown.provider)?)))
        });
        let pairs: Vec<Named> = pairs.collect::<Result<_, TlsError>>()?;
        *self.shown.named.write().unwrap_or_else(PoisonError::into_inner) = pairs;
        Ok(())
    }
}

impl fmt::Debug for TlsSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("TlsSettings")
    }
}

fn certified_key(serving: &Pair, provider: &CryptoProvider) -> Result<CertifiedKey, TlsError> {
    use pem::PemObject as _;

    let chain = certificates(&serving.certificate, "the serving certificate")?;
    let key =
        PrivateKeyDer::from_pem_slice(serving.key.expose_secret().as_bytes()).map_err(|source| TlsError::Pem {
            what: "the key of the serving certificate",
            source,
        })?;
    CertifiedKey::from_der(chain, key, provider).map_err(TlsError::Serving)
}

fn roots(authorities: &str) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(authorities, "the authority of clients")? {
        roots.add(certificate).map_err(TlsError::Authority)?;
    }
    Ok(roots)
}

fn certificates(text: &str, what: &'static str) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    use pem::PemObject as _;

    let all: Result<Vec<_>, pem::Error> = CertificateDer::pem_slice_iter(text.as_bytes()).collect();
    match all {
        Ok(all) if all.is_empty() => Err(pem::Error::NoItemsFound),
        all => all,
    }
    .map_err(|source| TlsError::Pem { what, source })
}

/// Names, and the certificate for them.
type Named = (Vec<String>, Arc<CertifiedKey>);

/// The certificates that are shown, which can be exchanged while connections come in.
struct Shown {
    key: RwLock<Arc<CertifiedKey>>,
    named: RwLock<Vec<Named>>,
    provider: Arc<CryptoProvider>,
}

impl fmt::Debug for Shown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Shown")
    }
}

impl ResolvesServerCert for Shown {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        if let Some(asked) = hello.server_name() {
            let named = self.named.read().unwrap_or_else(PoisonError::into_inner);
            let is_meant = |name: &String| fits(name, asked);
            if let Some((_, key)) = named.iter().find(|(names, _)| names.iter().any(is_meant)) {
                return Some(Arc::clone(key));
            }
        }
        Some(Arc::clone(&self.key.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// Whether a name, perhaps with a star, is the one that is asked for.
fn fits(name: &str, asked: &str) -> bool {
    match name.strip_prefix("*.") {
        Some(parent) => asked
            .split_once('.')
            .is_some_and(|(_, rest)| rest.eq_ignore_ascii_case(parent)),
        None => asked.eq_ignore_ascii_case(name),
    }
}

/// The server's clock as rustls reads it.
#[derive(Debug)]
struct Time(Clock);

impl TimeProvider for Time {
    fn current_time(&self) -> Option<UnixTime> {
        let seconds = u64::try_from(self.0.now().as_second()).unwrap_or_default();
        Some(UnixTime::since_unix_epoch(Duration::from_secs(seconds)))
    }
}
