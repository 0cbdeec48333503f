//! Asking a client for its certificate. Owns the proof that the peer has the key; whom the certificate names, who vouches
//! for it and whether it has expired are judged with every request, where users are.
//!
//! Upstream does the same (apiserver, pkg/server/secure_serving.go, `RequestClientCert`): a certificate that does not
//! count is answered with 401, or another credential of the request counts. A broken handshake could say neither.

use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, SignatureScheme,
    client::danger::HandshakeSignatureValid,
    crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, UnixTime},
    server::danger::{ClientCertVerified, ClientCertVerifier},
};

/// Takes any certificate whose key the peer has, and none.
#[derive(Debug)]
pub(super) struct Asking {
    /// Clients choose among their certificates by these.
    authorities: Vec<DistinguishedName>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Asking {
    pub(super) fn new(authorities: Vec<DistinguishedName>, provider: &CryptoProvider) -> Self {
        Self {
            authorities,
            algorithms: provider.signature_verification_algorithms,
        }
    }
}

impl ClientCertVerifier for Asking {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &self.authorities
    }

    fn verify_client_cert(
        &self,
        leaf: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        match x509_parser::parse_x509_certificate(leaf) {
            Ok(_) => Ok(ClientCertVerified::assertion()),
            Err(_) => Err(CertificateError::BadEncoding.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
