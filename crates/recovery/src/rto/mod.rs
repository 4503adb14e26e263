//! Retransmission timers: how long to wait before giving a segment up. One file per timer;
//! [`after_spurious`] holds the adaptations to spurious timeouts.

pub mod after_spurious;
pub mod back_off;
mod jacobson;
mod restart;
mod rto_e;
mod scaled;
pub mod series;
pub mod timer;
mod timing;

crate::registry::algorithms! { rfc6298, lite, eifel, self_trained, linux, fixed, never_restarted; association: rfc9260 }
crate::duplicate::duplicate!(Rto by DuplicateRto);

pub use back_off::Limits;
pub use restart::Restart;
pub use timing::Timing;

use crate::congest::Window;
use crate::detect::Outcome;
use crate::episode::Estimate;
use crate::learnt::Learnt;
use crate::registry::Parameter;
use crate::view::View;
use eifel_base::time::{Duration, Instant};

const MICROSECOND: Duration = Duration::from_micros(1);
const HOUR: Duration = Duration::from_secs(3600);
const INITIAL: Parameter = Parameter::milliseconds("initial_ms", "before the first sample", 1000, (MICROSECOND, HOUR));
const MAXIMUM: Parameter = Parameter::milliseconds("maximum_ms", "never more", 60_000, (MICROSECOND, HOUR));

/// A round-trip sample, and the state of the sender when its ACK came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    pub rtt: Duration,
    /// Bytes that the ACK newly acknowledged.
    pub acked: u64,
    /// The window before the ACK grows it.
    pub window: Window,
}

/// The ACKs that restart the timer while data is outstanding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RestartedBy {
    Nothing,
    /// ACKs of new data (RFC 6298, section 5.3).
    NewData,
    /// ACKs of new data, and duplicate ACKs.
    Duplicates,
}

/// The result of [`Rto::sample_and_start`]. It is two words long, so that it is returned in
/// registers: reading it back from memory would stall.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Started {
    /// [`Duration::MAX`] if there is no SRTT.
    srtt: Duration,
    /// When the timer expires.
    pub expires: Instant,
}

impl Started {
    /// Returns SRTT, if the timer has one.
    #[inline]
    pub fn srtt(self) -> Option<Duration> {
        (self.srtt != Duration::MAX).then_some(self.srtt)
    }
}

/// A change of the timer that a response or an adaptation requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimerChange {
    Keep,
    /// Restart the estimate from this sample, as if it were the first.
    Reseed(Duration),
    /// RFC 4015, section 3.1, step 11: restart the estimate from the sample, but not below the
    /// estimate before the timeout.
    ReseedAtLeast {
        /// The delayed segment's round trip.
        sample: Duration,
        /// SRTT and RTTVAR before the timeout.
        before: Estimate,
    },
    /// Begin with the estimate of an earlier connection to the destination (RFC 9040).
    Inherit(Estimate),
    /// Raise the RTO before the first sample to at least this value (RFC 6298, section 5.7).
    RaiseInitial(Duration),
    /// Keep the back-off through further samples.
    HoldBackOff,
    /// Let samples reset the back-off again, and reset it now.
    ReleaseBackOff,
    /// Raise the minimum by this step.
    RaiseMinimum(Duration),
    /// Raise the minimum to this value, if it is below.
    RaiseMinimumTo(Duration),
    /// Halve the minimum, but not below the configured one.
    HalveMinimum,
    /// Reset the minimum to the configured one.
    ResetMinimum,
}

/// A retransmission timer's arithmetic. The engine, not the timer, keeps the instant at which it
/// was started.
///
/// Algorithms implement none of its eleven methods: each is an estimator in a [`timer`]. `srtt` and
/// `sample_and_start` exist because nearly every ACK needs them, and one call is cheaper than
/// three.
pub trait Rto: Send + DuplicateRto {
    /// Processes a round-trip sample.
    fn sample(&mut self, sample: &Sample, view: &View);
    /// Learns the verdict on an episode that the timer opened. Adaptations to spurious timeouts are
    /// separate: see [`after_spurious`].
    fn on_verdict(&mut self, _: Outcome);
    /// Backs the RTO off, because the timer has expired.
    fn back_off(&mut self);
    /// Returns the current RTO, back-off included.
    fn rto(&self) -> Duration;
    /// Returns when a timer expires that is started at `now`. `oldest` is when the oldest segment
    /// in flight was sent.
    fn expires(&self, now: Instant, oldest: Instant) -> Instant;
    /// Returns which ACKs restart the timer while data is outstanding.
    fn restarted_by(&self) -> RestartedBy {
        RestartedBy::NewData
    }
    /// Returns SRTT and RTTVAR, once there is a sample.
    fn estimate(&self) -> Option<Estimate>;
    /// Returns SRTT, once there is a sample.
    fn srtt(&self) -> Option<Duration> {
        self.estimate().map(|estimate| estimate.srtt)
    }
    /// Processes a sample and restarts the timer, as most ACKs require. `oldest` is as for
    /// [`expires`](Self::expires).
    fn sample_and_start(&mut self, sample: &Sample, view: &View, oldest: Instant) -> Started {
        self.sample(sample, view);
        Started { srtt: self.srtt().unwrap_or(Duration::MAX), expires: self.expires(view.now, oldest) }
    }
    /// Applies a change that a response or an adaptation requests.
    fn change(&mut self, change: TimerChange);
    /// Returns what the next connection to the destination may inherit.
    fn learnt(&self) -> Learnt;
}
