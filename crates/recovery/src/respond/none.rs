//! *Looks at* nothing.
//! *Decides* to leave everything as the loss signal set it; sending still continues with the next
//! unsent segment.
//! *Blind to* everything.
//! *From* the baseline of every comparison.

use super::{Adjust, Response, Verdict};
use crate::congest::Window;
use crate::episode::Saved;
use crate::registry::Entry;

pub(super) const ENTRY: Entry =
    Entry { name: "none", summary: "restores nothing", source: "RFC 5681", ..Entry::response(|_| Box::new(None)) };

/// Restores nothing.
#[derive(Clone, Debug)]
pub struct None;

impl Response for None {
    fn respond(&mut self, _: &Verdict, _: &Saved, now: &Window) -> Adjust {
        Adjust::to(*now)
    }
}
