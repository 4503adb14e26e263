//! Processes a SACK (RFC 9260, sections 6.2.1 and 7.2).

use super::ledger::SackNews;
use super::rules::Permission;
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
        let taken = self.ledger.on_sack(sack.cumulative, sack.blocks, &mut self.news);
        self.permission = self.permission.after_sack();
        if taken.skips {
            self.probe = None;
        }
        let recovers = self.config.rules.has_fast_recovery() || self.is_by_time();
        let grows = if recovers { self.exit.is_none() } else { taken.advanced };
        for path in 0..self.destinations.len() {
            self.apply_to_path(now, PathId(path), sack, &taken, grows);
        }
        if self.exit.is_some_and(|exit| sack.cumulative >= exit) {
            self.exit = None;
        }
        if self.is_by_time() {
            self.find_losses(now, sack, &taken);
        } else {
            // Section 7.2.4: TSNs below the highest newly acknowledged one get a miss indication. In
            // fast recovery, if the cumulative TSN advanced, all TSNs reported missing get one. By
            // RFC 2960 all get one from every SACK.
            let all = !recovers || self.exit.is_some() && taken.advanced;
            let below = if all { taken.reported_up_to } else { taken.newest };
            self.on_misses(now, below);
        }
        for path in 0..self.destinations.len() {
            self.run_timer(now, PathId(path));
            self.set_alarm(PathId(path));
            self.destinations[path].path.watch.close_if_repaired(sack.cumulative);
        }
        self.quiet = self.find_quiet();
    }

    /// Applies a SACK to a path. `grows` is false in fast recovery, when the window must not grow.
    fn apply_to_path(&mut self, now: Instant, path: PathId, sack: &Sack<'_>, taken: &SackNews, grows: bool) {
        let news = self.news[path.0];
        self.update_view(now, path);
        // A spurious verdict puts marked chunks under way again, so they count as outstanding (RFC
        // 4015, section 3.1).
        let (acked, outstanding) = (self.acked(path, sack, taken), self.ledger.outstanding(path));
        let destination = &mut self.destinations[path.0];
        let target = &mut destination.path;
        target.on_input();
        let delivered = news.acked + news.sacked;
        if delivered > 0 {
            destination.one_packet = false;
        }
        if delivered == 0 && news.passed == 0 && target.watch.last_episode().is_none() {
            return;
        }
        // A round trip belongs to the path on which the packet was sent.
        let echo = sack.echo.filter(|_| sack.echo_of == Some(path));
        let sample = target.watch.on_ack(&Acked { echo, ..acked });
        let judgement = if taken.skips {
            target.watch.forget();
            Judgement::Undecided
        } else {
            target.watch.judge(&acked)
        };
        let judgement = self.run_probe(path, judgement);
        let target = &mut self.destinations[path.0].path;
        let mut effect = target.apply_verdict(judgement, Some(&acked), sample, outstanding);
        if matches!(judgement, Judgement::GenuineLossWithin(_)) {
            target.cut_for_loss_within();
            effect.grows = false;
        }
        target.sample(&acked, sample, effect.change);
        let repeats = self.credit.counts_repeats(path, sack);
        let (acked, sacked) = news.counted(repeats);
        if effect.grows && grows && acked + sacked > 0 {
            target.grow(&Progress { acked, sacked, delivered: acked, flight: news.flight });
        }
        if effect.resumes.is_some() {
            self.on_spurious(path);
        }
        if effect.resumes == Some(Cause::Timeout) {
            // Sending continues with new data: the chunks that the path deemed lost are under way
            // after all.
            self.ledger.unmark(path);
        }
    }

    /// Returns a SACK's news of one path, as the seams see it.
    pub(super) fn acked<'a>(&self, path: PathId, sack: &Sack<'a>, taken: &SackNews) -> Acked<'a> {
        let news = self.news[path.0];
        Acked {
            cumulative: sack.cumulative,
            bytes: news.passed,
            sacked: news.sacked,
            originals: Some(news.acked + news.sacked - news.acked_again - news.sacked_again),
            duplicate: !taken.advanced && news.sacked > 0,
            highest: news.highest,
            sacked_up_to: taken.reported_up_to,
            sacks: sack.blocks,
            dsacks: sack.duplicates,
            echo: sack.echo,
            mark: sack.mark,
            ece: false,
            all: self.ledger.una() == self.ledger.nxt(),
        }
    }

    /// Counts miss indications below a position. A chunk with enough of them is lost, and fast recovery begins.
    fn on_misses(&mut self, now: Instant, below: u64) {
        let lost = self.ledger.count_misses(below);
        if lost.is_empty() {
            return;
        }
        let flights: Vec<_> = (0..self.destinations.len()).map(|path| self.flight_of(PathId(path))).collect();
        let mut lost_on = vec![false; flights.len()];
        self.ledger.mark_lost(lost, |path| lost_on[path.0] = true);
        if self.exit.is_some() || !lost_on.contains(&true) {
            return;
        }
        for (path, flight) in flights.into_iter().enumerate().filter(|(path, _)| lost_on[*path]) {
            self.update_view(now, PathId(path));
            self.destinations[path].path.open_episode(Cause::FastRetransmit, flight, 0);
        }
        // One packet is sent regardless of cwnd, and no later one in this recovery [rfc8540:3.15].
        self.exit = self.config.rules.has_fast_recovery().then(|| self.ledger.nxt());
        self.permission = Permission::OnePacket;
    }

    /// Stops or restarts a path's timer after a SACK (section 6.3.2, rules R2, R3 and R4).
    fn run_timer(&mut self, now: Instant, path: PathId) {
        let oldest = self.ledger.oldest(path).map(|position| self.ledger.chunk(position).last_sent);
        let news = self.news[path.0];
        let keeps = oldest.is_none() && self.keeps_timer(path);
        let path = &mut self.destinations[path.0].path;
        match oldest {
            None if keeps => {}
            None => path.stop_timer(now),
            Some(oldest) if news.oldest => path.restart_timer(now, oldest),
            // Chunks that were reneged, or put under way again by a verdict, have no timer yet.
            Some(_) if path.timer == Instant::NEVER => path.start_timer(now),
            Some(_) => {}
        }
    }
}
