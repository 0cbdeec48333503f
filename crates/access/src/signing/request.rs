//! What a CertificateSigningRequest asks for: the names, the key and the proof that the asker has the key.

use std::net::IpAddr;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use rustls_pki_types::{CertificateSigningRequestDer, pem::PemObject as _};
use serde_json::Value;
use x509_parser::{
    certification_request::X509CertificationRequest,
    extensions::{GeneralName, ParsedExtension},
    prelude::FromDer as _,
};

use crate::{
    authenticate::{common_name, organisations},
    object::text,
};

/// Why a request cannot be read or is not to be believed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// `spec.request` is not what it should be.
    #[error("PEM block type must be CERTIFICATE REQUEST")]
    NotPem,
    /// The bytes are no request.
    #[error("unable to parse certificate request: {0}")]
    NotRequest(String),
    /// The asker does not have the key.
    #[error("unable to verify certificate request signature: {0}")]
    NotSigned(String),
}

/// A request for a certificate, taken apart.
#[derive(Clone, Debug)]
pub struct Request {
    /// The common name of the subject.
    pub common_name: String,
    /// The organisations of the subject.
    pub organisations: Vec<String>,
    /// The subject as it was written, to be repeated.
    pub(super) subject: Vec<u8>,
    /// The key as it was written: two requests with the same are by the same asker, if both are signed.
    pub public_key: Vec<u8>,
    /// The other names of the subject that are understood, as they were written.
    pub(super) names: AlternativeNames,
    der: Vec<u8>,
}

/// Other names of a subject, in the encoding of a GeneralName's content.
#[derive(Clone, Debug, Default)]
pub(super) struct AlternativeNames {
    pub dns: Vec<Vec<u8>>,
    pub emails: Vec<Vec<u8>>,
    pub addresses: Vec<Vec<u8>>,
    pub uris: Vec<Vec<u8>>,
}

impl Request {
    /// Reads `spec.request` of a CertificateSigningRequest object.
    pub fn from_object(object: &Value) -> Result<Self, RequestError> {
        let pem = BASE64_STANDARD
            .decode(text(object, &["spec", "request"]))
            .map_err(|_| RequestError::NotPem)?;
        Self::from_pem(&pem)
    }

    /// Reads a request in PEM.
    pub fn from_pem(pem: &[u8]) -> Result<Self, RequestError> {
        let der = CertificateSigningRequestDer::from_pem_slice(pem).map_err(|_| RequestError::NotPem)?;
        Self::from_der(&der)
    }

    /// Reads a request in DER.
    pub fn from_der(der: &[u8]) -> Result<Self, RequestError> {
        let not_request = |error: String| RequestError::NotRequest(error);
        let (rest, request) =
            X509CertificationRequest::from_der(der).map_err(|error| not_request(error.to_string()))?;
        if !rest.is_empty() {
            return Err(not_request("trailing data".to_owned()));
        }
        let info = &request.certification_request_info;
        Ok(Self {
            common_name: common_name(&info.subject).unwrap_or_default(),
            organisations: organisations(&info.subject),
            subject: info.subject.as_raw().to_vec(),
            public_key: info.subject_pki.raw.to_vec(),
            names: AlternativeNames::of(&request),
            der: der.to_vec(),
        })
    }

    /// The DNS names that are asked for, as they were written; one that is no text is told with what stands for it.
    pub fn dns_names(&self) -> Vec<String> {
        let names = self.names.dns.iter();
        names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
    }

    /// The addresses that are asked for; nothing for one that is none.
    pub fn addresses(&self) -> Vec<Option<IpAddr>> {
        let address = |bytes: &Vec<u8>| {
            let short = <[u8; 4]>::try_from(bytes.as_slice()).map(IpAddr::from);
            short
                .or_else(|_| <[u8; 16]>::try_from(bytes.as_slice()).map(IpAddr::from))
                .ok()
        };
        self.names.addresses.iter().map(address).collect()
    }

    /// Whether the asker has the key for which a certificate is asked.
    pub fn check_signature(&self) -> Result<(), RequestError> {
        let not_signed = |error: String| RequestError::NotSigned(error);
        let (_, request) =
            X509CertificationRequest::from_der(&self.der).map_err(|error| not_signed(error.to_string()))?;
        request
            .verify_signature()
            .map_err(|error| not_signed(error.to_string()))
    }
}

impl AlternativeNames {
    fn of(request: &X509CertificationRequest<'_>) -> Self {
        let mut names = Self::default();
        for extension in request.requested_extensions().into_iter().flatten() {
            let ParsedExtension::SubjectAlternativeName(alternative) = extension else {
                continue;
            };
            for name in &alternative.general_names {
                match name {
                    GeneralName::DNSName(dns) => names.dns.push(dns.as_bytes().to_vec()),
                    GeneralName::RFC822Name(email) => names.emails.push(email.as_bytes().to_vec()),
                    GeneralName::IPAddress(address) => names.addresses.push(address.to_vec()),
                    GeneralName::URI(uri) => names.uris.push(uri.as_bytes().to_vec()),
                    _ => {}
                }
            }
        }
        names
    }
}
