//! *Looks at* duplicate and partial ACKs and SACK blocks.
//! *Decides* as Reno-SACK does, and sends at least one retransmission on each partial ACK,
//! regardless of pipe.
//! *Blind to* which segments have left the network; but it never falls silent while partial ACKs come.
//! *From* "Responding to Spurious Timeouts in TCP", section III.A: always, or only from a spurious timeout until its
//! recovery point is acknowledged.

use super::fast_recovery::{FastRecovery, Signal};
use super::policy::{ProcessedAck, RecoveryPolicy, WithPolicy};
use super::reno_sack::Pipe;
use super::rules::{BELOW_SPURIOUS_POINT, BUGFIX, DUPLICATE_THRESHOLD, FOLLOWS, LIMITED_TRANSMIT, RESUME, Rules};
use super::{Decisions, HighRxt, Next, Step};
use crate::congest::Window;
use crate::fact::{Acked, Block, Cause, Kind};
use crate::registry::{Entry, Parameter, RESPONDING};
use crate::scoreboard::Scoreboard;
use crate::view::View;

pub(super) const ENTRY: Entry = Entry {
    name: "newreno-sack",
    summary: "Reno-SACK, with at least one retransmission on each partial ACK",
    source: RESPONDING,
    parameters: &[
        DUPLICATE_THRESHOLD,
        LIMITED_TRANSMIT,
        BUGFIX,
        BELOW_SPURIOUS_POINT,
        RESUME,
        FOLLOWS,
        Parameter::word("when", "when a partial ACK causes a retransmission", "always", &["always", "after-spurious"]),
        Parameter::word(
            "timer_restarts_on_partial",
            "which partial ACKs restart the timer",
            "every",
            &["every", "first"],
        ),
    ],
    ..Entry::recovery(|parameters| {
        let when = parameters.word("when", &[("always", When::Always), ("after-spurious", When::AfterSpurious)]);
        let restarts =
            parameters.word("timer_restarts_on_partial", &[("every", Restarts::Every), ("first", Restarts::First)]);
        Box::new(WithPolicy::new(FastRecovery::new(Rules::of_either(parameters)), NewRenoSack::new(when, restarts)))
    })
};

/// When a partial ACK triggers a retransmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    Always,
    /// From a spurious timeout until its recovery point is acknowledged: the paper's extra precaution.
    AfterSpurious,
}

/// Which partial ACKs restart the retransmission timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Restarts {
    /// The first of a recovery (RFC 6582, section 4, Impatient).
    First,
    /// Every partial ACK (Slow-but-Steady).
    Every,
}

/// NewReno and SACK combined.
#[derive(Clone, Debug)]
pub struct NewRenoSack {
    when: When,
    restarts: Restarts,
    pipe: Pipe,
    /// Whether the retransmission for the last partial ACK is still owed.
    hole_forced: bool,
    /// Whether this recovery has seen a partial ACK.
    partial_seen: bool,
    timeout: Timeout,
}

/// The last timeout; `point` was `nxt` then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Timeout {
    None,
    Unjudged {
        point: u64,
    },
    /// The precaution applies below `point`.
    Spurious {
        point: u64,
    },
}

impl NewRenoSack {
    /// Creates the algorithm with these two settings.
    pub fn new(when: When, restarts: Restarts) -> Self {
        let pipe = Pipe::default();
        Self { when, restarts, pipe, hole_forced: false, partial_seen: false, timeout: Timeout::None }
    }

    fn on_partial(&mut self, acked: &Acked, mss: u32) -> Decisions {
        self.pipe.on_partial(mss);
        self.hole_forced |= match (self.when, self.timeout) {
            (When::Always, _) => true,
            (When::AfterSpurious, Timeout::Spurious { point }) => acked.cumulative < point,
            (When::AfterSpurious, _) => false,
        };
        let restarts_timer = self.restarts == Restarts::Every || !self.partial_seen;
        self.partial_seen = true;
        Decisions { restarts_timer, ..Decisions::STAY }
    }
}

impl RecoveryPolicy for NewRenoSack {
    fn on_signal(&mut self, signal: Signal, recovery: &mut FastRecovery, ack: &ProcessedAck<'_>) -> Decisions {
        let &ProcessedAck { acked, board, view } = ack;
        match signal {
            Signal::Quiet => Decisions::STAY,
            Signal::Progress => Decisions::GROW,
            Signal::Duplicate => {
                self.pipe.on_duplicate(view.mss);
                Decisions::STAY
            }
            Signal::Threshold => {
                self.pipe = Pipe::begin(recovery, board, view.mss);
                self.partial_seen = false;
                Decisions { step: recovery.enter(view.nxt), ..Decisions::STAY }
            }
            Signal::Partial => self.on_partial(acked, view.mss),
            Signal::Recovered => {
                self.hole_forced = false;
                Decisions { step: Step::Leave { cwnd_at_most: u64::MAX }, ..Decisions::STAY }
            }
        }
    }

    fn next(&mut self, _: &FastRecovery, board: &Scoreboard, window: &Window, view: &View, _: bool) -> Next {
        // A partial ACK shows a hole at `una`, even if no SACK block lies above it.
        let below = board.highest_sacked().max(board.una() + 1);
        let room = FastRecovery::room(self.pipe.room(window.cwnd), board, window, view);
        match board.first_hole(board.resent_below(), below) {
            Some(at) if self.hole_forced => Next::forced(at),
            Some(at) if at < board.highest_sacked() => Next::Retransmit { at, room, mark: HighRxt::Advance },
            _ => Next::New { room },
        }
    }

    fn on_timeout(&mut self, view: &View) {
        self.hole_forced = false;
        self.timeout = Timeout::Unjudged { point: view.nxt };
    }

    fn on_spurious(&mut self, _: Cause) {
        self.hole_forced = false;
        if let Timeout::Unjudged { point } = self.timeout {
            self.timeout = Timeout::Spurious { point };
        }
    }

    fn on_sent(&mut self, sent: Block, kind: Kind) {
        self.hole_forced &= !matches!(kind, Kind::Retransmission(_));
        self.pipe.on_sent(sent);
    }
}
