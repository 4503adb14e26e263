//! The thesis, sections 5.3.1 to 5.3.4: SRTT + 4 RTTVAR with Jacobson's gains, at least two ticks,
//! as defined, as implemented with a clock that only ticks, and in ns-2's whole numbers.

use eifel_recovery::registry::{Choice, Value};

use super::pair::{BackOff, Naive, RESTARTS, TIMINGS, Taken, Timing, compare, milliseconds};

const CLOCKS: [&str; 3] = ["exact", "heartbeat", "scaled"];

struct Lite {
    tick: u64,
    clock: &'static str,
    age: bool,
    timing: Timing,
    estimate: Option<(u64, u64)>,
    back_off: BackOff,
}

impl Lite {
    /// Returns how often the clock has ticked by `at`.
    fn ticks(&self, at: u64) -> u64 {
        at / self.tick
    }

    /// Returns t_srtt and t_rttvar of ns-2's rtt_update, in eighths and quarters of a tick, as
    /// times.
    fn scaled(&self, estimate: Option<(u64, u64)>, rtt: u64) -> (u64, u64) {
        let t_rtt = i64::try_from(rtt.max(1)).expect("ticks");
        let in_parts = |time: u64, of_a_tick: f64| (time as f64 * of_a_tick / self.tick as f64).round() as i64;
        let (t_srtt, t_rttvar) = match estimate {
            None => (t_rtt << 3, t_rtt << 1),
            Some((srtt, rttvar)) => {
                let (t_srtt, t_rttvar) = (in_parts(srtt, 8.0), in_parts(rttvar, 4.0));
                let delta = t_rtt - (t_srtt >> 3);
                ((t_srtt + delta).max(1), (t_rttvar + delta.abs() - (t_rttvar >> 2)).max(1))
            }
        };
        (t_srtt as u64 * self.tick / 8, t_rttvar as u64 * self.tick / 4)
    }
}

impl Naive for Lite {
    fn sample(&mut self, taken: &Taken) {
        if !self.timing.takes(taken) {
            return;
        }
        let mut r = taken.rtt;
        if self.clock != "exact" {
            let sent_at = taken.now.saturating_sub(r);
            r = (self.ticks(taken.now) - self.ticks(sent_at)) * self.tick;
        }
        self.estimate = Some(match self.estimate {
            estimate if self.clock == "scaled" => self.scaled(estimate, r / self.tick),
            None => (r, r / 2),
            Some((srtt, rttvar)) => ((7 * srtt + r) / 8, (3 * rttvar + srtt.abs_diff(r)) / 4),
        });
        self.back_off.sampled();
    }

    fn reseed(&mut self, r: u64) {
        self.estimate = Some((r, r / 2));
    }

    fn reseed_at_least(&mut self, r: u64, srtt_prev: u64, rttvar_prev: u64) {
        self.estimate = Some((r.max(srtt_prev + 2 * self.tick), rttvar_prev.max(r / 2)));
    }

    fn back_off(&mut self) -> &mut BackOff {
        &mut self.back_off
    }

    fn rto(&self) -> f64 {
        let rto = self.back_off.rto(self.estimate.map(|(srtt, rttvar)| (srtt + 4 * rttvar) as f64));
        if self.clock == "exact" {
            return rto;
        }
        let ticks = (rto / self.tick as f64).floor();
        ticks.max(2.0) * self.tick as f64
    }

    fn estimate(&self) -> Option<(f64, f64)> {
        self.estimate.map(|(srtt, rttvar)| (srtt as f64, rttvar as f64))
    }

    fn begins(&self, now: u64, oldest: u64) -> u64 {
        let begins = if self.age { oldest } else { now };
        // The heartbeat timer expires on a tick.
        if self.clock == "heartbeat" { self.ticks(begins) * self.tick } else { begins }
    }
}

#[test]
fn the_lite_timer_agrees_with_a_model_of_the_thesis() {
    compare(12, &mut |dice| {
        let (initial, maximum) = (1000 * dice.of_any_size(7), 1000 * dice.of_any_size(8));
        let tick = 1000 * dice.of_any_size(6);
        let timing = TIMINGS[dice.below(3) as usize];
        let (age, clock) = (dice.once_in(2), CLOCKS[dice.below(3) as usize]);
        let word = |word: &str| Value::Word(word.into());
        let choice = Choice::named("lite")
            .with("initial_ms", milliseconds(initial))
            .with("maximum_ms", milliseconds(maximum))
            .with("granularity_ms", milliseconds(tick))
            .with("clock", word(clock))
            .with("timing", word(timing))
            .with("restart", word(RESTARTS[usize::from(age)]));
        let back_off = BackOff::new(initial, 2 * tick, maximum);
        (choice, Box::new(Lite { tick, clock, age, timing: Timing::new(timing), estimate: None, back_off }))
    });
}
