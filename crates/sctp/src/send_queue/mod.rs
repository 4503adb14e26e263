//! Messages to be sent, and sent chunks that may need retransmission (RFC 9260, sections 6.5, 6.6
//! and 6.9).

mod expiry;
mod sent;

use std::collections::VecDeque;
use std::sync::Arc;

use eifel_base::time::Instant;
use eifel_packet::sctp::{self, DataFlags};
use eifel_packet::seq::{Seq, wrap};
use eifel_recovery::association::Size;

use crate::packet::Data;
pub(crate) use expiry::{Expired, ForwardState, Fragments};
use sent::{Chunk, ChunkFields, SentChunks};

/// How to send a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Delivery {
    pub stream: u16,
    /// The payload protocol identifier of the application, in network byte order.
    pub ppid: [u8; 4],
    /// Whether the message may be delivered out of order.
    pub unordered: bool,
    /// Whether the peer should acknowledge the message at once (I bit).
    pub immediate: bool,
    /// When the message is given up if it has not arrived until then ("timed reliability", RFC
    /// 3758, section 4.1). `None` for a reliable message. A message that has begun to leave is given
    /// up only if the peer supports that.
    pub expires: Option<Instant>,
}

/// Why a message was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendError {
    /// The association is closed or shutting down.
    State,
    /// The stream does not exist.
    NoStream,
    /// The message has no bytes.
    Empty,
    /// The send buffer is full.
    Full,
}

impl core::fmt::Display for SendError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::State => "the association does not take data: expected one that is open and not shutting down",
            Self::NoStream => "no such stream: expected one of those that were agreed on",
            Self::Empty => "the message is empty: expected at least one byte",
            Self::Full => "the send buffer is full: expected as many bytes as the peer has acknowledged",
        })
    }
}

impl core::error::Error for SendError {}

/// The contents of a message.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Bytes(Arc<[u8]>),
    /// This number of zeros.
    Zeros(usize),
}

impl Content {
    fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Zeros(len) => *len,
        }
    }

    /// Returns the bytes from `start` to `end`; empty for zeros.
    #[inline]
    fn bytes(&self, start: usize, end: usize) -> &[u8] {
        match self {
            Self::Bytes(bytes) => &bytes[start..end],
            Self::Zeros(_) => &[],
        }
    }

    /// Returns whether both are zeros of equal length. Does not compare bytes.
    #[inline]
    fn is_equal(&self, other: &Self) -> bool {
        matches!((self, other), (Self::Zeros(len), Self::Zeros(another)) if len == another)
    }
}

/// A message with unsent bytes, and equal messages queued directly after it.
#[derive(Clone, Debug)]
struct QueuedMessage {
    delivery: Delivery,
    content: Content,
    /// Number of equal messages. Above 1 only for zeros.
    times: usize,
    /// Offset of the first message's next fragment, in bytes. `ssn` is the number given to its
    /// first fragment.
    offset: usize,
    ssn: u16,
    /// Whether the newest sent chunk was a whole message of this entry.
    follows: bool,
}

impl QueuedMessage {
    /// Returns the bytes of user data that were never sent.
    fn unsent(&self) -> usize {
        self.times * self.content.len() - self.offset
    }
}

/// Maximum number of ordered messages of a stream in the send window. With more, stream sequence
/// numbers would be ambiguous (RFC 9260, section 6.1) [rfc8540:3.48].
const MOST_ORDERED: u32 = (1 << 16) - 1;

/// An outgoing stream.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    /// The stream sequence number of the next ordered message.
    next: u16,
    /// Ordered messages that have begun to leave, and whose last chunk is not acknowledged.
    outstanding: u32,
}

/// The sender's messages. Positions count from 0 at the initial TSN.
#[derive(Clone, Debug)]
pub(crate) struct SendQueue {
    initial: Seq,
    waiting: VecDeque<QueuedMessage>,
    sent: SentChunks,
    /// By stream number, up to the highest stream with an ordered message sent.
    ordered: Vec<Stream>,
    streams: u16,
    /// The FORWARD TSN to send; `None` as long as no message was queued that expires.
    pub(crate) forward: Option<ForwardState>,
    limit: usize,
    /// Bytes of messages kept for sending or retransmission.
    held: usize,
    /// Maximum user data in a chunk, in bytes.
    most: usize,
}

impl SendQueue {
    pub(crate) fn new(initial: Seq, limit: usize) -> Self {
        Self {
            initial,
            waiting: VecDeque::new(),
            sent: SentChunks::default(),
            ordered: Vec::new(),
            streams: 0,
            forward: None,
            limit,
            held: 0,
            most: 0,
        }
    }

    /// Sets the number of streams.
    pub(crate) fn set_streams(&mut self, streams: u16) {
        self.streams = streams;
    }

    /// Limits chunks to `amdcs` bytes, chunk header included.
    pub(crate) fn set_amdcs(&mut self, amdcs: u32) {
        self.most = amdcs as usize - sctp::Data::HEADER_LEN;
        self.waiting.iter_mut().for_each(|message| message.follows = false);
    }

    pub(crate) fn streams(&self) -> u16 {
        self.streams
    }

    /// Returns the free space in the buffer, in bytes.
    pub(crate) fn room(&self) -> usize {
        self.limit.saturating_sub(self.held)
    }

    /// Queues a message `times` times. `times` may exceed 1 only for zeros. An empty
    /// buffer also accepts messages larger than the buffer.
    #[inline]
    pub(crate) fn push(&mut self, delivery: Delivery, content: Content, times: usize) -> Result<(), SendError> {
        let len = content.len() * times;
        if len == 0 {
            return Err(SendError::Empty);
        }
        if self.streams > 0 && delivery.stream >= self.streams {
            return Err(SendError::NoStream);
        }
        if len > self.room() && self.held > 0 {
            return Err(SendError::Full);
        }
        self.held += len;
        if delivery.expires.is_some() {
            self.forward.get_or_insert_default();
        }
        match self.waiting.back_mut() {
            Some(last) if last.delivery == delivery && last.content.is_equal(&content) => last.times += times,
            _ => self.waiting.push_back(QueuedMessage { delivery, content, times, offset: 0, ssn: 0, follows: false }),
        }
        Ok(())
    }

    /// Drops queued messages for streams that the peer does not have.
    pub(crate) fn drop_beyond_streams(&mut self) {
        let streams = self.streams;
        let held = &mut self.held;
        self.waiting.retain(|message| {
            let there = message.delivery.stream < streams;
            *held -= if there { 0 } else { message.unsent() };
            there
        });
    }

    /// Returns whether all messages are sent and acknowledged.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.sent.is_empty()
    }

    /// Returns whether a part of a message was never sent.
    #[inline]
    pub(crate) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Returns the size of the next new chunk. `None` if no message waits, or its stream has no
    /// free number.
    #[inline]
    pub(crate) fn next(&self) -> Option<Size> {
        let message = self.waiting.front()?;
        if self.sent.len() >= u64::from(MOST_ORDERED) && self.has_no_number(message) {
            return None;
        }
        Some(size((message.content.len() - message.offset).min(self.most)))
    }

    /// Returns whether a message has to wait because all numbers of its stream are in use.
    fn has_no_number(&self, message: &QueuedMessage) -> bool {
        let Delivery { stream, unordered, .. } = message.delivery;
        let used = self.ordered.get(usize::from(stream)).map_or(0, |stream| stream.outstanding);
        !unordered && message.offset == 0 && used >= MOST_ORDERED
    }

    /// Returns whether at least `bytes` of the first message, and of equal messages after it, were
    /// never sent.
    #[inline]
    pub(crate) fn has_unsent(&self, bytes: usize) -> bool {
        self.waiting.front().is_some_and(|message| message.unsent() >= bytes)
    }

    /// Returns the bytes of unsent user data, plus DATA headers. Stops counting at `enough`.
    pub(crate) fn unsent_up_to(&self, enough: usize) -> usize {
        let mut sum = 0;
        for message in &self.waiting {
            sum += message.unsent() + message.times * sctp::Data::HEADER_LEN;
            if sum >= enough {
                break;
            }
        }
        sum
    }

    /// Moves the next new chunk to the sent chunks, at the next position. Returns the chunk, with
    /// its user data; empty for zeros.
    #[inline(always)]
    pub(crate) fn advance(&mut self) -> (Data, &[u8]) {
        let tsn = wrap(self.sent.nxt(), self.initial);
        let message = self.waiting.front_mut().expect("there is a message");
        if message.follows
            && message.times > 1
            && let Some(place) = self.sent.extend_run_by_equal()
        {
            message.times -= 1;
            if !place.flags.has(DataFlags::UNORDERED) {
                let stream = &mut self.ordered[usize::from(place.stream)];
                stream.next = place.ssn.wrapping_add(1);
                stream.outstanding += 1;
            }
            return (place.data(tsn, message.content.len()), &[]);
        }
        self.advance_any(tsn)
    }

    /// Moves the next new chunk, whose TSN is `tsn`, to the sent chunks.
    #[inline(never)]
    fn advance_any(&mut self, tsn: Seq) -> (Data, &[u8]) {
        let most = self.most;
        let message = self.waiting.front_mut().expect("there is a message");
        let Delivery { stream, ppid, unordered, immediate, expires } = message.delivery;
        let mut flags = DataFlags::default();
        let mut ssn = message.ssn;
        if message.offset == 0 {
            flags = flags.with(DataFlags::BEGINNING);
            if !unordered {
                let index = usize::from(stream);
                if self.ordered.len() <= index {
                    self.ordered.resize(index + 1, Stream::default());
                }
                let stream = &mut self.ordered[index];
                ssn = stream.next;
                stream.next = ssn.wrapping_add(1);
                stream.outstanding += 1;
            }
        }
        if unordered {
            flags = flags.with(DataFlags::UNORDERED);
        }
        let start = message.offset;
        let len = message.content.len();
        let end = len.min(start + most);
        if end == len {
            flags = flags.with(DataFlags::ENDING);
            if immediate {
                flags = flags.with(DataFlags::IMMEDIATE);
            }
        }
        let expires = expires.unwrap_or(Instant::NEVER);
        let place = ChunkFields { flags, stream, ssn, ppid, expires };
        let data = place.data(tsn, end - start);
        if self.sent.extend_run(&place, &message.content, end - start) {
            (message.offset, message.follows) = (0, true);
            message.times -= 1;
            if message.times == 0 {
                self.waiting.pop_front();
            }
            return (data, &[]);
        }
        let content = if end < len {
            (message.offset, message.ssn) = (end, ssn);
            message.content.clone()
        } else if message.times > 1 {
            (message.offset, message.times) = (0, message.times - 1);
            message.follows = flags.has(DataFlags::WHOLE);
            message.content.clone()
        } else {
            self.waiting.pop_front().expect("it was looked at").content
        };
        let position = self.sent.nxt();
        self.sent.push(Chunk { place, content, start, end });
        self.chunk(position)
    }

    /// Returns the sent chunk at `position`, with its user data; empty for zeros.
    pub(crate) fn chunk(&self, position: u64) -> (Data, &[u8]) {
        let (Chunk { place, content, start, end }, ssn) = self.sent.get(position);
        let data = ChunkFields { ssn, ..*place }.data(wrap(position, self.initial), end - start);
        (data, content.bytes(*start, *end))
    }

    /// Drops the chunks below the cumulative TSN.
    #[inline]
    pub(crate) fn acknowledge(&mut self, una: u64) {
        let Self { sent, held, ordered, .. } = self;
        sent.drop_below(una, |chunk, count| {
            *held -= (chunk.end - chunk.start) * count;
            let ChunkFields { flags, stream, .. } = chunk.place;
            if flags.has(DataFlags::ENDING) && !flags.has(DataFlags::UNORDERED) {
                ordered[usize::from(stream)].outstanding -= count as u32;
            }
        });
    }

    pub(crate) fn initial(&self) -> Seq {
        self.initial
    }
}

/// Returns the size of a chunk with `data` bytes of user data.
fn size(data: usize) -> Size {
    Size { data: data as u32, wire: (sctp::Data::HEADER_LEN + data.next_multiple_of(4)) as u32 }
}

#[cfg(test)]
mod tests;
