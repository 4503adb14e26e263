//! Messages that wait, and chunks that left and may have to leave again (RFC 9260, sections 6.5, 6.6 and 6.9).

mod sent;

use std::collections::VecDeque;
use std::sync::Arc;

use eifel_packet::sctp::{Data, DataFlags};
use eifel_packet::seq::{Seq, wrap};
use eifel_recovery::association::Size;

use sent::{Chunk, Place, Sent};

/// How a message is to be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Delivery {
    pub stream: u16,
    /// The application's identifier, in the byte order of the wire.
    pub ppid: [u8; 4],
    /// Delivered without regard to order.
    pub unordered: bool,
    /// The peer is asked to acknowledge the message at once.
    pub immediate: bool,
}

/// Why a message was not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// The association is not open, or about to end.
    State,
    /// There is no such stream.
    NoStream,
    /// A message has at least one byte.
    Empty,
    /// The send buffer is full.
    Full,
}

impl core::fmt::Display for Refused {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::State => "the association does not take data: expected one that is open and not shutting down",
            Self::NoStream => "no such stream: expected one of those that were agreed on",
            Self::Empty => "the message is empty: expected at least one byte",
            Self::Full => "the send buffer is full: expected as many bytes as the peer has acknowledged",
        })
    }
}

impl core::error::Error for Refused {}

/// What is in a message.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Bytes(Arc<[u8]>),
    /// So many zeros.
    Counted(usize),
}

impl Content {
    fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Counted(len) => *len,
        }
    }

    /// Returns whether both are known to be equal without a look at bytes.
    #[inline]
    fn is_equal(&self, other: &Self) -> bool {
        matches!((self, other), (Self::Counted(len), Self::Counted(another)) if len == another)
    }
}

/// The contents of counted messages, as long as a chunk can be.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// Returns `count` zeros, at most 65536.
pub(crate) fn zeros(len: usize) -> &'static [u8] {
    &ZEROS[..len]
}

/// A message with unsent parts, and equal ones behind it.
#[derive(Clone, Debug)]
struct Waiting {
    delivery: Delivery,
    content: Content,
    /// How many messages these are; more than one only where their contents are counted.
    times: usize,
    /// Where the next fragment of the first begins, and the number that its first fragment was given.
    offset: usize,
    ssn: u16,
    /// Whether the newest chunk that left was a whole message of these.
    follows: bool,
}

impl Waiting {
    /// Returns the bytes of user data that were never sent.
    fn unsent(&self) -> usize {
        self.times * self.content.len() - self.offset
    }
}

/// The most ordered messages of a stream between the first byte that is not acknowledged and the newest that left: with
/// more of them, two would have the same number (RFC 9260, section 6.1) [rfc8540:3.48].
const MOST_ORDERED: u32 = (1 << 16) - 1;

/// A stream to send on.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    /// The number of the next ordered message.
    next: u16,
    /// Ordered messages that have begun to leave, and whose end is not acknowledged.
    outstanding: u32,
}

/// The sender's messages. Positions count from 0 at the initial TSN.
#[derive(Clone, Debug)]
pub(crate) struct SendQueue {
    initial: Seq,
    waiting: VecDeque<Waiting>,
    sent: Sent,
    /// Those that ordered messages have left on, and those below.
    ordered: Vec<Stream>,
    streams: u16,
    limit: usize,
    /// Bytes of messages that are kept.
    held: usize,
    /// Bytes of user data in a chunk, at the most.
    most: usize,
}

impl SendQueue {
    pub(crate) fn new(initial: Seq, limit: usize) -> Self {
        Self {
            initial,
            waiting: VecDeque::new(),
            sent: Sent::default(),
            ordered: Vec::new(),
            streams: 0,
            limit,
            held: 0,
            most: 0,
        }
    }

    /// Takes note of how many streams there are.
    pub(crate) fn agree(&mut self, streams: u16) {
        self.streams = streams;
    }

    /// Limits chunks to `amdcs` bytes with their header.
    pub(crate) fn set_amdcs(&mut self, amdcs: u32) {
        self.most = amdcs as usize - Data::HEADER_LEN;
        self.waiting.iter_mut().for_each(|message| message.follows = false);
    }

    /// Returns the number of streams.
    pub(crate) fn streams(&self) -> u16 {
        self.streams
    }

    /// Bytes that the buffer has room for.
    pub(crate) fn room(&self) -> usize {
        self.limit.saturating_sub(self.held)
    }

    /// Takes a message `times` times; more than once only if it is counted. What is larger than the buffer is taken where
    /// the buffer is empty.
    #[inline]
    pub(crate) fn push(&mut self, delivery: Delivery, content: Content, times: usize) -> Result<(), Refused> {
        let len = content.len() * times;
        if len == 0 {
            return Err(Refused::Empty);
        }
        if self.streams > 0 && delivery.stream >= self.streams {
            return Err(Refused::NoStream);
        }
        if len > self.room() && self.held > 0 {
            return Err(Refused::Full);
        }
        self.held += len;
        match self.waiting.back_mut() {
            Some(last) if last.delivery == delivery && last.content.is_equal(&content) => last.times += times,
            _ => self.waiting.push_back(Waiting { delivery, content, times, offset: 0, ssn: 0, follows: false }),
        }
        Ok(())
    }

    /// Drops messages for streams that the peer does not have.
    pub(crate) fn drop_beyond_streams(&mut self) {
        let streams = self.streams;
        let held = &mut self.held;
        self.waiting.retain(|message| {
            let there = message.delivery.stream < streams;
            *held -= if there { 0 } else { message.unsent() };
            there
        });
    }

    /// Returns whether everything was sent and acknowledged.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.sent.is_empty()
    }

    /// Returns whether a part of a message was never sent.
    #[inline]
    pub(crate) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Returns the size of the next new chunk, if one may leave.
    #[inline]
    pub(crate) fn next(&self) -> Option<Size> {
        let message = self.waiting.front()?;
        if self.sent.len() >= u64::from(MOST_ORDERED) && self.has_no_number(message) {
            return None;
        }
        Some(size((message.content.len() - message.offset).min(self.most)))
    }

    /// Whether a message has to wait, because all numbers of its stream are in use.
    fn has_no_number(&self, message: &Waiting) -> bool {
        let Delivery { stream, unordered, .. } = message.delivery;
        let used = self.ordered.get(usize::from(stream)).map_or(0, |stream| stream.outstanding);
        !unordered && message.offset == 0 && used >= MOST_ORDERED
    }

    /// Bytes of user data that were never sent, as far as they fill a packet of `enough` bytes.
    pub(crate) fn unsent_up_to(&self, enough: usize) -> usize {
        let mut sum = 0;
        for message in &self.waiting {
            sum += message.unsent() + message.times * Data::HEADER_LEN;
            if sum >= enough {
                break;
            }
        }
        sum
    }

    /// Makes the next new chunk one that was sent, and returns its flags, stream, number and identifier. Its position is the
    /// next.
    // Returned through memory, the small numbers would be read as one word before they are stored.
    #[inline(always)]
    pub(crate) fn advance(&mut self) -> (DataFlags, u16, u16, [u8; 4]) {
        let most = self.most;
        let message = self.waiting.front_mut().expect("there is a message");
        if message.follows
            && message.times > 1
            && let Some(Place { flags, stream, ssn, ppid }) = self.sent.repeat()
        {
            message.times -= 1;
            if !flags.has(DataFlags::UNORDERED) {
                let stream = &mut self.ordered[usize::from(stream)];
                stream.next = ssn.wrapping_add(1);
                stream.outstanding += 1;
            }
            return (flags, stream, ssn, ppid);
        }
        let Delivery { stream, ppid, unordered, immediate } = message.delivery;
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
        let place = Place { flags, stream, ssn, ppid };
        if self.sent.prolong(&place, &message.content, end - start) {
            (message.offset, message.follows) = (0, true);
            message.times -= 1;
            if message.times == 0 {
                self.waiting.pop_front();
            }
            return (flags, stream, ssn, ppid);
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
        self.sent.push(Chunk { place, content, start, end });
        (flags, stream, ssn, ppid)
    }

    /// Returns a chunk that was sent.
    #[inline]
    pub(crate) fn chunk(&self, position: u64, also: DataFlags) -> Data<'_> {
        let (Chunk { place, content, start, end }, ssn) = self.sent.get(position);
        Data {
            flags: place.flags.with(also),
            tsn: wrap(position, self.initial),
            stream: place.stream,
            ssn,
            ppid: place.ppid,
            payload: match content {
                Content::Bytes(bytes) => &bytes[*start..*end],
                Content::Counted(_) => zeros(end - start),
            },
        }
    }

    /// Drops the chunks that the peer has in order.
    #[inline]
    pub(crate) fn acknowledge(&mut self, una: u64) {
        let Self { sent, held, ordered, .. } = self;
        sent.drop_below(una, |chunk, count| {
            *held -= (chunk.end - chunk.start) * count;
            let Place { flags, stream, .. } = chunk.place;
            if flags.has(DataFlags::ENDING) && !flags.has(DataFlags::UNORDERED) {
                ordered[usize::from(stream)].outstanding -= count as u32;
            }
        });
    }

    /// Returns the initial TSN.
    pub(crate) fn initial(&self) -> Seq {
        self.initial
    }
}

/// Returns the size of a chunk with `data` bytes of user data.
fn size(data: usize) -> Size {
    Size { data: data as u32, wire: (Data::HEADER_LEN + data.next_multiple_of(4)) as u32 }
}

#[cfg(test)]
mod tests;
