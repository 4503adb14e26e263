//! *Looks at* the path that a chunk was last sent on.
//! *Decides* on another path, whatever the reason for the retransmission.
//! *Blind to* how well the paths perform.
//! *From* RFC 2960, section 6.4, as the SCTP paper reads it (section 3): "all retransmissions" to an alternate.

use super::{Candidate, Retransmit, alternate};
use crate::association::PathId;
use crate::fact::Cause;
use crate::registry::Entry;

pub(super) const ENTRY: Entry = Entry {
    name: "all-to-alternate",
    summary: "another path, for any loss signal",
    source: "RFC 2960, section 6.4, as the SCTP paper reads it",
    ..Entry::retransmit(|_| Box::new(AllToAlternate))
};

/// All retransmissions to an alternate path.
#[derive(Clone, Copy, Debug)]
pub struct AllToAlternate;

impl Retransmit for AllToAlternate {
    fn choose(&self, last: PathId, _: Cause, usable: &[Candidate]) -> PathId {
        alternate(last, usable)
    }
}
