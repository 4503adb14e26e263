//! Processes a SACK (RFC 9260, sections 6.2.1 and 7.2).

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
    /// The timestamp echo; `None` without timestamps or if the echo was implausible.
    pub echo: Option<Echo>,
    /// The path on which the packet with that timestamp was sent, if it is known.
    pub echo_of: Option<PathId>,
    /// Whether an original or a retransmission caused the SACK; `None` unless both ends use the
    /// retransmit bit.
    pub mark: Option<Mark>,
}

impl Engine {
    /// Processes a SACK. The order is: the ledger; round trips, detectors and window of each path;
    /// the losses that the SACK reports; the timer of each path.
    pub fn on_sack(&mut self, now: Instant, sack: &Sack<'_>) {
        let taken = self.ledger.on_sack(sack.cumulative, sack.blocks, &mut self.shares);
        let grows = self.exit.is_none();
        for path in 0..self.destinations.len() {
            self.credit(now, PathId(path), sack, &taken, grows);
        }
        if self.exit.is_some_and(|exit| sack.cumulative >= exit) {
            self.exit = None;
        }
        // Section 7.2.4: TSNs below the highest newly acknowledged one get a miss indication. In
        // fast recovery, if the cumulative TSN advanced, all TSNs reported missing get one.
        let below = if self.exit.is_some() && taken.advanced { taken.reported_up_to } else { taken.newest };
        self.miss(now, below);
        for path in 0..self.destinations.len() {
            self.run_timer(now, PathId(path));
            self.destinations[path].path.watch.close_if_repaired(sack.cumulative);
        }
        self.quiet = self.find_quiet();
    }

    /// Applies a SACK to a path. `grows` is false in fast recovery, when the window must not grow.
    fn credit(&mut self, now: Instant, path: PathId, sack: &Sack<'_>, taken: &Taken, grows: bool) {
        let share = self.shares[path.0];
        self.look(now, path);
        // A spurious verdict puts marked chunks under way again, so they count as outstanding (RFC
        // 4015, section 3.1).
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
        // A round trip belongs to the path on which the packet was sent.
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
            // Sending continues with new data: the chunks that the path deemed lost are under way
            // after all.
            self.ledger.unmark(path);
        }
    }

    /// Counts miss indications below a position, and enters fast recovery if a chunk reaches three.
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
        // Fast recovery begins. One packet is sent regardless of cwnd, and no later one in this
        // recovery [rfc8540:3.15].
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
            // Chunks that were reneged, or put under way again by a verdict, have no timer yet.
            Some(_) if path.timer == Instant::NEVER => path.start_timer(now),
            Some(_) => {}
        }
    }
}
