//! *Looks at* ACKs of new data and at losses.
//! *Decides* on slow start up to ssthresh, then one segment a round trip; half the flight after a loss.
//! *Blind to* delay, and to why a segment was lost.
//! *From* RFC 5681, sections 3.1, 3.2 and 4.1; RFC 6928 for the initial window's default.

use super::{Congest, Grow, Loss, Progress, Restart, Window};
use crate::fact::Cause;
use crate::view::View;
use eifel_base::time::Duration;

/// What ssthresh becomes half of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HalfOf {
    /// FlightSize, as RFC 5681's equation 4 has it.
    Flight,
    /// The smaller of cwnd and the peer's window, as 4.4BSD and ns-2 have it.
    Window,
}

/// What a further timeout of the same segment does to ssthresh.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Repeated {
    /// Nothing, as RFC 5681, section 3.1, asks.
    Hold,
    /// It is halved again, down to two segments, as implementations of RFC 2581 did.
    Reduce,
}

/// Reno's settings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The initial window in segments.
    pub initial_window: u64,
    /// The initial ssthresh in bytes; `None` is arbitrarily high.
    pub initial_ssthresh: Option<u64>,
    /// See [`HalfOf`].
    pub half_of: HalfOf,
    /// See [`Repeated`].
    pub repeated: Repeated,
    /// See [`Grow`].
    pub grow: Grow,
    /// See [`Restart`].
    pub restart: Restart,
}

/// Slow start, congestion avoidance, and halving.
#[derive(Clone, Debug)]
pub struct Reno {
    settings: Settings,
    /// Of congestion avoidance's mss * mss / cwnd, what the division by cwnd has left over.
    remainder: u64,
}

impl Reno {
    /// A controller of these settings.
    pub fn new(settings: Settings) -> Self {
        Self { settings, remainder: 0 }
    }
}

impl Congest for Reno {
    fn initial(&mut self, mss: u32) -> Window {
        let cwnd = self.settings.initial_window * u64::from(mss);
        Window { cwnd, ssthresh: self.settings.initial_ssthresh.unwrap_or(u64::MAX) }
    }

    fn on_ack(&mut self, now: &Window, &Progress { acked, flight, .. }: &Progress, view: &View) -> Window {
        let mss = u64::from(view.mss);
        if !self.settings.grow.permits(now, flight, mss) {
            return *now;
        }
        let grown = if now.cwnd < now.ssthresh {
            // RFC 5681, equation 2.
            acked.min(mss)
        } else {
            // RFC 5681, equation 3, without losing what the division leaves: a window between two whole bytes. An ACK of
            // less than a segment counts for what it acknowledges, or a peer that divides its ACKs would open the window as
            // fast as it likes (RFC 3465, section 2.1; Savage and others, "TCP Congestion Control with a Misbehaving
            // Receiver", section 2.1).
            // A window below a segment, as an undo can leave it, must not grow by more than one either.
            let share = mss * acked.min(mss) + self.remainder;
            self.remainder = share % now.cwnd;
            (share / now.cwnd).min(mss)
        };
        Window { cwnd: now.cwnd + grown, ..*now }
    }

    fn on_loss(&mut self, now: &Window, loss: &Loss, view: &View) -> Window {
        let mss = u64::from(view.mss);
        self.remainder = 0;
        let half = match self.settings.half_of {
            HalfOf::Flight => loss.flight / 2,
            // In whole segments, as those implementations count.
            HalfOf::Window => loss.limit / mss / 2 * mss,
        };
        let ssthresh = match (loss.timeout_again, self.settings.repeated) {
            (true, Repeated::Hold) => now.ssthresh,
            // RFC 5681, equation 4.
            _ => half.max(2 * mss),
        };
        let cwnd = match loss.cause {
            // RFC 5681, section 3.1: the loss window.
            Cause::Timeout => mss,
            // RFC 5681, section 3.2, step 3; recovery adds the three segments that have left the network.
            Cause::FastRetransmit => ssthresh,
        };
        Window { cwnd, ssthresh }
    }

    /// All that a loss signal changes is the window.
    fn on_undo(&mut self, _: &View) {}

    fn on_idle(&mut self, now: &Window, _: Duration, mss: u32) -> Window {
        self.settings.restart.after_idle(now, self.settings.initial_window * u64::from(mss))
    }
}
