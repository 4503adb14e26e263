//! Random streams, one for each random element. So adding an element shifts no draws of the others.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};

/// The random numbers of one element. They depend only on the run's seed and the element's name.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// Makes the stream of an element in the run of `seed`. The parts together name the element.
    pub fn new(seed: u64, name: &[&str]) -> Self {
        // FNV-1a over the seed and the parts; 0xFF, which no UTF-8 text contains, ends a part, so
        // that ["ab", "c"] and ["a", "bc"] differ. Seeding spreads the hash over the generator's
        // state by SplitMix64.
        let mut hash = FNV_OFFSET;
        let mut take = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME);
        seed.to_le_bytes().into_iter().for_each(&mut take);
        for part in name {
            part.bytes().for_each(&mut take);
            take(0xFF);
        }
        Self(Xoshiro256PlusPlus::seed_from_u64(hash))
    }

    /// Draws uniformly from [0, 1), in steps of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Draws uniformly from 0 to `count` - 1, up to a bias of 2^-64. Returns 0 for a `count` of 0.
    #[inline]
    pub fn below(&mut self, count: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(count)) >> 64) as u64
    }

    /// Returns true with this probability: never for 0, always for 1. Takes one draw in any case.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(seed: u64, name: &[&str]) -> Vec<f64> {
        let mut stream = Stream::new(seed, name);
        (0..8).map(|_| stream.unit()).collect()
    }

    #[test]
    fn a_stream_is_a_function_of_seed_and_name() {
        assert_eq!(draws(1, &["a", "loss"]), draws(1, &["a", "loss"]));
        assert_ne!(draws(1, &["a", "loss"]), draws(2, &["a", "loss"]));
        assert_ne!(draws(1, &["a", "loss"]), draws(1, &["b", "loss"]));
        assert_ne!(draws(1, &["ab", "c"]), draws(1, &["a", "bc"]));
        assert_ne!(draws(1, &["ab"]), draws(1, &["a", "b"]));
    }

    #[test]
    fn the_first_draws_never_change() {
        // A change here changes every published run: it needs a new version.
        let mut stream = Stream::new(1, &["bottleneck", "queue"]);
        assert_eq!([stream.0.next_u64(), stream.0.next_u64()], [44_544_289_902_262_833, 5_492_350_077_086_942_776]);
    }

    #[test]
    fn below_reaches_every_number_and_no_more() {
        let mut stream = Stream::new(7, &["x"]);
        let mut counts = [0; 5];
        (0..10_000).for_each(|_| counts[stream.below(5) as usize] += 1);
        // Standard deviation 40.
        assert!(counts.iter().all(|&count| (1_800..2_200).contains(&count)), "{counts:?}");
        assert_eq!((stream.below(1), stream.below(0)), (0, 0));
    }

    #[test]
    fn chance_keeps_its_ends_and_its_middle() {
        let mut stream = Stream::new(7, &["x"]);
        assert!((0..10_000).all(|_| !stream.chance(0.0)));
        assert!((0..10_000).all(|_| stream.chance(1.0)));
        let hits = (0..100_000).filter(|_| stream.chance(0.25)).count();
        // Standard deviation 137.
        assert!((24_400..25_600).contains(&hits), "{hits}");
    }

    #[test]
    fn neighbouring_seeds_are_not_correlated() {
        let (mut a, mut b) = (Stream::new(1, &["x"]), Stream::new(2, &["x"]));
        let sum: f64 = (0..100_000).map(|_| (a.unit() - 0.5) * (b.unit() - 0.5)).sum();
        // Variance of one product 1/144: standard deviation of the sum 26.
        assert!(sum.abs() < 120.0, "{sum}");
    }
}
