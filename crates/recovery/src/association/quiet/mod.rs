//! A shortcut for nearly all SACKs and packets. It applies while nothing is lost, reported,
//! suspected or probed, and all outstanding chunks were sent once, on one path.
//!
//! A quiet SACK samples the round trip, lets the window grow and restarts the timer. The other
//! steps of [`on_sack`](Engine::on_sack) would change nothing. No gap ack block has come and none
//! is stored, so nothing is missing. No chunk was sent twice, so Karn's rule and the credit rule
//! have nothing to decide. Detectors wait for a retransmission, and no episode is open.
//! [`find_quiet`](Engine::find_quiet) checks all this after every full
//! [`on_sack`](Engine::on_sack). Any other event ends the quiet state. A property test compares the
//! shortcut with the full processing.

use super::ledger::{PathNews, Size};
use super::{Engine, PathId};
use crate::congest::Progress;
use crate::fact::{Kind, Transmission, TxId};
use crate::pace::Permit;
use crate::rto::Sample;
use eifel_base::time::Instant;

impl Engine {
    /// Processes a SACK that has only a cumulative TSN, with the same effect as
    /// [`on_sack`](Self::on_sack). This works if the engine is quiet, the SACK acknowledges new
    /// chunks, and chunks remain outstanding. Returns the path on which the acknowledged chunks
    /// were sent. Otherwise returns `None` and changes nothing.
    pub fn on_quiet_sack(&mut self, now: Instant, cumulative: u64) -> Option<PathId> {
        let path = self.quiet?;
        let (una, nxt) = (self.ledger.una(), self.ledger.nxt());
        if cumulative <= una || nxt <= cumulative {
            return None;
        }
        let flight = self.ledger.flight(path);
        let highest = self.ledger.pass_quietly(path, cumulative);
        let acked = flight - self.ledger.flight(path);
        self.news.fill(PathNews::default());
        self.news[path.0].acked = acked;
        for destination in &mut self.destinations {
            destination.path.on_input();
        }
        let oldest = self.ledger.chunk(cumulative).last_sent;
        let target = &mut self.destinations[path.0].path;
        target.watch.update_view(now, cumulative, nxt);
        if let Some(rtt) = target.watch.on_plain_ack(Some(highest), cumulative, None) {
            if let Some(pace) = &mut target.pace {
                pace.on_sample(now, rtt);
            }
            target.rto.sample(&Sample { rtt, acked, window: target.window }, target.watch.view());
            target.watch.on_smoothed(target.rto.srtt());
        }
        target.grow(&Progress { acked, sacked: 0, delivered: acked, flight });
        target.restart_timer(now, oldest);
        Some(path)
    }

    /// Processes a SACK that reports no gaps and acknowledges nothing, with the same effect as
    /// [`on_sack`](Self::on_sack). This works if nothing was reported before and no detector
    /// judges: then its duplicates change nothing, and it withdraws no report. RACK-TLP counts them. `cumulative` is its
    /// first position that has not arrived in order. Otherwise returns `false` and changes nothing.
    pub fn on_repeated_sack(&mut self, cumulative: u64) -> bool {
        let judged = self.destinations.iter().any(|destination| destination.path.watch.has_detectors());
        if cumulative != self.ledger.una() || judged || self.ledger.has_reports() || self.is_by_time() {
            return false;
        }
        self.news.fill(PathNews::default());
        self.permission = self.permission.after_sack();
        self.destinations.iter_mut().for_each(|destination| destination.path.on_input());
        true
    }

    /// Returns whether a packet with the next new chunk, of size `next`, may be sent on `path` now.
    /// Returns `None` if [`poll`](Self::poll) has to decide.
    #[inline]
    pub fn quiet_room(&self, now: Instant, path: PathId, next: Size, a_rwnd: u64) -> Option<bool> {
        if self.quiet != Some(path) {
            return None;
        }
        let target = &self.destinations[path.0].path;
        let under_way = self.ledger.under_way(path);
        if target.window.cwnd <= under_way.wire || a_rwnd < under_way.data + u64::from(next.data) {
            return Some(false);
        }
        match target.permit(now) {
            Permit::Now => Some(true),
            Permit::NextInput => Some(false),
            Permit::At(_) => None,
        }
    }

    /// Returns whether the window of a path has room, if the engine is quiet.
    #[inline]
    pub fn has_quiet_room(&self, path: PathId) -> bool {
        self.destinations[path.0].path.window.cwnd > self.ledger.flight(path)
    }

    /// Sends a packet of one chunk for which there is [quiet room](Self::quiet_room).
    #[inline(always)]
    pub fn send_quiet(&mut self, now: Instant, path: PathId, size: Size) -> Transmission {
        let position = self.ledger.on_new(now, path, size, None);
        let target = &mut self.destinations[path.0].path;
        target.watch.on_new(now, position + 1);
        target.on_sent(now, size.wire);
        let id = TxId(self.next_id);
        self.next_id += 1;
        Transmission { id, start: position, len: 1, kind: Kind::New, copy: 0 }
    }

    /// Returns the path on which all outstanding chunks were sent, if the engine is quiet. It stays
    /// quiet until a chunk is retransmitted or sent on another path, a timer expires, or a SACK has
    /// more than a cumulative TSN. RACK-TLP looks at every SACK and every packet.
    pub(super) fn find_quiet(&self) -> Option<PathId> {
        if self.is_by_time() {
            return None;
        }
        let open = self.exit.is_none() && self.probe.is_none() && self.probes == 0 && self.persist == Instant::NEVER;
        let path = self.ledger.only_path().filter(|_| open && self.again_below <= self.ledger.una())?;
        let calm = |(index, destination): (usize, &super::Destination)| {
            let waits = destination.path.watch.episode().is_none() && destination.path.watch.detectors_wait();
            waits && (index != path.0 || destination.path.is_undisturbed() && !destination.one_packet)
        };
        self.destinations.iter().enumerate().all(calm).then_some(path)
    }
}

#[cfg(test)]
mod tests;
