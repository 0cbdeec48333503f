//! The body of a request from its written form to bytes. It knows nothing of what the bytes mean.

use serde_json::Value;
use thiserror::Error;

use crate::{table::Part, variables::Variables};

/// A body as a step writes it down.
#[derive(Clone, Copy, Debug)]
pub enum Body<'a> {
    /// None.
    Empty,
    /// A value that is sent as JSON.
    Json(&'a Value),
    /// A text that is sent as it is, after substitution.
    Text(&'a str),
    /// Bytes in hexadecimal digits; blanks between them are for the reader.
    Hexadecimal(&'a str),
    /// Texts with the number of times that each is repeated.
    Parts(&'a [Part]),
}

/// A body that cannot be sent.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{0:?} is no pair of hexadecimal digits")]
pub struct NotHexadecimal(String);

impl Body<'_> {
    /// The bytes, with variables in place of their names.
    pub fn bytes(self, variables: &Variables) -> Result<Vec<u8>, NotHexadecimal> {
        Ok(match self {
            Self::Empty => Vec::new(),
            Self::Json(value) => variables.in_value(value).to_string().into_bytes(),
            Self::Text(text) => variables.in_text(text).into_bytes(),
            Self::Hexadecimal(digits) => decode(digits)?,
            Self::Parts(parts) => parts
                .iter()
                .flat_map(|part| variables.in_text(&part.text).repeat(part.times).into_bytes())
                .collect(),
        })
    }
}

fn decode(digits: &str) -> Result<Vec<u8>, NotHexadecimal> {
    let digits: String = digits.split_whitespace().collect();
    digits
        .as_bytes()
        .chunks(2)
        .map(|pair| {
            let text = String::from_utf8_lossy(pair);
            match pair.len() {
                2 => u8::from_str_radix(&text, 16).map_err(|_| NotHexadecimal(text.into_owned())),
                _ => Err(NotHexadecimal(text.into_owned())),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_form_becomes_bytes() {
        let variables = Variables::of_case("here");
        let bytes = |body: Body<'_>| body.bytes(&variables).unwrap();
        assert_eq!(bytes(Body::Empty), b"");
        assert_eq!(bytes(Body::Json(&json!({"a": "${ns}"}))), br#"{"a":"here"}"#);
        assert_eq!(bytes(Body::Text("x ${ns}")), b"x here");
        assert_eq!(bytes(Body::Hexadecimal("7b ff 7D")), [0x7b, 0xff, 0x7d]);
        let parts = [("[", 3), ("]", 2)].map(|(text, times)| Part {
            text: text.to_owned(),
            times,
        });
        assert_eq!(bytes(Body::Parts(&parts)), b"[[[]]");
    }

    #[test]
    fn what_is_no_pair_of_digits_is_refused() {
        let variables = Variables::default();
        for digits in ["7", "zz", "7b7"] {
            assert!(Body::Hexadecimal(digits).bytes(&variables).is_err(), "{digits}");
        }
    }
}
