//! The DualRTT paper, figure 6 and equation 1, after a timeout; equations 3 and 6 for the threshold.

use eifel_recovery::fact::{Acked, Cause};
use eifel_recovery::registry::{Choice, Value};

use super::world::{Again, MSS, Seen};
use super::{Answer, Naive, compare};

struct Dual {
    /// The threshold in thousandths; `None` selects the model.
    tau: Option<u64>,
    /// The first position that was unsent at the timeout.
    point: Option<u64>,
    /// When the measurement of the path's rate began, in nanoseconds.
    since: Option<u64>,
    /// Bytes acknowledged since then.
    bytes: u64,
    /// The highest rate in a round trip, in bit/s.
    best: f64,
}

impl Dual {
    fn exceeds(&self, nrtt: u64, minimum: u64) -> bool {
        if let Some(tau) = self.tau {
            return u128::from(nrtt) * 1000 < u128::from(tau) * u128::from(minimum);
        }
        let tau = if self.best > 0.0 && minimum > 0 {
            let delay = minimum as f64 / 1e9 / 2.0;
            let mtu = (MSS + 40) as f64;
            // The model was fitted to values from 0.01 to 0.6.
            (8.022e-3 * self.best.ln() - 5.803e-2 * delay.ln() + 1.463e-6 * mtu).clamp(0.01, 0.6)
        } else {
            // Section V.B: until the path is known.
            0.1
        };
        // To the millionth.
        (nrtt as f64) < (tau * 1e6).floor() / 1e6 * minimum as f64
    }

    fn measure(&mut self, acked: &Acked, seen: &Seen) {
        self.bytes += acked.bytes;
        let Some(rtt) = seen.latest else { return };
        let elapsed = seen.now - self.since.unwrap_or(0);
        if elapsed < rtt {
            return;
        }
        if self.since.is_some() && elapsed > 0 {
            self.best = self.best.max(self.bytes as f64 * 8.0 / (elapsed as f64 / 1e9));
        }
        (self.since, self.bytes) = (Some(seen.now), 0);
    }
}

impl Naive for Dual {
    fn sent_again(&mut self, again: &Again, seen: &Seen) {
        if again.opens {
            self.point = (again.cause == Cause::Timeout).then_some(seen.nxt);
        }
    }

    fn acked(&mut self, acked: &Acked, seen: &Seen) -> Answer {
        let answer = match self.point {
            Some(point) if acked.bytes > 0 => {
                // NRTT of a segment that was not retransmitted is its RTT, and never less than
                // MinRTT.
                let nrtt = acked.highest.filter(|highest| highest.copies > 0);
                let nrtt = nrtt.map(|highest| seen.now - highest.last_sent.as_nanos());
                if let (Some(nrtt), Some(minimum)) = (nrtt, seen.minimum)
                    && self.exceeds(nrtt, minimum)
                {
                    Answer::Spurious
                } else if acked.cumulative >= point {
                    Answer::Genuine
                } else {
                    Answer::Undecided
                }
            }
            _ => Answer::Undecided,
        };
        if answer != Answer::Undecided {
            self.point = None;
        }
        self.measure(acked, seen);
        answer
    }
}

#[test]
fn dual_rtt_agrees_with_a_model_of_the_paper() {
    let new = |tau| Box::new(Dual { tau, point: None, since: None, bytes: 0, best: 0.0 });
    compare(&Choice::named("dual-rtt").with("tau", Value::Word("model".into())), &|_| new(None));
    for thousandths in [25, 100, 900] {
        let choice = Choice::named("dual-rtt").with("tau", Value::Word("fixed".into()));
        let choice = choice.with("tau_thousandths", Value::Integer(thousandths));
        compare(&choice, &|_| new(Some(thousandths as u64)));
    }
}
