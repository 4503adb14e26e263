//! The transmitter: when a parcel that is offered now will have left.
//!
//! Everything that decides it is known in advance (rates, their changes, spikes, opportunities), so it is computed once,
//! when the parcel comes, and no event is needed for the end of a transmission.

use crate::config::{Capacity, RateChange};
use crate::spike::Holds;
use crate::trace::{OPPORTUNITY_BYTES, Opportunity, Trace};
use eifel_base::time::{Duration, Instant};
use eifel_base::units::Rate;
use std::sync::Arc;

/// Sends parcels one after the other, in the order in which they are given.
#[derive(Debug)]
#[repr(u8)] // A tag of its own: it is read for each parcel, and one hidden in a field has to be found first.
pub enum Transmitter {
    /// Takes no time over a parcel.
    Immediate,
    /// At a rate.
    Paced(Paced),
    /// At the opportunities of a recorded link.
    Recorded(Recorded),
}

impl Transmitter {
    /// As the capacity says.
    pub fn new(capacity: &Capacity) -> Self {
        match capacity {
            Capacity::Unlimited => Self::Immediate,
            Capacity::Rate { rate, changes } => Self::Paced(Paced::new(*rate, changes)),
            Capacity::Trace(trace) => Self::Recorded(Recorded::new(Arc::clone(trace))),
        }
    }

    /// When the last bit of a parcel leaves that is given to the transmitter at `now`, if the one before it leaves at
    /// `free_at`. It stands still while `holds` hold; what it has begun, it finishes.
    pub fn depart(&mut self, now: Instant, free_at: Instant, bytes: u32, holds: &mut Holds) -> Instant {
        match self {
            Self::Paced(paced) => paced.depart(free_at.max(now), bytes, holds),
            Self::Immediate => holds.release(free_at.max(now)),
            Self::Recorded(recorded) => recorded.depart(now, bytes, holds),
        }
    }
}

/// Where what a parcel takes depends on its length alone.
impl Transmitter {
    /// Until when that is so, holds aside: a parcel that is given to it earlier, when it is free, leaves
    /// [so much](Self::time_for) later. [`Instant::ZERO`] if it never is.
    pub(crate) fn steady_until(&self) -> Instant {
        match self {
            Self::Immediate => Instant::NEVER,
            Self::Paced(paced) => paced.next_change,
            Self::Recorded(_) => Instant::ZERO,
        }
    }

    /// How long a parcel of so many bytes takes.
    #[inline(always)]
    pub(crate) fn time_for(&mut self, bytes: u32) -> Duration {
        match self {
            Self::Paced(paced) => paced.time_for(bytes),
            Self::Immediate | Self::Recorded(_) => Duration::ZERO,
        }
    }
}

/// Transmits at a rate that may change.
#[derive(Debug)]
pub struct Paced {
    rate: Rate,
    /// When the first of `changes` applies.
    next_change: Instant,
    /// Changes still to come, the next one last.
    changes: Vec<RateChange>,
    /// Transmission times by size, for the sizes seen last: saves a division for all but a few parcels.
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
        // Sizes differ by words (options) or by far: the word's low bits spread them well enough.
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

/// Transmits at the opportunities of a recorded link, counting bytes: one opportunity carries several small parcels or
/// a part of a large one. What nobody waits for when its instant comes, lapses; so does an opportunity in a spike. As
/// in Mahimahi, a parcel that comes at the very instant of an opportunity has missed it.
#[derive(Debug)]
pub struct Recorded {
    trace: Arc<Trace>,
    /// The opportunity in use or next to be used.
    opportunity: Opportunity,
    /// When it comes.
    time: Instant,
    /// Bytes of it that are not taken.
    left: u32,
}

impl Recorded {
    fn new(trace: Arc<Trace>) -> Self {
        let opportunity = Opportunity { lap: 0, index: 0 };
        let time = trace.time(opportunity);
        Self { trace, opportunity, time, left: OPPORTUNITY_BYTES }
    }

    fn depart(&mut self, now: Instant, bytes: u32, holds: &mut Holds) -> Instant {
        if self.time <= now {
            self.move_to(self.trace.first_from(now + Duration::from_nanos(1)));
        }
        let mut wanted = bytes;
        loop {
            if self.left == 0 {
                self.move_to(self.trace.after(self.opportunity));
            }
            let released = holds.release(self.time);
            if released == Instant::NEVER {
                return Instant::NEVER;
            }
            if released > self.time {
                self.move_to(self.trace.first_from(released));
                continue;
            }
            let taken = wanted.min(self.left);
            self.left -= taken;
            wanted -= taken;
            if wanted == 0 {
                return self.time;
            }
        }
    }

    fn move_to(&mut self, opportunity: Opportunity) {
        self.opportunity = opportunity;
        self.time = self.trace.time(opportunity);
        self.left = OPPORTUNITY_BYTES;
    }
}
