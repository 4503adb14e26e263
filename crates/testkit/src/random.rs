//! Random numbers for randomised tests. A seed gives the same numbers on every machine.

/// The generator splitmix64, seeded with this number.
pub struct Random(pub u64);

impl Random {
    /// Returns a number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % bound
    }

    /// Returns `true` half of the time.
    pub fn coin(&mut self) -> bool {
        self.below(2) == 1
    }

    /// Returns one of these values.
    pub fn one_of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize].clone()
    }

    /// Returns one of these numbers, or one more or less.
    pub fn near(&mut self, choices: &[u64]) -> u64 {
        (self.one_of(choices) + self.below(3)).saturating_sub(1)
    }

    /// Returns `true` with a probability of `per_mille` in a thousand.
    pub fn chance(&mut self, per_mille: u64) -> bool {
        self.below(1000) < per_mille
    }
}
