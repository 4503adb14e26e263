//! Loss signals: they cut the window, and open the episode in which the cut may be undone.

use super::Path;
use crate::congest::{Loss, Window};
use crate::episode::Saved;
use crate::event::Event;
use crate::fact::Cause;
use crate::view::View;
use eifel_base::time::{Duration, Instant};

/// How much is outstanding at a loss signal, and how much the peer takes. Lengths in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flight {
    /// FlightSize (RFC 5681).
    pub outstanding: u64,
    /// The peer's window, from the first position outstanding on.
    pub peer_window: u64,
}

impl Flight {
    /// The flight without `bytes` that count as not sent.
    fn less(self, bytes: u64) -> Self {
        Self { outstanding: self.outstanding.saturating_sub(bytes), ..self }
    }

    /// The flight as it was at the loss signal that left `saved`.
    pub(super) fn at(saved: &Saved) -> Self {
        Self { outstanding: saved.flight, peer_window: saved.peer_window }
    }
}

impl Path {
    /// Returns the window that congestion control wants after a loss signal.
    fn cut(&mut self, cause: Cause, flight: Flight, timeout_again: bool) -> Window {
        self.reductions += 1;
        let limit = self.window.cwnd.min(flight.peer_window);
        let loss = Loss { cause, flight: flight.outstanding, limit, timeout_again };
        let window = self.congest.on_loss(&self.window, &loss, self.watch.view());
        if cause == Cause::Timeout && self.cut_stands() {
            // RFC 5681, section 3.1, equation 4 is a bound. A receiver that reports by SACK alone makes the flight grow, and
            // half of it may lie above what the last cut left: a further loss does not say that the path carries more.
            return Window { ssthresh: window.ssthresh.min(self.window.ssthresh), ..window };
        }
        window
    }

    /// Returns the flight as far as a loss signal counts it. RFC 5681, section 3.1, equation 4 is a bound ("no more than"): what
    /// a receiver lets leave by reporting alone, while its cumulative number stands still, says nothing of the path. So a signal
    /// counts what the window had room for, and the segment that may lie across its end; or, until all that was outstanding at
    /// the last signal is acknowledged, what counted there. Part of that has left before the window was cut.
    fn within_window(&mut self, flight: Flight) -> Flight {
        let &View { una, mss, .. } = self.watch.view();
        let repaired = self.watch.last_episode().is_none_or(|last| una >= last.recovery_point);
        let carried = if repaired { 0 } else { self.marked().counted };
        let room = self.window.cwnd.saturating_add(u64::from(mss));
        let outstanding = flight.outstanding.min(room.max(carried));
        self.marked().counted = outstanding;
        Flight { outstanding, ..flight }
    }

    /// Cuts the window, and opens an episode. `limited` bytes of the flight were sent by Limited Transmit and do not count
    /// (RFC 3042, section 2).
    pub(crate) fn open_episode(&mut self, cause: Cause, flight: Flight, limited: u64) {
        // An episode that ended without a verdict stands for a loss, and so does one that is still open and settled by none.
        if self.watch.last_episode().is_some_and(|earlier| !earlier.settled) {
            let sent_at = self.marked().lost_since;
            self.note_loss(sent_at);
        }
        let now = self.watch.view().now;
        let lost_since = match cause {
            Cause::Timeout => before(now, self.rto.rto()),
            Cause::FastRetransmit => before(now, self.rto.srtt().unwrap_or(Duration::ZERO)),
        };
        if cause == Cause::Timeout {
            // This timeout will teach anew what the last one had to teach.
            self.marked().lesson = None;
        }
        let window = self.window;
        let flight = self.within_window(flight.less(limited));
        let safe = if self.repairs_a_loss() { window.ssthresh } else { u64::MAX };
        self.window = match (cause, self.is_answered()) {
            (_, false) => self.cut(cause, flight, false),
            // RFC 3168, section 6.1.2: marks and losses of one window cut it once.
            (Cause::FastRetransmit, true) => Window { cwnd: window.cwnd.min(window.ssthresh), ..window },
            (Cause::Timeout, true) => self.cut(cause, flight, true),
        };
        self.answer_echoes();
        self.forget_echoes();
        let saved = Saved {
            window,
            reduced: self.window,
            flight: flight.outstanding.min(safe),
            peer_window: flight.peer_window,
            estimate: self.rto.estimate(),
        };
        let past = self.marked();
        (past.saved, past.lost_since, past.undone) = (Some(saved), lost_since, false);
        let episode = self.watch.open_episode(cause);
        self.watch.tell(Event::EpisodeOpened { episode, saved });
    }

    /// Returns whether an episode is open whose cut stands. FlightSize still counts then what left before that cut.
    fn cut_stands(&self) -> bool {
        let undone = self.past.as_ref().is_some_and(|past| past.undone);
        !undone && self.watch.episode().is_some()
    }

    /// Returns whether a loss is being repaired whose cut stands. RFC 4015, section 3.2, wants "what is considered a safe
    /// slow-start threshold": the one that the cut left.
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

    /// Cuts the window for a loss that a probe repaired already (RFC 8985, section 7.4.2).
    pub(crate) fn cut_for_repaired(&mut self, flight: Flight) {
        let flight = self.within_window(flight);
        self.watch.forget_closed();
        self.note_loss(self.watch.view().now);
        self.window = self.cut(Cause::FastRetransmit, flight, false);
    }

    /// Cuts the window for a loss that an undone episode has repaired besides. The undo took back what this loss had cost, so
    /// the window falls to what a fast retransmit would have left of it when the episode began.
    pub(crate) fn cut_for_lost_besides(&mut self) {
        let undone = self.past.as_mut().is_some_and(|past| std::mem::take(&mut past.undone));
        let Some(saved) = self.saved().filter(|_| undone) else { return };
        self.note_loss(self.watch.view().now);
        let now = std::mem::replace(&mut self.window, saved.window);
        let cut = self.cut(Cause::FastRetransmit, Flight::at(&saved), false);
        self.window = Window { cwnd: now.cwnd.min(cut.cwnd), ssthresh: now.ssthresh.min(cut.ssthresh) };
    }

    /// Cuts the window for a retransmission that was lost. It is another sign of congestion: no verdict on what it was
    /// sent for takes that back (RFC 5681, section 4.3; RFC 8985, section 9.3).
    pub(crate) fn cut_for_lost_again(&mut self, flight: Flight) {
        self.note_loss(self.watch.view().now);
        self.watch.settle_open();
        // New data has made the flight larger than cwnd: half of it could be more than cwnd.
        let beyond = flight.outstanding.saturating_sub(self.window.cwnd);
        self.window = self.cut(Cause::FastRetransmit, flight.less(beyond), false);
    }
}

fn before(now: Instant, time: Duration) -> Instant {
    Instant::ZERO + now.since(Instant::ZERO + time)
}
