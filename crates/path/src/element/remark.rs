//! Routers that damage the ECN field: they clear it or set it to congestion experienced, on packets
//! of any kind.

use crate::config::ConfigError;
use crate::element::Fate;
use crate::parcel::Mark;
use crate::stream::Stream;

/// The probability of each fault.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RemarkConfig {
    /// Probability that the field is cleared.
    pub clear: f64,
    /// Probability that a field that was not cleared is set to congestion experienced.
    pub forge: f64,
}

impl RemarkConfig {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        ConfigError::unless_probability(self.clear, "ecn_faults.clear")?;
        ConfigError::unless_probability(self.forge, "ecn_faults.forge")
    }
}

#[derive(Debug)]
pub struct Remark {
    config: RemarkConfig,
    stream: Stream,
}

impl Remark {
    pub(super) fn new(config: RemarkConfig, stream: Stream) -> Self {
        Self { config, stream }
    }

    pub(super) fn meet(&mut self) -> Fate {
        if self.stream.chance(self.config.clear) {
            Fate::Marked(Mark::Cleared)
        } else if self.stream.chance(self.config.forge) {
            Fate::Marked(Mark::Congestion)
        } else {
            Fate::Pass
        }
    }
}
