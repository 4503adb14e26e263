//! *Looks at* nothing.
//! *Decides* to grant an undo for every spurious verdict.
//! *Blind to* a receiver that forges the evidence.
//! *From* RFC 4015, which leaves the guard to the detector.

use super::Grant;
use crate::registry::Entry;
use eifel_base::time::{Duration, Instant};

pub(super) const ENTRY: Entry = Entry {
    name: "always",
    summary: "every spurious verdict may be undone",
    source: "RFC 4015",
    ..Entry::grant(|_| Box::new(Always))
};

/// Grants every undo.
#[derive(Clone, Debug)]
pub struct Always;

impl Grant for Always {
    fn grants(&mut self, _: Instant, _: Instant, _: Option<Duration>) -> bool {
        true
    }
}
