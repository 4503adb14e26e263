//! The variables of a path, for observers.

use super::{Engine, PathId};
use crate::engine::Snapshot;
use eifel_base::time::Instant;

impl Engine {
    /// Returns a path's current variables. Positions are those of the whole association. `pipe`
    /// equals the flight: neither includes reported or marked chunks.
    pub fn snapshot(&self, path: PathId) -> Snapshot {
        let destination = &self.destinations[path.0].path;
        let estimate = destination.rto.estimate();
        Snapshot {
            cwnd: destination.window.cwnd,
            ssthresh: destination.window.ssthresh,
            flight: self.ledger.flight(path),
            pipe: self.ledger.flight(path),
            una: self.ledger.una(),
            nxt: self.ledger.nxt(),
            srtt: estimate.map(|estimate| estimate.srtt),
            rttvar: estimate.map(|estimate| estimate.rttvar),
            rto: destination.rto.rto(),
            latest_rtt: destination.watch.round_trips().latest(),
            samples: destination.watch.round_trips().taken(),
            deadline: destination.timer,
        }
    }

    /// Returns when the lowest marked chunk among those last sent on `path` was sent; `None` if
    /// there is none.
    pub fn oldest_marked(&self, path: PathId) -> Option<Instant> {
        self.ledger
            .marked()
            .map(|position| self.ledger.chunk(position))
            .find(|chunk| chunk.last == path)
            .map(|c| c.last_sent)
    }
}
