//! Bytes that nobody can guess, as a parameter: uids, generated names and token secrets are made of them. A simulation
//! hands in a seeded source, the binary the system's.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use crate::random::Random;

/// Consonants and digits that spell no words (apimachinery, util/rand).
const NAME_ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
/// How many of them a generated name ends with.
const NAME_SUFFIX: usize = 5;
/// The longest prefix of a generated name: a name must fit into a DNS label.
const LONGEST_PREFIX: usize = 63 - NAME_SUFFIX;

/// A source of randomness. Cheap to clone.
#[derive(Clone)]
pub struct Entropy(Arc<Fill>);

type Fill = dyn Fn(&mut [u8]) + Send + Sync;

impl Entropy {
    /// A source that fills what it is given.
    pub fn new(fill: impl Fn(&mut [u8]) + Send + Sync + 'static) -> Self {
        Self(Arc::new(fill))
    }

    /// A source that gives the same bytes in every run, for simulations. Nothing of it is secret.
    pub fn seeded(seed: u64) -> Self {
        let random = Mutex::new(Random::seeded(seed));
        Self::new(move |bytes| {
            let mut random = random.lock().unwrap_or_else(PoisonError::into_inner);
            bytes.fill_with(|| random.next_u64().to_le_bytes()[0]);
        })
    }

    /// Fills what it is given.
    pub fn fill(&self, bytes: &mut [u8]) {
        (self.0)(bytes);
    }

    /// Random bytes.
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        (self.0)(&mut bytes);
        bytes
    }

    /// A random uid (version 4).
    pub fn uid(&self) -> String {
        let mut bytes: [u8; 16] = self.bytes();
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let part = |range: std::ops::Range<usize>| hex[range].concat();
        format!(
            "{}-{}-{}-{}-{}",
            part(0..4),
            part(4..6),
            part(6..8),
            part(8..10),
            part(10..16)
        )
    }

    /// A name that begins as asked, as far as a DNS label has room.
    pub fn name(&self, prefix: &str) -> String {
        let end = (0..=prefix.len().min(LONGEST_PREFIX))
            .rev()
            .find(|end| prefix.is_char_boundary(*end));
        let mut name = prefix[..end.unwrap_or_default()].to_owned();
        let bytes: [u8; NAME_SUFFIX] = self.bytes();
        // The bias of the remainder does not matter: the suffix only has to differ.
        name.extend(
            bytes
                .iter()
                .map(|byte| char::from(NAME_ALPHABET[usize::from(*byte) % NAME_ALPHABET.len()])),
        );
        name
    }
}

impl fmt::Debug for Entropy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Entropy")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zeros() -> Entropy {
        Entropy::new(|bytes| bytes.fill(0))
    }

    #[test]
    fn uids_are_of_version_four() {
        assert_eq!(zeros().uid(), "00000000-0000-4000-8000-000000000000");
        let ones = Entropy::new(|bytes| bytes.fill(0xff));
        assert_eq!(ones.uid(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes() {
        let (one, same, other) = (Entropy::seeded(1), Entropy::seeded(1), Entropy::seeded(2));
        let first = one.bytes::<16>();
        assert_eq!(same.bytes::<16>(), first);
        assert_ne!(other.bytes::<16>(), first);
        assert_ne!(one.bytes::<16>(), first, "it goes on");
        // Committed seeds are worth something as long as this holds.
        assert_eq!(Entropy::seeded(0).bytes(), [0xaf, 0xf4]);
    }

    #[test]
    fn generated_names_fit_into_a_label() {
        assert_eq!(zeros().name("web-"), "web-bbbbb");
        assert_eq!(zeros().name(&"x".repeat(100)).len(), 63);
        assert_eq!(
            zeros()
                .name(&"ü".repeat(50))
                .chars()
                .filter(|letter| *letter == 'ü')
                .count(),
            29
        );
    }
}
