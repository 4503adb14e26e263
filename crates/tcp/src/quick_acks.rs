//! Quick acknowledgements: the first segments of a connection are acknowledged one by one, as Linux does, unless the two ends
//! answer each other with data. RFC 5681, section 4.2, allows an acknowledgement for every segment.

use eifel_base::time::Instant;

use crate::connection::Connection;
use crate::settings::AckSettings;

/// The segments that are still to be acknowledged one by one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct QuickAcks {
    left: u32,
    /// When data arrived last.
    arrived: Instant,
}

impl QuickAcks {
    pub(crate) fn new(settings: &AckSettings) -> Self {
        Self { left: settings.quick, arrived: Instant::NEVER }
    }

    /// Returns whether acknowledgements are delayed as the settings say.
    pub(crate) fn are_over(&self) -> bool {
        self.left == 0
    }
}

impl Connection {
    /// Makes the acknowledgement of a segment with data due at once, for the first of them.
    pub(crate) fn acknowledge_quickly(&mut self, now: Instant) {
        let quick = &mut self.cold.quick;
        if quick.are_over() {
            return;
        }
        (quick.left, quick.arrived) = (quick.left - 1, now);
        self.receiver.due.now();
        self.stand(self.state);
    }

    /// Takes note of data that leaves. If it may answer what has just arrived, acknowledgements wait for such data from now
    /// on.
    pub(crate) fn end_quick_acks(&mut self, now: Instant) {
        let quick = &mut self.cold.quick;
        let answers = quick.arrived <= now && now < quick.arrived + self.cold.habits.ack_delay;
        if answers && !quick.are_over() {
            quick.left = 0;
            self.stand(self.state);
        }
    }
}
