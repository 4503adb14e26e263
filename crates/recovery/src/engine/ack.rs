//! What an ACK does.

use super::{Engine, Event, Stage, Timer, view};
use crate::detect::{Judgement, Outcome};
use crate::episode::Stage as EpisodeStage;
use crate::fact::{Ack, Acked, Cause, Fact};
use crate::recover::{Growth, Resume, Step, Timer as Restart};
use crate::respond::{Adjust, Lesson, Losses, Verdict};
use crate::rto::{Sample, TimerChange};
use crate::time::{Duration, Instant};

impl Engine {
    /// Takes an acceptable ACK in: `una <= cumulative <= nxt`, which the connection has checked.
    pub fn on_ack(&mut self, now: Instant, ack: &Ack<'_>) {
        let flight = self.board.outstanding();
        let acked = self.board.on_ack(ack, self.sack);
        self.granted = None;
        if let Some(pace) = &mut self.pace {
            pace.on_input();
        }
        let sample = self.round_trips.on_ack(now, &acked);
        self.samples += u64::from(sample.is_some());
        if acked.bytes > 0 {
            self.consecutive_timeouts = 0;
            if let Some(sent_at) = self.board.acked_sent_at() {
                self.round_trips.on_turn(now.since(sent_at));
            }
        }
        if self.stage != Stage::Open {
            return self.on_handshake_ack(now, &acked, sample);
        }
        let (change, growth) = self.judge(now, &acked, sample);
        self.sample(now, &acked, sample, change);
        if self.lesson.is_some() {
            self.learn(&acked, sample);
        }
        let decisions = self.recovery.on_ack(&acked, &self.board, &view!(self, now));
        match decisions.step {
            Step::Stay => {}
            Step::Enter { limited } => {
                self.open_episode(now, Cause::FastRetransmit, limited);
                // A fast retransmit starts the timer anew, or it would expire before its ACK can come.
                self.start_timer(now);
            }
            Step::Restore(resume) => self.restore(resume),
            Step::Leave { cwnd_at_most } => self.window.cwnd = self.window.cwnd.min(cwnd_at_most),
        }
        if let Some(position) = decisions.lost_below {
            self.board.mark_lost_below(position);
        }
        if decisions.growth == Growth::Grow && growth == Growth::Grow && acked.bytes > 0 {
            self.window = self.congest.on_ack(&self.window, acked.bytes, flight, &view!(self, now));
        }
        self.run_timer(now, &acked, decisions.timer);
        if self.episode.is_some_and(|episode| acked.cumulative >= episode.recovery_point) {
            self.close_episode();
        }
    }

    fn on_handshake_ack(&mut self, now: Instant, acked: &Acked, sample: Option<Duration>) {
        self.sample(now, acked, sample, TimerChange::Keep);
        self.run_timer(now, acked, Restart::Restart);
    }

    /// A re-seeded timer has had this ACK's sample already.
    fn sample(&mut self, now: Instant, acked: &Acked, sample: Option<Duration>, change: TimerChange) {
        if change != TimerChange::Keep {
            self.rto.change(change);
        }
        if let Some(rtt) = sample.filter(|_| !matches!(change, TimerChange::Reseed(_))) {
            self.rto.sample(&Sample { rtt, acked: acked.bytes, window: self.window }, &view!(self, now));
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
    fn run_timer(&mut self, now: Instant, acked: &Acked, restart: Restart) {
        if self.board.outstanding() == 0 {
            if acked.bytes > 0 {
                self.idle_since = now;
                self.timer = Timer::Off;
            }
        } else if acked.bytes > 0 && restart == Restart::Restart {
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
        self.losses = Losses::Seen;
        self.window = window;
        self.tell(Event::Adjusted { episode: number, window });
    }

    /// Asks the detectors; the acting one's verdict takes effect. Returns what the timer is to learn, and whether the
    /// window may grow.
    fn judge(&mut self, now: Instant, acked: &Acked, sample: Option<Duration>) -> (TimerChange, Growth) {
        let fact = Fact::Acked(acked);
        let mut verdict = None;
        for (place, detector) in &mut self.detectors {
            let Judgement::Settled(outcome, reason) = detector.observe(&fact, &view!(self, now)) else { continue };
            let Some(episode) = &self.episode else { continue };
            self.events.push_back(Event::Judged { episode: episode.number, detector: *place, outcome, reason });
            if *place == 0 && episode.stage == EpisodeStage::Open {
                verdict = Some(outcome);
            }
        }
        match verdict {
            None => (TimerChange::Keep, Growth::Grow),
            Some(outcome) => self.settle(outcome, acked, sample),
        }
    }

    fn settle(&mut self, outcome: Outcome, acked: &Acked, sample: Option<Duration>) -> (TimerChange, Growth) {
        let Some(episode) = &mut self.episode else { return (TimerChange::Keep, Growth::Grow) };
        episode.stage = EpisodeStage::Settled;
        let episode = *episode;
        let learned = match episode.cause {
            Cause::Timeout => {
                self.rto.settled(outcome);
                self.after_spurious.settled(outcome, sample, episode.timeouts)
            }
            Cause::FastRetransmit => TimerChange::Keep,
        };
        if outcome == Outcome::Genuine {
            // [rfc4015:3.1.7]
            self.losses = Losses::Seen;
            return (learned, Growth::Grow);
        }
        if self.recovery.on_spurious(episode.cause) == Resume::NextUnsent {
            // [rfc4015:3.1.8]
            self.board.mark_none_lost();
        }
        let verdict = Verdict {
            cause: episode.cause,
            timeouts: episode.timeouts,
            flight: self.board.outstanding(),
            acked: acked.bytes,
            ece: acked.ece,
            losses: self.losses,
            mss: self.mss,
            initial_window: self.initial_window,
        };
        let Adjust { window, timer } = self.response.respond(&verdict, episode.saved(), &self.window);
        self.window = window;
        self.tell(Event::Adjusted { episode: episode.number, window });
        if let Lesson::FromNewData { before } = timer {
            self.lesson = Some((before, episode.recovery_point));
        }
        (learned, self.response.growth(&verdict))
    }
}
