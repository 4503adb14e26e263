//! The traces that loss signals, their undos and ECN-Echoes leave on a path. They are allocated at
//! the first signal. Most connections of a busy host never see a signal, and use no memory for
//! them.

use super::Path;
use super::ece::EceState;
use crate::congest::Window;
use crate::episode::{Estimate, Saved};
use eifel_base::time::Instant;

/// Traces of signals. The default is a path without signals.
#[derive(Clone, Debug, Default)]
pub(super) struct UndoState {
    /// The state that an undo of the last episode can restore.
    pub(super) saved: Option<Saved>,
    /// The window before the fast recovery in which the timer expired; else that of `saved`.
    pub(super) before_repair: Option<Window>,
    /// Bytes of the flight that the last loss signal counted.
    pub(super) counted: u64,
    /// Estimate of when the segment of the last loss signal was sent: one RTO before a timeout, or
    /// one SRTT before a fast retransmit.
    pub(super) lost_since: Instant,
    /// Whether the cut of the last loss signal was undone.
    pub(super) undone: bool,
    /// Whether the last loss signal was a timeout of a segment that a fast retransmit had sent again.
    pub(super) fast_retransmitted: bool,
    /// Whether the path has ever had a loss signal that was not judged spurious.
    pub(super) loss_seen: bool,
    /// ECN-Echoes of the peer.
    pub(super) ece: EceState,
    /// The estimate before a spurious timeout, and the first position that was unsent then. The
    /// first sample beyond that position re-seeds the timer.
    pub(super) pending_reseed: Option<(Estimate, u64)>,
}

impl Path {
    /// Returns the traces for changes. Allocates them if there are none.
    pub(super) fn undo_state_mut(&mut self) -> &mut UndoState {
        self.undo_state.get_or_insert_default()
    }

    /// Returns the state that an undo of the last episode can restore.
    pub(super) fn saved(&self) -> Option<Saved> {
        self.undo_state.as_ref()?.saved
    }

    /// Returns the `pending_reseed`, if the timer must still be re-seeded after a spurious timeout.
    pub(super) fn pending_reseed(&self) -> Option<(Estimate, u64)> {
        self.undo_state.as_ref()?.pending_reseed
    }
}
