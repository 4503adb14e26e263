//! *Looks at* ACKs of new data and at losses.
//! *Decides* to slow-start up to ssthresh, then to grow by one segment a round trip; a loss leaves half the flight.
//! *Blind to* delay, unless slow start is HyStart's, and to the cause of a loss.
//! *From* RFC 5681, sections 3.1, 3.2 and 4.1; RFC 6928 for the initial window's default; RFC 3465 for counting bytes; RFC
//! 9406 for HyStart++.

use super::growth::{COUNTING, GROW};
use super::slow_start::{SLOW_START, Watched};
use super::{
    Base, Congest, ECHO, Echoed, Growth, INITIAL_SSTHRESH, INITIAL_WINDOW, Idle, Loss, Progress, RESTART, SlowStart,
    Start, Window,
};
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
            "the quantity whose half becomes ssthresh: FlightSize (RFC 5681) or the smaller of cwnd and the peer's \
             window (4.4BSD, ns-2)",
            "flight",
            &["flight", "window"],
        ),
        Parameter::word(
            "repeated_timeout",
            "effect of a further timeout of the same segment on ssthresh: none (RFC 5681), or it is halved again",
            "hold",
            &["hold", "reduce"],
        ),
        COUNTING,
        GROW,
        SLOW_START,
        ECHO,
        RESTART,
    ],
    ..Entry::congest(|parameters| {
        Box::new(Reno::new(Settings {
            start: Start::of(parameters),
            half_of: Base::of(parameters),
            repeated: parameters.word("repeated_timeout", &[("hold", Repeated::Hold), ("reduce", Repeated::Reduce)]),
            growth: Growth::of(parameters),
            slow_start: SlowStart::of(parameters),
            echoed: Echoed::of(parameters),
        }))
    })
};

/// The effect on ssthresh of a further timeout of the same segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Repeated {
    /// It leaves ssthresh unchanged, as RFC 5681, section 3.1, asks.
    Hold,
    /// It halves ssthresh again, down to two segments, as implementations of RFC 2581 did.
    Reduce,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    pub start: Start,
    pub half_of: Base,
    pub repeated: Repeated,
    pub growth: Growth,
    pub slow_start: SlowStart,
    pub echoed: Echoed,
}

/// Slow start, congestion avoidance, and halving.
#[derive(Clone, Debug)]
pub struct Reno {
    settings: Settings,
    slow_start: Watched,
}

impl Reno {
    /// Creates a controller with these settings.
    pub fn new(settings: Settings) -> Self {
        Self { settings, slow_start: settings.slow_start.watched() }
    }

    /// Returns the window after an ACK below ssthresh. It is not inlined, because nearly all ACKs
    /// come above ssthresh.
    #[inline(never)]
    fn slow_start(&mut self, now: &Window, progress: &Progress, view: &View) -> Window {
        let now = &self.slow_start.before_growth(now, view);
        if now.cwnd >= now.ssthresh {
            return self.avoid_congestion(now, progress, view);
        }
        let (growth, mss) = (&mut self.settings.growth, u64::from(view.mss));
        let permits = growth.permits(now, progress, mss);
        let cwnd = if permits { growth.slow_start(now, progress, mss) } else { now.cwnd };
        self.slow_start.after_growth(now, Window { cwnd, ..*now }, view)
    }

    #[inline(always)]
    fn avoid_congestion(&mut self, now: &Window, progress: &Progress, view: &View) -> Window {
        let (growth, mss) = (&mut self.settings.growth, u64::from(view.mss));
        let permits = growth.permits(now, progress, mss);
        let cwnd = if permits { growth.avoid_congestion(now, progress, mss) } else { now.cwnd };
        Window { cwnd, ..*now }
    }
}

impl Congest for Reno {
    fn initial(&mut self, mss: u32) -> Window {
        self.settings.start.initial(mss)
    }

    fn on_ack(&mut self, now: &Window, progress: &Progress, view: &View) -> Window {
        match now.cwnd < now.ssthresh {
            true => self.slow_start(now, progress, view),
            false => self.avoid_congestion(now, progress, view),
        }
    }

    fn on_loss(&mut self, now: &Window, loss: &Loss, view: &View) -> Window {
        let mss = u64::from(view.mss);
        self.settings.growth.on_loss(loss.cause);
        self.slow_start.on_loss(loss, view);
        let half = match self.settings.half_of {
            Base::Flight => loss.flight / 2,
            // 4.4BSD and ns-2 count whole segments.
            Base::Window => loss.limit / mss / 2 * mss,
        };
        let ssthresh = match (loss.timeout_again, self.settings.repeated) {
            (true, Repeated::Hold) => now.ssthresh,
            // RFC 5681, equation 4.
            _ => half.max(2 * mss),
        };
        loss.window(ssthresh, mss)
    }

    fn on_ece(&mut self, now: &Window, loss: &Loss, view: &View) -> Window {
        let lost = self.on_loss(now, loss, view);
        self.settings.echoed.window((now, lost), loss, (view.mss, 80))
    }

    /// Restores the state of growth and slow start. Apart from these, a loss signal changes only
    /// the window.
    fn on_undo(&mut self, _: &Window, _: &View) {
        self.settings.growth.on_undo();
        self.slow_start.on_undo();
    }

    fn on_idle(&mut self, now: &Window, idle: &Idle) -> Window {
        self.settings.start.after_idle(now, idle.mss)
    }
}
