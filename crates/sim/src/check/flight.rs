//! What a sender believes to be under way is never more than it has sent, and never goes back.

use crate::endpoint::Endpoint;
use eifel_base::time::Instant;

/// One sender as it was.
#[derive(Clone, Copy, Default)]
pub struct Flight {
    una: u64,
    nxt: u64,
}

impl Flight {
    /// Holds a sender against what it was.
    ///
    /// # Panics
    /// When positions go back, or more is in flight than was sent and not acknowledged.
    pub fn check(&mut self, now: Instant, endpoint: &Endpoint) {
        let snapshot = endpoint.connection.engine().snapshot();
        let (flow, end) = (endpoint.flow, endpoint.end);
        let says = || format!("at {now:?}, flow {flow}, {end:?}: {snapshot:?}");
        assert!(snapshot.una >= self.una && snapshot.nxt >= self.nxt, "a position went back: {}", says());
        assert!(snapshot.una <= snapshot.nxt, "more is acknowledged than was sent: {}", says());
        // A counter that fell below zero would be a huge number.
        assert!(snapshot.flight <= snapshot.nxt - snapshot.una, "flight is not what is outstanding: {}", says());
        // Every byte may be under way twice: once as sent first, once as sent again.
        assert!(snapshot.pipe <= 2 * (snapshot.nxt - snapshot.una), "pipe is more than was sent: {}", says());
        assert!(snapshot.nxt <= endpoint.connection.end(), "more is sent than was written: {}", says());
        assert!(snapshot.cwnd > 0, "the congestion window is closed: {}", says());
        (self.una, self.nxt) = (snapshot.una, snapshot.nxt);
    }
}
