//! One replica of a hosted API server: the cluster's store behind the certificates, authorities and version of one pod.

use std::{net::SocketAddr, sync::Arc};

use hyperplane_access::{
    authenticate::{ClientAuthorities, StaticTokens},
    tokens::{Issuer, SigningKey, VerifyingKey},
};
use hyperplane_apiserver::{
    FrontSettings, Limits, Server,
    serve::{ConnectionLimits, TlsSettings, serve_connection},
};
use hyperplane_seams::Clock;
use secrecy::ExposeSecret as _;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::{blueprint::Blueprint, cluster::Cluster};

/// A replica that can be connected to.
pub(crate) struct Front {
    /// What it is made of.
    pub(super) blueprint: Blueprint,
    /// What is behind it.
    pub(super) cluster: Arc<Cluster>,
    /// Ends its connections, those that are busy a little later.
    pub(super) stop: CancellationToken,
    /// The cluster as clients of this replica see it.
    pub(super) server: Server,
    tls: TlsSettings,
}

impl Front {
    /// A replica, or what its program would say before it ends.
    pub(super) fn new(cluster: &Arc<Cluster>, blueprint: Blueprint, clock: &Clock) -> Result<Self, String> {
        let authorities = ClientAuthorities::from_pem(&blueprint.client_authorities)
            .map_err(|error| format!("Error: --client-ca-file: {error}"))?;
        let tls = TlsSettings::new(&blueprint.serving, &blueprint.client_authorities, clock.clone())
            .map_err(|error| format!("Error: --tls-cert-file: {error}"))?;
        tls.name_certificates(&blueprint.named)
            .map_err(|error| format!("Error: --tls-sni-cert-key: {error}"))?;
        let settings = FrontSettings {
            limits: Limits::default(),
            authorities: Some(authorities),
            static_tokens: StaticTokens::default(),
            issuer: Some(Arc::new(issuer(&blueprint)?)),
            address: blueprint.address.clone(),
            git_version: blueprint.version.clone(),
        };
        Ok(Self {
            server: cluster.server.behind(settings),
            cluster: Arc::clone(cluster),
            stop: CancellationToken::new(),
            blueprint,
            tls,
        })
    }

    /// The port on which it listens.
    pub(crate) const fn port(&self) -> u16 {
        self.blueprint.port
    }

    /// Serves one connection until it ends, or the replica does.
    pub(crate) fn serve<I>(&self, io: I, remote: SocketAddr) -> impl Future<Output = ()> + Send + use<I>
    where
        I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (tls, server, stop) = (self.tls.clone(), self.server.clone(), self.stop.clone());
        serve_connection(io, remote, tls, server, ConnectionLimits::default(), stop)
    }
}

fn issuer(blueprint: &Blueprint) -> Result<Issuer, String> {
    let key = SigningKey::from_pem(blueprint.signing_key.expose_secret())
        .map_err(|error| format!("Error: --service-account-signing-key-file: {error}"))?;
    let mut issuer = Issuer::new(&blueprint.issuer, key);
    if !blueprint.audiences.is_empty() {
        issuer.audiences.clone_from(&blueprint.audiences);
    }
    for text in &blueprint.verifying_keys {
        let key =
            VerifyingKey::from_pem(text).map_err(|error| format!("Error: --service-account-key-file: {error}"))?;
        issuer = issuer.trust(key);
    }
    Ok(issuer)
}
