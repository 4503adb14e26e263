//! *Looks at* the congestion windows of all paths.
//! *Decides* on the path with the largest window. Among equal windows it prefers the path that the
//! chunk was last sent on.
//! *Blind to* round trips, and to the bytes in flight.
//! *From* Iyengar and others, "Concurrent Multipath Transfer Using SCTP Multihoming" (the policy RTX-CWND).

use super::{Candidate, Retransmit};
use crate::association::PathId;
use crate::fact::Cause;
use crate::registry::Entry;

pub(super) const ENTRY: Entry = Entry {
    name: "largest-window",
    summary: "the path with the largest congestion window",
    source: "Iyengar and others: RTX-CWND",
    ..Entry::retransmit(|_| Box::new(LargestWindow))
};

/// The path with the largest congestion window.
#[derive(Clone, Copy, Debug)]
pub struct LargestWindow;

impl Retransmit for LargestWindow {
    fn choose(&self, last: PathId, _: Cause, usable: &[Candidate]) -> PathId {
        let largest = usable.iter().max_by_key(|candidate| (candidate.window.cwnd, candidate.path == last));
        largest.map_or(last, |candidate| candidate.path)
    }
}
