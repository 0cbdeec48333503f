//! The keys that sign and verify tokens: ECDSA on P-256, and RSA where a cluster asks for it.

use aws_lc_rs::{
    digest,
    encoding::{AsDer as _, Pkcs8V1Der, PublicKeyX509Der},
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _, ParsedPublicKey,
        RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, RsaKeyPair, VerificationAlgorithm,
    },
};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD as BASE64_URL};
use rustls_pki_types::{PrivateKeyDer, SubjectPublicKeyInfoDer, pem::PemObject as _};
use serde_json::{Value, json};
use x509_parser::{prelude::FromDer as _, public_key::PublicKey, x509::SubjectPublicKeyInfo};

use crate::pem;

/// The bytes of one coordinate of a point on P-256.
const COORDINATE: usize = 32;

/// Why a key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// Not PEM, or not the section that was expected.
    #[error("the key is not PEM of a private key or of a public key")]
    NotPem,
    /// The bytes are no key of a supported kind.
    #[error("the key is not supported: use ECDSA on P-256, or RSA of 2048 to 8192 bits")]
    NotSupported,
    /// The provider of cryptography failed.
    #[error("the key could not be made: the source of randomness failed")]
    NotMade,
}

/// A key that signs tokens.
pub struct SigningKey {
    pair: Pair,
    public: VerifyingKey,
}

enum Pair {
    Ecdsa(EcdsaKeyPair),
    Rsa(RsaKeyPair),
}

/// A key that verifies tokens.
pub struct VerifyingKey {
    /// The name of the key in tokens and key sets: a digest, so that nobody takes it for the key.
    pub id: String,
    /// `ES256` or `RS256`.
    pub algorithm: &'static str,
    key: ParsedPublicKey,
    /// What a key set says of it, apart from its name, algorithm and use.
    parameters: Value,
}

impl SigningKey {
    /// A new key. Its bytes are the one thing here that is not a function of the parameters.
    pub fn generate() -> Result<Self, KeyError> {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).map_err(|_| KeyError::NotMade)?;
        Self::of(Pair::Ecdsa(pair))
    }

    /// Reads a private key in PEM: PKCS#8, or the older forms of ECDSA and RSA.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        let ecdsa = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let pair = match PrivateKeyDer::from_pem_slice(pem.as_bytes()).map_err(|_| KeyError::NotPem)? {
            PrivateKeyDer::Pkcs8(der) => EcdsaKeyPair::from_pkcs8(ecdsa, der.secret_pkcs8_der())
                .map(Pair::Ecdsa)
                .or_else(|_| RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()).map(Pair::Rsa)),
            PrivateKeyDer::Sec1(der) => {
                EcdsaKeyPair::from_private_key_der(ecdsa, der.secret_sec1_der()).map(Pair::Ecdsa)
            }
            PrivateKeyDer::Pkcs1(der) => RsaKeyPair::from_der(der.secret_pkcs1_der()).map(Pair::Rsa),
            _ => return Err(KeyError::NotSupported),
        };
        Self::of(pair.map_err(|_| KeyError::NotSupported)?)
    }

    /// Writes the key as PKCS#8 in PEM, to be kept where nobody else can read it.
    pub fn to_pem(&self) -> Result<String, KeyError> {
        match &self.pair {
            Pair::Ecdsa(pair) => {
                let document = pair.to_pkcs8v1().map_err(|_| KeyError::NotMade)?;
                Ok(pem::write("PRIVATE KEY", document.as_ref()))
            }
            Pair::Rsa(pair) => {
                let document: Pkcs8V1Der<'_> = pair.as_der().map_err(|_| KeyError::NotMade)?;
                Ok(pem::write("PRIVATE KEY", document.as_ref()))
            }
        }
    }

    /// The half that verifies.
    pub const fn public(&self) -> &VerifyingKey {
        &self.public
    }

    pub(super) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, KeyError> {
        let random = SystemRandom::new();
        match &self.pair {
            Pair::Ecdsa(pair) => {
                let signature = pair.sign(&random, message).map_err(|_| KeyError::NotMade)?;
                Ok(signature.as_ref().to_vec())
            }
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                let signed = pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature);
                signed.map_err(|_| KeyError::NotMade)?;
                Ok(signature)
            }
        }
    }

    fn of(pair: Pair) -> Result<Self, KeyError> {
        let der: PublicKeyX509Der<'_> = match &pair {
            Pair::Ecdsa(pair) => pair.public_key().as_der(),
            Pair::Rsa(pair) => pair.public_key().as_der(),
        }
        .map_err(|_| KeyError::NotMade)?;
        let public = VerifyingKey::from_der(der.as_ref())?;
        Ok(Self { pair, public })
    }
}

impl VerifyingKey {
    /// Reads a public key in PEM.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        let der = SubjectPublicKeyInfoDer::from_pem_slice(pem.as_bytes()).map_err(|_| KeyError::NotPem)?;
        Self::from_der(&der)
    }

    /// Reads a SubjectPublicKeyInfo.
    pub fn from_der(der: &[u8]) -> Result<Self, KeyError> {
        let (_, info) = SubjectPublicKeyInfo::from_der(der).map_err(|_| KeyError::NotSupported)?;
        let parsed = info.parsed().map_err(|_| KeyError::NotSupported)?;
        let (algorithm, verification): (_, &'static dyn VerificationAlgorithm) = match parsed {
            PublicKey::EC(_) => ("ES256", &ECDSA_P256_SHA256_FIXED),
            _ => ("RS256", &RSA_PKCS1_2048_8192_SHA256),
        };
        let key = ParsedPublicKey::new(verification, &info.subject_public_key.data);
        Ok(Self {
            id: BASE64_URL.encode(digest::digest(&digest::SHA256, der)),
            algorithm,
            key: key.map_err(|_| KeyError::NotSupported)?,
            parameters: parameters(&parsed).ok_or(KeyError::NotSupported)?,
        })
    }

    /// The key as an entry of a key set.
    pub fn jwk(&self) -> Value {
        let mut jwk = self.parameters.clone();
        jwk["alg"] = json!(self.algorithm);
        jwk["kid"] = json!(self.id);
        jwk["use"] = json!("sig");
        jwk
    }

    pub(super) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        self.key.verify_sig(message, signature).is_ok()
    }
}

fn parameters(key: &PublicKey<'_>) -> Option<Value> {
    match key {
        PublicKey::EC(point) => {
            let (x, y) = point.data().strip_prefix(&[4])?.split_at_checked(COORDINATE)?;
            let (x, y) = (BASE64_URL.encode(x), BASE64_URL.encode(y));
            Some(json!({"kty": "EC", "crv": "P-256", "x": x, "y": y}))
        }
        PublicKey::RSA(key) => {
            let number = |bytes: &[u8]| {
                let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
                BASE64_URL.encode(&bytes[zeros..])
            };
            Some(json!({"kty": "RSA", "n": number(key.modulus), "e": number(key.exponent)}))
        }
        _ => None,
    }
}
