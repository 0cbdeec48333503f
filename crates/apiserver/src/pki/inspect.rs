//! Reading certificates that were made before: whose they are, how long they last, by which names a server is reached.

use std::net::IpAddr;

use jiff::Timestamp;
use rcgen::{KeyPair, PublicKeyData as _};
use rustls::pki_types::{CertificateDer, pem::PemObject as _};
use x509_parser::{
    certificate::X509Certificate,
    extensions::{GeneralName, ParsedExtension},
    parse_x509_certificate,
};

use super::{PkiError, names::ServingNames};

/// A certificate that can be read.
pub(super) struct Inspected {
    der: CertificateDer<'static>,
}

impl Inspected {
    /// Reads the first certificate of a PEM text.
    pub(super) fn read(pem: &str, what: &'static str) -> Result<Self, PkiError> {
        let der = CertificateDer::from_pem_slice(pem.as_bytes()).map_err(|_| PkiError::Certificate { what })?;
        match parse_x509_certificate(&der) {
            Ok(_) => Ok(Self { der }),
            Err(_) => Err(PkiError::Certificate { what }),
        }
    }

    fn parsed(&self) -> X509Certificate<'_> {
        let (_, certificate) = parse_x509_certificate(&self.der).expect("it was parsed before");
        certificate
    }

    /// Its end.
    pub(super) fn expires(&self) -> Timestamp {
        let seconds = self.parsed().validity().not_after.timestamp();
        Timestamp::from_second(seconds).unwrap_or(Timestamp::MIN)
    }

    /// Whether it is valid up to this time at least.
    pub(super) fn is_good_until(&self, time: Timestamp) -> bool {
        self.expires() > time
    }

    /// Whether its validity has begun.
    pub(super) fn is_begun(&self, now: Timestamp) -> bool {
        self.parsed().validity().not_before.timestamp() <= now.as_second()
    }

    /// Whether it is of this key.
    pub(super) fn has_key(&self, key: &KeyPair) -> bool {
        self.parsed().public_key().raw == key.subject_public_key_info()
    }

    /// Whether the authority of this certificate signed it.
    pub(super) fn is_signed_by(&self, authority: &str) -> bool {
        let Ok(authority) = Self::read(authority, "the authority") else {
            return false;
        };
        let (certificate, authority) = (self.parsed(), authority.parsed());
        certificate.issuer() == authority.subject()
            && certificate.verify_signature(Some(authority.public_key())).is_ok()
    }

    /// The names by which its server is reached.
    pub(super) fn names(&self) -> ServingNames {
        let mut names = ServingNames::default();
        let certificate = self.parsed();
        for extension in certificate.extensions() {
            let ParsedExtension::SubjectAlternativeName(alternatives) = extension.parsed_extension() else {
                continue;
            };
            for name in &alternatives.general_names {
                match name {
                    GeneralName::DNSName(domain) => drop(names.domains.insert((*domain).to_owned())),
                    GeneralName::IPAddress(bytes) => names.addresses.extend(address(bytes)),
                    _ => {}
                }
            }
        }
        names
    }
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    let four = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    four.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).ok()
}
