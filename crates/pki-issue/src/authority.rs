//! Authorities and what they sign. Owns the form of certificates; when one is due is not known here.

use std::{collections::BTreeSet, fmt};

use jiff::Timestamp;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PublicKeyData as _, SanType, SerialNumber, string::Ia5String,
};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};

use crate::{
    inspect::Certificate,
    key::{self, KeyAlgorithm},
    lifetime::{AUTHORITY_LIFE, BACKDATED, Lifetime},
    names::Host,
    table::{Leaf, Signer, Usage},
};

/// Bytes of a serial number: sixteen are unique for ever, and fewer than the twenty that are allowed.
const SERIAL_BYTES: usize = 16;
/// organizationName. A subject can have several; the library takes one by name, and others by their identifier.
const ORGANIZATION: [u64; 4] = [2, 5, 4, 10];

/// A certificate and its key, as PEM.
#[derive(Clone)]
pub(crate) struct Pair {
    pub(crate) certificate: String,
    pub(crate) key: SecretString,
}

impl Pair {
    /// Certificate and key, as they stand in a Secret.
    pub(crate) fn bytes(&self) -> (&[u8], &[u8]) {
        (self.certificate.as_bytes(), self.key.expose_secret().as_bytes())
    }
}

impl fmt::Debug for Pair {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Pair").finish_non_exhaustive()
    }
}

/// What is wrong with an authority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Damage {
    #[error("its certificate is missing or cannot be read")]
    Certificate,
    #[error("its key is missing or cannot be read")]
    Key,
    #[error("its key and its certificate do not belong together")]
    Mismatch,
    #[error("its certificate is not that of an authority")]
    NotAuthority,
}

/// An authority that can sign.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub(crate) certificate: Certificate,
    pub(crate) pem: String,
}

impl Authority {
    /// A new authority, and its key.
    pub(crate) fn generate(
        row: &Signer,
        algorithm: KeyAlgorithm,
        now: Timestamp,
    ) -> Result<(Self, SecretString), rcgen::Error> {
        let key = algorithm.generate()?;
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name = DistinguishedName::new();
        parameters
            .distinguished_name
            .push(DnType::OrganizationalUnitName, row.unit);
        parameters.distinguished_name.push(DnType::CommonName, row.common_name);
        // What it signs signs nothing itself.
        parameters.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        parameters.key_usages = vec![
            KeyUsagePurpose::DigitalSignature,
            KeyUsagePurpose::KeyCertSign,
            KeyUsagePurpose::CrlSign,
        ];
        date(&mut parameters, now - BACKDATED, now + AUTHORITY_LIFE);
        parameters.serial_number = Some(serial(&key, now));
        let pem = parameters.self_signed(&key)?.pem();
        let secret = key::write(&key);
        let certificate = Certificate::read(pem.as_bytes()).ok_or(rcgen::Error::CouldNotParseCertificate)?;
        let issuer = Issuer::new(parameters, key);
        Ok((
            Self {
                issuer,
                certificate,
                pem,
            },
            secret,
        ))
    }

    /// An authority that was made before.
    pub(crate) fn read(certificate: &[u8], key: &[u8]) -> Result<Self, Damage> {
        let pem = str::from_utf8(certificate).map_err(|_| Damage::Certificate)?.to_owned();
        let certificate = inspect(pem.as_bytes(), key)?;
        let key = key::read(key).ok_or(Damage::Key)?;
        let issuer = Issuer::from_ca_cert_der(&certificate.der, key).map_err(|_| Damage::NotAuthority)?;
        Ok(Self {
            issuer,
            certificate,
            pem,
        })
    }

    /// Signs a leaf with a key of its own.
    pub(crate) fn issue(
        &self,
        leaf: &Leaf,
        names: &BTreeSet<Host>,
        algorithm: KeyAlgorithm,
        lifetime: Lifetime,
        now: Timestamp,
    ) -> Result<Pair, rcgen::Error> {
        let key = algorithm.generate()?;
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name = subject(leaf);
        parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        if key::is_rsa(&key) {
            parameters.key_usages.push(KeyUsagePurpose::KeyEncipherment);
        }
        parameters.extended_key_usages = purposes(leaf.usage);
        parameters.subject_alt_names = names.iter().map(alternative_name).collect::<Result<_, _>>()?;
        parameters.use_authority_key_identifier_extension = true;
        let begin = now - BACKDATED;
        date(&mut parameters, begin, lifetime.end(begin, self.certificate.end));
        parameters.serial_number = Some(serial(&key, now));
        let pem = parameters.signed_by(&key, &self.issuer)?.pem();
        // An authority that somebody else made may have a name that the library does not write as it was read: then
        // nobody would find the way from the leaf to it.
        let is_sound = Certificate::read(pem.as_bytes()).is_some_and(|read| read.is_signed_by(&self.certificate));
        if !is_sound {
            return Err(rcgen::Error::CouldNotParseCertificate);
        }
        Ok(Pair {
            certificate: pem,
            key: key::write(&key),
        })
    }
}

/// Looks at an authority without making it ready to sign.
pub(crate) fn inspect(certificate: &[u8], key: &[u8]) -> Result<Certificate, Damage> {
    let certificate = Certificate::read(certificate).ok_or(Damage::Certificate)?;
    let key = key::read(key).ok_or(Damage::Key)?;
    if !certificate.has_key(&key) {
        return Err(Damage::Mismatch);
    }
    if !certificate.may_sign() {
        return Err(Damage::NotAuthority);
    }
    Ok(certificate)
}

fn subject(leaf: &Leaf) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    let kinds = [DnType::OrganizationName, DnType::CustomDnType(ORGANIZATION.to_vec())];
    debug_assert!(leaf.groups.len() <= kinds.len(), "a leaf is in two groups at most");
    for (kind, group) in kinds.into_iter().zip(&leaf.groups) {
        name.push(kind, group.as_str());
    }
    name.push(DnType::CommonName, leaf.common_name.as_str());
    name
}

fn purposes(usage: Usage) -> Vec<ExtendedKeyUsagePurpose> {
    match usage {
        Usage::Server => vec![ExtendedKeyUsagePurpose::ServerAuth],
        Usage::Client => vec![ExtendedKeyUsagePurpose::ClientAuth],
        Usage::Both => vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth],
    }
}

fn alternative_name(host: &Host) -> Result<SanType, rcgen::Error> {
    Ok(match host {
        Host::Name(name) => SanType::DnsName(Ia5String::try_from(name.as_str())?),
        Host::Address(address) => SanType::IpAddress(*address),
    })
}

fn date(parameters: &mut CertificateParams, begin: Timestamp, end: Timestamp) {
    let epoch = rcgen::date_time_ymd(1970, 1, 1);
    let seconds = |time: Timestamp| std::time::Duration::from_secs(u64::try_from(time.as_second()).unwrap_or_default());
    parameters.not_before = epoch + seconds(begin);
    parameters.not_after = epoch + seconds(end);
}

/// A serial number follows from the key, which nobody else has, and from the time.
fn serial(key: &KeyPair, now: Timestamp) -> SerialNumber {
    let mut digest = Sha256::new();
    digest.update(key.subject_public_key_info());
    digest.update(now.as_second().to_be_bytes());
    let mut bytes = digest.finalize().to_vec();
    bytes.truncate(SERIAL_BYTES);
    // It must be positive, and must not begin with a zero.
    bytes[0] = bytes[0] & 0x7f | 0x40;
    SerialNumber::from_slice(&bytes)
}
