//! The embedded server for tests: in-process, in memory, and on request behind a socket, as kubectl needs it.

#![allow(dead_code, reason = "each test uses its part")]

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Result;
use hyperplane_access::{
    authenticate::ClientAuthorities,
    signing::SigningAuthority,
    tokens::{Issuer, SigningKey},
};
use hyperplane_apiserver::{
    Entropy, Server, Settings, Shared,
    pki::{self, Credentials, ServingNames},
    serve::{ConnectionLimits, TlsSettings, serve},
};
use hyperplane_seams::Clock;
use hyperplane_store::Memory;
use secrecy::ExposeSecret as _;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// A server that runs as long as the runtime of its test.
pub(crate) struct Embedded {
    pub(crate) server: Server,
    credentials: Credentials,
}

impl Embedded {
    /// Starts a server.
    pub(crate) async fn start() -> Result<Self> {
        Self::start_with(true).await
    }

    /// Starts a server that leaves to a controller manager beside it what such a program does.
    pub(crate) async fn start_without_manager() -> Result<Self> {
        Self::start_with(false).await
    }

    async fn start_with(manager: bool) -> Result<Self> {
        let entropy = Entropy::seeded(1);
        let mut settings = Settings::new(Clock::reading(jiff::Timestamp::now), entropy);
        let names = ServingNames::of_cluster("10.96.0.1".parse()?);
        let credentials = Credentials::generate(&names, jiff::Timestamp::now(), &settings.entropy)?;
        let cluster = &credentials.cluster;
        settings.authority = Some(SigningAuthority::from_pem(
            &cluster.certificate,
            cluster.key.expose_secret(),
        )?);
        settings.authorities = Some(ClientAuthorities::from_pem(&cluster.certificate)?);
        settings.root_certificates.clone_from(&cluster.certificate);
        settings.client_certificates.clone_from(&cluster.certificate);
        settings.issuer = Some(Arc::new(Issuer::new(
            "https://kubernetes.default.svc",
            SigningKey::generate()?,
        )));
        let (server, writer, controllers) = Server::open(&Shared::new(), settings, Memory)?;
        tokio::spawn(writer.run());
        let (of_server, of_manager) = controllers.split();
        tokio::spawn(of_server.run(CancellationToken::new()));
        if manager {
            tokio::spawn(of_manager.run(CancellationToken::new()));
        }
        server.bootstrap().await?;
        Ok(Self { server, credentials })
    }

    /// Serves it on a free port of this machine, and writes the kubeconfig of its administrator.
    pub(crate) async fn listen(&self, directory: &Path) -> Result<PathBuf> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let Credentials {
            cluster,
            serving,
            administrator,
            ..
        } = &self.credentials;
        let tls = TlsSettings::new(serving, &cluster.certificate, Clock::reading(jiff::Timestamp::now))?;
        let stop = CancellationToken::new();
        tokio::spawn(serve(
            listener,
            tls,
            self.server.clone(),
            ConnectionLimits::default(),
            stop,
        ));
        let path = directory.join("kubeconfig");
        let kubeconfig = pki::kubeconfig(&format!("https://{address}"), &cluster.certificate, administrator);
        pki::write_private(&path, &kubeconfig)?;
        Ok(path)
    }
}
