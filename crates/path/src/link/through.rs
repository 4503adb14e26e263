//! Parcels that cross two links with a single event.
//!
//! A link that only one other link feeds sees parcels in the order in which the other took them in.
//! As long as it is idle whenever a parcel comes, its answer is known in advance. The driver then
//! passes the parcel through both links at once: [`offer_through`](Link::offer_through) for the
//! first, [`cross`](Link::cross) for the second. It keeps the one event of the arrival at the far
//! end of the second.

use super::{Link, MOST_UNSETTLED, NextEvent, QueueState, UnderWay};
use crate::parcel::{Outcome, Parcel};
use crate::queue::Spare;
use eifel_base::time::{Duration, Instant};

/// A parcel that crosses a link which is idle when it comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    pub(super) comes: Instant,
    pub(super) bytes: u32,
}

impl Link {
    /// Returns whether [`offer_through`](Self::offer_through) may be called: the link has no
    /// elements.
    pub fn is_open(&self) -> bool {
        self.elements.is_empty()
    }

    /// Returns whether [`cross`](Self::cross) may be called: the fate of a parcel that finds the
    /// link idle depends only on its length.
    pub fn is_plain(&self) -> bool {
        self.elements.is_empty()
            && self.background.is_empty()
            && !self.sending.may_hold()
            && !self.arriving.may_hold()
            && self.transmitter.steady_until() == Instant::NEVER
            && !self.queue.is_random()
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

    /// Passes a parcel that comes at `at`, possibly later than now, through a
    /// [plain](Self::is_plain) link. Returns its arrival if the link is idle then, has room, and
    /// the arrival is not before `earliest`. Otherwise nothing changes. The parcel is not counted
    /// here.
    #[inline]
    pub fn cross(&mut self, at: Instant, bytes: u32, earliest: Instant) -> Option<Instant> {
        if self.last_departure > at || u64::from(bytes) > self.longest_alone {
            return None;
        }
        let departs = at + self.transmitter.time_for(bytes);
        let arrives = departs + self.delay;
        if arrives < earliest || arrives == Instant::NEVER {
            return None;
        }
        self.last_departure = departs;
        self.crossing = Some(Crossing { comes: at, bytes });
        // A parcel that comes another way must look for the crossing one.
        self.spare = Spare::Packets(0);
        Some(arrives)
    }

    /// Adds the last crossing parcel to the queue, where it may still be in transmission when
    /// another parcel comes.
    pub(super) fn meet_crossing(&mut self) {
        if let Some(one) = self.crossing.take() {
            self.passing.push(self.last_departure, one.bytes);
            self.queued_bytes += u64::from(one.bytes);
        }
    }

    /// Returns the queue of an idle [plain](Self::is_plain) link at the instant at which a parcel
    /// of `bytes` comes.
    pub fn queue_of_one(&mut self, bytes: u32) -> QueueState {
        match self.transmitter.time_for(bytes) {
            Duration::ZERO => QueueState { packets: 0, bytes: 0, average_bytes: None },
            _ => QueueState { packets: 1, bytes: u64::from(bytes), average_bytes: None },
        }
    }
}
