//! *Looks at* round-trip samples, as often as they come.
//! *Decides* on SRTT + max(G, 4 RTTVAR), not below the minimum, doubled by each expiry up to the
//! maximum.
//! *Blind to* how often it is sampled: with a sample on every ACK its memory is a fraction of a round trip.
//! *From* RFC 6298, sections 2 and 5.

use super::back_off::{BackOff, Limits, Seed};
use super::timer::{Estimator, Timer};
use super::{HOUR, MICROSECOND, RestartedBy, Sample, jacobson};
use crate::episode::Estimate;
use crate::registry::{Entry, Parameter};
use crate::rtt::Sampling;
use crate::view::View;
use eifel_base::time::Duration;

pub(super) const ENTRY: Entry = Entry {
    name: "rfc6298",
    summary: "SRTT + 4 RTTVAR, doubled by each expiry",
    source: "RFC 6298",
    parameters: &[
        Parameter::milliseconds("initial_ms", "before the first sample (section 2.1)", 1000, (MICROSECOND, HOUR)),
        Parameter::milliseconds("minimum_ms", "never less (section 2.4)", 1000, (Duration::ZERO, HOUR)),
        Parameter::milliseconds("maximum_ms", "never more (section 2.5)", 60_000, (MICROSECOND, HOUR)),
        Parameter::milliseconds(
            "granularity_ms",
            "G, the clock's granularity",
            1,
            (MICROSECOND, Duration::from_secs(10)),
        ),
        Parameter::word(
            "back_off_ends",
            "with which ACK that gives a sample: any, or the first for data that was unsent when the timer expired (section 5)",
            "sample",
            &["sample", "new-data"],
        ),
        Parameter::milliseconds(
            "slop_ms",
            "added to every RTO except the first (FreeBSD's rexmit_slop, 200 ms there)",
            0,
            (Duration::ZERO, HOUR),
        ),
        Parameter::word(
            "restarted_by",
            "which ACKs restart the timer: those of new data (section 5.3), or duplicates too (Gurtov and Ludwig, II.C)",
            "new-data",
            &["new-data", "duplicates"],
        ),
    ],
    ..Entry::rto(|parameters| {
        let Limits { initial, minimum, maximum } = Limits::of(parameters);
        let granularity = parameters.duration("granularity_ms");
        let ends = parameters.word("back_off_ends", &[("sample", Ends::Sample), ("new-data", Ends::NewData)]);
        let slop = parameters.duration("slop_ms");
        let restarted_by = parameters
            .word("restarted_by", &[("new-data", RestartedBy::NewData), ("duplicates", RestartedBy::Duplicates)]);
        let estimator = Rfc6298 { restarted_by, ..Rfc6298::new(granularity, slop, ends) };
        Box::new(Timer::new(estimator, Limits { initial, minimum, maximum }))
    })
};

/// The standard timer.
#[derive(Clone, Debug)]
pub struct Rfc6298 {
    granularity: Duration,
    slop: Duration,
    estimate: Option<Estimate>,
    ends: Ends,
    expired: Expired,
    restarted_by: RestartedBy,
}

/// Which sample ends the back-off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ends {
    /// Any sample. With timestamps, an original that was only delayed gives a sample too (RFC 7323,
    /// section 4.1).
    Sample,
    /// The first sample from an ACK for data that was unsent when the timer expired: a new
    /// measurement "can only happen when new data has been sent and acknowledged" (section 5). ns-2
    /// does this with timestamps too, unless ts_resetRTO_ says otherwise (since July 2003).
    NewData,
}

/// Whether the timer is backed off, for [`Ends::NewData`]. With [`Ends::Sample`] it is always `No`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Expired {
    No,
    /// Backed off, and no sample has come since. Before a sample comes, new data is sent only if
    /// the peer has SACKed all the rest.
    Lately,
    /// Backed off. This position was unsent when the timer expired.
    Before(u64),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// The RTO before the first sample (section 2.1).
    pub initial: Duration,
    /// The smallest RTO (section 2.4).
    pub minimum: Duration,
    /// The largest RTO (section 2.5).
    pub maximum: Duration,
    /// G, the clock's granularity.
    pub granularity: Duration,
    /// Added to every RTO after the first sample or expiry, up to the maximum.
    pub slop: Duration,
}

impl Rfc6298 {
    /// Creates a timer that has not seen a sample.
    pub fn timer(Bounds { initial, minimum, maximum, granularity, slop }: Bounds, ends: Ends) -> Timer<Self> {
        Timer::new(Self::new(granularity, slop, ends), Limits { initial, minimum, maximum })
    }

    /// Creates an estimator that has not seen a sample.
    pub(super) fn new(granularity: Duration, slop: Duration, ends: Ends) -> Self {
        Self { granularity, slop, estimate: None, ends, expired: Expired::No, restarted_by: RestartedBy::NewData }
    }

    /// Returns whether a sample that comes now ends the back-off. If one segment per round trip is
    /// timed, its sample always does: a segment that was outstanding when the timer expired is no
    /// longer timed (Karn's rule).
    fn ends_back_off(&mut self, view: &View) -> bool {
        let unsent = match self.expired {
            Expired::No => return true,
            _ if view.round_trips.sampling() == Sampling::OneARoundTrip => 0,
            Expired::Lately => view.nxt,
            Expired::Before(unsent) => unsent,
        };
        let ends = view.una > unsent;
        self.expired = if ends { Expired::No } else { Expired::Before(unsent) };
        ends
    }
}

impl Estimator for Rfc6298 {
    fn sample(&mut self, &Sample { rtt, .. }: &Sample, view: &View) -> bool {
        self.estimate = Some(jacobson::next(self.estimate, rtt));
        self.ends_back_off(view)
    }

    fn seed(&mut self, seed: Seed) {
        self.estimate = Some(seed.estimate(self.granularity));
    }

    fn rto(&self, back_off: &BackOff) -> Duration {
        // Sections 2.2 and 2.3; G if 4 RTTVAR is less. [rfc6298:4]
        let rto = back_off.rto(self.estimate.map(|Estimate { srtt, rttvar }| srtt + self.granularity.max(rttvar * 4)));
        let first = self.estimate.is_none() && !back_off.is_backed_off();
        if first || self.slop == Duration::ZERO { rto } else { back_off.at_most(rto + self.slop) }
    }

    fn estimate(&self) -> Option<Estimate> {
        self.estimate
    }

    fn restarted_by(&self) -> RestartedBy {
        self.restarted_by
    }

    fn on_expiry(&mut self) {
        if self.ends == Ends::NewData {
            self.expired = Expired::Lately;
        }
    }
}
