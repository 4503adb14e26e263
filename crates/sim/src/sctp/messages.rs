//! Writes an application's messages, and reads and verifies them at the other end.

use crate::pattern;
use eifel_sctp::{Association, Delivery, Message, SendError};

/// The most bytes that a packet can hold.
const LONGEST_PACKET: usize = 1 << 16;

/// The way in which an application splits its bytes into messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageShape {
    /// Bytes of a message. The last message of a write may be shorter.
    pub bytes: u32,
    /// Number of streams, which messages take in turn.
    pub streams: u16,
    /// Whether messages are delivered without regard to order.
    pub unordered: bool,
    /// Whether each message has its own contents, which the reader verifies.
    pub verified: bool,
}

/// The writer at one end.
pub struct Writer {
    shape: MessageShape,
    /// Bytes that wait for room in the send buffer.
    waiting: u64,
    /// Messages written so far.
    messages: u64,
    /// The stream of the next message.
    stream: u16,
}

impl Writer {
    pub fn new(shape: MessageShape) -> Self {
        Self { shape, waiting: 0, messages: 0, stream: 0 }
    }

    /// Adds bytes to write once there is room.
    pub fn add(&mut self, bytes: u64) {
        self.waiting += bytes;
    }

    /// Drops the bytes that are not written yet.
    pub fn drop_waiting(&mut self) {
        self.waiting = 0;
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Writes as much as the association takes. While it has more than it may send, the number of
    /// messages behind makes no difference, unless it takes all of them. Returns whether nothing is
    /// left to write.
    #[inline]
    pub fn write(&mut self, association: &mut Association) -> bool {
        if self.waiting == 0 {
            return true;
        }
        let most = LONGEST_PACKET + association.peer_window() as usize;
        if self.waiting <= association.send_room() as u64 || !association.has_unsent(most) {
            self.write_all(association);
        }
        self.waiting == 0
    }

    /// Writes as much as the association takes.
    #[inline(never)]
    pub fn write_all(&mut self, association: &mut Association) {
        while self.waiting > 0 {
            let bytes = self.waiting.min(u64::from(self.shape.bytes)) as usize;
            if association.send_room() < bytes {
                return;
            }
            let delivery = Delivery { stream: self.stream, unordered: self.shape.unordered, ..Delivery::default() };
            let taken = if self.shape.verified {
                association.send(delivery, pattern::bytes(self.messages, bytes)).map(|()| 1)
            } else if self.shape.streams == 1 {
                association.send_zeros_repeatedly(delivery, bytes, self.waiting as usize / bytes)
            } else {
                association.send_zeros(delivery, bytes).map(|()| 1)
            };
            let taken = match taken {
                Ok(taken) => taken,
                // The association is over and takes no more messages.
                Err(SendError::State) => return self.drop_waiting(),
                Err(SendError::Full | SendError::NoStream | SendError::Empty) => return,
            };
            self.waiting -= (bytes * taken) as u64;
            self.messages += taken as u64;
            self.stream = if self.stream + 1 < self.shape.streams { self.stream + 1 } else { 0 };
        }
    }
}

/// The reader at one end.
pub struct Reader {
    shape: MessageShape,
    /// Bytes read so far.
    pub bytes: u64,
    /// Messages read from each stream.
    messages: Vec<u64>,
    /// Bytes read of a message that is delivered in parts.
    part: usize,
}

impl Reader {
    /// Creates a reader for messages of this shape.
    pub fn new(shape: MessageShape) -> Self {
        Self { shape, bytes: 0, messages: vec![0; usize::from(shape.streams)], part: 0 }
    }

    /// Notes what the association has [drained](Association::drained). Returns whether that is more
    /// than before.
    #[inline]
    pub fn note_drained(&mut self, association: &Association) -> bool {
        let before = std::mem::replace(&mut self.bytes, association.drained());
        self.bytes > before
    }

    /// Reads messages until they hold `limit` bytes or more. Returns whether it read any.
    pub fn read(&mut self, association: &mut Association, limit: u64) -> bool {
        let before = self.bytes;
        while self.bytes - before < limit
            && let Some(message) = association.receive()
        {
            if self.shape.verified && !self.shape.unordered {
                self.verify(&message);
            }
            self.bytes += message.len as u64;
        }
        self.bytes > before
    }

    /// Verifies that a message is the next message of its stream.
    ///
    /// # Panics
    /// Panics when it is not.
    fn verify(&mut self, message: &Message) {
        let stream = usize::from(message.stream);
        let part = if message.begins { 0 } else { self.part };
        let number = self.messages[stream] * u64::from(self.shape.streams) + u64::from(message.stream);
        let expected = pattern::bytes(number, part + message.len);
        assert_eq!(message.bytes, expected[part..], "message {number} of stream {stream} is not the one sent");
        if message.ends {
            self.messages[stream] += 1;
        } else {
            self.part = part + message.len;
        }
    }
}
