//! The state that a sender keeps for one destination. It consists of the watch over the path and
//! the algorithms that decide how much may be in flight on it, and for how long.
//!
//! A `Path` holds no scoreboard and no loss recovery, because an association with several paths has
//! one of each. Its driver passes in the values that it needs, such as the outstanding bytes.
//! [`Engine`](crate::engine::Engine) drives one path, which it holds by value.

mod ece;
mod loss;
mod quiet;
mod timer;
mod undo_state;
mod verdict;

pub use loss::Flight;
pub use verdict::Effect;

use crate::config::Parts;
use crate::congest::{Congest, Idle, Progress, Window};
use crate::grant::Grant;
use crate::pace::{Pace, Permit};
use crate::respond::Response;
use crate::rto::after_spurious::AfterSpurious;
use crate::rto::{RestartedBy, Rto, TimerChange};
use crate::view::Negotiated;
use crate::watch::Watch;
use eifel_base::time::{Duration, Instant};
use undo_state::UndoState;

/// One destination of a sender. See the module's documentation.
#[derive(Clone, Debug)]
pub struct Path {
    pub(crate) watch: Watch,
    pub(crate) window: Window,
    /// Congestion control's initial window, in bytes. A lost SYN does not reduce this value.
    initial_window: u64,
    /// Expiry of the retransmission timer; [`Instant::NEVER`] while it is off (RFC 6298, section 5).
    pub(crate) timer: Instant,
    /// When pacing permits the next segment; [`Instant::NEVER`] while it holds nothing back.
    pub(crate) released_at: Instant,
    /// The instant since which nothing is outstanding.
    idle_since: Instant,
    /// Expiries of the retransmission timer since the last ACK of new data.
    pub(crate) consecutive_timeouts: u32,
    /// Number of window reductions so far.
    pub(crate) reductions: u32,
    /// Traces of loss signals and ECN-Echoes; `None` before the first.
    undo_state: Option<Box<UndoState>>,
    pub(crate) rto: Box<dyn Rto>,
    /// The ACKs that restart the timer.
    restarted_by: RestartedBy,
    pub(crate) congest: Box<dyn Congest>,
    /// `None` if the chosen algorithm never holds anything back.
    pub(crate) pace: Option<Box<dyn Pace>>,
    response: Box<dyn Response>,
    grant: Box<dyn Grant>,
    after_spurious: Box<dyn AfterSpurious>,
}

impl Path {
    /// Creates a path with these algorithms. Only a handshake may be sent on it until it is
    /// [opened](Self::open).
    pub(crate) fn new(parts: Parts) -> Self {
        Self {
            watch: Watch::new(parts.detectors),
            window: Window { cwnd: 1, ssthresh: u64::MAX },
            initial_window: 0,
            timer: Instant::NEVER,
            released_at: Instant::NEVER,
            idle_since: Instant::ZERO,
            consecutive_timeouts: 0,
            reductions: 0,
            undo_state: None,
            restarted_by: parts.rto.restarted_by(),
            rto: parts.rto,
            congest: parts.congest,
            pace: parts.pace,
            response: parts.response,
            grant: parts.grant,
            after_spurious: parts.after_spurious,
        }
    }

    /// Opens the path for data after a handshake whose timer expired `expiries` times.
    pub(crate) fn open(&mut self, now: Instant, negotiated: Negotiated, expiries: u32) {
        let handshake = self.watch.round_trips().latest();
        self.watch.agree(negotiated);
        self.window = self.congest.initial(negotiated.mss);
        self.initial_window = self.window.cwnd;
        if expiries > 0 {
            // RFC 5681, section 3.1: a lost SYN leaves an initial window of one segment.
            self.window.cwnd = u64::from(negotiated.mss);
            if handshake.is_none() {
                // RFC 6298, section 5.7. [rfc6298:5.7]
                self.rto.change(TimerChange::RaiseInitial(Duration::from_secs(3)));
            }
        }
        self.idle_since = now;
    }

    /// Replaces the response. Senders that differ only in the response behave alike until a
    /// spurious or mixed verdict.
    pub(crate) fn respond_by(&mut self, response: Box<dyn Response>) {
        self.response = response;
    }

    /// Returns whether, for this path, an ACK of new data would only give a sample, grow the window
    /// and restart the timer.
    pub(crate) fn is_quiet(&self) -> bool {
        self.pace.is_none() && self.is_undisturbed()
    }

    /// Like [`is_quiet`](Self::is_quiet), but the path may have pacing.
    pub(crate) fn is_undisturbed(&self) -> bool {
        self.watch.episode().is_none()
            && self.pending_reseed().is_none()
            && self.consecutive_timeouts == 0
            && self.timer != Instant::NEVER
            && self.watch.detectors_wait()
    }

    /// Tells pacing that an ACK arrived or a timer expired.
    pub(crate) fn on_input(&mut self) {
        if let Some(pace) = &mut self.pace {
            pace.on_input();
        }
    }

    /// Tells pacing that the application has written although nothing waited to be sent.
    pub(crate) fn on_write(&mut self, now: Instant) {
        if let Some(pace) = &mut self.pace {
            pace.on_write(now);
        }
    }

    /// Asks pacing whether a segment may be sent now.
    #[inline]
    pub(crate) fn permit(&self, now: Instant) -> Permit {
        self.pace.as_ref().map_or(Permit::Now, |pace| pace.permit(now))
    }

    /// Starts the timer, if it is off, and informs pacing of a transmission of `len` positions.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Instant, len: u32) {
        // RFC 6298, section 5.1. [rfc6298:5.1]
        if self.timer == Instant::NEVER {
            self.start_timer(now);
        }
        if let Some(pace) = &mut self.pace {
            let srtt = self.rto.srtt();
            pace.on_sent(now, len, &self.window, srtt);
        }
    }

    /// Lets congestion control grow the window on an ACK.
    #[inline]
    pub(crate) fn grow(&mut self, progress: &Progress) {
        self.window = self.congest.on_ack(&self.window, progress, self.watch.view());
    }

    /// Adapts the window after an idle time, before new data is sent while nothing is outstanding.
    pub(crate) fn restart_after_idle(&mut self, now: Instant) {
        let idle = now.since(self.idle_since);
        if idle > self.rto.rto() && self.watch.round_trips().taken() > 0 {
            let idle = Idle { time: idle, rto: self.rto.rto(), mss: self.watch.view().mss };
            self.window = self.congest.on_idle(&self.window, &idle);
        }
    }
}
