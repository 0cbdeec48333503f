//! TLS as a client, from files. Owns how they are read; knows nothing of whom is called.
//!
//! The files are mounted Secrets and ConfigMaps, which change while a program runs: whoever connects reads them anew.

use std::{io, path::PathBuf, sync::Arc};

use rustls::{
    ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier,
    crypto::aws_lc_rs,
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{self, PemObject},
    },
};
use thiserror::Error;
use tokio_rustls::TlsConnector;

/// The protocol that these programs speak over TLS.
const HTTP_1: &[u8] = b"http/1.1";

/// Where the files are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificates of those who may have signed for the server.
    pub authority: PathBuf,
    /// Who the client says it is, where a server asks.
    pub identity: Option<IdentityFiles>,
}

/// The files of a client certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityFiles {
    /// The certificate, and those between it and its authority.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// Why TLS cannot be spoken.
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
    #[error("{} holds no {what} in PEM: look at the Secret or ConfigMap that is mounted there", path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        what: &'static str,
        /// What the reader said, which names no content.
        #[source]
        source: pem::Error,
    },
    /// A certificate cannot be an authority.
    #[error("{} cannot be used as an authority: make it anew", path.display())]
    Authority {
        /// The file.
        path: PathBuf,
        /// The library's answer.
        #[source]
        source: rustls::Error,
    },
    /// The certificate and its key do not belong together.
    #[error("{} and its key cannot be used together: make both anew", path.display())]
    Identity {
        /// The file of the certificate.
        path: PathBuf,
        /// The library's answer.
        #[source]
        source: rustls::Error,
    },
}

impl TlsFiles {
    /// Reads the files, and gives back what connects with them.
    pub async fn connector(&self) -> Result<TlsConnector, TlsError> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates(&self.authority).await? {
            let path = || self.authority.clone();
            roots
                .add(certificate)
                .map_err(|source| TlsError::Authority { path: path(), source })?;
        }
        let builder = builder().with_root_certificates(roots);
        let mut config = match &self.identity {
            None => builder.with_no_client_auth(),
            Some(files) => {
                let chain = certificates(&files.certificate).await?;
                let path = || files.certificate.clone();
                builder
                    .with_client_auth_cert(chain, key(&files.key).await?)
                    .map_err(|source| TlsError::Identity { path: path(), source })?
            }
        };
        config.alpn_protocols = vec![HTTP_1.to_vec()];
        Ok(TlsConnector::from(Arc::new(config)))
    }
}

fn builder() -> ConfigBuilder<ClientConfig, WantsVerifier> {
    ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider has suites for the default versions")
}

async fn certificates(path: &PathBuf) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let text = read(path).await?;
    let all: Result<Vec<_>, pem::Error> = CertificateDer::pem_slice_iter(&text).collect();
    match all {
        Ok(all) if all.is_empty() => Err(pem::Error::NoItemsFound),
        all => all,
    }
    .map_err(|source| TlsError::Pem {
        path: path.clone(),
        what: "certificate",
        source,
    })
}

async fn key(path: &PathBuf) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_slice(&read(path).await?).map_err(|source| TlsError::Pem {
        path: path.clone(),
        what: "private key",
        source,
    })
}

async fn read(path: &PathBuf) -> Result<Vec<u8>, TlsError> {
    tokio::fs::read(path).await.map_err(|source| TlsError::Read {
        path: path.clone(),
        source,
    })
}
