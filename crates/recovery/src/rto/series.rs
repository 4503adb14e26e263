//! A timer over a series of samples, for models that have no engine.

use super::{Rto, Sample};
use crate::detect::Outcome;
use crate::episode::Estimate;
use crate::rtt::{RoundTrips, Sampling};
use crate::view::View;
use eifel_base::time::{Duration, Instant};

/// An ACK that gives a sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// When it comes.
    pub now: Instant,
    /// The sample, and the sender's state at that time.
    pub sample: Sample,
    /// Bytes outstanding after the ACK.
    pub flight: u64,
}

/// The timer after a sample, and when it would have given the sample's segment up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Point {
    /// The RTO from now on.
    pub rto: Duration,
    /// SRTT and RTTVAR; `None` if the timer has none.
    pub estimate: Option<Estimate>,
    /// REXMT: how long after its transmission the sample's segment would have been given up. The
    /// segment was the oldest in flight, and the ACK before had started the timer.
    pub rexmt: Duration,
    /// Whether the timer had expired before the ACK came: a spurious timeout.
    pub expired: bool,
}

/// How the series was taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// How often samples come.
    pub sampling: Sampling,
    /// Whether a detector reports each spurious timeout to the timer when the ACK comes.
    pub detected: bool,
}

/// Drives `timer` over arrivals in the order of time. Returns one [`Point`] for each.
pub fn drive<'a>(
    timer: &'a mut dyn Rto,
    settings: &Settings,
    arrivals: impl Iterator<Item = Arrival> + 'a,
) -> impl Iterator<Item = Point> + 'a {
    let Settings { mss, detected, .. } = *settings;
    let round_trips = RoundTrips::new(settings.sampling == Sampling::EachAck);
    let mut view = View { now: Instant::ZERO, una: 1, nxt: 1, mss, sack: true, round_trips };
    let mut restarted_at = None;
    arrivals.map(move |Arrival { now, sample, flight }| {
        let sent_at = Instant::from_nanos(now.as_nanos().saturating_sub(sample.rtt.as_nanos()));
        let started_at = restarted_at.unwrap_or(sent_at).max(sent_at);
        let expires = timer.expires(started_at, sent_at);
        let expired = expires < now;
        if expired {
            timer.back_off();
            if detected {
                timer.on_verdict(Outcome::Spurious);
            }
        }
        view.now = now;
        view.una += sample.acked;
        view.nxt = view.una + flight;
        timer.sample(&sample, &view);
        restarted_at = Some(now);
        Point { rto: timer.rto(), estimate: timer.estimate(), rexmt: expires.since(sent_at), expired }
    })
}
