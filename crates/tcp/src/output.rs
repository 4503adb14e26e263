//! Sends segments: what leaves, in which order, and what its header says.

use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;
use eifel_packet::segment::{Flags, Options, SackBlocks, Segment, Timestamps};
use eifel_packet::seq::wrap;
use eifel_recovery::fact::Transmission;

use crate::connection::{Connection, Expects, Outgoing};
use crate::delayed_ack::Owed;
use crate::state::State;
use crate::timestamps::Stamps;

/// Bytes of one SACK block, and of the option's head with its padding (RFC 2018, section 3).
const SACK_BLOCK: u32 = 8;
const SACK_HEAD: u32 = 4;
/// SACK blocks that fit into 40 bytes of options, with timestamps and without.
const BLOCKS_WITH_TIMESTAMPS: usize = 3;
const BLOCKS: usize = 4;

impl Connection {
    /// Writes the next segment that leaves now into `segment`, and counts it as sent; `None`, with `segment` untouched, if
    /// nothing leaves. Drivers call it after every input until it returns `None`. A due acknowledgement is one segment,
    /// however many arrivals have asked for it.
    #[inline(always)]
    pub fn poll_transmit(&mut self, now: Instant, segment: &mut Segment) -> Option<Outgoing> {
        if self.receiver.due.owed() == Owed::Alone || self.reply.is_some() {
            let start = self.poll_urgent(now, segment)?;
            return Some(Outgoing { start, transmission: None });
        }
        if self.engine.una() != self.stream.end()
            && let Some(transmission) = self.poll_data(now, segment)
        {
            return Some(Outgoing { start: transmission.start.saturating_sub(1), transmission: Some(transmission) });
        }
        // A data segment has carried the acknowledgement along, if one has left.
        if self.receiver.due.owed() == Owed::Now && self.state != State::Closed {
            let start = self.acknowledgement(now, segment);
            return Some(Outgoing { start, transmission: None });
        }
        None
    }

    /// Whether [`poll_transmit`](Self::poll_transmit) may have a segment. Asks less than that does; `false` is certain, and
    /// what a receiver answers to every other arrival.
    #[inline(always)]
    pub fn may_transmit(&self) -> bool {
        self.engine.una() != self.stream.end() || self.reply.is_some() || self.receiver.due.owed() != Owed::InTime
    }

    /// Writes what leaves before data: an answer outside the connection's own course, or an acknowledgement that data must
    /// not carry along. Returns the offset of its payload, if it had one.
    #[inline(never)]
    fn poll_urgent(&mut self, now: Instant, segment: &mut Segment) -> Option<u64> {
        let Some(reply) = self.reply.take() else {
            return (self.state != State::Closed).then(|| self.acknowledgement(now, segment));
        };
        *segment = *reply;
        if let (Some(stamps), Some(option)) = (&mut self.stamps, &mut segment.options.timestamps) {
            option.value = stamps.leaves_now(now).0;
        }
        Some(0)
    }

    /// Writes the segment that the engine wants to send next.
    #[inline(always)]
    fn poll_data(&mut self, now: Instant, segment: &mut Segment) -> Option<Transmission> {
        if self.expects == Expects::Anything && matches!(self.state, State::Closed | State::Listen) {
            return None;
        }
        let stamp = self.stamps.as_mut().map(|stamps| stamps.value(now));
        if self.give_up_at == Instant::NEVER && self.user_timeout != Duration::MAX {
            self.give_up_at = now + self.user_timeout;
        }
        let transmission = match self.state {
            // Data waits for the handshake's end.
            State::SynSent | State::SynReceived(_) => self.engine.poll_handshake(now, stamp)?,
            _ => self.next_transmission(now, &self.offer(stamp))?,
        };
        let Transmission { start, len, copy, .. } = transmission;
        if let (Some(stamps), Some(stamp)) = (&mut self.stamps, stamp) {
            stamps.sent(now, copy, stamp);
        }
        if start == 0 {
            *segment = self.syn(stamp);
        } else {
            let (flags, payload_len) = self.shape(start, len);
            self.write_header(segment, start, (flags, payload_len), stamp);
            self.write_rare(now, segment, copy > 0);
        }
        Some(transmission)
    }

    /// Writes an acknowledgement without data, and returns the offset of the payload that it does not have. Its sequence
    /// number stays within the peer's window, or the peer would not take it: after a probe of a closed window, `nxt` lies
    /// beyond.
    #[inline(always)]
    fn acknowledgement(&mut self, now: Instant, segment: &mut Segment) -> u64 {
        let position = self.engine.nxt().min(self.peer.limit.max(self.engine.una()));
        let stamp = self.stamps.as_mut().map(|stamps| stamps.leaves_now(now));
        self.write_header(segment, position, (Flags::ACK, 0), stamp);
        self.write_rare(now, segment, false);
        position.saturating_sub(1)
    }

    /// Writes the header of a segment that begins at `position` and acknowledges all that has arrived in order.
    #[inline(always)]
    fn write_header(
        &mut self,
        segment: &mut Segment,
        position: u64,
        (flags, payload_len): (Flags, u32),
        stamp: Option<Timestamp>,
    ) {
        let (ack, window) = self.receiver.acknowledge();
        *segment = Segment {
            source_port: self.ports.local,
            destination_port: self.ports.remote,
            seq: wrap(position, self.iss),
            ack,
            flags,
            window,
            options: Options { timestamps: self.timestamps(stamp), ..NO_OPTIONS },
            payload_len,
        };
    }

    /// Writes what few segments carry: marks of retransmissions, and SACK blocks in the room that these leave. `again` says
    /// whether the segment's data was sent before.
    #[inline(always)]
    fn write_rare(&mut self, now: Instant, segment: &mut Segment, again: bool) {
        if !self.marks.is_off() {
            self.marks.write(now, again, segment);
        }
        if self.receiver.has_blocks() {
            segment.options.sack = self.blocks_for(segment.payload_len, segment.options.timestamps);
        }
    }

    /// Returns the timestamps option of a segment that carries `stamp`.
    #[inline]
    pub(crate) fn timestamps(&self, stamp: Option<Timestamp>) -> Option<Timestamps> {
        let echo = self.stamps.as_ref().map_or(0, Stamps::echo);
        stamp.map(|Timestamp(value)| Timestamps { value, echo })
    }

    /// Returns SACK blocks for a segment with so much payload. They take room that payload could have.
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
