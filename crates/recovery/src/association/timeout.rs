//! Handles the expiry of a path's timer (RFC 9260, section 6.3.3).

use super::rules::{Permission, Rules};
use super::{Destination, Engine, PathId};
use eifel_base::time::Instant;

/// A retransmission timer that has expired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Expired {
    pub path: PathId,
    /// Whether only a probe of a closed window was under way. The peer need not answer a probe
    /// (section 6.1, rule A).
    pub probe: bool,
}

impl Engine {
    /// Returns when [`Engine::on_timeout`] must be called, or [`Instant::NEVER`].
    #[inline]
    pub fn deadline(&self) -> Instant {
        self.destinations.iter().fold(self.persist, |first, Destination { path, alarm, .. }| {
            first.min(path.timer).min(path.released_at).min(alarm.at())
        })
    }

    /// Handles the timers due at [`Engine::deadline`]. Returns a retransmission timer that has
    /// expired; others may be due too.
    pub fn on_timeout(&mut self, now: Instant) -> Option<Expired> {
        for destination in &mut self.destinations {
            if destination.path.released_at <= now {
                destination.path.released_at = Instant::NEVER;
            }
        }
        self.run_alarms(now);
        let due = self.destinations.iter().position(|destination| destination.path.timer <= now)?;
        self.quiet = None;
        let path = PathId(due);
        let probe = self.probes > 0;
        self.probe = None;
        self.update_view(now, path);
        let flight = self.flight_of(path);
        self.destinations[due].path.on_input();
        if flight.outstanding == 0 && !self.ledger.has_abandoned() {
            self.destinations[due].path.timer = Instant::NEVER;
            return None;
        }
        if probe {
            // A probe that the peer ignores is no sign of congestion.
            self.destinations[due].path.rto.back_off();
        } else {
            self.destinations[due].path.on_timeout(flight);
            self.destinations[due].one_packet = true;
        }
        if !self.mark_overdue(now, path) {
            self.ledger.mark_all(path);
            self.destinations[due].path.timer = Instant::NEVER;
        }
        self.set_alarm(path);
        self.permission = match self.config.rules {
            Rules::Rfc9260 => Permission::OnePacket,
            Rules::Rfc2960 => Permission::OnePacketThenSack,
        };
        Some(Expired { path, probe })
    }
}
