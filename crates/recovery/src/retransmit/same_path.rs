//! *Looks at* the path that a chunk was last sent on.
//! *Decides* on the same path, unless it has failed.
//! *Blind to* how well the paths perform.
//! *From* the SCTP paper, section 3, which reports that this is often better than an alternate path
//! ([CAI+03]).

use super::{Candidate, Retransmit, same};
use crate::association::PathId;
use crate::fact::Cause;
use crate::registry::Entry;

pub(super) const ENTRY: Entry = Entry {
    name: "same-path",
    summary: "the path of the chunk's last transmission",
    source: "the SCTP paper, section 3",
    ..Entry::retransmit(|_| Box::new(SamePath))
};

/// All retransmissions to the same path.
#[derive(Clone, Copy, Debug)]
pub struct SamePath;

impl Retransmit for SamePath {
    fn choose(&self, last: PathId, _: Cause, usable: &[Candidate]) -> PathId {
        same(last, usable)
    }
}
