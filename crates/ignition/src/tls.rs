//! TLS as the server speaks it, from files that change while it runs. Owns rustls' configuration and the exchange of the
//! certificate; knows nothing of connections.

use std::{
    convert::Infallible,
    fmt, io,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use rustls::{
    ServerConfig,
    crypto::{CryptoProvider, aws_lc_rs},
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{self, PemObject as _},
    },
    server::{ClientHello, NoServerSessionStorage, ResolvesServerCert},
    sign::CertifiedKey,
};
use thiserror::Error;
use tokio::{fs::File, io::AsyncReadExt as _, time::sleep};
use tokio_rustls::TlsAcceptor;

/// What a handshake calls the protocol that is spoken.
const HTTP_1: &[u8] = b"http/1.1";

/// How often it is looked whether the files have changed. A mounted Secret is replaced by changing a link, which tools
/// that watch files are often wrong about: the files are small, so they are read.
const PERIOD: Duration = Duration::from_secs(10);

/// Bytes of a file: what a Secret may hold.
const FILE_BYTES: u64 = 1 << 20;

/// Where the files are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFiles {
    /// The certificate, and those between it and its authority.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// Why TLS cannot be spoken. Nothing that is in a file is told.
#[derive(Debug, Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("{} cannot be read: look at the volume that is mounted there", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("{} holds no {what} in PEM: look at the Secret that is mounted there", path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        what: &'static str,
        /// What the reader said.
        #[source]
        source: pem::Error,
    },
    /// The certificate and its key do not belong together.
    #[error("{} and its key cannot be used together: make both anew", path.display())]
    Pair {
        /// The file of the certificate.
        path: PathBuf,
        /// The library's answer.
        #[source]
        source: rustls::Error,
    },
}

/// The certificate that is shown. Cheap to clone; all clones show the same.
#[derive(Clone)]
pub struct Certificate {
    files: CertificateFiles,
    config: Arc<ServerConfig>,
    shown: Arc<Shown>,
}

impl Certificate {
    /// Reads the files.
    pub async fn open(files: CertificateFiles) -> Result<Self, TlsError> {
        let texts = Texts::read(&files).await?;
        Self::showing(files, texts)
    }

    /// The same from texts in memory, for a process without these files: they only name what is wrong.
    pub fn in_memory(files: CertificateFiles, certificate: Vec<u8>, key: Vec<u8>) -> Result<Self, TlsError> {
        Self::showing(files, Texts { certificate, key })
    }

    fn showing(files: CertificateFiles, texts: Texts) -> Result<Self, TlsError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let shown = Arc::new(Shown {
            key: RwLock::new(Arc::new(texts.certified_key(&files, &provider)?)),
            texts: RwLock::new(texts),
            provider: Arc::clone(&provider),
        });
        let config = Arc::new(config(&shown, provider));
        Ok(Self { files, config, shown })
    }

    /// What connections are accepted with.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.config))
    }

    /// Reads the files again, and shows what is in them from the next handshake on. Whether they have changed is told.
    /// Connections that are there stay as they are; files that cannot be used change nothing.
    pub async fn reload(&self) -> Result<bool, TlsError> {
        let texts = Texts::read(&self.files).await?;
        if *self.shown.texts.read().unwrap_or_else(PoisonError::into_inner) == texts {
            return Ok(false);
        }
        let key = texts.certified_key(&self.files, &self.shown.provider)?;
        *self.shown.key.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(key);
        *self.shown.texts.write().unwrap_or_else(PoisonError::into_inner) = texts;
        Ok(true)
    }

    /// Reads the files again and again, until it is dropped.
    pub(crate) async fn keep(&self) -> Infallible {
        let mut last_error = String::new();
        loop {
            sleep(PERIOD).await;
            match self.reload().await {
                Ok(false) => last_error.clear(),
                Ok(true) => {
                    tracing::info!("The serving certificate has changed.");
                    last_error.clear();
                }
                Err(error) => {
                    let error = error.to_string();
                    if error != last_error {
                        tracing::warn!(error, "The serving certificate cannot be used; the one before stays.");
                        last_error = error;
                    }
                }
            }
        }
    }
}

fn config(shown: &Arc<Shown>, provider: Arc<CryptoProvider>) -> ServerConfig {
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has suites for the default versions")
        .with_no_client_auth()
        .with_cert_resolver(Arc::clone(shown) as Arc<dyn ResolvesServerCert>);
    config.alpn_protocols = vec![HTTP_1.to_vec()];
    // A machine comes once: nothing is remembered of it.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    config
}

impl fmt::Debug for Certificate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Certificate({})", self.files.certificate.display())
    }
}

/// What the files hold.
#[derive(PartialEq, Eq)]
struct Texts {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl Texts {
    async fn read(files: &CertificateFiles) -> Result<Self, TlsError> {
        Ok(Self {
            certificate: read(&files.certificate).await?,
            key: read(&files.key).await?,
        })
    }

    fn certified_key(&self, files: &CertificateFiles, provider: &CryptoProvider) -> Result<CertifiedKey, TlsError> {
        let chain: Result<Vec<_>, pem::Error> = CertificateDer::pem_slice_iter(&self.certificate).collect();
        let chain = match chain {
            Ok(chain) if chain.is_empty() => Err(pem::Error::NoItemsFound),
            chain => chain,
        };
        let pem = |path: &PathBuf, what: &'static str, source: pem::Error| TlsError::Pem {
            path: path.clone(),
            what,
            source,
        };
        let chain = chain.map_err(|source| pem(&files.certificate, "certificate", source))?;
        let key = PrivateKeyDer::from_pem_slice(&self.key).map_err(|source| pem(&files.key, "private key", source))?;
        CertifiedKey::from_der(chain, key, provider).map_err(|source| TlsError::Pair {
            path: files.certificate.clone(),
            source,
        })
    }
}

async fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    let unreadable = |source| TlsError::Read {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).await.map_err(unreadable)?;
    let mut text = Vec::new();
    file.take(FILE_BYTES).read_to_end(&mut text).await.map_err(unreadable)?;
    Ok(text)
}

/// What the next handshake shows.
struct Shown {
    key: RwLock<Arc<CertifiedKey>>,
    texts: RwLock<Texts>,
    provider: Arc<CryptoProvider>,
}

impl fmt::Debug for Shown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Shown")
    }
}

impl ResolvesServerCert for Shown {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.key.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

#[cfg(test)]
mod tests {
    use hyperplane_testbed::{Authority, Identity};
    use tokio::time::sleep;

    use super::*;

    fn shown(certificate: &Certificate) -> CertificateDer<'static> {
        let key = certificate.shown.key.read().unwrap();
        key.cert[0].clone()
    }

    /// Files are read again in every period; those that cannot be used change nothing.
    #[tokio::test(start_paused = true)]
    async fn certificates_are_kept_up_to_date() {
        let directory = tempfile::tempdir().unwrap();
        let authority = Authority::create("authority", &Identity::in_directory(directory.path(), "ca")).unwrap();
        let identity = Identity::in_directory(directory.path(), "tls");
        let renew = || {
            authority
                .sign_server_for("ignition", &["a.example.com"], &identity)
                .unwrap();
        };
        renew();
        let files = CertificateFiles {
            certificate: identity.certificate.clone(),
            key: identity.key.clone(),
        };
        let certificate = Certificate::open(files).await.unwrap();
        let first = shown(&certificate);
        let kept = certificate.clone();
        let keeping = tokio::spawn(async move { kept.keep().await });

        std::fs::write(&identity.key, "s3cr3t").unwrap();
        sleep(3 * PERIOD).await;
        assert_eq!(shown(&certificate), first);

        renew();
        for _ in 0..100 {
            sleep(PERIOD).await;
            if shown(&certificate) != first {
                break;
            }
        }
        assert_ne!(shown(&certificate), first);
        assert!(!keeping.is_finished());
        keeping.abort();
    }
}
