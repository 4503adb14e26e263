//! The data written to a connection: a number of bytes of the pattern, or as many as a time allows.

use super::Amount;
use super::pattern::Pattern;
use crate::station::TURN;
use eifel_base::time::{Duration, Instant};
use eifel_tcp::Connection;

/// Writing pauses while this number of bytes is unsent. Data written shortly before it is sent is
/// still in the CPU caches. The number is the bytes that [a station sends](crate::station::TURN)
/// between two turns plus a packet, with offload too, so no segment is cut short.
const UNSENT: u64 = (TURN + TURN / 4) as u64;

/// A body, and how much of it is written.
#[derive(Debug)]
pub struct Body {
    amount: Amount,
    pattern: Pattern,
    written: u64,
    /// When writing ends. Never for a number of bytes, and before [`begin`](Self::begin).
    until: Instant,
}

impl Body {
    /// Makes a body with nothing written yet.
    pub fn new(amount: Amount) -> Self {
        Self { amount, pattern: Pattern::new(), written: 0, until: Instant::NEVER }
    }

    /// Starts the time of a body that a time limits.
    pub fn begin(&mut self, now: Instant) {
        if let Amount::Time(length) = self.amount {
            self.until = now + length;
        }
    }

    /// Ends the body: nothing more is written.
    pub fn stop(&mut self) {
        self.amount = Amount::Time(Duration::ZERO);
        self.until = Instant::ZERO;
    }

    /// Returns the number of bytes written.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Returns the time that ends the body; never if it is over, or if a number of bytes ends it.
    pub fn due(&self, now: Instant) -> Instant {
        if self.until > now { self.until } else { Instant::NEVER }
    }

    /// Writes as many bytes as there is room for. Returns whether the body is complete.
    pub fn write(&mut self, now: Instant, connection: &mut Connection) -> bool {
        loop {
            let left = match self.amount {
                Amount::Bytes(bytes) => bytes - self.written,
                Amount::Time(_) if now < self.until => u64::MAX,
                Amount::Time(_) => 0,
            };
            if left == 0 {
                return true;
            }
            if connection.end() - connection.engine().nxt() >= UNSENT {
                return false;
            }
            match connection.write(self.pattern.from(self.written, left)) {
                0 => return false,
                count => self.written += count as u64,
            }
        }
    }
}
