//! Random operations that are the same in every run (SplitMix64).

/// A stream of numbers.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 up to, not including, `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// Returns a number from `low` to `high`, both included.
    pub fn from(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// Returns a number from 1 to `10^magnitudes`. Each order of magnitude is equally likely.
    pub fn of_any_size(&mut self, magnitudes: u32) -> u64 {
        let top = 10_u64.pow(1 + self.below(u64::from(magnitudes)) as u32);
        1 + self.below(top)
    }

    /// Returns true once in `many` draws, on average.
    pub fn once_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }
}
