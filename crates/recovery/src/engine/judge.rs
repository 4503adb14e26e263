//! Asks the detectors, and lets the acting one's verdict take effect.

use super::{Engine, Event, Opening};
use crate::congest::Window;
use crate::detect::{Judgement, Outcome, Share};
use crate::episode::{Episode, Stage};
use crate::fact::{Acked, Cause, Fact, Refusal};
use crate::recover::Resume;
use crate::respond::{Adjust, Verdict};
use crate::rto::TimerChange;
use eifel_base::time::{Duration, Instant};

/// The reason of a judgement of which a response may make partial credit.
pub const MIXED: &str = "of what was sent again some had been lost, and some had not";

/// Whether the episode that a verdict is about is still open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Course {
    Open,
    /// All of its data has been acknowledged, and nothing was lost since.
    Past,
}

/// What the acting detector's verdict brings with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effect {
    pub(super) outcome: Option<Outcome>,
    /// What the timer is to learn.
    pub(super) change: TimerChange,
    /// Whether the ACK that brought the verdict may let the window grow besides.
    pub(super) grows: bool,
}

impl Effect {
    const NONE: Self = Self { outcome: None, change: TimerChange::Keep, grows: true };
}

impl Engine {
    /// Asks the detectors; the acting one's verdict takes effect.
    #[inline]
    pub(super) fn judge(&mut self, now: Instant, acked: &Acked, sample: Option<Duration>) -> Effect {
        let fact = Fact::Acked(acked);
        let mut acting = Judgement::Undecided;
        let mut index = 0;
        while let Some((place, detector)) = self.detectors.get_mut(index) {
            index += 1;
            let judgement = detector.observe(&fact, &self.view);
            match (judgement, *place) {
                (Judgement::Undecided, _) => {}
                (Judgement::Probe, 0) => acting = judgement,
                (Judgement::Probe, _) => {
                    detector.observe(&Fact::NotProbed(Refusal::Watches), &self.view);
                }
                (Judgement::Distrusted(reason), place) => {
                    index -= 1;
                    self.dismiss(index, reason);
                    if place == 0 {
                        acting = judgement;
                    }
                }
                (_, place) => {
                    self.report(place, judgement);
                    if place == 0 {
                        acting = judgement;
                    }
                }
            }
        }
        self.run_probe(acting);
        match acting {
            Judgement::Undecided | Judgement::Probe => Effect::NONE,
            Judgement::Settled(..) | Judgement::Mixed(_) | Judgement::Distrusted(_) => {
                self.settle(now, acting, Some(acked), sample)
            }
        }
    }

    /// An acceptable ACK, which [`on_ack`](Self::on_ack) is told of next, echoes a timestamp that was never sent: whoever does
    /// so lies, or what is between does.
    #[cold]
    pub fn on_forged_echo(&mut self, now: Instant) {
        self.look(now);
        let mut index = 0;
        while let Some((place, detector)) = self.detectors.get_mut(index) {
            let (judgement, place) = (detector.observe(&Fact::ForgedEcho, &self.view), *place);
            let Judgement::Distrusted(reason) = judgement else {
                index += 1;
                continue;
            };
            self.dismiss(index, reason);
            if place == 0 {
                self.run_probe(judgement);
                self.settle_by_itself(now, judgement);
            }
        }
    }

    /// A detector that believes its peer no more judges the episode genuine, if there is one, and is gone.
    #[cold]
    fn dismiss(&mut self, index: usize, reason: &'static str) {
        let (detector, _) = self.detectors.remove(index);
        self.report(detector, Judgement::Settled(Outcome::Genuine, reason));
        self.tell(Event::Distrusted { detector, reason });
    }

    /// Tells that a detector has judged the episode that is open or the last.
    pub(super) fn report(&mut self, detector: usize, judgement: Judgement) {
        let (outcome, reason) = match judgement {
            Judgement::Settled(outcome, reason) => (outcome, reason),
            Judgement::Mixed(_) => (Outcome::Genuine, MIXED),
            Judgement::Undecided | Judgement::Probe | Judgement::Distrusted(_) => return,
        };
        if let Some(Episode { number, .. }) = self.judged().map(|(_, episode)| *episode) {
            self.tell(Event::Judged { episode: number, detector, outcome, reason });
        }
    }

    /// The episode that a verdict given now is about. Detectors have not heard of one whose first retransmission has not
    /// left.
    fn judged(&mut self) -> Option<(Course, &mut Episode)> {
        if self.opening == Opening::Pending {
            return None;
        }
        match &mut self.episode {
            Some(episode) => Some((Course::Open, episode)),
            None => self.past.as_mut().map(|episode| (Course::Past, episode)),
        }
    }

    /// The acting detector's verdict takes effect; `acked` is the ACK that brought it, if one did.
    #[inline(never)]
    fn settle(
        &mut self,
        now: Instant,
        judgement: Judgement,
        acked: Option<&Acked>,
        sample: Option<Duration>,
    ) -> Effect {
        let undecided = matches!(judgement, Judgement::Undecided | Judgement::Probe);
        let Some((course, episode)) = self.judged().filter(|(_, episode)| !undecided && episode.stage == Stage::Open)
        else {
            return Effect::NONE;
        };
        episode.stage = Stage::Settled;
        let episode = *episode;
        let outcome = match judgement {
            Judgement::Settled(Outcome::Spurious, _) => Outcome::Spurious,
            _ => Outcome::Genuine,
        };
        let change = match episode.cause {
            Cause::Timeout => {
                self.rto.settled(outcome);
                self.after_spurious.settled(outcome, sample, episode.timeouts)
            }
            Cause::FastRetransmit => TimerChange::Keep,
        };
        let grows = match outcome {
            Outcome::Spurious => self.undo(now, &episode, course, acked),
            Outcome::Genuine => {
                // [rfc4015:3.1.7]
                self.loss_seen = true;
                if let Judgement::Mixed(share) = judgement {
                    self.credit(now, share, &episode, course);
                }
                true
            }
        };
        Effect { outcome: Some(outcome), change, grows }
    }

    /// The acting detector has judged without an ACK.
    pub(super) fn settle_by_itself(&mut self, now: Instant, judgement: Judgement) {
        let change = self.settle(now, judgement, None, None).change;
        if change != TimerChange::Keep {
            self.rto.change(change);
        }
    }

    fn credit(&mut self, now: Instant, share: Share, episode: &Episode, course: Course) {
        let window = self.response.credit(share, episode.saved(), &self.window);
        if window != self.window && self.granted_undo(now, episode) {
            self.adjust(episode, course, window);
        }
    }

    fn granted_undo(&mut self, now: Instant, episode: &Episode) -> bool {
        self.grant.grants(episode.opened_at, now, self.view.round_trips.smoothed())
    }

    fn undo(&mut self, now: Instant, episode: &Episode, course: Course, acked: Option<&Acked>) -> bool {
        // A peer that forges evidence would have a window sent again with every second ACK.
        if !self.granted_undo(now, episode) {
            return true;
        }
        // What is past has been repaired: there is nothing to resume.
        if course == Course::Open && self.recovery.on_spurious(episode.cause) == Resume::NextUnsent {
            // [rfc4015:3.1.8]
            self.board.mark_none_lost();
        }
        let verdict = Verdict {
            cause: episode.cause,
            timeouts: episode.timeouts,
            flight: self.board.outstanding(),
            acked: acked.map_or(0, |acked| acked.bytes),
            ece: acked.is_some_and(|acked| acked.ece),
            loss_seen: self.loss_seen,
            mss: self.view.mss,
            initial_window: self.initial_window,
        };
        let Adjust { window, reseed } = self.response.respond(&verdict, episode.saved(), &self.window);
        if window.ssthresh > episode.saved().reduced.ssthresh {
            self.congest.on_undo(&self.view);
        }
        self.adjust(episode, course, window);
        if let Some(before) = reseed {
            self.lesson = Some((before, episode.recovery_point));
        }
        self.response.lets_grow(&verdict)
    }

    fn adjust(&mut self, episode: &Episode, course: Course, window: Window) {
        self.window = match course {
            Course::Open => window,
            // What was gained since is not taken back.
            Course::Past => {
                Window { cwnd: window.cwnd.max(self.window.cwnd), ssthresh: window.ssthresh.max(self.window.ssthresh) }
            }
        };
        self.tell(Event::Adjusted { episode: episode.number, window: self.window });
    }
}
