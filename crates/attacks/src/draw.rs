//! Random numbers for an attack.

use crate::transcript::note;
use eifel_path::stream::Stream;

/// The draws of one attack. They depend on its name and a seed.
#[derive(Clone, Debug)]
pub(crate) struct Draw(Stream);

impl Draw {
    pub(crate) fn new(seed: u64, attack: &str) -> Self {
        Self(Stream::new(seed, &["attack", attack]))
    }

    /// Draws uniformly from `0..below`; `below` is at most 2^53.
    pub(crate) fn below(&mut self, below: u64) -> u64 {
        let drawn = (self.0.unit() * below as f64) as u64;
        note((below, drawn));
        drawn
    }

    /// Draws uniformly from `from..to`.
    pub(crate) fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.below(to - from)
    }

    /// Draws any 32-bit number.
    pub(crate) fn any(&mut self) -> u32 {
        self.below(1 << 32) as u32
    }

    /// Returns true with this probability.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        let drawn = self.0.chance(probability);
        note((probability, drawn));
        drawn
    }
}
