//! The thesis, section 5.4: the equations at its head, one by one. In floating point, because
//! GAIN_E squared can be as small as 10^-12.

use eifel_recovery::registry::{Choice, Value};

use super::pair::{BackOff, MSS, Naive, RESTARTS, Rate, TIMINGS, Taken, Timing, compare, milliseconds};
use crate::dice::Dice;

/// SRTT_E, RTTVAR_E and RTT_Sample.
pub struct RtoE {
    pub two_ticks: f64,
    m: f64,
    /// 1 / GAIN_E.
    reciprocal: f64,
    /// In nanoseconds.
    pub estimate: Option<(f64, f64)>,
    latest: f64,
}

impl RtoE {
    pub fn new(tick: u64, m: u64) -> Self {
        Self { two_ticks: 2.0 * tick as f64, m: m as f64, reciprocal: 3.0, estimate: None, latest: 0.0 }
    }

    pub fn sample(&mut self, taken: &Taken, rate: Rate) {
        // FLIGHT_E = MAX (SSTHRESH, CWND / 2) + 1, in segments; an unset SSTHRESH does not count.
        let half_cwnd = taken.cwnd as f64 / 2.0;
        let load = taken.ssthresh.map_or(half_cwnd, |ssthresh| half_cwnd.max(ssthresh as f64));
        let flight = load / MSS as f64 + 1.0;
        self.reciprocal = match rate {
            Rate::One => flight,
            // A gain is at most 1.
            Rate::Half => (flight / 2.0).max(1.0),
            Rate::OneARoundTrip => 3.0,
        };
        let gain = 1.0 / self.reciprocal;
        let sample = taken.rtt as f64;
        let Some((srtt, rttvar)) = self.estimate else { return self.first(sample) };
        self.latest = sample;
        let delta = sample - srtt;
        let srtt = srtt + gain * delta;
        // A fall by less than the unit of time counts as 0.
        let delta = if -1.0 < delta && delta < 0.0 { 0.0 } else { delta };
        let barred = if delta - rttvar >= 0.0 { gain } else { gain * gain };
        let rttvar = if delta >= 0.0 { rttvar + barred * (delta - rttvar) } else { rttvar };
        self.estimate = Some((srtt, rttvar));
    }

    /// Takes the first sample, which sets the RTO to three times the sample.
    pub fn first(&mut self, sample: f64) {
        self.latest = sample;
        self.estimate = Some((sample, 2.0 * sample * (1.0 / self.reciprocal) / self.m));
    }

    pub fn at_least(&mut self, r: u64, srtt_prev: u64, rttvar_prev: u64) {
        self.first(r as f64);
        if let Some((srtt, rttvar)) = &mut self.estimate {
            *srtt = srtt.max(srtt_prev as f64 + self.two_ticks);
            *rttvar = rttvar.max(rttvar_prev as f64);
        }
    }

    /// Returns RTT_Sample + 2 ticks.
    pub fn floor(&self) -> Option<f64> {
        self.estimate.map(|_| self.latest + self.two_ticks)
    }

    /// Returns RTO_E, with the variation weight m / GAIN_E.
    pub fn rto(&self) -> Option<f64> {
        let ((srtt, rttvar), floor) = self.estimate.zip(self.floor())?;
        Some((srtt + self.m * self.reciprocal * rttvar).max(floor))
    }
}

struct Eifel {
    equations: RtoE,
    age: bool,
    timing: Timing,
    back_off: BackOff,
}

impl Naive for Eifel {
    fn sample(&mut self, taken: &Taken) {
        if self.timing.takes(taken) {
            self.equations.sample(taken, self.timing.rate(taken));
            self.back_off.sampled();
        }
    }

    fn reseed(&mut self, r: u64) {
        self.equations.first(r as f64);
    }

    fn reseed_at_least(&mut self, r: u64, srtt_prev: u64, rttvar_prev: u64) {
        self.equations.at_least(r, srtt_prev, rttvar_prev);
    }

    fn back_off(&mut self) -> &mut BackOff {
        &mut self.back_off
    }

    fn rto(&self) -> f64 {
        self.back_off.rto(self.equations.rto()).max(self.equations.floor().unwrap_or(0.0))
    }

    fn estimate(&self) -> Option<(f64, f64)> {
        self.equations.estimate
    }

    /// Returns the start of REXMT_E = RTO_E - age of the oldest outstanding segment.
    fn begins(&self, now: u64, oldest: u64) -> u64 {
        if self.age { oldest } else { now }
    }
}

/// Parameters that the self-trained timer shares.
pub struct Parameters {
    pub choice: Choice,
    pub tick: u64,
    pub m: u64,
    pub timing: &'static str,
    pub age: bool,
    pub back_off: BackOff,
}

pub fn parameters(name: &str, dice: &mut Dice) -> Parameters {
    let (initial, maximum) = (1000 * dice.of_any_size(7), 1000 * dice.of_any_size(8));
    let (tick, m) = (1000 * dice.of_any_size(5), dice.from(1, 4));
    let timing = TIMINGS[dice.below(3) as usize];
    let age = dice.once_in(2);
    let choice = Choice::named(name)
        .with("initial_ms", milliseconds(initial))
        .with("maximum_ms", milliseconds(maximum))
        .with("granularity_ms", milliseconds(tick))
        .with("m", Value::Integer(m as i64))
        .with("timing", Value::Word(timing.into()))
        .with("restart", Value::Word(RESTARTS[usize::from(age)].into()));
    Parameters { choice, tick, m, timing, age, back_off: BackOff::new(initial, 2 * tick, maximum) }
}

#[test]
fn the_eifel_timer_agrees_with_a_model_of_the_thesis() {
    compare(13, &mut |dice| {
        let Parameters { choice, tick, m, timing, age, back_off } = parameters("eifel", dice);
        (choice, Box::new(Eifel { equations: RtoE::new(tick, m), age, timing: Timing::new(timing), back_off }))
    });
}
