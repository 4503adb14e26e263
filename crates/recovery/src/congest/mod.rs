//! Congestion control: how large the window is. One file per controller.

crate::registry::algorithms! { reno, cubic; association: sctp }
crate::duplicate::duplicate!(Congest by DuplicateCongest);

mod growth;
mod hystart;
mod hystart_plus_plus;
mod slow_start;

pub use growth::{Counting, Grow, Growth};
pub use slow_start::SlowStart;

use crate::fact::Cause;
use crate::registry::{Parameter, Parameters};
use crate::view::View;
use eifel_base::time::Duration;

/// The limits that congestion control sets, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// The congestion window, without the bytes that recovery allows beyond it for duplicate ACKs.
    pub cwnd: u64,
    /// The slow-start threshold; `u64::MAX` while unset.
    pub ssthresh: u64,
}

/// An ACK as congestion control sees it. Lengths in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Newly acknowledged by the cumulative acknowledgement; 0 where it did not advance.
    pub acked: u64,
    /// Newly reported by SACK.
    pub sacked: u64,
    /// Newly delivered: acknowledged or SACKed, and not SACKed before.
    pub delivered: u64,
    /// Outstanding before the ACK. Compared with cwnd, it shows whether the window was used.
    pub flight: u64,
}

/// The amount from which a loss computes ssthresh.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Base {
    /// FlightSize (RFC 5681, equation 4; RFC 9438, section 4.6).
    Flight,
    /// The smaller of cwnd and the peer's window, as in stacks that do not let an unused window
    /// grow.
    Window,
}

impl Base {
    fn of(parameters: &Parameters) -> Self {
        parameters.word("ssthresh_from", &[("flight", Self::Flight), ("window", Self::Window)])
    }
}

/// A loss signal as congestion control sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loss {
    pub cause: Cause,
    /// FlightSize in bytes, without the bytes that Limited Transmit sent.
    pub flight: u64,
    /// The smaller of cwnd and the peer's window, in bytes.
    pub limit: u64,
    /// Whether this is a further timeout of a segment that the timer has already retransmitted.
    pub timeout_again: bool,
}

impl Loss {
    /// Returns the window after the loss. All lengths are in bytes.
    fn window(&self, ssthresh: u64, mss: u64) -> Window {
        let cwnd = match self.cause {
            // RFC 5681, section 3.1: the loss window.
            Cause::Timeout => mss,
            // RFC 5681, section 3.2, step 3; recovery adds the three segments that have left the network.
            Cause::FastRetransmit => ssthresh,
        };
        Window { cwnd, ssthresh }
    }
}

/// A period in which nothing was outstanding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Idle {
    /// The length of the period.
    pub time: Duration,
    /// The retransmission timeout.
    pub rto: Duration,
    /// Payload bytes of a full segment.
    pub mss: u32,
}

/// The settings that all controllers share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Start {
    /// The initial window in segments.
    pub window: u64,
    /// The initial ssthresh in bytes; `None` is arbitrarily high.
    pub ssthresh: Option<u64>,
    /// Whether sending resumes with the restart window after an idle time (RFC 5681, section 4.1).
    pub restart_after_idle: bool,
}

/// The window after an echo of an ECN mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Echoed {
    /// The window that a loss leaves (RFC 3168, section 6.1.2).
    AsLoss,
    /// A larger window in congestion avoidance, because marks come before the queue is full: 0.8 of
    /// the flight with Reno, 0.85 with CUBIC (RFC 8511, section 3.1).
    Rfc8511,
}

impl Echoed {
    fn of(parameters: &Parameters) -> Self {
        parameters.word("echo_response", &[("rfc3168", Self::AsLoss), ("rfc8511", Self::Rfc8511)])
    }

    /// Returns the window after an echo. `lost` is the window that a loss would leave.
    fn window(self, (now, lost): (&Window, Window), loss: &Loss, (mss, hundredths): (u32, u64)) -> Window {
        if self == Self::AsLoss || now.cwnd < now.ssthresh {
            return lost;
        }
        let ssthresh = (loss.flight * hundredths / 100).max(2 * u64::from(mss));
        Window { cwnd: ssthresh, ssthresh }
    }
}

const ECHO: Parameter = Parameter::word(
    "echo_response",
    "how far ECN-Echo reduces the window: as a loss does (RFC 3168), or less (RFC 8511)",
    "rfc3168",
    &["rfc3168", "rfc8511"],
);
const INITIAL_WINDOW: Parameter = Parameter::integer(
    "initial_window_segments",
    "the initial window (RFC 6928; RFC 5681 has 2 to 4)",
    10,
    (1, 1_000_000),
);
const INITIAL_SSTHRESH: Parameter =
    Parameter::integer("initial_ssthresh_bytes", "the initial ssthresh; 0 is arbitrarily high", 0, (0, i64::MAX));
const RESTART: Parameter =
    Parameter::switch("restart_after_idle", "the restart window after an idle RTO (RFC 5681, section 4.1)", true);

impl Start {
    fn of(parameters: &Parameters) -> Self {
        Self {
            window: parameters.integer("initial_window_segments"),
            ssthresh: Some(parameters.integer("initial_ssthresh_bytes")).filter(|&ssthresh| ssthresh > 0),
            restart_after_idle: parameters.switch("restart_after_idle"),
        }
    }

    fn initial(&self, mss: u32) -> Window {
        Window { cwnd: self.window * u64::from(mss), ssthresh: self.ssthresh.unwrap_or(u64::MAX) }
    }

    /// Returns the window after an idle time. The restart window is no larger than the initial one.
    fn after_idle(&self, now: &Window, mss: u32) -> Window {
        let most = if self.restart_after_idle { self.window * u64::from(mss) } else { u64::MAX };
        Window { cwnd: now.cwnd.min(most), ..*now }
    }
}

/// Grows the window on ACKs and cuts it on losses.
pub trait Congest: Send + DuplicateCongest {
    /// Returns the window when data may first be sent.
    fn initial(&mut self, mss: u32) -> Window;
    /// Returns the window after an ACK outside of fast recovery that has delivered something.
    fn on_ack(&mut self, now: &Window, progress: &Progress, view: &View) -> Window;
    /// Returns the window after a loss signal.
    fn on_loss(&mut self, now: &Window, loss: &Loss, view: &View) -> Window;
    /// Returns the window after the peer has echoed an ECN mark. By default it is that of a loss
    /// found by duplicates (RFC 3168, section 6.1.2).
    fn on_ece(&mut self, now: &Window, loss: &Loss, view: &View) -> Window {
        self.on_loss(now, loss, view)
    }
    /// Undoes the algorithm's own changes for the last loss signal, which was spurious. The
    /// response restores the window afterwards; `now` is the window before that.
    fn on_undo(&mut self, now: &Window, view: &View);
    /// Returns the window with which sending resumes after an idle time longer than the RTO.
    fn on_idle(&mut self, now: &Window, idle: &Idle) -> Window;
}
