//! What loss signals, their undos and echoes have left behind on a path. It is made at the first of them: most connections of a
//! busy host never see one, and hold no memory for it.

use super::Path;
use super::echo::Echoes;
use crate::episode::{Estimate, Saved};
use eifel_base::time::Instant;

/// The traces of signals. The default is that of a path without any.
#[derive(Clone, Debug, Default)]
pub(super) struct Past {
    /// The state that an undo of the last episode can restore.
    pub(super) saved: Option<Saved>,
    /// The bytes that the last loss signal counted of the flight.
    pub(super) counted: u64,
    /// When the segment left that the last loss signal is about, as far as the timer tells.
    pub(super) lost_since: Instant,
    /// Whether an undo has restored the threshold since the last loss signal.
    pub(super) undone: bool,
    /// Whether the path has ever lost anything, spurious loss signals apart.
    pub(super) loss_seen: bool,
    /// The congestion that the peer has echoed.
    pub(super) echoes: Echoes,
    /// The estimate before a spurious timeout, and the first position that was unsent then: the first sample from beyond
    /// seeds the timer anew.
    pub(super) lesson: Option<(Estimate, u64)>,
}

impl Path {
    /// Returns the traces, to add to them.
    pub(super) fn marked(&mut self) -> &mut Past {
        self.past.get_or_insert_default()
    }

    /// Returns the state that an undo of the last episode can restore.
    pub(super) fn saved(&self) -> Option<Saved> {
        self.past.as_ref()?.saved
    }

    /// Returns what the timer is still to learn from a spurious timeout.
    pub(super) fn lesson(&self) -> Option<(Estimate, u64)> {
        self.past.as_ref()?.lesson
    }
}
