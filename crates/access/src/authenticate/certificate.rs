//! Client certificates: a path to an authority that is trusted, then common name, organisations and uid of the subject
//! (apiserver, pkg/authentication/request/x509).

use aws_lc_rs::digest;
use jiff::Timestamp;
use rustls_pki_types::{CertificateDer, TrustAnchor, UnixTime, pem::PemObject as _};
use std::{fmt::Write as _, time::Duration};
use webpki::{ALL_VERIFICATION_ALGS, EndEntityCert, KeyUsage, anchor_from_trusted_cert};
use x509_parser::{certificate::X509Certificate, der_parser::Oid, prelude::FromDer as _, x509::X509Name};

use crate::{User, names};

/// The attribute of a subject that holds the uid of the user, of Kubernetes' own numbers.
const UID_ATTRIBUTE: &[u64] = &[1, 3, 6, 1, 4, 1, 57683, 2];
/// The longest chain that is looked at: webpki follows fewer, and a handshake could bring thousands.
const MAX_CHAIN: usize = 16;

/// Why authorities cannot be trusted.
#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    /// The file is not what it should be.
    #[error("the client authorities are not PEM of certificates")]
    NotPem,
    /// One of the certificates cannot anchor a path.
    #[error("a client authority is not a certificate of version 3: {0}")]
    NotAnchor(webpki::Error),
}

/// Why a client certificate is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CertificateError {
    /// It is no certificate.
    #[error("the client certificate cannot be read")]
    Unreadable,
    /// It is none of ours, or not now, or not for clients.
    #[error("verifying certificate failed: {0}")]
    NotVerified(String),
    /// It says who the user is in a way that is not understood.
    #[error("{0}")]
    Uid(&'static str),
}

/// Whose signatures on client certificates count.
pub struct ClientAuthorities {
    anchors: Vec<TrustAnchor<'static>>,
}

impl ClientAuthorities {
    /// Reads one or more certificates in PEM.
    pub fn from_pem(pem: &str) -> Result<Self, AuthorityError> {
        let certificates: Vec<CertificateDer<'_>> = CertificateDer::pem_slice_iter(pem.as_bytes())
            .collect::<Result<_, _>>()
            .map_err(|_| AuthorityError::NotPem)?;
        if certificates.is_empty() {
            return Err(AuthorityError::NotPem);
        }
        let anchor = |certificate| anchor_from_trusted_cert(certificate).map(|anchor| anchor.to_owned());
        let anchors = certificates
            .iter()
            .map(anchor)
            .collect::<Result<_, _>>()
            .map_err(AuthorityError::NotAnchor)?;
        Ok(Self { anchors })
    }
}

/// The user that the certificate names; nobody if it has no common name.
pub fn client_certificate(
    chain: &[&[u8]],
    authorities: &ClientAuthorities,
    now: Timestamp,
) -> Result<Option<User>, CertificateError> {
    let Some((leaf, intermediates)) = chain.split_first() else {
        return Ok(None);
    };
    verify(leaf, intermediates, authorities, now)?;
    let (_, certificate) = X509Certificate::from_der(leaf).map_err(|_| CertificateError::Unreadable)?;
    let subject = certificate.subject();
    let Some(name) = common_name(subject).filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    let mut user = User::with_groups(&name, organisations(subject));
    user.uid = uid(subject)?;
    user.extra.insert(
        names::CREDENTIAL_ID.to_owned(),
        vec![format!("X509SHA256={}", fingerprint(leaf))],
    );
    Ok(Some(user))
}

/// The last common name counts, as in Go.
pub(crate) fn common_name(subject: &X509Name<'_>) -> Option<String> {
    subject
        .iter_common_name()
        .last()
        .and_then(|name| name.as_str().ok())
        .map(str::to_owned)
}

pub(crate) fn organisations(subject: &X509Name<'_>) -> Vec<String> {
    subject
        .iter_organization()
        .filter_map(|name| name.as_str().ok())
        .map(str::to_owned)
        .collect()
}

fn verify(
    leaf: &[u8],
    intermediates: &[&[u8]],
    authorities: &ClientAuthorities,
    now: Timestamp,
) -> Result<(), CertificateError> {
    let not_verified = |error: webpki::Error| CertificateError::NotVerified(error.to_string());
    let leaf = CertificateDer::from(leaf);
    let intermediates: Vec<CertificateDer<'_>> = intermediates
        .iter()
        .take(MAX_CHAIN)
        .map(|der| CertificateDer::from(*der))
        .collect();
    let seconds = u64::try_from(now.as_second()).unwrap_or_default();
    let time = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
    let certificate = EndEntityCert::try_from(&leaf).map_err(not_verified)?;
    let path = certificate.verify_for_usage(
        ALL_VERIFICATION_ALGS,
        &authorities.anchors,
        &intermediates,
        time,
        KeyUsage::client_auth(),
        None,
        None,
    );
    path.map(drop).map_err(not_verified)
}

fn uid(subject: &X509Name<'_>) -> Result<String, CertificateError> {
    let attribute = Oid::from(UID_ATTRIBUTE).expect("a constant that is an object identifier");
    let mut values = subject.iter_by_oid(&attribute);
    let Some(value) = values.next() else {
        return Ok(String::new());
    };
    if values.next().is_some() {
        return Err(CertificateError::Uid("expected 1 UID, but found multiple"));
    }
    match value.as_str() {
        Ok("") => Err(CertificateError::Uid("UID cannot be an empty string")),
        Ok(uid) => Ok(uid.to_owned()),
        Err(_) => Err(CertificateError::Uid("unable to parse UID into a string")),
    }
}

fn fingerprint(der: &[u8]) -> String {
    let digest = digest::digest(&digest::SHA256, der);
    digest.as_ref().iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("writing to a string cannot fail");
        hex
    })
}
