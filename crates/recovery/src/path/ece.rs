//! ECN-Echo: congestion without a loss (RFC 3168, section 6.1.2).

use super::Path;
use super::loss::Flight;
use crate::congest::{Loss, Window};
use crate::episode::Saved;
use crate::event::Event;
use crate::fact::Cause;

/// ECN-Echoes of the current window and episode.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EceState {
    /// Congestion of data below this position was already answered, by an ECN-Echo or a loss
    /// signal.
    answered_below: u64,
    /// Like `answered_below`, but only for answers to an ECN-Echo.
    ece_below: u64,
    /// Whether an ECN-Echo has arrived since the last episode opened.
    in_episode: bool,
}

impl EceState {
    /// Returns whether an ECN-Echo has arrived since the last episode opened.
    pub(super) fn is_in_episode(&self) -> bool {
        self.in_episode
    }

    /// Records that an ECN-Echo has cut the window, when `nxt` was the first position never sent.
    fn cut_at(&mut self, nxt: u64) {
        (self.answered_below, self.ece_below) = (nxt, nxt);
    }
}

impl Path {
    /// Answers an ECN-Echo, once for all signals of one window. `flight` is FlightSize before its
    /// ACK. Returns whether the window was cut.
    #[cold]
    pub(crate) fn on_ece(&mut self, flight: Flight) -> bool {
        self.undo_state_mut().ece.in_episode = true;
        let (una, nxt) = (self.watch.view().una, self.watch.view().nxt);
        if una <= self.undo_state_mut().ece.answered_below {
            return false;
        }
        let window = self.window;
        self.window = self.cut_for_ece(&window, flight);
        self.undo_state_mut().ece.cut_at(nxt);
        self.watch.tell(Event::Echoed { window: self.window });
        true
    }

    fn cut_for_ece(&mut self, window: &Window, flight: Flight) -> Window {
        let limit = window.cwnd.min(flight.peer_window);
        let loss =
            Loss { cause: Cause::FastRetransmit, flight: flight.outstanding.min(limit), limit, timeout_again: false };
        self.reductions += 1;
        let cut = self.congest.on_ece(window, &loss, self.watch.view());
        // A window below two segments is halved too, down to one.
        Window { cwnd: cut.cwnd.min(window.cwnd), ..cut }
    }

    /// Records that a loss signal has cut the window. ECN-Echoes of data outstanding at that time
    /// then cut it no further.
    pub(super) fn answer_ece(&mut self) {
        self.undo_state_mut().ece.answered_below = self.watch.view().nxt;
    }

    /// Returns whether the congestion that lost the oldest segment was already answered: an earlier
    /// ECN-Echo of the same window has cut cwnd.
    pub(super) fn is_answered(&self) -> bool {
        self.undo_state.as_ref().is_some_and(|state| self.watch.view().una < state.ece.ece_below)
    }

    pub(super) fn forget_ece(&mut self) {
        self.undo_state_mut().ece.in_episode = false;
    }

    /// Updates the answers to ECN-Echo after a response has changed the window, to undo the signal
    /// that left `saved`. That signal now answers no ECN-Echo: later ones cut the window as usual.
    /// ECN-Echoes since the signal were real congestion. So the window becomes no larger than they
    /// alone would have left it.
    pub(super) fn on_undo_of_signal(&mut self, saved: &Saved) {
        let ece = &mut self.undo_state_mut().ece;
        if !std::mem::take(&mut ece.in_episode) {
            ece.answered_below = ece.ece_below;
            return;
        }
        let nxt = self.watch.view().nxt;
        let undone = self.window;
        let cut = self.cut_for_ece(&saved.window, Flight::at(saved));
        self.window = Window { cwnd: undone.cwnd.min(cut.cwnd), ssthresh: undone.ssthresh.min(cut.ssthresh) };
        self.undo_state_mut().ece.cut_at(nxt);
        self.watch.tell(Event::Echoed { window: self.window });
    }
}
