//! Parcels that cross a link without an event of their own.
//!
//! A link knows a parcel's arrival as soon as it takes the parcel in. If the driver can deal with
//! that arrival at once, the link need not keep the parcel.

use super::{Link, MOST_UNCOUNTED, NextEvent, UnderWay};
use crate::parcel::{Outcome, Parcel};
use eifel_base::time::Instant;

impl Link {
    /// Returns whether [`offer_through`](Self::offer_through) may be called: the link has no
    /// elements, and its queue needs no labels.
    pub fn is_open(&self) -> bool {
        self.elements.is_empty() && !self.queue.wants_labels()
    }

    /// Offers a parcel like [`offer`](Self::offer), if the link is [open](Self::is_open). If the
    /// parcel is taken in, `goes_on` receives its arrival at the far end. `goes_on` returns whether
    /// the driver handles the arrival itself. If so, the link keeps no event for the parcel and
    /// counts it as delivered.
    #[inline(always)]
    pub fn offer_through(
        &mut self,
        now: Instant,
        parcel: Parcel,
        goes_on: impl FnOnce(Instant) -> bool,
        outcomes: &mut Vec<Outcome>,
    ) -> NextEvent {
        self.ledger.offer(&parcel);
        match self.enter(now, parcel.bytes) {
            Err(cause) => {
                self.drop_parcel(parcel, cause, outcomes);
                NextEvent::Same
            }
            Ok((departs, arrives)) if goes_on(arrives) => {
                self.ledger.deliver(&parcel);
                self.passing.push(departs, parcel.bytes);
                if self.passing.len() >= MOST_UNCOUNTED as usize {
                    self.count_departures(now);
                }
                NextEvent::Same
            }
            Ok((departs, arrives)) => self.hold(UnderWay { parcel, departs, arrives }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::LinkConfig;
    use eifel_base::time::Duration;
    use eifel_base::units::Rate;

    /// Departed parcels are removed in one go, so that memory stays bounded and a parcel costs next
    /// to nothing.
    #[test]
    fn departed_parcels_are_removed_when_too_many_have_piled_up() {
        let config = LinkConfig::plain(Rate::from_bps(8_000_000).unwrap(), Duration::from_millis(1));
        let mut link = Link::new(&config, "link", 1).unwrap();
        let mut lengths = Vec::new();
        for number in 0..5000 {
            let now = Instant::from_nanos(1_000_000 * number);
            link.offer_through(now, Parcel { handle: 0, bytes: 1000 }, |_| true, &mut Vec::new());
            lengths.push(link.passing.len() as u64);
        }
        // Each parcel leaves as the next one comes, so one is left after settling. The first time
        // no parcel is left over.
        let most = u64::from(MOST_UNCOUNTED);
        let expected: Vec<u64> = (0..5000)
            .map(|number| if number < most - 1 { number + 1 } else { (number + 1 - most) % (most - 1) + 1 })
            .collect();
        assert_eq!(lengths, expected);
    }
}
