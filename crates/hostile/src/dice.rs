//! The random draws of a case. A seed always gives the same draws.

use eifel_path::stream::Stream;

pub(crate) struct Dice {
    stream: Stream,
    seed: u64,
    algorithms: Algorithms,
    /// Algorithms drawn so far.
    drawn: u32,
}

/// The algorithms from which a case is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Algorithms {
    /// Those of `eifel_testkit::recorded`. The case stays the same when the registry grows.
    Recorded,
    /// The whole registry.
    All,
}

impl Dice {
    pub(crate) fn new(seed: u64, algorithms: Algorithms) -> Self {
        Self { stream: Stream::new(seed, &["hostile"]), seed, algorithms, drawn: 0 }
    }

    /// Returns the draws of a newcomer to the registry that may replace the algorithm drawn last.
    /// `None` if the case is drawn from recorded algorithms only.
    pub(crate) fn of_newcomer(&self, name: &str) -> Option<Self> {
        let stream = || Stream::new(self.seed, &["hostile", name, &self.drawn.to_string()]);
        (self.algorithms == Algorithms::All).then(|| Self { stream: stream(), ..*self })
    }

    /// Picks one of the recorded algorithms uniformly.
    pub(crate) fn algorithm<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        self.drawn += 1;
        self.one(of)
    }

    /// Returns true with this probability.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.stream.chance(probability)
    }

    /// Draws uniformly between `low` and `high`.
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.stream.unit()
    }

    /// Draws a whole number uniformly from `low` to `high`, both included.
    pub(crate) fn whole(&mut self, low: i64, high: i64) -> i64 {
        let span = (high - low) as f64 + 1.0;
        (low + (self.stream.unit() * span) as i64).min(high)
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
        let drawn = self.stream.unit();
        (drawn * drawn * most * 1000.0).round() / 1000.0
    }

    /// Picks one of the values uniformly.
    pub(crate) fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.whole(0, of.len() as i64 - 1) as usize]
    }
}
