//! The random draws of a case. A seed always gives the same draws.

use eifel_path::stream::Stream;

pub(crate) struct Dice(Stream);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Stream::new(seed, &["hostile"]))
    }

    /// Returns true with this probability.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.0.chance(probability)
    }

    /// Draws uniformly between `low` and `high`.
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.unit()
    }

    /// Draws a whole number uniformly from `low` to `high`, both included.
    pub(crate) fn whole(&mut self, low: i64, high: i64) -> i64 {
        let span = (high - low) as f64 + 1.0;
        (low + (self.0.unit() * span) as i64).min(high)
    }

    /// Draws a whole number from `low` (at least 1) to `high`, uniformly on a log scale.
    pub(crate) fn scale(&mut self, low: i64, high: i64) -> i64 {
        let exponent = self.between(libm::log(low as f64), libm::log(high as f64 + 1.0));
        (libm::exp(exponent) as i64).clamp(low, high)
    }

    /// Draws like [`scale`](Self::scale), rounded to a thousandth.
    pub(crate) fn scale_of_time(&mut self, low: f64, high: f64) -> f64 {
        let drawn = libm::exp(self.between(libm::log(low), libm::log(high)));
        (drawn * 1000.0).round() / 1000.0
    }

    /// Draws a probability up to `most`, rounded to a thousandth. Small ones are likelier.
    pub(crate) fn share(&mut self, most: f64) -> f64 {
        let drawn = self.0.unit();
        (drawn * drawn * most * 1000.0).round() / 1000.0
    }

    /// Picks one of the values uniformly.
    pub(crate) fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.whole(0, of.len() as i64 - 1) as usize]
    }
}
