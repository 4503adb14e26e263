//! The transmitter: computes when an offered parcel will have left.
//!
//! Rates, their changes, spikes and opportunities are known in advance. So the end of a
//! transmission is computed when the parcel is offered, and needs no event.

use crate::config::{Capacity, RateChange};
use crate::spike::Holds;
use crate::trace::{OPPORTUNITY_BYTES, Opportunity, Trace};
use eifel_base::time::{Duration, Instant};
use eifel_base::units::Rate;
use std::sync::Arc;

/// Sends parcels one after the other, in the order of the calls.
#[derive(Debug)]
#[repr(u8)] // A separate tag: it is read for each parcel, and a tag in a field's niche takes longer to decode.
pub enum Transmitter {
    /// A transmission takes no time.
    Immediate,
    Paced(Paced),
    Recorded(Recorded),
}

impl Transmitter {
    /// Makes the transmitter of this capacity.
    pub fn new(capacity: &Capacity) -> Self {
        match capacity {
            Capacity::Unlimited => Self::Immediate,
            Capacity::Rate { rate, changes } => Self::Paced(Paced::new(*rate, changes)),
            Capacity::Trace(trace) => Self::Recorded(Recorded::new(Arc::clone(trace))),
        }
    }

    /// Returns when the last bit of a parcel offered at `now` leaves, if the parcel before it
    /// leaves at `free_at`. The transmitter stands still during the spikes of `holds`, but finishes
    /// a transmission that has begun.
    pub fn depart(&mut self, now: Instant, free_at: Instant, bytes: u32, holds: &mut Holds) -> Instant {
        match self {
            Self::Paced(paced) => paced.depart(free_at.max(now), bytes, holds),
            Self::Immediate => holds.release(free_at.max(now)),
            Self::Recorded(recorded) => recorded.depart(now, bytes, holds),
        }
    }

    /// Returns when the transmission of the next parcel begins, if it has waited since `since` and
    /// the parcel before it leaves at `free_at`.
    pub(crate) fn begins(&mut self, since: Instant, free_at: Instant, holds: &mut Holds) -> Instant {
        match self {
            Self::Immediate | Self::Paced(_) => holds.release(free_at.max(since)),
            Self::Recorded(recorded) => recorded.seek(since, holds),
        }
    }
}

/// Periods in which a transmission depends only on the parcel's length.
impl Transmitter {
    /// Returns the instant up to which a transmission takes [`time_for`](Self::time_for), spikes
    /// aside; [`Instant::ZERO`] if there is none.
    pub(crate) fn steady_until(&self) -> Instant {
        match self {
            Self::Immediate => Instant::NEVER,
            Self::Paced(paced) => paced.next_change,
            Self::Recorded(_) => Instant::ZERO,
        }
    }

    /// Returns the transmission time of a parcel.
    #[inline(always)]
    pub(crate) fn time_for(&mut self, bytes: u32) -> Duration {
        match self {
            Self::Paced(paced) => paced.time_for(bytes),
            Self::Immediate | Self::Recorded(_) => Duration::ZERO,
        }
    }
}

#[derive(Debug)]
pub struct Paced {
    rate: Rate,
    next_change: Instant,
    /// Future changes, the next one last.
    changes: Vec<RateChange>,
    /// Transmission times of recent sizes. They save nearly all divisions.
    times: [(u32, Duration); TIMES],
}

impl Paced {
    fn new(rate: Rate, changes: &[RateChange]) -> Self {
        let changes: Vec<_> = changes.iter().rev().copied().collect();
        let next_change = changes.last().map_or(Instant::NEVER, |change| change.at);
        Self { rate, next_change, changes, times: [(0, Duration::ZERO); TIMES] }
    }

    fn depart(&mut self, at: Instant, bytes: u32, holds: &mut Holds) -> Instant {
        let begin = holds.release(at);
        if begin >= self.next_change {
            self.change(begin);
        }
        begin + self.time_for(bytes)
    }

    #[inline]
    fn time_for(&mut self, bytes: u32) -> Duration {
        // Sizes differ by a few words (options) or by much, so the low bits of `bytes / 4` spread
        // them well.
        let slot = &mut self.times[(bytes / 4) as usize % TIMES];
        if slot.0 != bytes {
            *slot = (bytes, self.rate.time_for(bytes));
        }
        slot.1
    }

    #[cold]
    fn change(&mut self, begin: Instant) {
        while let Some(change) = self.changes.pop_if(|change| change.at <= begin) {
            self.rate = change.rate;
        }
        self.next_change = self.changes.last().map_or(Instant::NEVER, |change| change.at);
        self.times = [(0, Duration::ZERO); TIMES];
    }
}

const TIMES: usize = 8;

/// Transmits at the opportunities of a recorded link, counting bytes. One opportunity carries
/// several small parcels or a part of a large one. An opportunity lapses if nothing waits when it
/// comes, or during a spike. As in Mahimahi, a parcel that comes at the very instant of an
/// opportunity misses it.
#[derive(Debug)]
pub struct Recorded {
    trace: Arc<Trace>,
    /// The opportunity in use, or the next one.
    opportunity: Opportunity,
    time: Instant,
    /// Unused bytes of the opportunity.
    left: u32,
}

impl Recorded {
    fn new(trace: Arc<Trace>) -> Self {
        let opportunity = Opportunity { lap: 0, index: 0 };
        let time = trace.time(opportunity);
        Self { trace, opportunity, time, left: OPPORTUNITY_BYTES }
    }

    fn depart(&mut self, now: Instant, bytes: u32, holds: &mut Holds) -> Instant {
        let mut wanted = bytes;
        loop {
            let at = self.seek(now, holds);
            let taken = wanted.min(self.left);
            self.left -= taken;
            wanted -= taken;
            if wanted == 0 || at == Instant::NEVER {
                return at;
            }
        }
    }

    /// Moves to the first opportunity after `now` that has bytes left and is not held. Returns its
    /// time.
    fn seek(&mut self, now: Instant, holds: &mut Holds) -> Instant {
        if self.time <= now {
            self.move_to(self.trace.first_from(now + Duration::from_nanos(1)));
        }
        loop {
            if self.left == 0 {
                self.move_to(self.trace.after(self.opportunity));
            }
            let released = holds.release(self.time);
            if released == Instant::NEVER || released == self.time {
                return released;
            }
            self.move_to(self.trace.first_from(released));
        }
    }

    fn move_to(&mut self, opportunity: Opportunity) {
        self.opportunity = opportunity;
        self.time = self.trace.time(opportunity);
        self.left = OPPORTUNITY_BYTES;
    }
}
