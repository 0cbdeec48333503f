//! The token with which a list goes on: the revision of its snapshot and the key to start at, in upstream's form
//! (apiserver, storage/continue.go). What a key means is the store's business.

use base64::{
    DecodeError, Engine,
    alphabet::URL_SAFE,
    engine::{GeneralPurpose, general_purpose::NO_PAD},
};
use serde_json::Value;

use crate::{
    Failure,
    decode::{decode_json, type_word},
};

const VERSION: &str = "meta.k8s.io/v1";

/// Where a list goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContinueToken {
    /// The revision of the snapshot; -1 for whichever is the latest.
    pub revision: i64,
    /// The first key of the rest, relative to the collection, without a slash at its start.
    pub start_key: String,
}

/// Bits behind the last whole byte are not looked at, as in Go.
const ALPHABET: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, NO_PAD.with_decode_allow_trailing_bits(true));

impl ContinueToken {
    /// The token of a list that stopped after `last_key`.
    pub fn after(last_key: &str, revision: i64) -> Self {
        Self {
            revision,
            start_key: format!("{last_key}\0"),
        }
    }

    /// The text that clients send back.
    pub fn encode(&self) -> String {
        let start = Value::from(self.start_key.as_str());
        ALPHABET.encode(format!(r#"{{"v":"{VERSION}","rv":{},"start":{start}}}"#, self.revision))
    }

    /// Reads what a client sent. A key that climbs out of its collection is refused.
    pub fn decode(text: &str) -> Result<Self, Failure> {
        Self::read(text)
            .map_err(|cause| Failure::bad_request(format!("invalid continue token: continue key is not valid{cause}")))
    }

    fn read(text: &str) -> Result<Self, String> {
        let json = ALPHABET
            .decode(text)
            .map_err(|error| format!(": illegal base64 data at input byte {}", illegal_byte(&error, text)))?;
        let value = decode_json(&json)
            .map_err(|error| format!(": {}", error.message()))?
            .value;
        if !value.is_object() {
            return Err(format!(": {}", mistyped(&value)));
        }
        let version = value["v"].as_str().unwrap_or_default();
        if version != VERSION {
            return Err(format!(": server does not recognize this encoded version {version}"));
        }
        let revision = value["rv"].as_i64().unwrap_or_default();
        if revision == 0 {
            return Err(format!(": incorrect encoded start resourceVersion (version {VERSION})"));
        }
        let start = value["start"].as_str().unwrap_or_default();
        if start.is_empty() {
            return Err(format!(": encoded start key empty (version {VERSION})"));
        }
        let key = start.strip_prefix('/').unwrap_or(start);
        if key.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err(format!(": {start}"));
        }
        Ok(Self {
            revision,
            start_key: key.to_owned(),
        })
    }
}

fn mistyped(value: &Value) -> String {
    let found = type_word(value);
    format!("json: cannot unmarshal {found} into Go value of type storage.continueToken")
}

/// Where Go's decoder would stop: it reports a missing rest at the start of the incomplete group of four.
fn illegal_byte(error: &DecodeError, text: &str) -> usize {
    match error {
        DecodeError::InvalidByte(offset, _) | DecodeError::InvalidLastSymbol(offset, _) => *offset,
        _ => text.len() / 4 * 4,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn raw(json: &str) -> String {
        ALPHABET.encode(json)
    }

    #[test]
    fn a_token_reads_as_upstream_writes_it() {
        let token = ContinueToken::after("/a0", 237);
        assert_eq!(
            token.encode(),
            "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MjM3LCJzdGFydCI6Ii9hMFx1MDAwMCJ9"
        );
        let read = ContinueToken::decode(&token.encode()).unwrap();
        assert_eq!((read.revision, read.start_key.as_str()), (237, "a0\0"));
    }

    #[test]
    fn bad_tokens_are_explained() {
        let version = "meta.k8s.io/v1";
        for (token, cause) in [
            ("x".to_owned(), ": illegal base64 data at input byte 0".to_owned()),
            ("eyJ2Ij!".to_owned(), ": illegal base64 data at input byte 6".to_owned()),
            (
                raw(r#"{"v":"x"}"#),
                ": server does not recognize this encoded version x".to_owned(),
            ),
            (
                raw("x"),
                ": invalid character 'x' looking for beginning of value".to_owned(),
            ),
            (
                raw("[]"),
                ": json: cannot unmarshal array into Go value of type storage.continueToken".to_owned(),
            ),
            (
                raw(r#"{"v":"meta.k8s.io/v1","start":"a"}"#),
                format!(": incorrect encoded start resourceVersion (version {version})"),
            ),
            (
                raw(r#"{"v":"meta.k8s.io/v1","rv":1}"#),
                format!(": encoded start key empty (version {version})"),
            ),
            (
                raw(r#"{"v":"meta.k8s.io/v1","rv":1,"start":"../x"}"#),
                ": ../x".to_owned(),
            ),
            (
                raw(r#"{"v":"meta.k8s.io/v1","rv":1,"start":"a//b"}"#),
                ": a//b".to_owned(),
            ),
        ] {
            let failure = ContinueToken::decode(&token).unwrap_err();
            assert_eq!(failure.code, 400);
            assert_eq!(
                failure.message,
                format!("invalid continue token: continue key is not valid{cause}")
            );
        }
    }

    proptest! {
        #[test]
        fn tokens_survive_a_round_trip(revision in 1..i64::MAX, key in "[a-z0-9-]{1,20}(/[a-z0-9.-]{1,20}[a-z])?") {
            let token = ContinueToken::after(&key, revision);
            prop_assert_eq!(ContinueToken::decode(&token.encode()).unwrap(), token);
        }

        #[test]
        fn no_text_makes_it_panic(text in ".{0,64}") {
            drop(ContinueToken::decode(&text));
        }
    }
}
