//! Processing of an ACK.

use super::Engine;
use crate::congest::Progress;
use crate::detect::{Judgement, Outcome};
use crate::fact::{Ack, Acked, Cause, Echo};
use crate::path::{Effect, Flight};
use crate::recover::{Decisions, Resume, Step};
use crate::rto::TimerChange;
use eifel_base::time::{Duration, Instant};

impl Engine {
    /// Processes an acceptable ACK: the connection has checked that `una <= cumulative <= nxt`.
    #[inline(always)]
    pub fn on_ack(&mut self, now: Instant, ack: &Ack<'_>) {
        let bare = ack.sacks.is_empty() && ack.dsacks.is_empty() && ack.echo != Some(Echo::Forged) && !ack.ece;
        if !bare || !self.on_quiet_ack(now, ack.cumulative, ack.echo) {
            // A copy, so that the ACK stays in registers on the shortcut.
            self.on_any_ack(now, &Ack { ..*ack });
        }
    }

    /// Processes an ACK in full: first the scoreboard, then round trips, detectors, timer, loss
    /// recovery and window.
    #[inline(never)]
    fn on_any_ack(&mut self, now: Instant, ack: &Ack<'_>) {
        let flight = self.board.outstanding();
        let delivered = self.board.una() + self.board.sacked_bytes();
        let acked = self.board.on_ack(ack, self.path.watch.view().sack);
        self.update_view(now);
        self.room = None;
        self.path.on_input();
        let sample = self.path.watch.on_ack(&acked);
        if acked.bytes > 0 {
            self.path.consecutive_timeouts = 0;
        }
        if self.handshake.is_some() {
            self.path.sample(&acked, sample, TimerChange::Keep);
            return self.path.run_timer(now, &acked, true, self.board.under_way_since());
        }
        let echoed = acked.ece && self.path.on_ece(Flight { outstanding: flight, ..self.flight() });
        let probed = self.probe.is_some_and(|probe| probe.sent);
        let effect = self.judge(&acked, sample);
        let decisions = self.recovery.on_ack(&acked, &self.board, self.path.watch.view());
        if decisions.step != Step::Stay || decisions.lost_below.is_some() {
            self.apply(now, &decisions, Some(&acked));
        }
        if echoed && decisions.step == Step::Stay {
            self.recovery.on_ece(&self.board, self.path.watch.view());
        }
        let view = self.path.watch.view();
        let delivered = self.duplicated.newly_delivered(&acked, delivered, &self.board, view);
        if decisions.grows && effect.grows && acked.bytes > 0 && !acked.ece {
            self.path.grow(&Progress { acked: acked.bytes, sacked: acked.sacked, delivered, flight });
        }
        if probed && effect.outcome == Some(Outcome::Genuine) {
            // RFC 5682, section 2.1, step 3a: slow start would have reached this cwnd in these two
            // round trips.
            self.path.window.cwnd = u64::from(self.path.watch.view().mss) * 3;
        }
        self.path.run_timer(now, &acked, decisions.restarts_timer, self.board.under_way_since());
        self.path.watch.close_if_repaired(acked.cumulative);
        self.quiet = self.find_quiet();
    }

    /// Passes an ACK to the detectors, and applies the acting detector's verdict to window and
    /// timer.
    fn judge(&mut self, acked: &Acked<'_>, sample: Option<Duration>) -> Effect {
        let judgement = self.path.watch.judge(acked);
        self.run_probe(judgement);
        let mut effect = self.path.apply_verdict(judgement, Some(acked), sample, self.board.outstanding());
        self.resume(effect.resumes);
        if matches!(judgement, Judgement::GenuineLossWithin(_)) {
            self.path.cut_for_loss_within();
            effect.grows = false;
        }
        self.path.sample(acked, sample, effect.change);
        effect
    }

    /// Applies a judgement that no detector made on an ACK. `acked` is the ACK that caused it, if any.
    pub(super) fn apply_verdict(&mut self, judgement: Judgement, acked: Option<&Acked<'_>>) {
        let resumes = self.path.apply_verdict_now(judgement, acked, self.board.outstanding());
        self.resume(resumes);
    }

    /// Lets loss recovery decide how sending continues after an undo. [rfc4015:3.1.8]
    fn resume(&mut self, undone: Option<Cause>) {
        if undone.is_some_and(|cause| self.recovery.on_spurious(cause) == Resume::NextUnsent) {
            self.board.mark_none_lost();
        }
    }

    /// Applies loss recovery's decisions. `acked` is the ACK that caused them, if any.
    pub(super) fn apply(&mut self, now: Instant, decisions: &Decisions, acked: Option<&Acked<'_>>) {
        let flight = self.flight();
        match decisions.step {
            Step::Stay => {}
            Step::Enter { limited } => {
                self.path.open_episode(Cause::FastRetransmit, flight, limited);
                // Otherwise the timer could expire before the ACK of the fast retransmit arrives.
                self.path.start_timer(now);
            }
            Step::SpuriousTimeout => {
                let spurious =
                    Judgement::Settled(Outcome::Spurious, "duplicate ACKs report the loss after its timeout");
                if self.path.watch.episode().is_some_and(|episode| !episode.settled) {
                    self.apply_verdict(spurious, acked);
                    self.path.note_loss_of_episode();
                }
            }
            Step::Repaired => self.path.cut_for_repaired(flight),
            Step::LostRetransmission => self.path.cut_for_lost_retransmission(flight),
            Step::Reordered(window) => self.path.window = window,
            Step::LeaveWith { cwnd } => self.path.window.cwnd = cwnd,
            Step::Leave { cwnd_at_most } => self.path.window.cwnd = self.path.window.cwnd.min(cwnd_at_most),
        }
        if let Some(position) = decisions.lost_below {
            self.board.mark_lost_below(position);
        }
    }
}
