//! Hashes that tell whether something changed. Every part is preceded by its length, so that no two different lists of
//! parts look alike.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// How many hexadecimal digits of a hash are part of a name: enough that two templates of one pool never meet.
const SHORT_DIGITS: usize = 10;

/// The hash of a list of texts, as 64 hexadecimal digits.
pub fn fingerprint<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hash = Framed::default();
    for part in parts {
        hash.add(part);
    }
    hash.finish()
}

/// The first digits of a hash, for names.
pub fn short(hash: &str) -> &str {
    hash.get(..SHORT_DIGITS).unwrap_or(hash)
}

/// A hash that is being made.
#[derive(Default)]
pub(crate) struct Framed(Sha256);

impl Framed {
    pub(crate) fn add(&mut self, part: &str) {
        self.count(part.len());
        self.0.update(part.as_bytes());
    }

    pub(crate) fn count(&mut self, count: usize) {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        self.0.update(count.to_be_bytes());
    }

    pub(crate) fn finish(self) -> String {
        let mut text = String::new();
        for byte in self.0.finalize() {
            write!(text, "{byte:02x}").expect("memory can be written to");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_are_cut_elsewhere_give_another_hash() {
        let hashes = [
            fingerprint([""; 0]),
            fingerprint([""]),
            fingerprint(["ab"]),
            fingerprint(["a", "b"]),
            fingerprint(["ab", ""]),
            fingerprint(["", "ab"]),
        ];
        for (position, hash) in hashes.iter().enumerate() {
            assert_eq!(hash.len(), 64);
            assert!(!hashes[..position].contains(hash), "{position}");
        }
    }

    #[test]
    fn short_hashes_are_the_beginning() {
        assert_eq!(short("0123456789abcdef"), "0123456789");
        assert_eq!(short("012"), "012");
    }
}
