//! What the tests of several programs need: certificates in files, and patience.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(dead_code, reason = "each target uses its part")]

use std::{
    fs,
    net::Ipv4Addr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use hyperplane_sidecars::tls::{IdentityFiles, TlsFiles};
use hyperplane_testbed::{Authority, Identity};
use rustls::{
    RootCertStore, ServerConfig,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    server::WebPkiClientVerifier,
};
use tokio_rustls::TlsAcceptor;

/// After so long something counts as never coming. Nothing takes a tenth of it.
const NEVER: Duration = Duration::from_mins(2);

/// Waits for something that must come, and says what did not.
pub async fn soon<T>(what: &str, coming: impl Future<Output = T>) -> T {
    tokio::time::timeout(NEVER, coming)
        .await
        .unwrap_or_else(|_| panic!("{what}: it never came"))
}

/// Tries until it works, and says at the end why it never did.
pub async fn eventually<T, E: std::fmt::Debug>(what: &str, mut attempt: impl AsyncFnMut() -> Result<T, E>) -> T {
    let start = tokio::time::Instant::now();
    loop {
        match attempt().await {
            Ok(value) => return value,
            Err(error) => assert!(start.elapsed() < NEVER, "{what}: {error:?}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The certificate in a file.
pub fn certificate(path: &Path) -> CertificateDer<'static> {
    CertificateDer::from_pem_file(path).unwrap()
}

/// An authority, and who it has signed for, as files.
pub struct Certificates {
    directory: PathBuf,
    authority: Authority,
}

impl Certificates {
    /// Makes an authority.
    pub fn create(directory: &Path) -> Self {
        let directory = directory.join("certificates");
        fs::create_dir_all(&directory).unwrap();
        let authority = Authority::create("authority", &Identity::in_directory(&directory, "ca")).unwrap();
        Self { directory, authority }
    }

    /// The certificate of the authority.
    pub fn authority(&self) -> PathBuf {
        Identity::in_directory(&self.directory, "ca").certificate
    }

    /// A certificate for a server at an address, which it may call others with, too.
    pub fn server(&self, host: Ipv4Addr) -> Identity {
        let files = Identity::in_directory(&self.directory, "server");
        self.authority.sign_server("server", host, &files).unwrap();
        files
    }

    /// A certificate for a server by its name.
    pub fn named_server(&self, name: &str) -> Identity {
        let files = Identity::in_directory(&self.directory, name);
        self.authority.sign_server_for(name, &[name], &files).unwrap();
        files
    }

    /// How a server with such a certificate speaks TLS; where it wants to know who calls, it asks for a certificate of
    /// this authority.
    pub fn acceptor(&self, files: &Identity, asks_for_certificate: bool) -> TlsAcceptor {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(certificate(&self.authority())).unwrap();
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .unwrap();
        let builder = if asks_for_certificate {
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        } else {
            builder.with_no_client_auth()
        };
        let key = PrivateKeyDer::from_pem_file(&files.key).unwrap();
        let config = builder.with_single_cert(vec![certificate(&files.certificate)], key);
        TlsAcceptor::from(Arc::new(config.unwrap()))
    }

    /// How a client with a certificate of this authority speaks TLS.
    pub fn client(&self) -> TlsFiles {
        let files = Identity::in_directory(&self.directory, "client");
        self.authority.sign_client("client", &[], &files).unwrap();
        TlsFiles {
            authority: self.authority(),
            identity: Some(IdentityFiles {
                certificate: files.certificate,
                key: files.key,
            }),
        }
    }
}
