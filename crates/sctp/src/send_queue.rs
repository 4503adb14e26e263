//! Messages that wait, and chunks that left and may have to leave again (RFC 9260, sections 6.5, 6.6 and 6.9).

use std::collections::VecDeque;
use std::sync::Arc;

use eifel_packet::sctp::{Data, DataFlags};
use eifel_packet::seq::{Seq, wrap};
use eifel_recovery::association::Size;

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
}

/// The contents of counted messages, as long as a chunk can be.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// Returns `count` zeros, at most 65536.
pub(crate) fn zeros(len: usize) -> &'static [u8] {
    &ZEROS[..len]
}

/// A message with unsent parts.
#[derive(Clone, Debug)]
struct Waiting {
    delivery: Delivery,
    content: Content,
    /// Where the next fragment begins, and the number that the first one was given.
    offset: usize,
    ssn: u16,
}

/// A chunk that has left.
#[derive(Clone, Debug)]
struct Sent {
    flags: DataFlags,
    stream: u16,
    ssn: u16,
    ppid: [u8; 4],
    content: Content,
    start: usize,
    end: usize,
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
    /// Chunks from position `una` on.
    sent: VecDeque<Sent>,
    una: u64,
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
            sent: VecDeque::new(),
            una: 0,
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
    }

    /// Returns the number of streams.
    pub(crate) fn streams(&self) -> u16 {
        self.streams
    }

    /// Bytes that the buffer has room for.
    pub(crate) fn room(&self) -> usize {
        self.limit.saturating_sub(self.held)
    }

    /// Takes a message. One that is larger than the buffer is taken where the buffer is empty.
    pub(crate) fn push(&mut self, delivery: Delivery, content: Content) -> Result<(), Refused> {
        if content.len() == 0 {
            return Err(Refused::Empty);
        }
        if self.streams > 0 && delivery.stream >= self.streams {
            return Err(Refused::NoStream);
        }
        if content.len() > self.room() && self.held > 0 {
            return Err(Refused::Full);
        }
        self.held += content.len();
        self.waiting.push_back(Waiting { delivery, content, offset: 0, ssn: 0 });
        Ok(())
    }

    /// Drops messages for streams that the peer does not have.
    pub(crate) fn drop_beyond_streams(&mut self) {
        let streams = self.streams;
        let held = &mut self.held;
        self.waiting.retain(|message| {
            let there = message.delivery.stream < streams;
            *held -= if there { 0 } else { message.content.len() };
            there
        });
    }

    /// Returns whether everything was sent and acknowledged.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.sent.is_empty()
    }

    /// Returns the size of the next new chunk, if one may leave.
    #[inline]
    pub(crate) fn next(&self) -> Option<Size> {
        let message = self.waiting.front()?;
        if self.sent.len() >= MOST_ORDERED as usize && self.has_no_number(message) {
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
            sum += message.content.len() - message.offset + Data::HEADER_LEN;
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
        let content = if end == len {
            self.waiting.pop_front().expect("it was looked at").content
        } else {
            (message.offset, message.ssn) = (end, ssn);
            message.content.clone()
        };
        self.sent.push_back(Sent { flags, stream, ssn, ppid, content, start, end });
        (flags, stream, ssn, ppid)
    }

    /// Returns a chunk that was sent.
    #[inline]
    pub(crate) fn chunk(&self, position: u64, also: DataFlags) -> Data<'_> {
        let sent = &self.sent[(position - self.una) as usize];
        Data {
            flags: sent.flags.with(also),
            tsn: wrap(position, self.initial),
            stream: sent.stream,
            ssn: sent.ssn,
            ppid: sent.ppid,
            payload: match &sent.content {
                Content::Bytes(bytes) => &bytes[sent.start..sent.end],
                Content::Counted(_) => zeros(sent.end - sent.start),
            },
        }
    }

    /// Drops the chunks that the peer has in order.
    #[inline]
    pub(crate) fn acknowledge(&mut self, una: u64) {
        while self.una < una {
            let sent = self.sent.pop_front().expect("what is acknowledged was sent");
            self.held -= sent.end - sent.start;
            self.una += 1;
            if sent.flags.has(DataFlags::ENDING) && !sent.flags.has(DataFlags::UNORDERED) {
                self.ordered[usize::from(sent.stream)].outstanding -= 1;
            }
        }
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
mod tests {
    use super::*;

    fn bytes<const N: usize>(bytes: [u8; N]) -> Content {
        Content::Bytes(bytes.into())
    }

    #[test]
    fn a_large_message_is_fragmented_and_numbers_count_messages() {
        let mut queue = SendQueue::new(Seq(u32::MAX), 100);
        queue.agree(2);
        queue.set_amdcs(16 + 4);
        let delivery = Delivery { stream: 1, ..Delivery::default() };
        queue.push(delivery, bytes(*b"ten bytes!")).unwrap();
        queue.push(Delivery { unordered: true, ..delivery }, bytes(*b"u")).unwrap();
        queue.push(delivery, bytes(*b"next")).unwrap();
        let mut seen = Vec::new();
        while let Some(size) = queue.next() {
            let position = queue.sent.len() as u64;
            queue.advance();
            let chunk = queue.chunk(position, DataFlags::default());
            assert_eq!((size.data as usize, size.wire % 4), (chunk.payload.len(), 0));
            seen.push((chunk.tsn.0, chunk.flags.0, chunk.ssn, chunk.payload.to_vec()));
        }
        let expected = [
            (u32::MAX, 2, 0, b"ten ".to_vec()),
            (0, 0, 0, b"byte".to_vec()),
            (1, 1, 0, b"s!".to_vec()),
            (2, 7, 0, b"u".to_vec()),
            (3, 3, 1, b"next".to_vec()),
        ];
        assert_eq!(seen, expected);
        assert_eq!(queue.room(), 85);
        queue.acknowledge(3);
        assert_eq!((queue.room(), queue.is_empty()), (95, false));
        queue.acknowledge(5);
        assert_eq!((queue.room(), queue.is_empty()), (100, true));
    }

    /// [rfc8540:3.48]
    #[test]
    fn a_stream_has_no_more_ordered_messages_outstanding_than_numbers() {
        let mut queue = SendQueue::new(Seq(7), 1 << 20);
        queue.agree(2);
        queue.set_amdcs(16 + 4);
        let (first, second) = (Delivery::default(), Delivery { stream: 1, ..Delivery::default() });
        let unordered = Delivery { unordered: true, ..first };
        (0..65_536).for_each(|_| queue.push(first, Content::Counted(1)).unwrap());
        for left in 0..65_535u64 {
            assert!(queue.next().is_some(), "{left}");
            queue.advance();
        }
        assert_eq!(queue.next(), None, "the 65536th would have the number of the first");
        queue.acknowledge(1);
        assert!(queue.next().is_some());
        assert_eq!(queue.advance().2, 65_535);
        // Another stream has numbers of its own, and unordered messages need none.
        for delivery in [second, unordered] {
            queue.push(delivery, Content::Counted(1)).unwrap();
            assert!(queue.next().is_some());
            queue.advance();
        }
        queue.push(first, Content::Counted(5)).unwrap();
        assert_eq!(queue.next(), None);
        queue.acknowledge(2);
        // A message of two chunks takes one number, and frees it with its second.
        assert_eq!([queue.advance().2, queue.advance().2], [0, 0]);
        queue.push(first, Content::Counted(1)).unwrap();
        assert_eq!(queue.next(), None);
        queue.acknowledge(65_539);
        assert_eq!(queue.ordered[0].outstanding, 1);
        queue.acknowledge(65_540);
        assert_eq!(queue.ordered.iter().map(|stream| stream.outstanding).collect::<Vec<_>>(), [0, 0]);
    }

    #[test]
    fn what_cannot_be_sent_is_refused() {
        let mut queue = SendQueue::new(Seq(0), 4);
        queue.agree(1);
        let there = Delivery::default();
        assert_eq!(queue.push(there, bytes(*b"")), Err(Refused::Empty));
        assert_eq!(queue.push(Delivery { stream: 1, ..there }, bytes(*b"x")), Err(Refused::NoStream));
        assert_eq!(queue.push(there, bytes(*b"longer than the buffer")), Ok(()));
        assert_eq!(queue.push(there, bytes(*b"x")), Err(Refused::Full));
    }
}
