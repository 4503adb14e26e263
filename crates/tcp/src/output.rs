//! Segments leave.

use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;
use eifel_packet::segment::{Flags, Options, SackBlocks, Segment, Timestamps};
use eifel_packet::seq::{Seq, wrap};
use eifel_recovery::engine::Offer;
use eifel_recovery::fact::Transmission;

use crate::connection::{Connection, Outgoing};
use crate::delayed_ack::Owed;
use crate::state::State;
use crate::timestamps::Stamps;

/// Bytes of one SACK block, and of the option's head with its padding (RFC 2018, section 3).
const SACK_BLOCK: u32 = 8;
const SACK_HEAD: u32 = 4;
/// What fits into 40 bytes of options, with timestamps and without.
const BLOCKS_WITH_TIMESTAMPS: usize = 3;
const BLOCKS: usize = 4;

/// What holds for all segments that leave between two inputs. They leave in this order: what is
/// [urgent](Connection::poll_urgent), [data](Connection::poll_data), and an
/// [acknowledgement](Connection::poll_acknowledgement) if it is still due. A [run](Connection::run) may go before a turn.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    now: Instant,
    /// What the engine may choose from; `None` where nothing is outstanding and nothing waits, or nothing may leave.
    offer: Option<Offer>,
}

/// What segments say of what has arrived, and when they were sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Saying {
    ack: Seq,
    window: u16,
    pub(crate) timestamps: Option<Timestamps>,
}

/// What a connection has to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Agenda {
    /// Nothing: what a receiver says to many arrivals. [`poll_transmit`](Connection::poll_transmit) gives none.
    Nothing,
    /// One acknowledgement without data, and nothing else.
    Acknowledgement,
    /// Perhaps data, perhaps something else, perhaps nothing.
    Anything,
}

impl Connection {
    /// The next segment that leaves now, or none. To be called until none after every input: an acknowledgement that is
    /// due is one segment, however many arrivals asked for it since the last call.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Outgoing> {
        let mut segment = Segment {
            source_port: self.ports.local,
            destination_port: self.ports.remote,
            seq: self.iss,
            ack: self.receiver.irs,
            flags: Flags::ACK,
            window: 0,
            options: NO_OPTIONS,
            payload_len: 0,
        };
        if let Some(mut run) = self.run(now)
            && let Some(transmission) = self.poll_run(&mut run, &mut segment)
        {
            let start = transmission.start.saturating_sub(1);
            return Some(Outgoing { segment, start, transmission: Some(transmission) });
        }
        let mut turn = self.turn(now);
        if let Some(start) = self.poll_urgent(&turn, &mut segment) {
            return Some(Outgoing { segment, start, transmission: None });
        }
        if let Some(transmission) = self.poll_data(&mut turn, &mut segment) {
            let start = transmission.start.saturating_sub(1);
            return Some(Outgoing { segment, start, transmission: Some(transmission) });
        }
        let start = self.poll_acknowledgement(&turn, &mut segment)?;
        Some(Outgoing { segment, start, transmission: None })
    }

    /// What waits to be sent.
    #[inline]
    pub fn agenda(&self) -> Agenda {
        if self.engine.una() != self.stream.end() || self.reply.is_some() {
            return Agenda::Anything;
        }
        match self.receiver.due.owed() {
            Owed::InTime => Agenda::Nothing,
            Owed::Now | Owed::Alone if self.state == State::Closed => Agenda::Nothing,
            Owed::Now | Owed::Alone => Agenda::Acknowledgement,
        }
    }

    /// What [`poll_transmit`](Self::poll_transmit) gives where an acknowledgement is all that is on the
    /// [agenda](Self::agenda), written where it is to stand. The answer is as [`poll_urgent`](Self::poll_urgent)'s.
    #[inline(always)]
    pub fn acknowledge(&mut self, now: Instant, segment: &mut Segment) -> u64 {
        self.acknowledgement(now, segment)
    }

    /// Begins to send what one input has given rise to, or time; it holds until the next.
    #[inline(always)]
    pub fn turn(&mut self, now: Instant) -> Turn {
        let stamp = self.stamps.as_mut().and_then(|stamps| stamps.shared(now));
        let offer = self.offer(stamp);
        if offer.is_some() && self.give_up_at == Instant::NEVER && self.user_timeout != Duration::MAX {
            self.give_up_at = now + self.user_timeout;
        }
        Turn { now, offer }
    }

    #[inline(always)]
    pub(crate) fn offer(&self, stamp: Option<Timestamp>) -> Option<Offer> {
        let end = self.stream.end();
        // Nothing is outstanding and nothing waits: the common case of a receiver.
        if self.engine.una() == end {
            return None;
        }
        match self.state {
            State::Closed | State::Listen => None,
            // Data waits for the handshake's end.
            State::SynSent | State::SynReceived(_) => Some(Offer { end: 1, fin: false, limit: 1, stamp }),
            _ => Some(Offer { end, fin: self.stream.is_finished(), limit: self.peer.limit, stamp }),
        }
    }

    /// What goes before all else in a turn: an answer outside the connection's own course, or an acknowledgement that
    /// nothing may carry along. It is written where it is to stand; the answer is the offset of its payload, if it had one,
    /// in the stream of data. What is in its place is left alone if there is none.
    #[inline(always)]
    pub fn poll_urgent(&mut self, turn: &Turn, segment: &mut Segment) -> Option<u64> {
        if self.reply.is_none() && self.receiver.due.owed() != Owed::Alone {
            return None;
        }
        if let Some(reply) = self.reply.take() {
            *segment = *reply;
            if let (Some(stamps), Some(option)) = (&mut self.stamps, &mut segment.options.timestamps) {
                let stamp = stamps.value(turn.now);
                stamps.leaves(turn.now, stamp);
                option.value = stamp.0;
            }
            return Some(0);
        }
        (self.state != State::Closed).then(|| self.acknowledgement_apart(turn.now, segment))
    }

    /// The acknowledgement that is due when nothing has carried it along; otherwise as [`poll_urgent`](Self::poll_urgent).
    #[inline]
    pub fn poll_acknowledgement(&mut self, turn: &Turn, segment: &mut Segment) -> Option<u64> {
        let due = self.receiver.due.owed() == Owed::Now && self.state != State::Closed;
        due.then(|| self.acknowledgement_apart(turn.now, segment))
    }

    /// The next segment that the engine wants to send, written where it is to stand; what is there is left alone if there
    /// is none.
    #[inline(always)]
    pub fn poll_data(&mut self, turn: &mut Turn, segment: &mut Segment) -> Option<Transmission> {
        let (now, offer) = (turn.now, turn.offer.as_mut()?);
        let distinct = self.stamps.as_ref().is_some_and(Stamps::are_distinct);
        if distinct {
            offer.stamp = self.stamps.as_mut().map(|stamps| stamps.value(now));
        }
        let stamp = offer.stamp;
        let held_back;
        let offer = match self.nagle {
            false => &*offer,
            true => {
                held_back = Offer { end: self.end_by_nagle(offer.end), ..*offer };
                &held_back
            }
        };
        let transmission = self.engine.poll_send(now, offer)?;
        let Transmission { start, len, copy, .. } = transmission;
        if let (true, Some(stamps), Some(stamp)) = (distinct, &mut self.stamps, stamp) {
            stamps.sent(now, start, copy, stamp);
        }
        if start == 0 {
            *segment = self.syn(stamp);
        } else {
            let (flags, payload_len) = self.shape(start, len);
            let saying = self.say(stamp);
            self.write_header(segment, start, flags, payload_len, &saying);
            self.write_rare(now, segment, copy > 0);
        }
        Some(transmission)
    }

    /// Less than a full segment waits while anything is outstanding, unless it is the last (RFC 9293, section 3.7.4).
    fn end_by_nagle(&self, end: u64) -> u64 {
        let (una, nxt) = (self.engine.una(), self.engine.nxt());
        let waits = una < nxt && !self.stream.is_finished() && end.saturating_sub(nxt) < u64::from(self.mss);
        if waits { end.min(nxt) } else { end }
    }

    /// Flags, and bytes of payload, of a segment that takes `len` positions from `start` on.
    #[inline]
    fn shape(&self, start: u64, len: u32) -> (Flags, u32) {
        let last = start + u64::from(len);
        let written = self.stream.end() - u64::from(self.stream.is_finished());
        if last < written {
            return (Flags::ACK, len);
        }
        let payload_len = if last > written { len - 1 } else { len };
        let mut flags = if last > written { Flags::ACK.with(Flags::FIN) } else { Flags::ACK };
        if payload_len > 0 {
            flags = flags.with(Flags::PSH);
        }
        (flags, payload_len)
    }

    /// An acknowledgement without data. Its sequence number stays within the peer's window, or the peer would not take it:
    /// after a probe of a closed window, `nxt` lies beyond.
    #[inline(always)]
    fn acknowledgement(&mut self, now: Instant, segment: &mut Segment) -> u64 {
        let position = self.engine.nxt().min(self.peer.limit.max(self.engine.una()));
        let stamp = match &mut self.stamps {
            Some(stamps) => {
                let stamp = stamps.value(now);
                stamps.leaves(now, stamp);
                Some(stamp)
            }
            None => None,
        };
        let saying = self.say(stamp);
        self.write_header(segment, position, Flags::ACK, 0, &saying);
        self.write_rare(now, segment, false);
        position.saturating_sub(1)
    }

    /// The same, where it is not wanted inline.
    #[inline(never)]
    fn acknowledgement_apart(&mut self, now: Instant, segment: &mut Segment) -> u64 {
        self.acknowledgement(now, segment)
    }

    /// What a segment says that leaves now with `stamp`. It settles what is due.
    #[inline]
    pub(crate) fn say(&mut self, stamp: Option<Timestamp>) -> Saying {
        let (ack, window) = self.receiver.acknowledge();
        Saying { ack, window, timestamps: self.timestamps(stamp) }
    }

    /// Writes the header of a segment that begins at `position`.
    #[inline]
    pub(crate) fn write_header(
        &self,
        segment: &mut Segment,
        position: u64,
        flags: Flags,
        payload_len: u32,
        &Saying { ack, window, timestamps }: &Saying,
    ) {
        *segment = Segment {
            source_port: self.ports.local,
            destination_port: self.ports.remote,
            seq: wrap(position, self.iss),
            ack,
            flags,
            window,
            options: Options { timestamps, ..NO_OPTIONS },
            payload_len,
        };
    }

    /// What few segments carry: marks of retransmissions, and SACK blocks in the room that these leave.
    #[inline]
    fn write_rare(&mut self, now: Instant, segment: &mut Segment, again: bool) {
        if !self.marks.is_off() {
            self.marks.write(now, again, segment);
        }
        if self.receiver.has_blocks() {
            segment.options.sack = self.blocks_for(segment.payload_len, segment.options.timestamps);
        }
    }

    #[inline]
    pub(crate) fn timestamps(&self, stamp: Option<Timestamp>) -> Option<Timestamps> {
        match (stamp, &self.stamps) {
            (Some(stamp), Some(stamps)) => Some(Timestamps { value: stamp.0, echo: stamps.echo() }),
            _ => None,
        }
    }

    /// SACK blocks for a segment with so much payload: they are paid for by what a segment may carry.
    #[inline(never)]
    fn blocks_for(&mut self, payload_len: u32, stamp: Option<Timestamps>) -> SackBlocks {
        let most = if stamp.is_some() { BLOCKS_WITH_TIMESTAMPS } else { BLOCKS };
        let room = match payload_len {
            0 => BLOCKS,
            len => (self.mss.saturating_sub(len + SACK_HEAD) / SACK_BLOCK) as usize,
        };
        self.receiver.sack_blocks(room.min(most))
    }
}

const NO_OPTIONS: Options = Options {
    mss: None,
    window_scale: None,
    sack_permitted: false,
    timestamps: None,
    sack: SackBlocks::EMPTY,
    marks: None,
};
