//! Fetching the configuration of an instance: one HTTPS request, with the token that it booted with, as Ignition makes it.
//! Owns the exchange and its limits; what is fetched is not looked at.

use std::{fmt::Display, sync::Arc, time::Duration};

use http::{Request, StatusCode, header::HOST};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::{
    body::{Bytes, Incoming},
    client::conn::http1,
};
use hyper_util::rt::TokioIo;
use rustls::{
    ClientConfig, RootCertStore,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, ServerName, pem::PemObject as _},
};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::{instance::Trouble, stub::Stub};
use crate::network::{Network, Time};

/// How long one attempt may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest configuration that is read: as long as any that is made.
const LONGEST: usize = 16 << 20;
/// Letters of an answer that is no configuration which are repeated.
const WORDS: usize = 200;

/// Fetches what a stub names.
pub(super) async fn fetch(network: &Network, stub: &Stub) -> Result<Bytes, Trouble> {
    let late = |_| Trouble::Again(told(stub, "it took too long"));
    timeout(PATIENCE, ask(network, stub)).await.map_err(late)?
}

/// What went wrong, with whom.
fn told(stub: &Stub, why: &(impl Display + ?Sized)) -> String {
    format!(
        "https://{}:{}{}: {why}",
        stub.address.host, stub.address.port, stub.path
    )
}

async fn ask(network: &Network, stub: &Stub) -> Result<Bytes, Trouble> {
    let again = |error: &dyn Display| Trouble::Again(told(stub, error));
    let connector = connector(network, stub)?;
    let name = ServerName::try_from(stub.address.host.clone())
        .map_err(|_| Trouble::Final(told(stub, "no certificate can be for such a host")))?;
    let io = network.dial(&stub.address).await.map_err(|error| again(&error))?;
    let stream = connector.connect(name, io).await.map_err(|error| again(&error))?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| again(&error))?;
    let request = request(stub)?;
    let exchange = async {
        let response = sender.send_request(request).await.map_err(|error| again(&error))?;
        let (parts, body) = response.into_parts();
        let body = Limited::<Incoming>::new(body, LONGEST).collect().await;
        let body = body.map_err(|error| again(&error))?.to_bytes();
        judge(stub, parts.status, body)
    };
    // The connection does the work while the exchange waits; whichever ends it, no task is left behind.
    tokio::pin!(exchange);
    tokio::select! {
        // Which of two comes first must not be chance.
        biased;
        answer = &mut exchange => answer,
        // A server that hangs up after its answer ends the connection, perhaps with an error: the answer counts. Without
        // one the exchange knows that it will get none.
        _ = connection => exchange.await,
    }
}

fn connector(network: &Network, stub: &Stub) -> Result<TlsConnector, Trouble> {
    let unusable = || Trouble::Final(told(stub, "the certificate authorities to trust cannot be used"));
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&stub.authorities) {
        roots
            .add(certificate.map_err(|_| unusable())?)
            .map_err(|_| unusable())?;
    }
    if roots.is_empty() {
        return Err(Trouble::Final(told(stub, "no certificate authority is trusted")));
    }
    let provider = Arc::new(aws_lc_rs::default_provider());
    let tls = ClientConfig::builder_with_details(provider, Arc::new(Time(network.clock())))
        .with_safe_default_protocol_versions()
        .map_err(|_| unusable())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(tls)))
}

fn request(stub: &Stub) -> Result<Request<Empty<Bytes>>, Trouble> {
    let mut builder = Request::builder().uri(&stub.path).header(HOST, &stub.address.host);
    builder = builder.header(
        "accept",
        "application/vnd.coreos.ignition+json;version=3.2.0, */*;q=0.1",
    );
    for (name, value) in &stub.headers {
        builder = builder.header(name, value);
    }
    builder
        .body(Empty::new())
        .map_err(|_| Trouble::Final(told(stub, "it cannot be asked for")))
}

/// Ignition tries again after answers from 500 on, and gives up after others.
fn judge(stub: &Stub, status: StatusCode, body: Bytes) -> Result<Bytes, Trouble> {
    if status == StatusCode::OK {
        return Ok(body);
    }
    let said: String = String::from_utf8_lossy(&body)
        .chars()
        .filter(|letter| !letter.is_control())
        .take(WORDS)
        .collect();
    let words = told(stub, &format!("{status}: {said}"));
    Err(if status.is_server_error() {
        Trouble::Again(words)
    } else {
        Trouble::Final(words)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_are_judged_as_ignition_does() {
        let data = json!({"ignition": {"version": "3.2.0", "config": {"merge": [{"source": "https://a.example/x"}]}}});
        let stub = Stub::read(data.to_string().as_bytes()).ok().unwrap();
        let judged = |code: u16| judge(&stub, StatusCode::from_u16(code).unwrap(), Bytes::from_static(b"no\n"));
        assert!(judged(200).is_ok());
        for (code, is_final) in [(401, true), (404, true), (500, false), (503, false), (511, false)] {
            match judged(code) {
                Err(Trouble::Final(words)) => assert!(is_final && words.ends_with(": no"), "{words}"),
                Err(Trouble::Again(words)) => assert!(!is_final && words.ends_with(": no"), "{words}"),
                Ok(_) => panic!("{code} is no configuration"),
            }
        }
    }
}
