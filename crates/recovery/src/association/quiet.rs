//! A shortcut for nearly all SACKs and packets: chunks that left once are acknowledged in order, and new ones leave, while
//! nothing is lost, reported, suspected or probed, and everything outstanding left on one path.
//!
//! Such a SACK samples the round trip, lets the window grow and starts the timer anew. The answers to whatever
//! [`on_sack`](Engine::on_sack) asks besides are known: no gap ack block has come and none is remembered, so nothing is
//! missing; no chunk left twice, so Karn's rule and the credit have nothing to decide; detectors wait for a
//! retransmission; no episode is open. [`find_quiet`](Engine::find_quiet) asks each of them after every SACK taken in in
//! full. Whatever else happens ends the quiet. A property test compares both ways.

use super::ledger::{Share, Size};
use super::{Engine, PathId};
use crate::congest::Progress;
use crate::fact::{Kind, Transmission, TxId};
use crate::pace::Permit;
use crate::rto::Sample;
use eifel_base::time::Instant;

impl Engine {
    /// Takes in a SACK that says nothing but its cumulative TSN as [`on_sack`](Self::on_sack) would, if all is quiet and
    /// something remains outstanding. Returns the path on which its chunks left; `None`, with nothing done, if not.
    pub fn on_quiet_sack(&mut self, now: Instant, cumulative: u64) -> Option<PathId> {
        let path = self.quiet?;
        let (una, nxt) = (self.ledger.una(), self.ledger.nxt());
        if cumulative <= una || nxt <= cumulative {
            return None;
        }
        let flight = self.ledger.flight(path);
        let highest = self.ledger.pass_quietly(path, cumulative);
        let acked = flight - self.ledger.flight(path);
        self.shares.fill(Share::default());
        self.shares[path.0].acked = acked;
        for destination in &mut self.destinations {
            destination.path.on_input();
        }
        let oldest = self.ledger.chunk(cumulative).last_sent;
        let target = &mut self.destinations[path.0].path;
        target.watch.look(now, cumulative, nxt);
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

    /// Takes in a SACK that reports no gaps and acknowledges nothing as [`on_sack`](Self::on_sack) would, if nothing was
    /// reported before and no detector judges. Its duplicates change nothing then, and it takes back no report.
    /// `cumulative` is its first position that has not arrived in order. Returns `false`, with nothing done, if not.
    pub fn on_repeated_sack(&mut self, cumulative: u64) -> bool {
        let judged = self.destinations.iter().any(|destination| destination.path.watch.has_detectors());
        if cumulative != self.ledger.una() || judged || self.ledger.has_reports() {
            return false;
        }
        self.shares.fill(Share::default());
        self.destinations.iter_mut().for_each(|destination| destination.path.on_input());
        true
    }

    /// Whether a packet with the chunk of new data that is next, of this size, leaves on `path` now. Returns `None` where
    /// [`poll`](Self::poll) has to find out.
    #[inline]
    pub fn quiet_room(&self, now: Instant, path: PathId, next: Size, a_rwnd: u64) -> Option<bool> {
        if self.quiet != Some(path) {
            return None;
        }
        let target = &self.destinations[path.0].path;
        if target.window.cwnd <= self.ledger.flight(path)
            || a_rwnd < self.ledger.data_under_way() + u64::from(next.data)
        {
            return Some(false);
        }
        match target.permit(now) {
            Permit::Now => Some(true),
            Permit::NextInput => Some(false),
            Permit::At(_) => None,
        }
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

    /// Returns the path on which everything outstanding left, if all is quiet: until something leaves again or on another
    /// path, a timer expires, or a SACK says more than its cumulative TSN.
    pub(super) fn find_quiet(&self) -> Option<PathId> {
        let open = self.exit.is_none() && self.probe.is_none() && self.probes == 0 && self.persist == Instant::NEVER;
        let path = self.ledger.only_path().filter(|_| open && self.again_below <= self.ledger.una())?;
        let calm = |(index, destination): (usize, &super::Destination)| {
            let waits = destination.path.watch.episode().is_none() && destination.path.watch.detectors_wait();
            waits && (index != path.0 || destination.path.is_calm() && !destination.one_packet)
        };
        self.destinations.iter().enumerate().all(calm).then_some(path)
    }
}

#[cfg(test)]
mod tests;
