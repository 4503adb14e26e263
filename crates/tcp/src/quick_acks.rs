//! Quick acknowledgements: the first segments of a connection are acknowledged one by one, as in
//! Linux. This ends early if the two ends answer each other with data. RFC 5681, section 4.2,
//! allows an acknowledgement for every segment.

use eifel_base::time::Instant;

use crate::connection::Connection;
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
}

impl Connection {
    /// Makes the acknowledgement of a data segment due now, if it is one of the first segments.
    pub(crate) fn acknowledge_quickly(&mut self, now: Instant) {
        let quick = &mut self.rare.quick;
        if quick.are_over() {
            return;
        }
        (quick.left, quick.arrived) = (quick.left - 1, now);
        self.receiver.due.now();
        self.set_state(self.state);
    }

    /// Records that data is sent. If the data may answer what has just arrived, acknowledgements
    /// are delayed from now on.
    pub(crate) fn end_quick_acks(&mut self, now: Instant) {
        let quick = &mut self.rare.quick;
        let answers = quick.arrived <= now && now < quick.arrived + self.rare.open_settings.ack_delay;
        if answers && !quick.are_over() {
            quick.left = 0;
            self.set_state(self.state);
        }
    }
}
