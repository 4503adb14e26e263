//! The seed of a run's randomness.

/// Returns the seed of a repetition. Each random element of the run derives its stream from this
/// seed and its own name. Repetition 0 has the scenario's seed itself. For other repetitions,
/// SplitMix64's finaliser mixes the seed and the repetition.
pub const fn of_repetition(seed: u64, repetition: u32) -> u64 {
    if repetition == 0 {
        return seed;
    }
    let mut mixed = seed.wrapping_add((repetition as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_repetition_has_a_seed_of_its_own() {
        let mut seeds: Vec<u64> =
            (0..1000).flat_map(|repetition| [of_repetition(1, repetition), of_repetition(2, repetition)]).collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 2000);
        assert_eq!(of_repetition(7, 0), 7);
    }
}
