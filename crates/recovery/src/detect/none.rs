//! *Looks at* nothing.
//! *Decides* nothing.
//! *Blind to* everything: this is the sender of RFC 5681 and RFC 6298 alone.
//! *From* the baseline of every comparison.

use super::{Detector, Judgement};
use crate::fact::Fact;
use crate::registry::Entry;
use crate::view::View;

pub(super) const ENTRY: Entry =
    Entry { name: "none", summary: "detects nothing", source: "RFC 5681", ..Entry::detector(|_| Box::new(None)) };

/// Never has a verdict.
#[derive(Clone, Debug)]
pub struct None;

impl Detector for None {
    fn observe(&mut self, _: &Fact<'_>, _: &View) -> Judgement {
        Judgement::Undecided
    }

    fn judges(&self) -> bool {
        false
    }
}
