//! *Looks at* the path that a chunk was last sent on.
//! *Decides* that the chunk counts for that path's window.
//! *Blind to* which transmission of the chunk arrived.
//! *From* RFC 9260, section 7.2.1.

use super::Credit;
use crate::association::{PathId, Sack};
use crate::registry::Entry;

pub(super) const ENTRY: Entry = Entry {
    name: "last-path",
    summary: "every chunk counts for the path of its last transmission",
    source: "RFC 9260, section 7.2.1",
    ..Entry::credit(|_| Box::new(LastPath))
};

#[derive(Clone, Copy, Debug)]
pub struct LastPath;

impl Credit for LastPath {
    fn counts_repeats(&self, _: PathId, _: &Sack<'_>) -> bool {
        true
    }
}
