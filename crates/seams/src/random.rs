//! Seeded randomness for jitter. Owns one small generator; must never decide anything that needs to be secret.
//!
//! The generator is SplitMix64, written out: the same seed gives the same trace with every version of every
//! dependency, which is what makes a committed seed worth something.

use std::time::Duration;

/// A deterministic source of jitter.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// A generator for this seed.
    pub const fn seeded(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A generator of its own for a named user of one seed, so that users do not disturb each other's sequence.
    pub fn named(seed: u64, name: &str) -> Self {
        // FNV-1a: stable, and good enough to tell names apart.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Self::seeded(seed ^ hash)
    }

    /// The next 64 bits.
    pub const fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; 0 for a bound of 0. The bias of the remainder does not matter for jitter.
    pub const fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 { 0 } else { self.next_u64() % bound }
    }

    /// A duration from zero up to and including `longest`, in whole milliseconds as timers have them.
    pub fn up_to(&mut self, longest: Duration) -> Duration {
        let milliseconds = u64::try_from(longest.as_millis()).unwrap_or(u64::MAX - 1);
        Duration::from_millis(self.below(milliseconds.saturating_add(1)))
    }

    /// `base` moved by at most `percent` to either side.
    pub fn spread(&mut self, base: Duration, percent: u32) -> Duration {
        let reach = base * percent / 100;
        base.saturating_sub(reach) + self.up_to(reach * 2)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_sequence() {
        let mut random = Random::seeded(0);
        assert_eq!(random.next_u64(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(random.next_u64(), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn names_have_sequences_of_their_own() {
        assert_ne!(Random::named(1, "a").next_u64(), Random::named(1, "b").next_u64());
        assert_eq!(Random::named(1, "a").next_u64(), Random::named(1, "a").next_u64());
    }

    proptest! {
        #[test]
        fn spread_stays_within_its_percentage(seed: u64, milliseconds in 0u64..10_000_000) {
            let base = Duration::from_millis(milliseconds);
            let moved = Random::seeded(seed).spread(base, 20);
            prop_assert!(moved >= base * 80 / 100);
            prop_assert!(moved <= base * 120 / 100 + Duration::from_millis(1));
        }
    }
}
