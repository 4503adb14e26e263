//! A slow reader: an application that reads a number of bytes at once, and then pauses.

use crate::end::End;
use eifel_base::time::Instant;
use eifel_path::draw::Draw;
use eifel_path::stream::Stream;

/// The readers at both ends of a flow. Each starts its wait when data becomes readable.
pub struct Reader {
    /// The most bytes that one read takes.
    bytes: u64,
    every: Draw,
    /// For each end: the stream that draws its waits, and the time of its next read. The time is
    /// [`Instant::NEVER`] while nothing is readable.
    ends: [(Stream, Instant); 2],
}

impl Reader {
    /// Creates readers that take at most `bytes` at once and wait for a time drawn from `every`
    /// before each read. Each end draws its waits from its own stream.
    pub fn new(bytes: u64, every: Draw, streams: [Stream; 2]) -> Self {
        Self { bytes, every, ends: streams.map(|stream| (stream, Instant::NEVER)) }
    }

    /// Returns the time of the earliest read.
    pub fn next(&self) -> Instant {
        self.ends[0].1.min(self.ends[1].1)
    }

    /// Schedules a read at `end`, unless a read is scheduled already. Returns whether it did.
    pub fn expect(&mut self, now: Instant, end: End) -> bool {
        let (stream, at) = &mut self.ends[end.index()];
        let idle = *at == Instant::NEVER;
        if idle {
            *at = now + self.every.draw(stream);
        }
        idle
    }

    /// Takes the read that is due at `end`. Returns the most bytes that it reads; `None` if it is
    /// not yet due.
    pub fn take(&mut self, now: Instant, end: End) -> Option<u64> {
        let at = &mut self.ends[end.index()].1;
        if now < *at {
            return None;
        }
        *at = Instant::NEVER;
        Some(self.bytes)
    }
}
