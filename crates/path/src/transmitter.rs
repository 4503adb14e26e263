//! The transmitter: when a parcel that is offered now will have left.
//!
//! Everything that decides it is known in advance (rates, their changes, spikes, opportunities), so it is computed once,
//! when the parcel comes, and no event is needed for the end of a transmission.

use crate::config::{Capacity, RateChange};
use crate::spike::Holds;
use crate::trace::{OPPORTUNITY_BYTES, Opportunity, Trace};
use eifel_recovery::time::{Duration, Instant};
use eifel_recovery::units::Rate;
use std::sync::Arc;

/// Sends parcels one after the other, in the order in which they are given.
#[derive(Debug)]
#[repr(u8)] // A tag of its own: it is read for each parcel, and one hidden in a field has to be found first.
pub enum Transmitter {
    /// Takes no time over a parcel.
    Immediate(Immediate),
    /// At a rate.
    Paced(Paced),
    /// At the opportunities of a recorded link.
    Recorded(Recorded),
}

impl Transmitter {
    /// As the capacity says.
    pub fn new(capacity: &Capacity) -> Self {
        match capacity {
            Capacity::Unlimited => Self::Immediate(Immediate { free_at: Instant::ZERO }),
            Capacity::Rate { rate, changes } => Self::Paced(Paced::new(*rate, changes)),
            Capacity::Trace(trace) => Self::Recorded(Recorded::new(Arc::clone(trace))),
        }
    }

    /// When the last bit of a parcel leaves that is given to the transmitter at `now`. It stands still while `holds`
    /// hold; what it has begun, it finishes.
    #[inline(always)]
    pub fn depart(&mut self, now: Instant, bytes: u32, holds: &mut Holds) -> Instant {
        match self {
            Self::Paced(paced) => paced.depart(now, bytes, holds),
            Self::Immediate(immediate) => immediate.depart(now, holds),
            Self::Recorded(recorded) => recorded.depart(now, bytes, holds),
        }
    }
}

/// Where what a parcel takes depends on its length alone.
impl Transmitter {
    /// Whether that is so.
    pub(crate) fn is_steady(&self) -> bool {
        match self {
            Self::Immediate(_) => true,
            Self::Paced(paced) => paced.next_change == Instant::NEVER,
            Self::Recorded(_) => false,
        }
    }

    /// How long a parcel of so many bytes takes.
    #[inline(always)]
    pub(crate) fn time_for(&mut self, bytes: u32) -> Duration {
        match self {
            Self::Paced(paced) => paced.time_for(bytes),
            Self::Immediate(_) | Self::Recorded(_) => Duration::ZERO,
        }
    }

    /// It has taken a parcel that leaves at `at`.
    #[inline(always)]
    pub(crate) fn occupy_until(&mut self, at: Instant) {
        match self {
            Self::Paced(paced) => paced.free_at = at,
            Self::Immediate(immediate) => immediate.free_at = at,
            Self::Recorded(_) => {}
        }
    }
}

/// Takes no time over a parcel, but stands still in a spike.
#[derive(Debug)]
pub struct Immediate {
    free_at: Instant,
}

impl Immediate {
    #[inline(never)]
    fn depart(&mut self, now: Instant, holds: &mut Holds) -> Instant {
        self.free_at = holds.release(self.free_at.max(now));
        self.free_at
    }
}

/// Transmits at a rate that may change.
#[derive(Debug)]
pub struct Paced {
    free_at: Instant,
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
        Self { free_at: Instant::ZERO, rate, next_change, changes, times: [(0, Duration::ZERO); TIMES] }
    }

    #[inline(always)]
    fn depart(&mut self, now: Instant, bytes: u32, holds: &mut Holds) -> Instant {
        let begin = holds.release(self.free_at.max(now));
        if begin >= self.next_change {
            self.change(begin);
        }
        self.free_at = begin + self.time_for(bytes);
        self.free_at
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

    #[inline(never)]
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
