//! What a case is drawn from: the same seed, the same draws.

use eifel_path::stream::Stream;

/// A stream of draws.
pub(crate) struct Dice(Stream);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Stream::new(seed, &["hostile"]))
    }

    /// True with this probability.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.0.chance(probability)
    }

    /// Uniform between the two.
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.unit()
    }

    /// A whole number, each from `low` to `high` as likely.
    pub(crate) fn whole(&mut self, low: i64, high: i64) -> i64 {
        let span = (high - low) as f64 + 1.0;
        (low + (self.0.unit() * span) as i64).min(high)
    }

    /// A whole number from `low`, 1 or more, to `high`: each order of magnitude is as likely.
    pub(crate) fn scale(&mut self, low: i64, high: i64) -> i64 {
        let exponent = self.between(libm::log(low as f64), libm::log(high as f64 + 1.0));
        (libm::exp(exponent) as i64).clamp(low, high)
    }

    /// As [`scale`](Self::scale), to a thousandth.
    pub(crate) fn scale_of_time(&mut self, low: f64, high: f64) -> f64 {
        let drawn = libm::exp(self.between(libm::log(low), libm::log(high)));
        (drawn * 1000.0).round() / 1000.0
    }

    /// A probability, to a thousandth; small ones are likelier.
    pub(crate) fn share(&mut self, most: f64) -> f64 {
        let drawn = self.0.unit();
        (drawn * drawn * most * 1000.0).round() / 1000.0
    }

    /// One of them.
    pub(crate) fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.whole(0, of.len() as i64 - 1) as usize]
    }
}
