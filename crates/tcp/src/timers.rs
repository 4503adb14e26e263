//! Timers: the next deadline, and the handling of expiry.

use eifel_base::time::{Duration, Instant};

use crate::connection::Connection;
use crate::event::Event;
use crate::settings::GiveUp;
use crate::state::State;

/// How long the connection waits for a silent peer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UserTimeout {
    /// When the connection is given up. [`Instant::NEVER`] if nothing is outstanding, or no limit
    /// is set.
    pub(crate) until: Instant,
    /// The user timeout; [`Duration::MAX`] if there is none.
    pub(crate) length: Duration,
    /// Consecutive timeouts that do not count, because the peer has since answered with a closed
    /// window.
    pub(crate) forgiven_timeouts: u32,
}

impl UserTimeout {
    pub(crate) fn new(settings: &GiveUp) -> Self {
        let length = settings.user_timeout.unwrap_or(Duration::MAX);
        Self { until: Instant::NEVER, length, forgiven_timeouts: 0 }
    }
}

impl Connection {
    /// Returns the earliest time at which [`handle_timeout`](Self::handle_timeout) must be called;
    /// [`Instant::NEVER`] if there is none.
    #[inline]
    pub fn poll_timeout(&self) -> Instant {
        match self.state {
            State::Closed | State::Listen => Instant::NEVER,
            State::TimeWait { until } => until.min(self.receiver.due.deadline()),
            _ => self.sender_deadline().min(self.receiver.due.deadline()).min(self.user_timeout.until),
        }
    }

    /// Returns the next deadline of the sending side: the engine's, or the persist timer's.
    #[inline]
    pub fn sender_deadline(&self) -> Instant {
        self.engine.deadline().min(self.persist_deadline())
    }

    /// Returns `false` if certainly no deadline is before `instant`. Cheaper than
    /// [`poll_timeout`](Self::poll_timeout).
    #[inline]
    pub fn may_wake_before(&self, instant: Instant) -> bool {
        self.engine.may_expire_before(instant)
            || self.persist.is_some()
            || self.receiver.due.deadline() < instant
            || self.user_timeout.until < instant
            || matches!(self.state, State::TimeWait { .. })
    }

    /// Handles all timers that have expired at `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        match self.state {
            State::Closed | State::Listen => return,
            State::TimeWait { until } if now >= until => return self.enter(State::Closed),
            _ if now >= self.user_timeout.until => return self.fail(Event::TimedOut),
            _ => {}
        }
        self.receiver.due.handle_timeout(now);
        if now >= self.engine.deadline() {
            let before = self.engine.consecutive_timeouts();
            if self.engine.on_timeout(now) {
                self.make_probe_due();
            }
            if self.engine.consecutive_timeouts() > before {
                self.apply_claimed_mtu();
            }
            let silent = self.engine.consecutive_timeouts().saturating_sub(self.user_timeout.forgiven_timeouts);
            if silent > self.most_timeouts() {
                self.fail(Event::TimedOut);
            }
        }
        if now >= self.persist_deadline() && !self.push_at_timeout(now) {
            self.probe_at_timeout(now);
        }
    }

    /// Returns the maximum number of consecutive timeouts. The next one ends the connection.
    fn most_timeouts(&self) -> u32 {
        match self.state {
            State::SynSent | State::SynReceived(_) => self.rare.handshake().settings.give_up.handshake_timeouts,
            _ => self.rare.open_settings.most_timeouts,
        }
    }
}
