//! Sends segments: chooses the next one, and writes its header.

use core::ops::ControlFlow;
use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;
use eifel_packet::ip::Ecn;
use eifel_packet::segment::{Flags, Options, SackBlocks, Segment, Timestamps};
use eifel_packet::seq::wrap;
use eifel_recovery::fact::{Kind, Transmission};

use crate::connection::{Connection, Outgoing};
use crate::delayed_ack::DueAck;
use crate::state::State;

/// Bytes of one SACK block, and of the option's padding, kind and length (RFC 2018, section 3).
const SACK_BLOCK: u32 = 8;
const SACK_HEAD: u32 = 4;
/// SACK blocks that fit 40 bytes of options, with timestamps and without.
const BLOCKS_WITH_TIMESTAMPS: usize = 3;
const BLOCKS: usize = 4;
/// The fewest bytes of payload beside SACK blocks. With a smaller MSS, data leaves without blocks.
const LEAST_PAYLOAD: u32 = 8;

impl Connection {
    /// Writes the next segment to send now into `segment`, and counts it as sent. Returns `None`,
    /// and leaves `segment` untouched, if there is nothing to send. Drivers call this after every
    /// input until it returns `None`. An acknowledgement is one segment, no matter how many
    /// arrivals made it due.
    #[inline(always)]
    pub fn poll_transmit(&mut self, now: Instant, segment: &mut Segment) -> Option<Outgoing> {
        if let ControlFlow::Break(outgoing) = self.plain_departure(now, segment) {
            return outgoing;
        }
        // The result is rebuilt field by field, so that the result of the fast path stays in
        // registers.
        let Outgoing { start, transmission } = self.any_departure(now, segment)?;
        Some(match transmission {
            Some(Transmission { id, start, len, kind, copy }) => {
                Outgoing::of(Transmission { id, start, len, kind, copy })
            }
            None => Outgoing { start, transmission: None },
        })
    }

    /// Writes the next segment on the full path.
    #[inline(never)]
    fn any_departure(&mut self, now: Instant, segment: &mut Segment) -> Option<Outgoing> {
        if self.receiver.due.owed() == DueAck::Alone || self.reply.is_some() {
            return self.poll_urgent(now, segment);
        }
        if self.engine.una() != self.stream.end()
            && let Some(transmission) = self.poll_data(now, segment)
        {
            return Some(Outgoing::of(transmission));
        }
        // If a data segment was sent before, it carried the acknowledgement.
        let due = self.receiver.due.owed() == DueAck::Now && self.state != State::Closed;
        due.then(|| self.acknowledgement(now, segment))
    }

    /// Returns `false` if [`poll_transmit`](Self::poll_transmit) certainly has no segment, at a
    /// lower cost. At a receiver of bulk data, this is so after every second arrival.
    #[inline(always)]
    pub fn may_transmit(&self) -> bool {
        self.engine.una() != self.stream.end() || self.reply.is_some() || self.receiver.due.owed() != DueAck::InTime
    }

    /// Writes a segment that precedes data: a segment outside the normal exchange, or an
    /// acknowledgement that must not be combined with data.
    fn poll_urgent(&mut self, now: Instant, segment: &mut Segment) -> Option<Outgoing> {
        let Some(reply) = self.reply.take() else {
            return (self.state != State::Closed).then(|| self.acknowledgement(now, segment));
        };
        *segment = *reply;
        // A bare RST answers a segment. Its TSval is 0 (RFC 7323, section 5.2).
        if segment.flags != Flags::RST
            && let (Some(stamps), Some(option)) = (&mut self.stamps, &mut segment.options.timestamps)
        {
            option.value = stamps.leaves_now(now).0;
        }
        Some(Outgoing { start: 0, transmission: None })
    }

    /// Writes the engine's next transmission.
    fn poll_data(&mut self, now: Instant, segment: &mut Segment) -> Option<Transmission> {
        if matches!(self.state, State::Closed | State::Listen) {
            return None;
        }
        let stamp = self.stamps.as_mut().map(|stamps| stamps.value(now));
        if self.user_timeout.until == Instant::NEVER && self.user_timeout.length != Duration::MAX {
            self.user_timeout.until = now + self.user_timeout.length;
        }
        let transmission = match self.state {
            // Data waits until the handshake is complete.
            State::SynSent | State::SynReceived(_) => {
                if let (Instant::NEVER, Some(limit)) =
                    (self.user_timeout.until, self.rare.handshake().settings.give_up.handshake)
                {
                    self.user_timeout.until = now + limit;
                }
                self.engine.poll_handshake(now, stamp)?
            }
            _ => {
                self.stream.pass(self.engine.nxt());
                self.next_transmission(now, &self.offer(stamp))?
            }
        };
        let Transmission { start, len, copy, kind, .. } = transmission;
        if let (Some(stamps), Some(stamp)) = (&mut self.stamps, stamp) {
            stamps.sent(now, copy, stamp);
        }
        if start == 0 {
            *segment = self.syn(stamp);
        } else {
            let (flags, payload_len) = self.shape(start, len);
            self.write_header(segment, start, (flags, payload_len), self.timestamps(stamp));
            self.write_rare(now, segment, copy > 0);
            if payload_len > 0 && self.rare.quick.on_sent(now, self.rare.open_settings.ack_delay) {
                self.set_state(self.state);
            }
            if self.ecn.is_agreed() {
                let fresh = kind == Kind::New && payload_len > 0;
                self.ecn.write(segment, fresh, self.engine.reductions());
            }
        }
        Some(transmission)
    }

    /// Writes an acknowledgement without data. Its sequence number stays within the peer's window.
    /// After a zero window probe SND.NXT is beyond the window, and the peer would drop the segment.
    #[inline(always)]
    pub(crate) fn acknowledgement(&mut self, now: Instant, segment: &mut Segment) -> Outgoing {
        let position = self.engine.nxt().min(self.peer.limit.max(self.engine.una()));
        #[expect(clippy::manual_map, reason = "the compiler does not inline the closure")]
        let stamp = match &mut self.stamps {
            Some(stamps) => Some(stamps.leaves_now(now)),
            None => None,
        };
        self.write_header(segment, position, (Flags::ACK, 0), self.timestamps(stamp));
        self.write_rare(now, segment, false);
        if self.ecn.is_agreed() {
            self.ecn.write(segment, false, 0);
        }
        Outgoing { start: position.saturating_sub(1), transmission: None }
    }

    /// Writes the header of a segment that begins at `position`, with the cumulative ACK.
    #[inline(always)]
    pub(crate) fn write_header(
        &mut self,
        segment: &mut Segment,
        position: u64,
        (flags, payload_len): (Flags, u32),
        timestamps: Option<Timestamps>,
    ) {
        let (ack, window) = self.receiver.acknowledge();
        *segment = Segment {
            source_port: self.ports.local,
            destination_port: self.ports.remote,
            seq: wrap(position, self.iss),
            ack,
            flags,
            window,
            options: Options { timestamps, ..Options::NONE },
            payload_len,
            ecn: Ecn::NotEct,
        };
    }

    /// Writes the options that few segments carry: marks of retransmissions, and SACK blocks in the
    /// remaining space. `again` says whether the segment is a retransmission.
    #[inline(always)]
    fn write_rare(&mut self, now: Instant, segment: &mut Segment, again: bool) {
        if !self.marks.is_off() {
            self.marks.write(now, again, segment);
        }
        if self.receiver.has_blocks() {
            segment.options.sack = self.blocks_for(segment.payload_len, segment.options.timestamps);
        }
    }

    /// Returns the timestamps option with TSval `stamp`. `None` without a `stamp` or without
    /// negotiated timestamps.
    #[inline]
    pub(crate) fn timestamps(&self, stamp: Option<Timestamp>) -> Option<Timestamps> {
        match (stamp, &self.stamps) {
            (Some(Timestamp(value)), Some(stamps)) => Some(Timestamps { value, echo: stamps.echo() }),
            _ => None,
        }
    }

    /// Returns the payload bytes of a full segment sent now. It is shorter while data carries SACK
    /// blocks.
    #[inline(always)]
    pub(crate) fn full_segment(&self) -> u32 {
        if self.receiver.has_blocks() { self.full_beside_blocks() } else { self.mss }
    }

    #[inline(never)]
    fn full_beside_blocks(&self) -> u32 {
        let most = if self.stamps.is_some() { BLOCKS_WITH_TIMESTAMPS } else { BLOCKS };
        match self.receiver.blocks_beside_data().min(most) as u32 {
            0 => self.mss,
            blocks => {
                let shorter = self.mss.saturating_sub(SACK_HEAD + SACK_BLOCK * blocks);
                if shorter < LEAST_PAYLOAD { self.mss } else { shorter }
            }
        }
    }

    /// Returns the SACK blocks that fit next to a payload of `payload_len` bytes.
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
