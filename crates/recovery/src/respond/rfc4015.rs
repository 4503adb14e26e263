//! *Looks at* the flight at the verdict, the bytes that its ACK acknowledged, ECN-Echo, and the
//! saved state.
//! *Decides* for cwnd = FlightSize + min(bytes acked, initial window), and ssthresh = pipe_prev.
//! After a fast retransmit, cwnd is no more than before it. After a timeout, the first sample of
//! data that was unsent then re-seeds the timer, no lower than before.
//! *Blind to* nothing that it needs. It restores no window on an ACK with ECN-Echo.
//! *From* RFC 4015, section 3.1, steps 0, 9 and 11, and section 3.4.

use super::{Adjust, Response, Verdict};
use crate::congest::Window;
use crate::episode::{Estimate, Saved};
use crate::fact::Cause;
use crate::registry::Entry;

pub(super) const ENTRY: Entry = Entry {
    name: "rfc4015",
    summary: "cwnd = FlightSize + min(acked, IW), ssthresh = pipe_prev, timer re-seeded",
    source: "RFC 4015",
    ..Entry::response(|_| Box::new(Rfc4015))
};

/// The Eifel response algorithm as standardised.
#[derive(Clone, Debug)]
pub struct Rfc4015;

impl Response for Rfc4015 {
    fn respond(&mut self, verdict: &Verdict, saved: &Saved, now: &Window) -> Adjust {
        Adjust { window: reversed(verdict, saved, now), reseed: before(verdict, saved) }
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
