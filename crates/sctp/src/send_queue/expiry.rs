//! Messages that expire (RFC 3758, section 4.1).

use core::ops::Range;

use eifel_base::time::Instant;
use eifel_packet::sctp::DataFlags;

use super::sent::{Chunk, ChunkFields};
use super::{Delivery, SendQueue};

/// What has expired at the head of the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Expired {
    /// Messages that never began to leave. They are dropped.
    Unsent { stream: u16, messages: usize },
    /// A message whose first fragments were sent.
    Begun { stream: u16 },
}

/// What the peer was told of abandoned chunks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ForwardState {
    /// Whether a FORWARD TSN has to be sent now.
    pub(crate) pending: bool,
    /// The first position beyond the newest FORWARD TSN, and when this was sent.
    pub(crate) point: u64,
    pub(crate) sent_at: Instant,
}

/// The fragments of a message that were sent and are not acknowledged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fragments {
    pub(crate) positions: Range<u64>,
    /// Whether the message's last fragment is among them.
    pub(crate) complete: bool,
}

impl SendQueue {
    /// Returns whether a message was ever queued that expires.
    pub(crate) fn has_lifetimes(&self) -> bool {
        self.forward.is_some()
    }

    /// Drops the message at the head of the queue, and equal ones behind it, if they have expired and
    /// have no TSN (rule TR3). A message that has begun to leave stays.
    pub(crate) fn drop_expired(&mut self, now: Instant) -> Option<Expired> {
        let message = self.waiting.front().filter(|message| message.delivery.expires.is_some_and(|at| at <= now))?;
        let Delivery { stream, .. } = message.delivery;
        if message.offset > 0 {
            return Some(Expired::Begun { stream });
        }
        let (messages, unsent) = (message.times, message.unsent());
        self.held -= unsent;
        self.waiting.pop_front();
        Some(Expired::Unsent { stream, messages })
    }

    /// Gives the unsent rest of the message at the head of the queue the next position, as one empty
    /// last fragment. It is never sent. Without it, the peer would have all fragments below the new
    /// cumulative TSN, and would wait for the rest of the message.
    pub(crate) fn end_begun(&mut self) {
        let message = self.waiting.front_mut().expect("there is a message");
        let Delivery { stream, ppid, unordered, expires, .. } = message.delivery;
        let mut flags = DataFlags::default().with(DataFlags::ENDING);
        if unordered {
            flags = flags.with(DataFlags::UNORDERED);
        }
        let place = ChunkFields { flags, stream, ssn: message.ssn, ppid, expires: expires.unwrap_or(Instant::NEVER) };
        let (content, len) = (message.content.clone(), message.content.len());
        self.held -= len - message.offset;
        (message.offset, message.follows) = (0, false);
        message.times -= 1;
        if message.times == 0 {
            self.waiting.pop_front();
        }
        self.sent.push(Chunk { place, content, start: len, end: len });
    }

    /// Returns whether the message of the sent chunk at `position` has expired.
    pub(crate) fn has_expired(&self, now: Instant, position: u64) -> bool {
        self.sent.get(position).0.place.expires <= now
    }

    /// Returns the fragments of the message at the head of the queue, which has begun to leave.
    pub(crate) fn newest_message(&self) -> Fragments {
        let (una, nxt) = (self.sent.una(), self.sent.nxt());
        if una == nxt { Fragments { positions: nxt..nxt, complete: false } } else { self.message_at(nxt - 1) }
    }

    /// Returns the fragments of the message of a sent chunk.
    pub(crate) fn message_at(&self, position: u64) -> Fragments {
        let flags = |position: u64| self.sent.get(position).0.place.flags;
        let (una, nxt) = (self.sent.una(), self.sent.nxt());
        let mut start = position;
        while start > una && !flags(start).has(DataFlags::BEGINNING) {
            start -= 1;
        }
        let mut last = position;
        while !flags(last).has(DataFlags::ENDING) && last + 1 < nxt {
            last += 1;
        }
        Fragments { positions: start..last + 1, complete: flags(last).has(DataFlags::ENDING) }
    }

    /// Returns the stream and stream sequence number of a sent chunk; `None` if it is unordered.
    pub(crate) fn order_of(&self, position: u64) -> Option<(u16, u16)> {
        let (Chunk { place, .. }, ssn) = self.sent.get(position);
        (!place.flags.has(DataFlags::UNORDERED)).then_some((place.stream, ssn))
    }
}
