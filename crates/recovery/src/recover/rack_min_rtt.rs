//! RACK.min_RTT (RFC 8985, section 6.2, step 1): a windowed minimum, which rises again when the
//! path becomes longer.

use crate::view::View;
use eifel_base::time::{Duration, Instant};

/// Length of a period. A round trip counts for one to two periods. Linux's window is 5 minutes.
const PERIOD: Duration = Duration::from_secs(150);

/// RACK.min_RTT: the smallest round trip of this period and the last.
#[derive(Clone, Copy, Debug)]
pub(super) struct MinRtt {
    /// When this period began; `None` before the first round trip.
    began: Option<Instant>,
    this: Duration,
    last: Duration,
}

impl MinRtt {
    pub(super) const UNKNOWN: Self = Self { began: None, this: Duration::MAX, last: Duration::MAX };

    /// Records a round trip that ends now. The first call also takes in the connection's shortest
    /// round trip so far, which includes the handshake's.
    pub(super) fn note(&mut self, turn: Duration, view: &View) {
        let began = *self.began.get_or_insert_with(|| {
            self.this = view.round_trips.shortest().unwrap_or(Duration::MAX);
            view.now
        });
        let age = view.now.since(began);
        if age >= PERIOD {
            self.last = if age < PERIOD * 2 { self.this } else { Duration::MAX };
            (self.began, self.this) = (Some(view.now), turn);
        }
        self.this = self.this.min(turn);
    }

    /// Returns RACK.min_RTT; `None` before the first round trip.
    pub(super) fn get(&self, view: &View) -> Option<Duration> {
        match self.began {
            Some(_) => Some(self.this.min(self.last)),
            None => view.round_trips.shortest(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtt::RoundTrips;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// A view at `now` seconds, with a shortest round trip of 100 ms.
    fn view(now: u64) -> View {
        let mut round_trips = RoundTrips::new(true);
        round_trips.on_unambiguous(Some(ms(100)));
        View { now: Instant::ZERO + Duration::from_secs(now), una: 1, nxt: 10_001, mss: 1000, sack: true, round_trips }
    }

    /// A round trip counts in the period in which it ended and in the next. A pause of two periods
    /// discards all round trips.
    #[test]
    fn min_rtt_is_the_smallest_sample_of_the_last_two_periods() {
        let mut min_rtt = MinRtt::UNKNOWN;
        let mut after = |seconds: u64, turn| {
            min_rtt.note(ms(turn), &view(seconds));
            min_rtt.get(&view(seconds))
        };
        // The view's 100 ms come from the handshake.
        assert_eq!([after(1, 120), after(150, 90), after(151, 200)], [100, 90, 90].map(|rtt| Some(ms(rtt))));
        assert_eq!([after(300, 300), after(301, 300)], [90, 200].map(|rtt| Some(ms(rtt))));
        assert_eq!([after(601, 400), after(602, 500)], [400, 400].map(|rtt| Some(ms(rtt))));
    }
}
