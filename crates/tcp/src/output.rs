//! Segments leave.

use eifel_packet::segment::{Flags, Options, SackBlocks, Segment, Timestamps};
use eifel_packet::seq::wrap;
use eifel_recovery::engine::Offer;
use eifel_recovery::fact::Transmission;
use eifel_recovery::time::{Duration, Instant};
use eifel_recovery::units::Timestamp;

use crate::connection::{Connection, Outgoing};
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
    #[inline]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Outgoing> {
        if let Some(segment) = self.reply.take() {
            return Some(Outgoing { segment: *segment, start: 0, transmission: None });
        }
        if matches!(self.receiver.due, Due::Alone) && self.state != State::Closed {
            return self.acknowledgement(now);
        }
        if let Some(outgoing) = self.next_transmission(now) {
            return Some(outgoing);
        }
        if matches!(self.receiver.due, Due::Now) && self.state != State::Closed {
            return self.acknowledgement(now);
        }
        None
    }

    /// What the engine wants to send.
    #[inline]
    fn next_transmission(&mut self, now: Instant) -> Option<Outgoing> {
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
        let Transmission { id, start, len, kind, copy } =
            self.engine.poll_send(now, &Offer { end, fin, limit, stamp })?;
        if let (Some(stamps), Some(stamp), 0) = (&mut self.stamps, stamp, copy) {
            stamps.sent(start, stamp);
        }
        if start == 0 {
            let segment = self.syn(now);
            return Some(Outgoing { segment, start, transmission: Some(Transmission { id, start, len, kind, copy }) });
        }
        let (flags, payload_len) = self.shape(start, len);
        let sack = self.blocks_for(payload_len, stamp);
        let (ack, window) = self.receiver.acknowledge();
        // Written in one piece where it is to stand: segments are large to copy.
        Some(Outgoing {
            segment: Segment {
                source_port: self.ports.local,
                destination_port: self.ports.remote,
                seq: wrap(start, self.iss),
                ack,
                flags,
                window,
                options: Options { timestamps: self.timestamps(stamp), sack, ..NO_OPTIONS },
                payload_len,
            },
            start: start - 1,
            transmission: Some(Transmission { id, start, len, kind, copy }),
        })
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
    fn acknowledgement(&mut self, now: Instant) -> Option<Outgoing> {
        let position = self.engine.nxt().min(self.peer.limit.max(self.engine.una()));
        let stamp = self.stamps.as_mut().map(|stamps| stamps.value(now));
        let sack = self.blocks_for(0, stamp);
        let (ack, window) = self.receiver.acknowledge();
        Some(Outgoing {
            segment: Segment {
                source_port: self.ports.local,
                destination_port: self.ports.remote,
                seq: wrap(position, self.iss),
                ack,
                flags: Flags::ACK,
                window,
                options: Options { timestamps: self.timestamps(stamp), sack, ..NO_OPTIONS },
                payload_len: 0,
            },
            start: position.saturating_sub(1),
            transmission: None,
        })
    }

    #[inline]
    fn timestamps(&self, stamp: Option<Timestamp>) -> Option<Timestamps> {
        match (stamp, &self.stamps) {
            (Some(stamp), Some(stamps)) => Some(Timestamps { value: stamp.0, echo: stamps.echo() }),
            _ => None,
        }
    }

    /// SACK blocks for a segment with so much payload: they are paid for by what a segment may carry.
    #[inline]
    fn blocks_for(&mut self, payload_len: u32, stamp: Option<Timestamp>) -> SackBlocks {
        if !self.receiver.has_blocks() {
            return SackBlocks::EMPTY;
        }
        let most = if stamp.is_some() { BLOCKS_WITH_TIMESTAMPS } else { BLOCKS };
        let room = match payload_len {
            0 => BLOCKS,
            len => (self.mss.saturating_sub(len + SACK_HEAD) / SACK_BLOCK) as usize,
        };
        self.receiver.sack_blocks(room.min(most))
    }
}

const NO_OPTIONS: Options =
    Options { mss: None, window_scale: None, sack_permitted: false, timestamps: None, sack: SackBlocks::EMPTY };
