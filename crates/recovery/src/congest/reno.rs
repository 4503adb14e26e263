//! *Looks at* ACKs of new data and at losses.
//! *Decides* to slow-start up to ssthresh, then to grow by one segment a round trip; a loss leaves half the flight.
//! *Blind to* delay, and to the reason of a loss.
//! *From* RFC 5681, sections 3.1, 3.2 and 4.1; RFC 6928 for the initial window's default.

use super::{Congest, GROW, Grow, INITIAL_SSTHRESH, INITIAL_WINDOW, Idle, Loss, Progress, RESTART, Start, Window};
use crate::fact::Cause;
use crate::registry::{Entry, Parameter};
use crate::view::View;

pub(super) const ENTRY: Entry = Entry {
    name: "reno",
    summary: "slow start, congestion avoidance, halving",
    source: "RFC 5681",
    parameters: &[
        INITIAL_WINDOW,
        INITIAL_SSTHRESH,
        Parameter::word(
            "ssthresh_from",
            "what ssthresh becomes half of: FlightSize (RFC 5681) or the smaller of cwnd and the peer's window (4.4BSD, ns-2)",
            "flight",
            &["flight", "window"],
        ),
        Parameter::word(
            "repeated_timeout",
            "what a further timeout of the same segment does to ssthresh: nothing (RFC 5681), or halve it again",
            "hold",
            &["hold", "reduce"],
        ),
        GROW,
        RESTART,
    ],
    ..Entry::congest(|parameters| {
        Box::new(Reno::new(Settings {
            start: Start::of(parameters),
            half_of: parameters.word("ssthresh_from", &[("flight", HalfOf::Flight), ("window", HalfOf::Window)]),
            repeated: parameters.word("repeated_timeout", &[("hold", Repeated::Hold), ("reduce", Repeated::Reduce)]),
            grow: Grow::of(parameters),
        }))
    })
};

/// The value that a loss halves to find ssthresh.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HalfOf {
    /// FlightSize, as RFC 5681's equation 4 has it.
    Flight,
    /// The smaller of cwnd and the peer's window, as 4.4BSD and ns-2 have it.
    Window,
}

/// The effect on ssthresh of a further timeout of the same segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Repeated {
    /// It leaves ssthresh alone, as RFC 5681, section 3.1, asks.
    Hold,
    /// It halves ssthresh again, down to two segments, as implementations of RFC 2581 did.
    Reduce,
}

/// Reno's settings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// See [`Start`].
    pub start: Start,
    /// See [`HalfOf`].
    pub half_of: HalfOf,
    /// See [`Repeated`].
    pub repeated: Repeated,
    /// See [`Grow`].
    pub grow: Grow,
}

/// Slow start, congestion avoidance, and halving.
#[derive(Clone, Debug)]
pub struct Reno {
    settings: Settings,
    /// The remainder that congestion avoidance's mss * mss / cwnd has left.
    remainder: u64,
}

impl Reno {
    /// Creates a controller with these settings.
    pub fn new(settings: Settings) -> Self {
        Self { settings, remainder: 0 }
    }
}

impl Congest for Reno {
    fn initial(&mut self, mss: u32) -> Window {
        self.settings.start.initial(mss)
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
            // RFC 5681, equation 3; the remainder stands for the part of a byte by which the window should be larger. An ACK
            // of less than a segment counts for the bytes it acknowledges, or a peer that divides its ACKs would open the
            // window as fast as it likes (RFC 3465, section 2.1; Savage and others, "TCP Congestion Control with a
            // Misbehaving Receiver", section 2.1). An undo can leave a window below a segment, which must not grow by more
            // than a segment either.
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
            // Those implementations count whole segments.
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

    /// Restores nothing: a loss signal changes only the window.
    fn on_undo(&mut self, _: &Window, _: &View) {}

    fn on_idle(&mut self, now: &Window, idle: &Idle) -> Window {
        self.settings.start.after_idle(now, idle.mss)
    }
}
