//! *Looks at* when the last undo was granted, and at losses of segments sent before it or within
//! two round trips after it. Loss signals judged spurious do not count.
//! *Decides* as once-a-round-trip does. Also, each undo followed by a loss doubles the number of
//! verdicts that are refused before the next undo, up to 63. Each undo without one halves it.
//! *Blind to* the reason of a loss: where losses are frequent, it refuses undos that did no harm.
//! *From* this project: RFC 4015, section 6, leaves open how often to respond. The back-off is that
//! of RFC 6298, section 5.5.

use super::Grant;
use super::once_a_round_trip::OnceARoundTrip;
use crate::registry::Entry;
use eifel_base::time::{Duration, Instant};

pub(super) const ENTRY: Entry = Entry {
    name: "unless-losses-follow",
    summary: "undos that are followed by losses make further undos rarer",
    source: "this project",
    ..Entry::grant(|_| Box::new(UnlessLossesFollow::default()))
};

/// Round trips after an undo. The loss of a segment sent within them counts against the undo.
const ROUND_TRIPS: u64 = 2;
/// Maximum number of doublings.
const MOST_DOUBLINGS: u32 = 6;

/// Grants undos as long as they do no harm.
#[derive(Clone, Debug, Default)]
pub struct UnlessLossesFollow {
    once: OnceARoundTrip,
    /// Undos that a loss has followed, minus those without; from 0 to `MOST_DOUBLINGS`.
    doublings: u32,
    /// Verdicts still to be refused before the next undo.
    refusals: u32,
    /// The loss of a segment sent until then counts against the last undo; `None` if nothing counts
    /// against it any more.
    watched_until: Option<Instant>,
}

impl Grant for UnlessLossesFollow {
    fn grants(&mut self, opened_at: Instant, now: Instant, srtt: Option<Duration>) -> bool {
        if self.watched_until.take_if(|until| *until < opened_at).is_some() {
            self.doublings = self.doublings.saturating_sub(1);
        }
        if self.refusals > 0 {
            self.refusals -= 1;
            return false;
        }
        if !self.once.grants(opened_at, now, srtt) {
            return false;
        }
        self.watched_until = Some(now + srtt.unwrap_or(Duration::ZERO) * ROUND_TRIPS);
        true
    }

    fn lost(&mut self, sent_at: Instant) {
        if self.watched_until.take_if(|until| sent_at <= *until).is_some() {
            self.doublings = (self.doublings + 1).min(MOST_DOUBLINGS);
            self.refusals = (1 << self.doublings) - 1;
        }
    }
}
