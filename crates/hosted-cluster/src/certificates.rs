//! Reading certificates that users give: their names and their end. Knows nothing of what they are for.

use jiff::Timestamp;
use rustls_pki_types::{CertificateDer, pem::PemObject as _};
use x509_parser::{extensions::GeneralName, parse_x509_certificate};

/// What is asked of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Certificate {
    /// The host names that it is for, in lower case.
    pub(crate) names: Vec<String>,
    /// When it expires.
    pub(crate) end: Timestamp,
}

/// All certificates of a text; none if there are none, or one cannot be read.
pub(crate) fn read_all(pem: &[u8]) -> Option<Vec<Certificate>> {
    let read: Option<Vec<Certificate>> = CertificateDer::pem_slice_iter(pem)
        .map(|der| read(&der.ok()?))
        .collect();
    read.filter(|certificates| !certificates.is_empty())
}

fn read(der: &[u8]) -> Option<Certificate> {
    let (_, certificate) = parse_x509_certificate(der).ok()?;
    let names = certificate.subject_alternative_name().ok()?;
    let names = names.iter().flat_map(|names| &names.value.general_names);
    let names = names.filter_map(|name| match name {
        GeneralName::DNSName(name) => Some(name.to_lowercase()),
        _ => None,
    });
    Some(Certificate {
        names: names.collect(),
        end: Timestamp::from_second(certificate.validity().not_after.timestamp()).ok()?,
    })
}

/// Whether a name of a certificate, the first label of which may be a star, covers a host name.
pub(crate) fn covers(pattern: &str, host: &str) -> bool {
    let (pattern, host) = (pattern.to_lowercase(), host.to_lowercase());
    match pattern.strip_prefix("*.") {
        Some(domain) => host.split_once('.').is_some_and(|(_, rest)| rest == domain),
        None => pattern == host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_one_label() {
        assert!(covers("*.example.com", "api.example.com"));
        assert!(covers("API.example.com", "api.Example.com"));
        assert!(!covers("*.example.com", "a.b.example.com"));
        assert!(!covers("*.example.com", "example.com"));
    }

    #[test]
    fn what_is_no_certificate_is_refused() {
        assert_eq!(read_all(b""), None);
        assert_eq!(
            read_all(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
            None
        );
    }
}
