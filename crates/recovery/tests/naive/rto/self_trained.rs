//! The thesis, section 5.4.6: CYCLE, AGG and RTO_AGG.

use eifel_recovery::registry::Value;

use super::eifel::{Parameters, RtoE, parameters};
use super::pair::{BackOff, MSS, Naive, Taken, Timing, compare};

struct SelfTrained {
    equations: RtoE,
    age: bool,
    timing: Timing,
    back_off: BackOff,
    k: f64,
    agg: f64,
    /// The cwnd of the last sample, in bytes.
    cwnd: u64,
    /// The cwnd at the end of the last congestion avoidance cycle, in bytes.
    max_cwnd: Option<u64>,
}

impl Naive for SelfTrained {
    fn sample(&mut self, taken: &Taken) {
        if !self.timing.takes(taken) {
            return;
        }
        self.equations.sample(taken, self.timing.rate(taken));
        self.back_off.sampled();
        // A smaller window than before ends a cycle. Before the first end, the current window
        // counts.
        if taken.cwnd < self.cwnd {
            self.max_cwnd = Some(self.cwnd);
        }
        self.cwnd = taken.cwnd;
        let max_cwnd = self.max_cwnd.unwrap_or(taken.cwnd) as f64 / MSS as f64;
        let cycle = 3.0 / 8.0 * max_cwnd * max_cwnd;
        // A cycle has at least one segment, and AGG does not vanish.
        self.agg = (self.agg * (1.0 - self.k / cycle.max(1.0))).max(f64::EPSILON);
    }

    fn on_verdict(&mut self, spurious: bool) {
        if spurious {
            self.agg = (self.agg + 1.0 / 2.0 * (1.0 - self.agg)).min(1.0);
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
        let scaled = self.equations.rto().map(|rto| self.agg * rto);
        self.back_off.rto(scaled).max(self.equations.floor().unwrap_or(0.0) * self.agg)
    }

    fn estimate(&self) -> Option<(f64, f64)> {
        self.equations.estimate
    }

    fn begins(&self, now: u64, oldest: u64) -> u64 {
        if self.age { oldest } else { now }
    }
}

#[test]
fn the_self_trained_timer_agrees_with_a_model_of_the_thesis() {
    compare(14, &mut |dice| {
        let Parameters { choice, tick, m, timing, age, back_off } = parameters("self-trained", dice);
        let per_mille = dice.from(1, 999);
        let naive = SelfTrained {
            equations: RtoE::new(tick, m),
            age,
            timing: Timing::new(timing),
            back_off,
            k: per_mille as f64 / 1000.0,
            agg: 1.0,
            cwnd: 0,
            max_cwnd: None,
        };
        (choice.with("k_per_mille", Value::Integer(per_mille as i64)), Box::new(naive))
    });
}
