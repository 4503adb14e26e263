//! Quick acknowledgements: the first segments of a connection are acknowledged one by one, as in
//! Linux. This ends early if the two ends answer each other with data. RFC 5681, section 4.2,
//! allows an acknowledgement for every segment.

use eifel_base::time::{Duration, Instant};

use crate::settings::AckSettings;

/// State of quick acknowledgements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct QuickAcks {
    left: u32,
    /// When data last arrived; [`Instant::NEVER`] before any.
    arrived: Instant,
}

impl QuickAcks {
    pub(crate) fn new(settings: &AckSettings) -> Self {
        Self { left: settings.quick, arrived: Instant::NEVER }
    }

    /// Returns whether acknowledgements are delayed as usual.
    pub(crate) fn are_over(&self) -> bool {
        self.left == 0
    }

    /// Notes a data segment. Returns whether it is one of the first, which are acknowledged at once.
    pub(crate) fn on_arrival(&mut self, now: Instant) -> bool {
        if self.are_over() {
            return false;
        }
        (self.left, self.arrived) = (self.left - 1, now);
        true
    }

    /// Notes that data are sent. Returns whether the data may answer what has just arrived, and quick
    /// acknowledgements end by that. `delay` is that of acknowledgements.
    pub(crate) fn on_sent(&mut self, now: Instant, delay: Duration) -> bool {
        let ends = self.arrived <= now && now < self.arrived + delay && !self.are_over();
        if ends {
            self.left = 0;
        }
        ends
    }
}
