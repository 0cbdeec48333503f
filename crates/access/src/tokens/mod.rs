//! Service-account tokens: made, published as a key set, and verified. Whether what a token names still exists is
//! asked by [`crate::authenticate`], not here.

mod cache;
mod claims;
mod keys;
mod request;
#[cfg(test)]
mod tests;

use aws_lc_rs::digest;
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD as BASE64_URL};
use serde_json::{Value, json};
use std::{collections::BTreeSet, sync::Arc};

use self::cache::Cache;
pub use self::{
    claims::{Claims, Reference},
    keys::{KeyError, SigningKey, VerifyingKey},
    request::{DEFAULT_SECONDS, EXTENDED_SECONDS, Issued, MAX_SECONDS, MIN_SECONDS, WARN_ONLY_SECONDS, request},
};

/// The path of the key set below the address of the server.
pub const JWKS_PATH: &str = "/openid/v1/jwks";
/// The longest token that is looked at. Ours are below two kilobytes; a header may carry far more.
const MAX_TOKEN_BYTES: usize = 16 * 1024;

/// Why a token is not one of ours, or no longer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// No key has the name that the token gives, or none has made its signature.
    #[error("{0}")]
    Signature(&'static str),
    /// The token is for somebody else.
    #[error("token audiences {token} is invalid for the target audiences {wanted}")]
    Audience {
        /// For whom it is.
        token: String,
        /// Who asked.
        wanted: String,
    },
    /// The time is not right, or what it names is not what it was; upstream's words.
    #[error("{0}")]
    Void(String),
}

/// Makes and verifies the tokens of one cluster.
pub struct Issuer {
    /// The address under which relying parties find the key set, and the name in the tokens.
    pub url: String,
    /// For whom tokens are when nobody says otherwise; the API server takes those that are for one of them.
    pub audiences: Vec<String>,
    key: SigningKey,
    trusted: Vec<VerifyingKey>,
    verified: Cache,
}

impl Issuer {
    /// Signs with the key, and verifies what it signed. The API server is the audience under the same address.
    pub fn new(url: &str, key: SigningKey) -> Self {
        Self {
            url: url.to_owned(),
            audiences: vec![url.to_owned()],
            key,
            trusted: Vec::new(),
            verified: Cache::default(),
        }
    }

    /// Also takes tokens that another key signed, as while keys are exchanged.
    pub fn trust(mut self, key: VerifyingKey) -> Self {
        self.trusted.push(key);
        self
    }

    /// Signs a token.
    pub fn sign(&self, claims: &Claims) -> Result<String, KeyError> {
        let header = json!({"alg": self.key.public().algorithm, "kid": self.key.public().id});
        let encode = |value: &Value| BASE64_URL.encode(value.to_string());
        let message = format!("{}.{}", encode(&header), encode(&claims.to_value()));
        let signature = BASE64_URL.encode(self.key.sign(message.as_bytes())?);
        Ok(format!("{message}.{signature}"))
    }

    /// What the token says, if it names this issuer; nothing if it is some other kind of token. The signature is
    /// checked once per token; times and audiences are left to the caller.
    pub fn verify(&self, token: &str) -> Result<Option<Arc<Claims>>, TokenError> {
        if token.len() > MAX_TOKEN_BYTES {
            return Ok(None);
        }
        let fingerprint = digest::digest(&digest::SHA256, token.as_bytes());
        if let Some(claims) = self.verified.get(fingerprint.as_ref()) {
            return Ok(Some(claims));
        }
        let Some(parts) = Parts::split(token).filter(|parts| parts.claims.issuer == self.url) else {
            return Ok(None);
        };
        self.check_signature(&parts)?;
        let claims = Arc::new(parts.claims);
        self.verified.put(fingerprint.as_ref(), claims.clone());
        Ok(Some(claims))
    }

    /// The key set that relying parties fetch.
    pub fn jwks(&self) -> Value {
        json!({"keys": self.keys().map(VerifyingKey::jwk).collect::<Vec<_>>()})
    }

    /// The discovery document of the issuer; the address of the key set is that of the server.
    pub fn openid_configuration(&self, jwks_uri: &str) -> Value {
        let algorithms: BTreeSet<&str> = self.keys().map(|key| key.algorithm).collect();
        json!({
            "issuer": self.url,
            "jwks_uri": jwks_uri,
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": algorithms,
        })
    }

    fn keys(&self) -> impl Iterator<Item = &VerifyingKey> {
        std::iter::once(self.key.public()).chain(&self.trusted)
    }

    fn check_signature(&self, parts: &Parts<'_>) -> Result<(), TokenError> {
        let mut keys = self
            .keys()
            .filter(|key| parts.key_id.is_empty() || key.id == parts.key_id)
            .peekable();
        if keys.peek().is_none() {
            return Err(TokenError::Signature("invalid signature, no keys found"));
        }
        let is_signed = |key: &VerifyingKey| {
            key.algorithm == parts.algorithm && key.verifies(parts.message.as_bytes(), &parts.signature)
        };
        if keys.any(is_signed) {
            return Ok(());
        }
        Err(TokenError::Signature(
            "go-jose/go-jose: error in cryptographic primitive",
        ))
    }
}

/// A token taken apart; nothing in it is to be believed yet.
struct Parts<'a> {
    message: &'a str,
    algorithm: String,
    key_id: String,
    claims: Claims,
    signature: Vec<u8>,
}

impl<'a> Parts<'a> {
    fn split(token: &'a str) -> Option<Self> {
        let (message, signature) = token.rsplit_once('.')?;
        let (header, payload) = message.split_once('.').filter(|(_, payload)| !payload.contains('.'))?;
        let decode = |text: &str| serde_json::from_slice::<Value>(&BASE64_URL.decode(text).ok()?).ok();
        let (header, payload) = (decode(header)?, decode(payload)?);
        Some(Self {
            message,
            algorithm: header["alg"].as_str()?.to_owned(),
            key_id: header["kid"].as_str().unwrap_or_default().to_owned(),
            claims: Claims::from_value(&payload),
            signature: BASE64_URL.decode(signature).ok()?,
        })
    }
}
