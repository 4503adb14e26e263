//! What the sender's flight shows that the stack made of its retransmissions: whether as much is under way again, soon after
//! they were answered, as before them.

use crate::verdict::Noticed;
use std::ops::Range;

/// Round trips in which a stack that has undone its mistake fills the path again.
const ROUND_TRIPS: u64 = 2;

/// The retransmissions of one time of trouble.
#[derive(Clone, Debug)]
struct Watched {
    rows: Range<usize>,
    /// Where the last of them ends.
    end: u64,
    /// Bytes under way when the first left.
    before: u64,
    /// The most that was under way since they were answered.
    most: u64,
    until: Option<u64>,
}

/// Watches the flight after retransmissions, one time of trouble after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Flight {
    watched: Option<Watched>,
    noticed: Vec<(Range<usize>, Noticed)>,
}

impl Flight {
    /// Row number `row`, which ends at position `end`, leaves while `flight` bytes are under way.
    pub(super) fn on_again(&mut self, row: usize, end: u64, flight: u64) {
        match &mut self.watched {
            Some(watched) if watched.until.is_none() => {
                watched.rows.end = row + 1;
                watched.end = watched.end.max(end);
            }
            _ => {
                self.settle();
                self.watched = Some(Watched { rows: row..row + 1, end, before: flight, most: 0, until: None });
            }
        }
    }

    /// Everything below `una` is acknowledged at `now`.
    pub(super) fn on_ack(&mut self, now: u64, una: u64, round_trip: u64) {
        if let Some(watched) = &mut self.watched
            && watched.until.is_none()
            && una >= watched.end
        {
            watched.until = Some(now.saturating_add(round_trip.saturating_mul(ROUND_TRIPS)));
        }
    }

    /// New data leave at `now`: `flight` bytes are under way.
    pub(super) fn on_new(&mut self, now: u64, flight: u64) {
        let Some(Watched { until: Some(until), most, .. }) = &mut self.watched else { return };
        if now > *until {
            return self.settle();
        }
        *most = flight.max(*most);
    }

    fn settle(&mut self) {
        let Some(Watched { rows, before, most, until, .. }) = self.watched.take() else { return };
        // Where nothing new left it had nothing to send, or no leave to.
        let noticed = match (until, most) {
            (None, _) | (_, 0) => Noticed::CannotBeTold,
            _ if most >= before / 10 * 8 => Noticed::Undone,
            _ if most <= before / 10 * 6 => Noticed::NotUndone,
            _ => Noticed::CannotBeTold,
        };
        self.noticed.push((rows, noticed));
    }

    /// The capture has ended. What each row shows, in their order.
    pub(super) fn finish(&mut self) -> impl Iterator<Item = Noticed> + '_ {
        self.settle();
        self.noticed.iter().flat_map(|(rows, noticed)| rows.clone().map(|_| *noticed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(flight: u64) -> Noticed {
        let mut watched = Flight::default();
        watched.on_again(0, 1000, 20_000);
        watched.on_again(1, 2000, 20_000);
        watched.on_new(5, 30_000);
        watched.on_ack(10, 2000, 100);
        watched.on_new(150, flight);
        // Too late to be a consequence.
        watched.on_new(400, 90_000);
        let noticed: Vec<_> = watched.finish().collect();
        assert_eq!(noticed.len(), 2);
        noticed[1]
    }

    #[test]
    fn the_flight_tells_whether_the_window_was_given_back() {
        assert_eq!(
            [19_000, 10_000, 14_000, 0].map(after),
            [Noticed::Undone, Noticed::NotUndone, Noticed::CannotBeTold, Noticed::CannotBeTold]
        );
    }
}
