//! A gate at the far end of the box. Closed, it holds arriving packets; when it opens, it releases
//! them back to back, in order.

use super::pipeline::Exit;
use eifel_base::time::Instant;

/// A gate, and the packets that wait for it to open.
#[derive(Debug, Default)]
pub struct Gate {
    /// When it opens by itself: never if it waits for an order. `None` if it is open.
    until: Option<Instant>,
    waiting: Vec<u32>,
}

impl Gate {
    /// Returns whether it holds arriving packets.
    pub(super) fn is_closed(&self) -> bool {
        self.until.is_some()
    }

    /// Closes the gate until `until`. A closed gate then opens at the later of the two times.
    pub(super) fn close(&mut self, until: Instant) {
        self.until = Some(self.until.map_or(until, |before| before.max(until)));
    }

    /// Returns the time at which it opens by itself; never if it is open, or waits for an order.
    pub(super) fn due(&self) -> Instant {
        self.until.unwrap_or(Instant::NEVER)
    }

    /// Opens the gate, and releases all waiting packets at `at`.
    pub(super) fn open(&mut self, at: Instant, exits: &mut Vec<Exit>) {
        self.until = None;
        exits.extend(self.waiting.drain(..).map(|handle| Exit::Arrived { handle, at }));
    }

    /// Handles a packet: passes it on, or holds it.
    pub(super) fn pass(&mut self, at: Instant, handle: u32, exits: &mut Vec<Exit>) {
        match self.is_closed() {
            true => self.waiting.push(handle),
            false => exits.push(Exit::Arrived { handle, at }),
        }
    }
}
