//! Reading certificates that users give: their names and their end. Knows nothing of what they are for.

use std::net::IpAddr;

use hyperplane_pki_issue::Host;
use jiff::Timestamp;
use rustls_pki_types::{CertificateDer, pem::PemObject as _};
use x509_parser::{extensions::GeneralName, parse_x509_certificate};

/// What is asked of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Certificate {
    /// The host names that it is for, in lower case, and the addresses.
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
        GeneralName::IPAddress(bytes) => address(bytes).map(|address| address.to_string()),
        _ => None,
    });
    Some(Certificate {
        names: names.collect(),
        end: Timestamp::from_second(certificate.validity().not_after.timestamp()).ok()?,
    })
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    let v4 = <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from);
    v4.or_else(|| <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from))
}

/// Whether a name of a certificate, the first label of which may be a star, covers a host.
pub(crate) fn covers(pattern: &str, host: &Host) -> bool {
    let host = match host {
        Host::Address(address) => return pattern.parse() == Ok(*address),
        Host::Name(name) => name,
    };
    let pattern = pattern.to_lowercase();
    match pattern.strip_prefix("*.") {
        Some(domain) => host.split_once('.').is_some_and(|(_, rest)| rest == domain),
        None => pattern == *host,
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use rcgen::{CertificateParams, KeyPair, SanType};

    use super::*;

    #[test]
    fn a_star_stands_for_one_label_of_a_name_and_never_for_a_part_of_an_address() {
        for (pattern, host, expected) in [
            ("*.example.com", "api.example.com", true),
            ("API.example.com", "api.Example.com", true),
            ("*.example.com", "a.b.example.com", false),
            ("*.example.com", "example.com", false),
            ("127.0.0.1", "127.0.0.1", true),
            ("fd00:0::1", "fd00::1", true),
            ("*.0.0.1", "127.0.0.1", false),
            ("127.0.0.2", "127.0.0.1", false),
        ] {
            let host = Host::parse(host).unwrap();
            assert_eq!(covers(pattern, &host), expected, "{pattern} {host}");
        }
    }

    #[test]
    fn names_addresses_and_the_end_are_read() {
        let mut params = CertificateParams::new(vec!["API.example.com".to_owned()]).unwrap();
        for address in ["192.0.2.7", "fd00::7"] {
            params
                .subject_alt_names
                .push(SanType::IpAddress(address.parse().unwrap()));
        }
        params.not_after = rcgen::date_time_ymd(2030, 1, 2);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        let found = read_all(pem.as_bytes()).unwrap();
        assert_eq!(found[0].names, ["api.example.com", "192.0.2.7", "fd00::7"]);
        let end: Timestamp = "2030-01-02T00:00:00Z".parse().unwrap();
        assert!(
            found[0].end.duration_since(end).abs() < SignedDuration::from_hours(1),
            "{}",
            found[0].end
        );
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
