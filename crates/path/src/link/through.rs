//! Parcels that cross a link without an event of their own.
//!
//! A link knows a parcel's arrival as soon as it takes the parcel in. If the driver can deal with
//! that arrival at once, the link need not keep the parcel.

use super::{Link, NextEvent, UnderWay};
use crate::parcel::{Outcome, Parcel};
use eifel_base::time::Instant;

/// A parcel that has entered the queue. The link loses it unless it is [delivered](Link::deliver) or
/// [kept](Link::keep).
#[derive(PartialEq, Eq, Debug)]
#[must_use]
pub struct Entered {
    parcel: Parcel,
    departs: Instant,
    /// Its arrival at the far end.
    pub arrives: Instant,
}

impl Link {
    /// Returns whether [`offer_through`](Self::offer_through) may be called: the link has no
    /// elements, and its queue needs no labels.
    pub fn is_open(&self) -> bool {
        self.elements.is_empty() && !self.queue.wants_labels()
    }

    /// Returns whether the queue's room depends on its length only. Then [`has_room`](Self::has_room) may be called.
    pub fn has_steady_limit(&self) -> bool {
        !self.queue.is_random()
    }

    /// Returns whether the queue has room for a parcel that enters at `now`, so that the next call of
    /// [`offer_through`](Self::offer_through) at `now` takes it in.
    #[inline]
    pub fn has_room(&mut self, now: Instant, bytes: u32) -> bool {
        self.spare.fits(bytes) || self.finds_room(now, bytes)
    }

    #[inline(never)]
    fn finds_room(&mut self, now: Instant, bytes: u32) -> bool {
        self.count_departures(now);
        self.spare = self.queue.spare(self.waiting());
        self.spare.fits(bytes)
    }

    /// Offers a parcel like [`offer`](Self::offer), if the link is [open](Self::is_open). If the parcel
    /// is taken in, the driver either deals with its arrival itself, and [delivers](Self::deliver) it, or lets
    /// the link [keep](Self::keep) it.
    #[inline(always)]
    pub fn offer_through(&mut self, now: Instant, parcel: Parcel, outcomes: &mut Vec<Outcome>) -> Option<Entered> {
        self.ledger.offer(&parcel);
        match self.enter(now, parcel.bytes) {
            Ok((departs, arrives)) => Some(Entered { parcel, departs, arrives }),
            Err(cause) => {
                self.drop_parcel(parcel, cause, outcomes);
                None
            }
        }
    }

    /// Keeps no event for a parcel whose arrival the driver deals with, and counts it as delivered.
    /// `now` is when it entered.
    #[inline(always)]
    pub fn deliver(&mut self, now: Instant, Entered { parcel, departs, .. }: Entered) {
        self.ledger.deliver(&parcel);
        self.passing.push(departs, parcel.bytes);
        if self.passing.is_long() {
            self.count_departures(now);
            self.passing.set_limit();
        }
    }

    /// Keeps a parcel until it arrives. Returns how [`next_event`](Self::next_event) changed.
    #[inline(always)]
    pub fn keep(&mut self, Entered { parcel, departs, arrives }: Entered) -> NextEvent {
        self.hold(UnderWay { parcel, departs, arrives })
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
    fn departed_parcels_do_not_pile_up() {
        let config = LinkConfig::plain(Rate::from_bps(8_000_000).unwrap(), Duration::from_millis(1));
        let mut link = Link::new(&config, "link", 1).unwrap();
        let mut longest = 0;
        for number in 0..5000 {
            let now = Instant::from_nanos(1_000_000 * number);
            let entered = link.offer_through(now, Parcel { handle: 0, bytes: 1000 }, &mut Vec::new()).unwrap();
            link.deliver(now, entered);
            longest = longest.max(link.passing.len());
        }
        // Each parcel leaves as the next one comes.
        assert_eq!(longest, 32);
    }
}
