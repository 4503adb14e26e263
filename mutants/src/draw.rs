//! Draws a sample from all possible changes: a crate in turn, then a kind, then a place.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::change::{Change, Kind};

/// A change with its crate and its file, by path in the repository.
#[derive(Clone, Debug)]
pub struct Drawn {
    pub krate: String,
    pub file: String,
    pub change: Change,
}

/// The generator splitmix64.
pub struct Dice(pub u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }
}

/// All possible changes, by crate and by kind.
pub type All = BTreeMap<String, BTreeMap<Kind, Vec<Drawn>>>;

/// Draws up to `count` changes that do not overlap.
pub fn draw(all: &All, count: usize, dice: &mut Dice) -> Vec<Drawn> {
    let mut taken: BTreeMap<&str, Vec<Range<usize>>> = BTreeMap::new();
    let mut drawn = Vec::new();
    let mut left: BTreeSet<&String> = all.keys().collect();
    while drawn.len() < count && !left.is_empty() {
        for (krate, kinds) in all {
            if drawn.len() == count || !left.contains(krate) {
                continue;
            }
            // After twenty draws inside earlier ones, the crate is deemed exhausted.
            let free = (0..20).find_map(|_| {
                let kinds: Vec<_> = kinds.values().filter(|places| !places.is_empty()).collect();
                let places = kinds.get(dice.below(kinds.len().max(1)))?;
                let one = &places[dice.below(places.len())];
                let there = taken.entry(&one.file).or_default();
                let at = &one.change.at;
                let clear = there.iter().all(|other| at.end < other.start || other.end < at.start);
                clear.then(|| there.push(at.clone())).map(|()| one.clone())
            });
            match free {
                Some(one) => drawn.push(one),
                None => drop(left.remove(krate)),
            }
        }
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::changes;

    #[test]
    fn a_sample_takes_crates_in_turn_and_nothing_within_another() {
        let text = "fn f(a: u32) -> u32 { g(a + 1); if a < 2 { 3 } else { 4 * a } }";
        let mut all = All::new();
        for krate in ["one", "two"] {
            for change in changes(text).unwrap() {
                let file = format!("{krate}.rs");
                let drawn = Drawn { krate: krate.to_owned(), file, change };
                all.entry(krate.to_owned()).or_default().entry(drawn.change.kind).or_default().push(drawn);
            }
        }
        let sample = draw(&all, 6, &mut Dice(5));
        assert_eq!(sample.len(), 6);
        for krate in ["one", "two"] {
            let mine: Vec<_> = sample.iter().filter(|one| one.krate == krate).map(|one| &one.change.at).collect();
            assert_eq!(mine.len(), 3);
            for (place, one) in mine.iter().enumerate() {
                assert!(mine[..place].iter().all(|other| one.end < other.start || other.end < one.start));
            }
        }
        let again = draw(&all, 6, &mut Dice(5));
        assert_eq!(format!("{sample:?}"), format!("{again:?}"));
        // The sample stays smaller than `count` if no more changes fit.
        assert!(draw(&all, 1000, &mut Dice(5)).len() < 20);
    }
}
