//! Where the content of a file is: in a data URL, or somewhere on the network. Nothing is fetched here.

use std::net::Ipv6Addr;

use base64::{Engine as _, prelude::BASE64_STANDARD};

/// What is said of an address that is none of the network.
pub(crate) const NOT_REMOTE: &str = "must be a URL with https: or http:, a host, and nothing that has to be encoded";

/// Kinds of content that a data URL may name, beside those that begin with `x-`.
const MEDIA_TYPES: &[&str] = &["application", "audio", "image", "message", "multipart", "text", "video"];

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
    if !url.starts_with("https://") && !url.starts_with("http://") {
        return Err("must be a data:, https: or http: URL");
    }
    is_remote(url).then_some(Source::Remote).ok_or(NOT_REMOTE)
}

/// Whether something is an address on the network that every program reads in the same way.
pub fn is_remote(url: &str) -> bool {
    let rest = ["https://", "http://"]
        .iter()
        .find_map(|scheme| url.strip_prefix(scheme));
    let Some(rest) = rest.filter(|rest| rest.bytes().all(|byte| byte.is_ascii_graphic())) else {
        return false;
    };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    is_user(user) && is_host(host) && decode_percent(path).is_some()
}

/// Whether something can stand before the host.
fn is_user(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
    text.bytes().all(is_allowed) && decode_percent(text).is_some()
}

/// Whether something is a host, with or without a port.
fn is_host(text: &str) -> bool {
    let (host, after) = match text.strip_prefix('[').map(|inner| inner.split_once(']')) {
        Some(Some((address, after))) if address.parse::<Ipv6Addr>().is_ok() => ("address", after),
        Some(_) => return false,
        None => text.split_at(text.find(':').unwrap_or(text.len())),
    };
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    let has_port = after.is_empty() || after.strip_prefix(':').is_some_and(is_port);
    !host.is_empty() && host.bytes().all(is_allowed) && has_port
}

/// The content of a data URL, from behind its scheme.
fn data(rest: &str) -> Result<Vec<u8>, &'static str> {
    let (is_encoded, data) = kind(rest)
        .ok_or("is a data URL that does not begin with nothing or a kind of content, parameters and a comma")?;
    if is_encoded {
        return BASE64_STANDARD
            .decode(data)
            .map_err(|_| "is a data URL whose base64 cannot be read");
    }
    if !data.bytes().all(is_plain) {
        return Err("is a data URL with characters that must be written as codes, such as %20");
    }
    decode_percent(data).ok_or("is a data URL with a percent sign that begins no code")
}

/// Whether a character stands for itself in a data URL.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"<>#\"{}|\\^[]`".contains(&byte)
}

/// What stands before the comma: whether the content is in base64 is told, with the content.
fn kind(rest: &str) -> Option<(bool, &str)> {
    let (media, mut rest) = rest.split_at(rest.find([';', ','])?);
    if !media.is_empty() {
        let (kind, detail) = media.split_once('/')?;
        let is_known =
            kind.starts_with("x-") || kind.starts_with("X-") || MEDIA_TYPES.iter().any(|known| kind.starts_with(known));
        if !is_known || !is_token(kind) || !is_token(detail) {
            return None;
        }
    }
    loop {
        if let Some(data) = rest.strip_prefix(',') {
            return Some((false, data));
        }
        let parameter = rest.strip_prefix(';')?;
        if let Some(data) = parameter.strip_prefix("base64,") {
            return Some((true, data));
        }
        rest = after_parameter(parameter)?;
    }
}

/// What follows a parameter, which is a word, an equals sign and a value, between quotes or not.
fn after_parameter(text: &str) -> Option<&str> {
    let (name, value) = text.split_once('=')?;
    if name.is_empty() || !is_token(name) {
        return None;
    }
    if let Some(quoted) = value.strip_prefix('"') {
        let (inner, after) = quoted.split_once('"')?;
        let is_good = |byte: u8| (byte == b' ' || byte.is_ascii_graphic()) && !matches!(byte, b'\\' | b'#');
        return inner.bytes().all(is_good).then_some(after);
    }
    let (value, after) = value.split_at(value.find([';', ','])?);
    let is_good = !value.is_empty() && is_token(value) && decode_percent(value).is_some();
    is_good.then_some(after)
}

/// Whether a text has only what words of media types have.
fn is_token(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?=".contains(&byte))
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
            ("data:text/plain;a=\"b c\";d=e%20,hi", here("hi")),
            ("data:x-any/thing,hi", here("hi")),
            ("https://user:100%25@example.com:3128/a%20b#c", Some(Source::Remote)),
            ("https://[fd00::1]:443/", Some(Source::Remote)),
            ("data:hello", None),
            ("data:hello,hi", None),
            ("data:font/woff,hi", None),
            ("data:text,hi", None),
            ("data:;,hi", None),
            ("data:;base64;a=b,aGk=", None),
            ("data:;base32,hi", None),
            ("data:;a=,hi", None),
            ("data:;a=\"b,hi", None),
            ("data:;base64,aGk%3D", None),
            ("data:,a b", None),
            ("data:,{}", None),
            ("data:,\"", None),
            ("data:,#", None),
            ("data:,\u{e4}", None),
            ("data:,a\nb", None),
            ("DATA:,a", None),
            ("https://example.com:port/", None),
            ("https://example.com/%zz", None),
            ("https://example.com/#%", None),
            ("https://[fd00::1", None),
            ("https://fd00::1/", None),
            ("https://us er@example.com", None),
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
