//! Messages at intervals: `from` writes a message, pauses, and writes the next, whatever `to` has read.

use super::Step;
use super::request_response::Drawn;
use crate::end::End;
use eifel_base::time::Duration;
use eifel_path::draw::Draw;

pub struct Messages {
    /// Bytes of a message.
    bytes: u32,
    /// From the writing of a message to that of the next.
    interval: Drawn<Draw>,
    /// Messages not written yet; `None` if there is no end of them.
    left: Option<u32>,
    /// Bytes that the receiver reads until the last message is there; `u64::MAX` without an end.
    total: u64,
    closes: bool,
}

impl Messages {
    /// Creates an application that writes `count` messages of `bytes`, or messages without end for
    /// `None`. `closes` says whether it closes after the last one.
    pub fn new(bytes: u32, interval: Drawn<Draw>, count: Option<u32>, closes: bool) -> Self {
        let total = count.map_or(u64::MAX, |count| u64::from(bytes) * u64::from(count));
        Self { bytes, interval, left: count, total, closes }
    }

    /// Writes the next message, at the start or after a pause.
    pub(super) fn write(&mut self) -> Step {
        if self.left == Some(0) {
            return Step { close: self.closes, ..Step::NOTHING };
        }
        self.left = self.left.map(|left| left - 1);
        let over = self.left == Some(0);
        let pause = || self.interval.of.draw(&mut self.interval.stream).max(SHORTEST_INTERVAL);
        let wake_after = (!over).then(pause);
        Step { write: u64::from(self.bytes), close: over && self.closes, wake_after, ..Step::NOTHING }
    }

    pub(super) fn read(&self, end: End, total: u64) -> Option<Step> {
        (total >= self.total && end == End::To).then_some(Step { done: true, ..Step::NOTHING })
    }

    pub(super) fn stop(&mut self) {
        self.left = Some(0);
    }

    /// Returns whether everything is written and the application now closes the connection.
    pub(super) fn is_over(&self) -> bool {
        self.closes && self.left == Some(0)
    }
}

/// The shortest interval. It makes time pass between two messages even if the draw is zero.
const SHORTEST_INTERVAL: Duration = Duration::from_nanos(1);
