//! *Looks at* when the last undo was granted, and when the episode in question began.
//! *Decides* that nothing is undone whose loss signal came within a smoothed round trip after an undo.
//! *Blind to* a forger who waits a round trip each time; and it refuses honest ones that are as close.
//! *From* this project: losses that follow an undo at once are what a window restored wrongly would cause (RFC 4015,
//! section 6, leaves the matter open).

use super::Grant;
use eifel_base::time::{Duration, Instant};

/// A budget of one undo a round trip.
#[derive(Clone, Debug, Default)]
pub struct OnceARoundTrip {
    /// A loss signal before then is not undone.
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
