//! Timer expiry (RFC 9260, sections 4, 6.3.3 and 9.2).

use eifel_base::time::Instant;

use crate::association::Association;
use crate::event::Failure;
use crate::peer_address::AddressState;
use crate::state::State;

impl Association {
    /// Returns when [`handle_timeout`](Self::handle_timeout) must be called, or [`Instant::NEVER`].
    #[inline]
    pub fn poll_timeout(&self) -> Instant {
        if matches!(self.state, State::Established) && self.guard == Instant::NEVER {
            let sack = self.inbound.as_ref().map_or(Instant::NEVER, |inbound| inbound.tracker.deadline());
            let first = sack.min(self.engine.deadline());
            return self.paths.iter().fold(first, |first, peer| first.min(peer.deadline()));
        }
        self.any_timeout()
    }

    #[inline(never)]
    fn any_timeout(&self) -> Instant {
        if self.state == State::Closed {
            return Instant::NEVER;
        }
        let repeated = self.state.repeated().map_or(Instant::NEVER, |repeated| repeated.due);
        let sack = self.inbound.as_ref().map_or(Instant::NEVER, |inbound| inbound.tracker.deadline());
        let data = if self.state.sends_data() { self.engine.deadline() } else { Instant::NEVER };
        let heartbeat = if self.state.heartbeats() {
            self.paths.iter().map(|peer| peer.deadline()).min().unwrap_or(Instant::NEVER)
        } else {
            Instant::NEVER
        };
        repeated.min(sack).min(data).min(heartbeat).min(self.guard)
    }

    /// Handles all expired timers. A delayed SACK and a zero window probe are sent by the next
    /// [`poll_transmit`](Self::poll_transmit).
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.guard <= now {
            self.guard = Instant::NEVER;
            return self.give_up();
        }
        self.repeat(now);
        if self.state.sends_data() {
            while let Some(expired) = self.engine.on_timeout(now) {
                // Section 6.1, rule A: a peer that answers but keeps its window closed is reachable
                // [rfc8540:3.20].
                self.repeat_forward_tsn();
                let excused = expired.probe && std::mem::take(&mut self.sacks_come);
                if !excused {
                    self.count_error(expired.path, true);
                }
                if self.state == State::Closed {
                    return;
                }
            }
        }
        self.run_heartbeats(now);
    }

    /// Handles expiry of T1-init, T1-cookie [rfc8540:3.8] and T2-shutdown.
    fn repeat(&mut self, now: Instant) {
        let opening = matches!(self.state, State::CookieWait(_) | State::CookieEchoed { .. });
        let paths = self.paths.len();
        let most = if opening { self.settings.max_init_retransmits } else { self.settings.association_max_retransmits };
        let confirmed: Vec<bool> = self.paths.iter().map(|peer| peer.state == AddressState::Active).collect();
        let Some(repeated) = self.state.repeated_mut().filter(|repeated| repeated.due <= now) else { return };
        let before = repeated.path;
        repeated.due = Instant::NEVER;
        repeated.expiries += 1;
        repeated.pending = true;
        // Section 5.1: retransmissions rotate through the peer's confirmed addresses.
        let next = (1..=paths).map(|step| (before.0 + step) % paths).find(|index| confirmed[*index]);
        repeated.path.0 = next.unwrap_or(before.0);
        let expiries = repeated.expiries;
        self.engine.back_off(before);
        if expiries > most {
            if opening {
                self.fail(Failure::NoAnswer);
            } else {
                self.give_up();
            }
        }
    }
}
