//! Assembles messages from chunks, and orders messages within a stream (RFC 9260, sections 6.6 and
//! 6.9).

use std::collections::{BTreeMap, VecDeque};

use eifel_base::ranges::Block;
use eifel_packet::sctp::DataFlags;
use eifel_packet::seq::unwrap_short;

use crate::packet::Data;

/// Minimum cost of a stored chunk, in bytes of the receive buffer. Small chunks must not take more
/// memory than they count for.
const LEAST_COST: usize = 64;

/// A message, or a part of a long message. Parts are delivered once more than half of the receive
/// buffer is in use (RFC 9260, section 6.9).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    pub stream: u16,
    /// The payload protocol identifier of the application, in network byte order.
    pub ppid: [u8; 4],
    /// Whether the message may be delivered out of order.
    pub unordered: bool,
    /// The user data. Empty if it is [zeros](crate::Association::send_zeros).
    pub bytes: Vec<u8>,
    /// Length of the user data in bytes.
    pub len: usize,
    /// Whether the message begins with these bytes. Only one message at a time is delivered in
    /// parts. If `false`, the bytes continue the message that has begun and not ended. Whole
    /// messages may come in between.
    pub begins: bool,
    /// Whether the message ends with these bytes.
    pub ends: bool,
    /// Whether the sender has given up the rest of a message that was delivered in parts (RFC 3758,
    /// section 3.6). Then the message ends here, incomplete.
    pub given_up: bool,
}

/// The fragments of a message contradict each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Contradiction;

/// Whether a message is ordered within its stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Order {
    Ordered { ssn: u16 },
    Unordered,
}

impl Order {
    fn of(data: &Data) -> Self {
        if data.flags.has(DataFlags::UNORDERED) { Self::Unordered } else { Self::Ordered { ssn: data.ssn } }
    }
}

/// The user data of a chunk. `bytes` is empty for zeros.
#[derive(Clone, Debug)]
struct Fragment {
    len: usize,
    bytes: Vec<u8>,
}

/// Consecutive chunks of one message.
#[derive(Clone, Debug)]
struct Run {
    stream: u16,
    order: Order,
    ppid: [u8; 4],
    /// Whether the first chunk begins the message. `ends` says whether the last chunk ends it.
    begins: bool,
    ends: bool,
    fragments: VecDeque<Fragment>,
}

impl Run {
    fn of(data: &Data, payload: &[u8]) -> Self {
        Self {
            stream: data.stream,
            order: Order::of(data),
            ppid: data.ppid,
            begins: data.flags.has(DataFlags::BEGINNING),
            ends: data.flags.has(DataFlags::ENDING),
            fragments: VecDeque::from([Fragment { len: data.len as usize, bytes: payload.to_vec() }]),
        }
    }

    fn same_message(&self, other: &Self) -> bool {
        (self.stream, self.order) == (other.stream, other.order)
    }

    /// Appends the run `behind`. The longer of both runs is not copied.
    fn append(&mut self, mut behind: Self) {
        self.ends = behind.ends;
        if self.fragments.len() >= behind.fragments.len() {
            self.fragments.append(&mut behind.fragments);
        } else {
            self.fragments.drain(..).rev().for_each(|piece| behind.fragments.push_front(piece));
            self.fragments = behind.fragments;
        }
    }
}

/// A message that was delivered in part.
#[derive(Clone, Debug)]
struct Partial {
    /// The position of the next chunk to deliver.
    next: u64,
    stream: u16,
    order: Order,
}

fn cost(len: usize) -> usize {
    len.max(LEAST_COST)
}

/// A stream of ordered messages.
#[derive(Clone, Debug, Default)]
struct Stream {
    /// The stream sequence number of the next message to deliver, unwrapped.
    next: u64,
    /// Complete messages that wait for an earlier one, with the positions of their chunks.
    waiting: BTreeMap<u64, (Message, Block)>,
}

/// Data that has arrived, and that the application has not taken yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reassembly {
    /// Incomplete messages, by the position of their first stored chunk.
    runs: BTreeMap<u64, Run>,
    streams: BTreeMap<u16, Stream>,
    /// Stream and unwrapped number of the messages in [`Stream::waiting`], by the position of their
    /// first chunk.
    waiting: BTreeMap<u64, (u16, u64)>,
    ready: VecDeque<Message>,
    partial: Option<Partial>,
    /// Bytes in use in the receive buffer.
    held: usize,
}

impl Reassembly {
    /// Returns the bytes in use in the receive buffer.
    pub(crate) fn held(&self) -> usize {
        self.held
    }

    /// Stores a new chunk at `position`. `payload` is empty for zeros.
    ///
    /// # Errors
    /// A neighbouring chunk belongs to another message, although the flags say otherwise.
    #[inline]
    pub(crate) fn insert(&mut self, position: u64, data: &Data, payload: &[u8]) -> Result<(), Contradiction> {
        let len = data.len as usize;
        self.held += cost(len);
        if self.runs.is_empty() && data.flags.has(DataFlags::WHOLE) {
            // Without stored fragments, the chunk can neither contradict a neighbour nor wait for
            // one.
            let (order, bytes) = (Order::of(data), payload.to_vec());
            let (unordered, ppid) = (order == Order::Unordered, data.ppid);
            let stream = data.stream;
            let message = Message { stream, ppid, unordered, bytes, len, begins: true, ends: true, given_up: false };
            self.complete(Block { start: position, end: position + 1 }, order, message);
            return Ok(());
        }
        let mut start = position;
        let mut run = Run::of(data, payload);
        let below = self.runs.range(..position).next_back().map(|(start, run)| (*start, run.fragments.len() as u64));
        if let Some((first, len)) = below.filter(|(first, len)| first + len == position) {
            let before = &self.runs[&first];
            // This chunk has to begin a message if and only if the previous chunk ends one.
            if before.ends != run.begins || !run.begins && !before.same_message(&run) {
                return Err(Contradiction);
            }
            if !run.begins {
                let mut before = self.runs.remove(&first).expect("it was just looked at");
                before.append(run);
                (start, run) = (first, before);
            }
            debug_assert!(len > 0);
        }
        let end = position + 1;
        if let Some(behind) = self.runs.get(&end) {
            if run.ends != behind.begins || !run.ends && !run.same_message(behind) {
                return Err(Contradiction);
            }
            if !run.ends {
                let behind = self.runs.remove(&end).expect("it was just looked at");
                run.append(behind);
            }
        }
        if self.partial.as_ref().is_some_and(|partial| partial.next == start && !run.begins) {
            return self.deliver_more(run);
        }
        if run.begins && run.ends {
            let (chunks, order) = (Block { start, end: start + run.fragments.len() as u64 }, run.order);
            let message = self.gather(run);
            self.complete(chunks, order, message);
        } else {
            self.runs.insert(start, run);
        }
        Ok(())
    }

    /// Passes a whole message that is next in order to an application that reads it at once. `ssn`
    /// is its number, or `None` if it is unordered. Returns `false`, with nothing changed, if data is
    /// stored here or the message is not next.
    #[inline(always)]
    pub(crate) fn deliver_at_once(&mut self, stream: u16, ssn: Option<u16>) -> bool {
        // Each stored chunk or message counts for more than 0 bytes.
        if self.held > 0 {
            return false;
        }
        let Some(ssn) = ssn else { return true };
        let Some(stream) = self.streams.get_mut(&stream) else { return false };
        let next = unwrap_short(stream.next, ssn) == stream.next;
        stream.next += u64::from(next);
        next
    }

    /// Starts to deliver the lowest message in parts. Does nothing if a message can be read, or if
    /// another one is already being delivered in parts. All chunks before the message, those below
    /// `next`, must have arrived.
    pub(crate) fn deliver_part(&mut self, next: u64) {
        if self.partial.is_some() || self.is_readable() {
            return;
        }
        let first = self.runs.iter().find(|(start, run)| **start < next && run.begins && self.is_next(run));
        let Some((start, run)) = first.map(|(start, run)| (*start, (run.stream, run.order))) else { return };
        self.partial = Some(Partial { next: start, stream: run.0, order: run.1 });
        let run = self.runs.remove(&start).expect("it was just found");
        // It cannot contradict: `partial` was made from this run.
        let _ = self.deliver_more(run);
    }

    /// Returns whether a message is unordered, or next in its stream.
    fn is_next(&self, run: &Run) -> bool {
        match run.order {
            Order::Unordered => true,
            Order::Ordered { ssn } => {
                let next = self.streams.get(&run.stream).map_or(0, |stream| stream.next);
                unwrap_short(next, ssn) == next
            }
        }
    }

    /// Delivers more of the message that is being delivered in parts.
    fn deliver_more(&mut self, run: Run) -> Result<(), Contradiction> {
        let partial = self.partial.as_mut().expect("a message is delivered in parts");
        if (partial.stream, partial.order) != (run.stream, run.order) {
            return Err(Contradiction);
        }
        partial.next += run.fragments.len() as u64;
        let (ends, order) = (run.ends, run.order);
        let message = self.gather(run);
        let number = message.stream;
        self.ready.push_back(message);
        if ends {
            self.partial = None;
            if order != Order::Unordered {
                self.streams.entry(number).or_default().next += 1;
                self.release(number);
            }
        }
        Ok(())
    }

    /// Joins the chunks of a run.
    fn gather(&mut self, run: Run) -> Message {
        let costs: usize = run.fragments.iter().map(|piece| cost(piece.len)).sum();
        let len = run.fragments.iter().map(|piece| piece.len).sum();
        let mut fragments = run.fragments.into_iter().map(|piece| piece.bytes);
        let mut bytes = fragments.next().unwrap_or_default();
        fragments.for_each(|piece| bytes.extend_from_slice(&piece));
        self.held = self.held - costs + cost(len);
        let unordered = run.order == Order::Unordered;
        let Run { stream, ppid, begins, ends, .. } = run;
        Message { stream, ppid, unordered, bytes, len, begins, ends, given_up: false }
    }

    /// Handles a complete message with these chunks.
    #[inline]
    fn complete(&mut self, chunks: Block, order: Order, message: Message) {
        let Order::Ordered { ssn } = order else { return self.ready.push_back(message) };
        let number = message.stream;
        if let Some(stream) = self.streams.get_mut(&number)
            && stream.waiting.is_empty()
            && unwrap_short(stream.next, ssn) == stream.next
        {
            stream.next += 1;
            return self.ready.push_back(message);
        }
        let stream = self.streams.entry(number).or_default();
        let place = unwrap_short(stream.next, ssn);
        self.waiting.insert(chunks.start, (number, place));
        if let Some((repeated, chunks)) = stream.waiting.insert(place, (message, chunks)) {
            self.held -= cost(repeated.len);
            self.waiting.remove(&chunks.start);
        }
        self.release(number);
    }

    /// Delivers the messages of a stream that are next in order.
    fn release(&mut self, stream: u16) {
        let stream = self.streams.entry(stream).or_default();
        while let Some(entry) = stream.waiting.first_entry().filter(|entry| *entry.key() <= stream.next) {
            stream.next = stream.next.max(entry.key() + 1);
            let (message, chunks) = entry.remove();
            self.waiting.remove(&chunks.start);
            self.ready.push_back(message);
        }
    }

    /// Drops incomplete messages with chunks below `position`, which the peer abandoned (RFC 3758,
    /// section 3.6).
    pub(crate) fn forward(&mut self, position: u64) {
        // The rest of a message that was delivered in part was abandoned too, so its end is
        // delivered.
        if let Some(given_up) = self.partial.take_if(|partial| partial.next < position) {
            let unordered = given_up.order == Order::Unordered;
            let (stream, ppid, bytes) = (given_up.stream, [0; 4], Vec::new());
            let end = Message { stream, ppid, unordered, bytes, len: 0, begins: false, ends: true, given_up: true };
            self.held += cost(0);
            self.ready.push_back(end);
        }
        while let Some(entry) = self.runs.first_entry().filter(|entry| *entry.key() < position) {
            self.held -= entry.remove().fragments.iter().map(|piece| cost(piece.len)).sum::<usize>();
        }
    }

    /// Delivers the messages of a stream that wait for abandoned ones up to `ssn`.
    pub(crate) fn skip(&mut self, stream: u16, ssn: u16) {
        let skipping = self.streams.entry(stream).or_default();
        skipping.next = skipping.next.max(unwrap_short(skipping.next, ssn) + 1);
        self.release(stream);
    }

    /// Drops the highest chunk above a position, unless it is ready for delivery. A complete
    /// message is dropped whole. Returns the dropped positions, or `None` if there is nothing to
    /// drop.
    pub(crate) fn drop_highest(&mut self, above: u64) -> Option<Block> {
        let run = self.runs.iter().next_back().map(|(start, run)| start + run.fragments.len() as u64 - 1);
        let message = self.waiting.keys().next_back().copied();
        if message > run {
            let start = message.filter(|start| *start > above)?;
            let (stream, place) = self.waiting.remove(&start)?;
            let (message, chunks) = self.streams.get_mut(&stream)?.waiting.remove(&place)?;
            self.held -= cost(message.len);
            return Some(chunks);
        }
        let position = run.filter(|position| *position > above)?;
        let mut last = self.runs.last_entry()?;
        let run = last.get_mut();
        run.ends = false;
        let piece = run.fragments.pop_back().expect("a run has a piece");
        if run.fragments.is_empty() {
            last.remove();
        }
        self.held -= cost(piece.len);
        Some(Block { start: position, end: position + 1 })
    }

    /// Returns whether a message can be taken.
    pub(crate) fn is_readable(&self) -> bool {
        !self.ready.is_empty()
    }

    pub(crate) fn take(&mut self) -> Option<Message> {
        let message = self.ready.pop_front()?;
        self.held -= cost(message.len);
        Some(message)
    }
}

#[cfg(test)]
mod tests;
