//! Loss signals: they cut the window, and open the episode in which the cut may be undone.

use super::Path;
use crate::congest::{Loss, Window};
use crate::episode::Saved;
use crate::event::Event;
use crate::fact::Cause;
use crate::view::View;
use eifel_base::time::{Duration, Instant};

/// FlightSize and the peer's window at a loss signal. Lengths are in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flight {
    /// FlightSize (RFC 5681).
    pub outstanding: u64,
    /// The peer's window, from the first outstanding position on.
    pub peer_window: u64,
}

impl Flight {
    /// Returns the flight without `bytes`, which count as not sent.
    fn less(self, bytes: u64) -> Self {
        Self { outstanding: self.outstanding.saturating_sub(bytes), ..self }
    }

    /// Returns the flight at the loss signal that left `saved`.
    pub(super) fn at(saved: &Saved) -> Self {
        Self { outstanding: saved.flight, peer_window: saved.peer_window }
    }
}

impl Path {
    /// Counts a reduction, and returns the window that congestion control wants after a loss
    /// signal.
    fn cut(&mut self, cause: Cause, flight: Flight, timeout_again: bool) -> Window {
        self.reductions += 1;
        let limit = self.window.cwnd.min(flight.peer_window);
        let loss = Loss { cause, flight: flight.outstanding, limit, timeout_again };
        let window = self.congest.on_loss(&self.window, &loss, self.watch.view());
        if cause == Cause::Timeout && self.cut_stands() {
            // RFC 5681, section 3.1, equation 4 is a bound. SACK reports alone can make the flight
            // grow, and half of it may exceed what the last cut left. A further loss does not say
            // that the path carries more.
            return Window { ssthresh: window.ssthresh.min(self.window.ssthresh), ..window };
        }
        window
    }

    /// Returns the flight that a loss signal counts. RFC 5681, section 3.1, equation 4 is a bound
    /// ("no more than"). SACK reports without an advance of the cumulative ACK can release data,
    /// but this data says nothing about the path. So a signal counts at most cwnd and one segment,
    /// which may lie across the end of the window. Until all data outstanding at the last signal is
    /// acknowledged, a signal may count as much as that one. A part of this data was sent before
    /// the cut.
    fn within_window(&mut self, flight: Flight) -> Flight {
        let &View { una, mss, .. } = self.watch.view();
        let repaired = self.watch.last_episode().is_none_or(|last| una >= last.recovery_point);
        let carried = if repaired { 0 } else { self.undo_state_mut().counted };
        let room = self.window.cwnd.saturating_add(u64::from(mss));
        let outstanding = flight.outstanding.min(room.max(carried));
        self.undo_state_mut().counted = outstanding;
        Flight { outstanding, ..flight }
    }

    /// Cuts the window, and opens an episode. `limited` bytes of the flight were sent by Limited
    /// Transmit and do not count (RFC 3042, section 2).
    pub(crate) fn open_episode(&mut self, cause: Cause, flight: Flight, limited: u64) {
        // An earlier episode counts as a loss if nothing has settled it, whether it is closed or
        // still open.
        if self.watch.last_episode().is_some_and(|earlier| !earlier.settled) {
            self.note_loss_of_episode();
        }
        let now = self.watch.view().now;
        let lost_since = match cause {
            Cause::Timeout => before(now, self.rto.rto()),
            Cause::FastRetransmit => before(now, self.rto.srtt().unwrap_or(Duration::ZERO)),
        };
        if cause == Cause::Timeout {
            // A re-seeding still owed for the last spurious timeout is void: this timeout may ask
            // for another.
            self.undo_state_mut().pending_reseed = None;
        }
        let window = self.window;
        let before_repair = self.repaired_since(cause).unwrap_or(window);
        let flight = self.within_window(flight.less(limited));
        let safe = if self.repairs_a_loss() { window.ssthresh } else { u64::MAX };
        self.window = match (cause, self.is_answered()) {
            (_, false) => self.cut(cause, flight, false),
            // RFC 3168, section 6.1.2: ECN-Echoes and losses of one window cut it once.
            (Cause::FastRetransmit, true) => Window { cwnd: window.cwnd.min(window.ssthresh), ..window },
            (Cause::Timeout, true) => self.cut(cause, flight, true),
        };
        self.answer_ece();
        self.forget_ece();
        let saved = Saved {
            window,
            reduced: self.window,
            flight: flight.outstanding.min(safe),
            peer_window: flight.peer_window,
            estimate: self.rto.estimate(),
        };
        let fast_retransmitted = cause == Cause::Timeout && self.watch.oldest_is_fast_retransmitted();
        let state = self.undo_state_mut();
        (state.saved, state.lost_since, state.undone) = (Some(saved), lost_since, false);
        state.before_repair = Some(before_repair);
        state.fast_retransmitted = fast_retransmitted;
        let episode = self.watch.open_episode(cause);
        self.watch.tell(Event::EpisodeOpened { episode, saved });
    }

    /// Returns whether an episode is open whose cut was not undone. Then FlightSize still contains
    /// data sent before that cut.
    fn cut_stands(&self) -> bool {
        let undone = self.undo_state.as_ref().is_some_and(|state| state.undone);
        !undone && self.watch.episode().is_some()
    }

    /// Returns the window before the fast recovery that this timeout interrupts, if its cut stands.
    fn repaired_since(&self, cause: Cause) -> Option<Window> {
        let recovers = self.watch.episode().is_some_and(|earlier| earlier.cause == Cause::FastRetransmit);
        let interrupts = cause == Cause::Timeout && recovers && self.cut_stands();
        self.undo_state.as_ref().filter(|_| interrupts)?.before_repair
    }

    /// Returns whether a loss is being repaired whose cut was not undone. RFC 4015, section 3.2,
    /// wants "what is considered a safe slow-start threshold": the one that the cut left.
    fn repairs_a_loss(&self) -> bool {
        self.cut_stands() && self.watch.episode().is_some_and(|earlier| earlier.settled)
    }

    /// Cuts the window after a timeout, and opens an episode unless this is a further timeout of the same segment.
    /// [rfc3522:3.2.b] [rfc4015:3.1.b]
    pub(crate) fn on_timeout(&mut self, flight: Flight) {
        let timeouts = match self.watch.count_timeout() {
            Some(timeouts) => {
                let flight = self.within_window(flight);
                self.window = self.cut(Cause::Timeout, flight, true);
                timeouts
            }
            None => {
                self.open_episode(Cause::Timeout, flight, 0);
                1
            }
        };
        self.watch.tell(Event::TimerExpired { timeouts });
        // [rfc6298:5.5]
        self.rto.back_off();
    }

    /// Cuts the window for a loss that a probe has already repaired (RFC 8985, section 7.4.2).
    pub(crate) fn cut_for_repaired(&mut self, flight: Flight) {
        let flight = self.within_window(flight);
        self.watch.forget_closed();
        self.note_loss(self.watch.view().now);
        self.window = self.cut(Cause::FastRetransmit, flight, false);
    }

    /// Cuts the window for a loss that was repaired in an episode whose cut was undone. The undo
    /// also took back the cut for this loss. So the window falls to the value that a fast
    /// retransmit at the start of the episode would have left.
    pub(crate) fn cut_for_loss_within(&mut self) {
        let undone = self.undo_state.as_mut().is_some_and(|state| std::mem::take(&mut state.undone));
        let Some(saved) = self.saved().filter(|_| undone) else { return };
        self.note_loss(self.watch.view().now);
        let now = std::mem::replace(&mut self.window, saved.window);
        let cut = self.cut(Cause::FastRetransmit, Flight::at(&saved), false);
        self.window = Window { cwnd: now.cwnd.min(cut.cwnd), ssthresh: now.ssthresh.min(cut.ssthresh) };
    }

    /// Cuts the window for a retransmission that was lost. The loss is another sign of congestion.
    /// No verdict on the open episode undoes this cut (RFC 5681, section 4.3; RFC 8985, section
    /// 9.3).
    pub(crate) fn cut_for_lost_retransmission(&mut self, flight: Flight) {
        self.note_loss(self.watch.view().now);
        self.watch.settle_open();
        // New data may have made the flight larger than cwnd, and half of it could exceed cwnd.
        let beyond = flight.outstanding.saturating_sub(self.window.cwnd);
        self.window = self.cut(Cause::FastRetransmit, flight.less(beyond), false);
    }
}

fn before(now: Instant, time: Duration) -> Instant {
    Instant::ZERO + now.since(Instant::ZERO + time)
}
