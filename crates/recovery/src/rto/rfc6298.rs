//! *Looks at* round-trip samples, as often as they come.
//! *Decides* on SRTT + max(G, 4 RTTVAR), not below the minimum, doubled by each expiry up to the maximum.
//! *Blind to* how often it is sampled: with a sample on every ACK its memory is a fraction of a round trip.
//! *From* RFC 6298, sections 2 and 5.

use super::back_off::{BackOff, Limits, Seed};
use super::{Rto, Sample, TimerChange, jacobson};
use crate::episode::Estimate;
use crate::rtt::Sampling;
use crate::view::View;
use eifel_base::time::Duration;

/// The standard timer.
#[derive(Clone, Debug)]
pub struct Rfc6298 {
    granularity: Duration,
    estimate: Option<Estimate>,
    back_off: BackOff,
    ends: Ends,
    expired: Expired,
    rto: Duration,
}

/// Which sample ends the back-off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ends {
    /// Any: with timestamps an original that was only delayed gives one too (RFC 7323, section 4.1).
    Sample,
    /// The first with an ACK for data that had not been sent when the timer expired: a new measurement "can only happen
    /// when new data has been sent and acknowledged" (section 5). ns-2 has it so with timestamps too, unless it is told
    /// otherwise (its ts_resetRTO_, since July 2003).
    NewData,
}

/// Since when the timer is backed off, where only new data ends that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Expired {
    No,
    /// No sample has come since. Before one comes new data leaves only where the peer has reported all the rest.
    Lately,
    /// It expired before this position was sent.
    Before(u64),
}

/// The timer's settings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Before the first sample (section 2.1).
    pub initial: Duration,
    /// Never less (section 2.4).
    pub minimum: Duration,
    /// Never more (section 2.5).
    pub maximum: Duration,
    /// G, the clock's granularity.
    pub granularity: Duration,
}

impl Rfc6298 {
    /// A timer that has not seen a sample.
    pub fn new(Bounds { initial, minimum, maximum, granularity }: Bounds) -> Self {
        let back_off = BackOff::new(Limits { initial, minimum, maximum });
        let rto = back_off.rto(None);
        Self { granularity, estimate: None, back_off, ends: Ends::Sample, expired: Expired::No, rto }
    }

    /// The same timer, whose back-off ends so.
    pub fn ending(self, ends: Ends) -> Self {
        Self { ends, ..self }
    }

    /// Whether a sample that comes now ends the back-off. One of a single segment a round trip always does: a segment that
    /// was outstanding when the timer expired is not timed any more (Karn's rule).
    fn over(&mut self, view: &View) -> bool {
        let unsent = match self.expired {
            Expired::No => return true,
            _ if view.round_trips.sampling() == Sampling::OneARoundTrip => 0,
            Expired::Lately => view.nxt,
            Expired::Before(unsent) => unsent,
        };
        let over = view.una > unsent;
        self.expired = if over { Expired::No } else { Expired::Before(unsent) };
        over
    }

    fn refresh(&mut self) {
        // Sections 2.2 and 2.3; G where 4 RTTVAR is less. [rfc6298:4]
        let estimated = self.estimate.map(|Estimate { srtt, rttvar }| srtt + self.granularity.max(rttvar * 4));
        self.rto = self.back_off.rto(estimated);
    }
}

impl Rto for Rfc6298 {
    fn sample(&mut self, &Sample { rtt, .. }: &Sample, view: &View) {
        self.estimate = Some(jacobson::next(self.estimate, rtt));
        if self.over(view) {
            self.back_off.on_sample();
        }
        self.refresh();
    }

    fn back_off(&mut self) {
        self.back_off.on_expiry();
        if self.ends == Ends::NewData {
            self.expired = Expired::Lately;
        }
        self.refresh();
    }

    fn rto(&self) -> Duration {
        self.rto
    }

    fn estimate(&self) -> Option<Estimate> {
        self.estimate
    }

    fn change(&mut self, change: TimerChange) {
        match self.back_off.change(change) {
            Some(Seed::First(sample)) => self.estimate = Some(jacobson::first(sample)),
            Some(Seed::AtLeast { sample, before }) => {
                self.estimate = Some(jacobson::at_least(sample, before, self.granularity));
            }
            None => {}
        }
        self.refresh();
    }
}
