//! Reading certificates that were made before: whose they are, for which names and purposes, from when to when, and who
//! signed them. Knows nothing of what they should be.

use std::{collections::BTreeSet, net::IpAddr};

use jiff::Timestamp;
use rcgen::{KeyPair, PublicKeyData as _};
use rustls_pki_types::{CertificateDer, pem::PemObject as _};
use x509_parser::{
    certificate::X509Certificate,
    extensions::{GeneralName, ParsedExtension},
    parse_x509_certificate,
    x509::X509Name,
};

use crate::{names::Host, table::Usage};

/// A certificate that can be read.
#[derive(Clone, Debug)]
pub(crate) struct Certificate {
    pub(crate) der: CertificateDer<'static>,
    pub(crate) begin: Timestamp,
    pub(crate) end: Timestamp,
    pub(crate) common_name: String,
    pub(crate) groups: BTreeSet<String>,
    /// The names of a server; none if there is one that no leaf of ours has.
    pub(crate) names: Option<BTreeSet<Host>>,
    /// What it is for; none where it is for something that no leaf of ours is for, or says nothing.
    pub(crate) usage: Option<Usage>,
    pub(crate) is_authority: bool,
}

impl Certificate {
    /// Reads the first certificate of a text.
    pub(crate) fn read(pem: &[u8]) -> Option<Self> {
        Self::of(&CertificateDer::from_pem_slice(pem).ok()?)
    }

    /// Reads all certificates of a text. One that cannot be read makes the whole unreadable.
    pub(crate) fn read_all(pem: &[u8]) -> Option<Vec<Self>> {
        CertificateDer::pem_slice_iter(pem)
            .map(|der| Self::of(&der.ok()?))
            .collect()
    }

    fn of(der: &CertificateDer<'static>) -> Option<Self> {
        let (rest, certificate) = parse_x509_certificate(der).ok()?;
        if !rest.is_empty() {
            return None;
        }
        let second = |time: x509_parser::time::ASN1Time| Timestamp::from_second(time.timestamp()).ok();
        let subject = certificate.subject();
        let read = Self {
            begin: second(certificate.validity().not_before)?,
            end: second(certificate.validity().not_after)?,
            common_name: texts(subject, X509Name::iter_common_name)
                .into_iter()
                .next()
                .unwrap_or_default(),
            groups: texts(subject, X509Name::iter_organization).into_iter().collect(),
            names: names(&certificate),
            usage: usage(&certificate),
            is_authority: certificate.is_ca(),
            der: der.clone(),
        };
        Some(read)
    }

    fn parsed(&self) -> X509Certificate<'_> {
        let (_, certificate) = parse_x509_certificate(&self.der).expect("it was parsed before");
        certificate
    }

    /// Whether it is of this key.
    pub(crate) fn has_key(&self, key: &KeyPair) -> bool {
        self.parsed().public_key().raw == key.subject_public_key_info()
    }

    /// Whether the key of this authority signed it. Another certificate of the same key and name is as good.
    pub(crate) fn is_signed_by(&self, authority: &Self) -> bool {
        let (certificate, authority) = (self.parsed(), authority.parsed());
        certificate.issuer() == authority.subject()
            && certificate.verify_signature(Some(authority.public_key())).is_ok()
    }

    /// Whether it says that it may sign.
    pub(crate) fn may_sign(&self) -> bool {
        let certificate = self.parsed();
        let usage = certificate.key_usage().ok().flatten();
        self.is_authority && usage.is_none_or(|usage| usage.value.key_cert_sign())
    }
}

fn texts<'a, I, A>(name: &'a X509Name<'a>, attributes: fn(&'a X509Name<'a>) -> I) -> Vec<String>
where
    I: Iterator<Item = A>,
    A: std::borrow::Borrow<x509_parser::x509::AttributeTypeAndValue<'a>>,
{
    attributes(name)
        .filter_map(|attribute| attribute.borrow().as_str().ok().map(str::to_owned))
        .collect()
}

fn names(certificate: &X509Certificate<'_>) -> Option<BTreeSet<Host>> {
    let Some(alternatives) = certificate.subject_alternative_name().ok()? else {
        return Some(BTreeSet::new());
    };
    let names = &alternatives.value.general_names;
    names
        .iter()
        .map(|name| match name {
            GeneralName::DNSName(name) => Some(Host::Name((*name).to_owned())),
            GeneralName::IPAddress(bytes) => address(bytes).map(Host::Address),
            _ => None,
        })
        .collect()
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    let four = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    four.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).ok()
}

fn usage(certificate: &X509Certificate<'_>) -> Option<Usage> {
    let mut signs = false;
    let mut usage = None;
    for extension in certificate.extensions() {
        match extension.parsed_extension() {
            ParsedExtension::KeyUsage(bits) => signs = bits.digital_signature(),
            ParsedExtension::ExtendedKeyUsage(purposes) => {
                let others = [
                    purposes.any,
                    purposes.code_signing,
                    purposes.email_protection,
                    purposes.time_stamping,
                    purposes.ocsp_signing,
                    !purposes.other.is_empty(),
                ];
                usage = match (purposes.server_auth, purposes.client_auth) {
                    _ if others.contains(&true) => None,
                    (true, true) => Some(Usage::Both),
                    (true, false) => Some(Usage::Server),
                    (false, true) => Some(Usage::Client),
                    (false, false) => None,
                };
            }
            _ => {}
        }
    }
    usage.filter(|_| signs)
}
