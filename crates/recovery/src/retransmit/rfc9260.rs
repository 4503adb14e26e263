//! *Looks at* why a chunk is retransmitted, and at the path that it was last sent on.
//! *Decides* on another path after a timeout, and on the same path after a fast retransmit.
//! *Blind to* how well the paths perform.
//! *From* RFC 9260, section 6.4.

use super::{Candidate, Retransmit, alternate, same};
use crate::association::PathId;
use crate::fact::Cause;
use crate::registry::Entry;

pub(super) const ENTRY: Entry = Entry {
    name: "rfc9260",
    summary: "another path after a timeout, the same path after a fast retransmit",
    source: "RFC 9260, section 6.4",
    ..Entry::retransmit(|_| Box::new(Rfc9260))
};

/// The policy of RFC 9260.
#[derive(Clone, Copy, Debug)]
pub struct Rfc9260;

impl Retransmit for Rfc9260 {
    fn choose(&self, last: PathId, cause: Cause, usable: &[Candidate]) -> PathId {
        match cause {
            Cause::Timeout => alternate(last, usable),
            // [rfc8540:3.14]
            Cause::FastRetransmit => same(last, usable),
        }
    }
}
