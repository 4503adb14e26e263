//! A SACK comes in (RFC 9260, sections 6.2.1 and 7.2).

use super::ledger::Taken;
use super::{Engine, PathId};
use crate::congest::Progress;
use crate::detect::Judgement;
use crate::fact::{Acked, Block, Cause, Echo, Mark};
use eifel_base::time::Instant;

/// An acceptable SACK (`una <= cumulative <= nxt`), unwrapped and checked by the association.
#[derive(Clone, Copy, Debug)]
pub struct Sack<'a> {
    /// First position that the peer has not received in order.
    pub cumulative: u64,
    /// Gap ack blocks, in the chunk's order.
    pub blocks: &'a [Block],
    /// Duplicate TSNs, each a block of its own.
    pub duplicates: &'a [Block],
    /// The timestamp echoed, where timestamps are in use and the echo was plausible.
    pub echo: Option<Echo>,
    /// The path on which the packet with that timestamp left, if it is known.
    pub echo_of: Option<PathId>,
    /// Whether an original or a retransmission caused it, where the retransmit bit was agreed on.
    pub mark: Option<Mark>,
}

impl Engine {
    /// Takes in a SACK: first the ledger; then, path by path, round trips, detectors, timer and window; then the losses
    /// that it tells of.
    pub fn on_sack(&mut self, now: Instant, sack: &Sack<'_>) {
        let taken = self.ledger.on_sack(sack.cumulative, sack.blocks, &mut self.shares);
        let grows = self.exit.is_none();
        for path in 0..self.destinations.len() {
            self.credit(now, PathId(path), sack, &taken, grows);
        }
        if self.exit.is_some_and(|exit| sack.cumulative >= exit) {
            self.exit = None;
        }
        // Section 7.2.4: the highest TSN newly acknowledged counts; in fast recovery, if the cumulative TSN moved, all do
        // that are reported missing.
        let below = if self.exit.is_some() && taken.advanced { taken.reported_up_to } else { taken.newest };
        self.miss(now, below);
        for path in 0..self.destinations.len() {
            self.run_timer(now, PathId(path));
            self.destinations[path].path.watch.close_if_repaired(sack.cumulative);
        }
        self.quiet = self.find_quiet();
    }

    /// Gives a path its share of a SACK. The window `grows` outside of fast recovery.
    fn credit(&mut self, now: Instant, path: PathId, sack: &Sack<'_>, taken: &Taken, grows: bool) {
        let share = self.shares[path.0];
        self.look(now, path);
        // A verdict of spurious puts what is marked under way again, so it counts as outstanding (RFC 4015, section 3.1).
        let (all, outstanding) = (self.ledger.una() == self.ledger.nxt(), self.ledger.outstanding(path));
        let destination = &mut self.destinations[path.0];
        let target = &mut destination.path;
        target.on_input();
        let delivered = share.acked + share.sacked;
        if delivered > 0 {
            destination.one_packet = false;
        }
        if delivered == 0 && share.passed == 0 && target.watch.last_episode().is_none() {
            return;
        }
        let acked = Acked {
            cumulative: sack.cumulative,
            bytes: share.passed,
            sacked: share.sacked,
            originals: Some(share.acked + share.sacked - share.acked_again - share.sacked_again),
            duplicate: !taken.advanced && share.sacked > 0,
            highest: share.highest,
            sacked_up_to: taken.reported_up_to,
            dsacks: sack.duplicates,
            echo: sack.echo,
            mark: sack.mark,
            ece: false,
            all,
        };
        // A round trip is that of the path on which the packet left.
        let echo = sack.echo.filter(|_| sack.echo_of == Some(path));
        let sample = target.watch.on_ack(&Acked { echo, ..acked });
        let judgement = target.watch.judge(&acked);
        let judgement = self.run_probe(path, judgement);
        let target = &mut self.destinations[path.0].path;
        let mut effect = target.settle(judgement, Some(&acked), sample, outstanding);
        if matches!(judgement, Judgement::LostBesides(_)) {
            target.cut_for_lost_besides();
            effect.grows = false;
        }
        target.sample(&acked, sample, effect.change);
        let repeats = self.credit.counts_repeats(path, sack);
        let (acked, sacked) = share.counted(repeats);
        if effect.grows && grows && acked + sacked > 0 {
            target.grow(&Progress { acked, sacked, delivered: acked, flight: share.flight });
        }
        if effect.resumes == Some(Cause::Timeout) {
            // Sending goes on with new data: what the path deemed lost is under way after all.
            self.ledger.unmark(path);
        }
    }

    /// Counts miss indications below a position, and enters fast recovery if something has three.
    fn miss(&mut self, now: Instant, below: u64) {
        let lost = self.ledger.miss(below);
        if lost.is_empty() {
            return;
        }
        let flights: Vec<_> = (0..self.destinations.len()).map(|path| self.flight_of(PathId(path))).collect();
        let mut struck = vec![false; flights.len()];
        self.ledger.mark_lost(lost, |path| struck[path.0] = true);
        if self.exit.is_some() || !struck.contains(&true) {
            return;
        }
        for (path, flight) in flights.into_iter().enumerate().filter(|(path, _)| struck[*path]) {
            self.look(now, PathId(path));
            self.destinations[path].path.open_episode(Cause::FastRetransmit, flight, 0);
        }
        // Fast recovery begins: one packet leaves whatever cwnd says, and none later in it [rfc8540:3.15].
        self.exit = Some(self.ledger.nxt());
        self.owed = true;
    }

    /// Stops or restarts a path's timer after a SACK (section 6.3.2, rules R2, R3 and R4).
    fn run_timer(&mut self, now: Instant, path: PathId) {
        let oldest = self.ledger.oldest(path).map(|position| self.ledger.chunk(position).last_sent);
        let share = self.shares[path.0];
        let path = &mut self.destinations[path.0].path;
        match oldest {
            None => path.rest(now),
            Some(oldest) if share.oldest => path.restart_timer(now, oldest),
            // What was reneged, or put under way again by a verdict, has no timer yet.
            Some(_) if path.timer == Instant::NEVER => path.start_timer(now),
            Some(_) => {}
        }
    }
}
