//! Loss in bursts: a chain of two states, each with its own probability of loss.
//!
//! From: Gilbert, *Capacity of a Burst-Noise Channel*, 1960, and Elliott, 1963. The current state
//! decides whether a parcel is lost. Then the state may change for the next parcel. The chain
//! starts in the good state and steps once per parcel.

use super::Fate;
use crate::config::ConfigError;
use crate::parcel::DropCause;
use crate::stream::Stream;

/// The four parameters of the model.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GilbertElliottConfig {
    /// Probability p of a change from the good to the bad state after a parcel.
    pub good_to_bad: f64,
    /// Probability r of a change from the bad to the good state after a parcel. A stay in the bad
    /// state lasts 1/r parcels on average.
    pub bad_to_good: f64,
    /// Probability of loss in the good state: 1 - k; 0 in Gilbert's own model.
    pub loss_in_good: f64,
    /// Probability of loss in the bad state: 1 - h.
    pub loss_in_bad: f64,
}

impl GilbertElliottConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        ConfigError::unless_probability(self.good_to_bad, "loss.good_to_bad")?;
        ConfigError::unless_probability(self.bad_to_good, "loss.bad_to_good")?;
        ConfigError::unless_probability(self.loss_in_good, "loss.loss_in_good")?;
        ConfigError::unless_probability(self.loss_in_bad, "loss.loss_in_bad")
    }
}

#[derive(Debug)]
pub struct GilbertElliott {
    config: GilbertElliottConfig,
    state: State,
    stream: Stream,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Good,
    Bad,
}

impl GilbertElliott {
    pub(super) fn new(config: GilbertElliottConfig, stream: Stream) -> Self {
        Self { config, state: State::Good, stream }
    }

    pub(super) fn meet(&mut self) -> Fate {
        let (loss, leave, other) = match self.state {
            State::Good => (self.config.loss_in_good, self.config.good_to_bad, State::Bad),
            State::Bad => (self.config.loss_in_bad, self.config.bad_to_good, State::Good),
        };
        let lost = self.stream.chance(loss);
        if self.stream.chance(leave) {
            self.state = other;
        }
        if lost { Fate::Drop(DropCause::GilbertElliott) } else { Fate::Pass }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_that_always_changes_drops_every_second_parcel() {
        let config = GilbertElliottConfig { good_to_bad: 1.0, bad_to_good: 1.0, loss_in_good: 0.0, loss_in_bad: 1.0 };
        let mut chain = GilbertElliott::new(config, Stream::new(1, &["x"]));
        let fates: Vec<_> = (0..4).map(|_| chain.meet()).collect();
        let lost = Fate::Drop(DropCause::GilbertElliott);
        assert_eq!(fates, [Fate::Pass, lost, Fate::Pass, lost]);
    }

    #[test]
    fn losses_come_as_often_and_in_such_bursts_as_the_chain_says() {
        let config = GilbertElliottConfig { good_to_bad: 0.02, bad_to_good: 0.25, loss_in_good: 0.0, loss_in_bad: 1.0 };
        let mut chain = GilbertElliott::new(config, Stream::new(5, &["x"]));
        let lost: Vec<bool> = (0..200_000).map(|_| chain.meet() != Fate::Pass).collect();
        let losses = lost.iter().filter(|&&lost| lost).count() as f64;
        let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        // Share of parcels in the bad state: 0.02 / 0.27; mean burst: 1 / 0.25.
        assert!((losses / 200_000.0 - 0.02 / 0.27).abs() < 0.005, "{losses}");
        assert!((losses / bursts - 4.0).abs() < 0.2, "{losses} in {bursts}");
    }
}
