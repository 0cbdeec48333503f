//! Keys of service account tokens that somebody else made: their public half. Knows nothing of tokens.

use rcgen::{KeyPair, PublicKeyData as _};
use thiserror::Error;

/// A text that is no private key which can sign tokens. What it is instead is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("it is no private key in PEM that can sign: use RSA, or ECDSA with P-256 or P-384")]
pub struct InvalidSigningKey;

/// The public half of a private key, both in PEM.
pub fn public_of(private: &[u8]) -> Result<String, InvalidSigningKey> {
    let text = std::str::from_utf8(private).map_err(|_| InvalidSigningKey)?;
    let key = KeyPair::from_pem(text).map_err(|_| InvalidSigningKey)?;
    // Kubernetes signs tokens with these only.
    if key.algorithm() == &rcgen::PKCS_ED25519 {
        return Err(InvalidSigningKey);
    }
    debug_assert!(!key.subject_public_key_info().is_empty(), "every key has a public half");
    Ok(key.public_key_pem())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_public_half_is_that_of_the_key() {
        let key = KeyPair::generate().unwrap();
        assert_eq!(public_of(key.serialize_pem().as_bytes()).unwrap(), key.public_key_pem());
    }

    #[test]
    fn anything_else_is_refused_without_being_shown() {
        let key = KeyPair::generate().unwrap();
        for text in ["", "hunter2", &key.public_key_pem()] {
            let error = public_of(text.as_bytes()).unwrap_err().to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
