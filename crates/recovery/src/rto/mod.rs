//! How long to wait before giving a segment up. One file a timer; what timers learn from spurious timeouts is apart.

pub mod after_spurious;
pub mod back_off;
mod jacobson;
mod restart;
mod rto_e;
mod scaled;
pub mod series;
pub mod timer;
mod timing;

crate::registry::algorithms! { rfc6298, lite, eifel, self_trained, linux, fixed; association: rfc9260 }

pub use back_off::Limits;
pub use restart::Restart;
pub use timing::Timing;

use crate::congest::Window;
use crate::detect::Outcome;
use crate::duplicate::DuplicateRto;
use crate::episode::Estimate;
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
    /// Positions that the ACK newly acknowledged, in bytes.
    pub acked: u64,
    /// The window before the ACK grows it.
    pub window: Window,
}

/// The answer of a timer that has taken a sample in and starts anew. It is two words long, so that it is returned in
/// registers: reading it back from memory would stall.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Started {
    /// [`Duration::MAX`] without an SRTT.
    srtt: Duration,
    /// When it expires.
    pub expires: Instant,
}

impl Started {
    /// Returns SRTT, if the timer has one.
    #[inline]
    pub fn srtt(self) -> Option<Duration> {
        (self.srtt != Duration::MAX).then_some(self.srtt)
    }
}

/// A change of the timer that a response or an adaptation wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimerChange {
    Keep,
    /// Begin anew from this sample, as if it were the first.
    Reseed(Duration),
    /// RFC 4015, section 3.1, step 11: begin anew from the sample, but not below the estimate
    /// before.
    ReseedAtLeast {
        /// The delayed segment's round trip.
        sample: Duration,
        /// SRTT and RTTVAR before the timeout.
        before: Estimate,
    },
    /// Before the first sample, wait at least so long (RFC 6298, section 5.7).
    RaiseInitial(Duration),
    /// Keep the back-off through further samples.
    HoldBackOff,
    /// Let samples reset the back-off again, and reset it now.
    ReleaseBackOff,
    /// Raises the minimum by this.
    RaiseMinimum(Duration),
    /// Resets the minimum to the configured one.
    ResetMinimum,
}

/// A retransmission timer's arithmetic. It does not know when it was started; the engine does.
///
/// Nine methods, of which an algorithm writes none: it is an estimator in a [`timer`]. `srtt` and `sample_and_start` exist
/// because nearly every ACK asks for them, and one call is cheaper than three.
pub trait Rto: Send + DuplicateRto {
    /// Takes a round-trip sample in.
    fn sample(&mut self, sample: &Sample, view: &View);
    /// Learns the verdict on an episode that the timer opened. Adaptations to spurious timeouts are not a timer's own: see
    /// [`after_spurious`].
    fn settled(&mut self, _: Outcome);
    /// Waits longer next time: the timer has expired.
    fn back_off(&mut self);
    /// Returns how long to wait now, back-off included.
    fn rto(&self) -> Duration;
    /// Returns when a timer expires that is started at `now`, while the oldest segment under way was sent at `oldest`.
    fn expires(&self, now: Instant, oldest: Instant) -> Instant;
    /// Returns SRTT and RTTVAR, once there is a sample.
    fn estimate(&self) -> Option<Estimate>;
    /// Returns SRTT, once there is a sample.
    fn srtt(&self) -> Option<Duration> {
        self.estimate().map(|estimate| estimate.srtt)
    }
    /// Takes a sample in as the timer starts anew, which most ACKs ask for. `oldest` as for [`expires`](Self::expires).
    fn sample_and_start(&mut self, sample: &Sample, view: &View, oldest: Instant) -> Started {
        self.sample(sample, view);
        Started { srtt: self.srtt().unwrap_or(Duration::MAX), expires: self.expires(view.now, oldest) }
    }
    /// Applies a change that a response or an adaptation wants.
    fn change(&mut self, change: TimerChange);
}
