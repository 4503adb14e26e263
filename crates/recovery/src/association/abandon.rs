//! Chunks that the association abandons (RFC 3758, section 3.5).
//!
//! While abandoned chunks are outstanding, the cumulative TSN may advance because of a FORWARD TSN,
//! and a duplicate report may be of a chunk that the peer was told to skip. Neither shows whether an
//! original has arrived. So no detector judges, and the open episode ends without a verdict.

use super::{Engine, PathId, Size};
use eifel_base::time::{Duration, Instant};

impl Engine {
    /// Abandons an outstanding chunk: it counts as acknowledged, but no window grows by it (rule A2).
    pub fn abandon(&mut self, position: u64) {
        self.quiet = None;
        self.ledger.abandon(position);
        for destination in &mut self.destinations {
            // A SACK of the chunk is no round trip, as after a retransmission.
            destination.path.watch.on_repeat(position);
        }
    }

    /// Gives the next position to a chunk that never leaves, and abandons it.
    pub fn abandon_unsent(&mut self, now: Instant, path: PathId) {
        let position = self.ledger.on_new(now, path, Size::default(), None);
        self.ledger.end_packet();
        self.abandon(position);
    }

    /// Returns the lowest position from `from` on that is marked for retransmission.
    pub fn lost_from(&self, from: u64) -> Option<u64> {
        self.ledger.marked_from(from)
    }

    /// Returns whether a chunk is outstanding that is not abandoned.
    pub fn has_outstanding(&self) -> bool {
        self.ledger.has_outstanding()
    }

    /// Returns the first position beyond the abandoned chunks that follow the cumulative TSN: one
    /// more than "Advanced.Peer.Ack.Point" (rule C2).
    pub fn peer_ack_point(&self) -> u64 {
        self.ledger.peer_ack_point()
    }

    /// Records that a FORWARD TSN was sent on `path`. A retransmission timer must be running then
    /// (rule C5).
    pub fn on_forward_tsn(&mut self, now: Instant, path: PathId) {
        if self.destinations.iter().all(|destination| destination.path.timer == Instant::NEVER) {
            self.destinations[path.0].path.start_timer(now);
        }
    }

    /// Returns a path's smoothed round trip, or its RTO before the first sample.
    pub fn round_trip(&self, path: PathId) -> Duration {
        let rto = &self.destinations[path.0].path.rto;
        rto.srtt().unwrap_or_else(|| rto.rto())
    }

    /// Returns whether no retransmission timer but that of `path` runs.
    fn has_last_timer(&self, path: PathId) -> bool {
        let mut others = self.destinations.iter().enumerate().filter(|(index, _)| *index != path.0);
        others.all(|(_, destination)| destination.path.timer == Instant::NEVER)
    }

    /// Returns whether the timer of a path on which nothing is under way must keep running, because
    /// it alone can repeat a FORWARD TSN.
    pub(super) fn keeps_timer(&self, path: PathId) -> bool {
        self.ledger.has_abandoned() && self.has_last_timer(path)
    }
}
