//! Gzip, for what travels in Secrets. Packing gives the same bytes for the same content; unpacking takes what any program
//! packed, and no more than it is told to.

use std::io::{ErrorKind, Read as _, Write as _};

use flate2::{Compression, GzBuilder, bufread::GzDecoder};
use thiserror::Error;

/// What every file begins with: the mark, and the one method that there is.
const MARK: [u8; 3] = [0x1f, 0x8b, 8];

/// The system that packed, which nobody needs to know. Where it is not given, it depends on the program.
const UNKNOWN_SYSTEM: u8 = 255;

/// Why bytes cannot be unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum GzipError {
    /// They do not begin as they should.
    #[error("it does not begin as gzip does")]
    Head,
    /// They end too early.
    #[error("it ends too early")]
    Short,
    /// They are broken.
    #[error("it is broken")]
    Broken,
    /// What they hold is longer than is taken.
    #[error("it holds more than is taken")]
    Long,
}

/// Whether bytes begin as packed ones do.
pub fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&MARK)
}

/// Packs content, without a time: that would make two packings of one content differ.
///
/// # Panics
///
/// Never: memory can be written to.
pub fn compress(content: &[u8]) -> Vec<u8> {
    let builder = GzBuilder::new().operating_system(UNKNOWN_SYSTEM);
    let mut packer = builder.write(Vec::new(), Compression::default());
    packer
        .write_all(content)
        .and_then(|()| packer.finish())
        .expect("memory can be written to")
}

/// Unpacks bytes that hold at most so many.
pub fn decompress(bytes: &[u8], most: usize) -> Result<Vec<u8>, GzipError> {
    if !is_gzip(bytes) {
        return Err(GzipError::Head);
    }
    let mut content = Vec::new();
    // One more than is taken tells whether there is more; the checksum at the end is looked at where there is not.
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    let unpacked = GzDecoder::new(bytes).take(limit).read_to_end(&mut content);
    match unpacked.map_err(|error| error.kind()) {
        Ok(_) if content.len() > most => Err(GzipError::Long),
        Ok(_) => Ok(content),
        Err(ErrorKind::UnexpectedEof) => Err(GzipError::Short),
        Err(_) => Err(GzipError::Broken),
    }
}

#[cfg(test)]
mod tests {
    use base64::{Engine as _, prelude::BASE64_STANDARD};
    use proptest::{collection::vec, prelude::*};

    use super::*;

    const MOST: usize = 1 << 20;

    fn lines() -> String {
        let lines = (0..40).map(|line| format!("line {line}: {} the quick brown fox", line * line % 97));
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn what_others_packed_is_unpacked() {
        // Python's gzip: codes of its own, stored, and with a name and a comment in the head.
        let cases = [
            (DYNAMIC, lines()),
            (STORED, "stored as it is".to_owned()),
            (NAMED, "named".to_owned()),
        ];
        for (packed, expected) in cases {
            let packed = BASE64_STANDARD.decode(packed).unwrap();
            let content = decompress(&packed, MOST).unwrap();
            assert_eq!(String::from_utf8(content).unwrap(), expected);
        }
    }

    #[test]
    fn repetition_takes_little_room() {
        let content = "apiVersion: v1\n".repeat(1_000);
        assert!(compress(content.as_bytes()).len() < content.len() / 20);
    }

    #[test]
    fn the_head_holds_no_time_and_no_system() {
        assert_eq!(compress(b"a")[3..10], [0, 0, 0, 0, 0, 0, UNKNOWN_SYSTEM]);
    }

    #[test]
    fn what_is_too_long_or_broken_is_refused() {
        let packed = compress(&[0; 1_000]);
        assert_eq!(decompress(&packed, 999), Err(GzipError::Long));
        assert_eq!(decompress(&packed[..packed.len() - 1], MOST), Err(GzipError::Short));
        assert_eq!(decompress(b"plain", MOST), Err(GzipError::Head));
        let mut broken = packed;
        let last = broken.len() - 5;
        broken[last] ^= 1;
        assert_eq!(decompress(&broken, MOST), Err(GzipError::Broken));
    }

    proptest! {
        // Without optimisations, packing takes its time.
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn content_comes_back(content in vec(prop_oneof![any::<u8>(), Just(0), Just(200)], 0..4_000)) {
            let packed = compress(&content);
            prop_assert!(is_gzip(&packed));
            prop_assert_eq!(decompress(&packed, MOST), Ok(content));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in vec(any::<u8>(), 0..400)) {
            let mut packed = compress(b"");
            packed.truncate(10);
            packed.extend(bytes);
            drop(decompress(&packed, MOST));
        }
    }

    const DYNAMIC: &str = "H4sIAAAAAAAA/33TQQ5CIQxF0bmr6BKk/fCB5Wg0Go1Go9Hl+5jLHb/Q0gO9nm8H23bb2ut0sMf7vL/Y7nn/3Ox4/26uI03d0jz1bss8jW5tni6qXOZx7uZ5HpduAadXXQx6124FLt66VZg6iSwglplD9TTUVsjltjrkkqNYckG3F12h87JrIJ+EFzS+9Fb4US69BP1dfBnqu/gaPL2LbwF+F1+jPy2/hfrLr1F9+WWaX34VYvEV4A/xOfyeEF+F+iG+TEsrPofnCfFVWK0QXwHeGJtL84kv0fnBB88fw+9v/gOiaCiZ7gQAAA==";
    const STORED: &str = "H4sIAAAAAAAA/wEPAPD/c3RvcmVkIGFzIGl0IGlzZXjRWg8AAAA=";
    const NAMED: &str = "H4sIGAAAAAAA/2EudHh0AHdoeQDLS8xNTQEAh8zgcQUAAAA=";
}
