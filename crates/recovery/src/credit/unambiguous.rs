//! *Looks at* how often a chunk was sent.
//! *Decides* that only a chunk that was sent once lets a path's window grow.
//! *Blind to* signs that tell a chunk's transmissions apart.
//! *From* Karn's rule for round trips (RFC 9260, section 6.3.1, C5), applied to growth.

use super::Credit;
use crate::association::{PathId, Sack};
use crate::registry::Entry;

pub(super) const ENTRY: Entry = Entry {
    name: "unambiguous",
    summary: "only chunks that were sent once count",
    source: "Karn's rule, applied to growth",
    ..Entry::credit(|_| Box::new(Unambiguous))
};

#[derive(Clone, Copy, Debug)]
pub struct Unambiguous;

impl Credit for Unambiguous {
    fn counts_repeats(&self, _: PathId, _: &Sack<'_>) -> bool {
        false
    }
}
