//! A payload for tests, shared by the test targets.

use std::borrow::Cow;

use hyperplane_store::{DecodeError, Key, Payload};

/// Some text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text(pub String);

impl Payload for Text {
    fn encode(&self) -> Cow<'_, [u8]> {
        self.0.as_bytes().into()
    }

    fn decode(_key: &Key, bytes: &[u8]) -> Result<Self, DecodeError> {
        String::from_utf8(bytes.to_vec()).map(Self).map_err(DecodeError::new)
    }

    fn weight(&self) -> usize {
        self.0.len()
    }
}
