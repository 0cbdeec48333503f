//! Authorities and what they sign, all ECDSA over P-256. Owns the form of certificates and how long they last.

use jiff::{SignedDuration, Timestamp};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    SanType, SerialNumber, string::Ia5String,
};
use secrecy::{ExposeSecret as _, SecretString};

use super::{Pair, PkiError, inspect::Inspected, names::ServingNames};
use hyperplane_seams::Entropy;

/// How long an authority lasts: kubeadm's ten years.
const AUTHORITY_LIFE: SignedDuration = SignedDuration::from_hours(10 * 365 * 24);
/// How long what it signs lasts: kubeadm's year.
const LEAF_LIFE: SignedDuration = SignedDuration::from_hours(365 * 24);
/// How long before its end a certificate is issued anew: time enough to notice that it did not work.
pub(super) const RENEWAL: SignedDuration = SignedDuration::from_hours(30 * 24);
/// How far back validity begins, for peers whose clocks are behind.
const BACKDATED: SignedDuration = SignedDuration::from_mins(5);

/// Whom a certificate is for.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    name: String,
    group: Option<&'static str>,
    usage: ExtendedKeyUsagePurpose,
    pub(super) names: ServingNames,
}

impl Subject {
    /// A server that is reached by these names.
    pub(super) fn server(name: &str, names: ServingNames) -> Self {
        Self {
            name: name.to_owned(),
            group: None,
            usage: ExtendedKeyUsagePurpose::ServerAuth,
            names,
        }
    }

    /// A user in a group.
    pub(super) fn client(name: &str, group: &'static str) -> Self {
        Self {
            name: name.to_owned(),
            group: Some(group),
            usage: ExtendedKeyUsagePurpose::ClientAuth,
            names: ServingNames::default(),
        }
    }

    fn parameters(&self) -> Result<CertificateParams, rcgen::Error> {
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name = rcgen::DistinguishedName::new();
        if let Some(group) = self.group {
            parameters.distinguished_name.push(DnType::OrganizationName, group);
        }
        parameters.distinguished_name.push(DnType::CommonName, &*self.name);
        parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        parameters.extended_key_usages = vec![self.usage.clone()];
        let domains = self.names.domains.iter();
        let domains = domains.map(|domain| Ia5String::try_from(domain.as_str()).map(SanType::DnsName));
        parameters.subject_alt_names = domains.collect::<Result<_, _>>()?;
        let addresses = self.names.addresses.iter().copied().map(SanType::IpAddress);
        parameters.subject_alt_names.extend(addresses);
        parameters.use_authority_key_identifier_extension = true;
        Ok(parameters)
    }
}

/// A certificate authority that can sign.
pub(super) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pair: Pair,
}

impl Authority {
    /// A new authority.
    pub(super) fn generate(name: &str, now: Timestamp, entropy: &Entropy) -> Result<Self, PkiError> {
        let failed = |source| PkiError::Issue {
            subject: name.to_owned(),
            source,
        };
        let key = KeyPair::generate().map_err(failed)?;
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name = rcgen::DistinguishedName::new();
        parameters.distinguished_name.push(DnType::CommonName, name);
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        parameters.key_usages = vec![
            KeyUsagePurpose::DigitalSignature,
            KeyUsagePurpose::KeyEncipherment,
            KeyUsagePurpose::KeyCertSign,
        ];
        date(&mut parameters, now, AUTHORITY_LIFE, entropy);
        let certificate = parameters.self_signed(&key).map_err(failed)?.pem();
        let pair = Pair {
            certificate,
            key: pem(&key),
        };
        Ok(Self {
            issuer: Issuer::new(parameters, key),
            pair,
        })
    }

    /// An authority that was made before, if it can still sign.
    pub(super) fn from_pair(pair: &Pair, what: &'static str, now: Timestamp) -> Result<Self, PkiError> {
        let key = key(&pair.key, what)?;
        let inspected = Inspected::read(&pair.certificate, what)?;
        if !inspected.has_key(&key) {
            return Err(PkiError::Mismatch { what });
        }
        if !inspected.is_good_until(now) {
            let expired = inspected.expires();
            return Err(PkiError::Expired { what, expired });
        }
        let issuer = Issuer::from_ca_cert_pem(&pair.certificate, key);
        Ok(Self {
            issuer: issuer.map_err(|_| PkiError::Certificate { what })?,
            pair: pair.clone(),
        })
    }

    /// The certificate as PEM.
    pub(super) fn certificate(&self) -> &str {
        &self.pair.certificate
    }

    pub(super) fn into_pair(self) -> Pair {
        self.pair
    }

    /// Signs a certificate for a key.
    pub(super) fn issue(
        &self,
        subject: &Subject,
        key: &KeyPair,
        now: Timestamp,
        entropy: &Entropy,
    ) -> Result<Pair, PkiError> {
        let signed = subject.parameters().and_then(|mut parameters| {
            date(&mut parameters, now, LEAF_LIFE, entropy);
            parameters.signed_by(key, &self.issuer)
        });
        let certificate = signed.map_err(|source| PkiError::Issue {
            subject: subject.name.clone(),
            source,
        })?;
        Ok(Pair {
            certificate: certificate.pem(),
            key: pem(key),
        })
    }
}

/// Reads a key.
pub(super) fn key(pem: &SecretString, what: &'static str) -> Result<KeyPair, PkiError> {
    KeyPair::from_pem(pem.expose_secret()).map_err(|source| PkiError::Key { what, source })
}

/// Writes a key.
pub(super) fn pem(key: &KeyPair) -> SecretString {
    key.serialize_pem().into()
}

fn date(parameters: &mut CertificateParams, now: Timestamp, life: SignedDuration, entropy: &Entropy) {
    let epoch = rcgen::date_time_ymd(1970, 1, 1);
    let seconds = |time: Timestamp| std::time::Duration::from_secs(u64::try_from(time.as_second()).unwrap_or_default());
    parameters.not_before = epoch + seconds(now - BACKDATED);
    parameters.not_after = epoch + seconds(now + life);
    parameters.serial_number = Some(serial(entropy.bytes()));
}

/// A serial number must be positive, and must not begin with a zero.
fn serial(mut bytes: [u8; 16]) -> SerialNumber {
    bytes[0] = bytes[0] & 0x7f | 0x40;
    SerialNumber::from_slice(&bytes)
}
