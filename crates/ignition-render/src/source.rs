//! Where the content of a file is: in a data URL, or somewhere on the network. Nothing is fetched here.

use base64::{Engine as _, prelude::BASE64_STANDARD};

/// Where content is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Here.
    Data(Vec<u8>),
    /// Where a machine fetches it from.
    Remote,
}

/// Content as a URL.
pub fn data_url(content: &[u8]) -> String {
    format!("data:;base64,{}", BASE64_STANDARD.encode(content))
}

/// Reads a URL; the error says what is wrong with it.
pub fn parse(url: &str) -> Result<Source, &'static str> {
    if let Some(rest) = url.strip_prefix("data:") {
        return data(rest).map(Source::Data);
    }
    let rest = ["https://", "http://"]
        .iter()
        .find_map(|scheme| url.strip_prefix(scheme));
    let rest = rest.ok_or("must be a data:, https: or http: URL")?;
    let is_clean = rest.bytes().all(|byte| byte.is_ascii_graphic());
    let has_host = rest.split(['/', '?', '#']).next().is_some_and(|host| !host.is_empty());
    if is_clean && has_host {
        Ok(Source::Remote)
    } else {
        Err("must be a URL with a host and without spaces")
    }
}

/// The content of a data URL, from behind its scheme.
fn data(rest: &str) -> Result<Vec<u8>, &'static str> {
    let (kind, data) = rest.split_once(',').ok_or("is a data URL without a comma")?;
    let data = decode_percent(data).ok_or("is a data URL with a percent sign that begins no code")?;
    if kind.split(';').any(|word| word == "base64") {
        BASE64_STANDARD
            .decode(data)
            .map_err(|_| "is a data URL whose base64 cannot be read")
    } else {
        Ok(data)
    }
}

fn decode_percent(text: &str) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let high = char::from(bytes.next()?).to_digit(16)?;
            let low = char::from(bytes.next()?).to_digit(16)?;
            out.push(u8::try_from(high << 4 | low).ok()?);
        } else {
            out.push(byte);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn urls_are_told_apart() {
        let here = |content: &str| Some(Source::Data(content.as_bytes().to_vec()));
        let cases = [
            ("data:,hello%20there", here("hello there")),
            ("data:text/plain;charset=utf-8;base64,aGk=", here("hi")),
            ("data:,", here("")),
            ("https://example.com/a?b", Some(Source::Remote)),
            ("http://example.com", Some(Source::Remote)),
            ("data:hello", None),
            ("data:,%2", None),
            ("data:;base64,a", None),
            ("https:///a", None),
            ("https://example.com/a b", None),
            ("ftp://example.com", None),
            ("", None),
        ];
        for (url, expected) in cases {
            assert_eq!(parse(url).ok(), expected, "{url}");
        }
    }

    proptest! {
        #[test]
        fn content_comes_back(content in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(parse(&data_url(&content)), Ok(Source::Data(content)));
        }

        #[test]
        fn no_url_makes_it_panic(url in "\\PC{0,60}") {
            drop(parse(&url));
            drop(parse(&format!("data:{url}")));
        }
    }
}
