//! Tokens: what a machine shows, what a Secret holds, and whether one is the other and still good. Pure; knows nothing of
//! HTTP but one header.
//!
//! Tokens are found by their digest. Whoever measures how long a search takes learns about digests, from which there is no
//! way back to a token.

use std::fmt::Write as _;

use aws_lc_rs::{
    constant_time::verify_slices_are_equal,
    digest::{SHA256, SHA256_OUTPUT_LEN, digest},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use hyperplane_api::constants::{annotations, objects::keys};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::Secret;

/// How long a token stays good after another has taken its place: as long as there is between two of them.
pub const GRACE: SignedDuration = SignedDuration::from_mins(330);

/// The longest header that is looked at; ours has 55 characters.
const LONGEST_HEADER: usize = 1 << 10;

/// The scheme of the header, with what follows it.
const SCHEME: &str = "Bearer ";

/// What a token is known by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint([u8; SHA256_OUTPUT_LEN]);

impl Fingerprint {
    /// The fingerprint of a token.
    pub fn of(token: &[u8]) -> Self {
        let mut bytes = [0; SHA256_OUTPUT_LEN];
        bytes.copy_from_slice(digest(&SHA256, token).as_ref());
        Self(bytes)
    }

    /// The fingerprint of the token that a request shows: `Authorization: Bearer <base64 of the token>`.
    pub fn shown(header: &[u8]) -> Option<Self> {
        let header = std::str::from_utf8(header).ok()?;
        let (scheme, text) = header.split_at_checked(SCHEME.len())?;
        if header.len() > LONGEST_HEADER || !scheme.eq_ignore_ascii_case(SCHEME) {
            return None;
        }
        let token = BASE64_STANDARD.decode(text).ok().filter(|token| !token.is_empty())?;
        Some(Self::of(&token))
    }

    /// The fingerprint as the key of an index.
    pub fn text(&self) -> String {
        self.0.iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").expect("writing to a string cannot fail");
            text
        })
    }

    fn is(&self, token: &[u8]) -> bool {
        verify_slices_are_equal(&self.0, &Self::of(token).0).is_ok()
    }
}

/// Under which keys an index has a Secret: one per token in it, none if it holds no tokens.
pub fn index(secret: &Secret) -> Vec<String> {
    let tokens = [keys::TOKEN, keys::OLD_TOKEN].map(|key| data(secret, key));
    let tokens = tokens.into_iter().flatten().filter(|_| is_token(secret));
    tokens.map(|token| Fingerprint::of(token).text()).collect()
}

/// Whether a Secret gives machines that show this what they ask for, now.
pub fn is_accepted(secret: &Secret, shown: &Fingerprint, now: Timestamp) -> bool {
    if !is_token(secret) || secret.metadata.deletion_timestamp.is_some() || is_over(secret, now) {
        return false;
    }
    let is = |key: &str| data(secret, key).is_some_and(|token| shown.is(token));
    is(keys::TOKEN) || (is(keys::OLD_TOKEN) && is_in_grace(secret, now))
}

/// The content of a key; what is empty is not there.
pub fn data<'a>(secret: &'a Secret, key: &str) -> Option<&'a [u8]> {
    let value = secret.data.as_ref()?.get(key)?;
    (!value.0.is_empty()).then_some(&value.0)
}

/// Whether a Secret holds tokens.
pub fn is_token(secret: &Secret) -> bool {
    annotations::IGNITION_CONFIG.is_true(secret)
}

/// Whether the time has come after which none of its tokens is good. An end that cannot be read has come.
fn is_over(secret: &Secret, now: Timestamp) -> bool {
    let end = annotations::IGNITION_TOKEN_EXPIRATION_TIMESTAMP.of(secret);
    end.is_some_and(|end| end.parse::<Timestamp>().map_or(true, |end| now >= end))
}

/// Whether the token before is still good. When it was replaced must be known.
fn is_in_grace(secret: &Secret, now: Timestamp) -> bool {
    let replaced = annotations::LAST_TOKEN_GENERATION_TIME.of(secret);
    let replaced = replaced.and_then(|replaced| replaced.parse::<Timestamp>().ok());
    replaced.is_some_and(|replaced| now.duration_since(replaced) < GRACE)
}
