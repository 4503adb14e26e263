//! What an ACK does.

use super::{Engine, Event, Probe, Stage, Timer};
use crate::detect::Outcome;
use crate::episode::Stage as EpisodeStage;
use crate::fact::{Ack, Acked, Cause, Covered};
use crate::recover::{Decisions, Resume, Step};
use crate::rto::{Sample, TimerChange};
use eifel_base::time::{Duration, Instant};

impl Engine {
    /// Takes an acceptable ACK in: `una <= cumulative <= nxt`, which the connection has checked.
    pub fn on_ack(&mut self, now: Instant, ack: &Ack<'_>) {
        let bare = ack.sacks.is_empty() && ack.dsack.is_none();
        if !bare || !self.on_quiet_ack(now, ack.cumulative, ack.echo) {
            self.on_any_ack(now, ack);
        }
    }

    #[inline(never)]
    fn on_any_ack(&mut self, now: Instant, ack: &Ack<'_>) {
        let flight = self.board.outstanding();
        let acked = self.board.on_ack(ack, self.view.sack);
        self.look(now);
        self.granted = None;
        if let Some(pace) = &mut self.pace {
            pace.on_input();
        }
        let sample = self.view.round_trips.on_ack(now, &acked);
        if acked.bytes > 0 {
            self.consecutive_timeouts = 0;
            // Sent more than once, nobody knows which sending was answered.
            if let Some(Covered { copies: 0, last_sent, .. }) = acked.highest {
                self.view.round_trips.on_turn(now.since(last_sent));
            }
        }
        if self.stage != Stage::Open {
            return self.on_handshake_ack(now, &acked, sample);
        }
        let probed = matches!(self.probe, Probe::Sent { .. });
        let effect = self.judge(now, &acked, sample);
        self.sample(&acked, sample, effect.change);
        if self.lesson.is_some() {
            self.learn(&acked, sample);
        }
        if sample.is_some() {
            self.view.round_trips.on_smoothed(self.rto.srtt());
        }
        let decisions = self.recovery.on_ack(&acked, &self.board, &self.view);
        if decisions.step != Step::Stay || decisions.lost_below.is_some() {
            self.apply(now, &decisions);
        }
        if decisions.grows && effect.grows && acked.bytes > 0 {
            self.window = self.congest.on_ack(&self.window, acked.bytes, flight, &self.view);
        }
        if probed && effect.outcome == Some(Outcome::Genuine) {
            // RFC 5682, section 2.1, step 3a: so far slow start would have come in these two round trips.
            self.window.cwnd = u64::from(self.view.mss) * 3;
        }
        self.run_timer(now, &acked, decisions.restarts_timer);
        if self.episode.is_some_and(|episode| acked.cumulative >= episode.recovery_point) {
            self.close_episode();
        }
        self.quiet = self.find_quiet();
    }

    pub(super) fn apply(&mut self, now: Instant, decisions: &Decisions) {
        match decisions.step {
            Step::Stay => {}
            Step::Enter { limited } => {
                self.open_episode(now, Cause::FastRetransmit, limited);
                // A fast retransmit starts the timer anew, or it would expire before its ACK can come.
                self.start_timer(now);
            }
            Step::Restore(resume) => self.restore(resume),
            Step::Repaired => self.cut_for_repaired(),
            Step::LostAgain => self.cut_for_lost_again(),
            Step::Leave { cwnd_at_most } => self.window.cwnd = self.window.cwnd.min(cwnd_at_most),
        }
        if let Some(position) = decisions.lost_below {
            self.board.mark_lost_below(position);
        }
    }

    fn on_handshake_ack(&mut self, now: Instant, acked: &Acked, sample: Option<Duration>) {
        self.sample(acked, sample, TimerChange::Keep);
        if sample.is_some() {
            self.view.round_trips.on_smoothed(self.rto.srtt());
        }
        self.run_timer(now, acked, true);
    }

    /// A re-seeded timer has had this ACK's sample already.
    fn sample(&mut self, acked: &Acked, sample: Option<Duration>, change: TimerChange) {
        if change != TimerChange::Keep {
            self.rto.change(change);
        }
        if let Some(rtt) = sample.filter(|_| !matches!(change, TimerChange::Reseed(_))) {
            self.rto.sample(&Sample { rtt, acked: acked.bytes, window: self.window }, &self.view);
        }
    }

    /// The first sample of data that was unsent at a spurious timeout re-seeds the timer, if the response asked for it.
    fn learn(&mut self, acked: &Acked, sample: Option<Duration>) {
        let (Some((before, unsent)), Some(sample)) = (self.lesson, sample) else { return };
        if acked.cumulative > unsent {
            self.lesson = None;
            self.rto.change(TimerChange::ReseedAtLeast { sample, before });
        }
    }

    /// RFC 6298, sections 5.2 and 5.3. [rfc6298:5.2] [rfc6298:5.3]
    fn run_timer(&mut self, now: Instant, acked: &Acked, restarts: bool) {
        if self.board.outstanding() == 0 {
            if acked.bytes > 0 {
                self.idle_since = now;
                self.timer = Timer::OFF;
            }
        } else if acked.bytes > 0 && restarts {
            self.restart_timer(now);
        }
    }

    /// Undoes the timeout that opened the episode, unless a verdict has spoken of it. The loss remains one.
    fn restore(&mut self, resume: Resume) {
        if resume == Resume::NextUnsent {
            self.board.mark_none_lost();
        }
        let Some(episode) = self.episode.as_mut().filter(|episode| episode.stage == EpisodeStage::Open) else { return };
        episode.stage = EpisodeStage::Settled;
        let (number, window) = (episode.number, episode.saved().window);
        self.loss_seen = true;
        self.window = window;
        self.tell(Event::Adjusted { episode: number, window });
    }
}
