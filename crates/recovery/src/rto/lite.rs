//! *Looks at* round-trip samples; the implementation, unlike the definition, counts them in ticks of a heartbeat.
//! *Decides* on SRTT + 4 RTTVAR, not below two ticks, doubled by each expiry. With the heartbeat it
//! expires on a tick.
//! *Blind to* the load: with many samples of a large window the RTO collapses into the round trip.
//! Also blind to the sign of a change.
//! *From* the thesis, sections 5.3.1 to 5.3.4; Jacobson 1988; 4.4BSD.

use super::back_off::{BackOff, Limits, Seed};
use super::restart::{RESTART_FULL, Restart};
use super::timer::{Estimator, Timer};
use super::timing::{TIMING, Timed, Timing};
use super::{HOUR, MICROSECOND, Sample, jacobson, scaled};
use crate::episode::Estimate;
use crate::registry::{Entry, Parameter};
use crate::view::View;
use eifel_base::time::{Duration, Instant};

pub(super) const ENTRY: Entry = Entry {
    name: "lite",
    summary: "SRTT + 4 RTTVAR in ticks of a heartbeat, restarted in full by each ACK",
    source: "Ludwig 2000, section 5.3; 4.4BSD",
    parameters: &[
        Parameter::milliseconds("initial_ms", "before the first sample", 3000, (MICROSECOND, HOUR)),
        Parameter::milliseconds("maximum_ms", "never more", 64_000, (MICROSECOND, HOUR)),
        Parameter::milliseconds(
            "granularity_ms",
            "a tick; two are the minimum",
            500,
            (MICROSECOND, Duration::from_secs(10)),
        ),
        Parameter::word(
            "clock",
            "the implementation by heartbeat ticks; the definition, with a minimum of two ticks; or ns-2's integers",
            "heartbeat",
            &["heartbeat", "exact", "scaled"],
        ),
        TIMING,
        RESTART_FULL,
    ],
    ..Entry::rto(|parameters| {
        let clocks = [("heartbeat", Clock::Heartbeat), ("exact", Clock::Exact), ("scaled", Clock::Scaled)];
        let tick = parameters.duration("granularity_ms");
        let (initial, maximum) = (parameters.duration("initial_ms"), parameters.duration("maximum_ms"));
        let (timing, restart) = (Timing::of(parameters), Restart::of(parameters));
        let lite = Lite::new(tick, parameters.word("clock", &clocks), timing, restart);
        Box::new(Timer::new(lite, Limits { initial, minimum: tick * 2, maximum }))
    })
};

/// The Lite timer, RTO_L and REXMT_L.
#[derive(Clone, Debug)]
pub struct Lite {
    tick: Duration,
    clock: Clock,
    restart: Restart,
    timed: Timed,
    estimate: Option<Estimate>,
}

/// How time is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    /// RTO_L as it is defined, in real time.
    Exact,
    /// REXMT_L as it is implemented: samples and timeouts are whole numbers of ticks of a free-running clock (section
    /// 5.3.4). SRTT and RTTVAR keep fractions of a tick, as in 4.4BSD.
    Heartbeat,
    /// As in ns-2: samples count ticks of that clock, and SRTT and RTTVAR are whole numbers of
    /// small fractions of a tick. The timer expires a whole number of ticks after its restart,
    /// which need not be on a tick.
    Scaled,
}

impl Lite {
    /// Creates an estimator that has not seen a sample. The minimum of its timer is two ticks.
    pub fn new(tick: Duration, clock: Clock, timing: Timing, restart: Restart) -> Self {
        Self { tick, clock, restart, timed: Timed::new(timing), estimate: None }
    }

    /// Returns the last tick of the heartbeat at or before an instant.
    fn tick_before(&self, at: Instant) -> Instant {
        Instant::from_nanos(at.as_nanos() / self.tick.as_nanos() * self.tick.as_nanos())
    }

    /// Returns the ticks within a round trip that ends at `now`, as a time.
    fn ticks_of(&self, rtt: Duration, now: Instant) -> Duration {
        let sent = Instant::from_nanos(now.as_nanos().saturating_sub(rtt.as_nanos()));
        self.tick_before(now).since(self.tick_before(sent))
    }
}

impl Estimator for Lite {
    fn sample(&mut self, sample: &Sample, view: &View) -> bool {
        let takes = self.timed.takes(sample, view);
        if takes {
            self.estimate = Some(match self.clock {
                Clock::Exact => jacobson::next(self.estimate, sample.rtt),
                Clock::Heartbeat => jacobson::next(self.estimate, self.ticks_of(sample.rtt, view.now)),
                Clock::Scaled => scaled::next(self.estimate, self.ticks_of(sample.rtt, view.now), self.tick),
            });
        }
        takes
    }

    fn seed(&mut self, seed: Seed) {
        self.estimate = Some(seed.estimate(self.tick));
    }

    fn rto(&self, back_off: &BackOff) -> Duration {
        let rto = back_off.rto(self.estimate.map(|Estimate { srtt, rttvar }| srtt + rttvar * 4));
        match self.clock {
            Clock::Exact => rto,
            Clock::Heartbeat | Clock::Scaled => {
                self.tick_before(Instant::ZERO + rto).since(Instant::ZERO).max(self.tick * 2)
            }
        }
    }

    fn estimate(&self) -> Option<Estimate> {
        self.estimate
    }

    fn begins(&self, now: Instant, oldest: Instant) -> Instant {
        let begins = self.restart.begins(now, oldest);
        match self.clock {
            Clock::Exact | Clock::Scaled => begins,
            Clock::Heartbeat => self.tick_before(begins),
        }
    }
}
