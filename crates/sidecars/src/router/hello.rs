//! The first message of a TLS client: whose name it asks for. Pure: bytes in, a meaning out. The reader is that of rustls;
//! a second one would be a second set of mistakes.

use std::io;

use rustls::server::Acceptor;

/// Bytes before a name must be known. A hello with the largest keys that clients send has some four thousand.
pub const LONGEST: usize = 64 << 10;

/// A TLS alert that ends a connection before it has begun: the name is not known here.
pub const UNRECOGNIZED_NAME: [u8; 7] = alert(112);

/// A TLS alert: without a name it cannot be known where to go.
pub const MISSING_EXTENSION: [u8; 7] = alert(109);

/// A fatal alert in a record of its own.
const fn alert(description: u8) -> [u8; 7] {
    const RECORD: u8 = 21;
    const FATAL: u8 = 2;
    [RECORD, 3, 3, 0, 2, FATAL, description]
}

/// What the bytes of a client mean so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hello {
    /// Nothing yet: more bytes are needed.
    Incomplete,
    /// A client asks for this name.
    Name(String),
    /// A client asks for no name.
    Nameless,
    /// This is no client that speaks TLS, or none that a server understands. It is told so with these bytes.
    Refused(Vec<u8>),
}

/// Reads a hello as it arrives.
pub struct Reader {
    acceptor: Acceptor,
    bytes: Vec<u8>,
}

impl Default for Reader {
    fn default() -> Self {
        Self::new()
    }
}

impl Reader {
    /// A reader that has seen nothing.
    pub fn new() -> Self {
        Self {
            acceptor: Acceptor::default(),
            bytes: Vec::new(),
        }
    }

    /// Takes the next bytes, and says what all of them mean. Once it is not incomplete, nothing more may be given.
    pub fn read(&mut self, bytes: &[u8]) -> Hello {
        self.bytes.extend_from_slice(bytes);
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.acceptor.read_tls(&mut rest) {
                Ok(0) | Err(_) => return Hello::Refused(Vec::new()),
                Ok(_) => {}
            }
            match self.acceptor.accept() {
                Ok(None) => {}
                Ok(Some(accepted)) => {
                    let name = accepted.client_hello().server_name().map(str::to_owned);
                    return name.map_or(Hello::Nameless, Hello::Name);
                }
                Err((_, mut alert)) => {
                    let mut answer = io::Cursor::new(Vec::new());
                    // Writing to memory does not fail.
                    drop(alert.write_all(&mut answer));
                    return Hello::Refused(answer.into_inner());
                }
            }
        }
        if self.bytes.len() > LONGEST {
            Hello::Refused(Vec::new())
        } else {
            Hello::Incomplete
        }
    }

    /// All bytes that were given, for the server that is to read them.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use rustls::{ClientConfig, ClientConnection, RootCertStore, crypto::aws_lc_rs, pki_types::ServerName};

    use super::*;

    /// The first bytes of a client.
    fn hello(name: &str, has_name: bool) -> Vec<u8> {
        let mut config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        config.enable_sni = has_name;
        let name = ServerName::try_from(name.to_owned()).unwrap();
        let mut client = ClientConnection::new(Arc::new(config), name).unwrap();
        let mut bytes = Vec::new();
        client.write_tls(&mut bytes).unwrap();
        bytes
    }

    /// The same hello in records of at most so many bytes, as a client may send it.
    fn in_records(bytes: &[u8], size: usize) -> Vec<u8> {
        let mut records = Vec::new();
        for part in bytes[5..].chunks(size) {
            records.extend_from_slice(&bytes[..3]);
            records.extend_from_slice(&u16::try_from(part.len()).unwrap().to_be_bytes());
            records.extend_from_slice(part);
        }
        records
    }

    fn read_in_parts(bytes: &[u8], sizes: &[usize]) -> (Hello, usize) {
        let mut reader = Reader::new();
        let mut position = 0;
        for size in sizes.iter().cycle() {
            let end = (position + size).min(bytes.len());
            let hello = reader.read(&bytes[position..end]);
            position = end;
            if hello != Hello::Incomplete || position == bytes.len() {
                assert_eq!(reader.into_bytes(), &bytes[..position]);
                return (hello, position);
            }
        }
        panic!("there is at least one size");
    }

    #[test]
    fn a_name_is_found() {
        let bytes = hello("api.example.com", true);
        assert_eq!(Reader::new().read(&bytes), Hello::Name("api.example.com".to_owned()));
        assert_eq!(Reader::new().read(&hello("api.example.com", false)), Hello::Nameless);
        // An address is no name.
        assert_eq!(Reader::new().read(&hello("10.0.0.1", true)), Hello::Nameless);
    }

    #[test]
    fn what_is_no_tls_is_refused() {
        for bytes in [
            &b"GET / HTTP/1.1\r\n\r\n"[..],
            b"SSH-2.0-x\r\n",
            &[0; 100],
            &[22, 3, 1, 255, 255, 9],
        ] {
            assert!(matches!(Reader::new().read(bytes), Hello::Refused(_)), "{bytes:?}");
        }
    }

    #[test]
    fn a_hello_without_an_end_is_given_up() {
        let mut reader = Reader::new();
        // One handshake message that is said to have all bytes that its length can name, in full records.
        let mut record = vec![22, 3, 1, 0x40, 0];
        record.extend([1, 0xff, 0xff, 0xff]);
        record.resize(5 + 0x4000, 0);
        let mut given = 0;
        loop {
            given += record.len();
            match reader.read(&record) {
                Hello::Incomplete => assert!(given <= LONGEST),
                Hello::Refused(_) => break,
                other => panic!("{other:?}"),
            }
            record.splice(5..9, [0; 4]);
        }
    }

    proptest! {
        #[test]
        fn it_does_not_matter_in_which_parts_a_hello_comes(
            record in 20_usize..3000,
            sizes in prop::collection::vec(1_usize..400, 1..8),
        ) {
            let bytes = in_records(&hello("name.example.com", true), record);
            let (hello, position) = read_in_parts(&bytes, &sizes);
            prop_assert_eq!(hello, Hello::Name("name.example.com".to_owned()));
            prop_assert_eq!(position, bytes.len());
        }

        #[test]
        fn any_bytes_have_a_meaning(bytes in prop::collection::vec(any::<u8>(), 0..300), sizes in prop::collection::vec(1_usize..50, 1..4)) {
            drop(read_in_parts(&bytes, &sizes));
        }

        #[test]
        fn a_hello_with_a_mistake_has_a_meaning(position in 0_usize..500, value: u8, sizes in prop::collection::vec(1_usize..600, 1..4)) {
            let mut bytes = hello("name.example.com", true);
            let position = position % bytes.len();
            bytes[position] = value;
            drop(read_in_parts(&bytes, &sizes));
        }
    }
}
