//! The certificate itself: subject, key and names of the request, usages and life of the object, nothing else that the
//! request asked for (kubernetes, pkg/controller/certificates/authority).

use aws_lc_rs::{
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P384_SHA384_ASN1_SIGNING, EcdsaKeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
    },
};
use jiff::{SignedDuration, Timestamp};
use rustls_pki_types::{CertificateDer, PrivatePkcs8KeyDer, pem::PemObject as _};
use x509_parser::{certificate::X509Certificate, extensions::ParsedExtension, prelude::FromDer as _};

use super::{
    Request, RequestError,
    der::{bits, boolean, identifier, integer, octets, sequence, tagged, time},
};
use crate::{pem, text::quote_list};

/// How long certificates live for which nobody asks a shorter life.
const DEFAULT_LIFE: SignedDuration = SignedDuration::from_hours(365 * 24);
/// The shortest life; twice the backdating.
const SHORTEST_LIFE: SignedDuration = SignedDuration::from_mins(10);
/// How far the beginning lies in the past, because clocks differ.
const BACKDATE: SignedDuration = SignedDuration::from_mins(5);
/// Below this life the end is not moved with the beginning: five minutes of it are more than a hundredth.
const SHORT_LIFE: SignedDuration = SignedDuration::from_hours(8);

const ECDSA_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const ECDSA_SHA384: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x03];
const RSA_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b];
const KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x0f];
const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x25];
const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x13];
const AUTHORITY_KEY: &[u8] = &[0x55, 0x1d, 0x23];
const ALTERNATIVE_NAME: &[u8] = &[0x55, 0x1d, 0x11];

/// Usages of the key, by the number of their bit.
const USAGE_BITS: [(&str, u8); 10] = [
    ("signing", 0),
    ("digital signature", 0),
    ("content commitment", 1),
    ("key encipherment", 2),
    ("data encipherment", 3),
    ("key agreement", 4),
    ("cert sign", 5),
    ("crl sign", 6),
    ("encipher only", 7),
    ("decipher only", 8),
];
/// Usages of the certificate by their identifiers, in the order in which they are written.
const PURPOSES: [(&str, &[u8]); 13] = [
    ("any", &[0x55, 0x1d, 0x25, 0x00]),
    ("server auth", &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01]),
    ("client auth", &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x02]),
    ("code signing", &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x03]),
    ("email protection", &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x04]),
    ("s/mime", &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x04]),
    ("ipsec end system", &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x05]),
    ("ipsec tunnel", &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x06]),
    ("ipsec user", &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x07]),
    ("timestamping", &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x08]),
    ("ocsp signing", &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x09]),
    (
        "microsoft sgc",
        &[0x2b, 0x06, 0x01, 0x04, 0x01, 0x82, 0x37, 0x0a, 0x03, 0x03],
    ),
    ("netscape sgc", &[0x60, 0x86, 0x48, 0x01, 0x86, 0xf8, 0x42, 0x04, 0x01]),
];

/// Why no certificate is made.
#[derive(Debug, thiserror::Error)]
pub enum SigningError {
    /// The authority is not PEM of a certificate, or of a PKCS#8 key.
    #[error("the authority is not PEM of a certificate and of a PKCS#8 key")]
    NotAuthority,
    /// The key of the authority is of a kind that is not supported.
    #[error("the key of the authority is not supported: use ECDSA on P-256 or P-384, or RSA")]
    NotSupported,
    /// The request is not to be believed.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A usage that does not exist.
    #[error("unrecognized usage values: {0}")]
    Usages(String),
    /// Nothing that it signs would be valid.
    #[error("the signer has expired: NotAfter={0}")]
    Expired(Timestamp),
    /// The provider of cryptography failed.
    #[error("failed to sign certificate")]
    NotSigned,
}

/// How long a certificate shall live for which `spec.expirationSeconds` asks.
pub fn lifetime(expiration_seconds: Option<i64>) -> SignedDuration {
    expiration_seconds.map_or(DEFAULT_LIFE, |seconds| {
        SignedDuration::from_secs(seconds).clamp(SHORTEST_LIFE, DEFAULT_LIFE)
    })
}

/// The key of an authority.
enum AuthorityKey {
    /// ECDSA, with the identifier of the algorithm that goes with its curve.
    Ecdsa(EcdsaKeyPair, &'static [u8]),
    /// RSA with SHA-256.
    Rsa(RsaKeyPair),
}

impl AuthorityKey {
    fn from_pem(pem: &str) -> Result<Self, SigningError> {
        let der = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes()).map_err(|_| SigningError::NotAuthority)?;
        let der = der.secret_pkcs8_der();
        let curves = [
            (&ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_SHA256),
            (&ECDSA_P384_SHA384_ASN1_SIGNING, ECDSA_SHA384),
        ];
        for (curve, identifier) in curves {
            if let Ok(pair) = EcdsaKeyPair::from_pkcs8(curve, der) {
                return Ok(Self::Ecdsa(pair, identifier));
            }
        }
        RsaKeyPair::from_pkcs8(der)
            .map(Self::Rsa)
            .map_err(|_| SigningError::NotSupported)
    }

    fn algorithm(&self) -> Vec<u8> {
        match self {
            Self::Ecdsa(_, algorithm) => sequence(&[&identifier(algorithm)]),
            // RSA alone is written with the parameter that it does not have (RFC 4055).
            Self::Rsa(_) => sequence(&[&identifier(RSA_SHA256), &[0x05, 0x00]]),
        }
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SigningError> {
        let random = SystemRandom::new();
        match self {
            Self::Ecdsa(pair, _) => {
                let signature = pair.sign(&random, message).map_err(|_| SigningError::NotSigned)?;
                Ok(signature.as_ref().to_vec())
            }
            Self::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature)
                    .map_err(|_| SigningError::NotSigned)?;
                Ok(signature)
            }
        }
    }
}

/// Who signs.
pub struct SigningAuthority {
    key: AuthorityKey,
    /// Its name as it was written, which becomes the issuer of what it signs.
    subject: Vec<u8>,
    /// Its key as others name it.
    key_id: Option<Vec<u8>>,
    expires: Timestamp,
}

impl SigningAuthority {
    /// Reads certificate and PKCS#8 key in PEM.
    pub fn from_pem(certificate: &str, key: &str) -> Result<Self, SigningError> {
        let der = CertificateDer::from_pem_slice(certificate.as_bytes()).map_err(|_| SigningError::NotAuthority)?;
        let (_, certificate) = X509Certificate::from_der(&der).map_err(|_| SigningError::NotAuthority)?;
        let expires = Timestamp::from_second(certificate.validity().not_after.timestamp());
        let mut extensions = certificate.extensions().iter();
        let key_id = extensions.find_map(|extension| match extension.parsed_extension() {
            ParsedExtension::SubjectKeyIdentifier(id) => Some(id.0.to_vec()),
            _ => None,
        });
        Ok(Self {
            key: AuthorityKey::from_pem(key)?,
            subject: certificate.subject().as_raw().to_vec(),
            key_id,
            expires: expires.map_err(|_| SigningError::NotAuthority)?,
        })
    }

    /// Signs what was asked for, for the usages and the life that the object gives. The serial number must be random.
    pub fn sign(
        &self,
        request: &Request,
        usages: &[String],
        life: SignedDuration,
        now: Timestamp,
        serial: [u8; 16],
    ) -> Result<String, SigningError> {
        request.check_signature()?;
        let (begins, ends) = self.validity(life, now)?;
        let algorithm = self.key.algorithm();
        let to_be_signed = sequence(&[
            &tagged(0xa0, &integer(&[2])),
            &integer(&serial),
            &algorithm,
            &self.subject,
            &sequence(&[&time(begins), &time(ends)]),
            &request.subject,
            &request.public_key,
            &tagged(0xa3, &sequence(&[&self.extensions(request, usages)?])),
        ]);
        let signature = self.key.sign(&to_be_signed)?;
        let certificate = sequence(&[&to_be_signed, &algorithm, &bits(0, &signature)]);
        Ok(pem::write("CERTIFICATE", &certificate))
    }

    fn validity(&self, life: SignedDuration, now: Timestamp) -> Result<(Timestamp, Timestamp), SigningError> {
        if now >= self.expires {
            return Err(SigningError::Expired(self.expires));
        }
        let end = if life < SHORT_LIFE {
            now + life
        } else {
            now + (life - BACKDATE)
        };
        Ok((now - BACKDATE, end.min(self.expires)))
    }

    fn extensions(&self, request: &Request, usages: &[String]) -> Result<Vec<u8>, SigningError> {
        let usages = Usages::read(usages)?;
        let mut extensions = Vec::new();
        if usages.key != [0, 0] {
            extensions.extend(extension(KEY_USAGE, true, &usages.key_usage()));
        }
        if !usages.purposes.is_empty() {
            extensions.extend(extension(
                EXTENDED_KEY_USAGE,
                false,
                &tagged(0x30, &usages.purposes.concat()),
            ));
        }
        extensions.extend(extension(BASIC_CONSTRAINTS, true, &sequence(&[])));
        if let Some(id) = &self.key_id {
            extensions.extend(extension(AUTHORITY_KEY, false, &sequence(&[&tagged(0x80, id)])));
        }
        let names = alternative_names(request);
        if !names.is_empty() {
            // Without a subject the other names are all there is, and must be understood.
            let is_critical = request.subject == sequence(&[]);
            extensions.extend(extension(ALTERNATIVE_NAME, is_critical, &tagged(0x30, &names)));
        }
        Ok(extensions)
    }
}

/// What the usages of an object mean in a certificate.
struct Usages {
    key: [u8; 2],
    purposes: Vec<Vec<u8>>,
}

impl Usages {
    fn read(usages: &[String]) -> Result<Self, SigningError> {
        let is_asked = |name: &str| usages.iter().any(|usage| usage == name);
        let is_known = |usage: &&String| {
            USAGE_BITS.iter().any(|(name, _)| name == usage) || PURPOSES.iter().any(|(name, _)| name == usage)
        };
        let unknown: Vec<&String> = usages.iter().filter(|usage| !is_known(usage)).collect();
        if !unknown.is_empty() {
            return Err(SigningError::Usages(quote_list(&unknown)));
        }
        let mut key = [0, 0];
        for (_, bit) in USAGE_BITS.iter().filter(|(name, _)| is_asked(name)) {
            key[usize::from(bit / 8)] |= 0x80_u8 >> (bit % 8);
        }
        let mut purposes: Vec<Vec<u8>> = PURPOSES
            .iter()
            .filter(|(name, _)| is_asked(name))
            .map(|(_, content)| identifier(content))
            .collect();
        purposes.dedup();
        Ok(Self { key, purposes })
    }

    /// Zeros at the end are left out (X.690, 11.2.2).
    fn key_usage(&self) -> Vec<u8> {
        let used: &[u8] = if self.key[1] == 0 { &self.key[..1] } else { &self.key };
        let last = used.last().expect("one byte is left");
        bits(
            u8::try_from(last.trailing_zeros()).expect("a byte has eight bits"),
            used,
        )
    }
}

fn alternative_names(request: &Request) -> Vec<u8> {
    let names = &request.names;
    let kinds = [
        (0x82, &names.dns),
        (0x81, &names.emails),
        (0x87, &names.addresses),
        (0x86, &names.uris),
    ];
    kinds
        .into_iter()
        .flat_map(|(tag, names)| names.iter().flat_map(move |name| tagged(tag, name)))
        .collect()
}

fn extension(id: &[u8], is_critical: bool, content: &[u8]) -> Vec<u8> {
    let critical = if is_critical { boolean(true) } else { Vec::new() };
    sequence(&[&identifier(id), &critical, &octets(content)])
}
