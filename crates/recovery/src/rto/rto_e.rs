//! RTO_E: the equations at the head of section 5.4 of the thesis, for the timers that use them.
//!
//! The equations use floating point, because GAIN_E^2 can be as small as 10^-12 and would vanish in
//! whole nanoseconds. Sums, products and quotients are the same on every machine. Times are in
//! nanoseconds, and FLIGHT_E is in segments.
//!
//! The equations leave three points open. While ssthresh is unset ("arbitrarily high"), it says
//! nothing about the load, so FLIGHT_E uses cwnd alone. The first sample sets the RTO to three
//! times the sample, as in the classic timer. A gain is at most 1.

use super::Sample;
use super::back_off::Seed;
use super::timing::Rate;
use crate::congest::Window;
use crate::episode::Estimate;
use eifel_base::time::Duration;

/// SRTT_E, RTTVAR_E and the gain last computed.
#[derive(Clone, Debug)]
pub(super) struct RtoE {
    two_ticks: f64,
    /// The variation weight is m / GAIN_E (the footnote of section 5.4.2).
    m: f64,
    srtt: f64,
    rttvar: f64,
    gain: Gain,
    /// The load and rate from which `gain` was computed. They change less often than samples come.
    gain_of: (u64, Rate),
    latest: Option<f64>,
}

/// GAIN_E and its reciprocal; the variation weight is m times the reciprocal.
#[derive(Clone, Copy, Debug)]
struct Gain {
    gain: f64,
    reciprocal: f64,
}

/// Returns FLIGHT_E = MAX(SSTHRESH, CWND / 2) + 1, in segments. `load` is twice the maximum, in
/// bytes.
fn flight_e(load: u64, mss: u32) -> f64 {
    load as f64 / (2.0 * f64::from(mss)) + 1.0
}

/// Returns twice MAX(SSTHRESH, CWND / 2), in bytes.
fn load(window: &Window) -> u64 {
    if window.ssthresh == u64::MAX { window.cwnd } else { window.cwnd.max(window.ssthresh.saturating_mul(2)) }
}

/// Returns GAIN_E for a sampling rate.
fn gain_e(flight: f64, rate: Rate) -> Gain {
    let reciprocal = match rate {
        Rate::One => flight,
        Rate::Half => (flight / 2.0).max(1.0),
        Rate::OneARoundTrip => 3.0,
    };
    Gain { gain: 1.0 / reciprocal, reciprocal }
}

/// Returns the gain with a bar (the shock absorber, section 5.4.3). The gain is squared where the
/// variation falls, so that the variation falls slowly.
fn damped_gain_e(gain: f64, delta: f64, rttvar: f64) -> f64 {
    if delta - rttvar >= 0.0 { gain } else { gain * gain }
}

impl RtoE {
    /// Creates the state before the first sample. Until a sample comes, the gain is that of one
    /// sample per round trip.
    pub(super) fn new(granularity: Duration, m: u64) -> Self {
        let rate = Rate::OneARoundTrip;
        let two_ticks = nanos(granularity * 2);
        Self {
            two_ticks,
            m: m as f64,
            srtt: 0.0,
            rttvar: 0.0,
            gain: gain_e(1.0, rate),
            gain_of: (0, rate),
            latest: None,
        }
    }

    /// Processes a sample.
    pub(super) fn sample(&mut self, sample: &Sample, mss: u32, rate: Rate) {
        let load = load(&sample.window);
        if self.gain_of != (load, rate) {
            self.gain = gain_e(flight_e(load, mss), rate);
            self.gain_of = (load, rate);
        }
        if self.latest.is_none() {
            return self.begin(sample.rtt);
        }
        let rtt = nanos(sample.rtt);
        self.latest = Some(rtt);
        let Gain { gain, .. } = self.gain;
        // DELTA_E = RTT_Sample - SRTT_E.
        let delta = rtt - self.srtt;
        // SRTT_E = SRTT_E + GAIN_E x DELTA_E.
        self.srtt += gain * delta;
        // RTTVAR_E stays constant while the round trip falls (section 5.4.1). An SRTT_E that falls
        // towards a constant round trip never quite reaches it, so RTTVAR_E would stay constant
        // forever. A difference below a nanosecond, the unit of time, therefore counts as 0.
        if delta > -1.0 {
            let delta = delta.max(0.0);
            self.rttvar += damped_gain_e(gain, delta, self.rttvar) * (delta - self.rttvar);
        }
    }

    /// Returns RTO_E = MAX(SRTT_E + m / GAIN_E x RTTVAR_E, RTT_Sample + 2 x ticks), in nanoseconds;
    /// `None` before the first sample.
    ///
    /// The equation also appears with a bar over this gain. The text contradicts the bar: the
    /// weight must make the RTO the sum of SRTT and DELTA when the round trip begins to rise. It
    /// must also keep the RTO level when the round trip falls. Over the load cycles of figure 5-14,
    /// RTO/RTT would be 14 on average and 22 at most with the bar. Without it, RTO/RTT is 1.7 and
    /// 2.8.
    pub(super) fn rto(&self) -> Option<f64> {
        let floor = self.floor()?;
        Some((self.srtt + self.m * self.gain.reciprocal * self.rttvar).max(floor))
    }

    /// Returns RTT_Sample + 2 x ticks, in nanoseconds; `None` before the first sample.
    pub(super) fn floor(&self) -> Option<f64> {
        Some(self.latest? + self.two_ticks)
    }

    /// Returns SRTT_E and RTTVAR_E, once there is a sample.
    pub(super) fn estimate(&self) -> Option<Estimate> {
        self.latest?;
        Some(Estimate {
            srtt: Duration::from_nanos(self.srtt as u64),
            rttvar: Duration::from_nanos(self.rttvar as u64),
        })
    }

    /// Restarts the estimate from `seed`, as a verdict requests.
    pub(super) fn seed(&mut self, seed: Seed) {
        match seed {
            Seed::First(sample) => self.begin(sample),
            Seed::Inherited(estimate) => {
                self.latest = Some(nanos(estimate.srtt));
                (self.srtt, self.rttvar) = (nanos(estimate.srtt), nanos(estimate.rttvar));
            }
            // RFC 4015, section 3.1, steps 0 and 11.
            Seed::AtLeast { sample, before } => {
                self.begin(sample);
                self.srtt = self.srtt.max(nanos(before.srtt) + self.two_ticks);
                self.rttvar = self.rttvar.max(nanos(before.rttvar));
            }
        }
    }

    fn begin(&mut self, sample: Duration) {
        self.latest = Some(nanos(sample));
        self.srtt = nanos(sample);
        self.rttvar = 2.0 * self.srtt * self.gain.gain / self.m;
    }
}

fn nanos(duration: Duration) -> f64 {
    duration.as_nanos() as f64
}
