//! Addresses as Go's `net` and `net/url` read them, for formats and for the URL, IP and CIDR libraries of CEL.

use std::net::{IpAddr, Ipv4Addr};

/// An address; a zone or an IPv4 address in IPv6 clothes is the caller's business.
pub(crate) fn parse_ip(text: &str) -> Option<IpAddr> {
    text.parse().ok()
}

/// An address whose IPv4 numbers may start with zeros, as Go read them before 1.17.
pub(crate) fn parse_ip_sloppy(text: &str) -> Option<IpAddr> {
    if text.contains(':') {
        return parse_ip(text);
    }
    let mut octets = [0; 4];
    let mut parts = text.split('.');
    for octet in &mut octets {
        let part = parts.next()?;
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let significant = part.trim_start_matches('0');
        *octet = match significant {
            "" if is_number => 0,
            _ if is_number => significant.parse().ok()?,
            _ => return None,
        };
    }
    parts.next().is_none().then_some(IpAddr::V4(Ipv4Addr::from(octets)))
}

/// An address and the length of its prefix.
pub(crate) fn parse_cidr_sloppy(text: &str) -> Option<(IpAddr, u8)> {
    let (address, prefix) = text.split_once('/')?;
    let address = parse_ip_sloppy(address)?;
    let limit = if address.is_ipv4() { 32 } else { 128 };
    let is_number = !prefix.is_empty() && prefix.bytes().all(|byte| byte.is_ascii_digit());
    let prefix = prefix
        .parse::<u8>()
        .ok()
        .filter(|prefix| is_number && *prefix <= limit)?;
    Some((address, prefix))
}

/// Six, eight or twenty bytes with colons, hyphens, or in groups of four with dots.
pub(crate) fn is_mac(text: &str) -> bool {
    let is_groups = |separator: char, digits: usize, counts: &[usize]| {
        let groups: Vec<&str> = text.split(separator).collect();
        counts.contains(&groups.len())
            && groups
                .iter()
                .all(|group| group.len() == digits && group.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    is_groups(':', 2, &[6, 8, 20]) || is_groups('-', 2, &[6, 8, 20]) || is_groups('.', 4, &[3, 4, 10])
}

/// A URL as `url.ParseRequestURI` takes it apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url {
    pub(crate) scheme: String,
    /// Host with port, as it is written.
    pub(crate) host: String,
    /// The path as it is written.
    pub(crate) escaped_path: String,
    pub(crate) query: String,
    /// What stands before an `@`.
    pub(crate) user: Option<String>,
    /// All of it.
    pub(crate) text: String,
}

impl Url {
    /// An absolute URI or an absolute path; the error is Go's.
    pub(crate) fn parse_request(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("empty url".to_owned());
        }
        Self::parse_with(text, true)
    }

    /// Any reference; the error is Go's.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        Self::parse_with(text, false)
    }

    fn parse_with(text: &str, is_request: bool) -> Result<Self, String> {
        if text.bytes().any(|byte| byte < 0x20 || byte == 0x7f) {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        let mut url = Self {
            scheme: String::new(),
            host: String::new(),
            escaped_path: String::new(),
            query: String::new(),
            user: None,
            text: text.to_owned(),
        };
        if text == "*" {
            "*".clone_into(&mut url.escaped_path);
            return Ok(url);
        }
        let (scheme, rest) = split_scheme(text)?;
        url.scheme = scheme.to_ascii_lowercase();
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        query.clone_into(&mut url.query);
        url.parse_hierarchy(rest, is_request)?;
        Ok(url)
    }

    fn parse_hierarchy(&mut self, rest: &str, is_request: bool) -> Result<(), String> {
        if !rest.starts_with('/') && (is_request || !self.scheme.is_empty()) {
            // `mailto:someone`: an opaque part is no path.
            return if self.scheme.is_empty() {
                Err("invalid URI for request".to_owned())
            } else {
                Ok(())
            };
        }
        if rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
        let has_authority = !self.scheme.is_empty() || !is_request && !rest.starts_with("///");
        let path = match rest.strip_prefix("//").filter(|_| has_authority) {
            Some(authority) => {
                let end = authority.find('/').unwrap_or(authority.len());
                let authority = &authority[..end];
                self.user = authority.rsplit_once('@').map(|(user, _)| user.to_owned());
                self.host = parse_authority(authority)?;
                let authority = &rest[2..];
                &authority[end..]
            }
            None => rest,
        };
        check_escapes(path)?;
        self.escaped_path = escape_path(path);
        Ok(())
    }

    /// The host without port and without brackets.
    pub(crate) fn hostname(&self) -> &str {
        let host = match self.host.rfind(':').filter(|colon| is_port(&self.host[*colon..])) {
            Some(colon) => &self.host[..colon],
            None => &self.host,
        };
        host.strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
            .unwrap_or(host)
    }

    /// The port, or nothing.
    pub(crate) fn port(&self) -> &str {
        match self.host.rfind(':').filter(|colon| is_port(&self.host[*colon..])) {
            Some(colon) => &self.host[colon + 1..],
            None => "",
        }
    }
}

fn is_port(text: &str) -> bool {
    text.is_empty()
        || text
            .strip_prefix(':')
            .is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

fn split_scheme(text: &str) -> Result<(&str, &str), String> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at > 0 => return Ok((&text[..at], &text[at + 1..])),
            b':' => return Err("missing protocol scheme".to_owned()),
            _ => return Ok(("", text)),
        }
    }
    Ok(("", text))
}

fn parse_authority(authority: &str) -> Result<String, String> {
    let Some((user, host)) = authority.rsplit_once('@') else {
        return parse_host(authority);
    };
    let host = parse_host(host)?;
    let is_user = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
    if !user.bytes().all(is_user) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    check_escapes(user)?;
    Ok(host)
}

fn parse_host(host: &str) -> Result<String, String> {
    let port = if host.starts_with('[') {
        let end = host.rfind(']').ok_or("missing ']' in host")?;
        &host[end + 1..]
    } else {
        host.rfind(':').map_or("", |colon| &host[colon..])
    };
    if !is_port(port) {
        return Err(format!("invalid port {} after host", crate::go_text::quote(port)));
    }
    let is_host =
        |byte: u8| !byte.is_ascii() || byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:[]<>\"%".contains(&byte);
    if let Some(bad) = host.bytes().find(|byte| !is_host(*byte)) {
        let bad = char::from(bad).to_string();
        return Err(format!(
            "invalid character {} in host name",
            crate::go_text::quote(&bad)
        ));
    }
    check_escapes(host)?;
    Ok(host.to_owned())
}

fn check_escapes(text: &str) -> Result<(), String> {
    let bytes = text.as_bytes();
    for at in (0..bytes.len()).filter(|at| bytes[*at] == b'%') {
        let digits = &bytes[at + 1..bytes.len().min(at + 3)];
        if digits.len() < 2 || !digits.iter().all(u8::is_ascii_hexdigit) {
            let end = bytes.len().min(at + 3);
            let part = String::from_utf8_lossy(&bytes[at..end]);
            return Err(format!("invalid URL escape {}", crate::go_text::quote(&part)));
        }
    }
    Ok(())
}

/// What Go escapes when a path was written with characters that do not belong there.
fn escape_path(path: &str) -> String {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:@[]/%".contains(&byte);
    if path.bytes().all(is_valid) {
        return path.to_owned();
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@%".contains(&byte);
    path.bytes()
        .fold(String::with_capacity(path.len()), |mut escaped, byte| {
            if is_plain(byte) {
                escaped.push(char::from(byte));
            } else {
                use std::fmt::Write as _;
                write!(escaped, "%{byte:02X}").expect("writing to a string cannot fail");
            }
            escaped
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_go_reads_them() {
        assert!(parse_ip("010.0.0.1").is_none());
        assert_eq!(parse_ip_sloppy("010.0.0.1").unwrap().to_string(), "10.0.0.1");
        assert!(parse_ip_sloppy("1.2.3").is_none());
        assert_eq!(parse_cidr_sloppy("10.0.0.0/8").unwrap().1, 8);
        assert!(parse_cidr_sloppy("10.0.0.0/33").is_none());
        assert!(is_mac("01:23:45:67:89:ab") && is_mac("0123.4567.89ab") && !is_mac("01:23:45"));
    }

    #[test]
    fn request_uris_are_absolute() {
        let url = Url::parse_request("https://user@[::1]:80/a%20b/c?x=1&y").unwrap();
        assert_eq!(
            (url.scheme.as_str(), url.hostname(), url.port()),
            ("https", "::1", "80")
        );
        assert_eq!((url.escaped_path.as_str(), url.query.as_str()), ("/a%20b/c", "x=1&y"));
        assert_eq!(Url::parse_request("/a").unwrap().host, "");
        for (text, error) in [
            ("", "empty url"),
            ("a/b", "invalid URI for request"),
            (":a", "missing protocol scheme"),
            ("http://[::1", "missing ']' in host"),
            ("http://a:b/", "invalid port \":b\" after host"),
            ("http://a b/", "invalid character \" \" in host name"),
            ("/%zz", "invalid URL escape \"%zz\""),
        ] {
            assert_eq!(Url::parse_request(text).unwrap_err(), error, "{text}");
        }
    }
}
