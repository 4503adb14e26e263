//! *Looks at* the flight at the verdict, the bytes that its ACK acknowledged, ECN-Echo, and the
//! saved state.
//! *Decides* for cwnd = FlightSize + min(bytes acked, initial window), and ssthresh = pipe_prev.
//! After a fast retransmit, cwnd is no more than before it. After a timeout, the first sample of
//! data that was unsent then re-seeds the timer, no lower than before.
//! With `decay`, pipe_prev halves with each timeout after the first, but never below ssthresh now.
//! *Blind to* nothing that it needs. It restores no window on an ACK with ECN-Echo.
//! *From* RFC 4015, section 3.1, steps 0, 9 and 11, and section 3.4. The decay is that of "On making SCTP robust to
//! spurious retransmissions", figure 9, after an earlier draft; RFC 4015, section 3.2, argues against it. Neither
//! states the factor: 1/2 is this project's.

use super::{Adjust, Response, Verdict};
use crate::congest::Window;
use crate::episode::{Estimate, Saved};
use crate::fact::Cause;
use crate::registry::{Entry, Parameter};

pub(super) const ENTRY: Entry = Entry {
    name: "rfc4015",
    summary: "cwnd = FlightSize + min(acked, IW), ssthresh = pipe_prev, timer re-seeded",
    source: "RFC 4015",
    parameters: &[Parameter::switch(
        "decay",
        "pipe_prev halves with each timeout of the same segment after the first (section 3.2)",
        false,
    )],
    ..Entry::response(|parameters| Box::new(Rfc4015 { decay: parameters.switch("decay") }))
};

/// The Eifel response algorithm as standardised.
#[derive(Clone, Debug, Default)]
pub struct Rfc4015 {
    decay: bool,
}

impl Rfc4015 {
    /// Creates the response, with or without the decay of pipe_prev.
    pub fn new(decay: bool) -> Self {
        Self { decay }
    }

    /// Returns pipe_prev after its decay. An unset ssthresh has no half, so FlightSize decays instead.
    fn decayed(&self, pipe_prev: u64, timeouts: u32, saved: &Saved, now: &Window) -> u64 {
        let halvings = timeouts.saturating_sub(1).min(u64::BITS - 1);
        if !self.decay || halvings == 0 {
            return pipe_prev;
        }
        let finite = if pipe_prev == u64::MAX { saved.flight } else { pipe_prev };
        // An undo takes nothing away.
        (finite >> halvings).max(now.ssthresh.min(finite))
    }
}

impl Response for Rfc4015 {
    fn respond(&mut self, verdict: &Verdict, saved: &Saved, now: &Window) -> Adjust {
        let mut window = reversed(verdict, saved, now);
        if !verdict.ece {
            window.ssthresh = self.decayed(window.ssthresh, verdict.timeouts, saved, now);
        }
        Adjust { window, reseed: before(verdict, saved) }
    }

    /// Section 3.4: an ACK that sets the window does not change it any further. [rfc4015:3.4.b]
    fn lets_grow(&self, verdict: &Verdict) -> bool {
        verdict.ece
    }
}

/// Computes step 9, with step 0's pipe_prev. [rfc4015:3.1.9]
fn reversed(verdict: &Verdict, saved: &Saved, now: &Window) -> Window {
    // [rfc4015:3.4.a]
    if verdict.ece {
        return *now;
    }
    // While ssthresh has its unset initial value, pipe_prev is that value too: slow start without a
    // limit continues. [rfc4015:3.1.0]
    let pipe_prev = saved.flight.max(saved.window.ssthresh);
    let restored = verdict.flight + verdict.acked.min(verdict.initial_window);
    // The RFC covers only timeouts, after which the flight is data sent before. In fast recovery,
    // SACK reports let the flight grow beyond the window to restore.
    let cwnd = match verdict.cause {
        Cause::Timeout => restored,
        Cause::FastRetransmit => restored.min(saved.window.cwnd),
    };
    // After a small ACK that covers everything outstanding, the step leaves less than a segment.
    // But no window is below the loss window (RFC 5681, section 3.1).
    Window { cwnd: cwnd.max(u64::from(verdict.mss)), ssthresh: pipe_prev }
}

/// Returns the start value of step 11: the estimate before the timeout. [rfc4015:3.1.11]
pub(super) fn before(verdict: &Verdict, saved: &Saved) -> Option<Estimate> {
    saved.estimate.filter(|_| verdict.cause == Cause::Timeout)
}
