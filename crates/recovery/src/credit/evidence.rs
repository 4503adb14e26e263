//! *Looks at* how often a chunk was sent, and the SACK's retransmit bit or timestamp.
//! *Decides* that a retransmitted chunk counts only if the SACK's bit says that it answers a
//! retransmission, or if it echoes a timestamp from this path.
//! *Blind to* lost SACKs: the packets that they answered stay unknown.
//! *From* "On making SCTP robust to spurious retransmissions", section 4, which shows the
//! overgrowth and proposes both signs.

use super::Credit;
use crate::association::{PathId, Sack};
use crate::fact::Mark;
use crate::registry::Entry;

pub(super) const ENTRY: Entry = Entry {
    name: "evidence",
    summary: "retransmitted chunks count only if the SACK answers a retransmission on the path",
    source: "the SCTP paper, section 4",
    ..Entry::credit(|_| Box::new(Evidence))
};

#[derive(Clone, Copy, Debug)]
pub struct Evidence;

impl Credit for Evidence {
    fn counts_repeats(&self, path: PathId, sack: &Sack<'_>) -> bool {
        sack.mark == Some(Mark::Retransmission) || sack.echo_of == Some(path)
    }
}
