//! A client for a hosted API server, made of a kubeconfig: TLS with its certificates and by the twin's clock.

use std::{sync::Arc, time::Duration};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use hyperplane_seams::Clock;
use kube::{Client, Config, client::ConfigExt as _};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject as _},
    time_provider::TimeProvider,
};
use secrecy::ExposeSecret as _;
use thiserror::Error;
use tower::{BoxError, ServiceBuilder};

use super::{Network, link::Link};
use crate::programs::Address;

/// HTTP/2, as a handshake names it.
const HTTP_2: &[u8] = b"h2";

/// Why no client can be made of a kubeconfig. Nothing of it is quoted: it may be a key.
#[derive(Debug, Error)]
enum ClientError {
    #[error("the kubeconfig names no host with HTTPS")]
    Host,
    #[error("the kubeconfig has no certificate authority: embed certificate-authority-data")]
    Authority,
    #[error("the client certificate of the kubeconfig cannot be read")]
    Certificate,
    #[error("the certificates of the kubeconfig cannot be used")]
    Tls(#[source] rustls::Error),
}

/// A client whose connections lead through the network.
pub(super) fn client(network: &Network, config: &Config) -> Result<Client, kube::Error> {
    let refused = |error: ClientError| kube::Error::Service(Box::new(error));
    let uri = &config.cluster_url;
    let host = uri.host().filter(|_| uri.scheme_str() == Some("https"));
    let host = host.ok_or(ClientError::Host).map_err(refused)?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let address = Address {
        host: host.to_owned(),
        port: uri.port_u16().unwrap_or(443),
    };
    let name = config.tls_server_name.clone().unwrap_or_else(|| host.to_owned());
    let name = ServerName::try_from(name).map_err(|_| refused(ClientError::Host))?;
    let tls = tls(config, network.0.clock.clone()).map_err(refused)?;
    let link = Link::new(network.clone(), address, name, tls);
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_err(BoxError::from)
        .service(link);
    Ok(Client::new(service, &config.default_namespace))
}

fn tls(config: &Config, clock: Clock) -> Result<ClientConfig, ClientError> {
    let mut roots = RootCertStore::empty();
    for certificate in config.root_cert.iter().flatten() {
        roots.add(certificate.clone().into()).map_err(ClientError::Tls)?;
    }
    if roots.is_empty() {
        return Err(ClientError::Authority);
    }
    let builder = ClientConfig::builder_with_details(Arc::new(aws_lc_rs::default_provider()), Arc::new(Time(clock)))
        .with_safe_default_protocol_versions()
        .map_err(ClientError::Tls)?
        .with_root_certificates(roots);
    let user = &config.auth_info;
    let mut tls = match (&user.client_certificate_data, &user.client_key_data) {
        (Some(certificate), Some(key)) => {
            let chain = CertificateDer::pem_slice_iter(&decoded(certificate)?).collect::<Result<Vec<_>, _>>();
            let chain = chain.map_err(|_| ClientError::Certificate)?;
            let key = PrivateKeyDer::from_pem_slice(&decoded(key.expose_secret())?);
            let key = key.map_err(|_| ClientError::Certificate)?;
            builder.with_client_auth_cert(chain, key).map_err(ClientError::Tls)?
        }
        _ => builder.with_no_client_auth(),
    };
    tls.alpn_protocols = vec![HTTP_2.to_vec()];
    Ok(tls)
}

fn decoded(text: &str) -> Result<Vec<u8>, ClientError> {
    BASE64_STANDARD.decode(text).map_err(|_| ClientError::Certificate)
}

/// The twin's clock as rustls reads it.
#[derive(Debug)]
pub(crate) struct Time(pub(crate) Clock);

impl TimeProvider for Time {
    fn current_time(&self) -> Option<UnixTime> {
        let seconds = u64::try_from(self.0.now().as_second()).unwrap_or_default();
        Some(UnixTime::since_unix_epoch(Duration::from_secs(seconds)))
    }
}
