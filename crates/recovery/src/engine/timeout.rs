//! Expiry of timers.

use super::Engine;
use super::duplicates::Duplicated;
use crate::recover::Alarm;
use eifel_base::time::Instant;

impl Engine {
    /// Handles the timer due at [`Engine::deadline`]. A call before that does nothing. Returns
    /// whether the connection must probe the peer's window instead: the retransmission timer
    /// expired, but the peer's closed window refuses the outstanding data.
    pub fn on_timeout(&mut self, now: Instant) -> bool {
        self.room = None;
        self.quiet = false;
        self.update_view(now);
        if self.path.released_at <= now {
            self.path.released_at = Instant::NEVER;
        }
        let alarm = self.alarm();
        let timer = self.path.timer;
        let expired = timer <= now;
        // An expiry marks everything lost, so the findings of the reordering timer would make no
        // difference.
        let overtaken = matches!(alarm, Alarm::Reordering(due) if timer <= due);
        // A tail loss probe takes the place of an expiry (RFC 8985, section 7.2).
        let replaced = matches!(alarm, Alarm::Probe(_));
        if (alarm.due(now) || expired && replaced) && !(expired && overtaken) {
            self.on_alarm(now, alarm);
            return false;
        }
        expired && self.expire(now)
    }

    /// Handles an expiry of loss recovery's own timer.
    fn on_alarm(&mut self, now: Instant, alarm: Alarm) {
        self.path.on_input();
        let decisions = self.recovery.on_alarm(&self.board, self.path.watch.view());
        self.apply(now, &decisions, None);
        if matches!(alarm, Alarm::Probe(_)) {
            // RFC 8985, section 7.3.
            self.path.start_timer(now);
        }
    }

    /// Handles an expiry of the retransmission timer. The result is that of
    /// [`on_timeout`](Self::on_timeout).
    fn expire(&mut self, now: Instant) -> bool {
        self.path.consecutive_timeouts += 1;
        self.path.on_input();
        if let Some(handshake) = &mut self.handshake {
            handshake.expiries += 1;
            handshake.repeats = true;
            self.path.rto.back_off();
            self.path.start_timer(now);
            return false;
        }
        if self.limit <= self.board.una() {
            // A closed window is no sign of congestion.
            self.path.rto.back_off();
            self.path.timer = Instant::NEVER;
            return true;
        }
        self.path.on_timeout(self.flight());
        self.probe = None;
        self.duplicated = Duplicated::NOTHING;
        // The earliest segment is retransmitted first. [rfc6298:5.4]
        self.board.mark_all_lost();
        self.recovery.on_timeout(self.path.watch.view());
        // [rfc6298:5.6]
        self.path.start_timer(now);
        false
    }
}
