//! *Looks at* round-trip samples, in ticks of a heartbeat where it is the implementation and not the definition.
//! *Decides* on SRTT + 4 RTTVAR, not below two ticks, doubled by each expiry; the heartbeat lets it expire upon a tick.
//! *Blind to* the load: timed often, a large window makes it collapse into the round trip; and to the sign of a change.
//! *From* the thesis, sections 5.3.1 to 5.3.4; Jacobson 1988; 4.4BSD.

use super::back_off::{BackOff, Limits, Seed};
use super::restart::Restart;
use super::timing::{Timed, Timing};
use super::{Rto, Sample, TimerChange, jacobson, scaled};
use crate::episode::Estimate;
use crate::view::View;
use eifel_base::time::{Duration, Instant};

/// The Lite timer, RTO_L and REXMT_L.
#[derive(Clone, Debug)]
pub struct Lite {
    tick: Duration,
    clock: Clock,
    restart: Restart,
    timed: Timed,
    estimate: Option<Estimate>,
    back_off: BackOff,
    rto: Duration,
}

/// The timer's settings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Before the first sample.
    pub initial: Duration,
    /// Never more.
    pub maximum: Duration,
    /// The timer granularity; two ticks are the minimum.
    pub granularity: Duration,
    /// Definition or implementation.
    pub clock: Clock,
    /// Which samples are taken.
    pub timing: Timing,
    /// From when a restarted timer counts.
    pub restart: Restart,
}

/// What time is counted by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    /// RTO_L as it is defined: real time.
    Exact,
    /// REXMT_L as it is implemented: samples and timeouts are whole numbers of ticks of a clock that ticks whatever
    /// happens (section 5.3.4). 4.4BSD keeps fractions of a tick in SRTT and RTTVAR, and so does this.
    Heartbeat,
    /// As ns-2 has it: samples count ticks of that clock, SRTT and RTTVAR are whole numbers of small fractions of a tick,
    /// and the timer expires so many ticks after it was restarted, whenever that is.
    Scaled,
}

impl Lite {
    /// A timer that has not seen a sample.
    pub fn new(settings: Settings) -> Self {
        let Settings { initial, maximum, granularity, clock, timing, restart } = settings;
        let back_off = BackOff::new(Limits { initial, minimum: granularity * 2, maximum });
        let timed = Timed::new(timing);
        let mut timer =
            Self { tick: granularity, clock, restart, timed, estimate: None, back_off, rto: Duration::ZERO };
        timer.refresh();
        timer
    }

    /// The last tick of the heartbeat at or before an instant.
    fn tick_before(&self, at: Instant) -> Instant {
        Instant::from_nanos(at.as_nanos() / self.tick.as_nanos() * self.tick.as_nanos())
    }

    /// The ticks that go by in the round trip that ends now.
    fn ticks_of(&self, rtt: Duration, now: Instant) -> Duration {
        let sent = Instant::from_nanos(now.as_nanos().saturating_sub(rtt.as_nanos()));
        self.tick_before(now).since(self.tick_before(sent))
    }

    fn refresh(&mut self) {
        let rto = self.back_off.rto(self.estimate.map(|Estimate { srtt, rttvar }| srtt + rttvar * 4));
        self.rto = match self.clock {
            Clock::Exact => rto,
            Clock::Heartbeat | Clock::Scaled => {
                self.tick_before(Instant::ZERO + rto).since(Instant::ZERO).max(self.tick * 2)
            }
        };
    }
}

impl Rto for Lite {
    fn sample(&mut self, sample: &Sample, view: &View) {
        if !self.timed.takes(sample, view) {
            return;
        }
        self.estimate = Some(match self.clock {
            Clock::Exact => jacobson::next(self.estimate, sample.rtt),
            Clock::Heartbeat => jacobson::next(self.estimate, self.ticks_of(sample.rtt, view.now)),
            Clock::Scaled => scaled::next(self.estimate, self.ticks_of(sample.rtt, view.now), self.tick),
        });
        self.back_off.on_sample();
        self.refresh();
    }

    fn back_off(&mut self) {
        self.back_off.on_expiry();
        self.refresh();
    }

    fn rto(&self) -> Duration {
        self.rto
    }

    fn expires(&self, now: Instant, oldest: Instant) -> Instant {
        let begins = self.restart.begins(now, oldest);
        match self.clock {
            Clock::Exact | Clock::Scaled => begins + self.rto,
            Clock::Heartbeat => self.tick_before(begins) + self.rto,
        }
    }

    fn estimate(&self) -> Option<Estimate> {
        self.estimate
    }

    fn change(&mut self, change: TimerChange) {
        match self.back_off.change(change) {
            Some(Seed::First(sample)) => self.estimate = Some(jacobson::first(sample)),
            Some(Seed::AtLeast { sample, before }) => {
                self.estimate = Some(jacobson::at_least(sample, before, self.tick));
            }
            None => {}
        }
        self.refresh();
    }
}
