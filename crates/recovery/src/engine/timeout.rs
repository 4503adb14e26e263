//! What an expired timer does.

use super::quiet::Quiet;
use super::{Due, Engine, Event, Opening, Probe, Stage, Timer, TimerOf};
use crate::congest::Loss;
use crate::episode::{Episode, Saved, Stage as EpisodeStage};
use crate::fact::Cause;
use crate::recover::Alarm;
use eifel_base::time::Instant;

impl Engine {
    /// Call when [`Engine::deadline`] has come; too early a call does nothing.
    pub fn on_timeout(&mut self, now: Instant) {
        self.granted = None;
        self.quiet = Quiet::No;
        self.look(now);
        if self.released_at <= now {
            self.released_at = Instant::NEVER;
        }
        let alarm = self.alarm();
        let Timer { of, at } = self.timer;
        let expired = at <= now;
        match of {
            // At the same instant the expiry is all that matters: it deems everything lost.
            TimerOf::Retransmission if expired && matches!(alarm, Alarm::Reordering(due) if at <= due) => {
                self.expire(now);
            }
            _ if alarm.due(now) => self.ring(now, alarm),
            TimerOf::Retransmission if expired => match alarm {
                Alarm::Probe(_) => self.ring(now, alarm),
                _ => self.expire(now),
            },
            TimerOf::Persist if expired => self.probe(),
            _ => {}
        }
    }

    /// Loss recovery's own timer has expired.
    fn ring(&mut self, now: Instant, alarm: Alarm) {
        if let Some(pace) = &mut self.pace {
            pace.on_input();
        }
        let decisions = self.recovery.on_alarm(&self.board, &self.view);
        self.apply(now, &decisions);
        if matches!(alarm, Alarm::Probe(_)) {
            // RFC 8985, section 7.3.
            self.start_timer(now);
        }
    }

    fn probe(&mut self) {
        self.due = Due::Probe;
        self.rto.back_off();
        self.timer = Timer::OFF;
    }

    fn expire(&mut self, now: Instant) {
        self.consecutive_timeouts += 1;
        if let Some(pace) = &mut self.pace {
            pace.on_input();
        }
        if let Stage::Opening { expiries } = &mut self.stage {
            *expiries += 1;
            self.rto.back_off();
            self.opening = Opening::Pending;
            self.start_timer(now);
            return;
        }
        if self.limit <= self.board.una() {
            // The peer has closed its window on what is outstanding: that tells nothing of congestion.
            return self.probe();
        }
        let timeouts = self.on_expiry_signal(now);
        self.tell(Event::TimerExpired { timeouts });
        // [rfc6298:5.5]
        self.rto.back_off();
        self.probe = Probe::None;
        // The earliest goes first. [rfc6298:5.4]
        self.board.mark_all_lost();
        self.recovery.on_timeout(&self.view);
        // [rfc6298:5.6]
        self.start_timer(now);
    }

    /// Cuts the window, and opens an episode unless this is a further timeout of the same segment; returns how many
    /// there were. [rfc3522:3.2.b] [rfc4015:3.1.b]
    fn on_expiry_signal(&mut self, now: Instant) -> u32 {
        let una = self.board.una();
        if let Some(episode) = &mut self.episode
            && episode.cause == Cause::Timeout
            && episode.start == una
        {
            episode.timeouts += 1;
            let timeouts = episode.timeouts;
            self.window = self.cut(Cause::Timeout, 0, true);
            return timeouts;
        }
        self.open_episode(now, Cause::Timeout, 0);
        1
    }

    /// Congestion control's answer to a loss signal.
    fn cut(&mut self, cause: Cause, limited: u64, timeout_again: bool) -> crate::congest::Window {
        let flight = self.board.outstanding().saturating_sub(limited);
        let limit = self.window.cwnd.min(self.limit.saturating_sub(self.board.una()));
        let loss = Loss { cause, flight, limit, timeout_again };
        self.congest.on_loss(&self.window, &loss, &self.view)
    }

    /// A loss that is repaired already (RFC 8985, section 7.4.2).
    pub(super) fn cut_for_repaired(&mut self) {
        self.past = None;
        self.loss_seen = true;
        self.window = self.cut(Cause::FastRetransmit, 0, false);
    }

    /// A retransmission was lost: another sign of congestion, and no verdict on what it was sent for takes that back
    /// (RFC 5681, section 4.3; RFC 8985, section 9.3).
    pub(super) fn cut_for_lost_again(&mut self) {
        self.loss_seen = true;
        if let Some(episode) = &mut self.episode {
            episode.stage = EpisodeStage::Settled;
        }
        // Of a flight that new data has made larger again half could be more than cwnd.
        let beyond = self.board.outstanding().saturating_sub(self.window.cwnd);
        self.window = self.cut(Cause::FastRetransmit, beyond, false);
    }

    pub(super) fn open_episode(&mut self, now: Instant, cause: Cause, limited: u64) {
        self.close_episode();
        // Without a verdict a loss signal stands for a loss.
        if self.past.take().is_some_and(|past| past.stage == EpisodeStage::Open) {
            self.loss_seen = true;
        }
        if cause == Cause::Timeout {
            // Whatever the last one had to teach, this one makes anew.
            self.lesson = None;
        }
        let before = self.window;
        let flight = self.board.outstanding().saturating_sub(limited);
        self.window = self.cut(cause, limited, false);
        self.episodes += 1;
        let saved = Saved { window: before, reduced: self.window, flight, estimate: self.rto.estimate() };
        let positions = (self.board.una(), self.board.nxt());
        let episode = Episode::open(self.episodes, cause, now, positions, saved);
        self.episode = Some(episode);
        self.opening = Opening::Pending;
        self.tell(Event::EpisodeOpened(episode));
    }

    pub(super) fn close_episode(&mut self) {
        let Some(episode) = self.episode.take() else { return };
        self.past = Some(episode);
        self.tell(Event::EpisodeClosed { episode: episode.number, timeouts: episode.timeouts });
    }
}
