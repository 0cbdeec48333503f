//! Which server is hammered and as whom.

use std::{net::SocketAddr, path::Path, sync::Arc};

use kube::{
    Config,
    client::ConfigExt as _,
    config::{KubeConfigOptions, Kubeconfig, KubeconfigError},
};
use rustls::{ClientConfig, pki_types::ServerName};
use secrecy::ExposeSecret as _;
use tokio::net::lookup_host;

/// Where a kube-apiserver listens if its address says nothing.
const DEFAULT_PORT: u16 = 443;

/// A server and a user of it.
#[derive(Clone)]
pub struct Target {
    /// Where it listens. One address: a client that has several tries them in turn, which is a retry.
    pub address: SocketAddr,
    /// What requests call it.
    pub authority: String,
    /// How it is spoken to; none means without TLS.
    pub tls: Option<Tls>,
    /// The value of the header that says who asks, where no certificate does.
    pub authorization: Option<String>,
}

/// How a server is known, and who asks.
#[derive(Clone)]
pub struct Tls {
    /// Trust, and the client's certificate.
    pub client: Arc<ClientConfig>,
    /// The name that the server's certificate must have.
    pub server_name: ServerName<'static>,
}

/// Why a kubeconfig names no target.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The file cannot be read.
    #[error("reading the kubeconfig")]
    Kubeconfig(#[from] Box<KubeconfigError>),
    /// Its certificates cannot be used.
    #[error("using the certificates of the kubeconfig")]
    Certificates(#[source] Box<kube::Error>),
    /// The server's name is not one.
    #[error("the server of the kubeconfig is `{0}`: write it like https://127.0.0.1:6443")]
    Server(String),
    /// The server's name has no address.
    #[error("looking for the address of {name}")]
    Address {
        /// The name.
        name: String,
        /// The machine's answer.
        #[source]
        source: std::io::Error,
    },
}

impl Target {
    /// The server and the user of the current context of a kubeconfig: with a client certificate or a token.
    pub async fn from_kubeconfig(path: &Path) -> Result<Self, TargetError> {
        let kubeconfig = Kubeconfig::read_from(path).map_err(Box::new)?;
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
            .await
            .map_err(Box::new)?;
        Self::from_config(&config).await
    }

    /// The server and the user of a client's configuration.
    pub async fn from_config(config: &Config) -> Result<Self, TargetError> {
        let url = &config.cluster_url;
        let invalid = || TargetError::Server(url.to_string());
        let authority = url.authority().ok_or_else(invalid)?;
        let port = authority.port_u16().unwrap_or(DEFAULT_PORT);
        let host = authority.host().trim_matches(['[', ']']);
        let address = first_address(host, port).await?;
        let name = config.tls_server_name.as_deref().unwrap_or(host);
        let server_name = ServerName::try_from(name.to_owned()).map_err(|_| invalid())?;
        let client = config
            .rustls_client_config()
            .map_err(|source| TargetError::Certificates(Box::new(source)))?;
        let token = config.auth_info.token.as_ref();
        Ok(Self {
            address,
            authority: authority.to_string(),
            tls: Some(Tls {
                client: Arc::new(client),
                server_name,
            }),
            authorization: token.map(|token| format!("Bearer {}", token.expose_secret())),
        })
    }
}

async fn first_address(host: &str, port: u16) -> Result<SocketAddr, TargetError> {
    let failed = |source| TargetError::Address {
        name: host.to_owned(),
        source,
    };
    let mut found = lookup_host((host, port)).await.map_err(failed)?;
    let none = || failed(std::io::Error::other("the name has no address"));
    found.next().ok_or_else(none)
}
