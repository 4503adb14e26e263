//! *Looks at* the flight and the window at the loss signal, the current flight, and the bytes that
//! the verdict's ACK acknowledged.
//! *Decides* for cwnd = FlightSize + min(bytes acked, two segments), and for slow start from there
//! up to the flight at the loss signal. Neither exceeds cwnd at the loss signal, since a flight in
//! fast recovery is larger than the window that it was cut to. After a timeout, it re-seeds the
//! timer as RFC 4015 does.
//! *Blind to* room beyond that flight, which the path may have. It restores no window on an ACK
//! with ECN-Echo.
//! *From* this project. The form is RFC 4015's (section 3.1, step 9); slow start to the old flight
//! is RFC 3708's (section 1). Two segments are the burst that a delayed ACK causes (RFC 5681,
//! section 4.2).

use super::rfc4015::before;
use super::{Adjust, Response, Verdict};
use crate::congest::Window;
use crate::episode::Saved;
use crate::registry::Entry;

pub(super) const ENTRY: Entry = Entry {
    name: "as-carried",
    summary: "slow start from the flight up to the flight at the loss signal; two segments are sent at once",
    source: "this project",
    ..Entry::response(|_| Box::new(AsCarried))
};

/// Segments that may be sent at once.
const BURST: u64 = 2;

/// Restores the window up to the flight that the path has just carried.
#[derive(Clone, Debug)]
pub struct AsCarried;

impl Response for AsCarried {
    fn respond(&mut self, verdict: &Verdict, saved: &Saved, now: &Window) -> Adjust {
        let mss = u64::from(verdict.mss);
        let window = match verdict.ece {
            true => *now,
            false => Window {
                cwnd: (verdict.flight + verdict.acked.min(BURST * mss)).min(saved.window.cwnd).max(mss),
                ssthresh: saved.flight.min(saved.window.cwnd).max(saved.reduced.ssthresh),
            },
        };
        Adjust { window, reseed: before(verdict, saved) }
    }

    /// An ACK that sets the window may only send the burst, and does not grow the window too.
    fn lets_grow(&self, verdict: &Verdict) -> bool {
        verdict.ece
    }
}
