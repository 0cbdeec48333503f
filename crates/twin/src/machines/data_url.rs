//! What a `data:` URL holds (RFC 2397), as far as Ignition writes them. Pure.

use base64::{Engine as _, prelude::BASE64_STANDARD};

/// The bytes of a `data:` URL, or why there are none. Nothing of them is quoted: they may be a key.
pub(super) fn decode(url: &str) -> Result<Vec<u8>, &'static str> {
    let rest = url.strip_prefix("data:").ok_or("it is no data URL")?;
    let (kind, data) = rest.split_once(',').ok_or("a data URL has a comma")?;
    let bytes = percent_decoded(data).ok_or("a percent sign is followed by two hexadecimal digits")?;
    if kind.split(';').any(|part| part == "base64") {
        return BASE64_STANDARD.decode(bytes).map_err(|_| "it is not base64");
    }
    Ok(bytes)
}

fn percent_decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let mut digit = || char::from(rest.next()?).to_digit(16);
            let (high, low) = (digit()?, digit()?);
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_urls_are_read() {
        let cases: [(&str, Option<&[u8]>); 8] = [
            ("data:,", Some(b"")),
            ("data:,a%20b%0A", Some(b"a b\n")),
            ("data:text/plain;base64,YSBi", Some(b"a b")),
            ("data:text/plain;charset=utf-8;base64,YSBi", Some(b"a b")),
            ("data:;base64,YQ%3D%3D", Some(b"a")),
            ("data:;base64,!", None),
            ("data:,%2", None),
            ("https://a.example", None),
        ];
        for (url, expected) in cases {
            assert_eq!(decode(url).ok().as_deref(), expected, "{url}");
        }
    }
}
