//! A host and a port, as flags, files and requests for tunnels spell them. Pure: what is there is somebody else's matter.

use std::{
    fmt,
    net::{Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

use serde::Deserialize;
use thiserror::Error;

/// The longest name that DNS has.
const NAME_BYTES: usize = 253;

/// Where something listens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct Place {
    host: String,
    port: u16,
}

/// What is no place.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text:?} is no place: write it as HOST:PORT, with brackets around an IPv6 address")]
pub struct PlaceError {
    text: String,
}

impl Place {
    /// A place by its two parts. An IPv6 address stands without brackets here.
    pub fn new(host: &str, port: u16) -> Result<Self, PlaceError> {
        let is_good = port != 0 && (is_name(host) || host.parse::<Ipv6Addr>().is_ok());
        if is_good {
            let host = host.to_ascii_lowercase();
            Ok(Self { host, port })
        } else {
            Err(PlaceError {
                text: format!("{host}:{port}"),
            })
        }
    }

    /// The name or address, without brackets, in lower case.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port, which is never 0.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(formatter, "[{}]:{}", self.host, self.port)
        } else {
            write!(formatter, "{}:{}", self.host, self.port)
        }
    }
}

impl FromStr for Place {
    type Err = PlaceError;

    fn from_str(text: &str) -> Result<Self, PlaceError> {
        let refused = || PlaceError { text: text.to_owned() };
        let (host, port) = text.rsplit_once(':').ok_or_else(refused)?;
        if !port.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(refused());
        }
        let port = port.parse().map_err(|_| refused())?;
        let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        match bracketed {
            Some(address) if address.parse::<Ipv6Addr>().is_ok() => Self::new(address, port),
            None if !host.contains(':') => Self::new(host, port),
            _ => Err(refused()),
        }
        .map_err(|_| refused())
    }
}

impl TryFrom<String> for Place {
    type Error = PlaceError;

    fn try_from(text: String) -> Result<Self, PlaceError> {
        text.parse()
    }
}

/// Whether this is a name that DNS and certificates know, or an IPv4 address. Underlines are no part of host names, but
/// of many that are used.
pub(crate) fn is_name(host: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    let labels = host.strip_suffix('.').unwrap_or(host);
    let looks_like_address = labels.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    host.len() <= NAME_BYTES
        && labels.split('.').all(is_label)
        && (!looks_like_address || host.parse::<Ipv4Addr>().is_ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_place_is_a_host_and_a_port() {
        let good = [
            ("etcd-client:2379", "etcd-client", 2379, "etcd-client:2379"),
            ("API.example.com:443", "api.example.com", 443, "api.example.com:443"),
            ("10.0.0.1:1", "10.0.0.1", 1, "10.0.0.1:1"),
            ("[::1]:65535", "::1", 65535, "[::1]:65535"),
            ("name.:80", "name.", 80, "name.:80"),
        ];
        for (text, host, port, shown) in good {
            let place: Place = text.parse().unwrap();
            assert_eq!((place.host(), place.port()), (host, port));
            assert_eq!(place.to_string(), shown);
        }
        let wrong = [
            "",
            ":",
            "a:",
            ":1",
            "a",
            "a:0",
            "a:65536",
            "a:+1",
            "::1:80",
            "[::1]",
            "[::1:80",
            "[a]:80",
            "a b:80",
            "a/b:80",
            "a@b:80",
            "1.2.3:80",
            "999.1.1.1:80",
            "a..b:80",
            "[fe80::1%eth0]:80",
        ];
        for text in wrong {
            assert!(text.parse::<Place>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_and_what_is_shown_is_read_back(text in "[a-z0-9.:\\[\\]_-]{0,20}") {
            if let Ok(place) = text.parse::<Place>() {
                prop_assert_eq!(place.to_string().parse(), Ok(place));
            }
        }
    }
}
