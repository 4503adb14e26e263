//! Links whose queue decides when a parcel leaves it.
//!
//! Departures of such a queue cannot be computed in advance: each is an event, at the instant at
//! which the transmitter begins with the next parcel. It is one of the link's deadlines, so other
//! links pay nothing for it.

use super::{Link, UnderWay};
use crate::parcel::{Labelled, Outcome};
use crate::queue::Queue;
use eifel_base::time::Instant;

impl Link {
    /// Offers a parcel at the tail of the queue, if the queue decides at its exit. Returns `false`
    /// for other queues.
    pub(super) fn enqueue_to_serve(&mut self, now: Instant, one: Labelled, outcomes: &mut Vec<Outcome>) -> bool {
        let Queue::Served(served) = &mut self.queue else { return false };
        let earlier = outcomes.len();
        served.enter(now, one, outcomes);
        self.count_drops(earlier, outcomes);
        self.serve(now, outcomes);
        true
    }

    /// Transmits the parcels whose transmission can begin by `now`.
    pub(super) fn serve(&mut self, now: Instant, outcomes: &mut Vec<Outcome>) {
        while self.next_service() <= now {
            let Queue::Served(served) = &mut self.queue else { return };
            let earlier = outcomes.len();
            let next = served.leave(now, outcomes);
            self.count_drops(earlier, outcomes);
            let Some(next) = next else { return };
            self.count_departures(now);
            // A parcel that entered before an opportunity of a recorded link may use it.
            let (departs, arrives) = self.schedule(next.entered, next.one.parcel.bytes);
            self.hold(UnderWay { parcel: next.one.parcel, departs, arrives });
        }
    }

    /// Returns when the transmitter begins with the next parcel; [`Instant::NEVER`] if none waits.
    pub(super) fn next_service(&mut self) -> Instant {
        match &self.queue {
            Queue::Served(served) if served.len() > 0 => {
                self.transmitter.begins(served.waits_since, self.last_departure, &mut self.sending)
            }
            _ => Instant::NEVER,
        }
    }

    /// Counts the parcels that the queue has dropped since `earlier`.
    fn count_drops(&mut self, earlier: usize, outcomes: &[Outcome]) {
        for outcome in outcomes.get(earlier..).unwrap_or_default() {
            if let Outcome::Dropped { parcel, .. } = outcome {
                self.ledger.drop(parcel);
            }
        }
    }
}
