//! Law: a sender never counts more in flight than it has sent, and its positions never go back.

use super::checked::CheckedConnection;
use super::positions::Positions;
use eifel_base::time::Instant;
use eifel_recovery::engine::Snapshot;

/// The positions of a sender at the last check.
#[derive(Clone, Copy, Default)]
pub struct Flight(Positions);

impl Flight {
    /// Checks a sender against its positions at the last check.
    ///
    /// # Panics
    /// Panics when a law is broken.
    pub fn check(&mut self, now: Instant, endpoint: CheckedConnection<'_>) {
        let snapshot = endpoint.connection.engine().snapshot();
        if let Err(broken) = self.accept(&snapshot, endpoint.connection.end()) {
            panic!("at {now:?}, flow {}, {:?}: {broken}: {snapshot:?}", endpoint.flow, endpoint.end);
        }
    }

    /// Accepts the positions of a sender whose application has written up to `written`, or returns
    /// the first law that they break.
    fn accept(&mut self, snapshot: &Snapshot, written: u64) -> Result<(), &'static str> {
        let &Snapshot { una, nxt, flight, pipe, cwnd, .. } = snapshot;
        self.0.accept(una, nxt)?;
        // This also finds a counter that underflowed, which is a huge number.
        if flight > nxt - una {
            return Err("flight is more than what is outstanding");
        }
        // Each byte may be under way twice: as an original and as a retransmission.
        if pipe > 2 * (nxt - una) {
            return Err("pipe is more than was sent");
        }
        if nxt > written {
            return Err("more is sent than was written");
        }
        if cwnd == 0 {
            return Err("the congestion window is closed");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_base::time::Duration;

    /// 3000 positions in flight, all of them sent twice.
    const SOUND: Snapshot = Snapshot {
        cwnd: 1,
        ssthresh: u64::MAX,
        flight: 3000,
        pipe: 6000,
        una: 1001,
        nxt: 4001,
        srtt: None,
        rttvar: None,
        rto: Duration::from_secs(1),
        latest_rtt: None,
        samples: 0,
        deadline: Instant::NEVER,
    };

    fn judged(snapshot: &Snapshot) -> Result<(), &'static str> {
        let mut flight = Flight::default();
        flight.accept(&SOUND, 4001).and_then(|()| flight.accept(snapshot, 4001))
    }

    #[test]
    fn each_law_is_broken_by_one_more() {
        assert_eq!(judged(&SOUND), Ok(()));
        for (broken, says) in [
            (Snapshot { una: 1000, ..SOUND }, "a position went back"),
            (Snapshot { nxt: 4000, ..SOUND }, "a position went back"),
            (Snapshot { una: 4002, ..SOUND }, "more is acknowledged than was sent"),
            (Snapshot { flight: 3001, ..SOUND }, "flight is more than what is outstanding"),
            (Snapshot { pipe: 6001, ..SOUND }, "pipe is more than was sent"),
            (Snapshot { nxt: 4002, ..SOUND }, "more is sent than was written"),
            (Snapshot { cwnd: 0, ..SOUND }, "the congestion window is closed"),
        ] {
            assert_eq!(judged(&broken), Err(says), "{broken:?}");
        }
    }
}
