//! Private keys: which kinds there are, how they are made, written and compared. The one place where chance enters.

use std::str::FromStr;

use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_RSA_SHA256, PublicKeyData as _};
use secrecy::SecretString;
use thiserror::Error;

/// The kind of the keys of new certificates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyAlgorithm {
    /// ECDSA over P-256: small, and made in microseconds.
    #[default]
    EcdsaP256,
    /// RSA of 2048 bits, for peers that know nothing else.
    Rsa2048,
}

/// A kind of key that is not known.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is no kind of key; use ecdsa-p256 or rsa-2048")]
pub struct UnknownKeyAlgorithm(pub String);

impl FromStr for KeyAlgorithm {
    type Err = UnknownKeyAlgorithm;

    fn from_str(text: &str) -> Result<Self, UnknownKeyAlgorithm> {
        match text {
            "ecdsa-p256" => Ok(Self::EcdsaP256),
            "rsa-2048" => Ok(Self::Rsa2048),
            other => Err(UnknownKeyAlgorithm(other.to_owned())),
        }
    }
}

impl KeyAlgorithm {
    /// A new key.
    pub(crate) fn generate(self) -> Result<KeyPair, rcgen::Error> {
        match self {
            Self::EcdsaP256 => KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256),
            // Of 2048 bits, if nothing else is said.
            Self::Rsa2048 => KeyPair::generate_for(&PKCS_RSA_SHA256),
        }
    }
}

/// Reads a private key, whatever its kind and form.
pub(crate) fn read(pem: &[u8]) -> Option<KeyPair> {
    KeyPair::from_pem(std::str::from_utf8(pem).ok()?).ok()
}

/// Writes a private key, in PKCS #8.
pub(crate) fn write(key: &KeyPair) -> SecretString {
    key.serialize_pem().into()
}

/// Whether one of the public keys of a text belongs to a private key.
pub(crate) fn has_public_half(text: &[u8], key: &KeyPair) -> bool {
    use rustls_pki_types::{SubjectPublicKeyInfoDer, pem::PemObject as _};
    SubjectPublicKeyInfoDer::pem_slice_iter(text)
        .filter_map(Result::ok)
        .any(|public| *public == *key.subject_public_key_info())
}

/// Whether a key encrypts, too: then a certificate of it must say so.
pub(crate) fn is_rsa(key: &KeyPair) -> bool {
    key.is_compatible(&PKCS_RSA_SHA256)
}
