//! *Looks at* NRTT, the time from the last transmission of a segment to its ACK, after a timeout.
//! *Decides* spurious when NRTT is less than tau times MinRTT. Delayed segments arrive in one
//! train, and their ACKs arrive before the ACKs of the retransmissions.
//! *Blind to* most first ACKs, since it needs a second retransmission to compare with; and to fast
//! retransmits.
//! *From* the DualRTT paper, section IV.B (figure 6, equation 1) and section V.B (equations 3 and
//! 6).

use super::{Detector, Judgement, Outcome};
use crate::fact::{Acked, Cause, Covered, Fact, Kind};
use crate::registry::{Entry, Parameter, Weakness};
use crate::view::View;
use eifel_base::time::{Duration, Instant};

pub(super) const ENTRY: Entry = Entry {
    name: "dual-rtt",
    summary: "the ACK comes sooner after the segment's last transmission than tau times the smallest round trip",
    source: "DualRTT, sections IV and V",
    parameters: &[
        Parameter::word(
            "tau",
            "the threshold: fixed, or of the log-linear model (equations 3 and 6) for the path as the sender knows it, and \
             0.1 until it does",
            "model",
            &["model", "fixed"],
        ),
        Parameter::integer("tau_thousandths", "the fixed threshold, in thousandths of MinRTT", 100, (1, 1000)),
    ],
    // Like min-rtt, it relies on time alone.
    weakness: Some(Weakness::ATimeoutASegment),
    ..Entry::detector(|parameters| {
        let fixed = Threshold::Fixed(Tau::thousandths(parameters.integer("tau_thousandths") as u32));
        Box::new(DualRtt::new(parameters.word("tau", &[("model", Threshold::Model), ("fixed", fixed)])))
    })
};

/// Bytes of TCP and IP headers in the path's MTU.
const HEADERS: u32 = 40;
/// "A conservative value" while the path is not known (section V.B).
const UNTIL_KNOWN: Tau = Tau { millionths: 100_000 };
/// The range of tau to which the model was fitted (section V.A).
const FITTED: (f64, f64) = (0.01, 0.6);

/// How tau is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Threshold {
    /// A fixed value.
    Fixed(Tau),
    /// Equation 3 with equation 6's coefficients, for the path that the sender's own statistics describe.
    Model,
}

/// The threshold of equation 1, as a share of MinRTT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tau {
    millionths: u32,
}

impl Tau {
    /// Creates a threshold of `thousandths` / 1000.
    pub fn thousandths(thousandths: u32) -> Self {
        Self { millionths: thousandths * 1000 }
    }

    /// Computes equation 3 with equation 6's coefficients: B in bit/s, D in seconds one way, M in
    /// bytes, natural logarithms. The result is limited to the range to which the model was fitted.
    pub fn of_path(rate_bps: f64, delay_s: f64, mtu: u32) -> Self {
        let tau = 8.022e-3 * libm::log(rate_bps) - 5.803e-2 * libm::log(delay_s) + 1.463e-6 * f64::from(mtu);
        Self { millionths: (tau.clamp(FITTED.0, FITTED.1) * 1e6) as u32 }
    }

    /// Returns whether `nrtt` is below this share of `minimum`.
    pub fn exceeds(self, nrtt: Duration, minimum: Duration) -> bool {
        let scaled = u128::from(minimum.as_nanos()) * u128::from(self.millionths);
        u128::from(nrtt.as_nanos()) * 1_000_000 < scaled
    }
}

/// The highest rate at which a round trip's data was acknowledged, as an estimate of the path's
/// rate.
#[derive(Clone, Debug, Default)]
struct Throughput {
    since: Instant,
    bytes: u64,
    best_bps: f64,
}

impl Throughput {
    #[inline]
    fn note(&mut self, acked: &Acked, view: &View) {
        self.bytes += acked.bytes;
        let elapsed = view.now.since(self.since);
        if view.round_trips.latest().is_some_and(|rtt| elapsed >= rtt) {
            self.close(elapsed, view.now);
        }
    }

    #[inline(never)]
    fn close(&mut self, elapsed: Duration, now: Instant) {
        if self.since > Instant::ZERO && elapsed > Duration::ZERO {
            self.best_bps = self.best_bps.max(self.bytes as f64 * 8.0 / elapsed.as_secs_f64());
        }
        (self.since, self.bytes) = (now, 0);
    }
}

/// Detection by the ratio of two round trips.
#[derive(Clone, Debug)]
pub struct DualRtt {
    threshold: Threshold,
    throughput: Throughput,
    /// First position unsent at a timeout's retransmission; `None` if no timeout is being judged.
    point: Option<u64>,
}

impl DualRtt {
    /// Creates a detector with this threshold.
    pub fn new(threshold: Threshold) -> Self {
        Self { threshold, throughput: Throughput::default(), point: None }
    }

    fn tau(&self, minimum: Duration, view: &View) -> Tau {
        match self.threshold {
            Threshold::Fixed(tau) => tau,
            Threshold::Model if self.throughput.best_bps > 0.0 && minimum > Duration::ZERO => {
                Tau::of_path(self.throughput.best_bps, minimum.as_secs_f64() / 2.0, view.mss + HEADERS)
            }
            Threshold::Model => UNTIL_KNOWN,
        }
    }

    #[inline(never)]
    fn judge(&mut self, acked: &Acked, point: u64, view: &View) -> Judgement {
        if acked.bytes == 0 {
            return Judgement::Undecided;
        }
        // NRTT differs from a round trip only for retransmitted segments, and it needs a MinRTT to compare with.
        if let (Some(Covered { copies: 1.., last_sent, .. }), Some(minimum)) =
            (acked.highest, view.round_trips.minimum())
            && self.tau(minimum, view).exceeds(view.now.since(last_sent), minimum)
        {
            self.point = None;
            return Judgement::Settled(Outcome::Spurious, "NRTT is below tau MinRTT");
        }
        if acked.cumulative >= point {
            self.point = None;
            return Judgement::Settled(Outcome::Genuine, "NRTT was never below tau MinRTT");
        }
        Judgement::Undecided
    }
}

impl Detector for DualRtt {
    fn may_judge(&self) -> bool {
        self.point.is_some()
    }

    #[inline]
    fn observe(&mut self, fact: &Fact<'_>, view: &View) -> Judgement {
        match fact {
            Fact::Retransmitted { transmission, opens: true, .. } => {
                self.point = (transmission.kind == Kind::Retransmission(Cause::Timeout)).then_some(view.nxt);
                Judgement::Undecided
            }
            Fact::Acked(acked) => {
                let judgement = match self.point {
                    None => Judgement::Undecided,
                    Some(point) => self.judge(acked, point, view),
                };
                if self.threshold == Threshold::Model {
                    self.throughput.note(acked, view);
                }
                judgement
            }
            Fact::Retransmitted { .. } | Fact::NotProbed(_) => Judgement::Undecided,
        }
    }
}
