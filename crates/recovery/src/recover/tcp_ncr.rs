//! *Looks at* SACK blocks: how many bytes of what is outstanding they report.
//! *Decides* that a hole is lost once about a window's bytes have been reported, not three segments'. Until then SACKs
//! release new data: one segment for each that has left the network (aggressive), or one for every second (careful).
//! An ACK of new data shows that it was reordering.
//! *Blind to* reordering beyond a round trip, and to the loss of a retransmission, as `rfc6675` is. Without SACK it is
//! `rfc6675`.
//! *From* RFC 4653, section 3.

use super::fast_recovery::{FastRecovery, Phase, Signal};
use super::policy::{ProcessedAck, RecoveryPolicy, WithPolicy};
use super::prr::Reduction;
use super::rfc6675::{Rfc6675, lost_below};
use super::rules::{BELOW_SPURIOUS_POINT, BUGFIX, RESUME, Rules};
use super::{Decisions, Next, Step};
use crate::congest::Window;
use crate::fact::{Block, Kind};
use crate::registry::{Entry, Parameter};
use crate::scoreboard::Scoreboard;
use crate::view::View;

pub(super) const ENTRY: Entry = Entry {
    name: "tcp-ncr",
    summary: "waits with a fast retransmit until about a window of data is known to have left the network",
    source: "RFC 4653",
    parameters: &[
        Parameter::word(
            "extended_limited_transmit",
            "new segments until a loss is told from reordering: one for every second segment that has left the network, \
             or one for each",
            "careful",
            &["careful", "aggressive"],
        ),
        BUGFIX,
        BELOW_SPURIOUS_POINT,
        RESUME,
    ],
    ..Entry::recovery(|parameters| {
        let variants = [("careful", Variant::Careful), ("aggressive", Variant::Aggressive)];
        let variant = parameters.word("extended_limited_transmit", &variants);
        let recovery = FastRecovery::by_sack(Rules::without_limits(parameters));
        Box::new(WithPolicy::new(recovery, TcpNcr::new(variant)))
    })
};

/// The two variants of Extended Limited Transmit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variant {
    /// A new segment for every second one that has left the network.
    Careful,
    /// A new segment for each.
    Aggressive,
}

/// Extended Limited Transmit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Extended {
    /// The next ACK with SACK blocks begins it.
    Ready,
    /// It is under way (section 3.3).
    Running {
        /// FlightSizePrev, in bytes. After an ECN-Echo, which has cut the window, cwnd replaces it.
        before: Option<u64>,
        /// Skipped, in bytes.
        skipped: u64,
        /// Whether `before` may still exceed cwnd.
        began: bool,
    },
    /// It does not begin before an ACK of new data without SACK blocks (section 3.1).
    Waiting,
}

/// Non-Congestion Robustness.
#[derive(Clone, Debug)]
pub struct TcpNcr {
    rfc6675: Rfc6675,
    variant: Variant,
    extended: Extended,
    /// The flight from which DupThresh was computed when loss recovery began, in bytes. It is held
    /// until loss recovery ends (section 3.4, note).
    held: u64,
}

impl TcpNcr {
    /// Creates the algorithm.
    pub fn new(variant: Variant) -> Self {
        Self { rfc6675: Rfc6675::new(Reduction::AtOnce), variant, extended: Extended::Ready, held: 0 }
    }

    /// Returns DupThresh * SMSS, in sixths of a byte. DupThresh is max (LT_F * (FlightSize / SMSS), 3), and LT_F is 2/3
    /// or 1/2. Steps (I.3) and (E.6) reset it whenever FlightSize changes.
    fn threshold(&self, flight: u64, mss: u64) -> u64 {
        let sixths = match self.variant {
            Variant::Careful => 4,
            Variant::Aggressive => 3,
        };
        (flight * sixths).max(3 * 6 * mss)
    }

    /// Begins, ends or restarts Extended Limited Transmit. Returns the window if it ends, because
    /// an ACK of new data has shown that it was reordering (section 3.2).
    fn on_ack(&mut self, ack: &ProcessedAck<'_>) -> Option<Window> {
        let &ProcessedAck { acked, board, view } = ack;
        let reports = !acked.sacks.is_empty() && !board.sacked().is_empty();
        let advances = acked.bytes > 0;
        let (flight, mss) = (board.outstanding(), u64::from(view.mss));
        let mut resumed = None;
        self.extended = match self.extended {
            Extended::Running { before, began, .. } if advances => {
                let before = before.filter(|_| !acked.ece);
                // (T.1), (T.2). No window is smaller than a loss would leave it (RFC 5681, equation 4).
                resumed = before.map(|before| {
                    let before = before.max(2 * mss);
                    Window { cwnd: before.min(flight + mss), ssthresh: before }
                });
                // (T.4)
                if reports { Extended::Running { before, skipped: 0, began } } else { Extended::Ready }
            }
            Extended::Running { before, skipped, began } => {
                Extended::Running { before: before.filter(|_| !acked.ece), skipped, began }
            }
            // (I.1), (I.2)
            Extended::Ready if reports => {
                Extended::Running { before: (!acked.ece).then_some(flight), skipped: 0, began: true }
            }
            Extended::Waiting if advances && !reports => Extended::Ready,
            other => other,
        };
        resumed
    }
}

impl RecoveryPolicy for TcpNcr {
    fn on_signal(&mut self, signal: Signal, recovery: &mut FastRecovery, ack: &ProcessedAck<'_>) -> Decisions {
        let &ProcessedAck { acked, board, view } = ack;
        if !view.sack {
            return self.rfc6675.on_signal(signal, recovery, ack);
        }
        let resumed = if recovery.phase() == Phase::Open { self.on_ack(ack) } else { None };
        let (mss, duplicates) = (u64::from(view.mss), u64::from(recovery.duplicates()));
        let flight = match self.extended {
            Extended::Running { .. } => board.outstanding(),
            _ if recovery.in_fast_recovery() => self.held,
            _ => 0,
        };
        let threshold = self.threshold(flight, mss);
        let enough = |blocks, bytes| 6 * blocks * mss >= threshold || 6 * (bytes + mss) > threshold;
        let reached = acked.sacked > 0 && 6 * duplicates * mss >= threshold && recovery.may_begin(board.una());
        let signal = match signal {
            Signal::Duplicate | Signal::Progress | Signal::Threshold if reached => Signal::Threshold,
            Signal::Threshold if acked.bytes > 0 => Signal::Progress,
            Signal::Threshold => Signal::Duplicate,
            other => other,
        };
        let mut decisions = self.rfc6675.decide(signal, recovery, ack, lost_below(board, enough));
        if let (Step::Enter { limited }, Extended::Running { before, .. }) = (&mut decisions.step, self.extended) {
            // Section 3.4: half of FlightSizePrev.
            *limited = before.map_or(0, |before| board.outstanding().saturating_sub(before));
        } else if let Some(window) = resumed
            && decisions.step == Step::Stay
        {
            decisions = Decisions { step: Step::Reordered(window), grows: false, ..decisions };
        }
        if matches!(decisions.step, Step::Enter { .. }) {
            self.held = flight;
            self.extended = Extended::Waiting;
        }
        decisions
    }

    /// Steps (E.1), (E.2) and (E.5).
    fn room(&mut self, board: &Scoreboard, window: &Window, view: &View) -> Option<u64> {
        let Extended::Running { before, skipped, began } = &mut self.extended else { return None };
        if std::mem::take(began) {
            // Data from before a cut says nothing about the window that the path carries.
            *before = before.map(|before| before.min(window.cwnd));
        }
        let mss = u64::from(view.mss);
        let room = before.unwrap_or(window.cwnd).saturating_sub(board.pipe() + *skipped);
        if room < mss {
            return Some(0);
        }
        Some(match self.variant {
            Variant::Aggressive => room,
            // (E.4): each segment of new data counts twice.
            Variant::Careful => (room + mss) / (2 * mss) * mss,
        })
    }

    fn is_quiet(&self) -> bool {
        self.extended == Extended::Ready
    }

    fn next(
        &mut self,
        recovery: &FastRecovery,
        board: &Scoreboard,
        window: &Window,
        view: &View,
        unsent: bool,
    ) -> Next {
        self.rfc6675.next(recovery, board, window, view, unsent)
    }

    fn on_timeout(&mut self, view: &View) {
        self.rfc6675.on_timeout(view);
        self.extended = Extended::Waiting;
    }

    fn on_sent(&mut self, sent: Block, kind: Kind) {
        self.rfc6675.on_sent(sent, kind);
        if let Extended::Running { skipped, .. } = &mut self.extended
            && self.variant == Variant::Careful
            && kind == Kind::New
        {
            // (E.4)
            *skipped += sent.end - sent.start;
        }
    }
}
