//! Sends packets: their contents, time and path (RFC 9260, sections 6.1 and 6.4).

use super::ledger::{Chunk, Size};
use super::rules::Permission;
use super::{Engine, PathId};
use crate::fact::{Kind, Transmission};
use crate::pace::Permit;
use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;

/// The longest interval between two probes of a closed window, unless the RTO is longer.
const LONGEST_PROBE_INTERVAL: Duration = Duration::from_secs(60);

/// The data that the association could send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offer {
    /// The path for new data: the primary, unless it has failed or the user wants another.
    pub path: PathId,
    /// The next chunk of new data, if there is one.
    pub next: Option<Size>,
    /// Bytes that the peer has advertised in its newest SACK.
    pub a_rwnd: u64,
}

/// A packet that may be sent now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketToSend {
    pub path: PathId,
    pub contents: PacketContents,
}

/// The contents of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PacketContents {
    /// Chunks that are marked for retransmission, as many as fit. See [`Engine::next_retransmission`].
    Retransmissions,
    /// New chunks that fit into the packet and into `room` bytes of user data.
    New {
        /// Bytes of user data that the peer's window allows.
        room: u64,
    },
    /// One new chunk, although the peer's window has no room for it.
    Probe,
    /// A chunk that is under way once more, to get a SACK (RFC 8985, section 7.3). See
    /// [`Engine::on_tail_probe`].
    TailLossProbe { position: u64 },
}

impl Engine {
    /// Returns the packet that may be sent now, if there is one.
    pub fn poll(&mut self, now: Instant, offer: &Offer) -> Option<PacketToSend> {
        if let Some(answer) = self.poll_probe(now, offer) {
            return answer;
        }
        if let Some(answer) = self.poll_tail_probe(now, offer) {
            return answer;
        }
        if let Some(first) = self.ledger.marked_from(0) {
            // Section 6.1, rule C: marked chunks go before new data, as far as cwnd allows.
            let path = self.target(first);
            let waits = self.permission == Permission::Sack;
            let may = self.permission.is_forced() || !waits && self.may_send(now, path);
            return may.then_some(PacketToSend { path, contents: PacketContents::Retransmissions });
        }
        self.permission = Permission::Window;
        let next = offer.next?;
        let room = offer.a_rwnd.saturating_sub(self.ledger.data_under_way());
        // Rule A: a window that is too small for the next chunk is closed [rfc8540:3.39], and no chunk is cut to fit it
        // [rfc8540:3.7].
        if room >= u64::from(next.data) {
            self.persist = Instant::NEVER;
            self.probes = 0;
            return self
                .may_send(now, offer.path)
                .then_some(PacketToSend { path: offer.path, contents: PacketContents::New { room } });
        }
        let due = self.probe_is_due(now, offer.path);
        due.then_some(PacketToSend { path: offer.path, contents: PacketContents::Probe })
    }

    /// Returns whether a closed window may be probed now (section 6.1, rule A). Sets `persist` if
    /// it is not set.
    fn probe_is_due(&mut self, now: Instant, path: PathId) -> bool {
        if self.ledger.has_outstanding() {
            return false;
        }
        if self.persist == Instant::NEVER {
            let rto = self.rto(path);
            let interval = rto * (1 << self.probes.min(16));
            self.quiet = None;
            self.persist = now + interval.min(LONGEST_PROBE_INTERVAL.max(rto));
        }
        self.persist <= now
    }

    /// Returns whether cwnd, the limit after a timeout, and pacing allow a packet on a path. Rule
    /// B: cwnd may be exceeded by less than one packet [rfc8540:3.38]. Pacing, for example
    /// Max.Burst, does not change cwnd [rfc8540:3.31].
    fn may_send(&mut self, now: Instant, path: PathId) -> bool {
        let flight = self.ledger.flight(path);
        let destination = &self.destinations[path.0];
        if flight >= destination.path.window.cwnd || destination.one_packet && flight > 0 {
            return false;
        }
        self.is_permitted(now, path)
    }

    /// Returns whether pacing allows a packet on a path.
    pub(super) fn is_permitted(&mut self, now: Instant, path: PathId) -> bool {
        let target = &mut self.destinations[path.0].path;
        match target.permit(now) {
            Permit::Now => true,
            Permit::At(at) => {
                target.released_at = at;
                false
            }
            Permit::NextInput => false,
        }
    }

    /// Returns the path for the retransmission of a marked chunk.
    fn target(&mut self, position: u64) -> PathId {
        self.find_usable();
        let chunk = self.ledger.chunk(position);
        self.retransmit.choose(chunk.last, chunk.cause, &self.usable)
    }

    /// Returns the lowest marked chunk from `from` on, if its retransmission belongs on `path`.
    pub fn next_retransmission(&mut self, path: PathId, from: u64) -> Option<(u64, Size)> {
        let position = self.ledger.marked_from(from)?;
        (self.target(position) == path).then(|| (position, self.ledger.chunk(position).size))
    }

    /// Records that a marked chunk is retransmitted on `path`, in a packet with timestamp `stamp`.
    pub fn on_retransmitted(
        &mut self,
        now: Instant,
        position: u64,
        path: PathId,
        stamp: Option<Timestamp>,
    ) -> Transmission {
        let before = self.ledger.on_retransmission(now, position, path);
        self.again_below = self.again_below.max(position + 1);
        self.quiet = None;
        let id = self.next_id();
        let transmission = Transmission {
            id,
            start: position,
            len: 1,
            kind: Kind::Retransmission(before.cause),
            copy: before.copies + 1,
        };
        self.tell_of_retransmission(now, (path, &before), &transmission, stamp);
        if self.ledger.oldest(path) == Some(position) {
            // Section 6.1: the timer restarts when the earliest outstanding chunk of the path is
            // sent.
            self.destinations[path.0].path.start_timer(now);
        }
        transmission
    }

    /// Tells the watches of a retransmission on `path`. `before` is the chunk's state before it.
    pub(super) fn tell_of_retransmission(
        &mut self,
        now: Instant,
        (path, before): (PathId, &Chunk),
        transmission: &Transmission,
        stamp: Option<Timestamp>,
    ) {
        for index in 0..self.destinations.len() {
            self.update_view(now, PathId(index));
            let watch = &mut self.destinations[index].path.watch;
            if PathId(index) == before.last {
                watch.on_retransmission(transmission, stamp, before.stamp);
            } else {
                // Karn's rule, section 6.3.1, C5.
                watch.on_repeat(transmission.start);
            }
        }
        self.on_resent(now, path, transmission.start);
    }

    /// Records that a new chunk is sent on `path`. `stamp` is the timestamp of its packet; `None`
    /// if another packet has the same one.
    pub fn on_new(&mut self, now: Instant, path: PathId, size: Size, stamp: Option<Timestamp>) -> Transmission {
        if self.ledger.flight(path) == 0 {
            self.destinations[path.0].path.restart_after_idle(now);
        }
        // Quiet SACKs cover one path, so data on another path ends the quiet state.
        self.quiet = self.quiet.filter(|quiet| *quiet == path);
        let position = self.ledger.on_new(now, path, size, stamp);
        self.destinations[path.0].path.watch.on_new(now, position + 1);
        let id = self.next_id();
        Transmission { id, start: position, len: 1, kind: Kind::New, copy: 0 }
    }

    /// Records that a packet with `bytes` of data chunks was sent. Call it after recording each of
    /// the packet's chunks.
    pub fn on_packet(&mut self, now: Instant, go: &PacketToSend, bytes: u32) {
        self.count_probe(go);
        if go.contents == PacketContents::Retransmissions {
            self.permission = self.permission.after_packet();
        }
        if go.contents == PacketContents::Probe {
            self.probes += 1;
            self.quiet = None;
            self.persist = Instant::NEVER;
        }
        self.ledger.end_packet();
        self.destinations[go.path.0].path.on_sent(now, bytes);
        self.follow_packet(now, go);
    }
}
