//! *Looks at* when the last undo was granted, and when the current episode began.
//! *Decides* to refuse an undo whose loss signal came within one SRTT after the last undo.
//! *Blind to* a forger who waits a round trip each time; it also refuses honest verdicts that are
//! as close together.
//! *From* this project: a wrongly restored window would cause losses right after the undo (RFC
//! 4015, section 6, leaves the matter open).

use super::Grant;
use crate::registry::Entry;
use eifel_base::time::{Duration, Instant};

pub(super) const ENTRY: Entry = Entry {
    name: "once-a-round-trip",
    summary: "refuses the undo of episodes that began within a round trip after an undo",
    source: "this project",
    ..Entry::grant(|_| Box::new(OnceARoundTrip::default()))
};

/// Grants one undo per round trip.
#[derive(Clone, Debug, Default)]
pub struct OnceARoundTrip {
    /// Loss signals before this instant are not undone.
    until: Option<Instant>,
}

impl Grant for OnceARoundTrip {
    fn grants(&mut self, opened_at: Instant, now: Instant, srtt: Option<Duration>) -> bool {
        if self.until.is_some_and(|until| opened_at < until) {
            return false;
        }
        self.until = Some(now + srtt.unwrap_or(Duration::ZERO));
        true
    }
}
