//! An application that takes its time to read: so many bytes at once, and then not for a while.

use crate::slab::End;
use eifel_base::time::Instant;
use eifel_path::draw::Draw;
use eifel_path::stream::Stream;

/// The readers at both ends of a flow. Each waits from the moment at which there is something to read.
pub struct Reader {
    /// The most that is read at once.
    bytes: u64,
    every: Draw,
    /// By end: what its waits are drawn from, and when it reads next; never while there is nothing to read.
    ends: [(Stream, Instant); 2],
}

impl Reader {
    /// Readers of at most `bytes` at once, with a wait of `every` before each reading; the streams draw it.
    pub fn new(bytes: u64, every: Draw, streams: [Stream; 2]) -> Self {
        Self { bytes, every, ends: streams.map(|stream| (stream, Instant::NEVER)) }
    }

    /// When one of them reads.
    pub fn next(&self) -> Instant {
        self.ends[0].1.min(self.ends[1].1)
    }

    /// `end` can read: it will, unless it is waiting already. The answer is whether it was not.
    pub fn expect(&mut self, now: Instant, end: End) -> bool {
        let (stream, at) = &mut self.ends[end.index()];
        let idle = *at == Instant::NEVER;
        if idle {
            *at = now + self.every.draw(stream);
        }
        idle
    }

    /// Whether `end` reads now, and if so how much at most.
    pub fn take(&mut self, now: Instant, end: End) -> Option<u64> {
        let at = &mut self.ends[end.index()].1;
        if now < *at {
            return None;
        }
        *at = Instant::NEVER;
        Some(self.bytes)
    }
}
