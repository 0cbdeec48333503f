//! What SOCKS 5 (RFC 1928) says on the wire, as far as it is spoken here: no authentication, and CONNECT. Pure: bytes in,
//! meanings out.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::place::Place;

/// The version of the protocol.
const VERSION: u8 = 5;

/// No authentication: whoever is in the pod may ask.
const NO_AUTHENTICATION: u8 = 0;

/// The command that opens a connection.
const CONNECT: u8 = 1;

/// Bytes of the longest message: a request with a name.
pub const LONGEST: usize = 4 + 1 + 255 + 2;

/// The answer to a greeting that is understood.
pub const WELCOME: [u8; 2] = [VERSION, NO_AUTHENTICATION];

/// The answer to a greeting that offers only what is not spoken here.
pub const NO_METHOD: [u8; 2] = [VERSION, 0xff];

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The tunnel is open.
    Succeeded = 0,
    /// Something else.
    Failure = 1,
    /// The way there is broken.
    NetworkUnreachable = 3,
    /// Whoever should be there is not.
    HostUnreachable = 4,
    /// It took too long.
    Expired = 6,
    /// Only CONNECT is spoken.
    CommandNotSupported = 7,
    /// Such addresses are not known.
    AddressNotSupported = 8,
}

impl Reply {
    /// The message. It names no address: the tunnel has none that means something here.
    pub fn bytes(self) -> [u8; 10] {
        [VERSION, self as u8, 0, 1, 0, 0, 0, 0, 0, 0]
    }
}

/// What some bytes mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Read<T> {
    /// Nothing yet: more bytes are needed.
    Incomplete,
    /// A message, and how many bytes it has.
    Message(T, usize),
    /// Nothing that is spoken here, and what to answer; nothing where not even the protocol is known.
    Refused(Option<Reply>),
}

/// Reads a greeting: whether it offers to go without authentication.
pub fn greeting(bytes: &[u8]) -> Read<bool> {
    match *bytes {
        [] | [VERSION] => Read::Incomplete,
        [VERSION, count, ref rest @ ..] => {
            let count = usize::from(count);
            match rest.get(..count) {
                None => Read::Incomplete,
                Some(methods) => Read::Message(methods.contains(&NO_AUTHENTICATION), 2 + count),
            }
        }
        _ => Read::Refused(None),
    }
}

/// Reads a request: where to.
pub fn request(bytes: &[u8]) -> Read<Place> {
    match *bytes {
        [] | [VERSION] | [VERSION, _] | [VERSION, _, _] => Read::Incomplete,
        [VERSION, CONNECT, _, kind, ref rest @ ..] => address(kind, rest),
        [VERSION, _, _, _, ..] => Read::Refused(Some(Reply::CommandNotSupported)),
        _ => Read::Refused(None),
    }
}

fn address(kind: u8, bytes: &[u8]) -> Read<Place> {
    let (host, used) = match kind {
        1 => match bytes.first_chunk::<4>() {
            Some(address) => (Ipv4Addr::from(*address).to_string(), 4),
            None => return Read::Incomplete,
        },
        4 => match bytes.first_chunk::<16>() {
            Some(address) => (Ipv6Addr::from(*address).to_string(), 16),
            None => return Read::Incomplete,
        },
        3 => match bytes.split_first() {
            Some((length, rest)) => match rest.get(..usize::from(*length)) {
                Some(name) => (String::from_utf8_lossy(name).into_owned(), 1 + usize::from(*length)),
                None => return Read::Incomplete,
            },
            None => return Read::Incomplete,
        },
        _ => return Read::Refused(Some(Reply::AddressNotSupported)),
    };
    let Some(port) = bytes[used..].first_chunk::<2>() else {
        return Read::Incomplete;
    };
    match Place::new(&host, u16::from_be_bytes(*port)) {
        Ok(place) => Read::Message(place, 4 + used + 2),
        Err(_) => Read::Refused(Some(Reply::AddressNotSupported)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wish(place: &str) -> Vec<u8> {
        let place: Place = place.parse().unwrap();
        let mut bytes = vec![5, 1, 0];
        if let Ok(address) = place.host().parse::<Ipv4Addr>() {
            bytes.push(1);
            bytes.extend(address.octets());
        } else if let Ok(address) = place.host().parse::<Ipv6Addr>() {
            bytes.push(4);
            bytes.extend(address.octets());
        } else {
            bytes.extend([3, u8::try_from(place.host().len()).unwrap()]);
            bytes.extend(place.host().bytes());
        }
        bytes.extend(place.port().to_be_bytes());
        bytes
    }

    #[test]
    fn greetings() {
        assert_eq!(greeting(&[5, 1, 0]), Read::Message(true, 3));
        assert_eq!(greeting(&[5, 2, 2, 0, 5]), Read::Message(true, 4));
        assert_eq!(greeting(&[5, 1, 2]), Read::Message(false, 3));
        assert_eq!(greeting(&[5, 0]), Read::Message(false, 2));
        assert_eq!(greeting(b"GET / HTTP/1.1"), Read::Refused(None));
        assert_eq!(greeting(&[4, 1, 0, 80]), Read::Refused(None));
    }

    #[test]
    fn requests() {
        for place in ["svc.ns.svc:443", "10.1.2.3:1", "[fd00::1]:65535"] {
            let bytes = wish(place);
            assert_eq!(request(&bytes), Read::Message(place.parse().unwrap(), bytes.len()));
        }
        let refused = |bytes: &[u8]| match request(bytes) {
            Read::Refused(reply) => reply,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            refused(&[5, 2, 0, 1, 1, 2, 3, 4, 0, 80]),
            Some(Reply::CommandNotSupported)
        );
        assert_eq!(refused(&[5, 1, 0, 9, 1]), Some(Reply::AddressNotSupported));
        assert_eq!(refused(&[5, 1, 0, 3, 1, b' ', 0, 80]), Some(Reply::AddressNotSupported));
        assert_eq!(
            refused(&[5, 1, 0, 1, 1, 2, 3, 4, 0, 0]),
            Some(Reply::AddressNotSupported)
        );
        assert_eq!(refused(&[4, 1, 0, 1]), None);
    }

    proptest! {
        #[test]
        fn every_part_of_a_request_is_incomplete(
            host in "[a-z]([a-z0-9-]{0,20}[a-z0-9])?(\\.[a-z]{1,10}){0,3}",
            port in 1_u16..,
            after in prop::collection::vec(any::<u8>(), 0..20),
        ) {
            let mut bytes = wish(&format!("{host}:{port}"));
            prop_assert!(bytes.len() <= LONGEST);
            for length in 0..bytes.len() {
                prop_assert_eq!(request(&bytes[..length]), Read::Incomplete);
            }
            let length = bytes.len();
            bytes.extend(after);
            prop_assert_eq!(request(&bytes), Read::Message(Place::new(&host, port).unwrap(), length));
        }

        #[test]
        fn any_bytes_have_a_meaning_within_the_longest_message(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            for read in [greeting(&bytes).used(), request(&bytes).used()] {
                prop_assert!(read.is_none_or(|used| used <= bytes.len() && used <= LONGEST));
            }
            if bytes.len() >= LONGEST {
                prop_assert_ne!(request(&bytes), Read::Incomplete);
                prop_assert_ne!(greeting(&bytes), Read::Incomplete);
            }
        }
    }

    impl<T> Read<T> {
        fn used(&self) -> Option<usize> {
            match self {
                Self::Message(_, used) => Some(*used),
                Self::Incomplete | Self::Refused(_) => None,
            }
        }
    }
}
