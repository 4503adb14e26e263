//! Parcels that need no event of a link: where they go from its far end is known when they are taken in.
//!
//! A link that only one other link feeds sees its parcels in the order in which that one took them in. As long as it is
//! idle whenever one comes, nothing has to be asked there: the driver lets the parcel through both links at once,
//! [`offer_through`](Link::offer_through) the first and [`cross`](Link::cross) the second, and keeps the one event of its
//! arrival at the far end of the second itself.

use super::{Link, MOST_UNSETTLED, NextEvent, QueueState, UnderWay};
use crate::parcel::{Outcome, Parcel};
use crate::queue::Spare;
use eifel_base::time::{Duration, Instant};

/// A parcel that crosses a link which is idle as it comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    /// When that is.
    pub(super) comes: Instant,
    /// Its length.
    pub(super) bytes: u32,
}

impl Link {
    /// Whether [`offer_through`](Self::offer_through) may be asked: there are no elements at the entrance.
    pub fn is_open(&self) -> bool {
        self.elements.is_empty()
    }

    /// Whether [`cross`](Self::cross) may be asked: what becomes of a parcel that finds the link idle depends on its length
    /// alone, from the first to the last.
    pub fn is_plain(&self) -> bool {
        self.elements.is_empty()
            && self.background.is_empty()
            && !self.sending.may_hold()
            && !self.arriving.may_hold()
            && self.transmitter.steady_until() == Instant::NEVER
            && !self.queue.is_random()
    }

    /// As [`offer`](Self::offer), where the link is [open](Self::is_open). `goes_on` is asked, if the parcel is taken in,
    /// whether the driver knows what becomes of it at the far end, where it is at the instant given: then this link has
    /// no event for it, and counts it as delivered.
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

    /// A parcel of so many bytes that comes at `at`, which may be later than now, crosses this link, if that is
    /// [plain](Self::is_plain), idle then and has room: the answer is when it arrives. It is not counted here. If not, or if
    /// it would arrive before `earliest`, nothing has happened.
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
        // Whatever comes another way has to look for it.
        self.spare = Spare::Packets(0);
        Some(arrives)
    }

    /// A parcel is to be taken in: what crossed last may still be in transmission, and waits with the others until somebody
    /// looks.
    pub(super) fn meet_crossing(&mut self) {
        if let Some(one) = self.crossing.take() {
            self.passing.push(self.last_departure, one.bytes);
            self.queued_bytes += u64::from(one.bytes);
        }
    }

    /// The queue of a [plain](Self::is_plain) link that was idle, at the instant at which a parcel of so many bytes comes.
    pub fn queue_of_one(&mut self, bytes: u32) -> QueueState {
        match self.transmitter.time_for(bytes) {
            Duration::ZERO => QueueState { packets: 0, bytes: 0, average_bytes: None },
            _ => QueueState { packets: 1, bytes: u64::from(bytes), average_bytes: None },
        }
    }
}
