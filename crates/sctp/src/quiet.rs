//! A fast path for most packets between two ends in one process. It covers one DATA chunk, or a
//! SACK with only its cumulative TSN, the window and one duplicate. The packet is then a few
//! numbers.
//!
//! The sender uses the fast path if a few checks show that no other chunk has to be sent, or if the
//! [value](crate::plain) of the packet is equal. The receiver uses it if the full path would do no
//! more. Data must be next in order and read at once, or be a duplicate. A SACK must be
//! [quiet](eifel_recovery::association::Engine::on_quiet_sack), or [acknowledge
//! nothing](eifel_recovery::association::Engine::on_repeated_sack). Otherwise nothing is changed,
//! and the packet takes the full path as values. A test compares both paths.

use eifel_base::time::Instant;
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::{Data, DataFlags, HEADER_LEN, Header, Sack, SackFlags};
use eifel_packet::seq::{Seq, wrap};
use eifel_recovery::association::PathId;
use eifel_recovery::fact::TxId;

use crate::association::Association;
use crate::plain::{Acknowledges, Counted, Plain};
use crate::reassembly::Message;
use crate::settings::Ports;
use crate::state::State;

/// A packet of one DATA chunk. Its user data is counted, not carried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lone {
    tag: u32,
    tsn: Seq,
    ppid: [u8; 4],
    len: u32,
    stream: u16,
    ssn: u16,
    flags: DataFlags,
}

/// A packet of one SACK without gaps, and with at most one duplicate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bare {
    tag: u32,
    cumulative: Seq,
    a_rwnd: u32,
    duplicate: Option<Seq>,
}

/// The result of [`Association::take_lone`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taken {
    /// The chunk's message was read.
    Read,
    /// The chunk was a duplicate.
    Again,
}

/// A packet of either kind. Its ports are those of the association.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Single {
    Data(Lone),
    Sack(Bare),
}

/// The result of [`Association::poll_single`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leaving {
    /// There is nothing to send now.
    Nothing,
    /// New chunks may leave on this path: call [`Association::poll_lone`].
    Chunks(PathId),
    Sack(Bare, PathId),
    /// The fast path does not apply: call [`Association::poll_plain`].
    Other,
}

/// The result of [`Association::poll_lone`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alone {
    /// There is nothing to send now.
    Nothing,
    /// A chunk, its transmission, and its position.
    Chunk(Lone, TxId, u64),
    /// The fast path does not apply: call [`Association::poll_plain`].
    Other,
}

impl Default for Single {
    fn default() -> Self {
        Self::Sack(Bare::default())
    }
}

impl Lone {
    /// Returns the number of bytes of user data.
    #[inline]
    pub fn data_len(&self) -> u32 {
        self.len
    }

    /// Returns the chunk's message. Valid only if the chunk holds a whole message.
    pub fn message(&self) -> Message {
        let &Self { stream, ppid, len, flags, .. } = self;
        let unordered = flags.has(DataFlags::UNORDERED);
        Message { stream, ppid, unordered, bytes: Vec::new(), len: len as usize, begins: true, ends: true }
    }

    /// Makes a packet of one chunk. `tag` is its verification tag.
    pub(crate) fn new(tag: u32, chunk: &Counted) -> Self {
        let &Counted { flags, tsn, stream, ssn, ppid, len } = chunk;
        Self { tag, tsn, ppid, len: len as u32, stream, ssn, flags }
    }

    fn chunk(&self) -> Counted {
        let &Self { flags, tsn, stream, ssn, ppid, len, .. } = self;
        Counted { flags, tsn, stream, ssn, ppid, len: len as usize }
    }
}

impl Bare {
    fn sack(&self) -> Acknowledges {
        Acknowledges { flags: SackFlags::default(), cumulative: self.cumulative, a_rwnd: self.a_rwnd }
    }
}

impl Single {
    /// Returns the bytes of the packet, common header and padding included.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "a packet has a header")]
    pub fn len(&self) -> u32 {
        let rest = match self {
            Self::Data(lone) => Data::HEADER_LEN as u32 + lone.len.next_multiple_of(4),
            Self::Sack(bare) => Sack::MIN_LEN as u32 + if bare.duplicate.is_some() { 4 } else { 0 },
        };
        HEADER_LEN as u32 + rest
    }

    /// Appends the packet as bytes to `out`. `ports` are the sender's.
    pub fn emit(&self, ports: Ports, out: &mut Vec<u8>) {
        let mut plain = Plain::default();
        match self {
            Self::Data(lone) => plain.hold_chunk(ports.header(lone.tag), lone.chunk()),
            Self::Sack(bare) => plain.hold_sack(ports.header(bare.tag), bare.sack(), bare.duplicate),
        }
        plain.emit(out);
    }
}

impl Association {
    /// Returns whether a part of a message was never sent.
    #[inline]
    pub fn has_waiting(&self) -> bool {
        self.queue.has_waiting()
    }

    /// Returns the time of the next SACK, or [`Instant::NEVER`] if none is due. `None` if a packet
    /// may leave earlier.
    #[inline]
    pub fn silent_until(&self, now: Instant) -> Option<Instant> {
        let (State::Established, Some(inbound)) = (&self.state, &self.inbound) else { return None };
        let due = inbound.tracker.deadline();
        let silent = self.queue.is_empty() && self.replies.is_empty() && self.control.is_empty();
        (silent && due > now).then_some(due)
    }

    /// Returns the next packet to send now if it is a [`Single`], or how to obtain it. The queued
    /// messages must be [counted](Self::send_counted): contents are lost.
    #[inline(always)]
    pub fn poll_single(&mut self, now: Instant) -> Leaving {
        let (State::Established, Some(inbound)) = (&self.state, &self.inbound) else { return Leaving::Other };
        if !self.replies.is_empty() || !self.control.is_empty() {
            return Leaving::Other;
        }
        if self.queue.is_empty() {
            if !inbound.tracker.is_due(now) {
                return Leaving::Nothing;
            }
            if self.stamps.is_some() || inbound.tracker.says_more() {
                return Leaving::Other;
            }
            return self.leave_sack(self.confirmed(inbound.answer_to));
        }
        if inbound.tracker.is_owed() || self.stamps.is_some() || self.settings.nagle {
            return Leaving::Other;
        }
        Leaving::Chunks(self.data_path())
    }

    /// Returns the next chunk to send now on `path`, after [`poll_single`](Self::poll_single)
    /// returned [`Leaving::Chunks`]. `first` is true for the first chunk. Nothing may happen to the
    /// association before the later ones.
    // Inlined: if the result went through memory, its fields would be read back in pairs before
    // their stores complete.
    #[inline(always)]
    pub fn poll_lone(&mut self, now: Instant, path: PathId, first: bool) -> Alone {
        let Some(size) = self.queue.next() else { return Alone::Other };
        match self.brain.quiet_room(now, path, size, u64::from(self.a_rwnd)) {
            None => return Alone::Other,
            Some(false) => return Alone::Nothing,
            // Another chunk of minimum size would fit the packet.
            Some(true) if size.wire + Data::HEADER_LEN as u32 + 4 <= self.brain.pmdcs(path) => return Alone::Other,
            Some(true) => {}
        }
        let transmission = self.brain.send_quiet(now, path, size);
        let (flags, stream, ssn, ppid) = self.queue.advance();
        let tsn = wrap(transmission.start, self.queue.initial());
        if first {
            self.not_idle(now, path);
        }
        let lone = Lone { tag: self.peer_tag, tsn, ppid, len: size.data, stream, ssn, flags };
        Alone::Chunk(lone, transmission.id, transmission.start)
    }

    // Inlined for the reason given at `poll_lone`.
    #[inline(always)]
    fn leave_sack(&mut self, path: PathId) -> Leaving {
        let Some(inbound) = &mut self.inbound else { return Leaving::Other };
        let window = (self.settings.receive_buffer as usize).saturating_sub(inbound.reassembly.held());
        inbound.advertised = window;
        let duplicate = inbound.tracker.take_bare();
        let cumulative = inbound.tracker.cumulative();
        Leaving::Sack(Bare { tag: self.peer_tag, cumulative, a_rwnd: window as u32, duplicate }, path)
    }

    /// Processes a chunk on `path` that is next in order or a duplicate. Its
    /// [message](Lone::message) counts as read. Returns `None`, with nothing changed, if the fast
    /// path does not apply: see [`handle_single`](Self::handle_single).
    #[inline]
    pub fn take_lone(&mut self, now: Instant, path: PathId, lone: &Lone) -> Option<Taken> {
        let &Lone { tag, flags, tsn, stream, ssn, .. } = lone;
        let open = matches!(self.state, State::Established) && tag == self.local_tag && path.0 < self.paths.len();
        if !open || self.stamps.is_some() || !flags.has(DataFlags::WHOLE) {
            return None;
        }
        let inbound = self.inbound.as_mut().filter(|inbound| stream < inbound.streams)?;
        let when = (self.settings.sack_every, self.settings.sack_delay);
        if !inbound.tracker.is_next(tsn) {
            let read = inbound.reassembly.held() == 0;
            let again = read && inbound.tracker.take_again(now, when, tsn);
            inbound.answer_to = if again { path } else { inbound.answer_to };
            return again.then_some(Taken::Again);
        }
        if !inbound.reassembly.pass(stream, (!flags.has(DataFlags::UNORDERED)).then_some(ssn)) {
            return None;
        }
        inbound.answer_to = path;
        inbound.tracker.take_next(now, when, flags.has(DataFlags::IMMEDIATE));
        inbound.update_window(self.settings.receive_buffer as usize);
        Some(Taken::Read)
    }

    /// Processes a SACK. Returns `false`, with nothing changed, unless the engine is quiet or the
    /// SACK acknowledges nothing.
    #[inline]
    pub fn take_bare(&mut self, now: Instant, bare: &Bare) -> bool {
        let open = matches!(self.state, State::Established) && bare.tag == self.local_tag;
        let read = self.inbound.as_ref().is_none_or(|inbound| inbound.reassembly.held() == 0);
        let quiet = bare.duplicate.is_none() && open && read;
        if quiet && self.take_quiet_sack(now, bare.cumulative, bare.a_rwnd) {
            return true;
        }
        open && read && self.take_repeated_sack(bare)
    }

    /// Processes a SACK that acknowledges nothing.
    #[inline(never)]
    fn take_repeated_sack(&mut self, bare: &Bare) -> bool {
        if self.stamps.is_some() || self.extensions.retransmit_bit {
            return false;
        }
        let Some(cumulative) = self.acknowledged(bare.cumulative) else { return false };
        if !self.brain.on_repeated_sack(cumulative) {
            return false;
        }
        self.sacks_come = true;
        self.a_rwnd = bare.a_rwnd;
        true
    }

    /// Processes a SACK without gaps and duplicates, if the engine is quiet.
    #[inline]
    pub(crate) fn take_quiet_sack(&mut self, now: Instant, cumulative: Seq, a_rwnd: u32) -> bool {
        if self.stamps.is_some() || self.extensions.retransmit_bit {
            return false;
        }
        let Some(cumulative) = self.acknowledged(cumulative) else { return false };
        let Some(path) = self.brain.on_quiet_sack(now, cumulative) else { return false };
        self.sacks_come = true;
        self.a_rwnd = a_rwnd;
        self.queue.acknowledge(cumulative);
        self.errors = 0;
        self.heard_of(path);
        true
    }

    /// Processes a packet with these addresses on the full path.
    pub fn handle_single(&mut self, now: Instant, addresses: &Addresses, single: &Single) {
        let header =
            |tag| Header { source_port: self.ports.remote, destination_port: self.ports.local, verification_tag: tag };
        match single {
            Single::Data(lone) => self.handle_values(now, addresses, &header(lone.tag), (None, None), &[lone.chunk()]),
            Single::Sack(bare) => {
                let duplicate = bare.duplicate.map(|tsn| tsn.0.to_be_bytes());
                let sack = bare.sack();
                let sack = sack.with(&[], duplicate.as_slice());
                self.handle_values(now, addresses, &header(bare.tag), (None, Some(sack)), &[]);
            }
        }
    }
}
