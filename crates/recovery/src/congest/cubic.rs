//! *Looks at* ACKs of new data, at losses, and at the time since the last reduction.
//! *Decides* to slow-start up to ssthresh, then to follow a cubic curve through the window at the
//! last loss, and to keep at least Reno's window; a loss leaves 0.7 of the flight. If the loss was
//! spurious, the old curve is restored.
//! *Blind to* delay, unless slow start is HyStart's, and to the cause of a loss.
//! *From* RFC 9438, section 4; RFC 9406 for HyStart++.

use super::growth::{COUNTING, GROW};
use super::slow_start::{SLOW_START, Watched};
use super::{
    Base, Congest, ECHO, Echoed, Growth, INITIAL_SSTHRESH, INITIAL_WINDOW, Idle, Loss, Progress, RESTART, SlowStart,
    Start, Window,
};
use crate::fact::Cause;
use crate::registry::{Entry, Parameter};
use crate::view::View;
use eifel_base::time::{Duration, Instant};

pub(super) const ENTRY: Entry = Entry {
    name: "cubic",
    summary: "a cubic curve through the window at the last loss; its epoch is undone with it",
    source: "RFC 9438",
    parameters: &[
        INITIAL_WINDOW,
        INITIAL_SSTHRESH,
        Parameter::switch(
            "fast_convergence",
            "lower W_max if a loss comes before the window has reached it again (section 4.7)",
            true,
        ),
        Parameter::word(
            "ssthresh_from",
            "the quantity of which 0.7 becomes ssthresh: FlightSize, or the smaller of cwnd and the peer's window \
             (section 4.6 allows it if an unused window does not grow; Linux)",
            "flight",
            &["flight", "window"],
        ),
        Parameter::word(
            "curve",
            "how growth is computed: as in the RFC; or as in Linux, known from public scripts and not from its \
             source: in whole segments, ahead by the smallest round trip, with Reno's window growing by alpha_cubic \
             even above the window before the loss, and by at least a segment for 20 until a loss has set W_max",
            "rfc9438",
            &["rfc9438", "linux"],
        ),
        COUNTING,
        GROW,
        SLOW_START,
        ECHO,
        RESTART,
    ],
    ..Entry::congest(|parameters| {
        Box::new(Cubic::new(Settings {
            start: Start::of(parameters),
            fast_convergence: parameters.switch("fast_convergence"),
            from: Base::of(parameters),
            rule: parameters.word("curve", &[("rfc9438", Rule::Rfc9438), ("linux", Rule::Linux)]),
            growth: Growth::of(parameters),
            slow_start: SlowStart::of(parameters),
            echoed: Echoed::of(parameters),
        }))
    })
};

/// C, in segments per cubed second (section 5).
const C: f64 = 0.4;
/// beta_cubic, in tenths (section 4.6).
const BETA_TENTHS: u64 = 7;
const BETA: f64 = BETA_TENTHS as f64 / 10.0;
/// alpha_cubic (section 4.3): with it the Reno-friendly window grows as fast as Reno's.
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    pub start: Start,
    /// Whether a loss below the last W_max lowers W_max further, to make room for new flows (section 4.7).
    pub fast_convergence: bool,
    pub from: Base,
    pub rule: Rule,
    /// See [`Growth`]. Counting applies to slow start only: the curve counts all acknowledged
    /// bytes.
    pub growth: Growth,
    pub slow_start: SlowStart,
    pub echoed: Echoed,
}

/// How congestion avoidance computes growth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    Rfc9438,
    /// Linux's growth as Google's packetdrill scripts show it. It was not compared with Linux's
    /// source.
    Linux,
}

/// In those scripts, at least one segment is added for this many acknowledged segments, until a
/// loss has set W_max.
const LINUX_SEGMENTS: f64 = 20.0;

/// The curve that the last reduction left; windows in segments.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Curve {
    /// W_max; `None` before the first loss and after a timeout. W_max is then the window at the
    /// beginning of the stage.
    w_max: Option<f64>,
    /// cwnd_prior: the window before the reduction.
    prior: Option<f64>,
    stage: Option<Stage>,
}

/// A congestion avoidance stage; windows in segments.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Stage {
    /// The instant at which t is 0.
    epoch: Instant,
    w_max: f64,
    /// K, in seconds.
    k: f64,
    /// W_est, Reno's window.
    w_est: f64,
    /// When the window stopped limiting sending; `None` while it limits. The time since then does
    /// not count in t (section 5.8).
    unused_since: Option<Instant>,
}

/// The curve before the last loss signal. It is restored if the signal was spurious.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Before {
    curve: Curve,
    lost_at: Instant,
}

/// Congestion control of RFC 9438.
#[derive(Clone, Debug)]
pub struct Cubic {
    settings: Settings,
    slow_start: Watched,
    curve: Curve,
    before: Option<Before>,
    /// The part of a byte by which the window is larger than cwnd says.
    fraction: f64,
}

impl Stage {
    fn begin(now: Instant, cwnd: f64, w_max: Option<f64>) -> Self {
        let w_max = w_max.unwrap_or(cwnd).max(cwnd);
        // Equation 2.
        let k = libm::cbrt((w_max - cwnd) / C);
        Self { epoch: now, w_max, k, w_est: cwnd, unused_since: None }
    }

    /// Computes equation 1, t seconds after the epoch.
    fn w_cubic(&self, t: f64) -> f64 {
        let x = t - self.k;
        C * x * x * x + self.w_max
    }

    /// Computes the window after `acked` segments (sections 4.2 to 4.5).
    fn grow(&mut self, (cwnd, acked): (f64, f64), prior: Option<f64>, now: Instant, rtt: Duration) -> f64 {
        let t = now.since(self.epoch).as_secs_f64();
        // Equation 4; alpha is 1 once the window before the reduction is reached.
        let alpha = if prior.is_some_and(|prior| self.w_est < prior) { ALPHA } else { 1.0 };
        // An undo can leave a window below a segment. It counts as a segment here, because dividing
        // by less would make W_est jump.
        self.w_est += alpha * acked / cwnd.max(1.0);
        if self.w_cubic(t) < self.w_est {
            // A response or the end of recovery may have cut the window below W_est. The window
            // then rises by at most half at once.
            return self.w_est.clamp(cwnd, 1.5 * cwnd);
        }
        let target = self.w_cubic(t + rtt.as_secs_f64()).clamp(cwnd, 1.5 * cwnd);
        cwnd + (target - cwnd) / cwnd * acked
    }

    /// Computes the window after `acked` segments by [`Rule::Linux`]. It computes the whole number
    /// of acknowledged segments that add one segment. `first` says that no loss has set W_max. In
    /// two of the scripts, of 166 kB each, this adds a segment less than Linux.
    fn grow_by_count(&mut self, (cwnd, acked): (f64, f64), first: bool, now: Instant, ahead: Duration) -> f64 {
        let x = now.since(self.epoch).as_secs_f64() + ahead.as_secs_f64() - self.k;
        self.w_est += ALPHA * acked / cwnd.max(1.0);
        let whole = cwnd.floor().max(1.0);
        let count_to = |target: f64| if target > whole { (whole / (target - whole)).floor() } else { 100.0 * whole };
        let curve = count_to(self.w_max.floor() + (C * x * x * x).trunc());
        let count = curve.min(count_to(self.w_est.floor())).min(if first { LINUX_SEGMENTS } else { curve });
        cwnd + acked / count.max(2.0)
    }
}

impl Cubic {
    /// Creates a controller with these settings.
    pub fn new(settings: Settings) -> Self {
        let slow_start = settings.slow_start.watched();
        Self { settings, slow_start, curve: Curve::default(), before: None, fraction: 0.0 }
    }

    fn avoid_congestion(&mut self, now: &Window, acked: u64, limits: bool, view: &View) -> Window {
        let mss = f64::from(view.mss);
        let bytes = now.cwnd as f64 + self.fraction;
        let cwnd = bytes / mss;
        let Curve { w_max, prior, stage } = &mut self.curve;
        let stage = stage.get_or_insert_with(|| Stage::begin(view.now, cwnd, *w_max));
        if !limits {
            stage.unused_since.get_or_insert(view.now);
            return *now;
        }
        if let Some(since) = stage.unused_since.take() {
            stage.epoch += view.now.since(since);
        }
        let (acked, round_trips) = (acked as f64 / mss, &view.round_trips);
        let grown = match self.settings.rule {
            Rule::Rfc9438 => {
                stage.grow((cwnd, acked), *prior, view.now, round_trips.smoothed().unwrap_or(Duration::ZERO))
            }
            Rule::Linux => {
                let ahead = round_trips.minimum().unwrap_or(Duration::ZERO);
                stage.grow_by_count((cwnd, acked), w_max.is_none(), view.now, ahead)
            }
        };
        // Rounding must not take a byte from a window that does not grow.
        let grown = (grown * mss).max(bytes);
        let cwnd = grown as u64;
        self.fraction = grown - cwnd as f64;
        Window { cwnd, ..*now }
    }

    /// Sets W_max and cwnd_prior for the next stage's curve (sections 4.6 to 4.8).
    fn reduce(&mut self, now: &Window, cause: Cause, mss: u32) {
        let cwnd = now.cwnd as f64 / f64::from(mss);
        let below = self.curve.w_max.is_some_and(|w_max| cwnd < w_max);
        let converge = below && self.settings.fast_convergence;
        let w_max = match cause {
            Cause::Timeout => None,
            Cause::FastRetransmit if converge => Some(cwnd * (1.0 + BETA) / 2.0),
            Cause::FastRetransmit => Some(cwnd),
        };
        self.curve = Curve { w_max, prior: Some(cwnd), stage: None };
    }
}

impl Congest for Cubic {
    fn initial(&mut self, mss: u32) -> Window {
        self.settings.start.initial(mss)
    }

    fn on_ack(&mut self, now: &Window, progress: &Progress, view: &View) -> Window {
        let (growth, slow_start) = (&mut self.settings.growth, &mut self.slow_start);
        let (now, mss) = (&slow_start.before_growth(now, view), u64::from(view.mss));
        let limits = growth.permits(now, progress, mss);
        if now.cwnd >= now.ssthresh {
            return self.avoid_congestion(now, progress.acked, limits, view);
        }
        // Section 4.10: slow start as in RFC 5681. In every counting mode it ends at ssthresh.
        let cwnd = if limits { growth.slow_start(now, progress, mss) } else { now.cwnd };
        slow_start.after_growth(now, Window { cwnd, ..*now }, view)
    }

    fn on_loss(&mut self, now: &Window, loss: &Loss, view: &View) -> Window {
        let mss = u64::from(view.mss);
        self.fraction = 0.0;
        self.settings.growth.on_loss(loss.cause);
        self.slow_start.on_loss(loss, view);
        if !loss.timeout_again {
            self.before = Some(Before { curve: self.curve, lost_at: view.now });
            self.reduce(now, loss.cause, view.mss);
        }
        let base = match self.settings.from {
            Base::Flight => loss.flight,
            Base::Window => loss.limit,
        };
        let ssthresh = if loss.timeout_again { now.ssthresh } else { (base * BETA_TENTHS / 10).max(2 * mss) };
        loss.window(ssthresh, mss)
    }

    fn on_ece(&mut self, now: &Window, loss: &Loss, view: &View) -> Window {
        let lost = self.on_loss(now, loss, view);
        self.settings.echoed.window((now, lost), loss, (view.mss, 85))
    }

    /// Restores the curve (section 4.9). The time since the loss signal does not count in t: the window was not in use.
    fn on_undo(&mut self, now: &Window, view: &View) {
        self.settings.growth.on_undo();
        self.slow_start.on_undo();
        let Some(Before { mut curve, lost_at }) = self.before.take() else { return };
        // Section 4.9.2: only "if the current cwnd is lower than cwnd_prior".
        if self.curve.prior.is_some_and(|prior| now.cwnd as f64 / f64::from(view.mss) >= prior) {
            return;
        }
        // If the window was already unused before the loss signal, all of that time is excluded
        // once it is used again.
        if let Some(stage) = curve.stage.as_mut().filter(|stage| stage.unused_since.is_none()) {
            stage.epoch += view.now.since(lost_at);
        }
        self.curve = curve;
        self.fraction = 0.0;
    }

    fn on_idle(&mut self, now: &Window, idle: &Idle) -> Window {
        if let Some(stage) = self.curve.stage.as_mut().filter(|stage| stage.unused_since.is_none()) {
            stage.epoch += idle.time;
        }
        let window = self.settings.start.after_idle(now, idle.mss);
        if window.cwnd < now.cwnd {
            self.fraction = 0.0;
        }
        window
    }
}
