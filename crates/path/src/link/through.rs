//! Parcels that cross a link without an event of their own.
//!
//! A link knows a parcel's arrival as soon as it takes the parcel in. If the driver can deal with
//! that arrival at once, the link need not keep the parcel.

use super::{Link, MOST_UNSETTLED, NextEvent, UnderWay};
use crate::parcel::{Outcome, Parcel};
use eifel_base::time::Instant;

impl Link {
    /// Returns whether [`offer_through`](Self::offer_through) may be called: the link has no
    /// elements, and a queue that needs to know no labels.
    pub fn is_open(&self) -> bool {
        self.elements.is_empty() && !self.queue.wants_labels()
    }

    /// Offers a parcel like [`offer`](Self::offer), if the link is [open](Self::is_open). If the
    /// parcel is taken in, `goes_on` receives its arrival at the far end. It returns whether the
    /// driver knows what happens there. If so, the link keeps no event for the parcel and counts it
    /// as delivered.
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
                if self.passing.len() >= MOST_UNSETTLED as usize {
                    self.settle(now);
                }
                NextEvent::Same
            }
            Ok((departs, arrives)) => self.hold(UnderWay { parcel, departs, arrives }),
        }
    }
}
