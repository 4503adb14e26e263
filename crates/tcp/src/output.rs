//! Segments leave.

use eifel_packet::segment::{Flags, Options, SackBlocks, Segment, Timestamps};
use eifel_packet::seq::wrap;
use eifel_recovery::engine::Offer;
use eifel_recovery::fact::Transmission;
use eifel_recovery::time::{Duration, Instant};
use eifel_recovery::units::Timestamp;

use crate::connection::{Connection, Departure, Outgoing};
use crate::delayed_ack::Due;
use crate::state::State;

/// Bytes of one SACK block, and of the option's head with its padding (RFC 2018, section 3).
const SACK_BLOCK: u32 = 8;
const SACK_HEAD: u32 = 4;
/// What fits into 40 bytes of options, with timestamps and without.
const BLOCKS_WITH_TIMESTAMPS: usize = 3;
const BLOCKS: usize = 4;

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
        let Departure { start, transmission } = self.poll_transmit_into(now, &mut segment)?;
        Some(Outgoing { segment, start, transmission })
    }

    /// Whether neither acknowledgement nor data nor anything else waits to be sent, so that
    /// [`poll_transmit`](Self::poll_transmit) gives none: what a receiver says to most arrivals. Otherwise it may.
    #[inline]
    pub fn is_silent(&self) -> bool {
        matches!(self.receiver.due, Due::Nothing | Due::Delayed { .. })
            && self.engine.una() == self.stream.end()
            && self.reply.is_none()
    }

    /// As [`poll_transmit`](Self::poll_transmit), with the segment written where it is to stand; what is there is left
    /// alone if nothing leaves.
    #[inline(always)]
    pub fn poll_transmit_into(&mut self, now: Instant, segment: &mut Segment) -> Option<Departure> {
        if let Some(reply) = self.reply.take() {
            *segment = *reply;
            if let (Some(stamps), Some(option)) = (&mut self.stamps, &mut segment.options.timestamps) {
                option.value = stamps.value(now).0;
            }
            return Some(Departure { start: 0, transmission: None });
        }
        if matches!(self.receiver.due, Due::Alone) && self.state != State::Closed {
            return Some(self.acknowledgement(now, segment));
        }
        if let Some(transmission) = self.next_transmission(now, segment) {
            return Some(Departure { start: transmission.start.saturating_sub(1), transmission: Some(transmission) });
        }
        if matches!(self.receiver.due, Due::Now) && self.state != State::Closed {
            return Some(self.acknowledgement(now, segment));
        }
        None
    }

    /// What the engine wants to send.
    #[inline]
    fn next_transmission(&mut self, now: Instant, segment: &mut Segment) -> Option<Transmission> {
        let una = self.engine.una();
        let mut end = self.stream.end();
        // Nothing is outstanding and nothing waits: the common case of a receiver.
        if una == end {
            return None;
        }
        let mut fin = self.stream.is_finished();
        let limit = match self.state {
            State::Closed | State::Listen => return None,
            // Data waits for the handshake's end.
            State::SynSent | State::SynReceived(_) => {
                (end, fin) = (1, false);
                1
            }
            _ => {
                if self.nagle {
                    end = self.end_by_nagle(end);
                }
                self.peer.limit
            }
        };
        if self.give_up_at == Instant::NEVER && self.user_timeout != Duration::MAX {
            self.give_up_at = now + self.user_timeout;
        }
        let stamp = self.stamps.as_mut().map(|stamps| stamps.value(now));
        let transmission = self.engine.poll_send(now, &Offer { end, fin, limit, stamp })?;
        let Transmission { start, len, copy, .. } = transmission;
        if let (Some(stamps), Some(stamp), 0) = (&mut self.stamps, stamp, copy) {
            stamps.sent(start, stamp);
        }
        if start == 0 {
            *segment = self.syn(now);
        } else {
            let (flags, payload_len) = self.shape(start, len);
            self.write_header(segment, start, flags, payload_len, stamp);
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
    #[inline]
    fn acknowledgement(&mut self, now: Instant, segment: &mut Segment) -> Departure {
        let position = self.engine.nxt().min(self.peer.limit.max(self.engine.una()));
        let stamp = self.stamps.as_mut().map(|stamps| stamps.value(now));
        self.write_header(segment, position, Flags::ACK, 0, stamp);
        self.write_rare(now, segment, false);
        Departure { start: position.saturating_sub(1), transmission: None }
    }

    /// Writes the header of a segment that begins at `position`.
    #[inline]
    fn write_header(
        &mut self,
        segment: &mut Segment,
        position: u64,
        flags: Flags,
        payload_len: u32,
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
    fn timestamps(&self, stamp: Option<Timestamp>) -> Option<Timestamps> {
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
