//! Chance from a seed, so that a round that failed can be looked at again.

/// A generator of numbers: splitmix64, which is good enough to choose what happens next.
pub struct Dice(u64);

impl Dice {
    /// The same seed and part always give the same numbers.
    pub fn new(seed: u64, part: u64) -> Self {
        Self(
            seed.wrapping_mul(0xA24B_AED4_963E_E407)
                .wrapping_add(part.wrapping_mul(0x9FB2_1C65_1E98_DF25)),
        )
    }

    /// A number below a bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % bound
    }
}
