//! How long to wait before giving a segment up. One file a timer; what it learns from a spurious timeout is apart.

pub mod after_spurious;
mod back_off;
pub mod eifel;
pub mod fixed;
mod jacobson;
pub mod linux;
pub mod lite;
mod restart;
pub mod rfc6298;
mod rto_e;
mod scaled;
pub mod self_trained;
pub mod series;
mod timing;

pub use back_off::Limits;
pub use restart::Restart;
pub use timing::Timing;

use crate::congest::Window;
use crate::detect::Outcome;
use crate::duplicate::DuplicateRto;
use crate::episode::Estimate;
use crate::view::View;
use eifel_base::time::{Duration, Instant};

/// A round-trip sample, and what the sender was when the ACK came that gave it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// The round trip.
    pub rtt: Duration,
    /// Positions that the ACK newly acknowledged, in bytes.
    pub acked: u64,
    /// The window, before the ACK has let it grow.
    pub window: Window,
}

/// What a timer says that has taken a sample in and starts anew. Two words and no more: so they come back in registers, and
/// nothing waits for them to be read from memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Started {
    /// [`Duration::MAX`] where there is none.
    srtt: Duration,
    /// When it expires.
    pub expires: Instant,
}

impl Started {
    /// SRTT, if the timer has one.
    #[inline]
    pub fn srtt(self) -> Option<Duration> {
        (self.srtt != Duration::MAX).then_some(self.srtt)
    }
}

/// What a response or an adaptation wants of the timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimerChange {
    /// Nothing.
    Keep,
    /// Begin anew from this sample, as if it were the first.
    Reseed(Duration),
    /// RFC 4015, section 3.1, step 11: begin anew from the sample, but not below what was before.
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
    /// Raise the minimum by so much.
    RaiseMinimum(Duration),
    /// Set the minimum back to what was configured.
    ResetMinimum,
}

/// A retransmission timer's arithmetic. It does not know when it was started; the engine does.
pub trait Rto: Send + DuplicateRto {
    /// Takes a round-trip sample in.
    fn sample(&mut self, sample: &Sample, view: &View);
    /// An episode that the timer had opened is settled. What most timers learn from that is not theirs to say: see
    /// [`after_spurious`].
    fn settled(&mut self, _: Outcome) {}
    /// The timer has expired: wait longer next time.
    fn back_off(&mut self);
    /// How long to wait now, back-off included.
    fn rto(&self) -> Duration;
    /// When a timer expires that is started at `now`, while the oldest segment under way was sent at `oldest`. RFC 6298,
    /// section 5.3, asks for a full RTO whatever that segment's age.
    fn expires(&self, now: Instant, _oldest: Instant) -> Instant {
        now + self.rto()
    }
    /// SRTT and RTTVAR, once there is a sample.
    fn estimate(&self) -> Option<Estimate>;
    /// SRTT alone, which is asked for with every sample.
    fn srtt(&self) -> Option<Duration> {
        self.estimate().map(|estimate| estimate.srtt)
    }
    /// Takes a sample in as the timer starts anew, which is what most ACKs ask for. `oldest` as for
    /// [`expires`](Self::expires).
    fn sample_and_start(&mut self, sample: &Sample, view: &View, oldest: Instant) -> Started {
        self.sample(sample, view);
        Started { srtt: self.srtt().unwrap_or(Duration::MAX), expires: self.expires(view.now, oldest) }
    }
    /// Does what a response or an adaptation asks for.
    fn change(&mut self, change: TimerChange);
}
