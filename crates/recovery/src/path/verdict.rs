//! Applies a verdict: the response changes the window, and the timer may learn from it.

use super::Path;
use crate::congest::Window;
use crate::detect::{Judgement, NeedlessShare, Outcome};
use crate::episode::{Episode, Saved};
use crate::event::Event;
use crate::fact::{Acked, Cause};
use crate::respond::{Adjust, Verdict};
use crate::rto::TimerChange;
use eifel_base::time::{Duration, Instant};

/// The consequences of a judgement that the path's driver must apply.
#[derive(Clone, Copy, Debug)]
pub struct Effect {
    /// The verdict; `None` if no episode was settled.
    pub outcome: Option<Outcome>,
    /// The change of the timer, to be applied with the ACK's sample.
    pub change: TimerChange,
    /// Whether the ACK that caused the verdict may also grow the window.
    pub grows: bool,
    /// The loss signal that was undone while its episode was open. Loss recovery then decides how
    /// sending continues.
    pub resumes: Option<Cause>,
}

impl Effect {
    const NONE: Self = Self { outcome: None, change: TimerChange::Keep, grows: true, resumes: None };
}

impl Path {
    /// Applies a judgement, if it settles an episode. `acked` is the ACK that caused it, if any,
    /// with its sample. `flight` is FlightSize now.
    #[inline(never)]
    pub(crate) fn apply_verdict(
        &mut self,
        judgement: Judgement,
        acked: Option<&Acked<'_>>,
        sample: Option<Duration>,
        flight: u64,
    ) -> Effect {
        let (Some(episode), Some(saved)) = (self.watch.settle(judgement), self.saved()) else { return Effect::NONE };
        let outcome = match judgement {
            Judgement::Settled(outcome, _) => outcome,
            Judgement::NothingResent(_) => Outcome::Spurious,
            _ => Outcome::Genuine,
        };
        let change = match episode.cause {
            Cause::Timeout => {
                self.rto.on_verdict(outcome);
                self.after_spurious.on_verdict(outcome, sample, episode.timeouts)
            }
            Cause::FastRetransmit => TimerChange::Keep,
        };
        let effect = Effect { outcome: Some(outcome), change, ..Effect::NONE };
        match outcome {
            // Otherwise a peer that forges evidence could release another window with every second
            // ACK.
            Outcome::Spurious if !self.grants(&episode) => effect,
            Outcome::Spurious => {
                let verdict = self.verdict(&episode, acked, flight);
                self.undo(&verdict, &episode, &saved);
                let grows = self.response.lets_grow(&verdict);
                // A closed episode is repaired: there is nothing to resume.
                Effect { grows, resumes: (!episode.closed).then_some(episode.cause), ..effect }
            }
            Outcome::Genuine => {
                // [rfc4015:3.1.7]
                self.note_loss_of_episode();
                if let Judgement::Mixed(share) = judgement {
                    self.undo_partly(share, &episode, &saved);
                }
                effect
            }
        }
    }

    /// Applies a judgement, and changes the timer at once. `acked` is the ACK that caused it, if
    /// any. `flight` is FlightSize now. Returns the loss signal that was undone, as in
    /// [`Effect::resumes`].
    pub(crate) fn apply_verdict_now(
        &mut self,
        judgement: Judgement,
        acked: Option<&Acked<'_>>,
        flight: u64,
    ) -> Option<Cause> {
        let effect = self.apply_verdict(judgement, acked, None, flight);
        if effect.change != TimerChange::Keep {
            self.rto.change(effect.change);
        }
        effect.resumes
    }

    /// Records a genuine loss of the episode's first segment.
    pub(crate) fn note_loss_of_episode(&mut self) {
        let sent_at = self.undo_state_mut().lost_since;
        self.note_loss(sent_at);
    }

    /// Records a genuine loss of a segment sent at `at`.
    pub(super) fn note_loss(&mut self, at: Instant) {
        self.undo_state_mut().loss_seen = true;
        self.grant.lost(at);
    }

    fn grants(&mut self, episode: &Episode) -> bool {
        let view = self.watch.view();
        self.grant.grants(episode.opened_at, view.now, view.round_trips.smoothed())
    }

    fn verdict(&self, episode: &Episode, acked: Option<&Acked<'_>>, flight: u64) -> Verdict {
        let state = self.undo_state.as_ref();
        Verdict {
            cause: episode.cause,
            timeouts: episode.timeouts,
            fast_retransmitted: state.is_some_and(|state| state.fast_retransmitted),
            flight,
            acked: acked.map_or(0, |acked| acked.bytes),
            ece: acked.is_some_and(|acked| acked.ece),
            ece_in_episode: state.is_some_and(|state| state.ece.is_in_episode()),
            before_repair: state.and_then(|state| state.before_repair).unwrap_or(self.window),
            loss_seen: state.is_some_and(|state| state.loss_seen),
            mss: self.watch.view().mss,
            initial_window: self.initial_window,
        }
    }

    fn undo(&mut self, verdict: &Verdict, episode: &Episode, saved: &Saved) {
        let Adjust { window, reseed } = self.response.respond(verdict, saved, &self.window);
        // In congestion avoidance, the old ssthresh may lie below the one that the cut left. So
        // cwnd counts too.
        let undone = window.cwnd.max(window.ssthresh) > saved.reduced.ssthresh;
        self.undo_state_mut().undone = undone;
        if undone && self.response.restores_growth() {
            self.congest.on_undo(&self.window, self.watch.view());
        }
        let before = self.window;
        self.adjust(episode, window);
        if self.window != before {
            self.on_undo_of_signal(saved);
        }
        if let Some(before) = reseed {
            self.undo_state_mut().pending_reseed = Some((before, episode.recovery_point));
        }
    }

    /// Restores a part of the window if only some retransmissions were needless.
    fn undo_partly(&mut self, share: NeedlessShare, episode: &Episode, saved: &Saved) {
        let window = self.response.respond_partly(share, saved, &self.window);
        if window != self.window && self.grants(episode) {
            self.adjust(episode, window);
        }
    }

    fn adjust(&mut self, episode: &Episode, window: Window) {
        self.window = if episode.closed {
            // After the episode, the sender keeps the growth of its window.
            Window { cwnd: window.cwnd.max(self.window.cwnd), ssthresh: window.ssthresh.max(self.window.ssthresh) }
        } else {
            window
        };
        self.watch.tell(Event::Adjusted { episode: episode.number, window: self.window });
    }
}
