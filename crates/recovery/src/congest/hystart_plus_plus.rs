//! HyStart++: when the round trip has grown, slow start continues at a quarter of its speed. It
//! ends after five rounds unless the round trip falls again.
//!
//! Modelled on RFC 9406. Its text was not at hand, so neither the rules nor the constants are
//! checked against it. L is the limit of the counting mode: 8 with `abc-8`.

use super::Window;
use crate::view::View;
use eifel_base::time::Duration;

/// MIN_RTT_THRESH and MAX_RTT_THRESH.
const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: u64 = 4;
const CSS_ROUNDS: u32 = 5;

/// Stands for the RFC's infinity.
const INFINITY: Duration = Duration::MAX;

/// The phase of the algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    SlowStart,
    /// Conservative Slow Start.
    Conservative {
        /// cssBaselineMinRtt
        baseline: Duration,
        /// Rounds that have ended in this phase, including the round in which it began.
        rounds: u32,
    },
    /// The first slow start has ended. Later slow starts go up to the ssthresh that was found.
    Over,
}

/// HyStart++'s variables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct HyStartPlusPlus {
    phase: Phase,
    window_end: u64,
    /// lastRoundMinRTT
    last: Duration,
    /// currentRoundMinRTT
    current: Duration,
    /// rttSampleCount
    samples: u32,
    /// The phase before the last loss signal. It is restored if the signal was spurious.
    before: Phase,
}

impl HyStartPlusPlus {
    pub(super) const NEW: Self = Self {
        phase: Phase::SlowStart,
        window_end: 0,
        last: INFINITY,
        current: INFINITY,
        samples: 0,
        before: Phase::SlowStart,
    };

    /// Returns the window after an ACK in slow start. Standard slow start would let it grow to
    /// `grown`.
    pub(super) fn after_growth(&mut self, now: &Window, grown: Window, view: &View) -> Window {
        let cwnd = match self.phase {
            Phase::Over => return grown,
            Phase::SlowStart => grown.cwnd,
            Phase::Conservative { .. } => now.cwnd + (grown.cwnd - now.cwnd) / CSS_GROWTH_DIVISOR,
        };
        if let Some(rtt) = view.round_trips.unambiguous() {
            self.current = self.current.min(rtt);
            self.samples += 1;
        }
        if self.samples >= N_RTT_SAMPLE {
            self.judge();
        }
        if view.una >= self.window_end && self.end_round(view.nxt) {
            return Window { cwnd, ssthresh: cwnd };
        }
        Window { cwnd, ..grown }
    }

    fn judge(&mut self) {
        match self.phase {
            Phase::SlowStart if self.last != INFINITY => {
                let threshold = (self.last / MIN_RTT_DIVISOR).min(MAX_RTT_THRESH).max(MIN_RTT_THRESH);
                if self.current >= self.last + threshold {
                    self.phase = Phase::Conservative { baseline: self.current, rounds: 0 };
                }
            }
            Phase::Conservative { baseline, .. } if self.current < baseline => self.phase = Phase::SlowStart,
            _ => {}
        }
    }

    /// Ends a round. Returns whether slow start ends with it.
    fn end_round(&mut self, nxt: u64) -> bool {
        self.window_end = nxt;
        (self.last, self.current, self.samples) = (self.current, INFINITY, 0);
        let Phase::Conservative { rounds, .. } = &mut self.phase else { return false };
        *rounds += 1;
        let ends = *rounds >= CSS_ROUNDS;
        if ends {
            self.phase = Phase::Over;
        }
        ends
    }

    pub(super) fn on_loss(&mut self) {
        self.before = std::mem::replace(&mut self.phase, Phase::Over);
    }

    pub(super) fn on_undo(&mut self) {
        self.phase = self.before;
    }
}
