//! *Looks at* SACK blocks: how many, and how many bytes of them, lie above each hole.
//! *Decides* that a hole is lost with DupThresh blocks, or more than DupThresh - 1 segments' bytes, above it. It keeps
//! pipe below cwnd.
//! *Blind to* the loss of a retransmission, except for one rescue retransmission at the end of the
//! window.
//! *From* RFC 6675, sections 4 and 5. `after_spurious_fast_retransmit` is from Blanton and Allman, "On Making TCP More
//! Robust to Packet Reordering", whose further ways (an average, and a timer) are not here.

use super::fast_recovery::{FastRecovery, Signal};
use super::policy::{ProcessedAck, RecoveryPolicy, WithPolicy};
use super::prr::{Prr, REDUCTION, Reduction};
use super::rules::{BELOW_SPURIOUS_POINT, BUGFIX, DUPLICATE_THRESHOLD, LIMITED_TRANSMIT, RAISED, RESUME, Rules};
use super::{Decisions, HighRxt, Next, Step};
use crate::congest::Window;
use crate::fact::{Block, Kind};
use crate::registry::Entry;
use crate::scoreboard::Scoreboard;
use crate::view::View;

pub(super) const ENTRY: Entry = Entry {
    name: "rfc6675",
    summary: "conservative recovery with SACK",
    source: "RFC 6675",
    parameters: &[DUPLICATE_THRESHOLD, LIMITED_TRANSMIT, BUGFIX, BELOW_SPURIOUS_POINT, RESUME, REDUCTION, RAISED],
    ..Entry::recovery(|parameters| {
        let recovery = FastRecovery::by_sack(Rules::of_rising(parameters));
        Box::new(WithPolicy::new(recovery, Rfc6675::new(Reduction::of(parameters, &REDUCTION))))
    })
};

/// Conservative loss recovery with SACK.
#[derive(Clone, Debug)]
pub struct Rfc6675 {
    prr: Prr,
    /// RescueRxt, as the first position beyond it. A rescue retransmission needs a cumulative ACK
    /// above it.
    rescue_rxt: u64,
    /// Start of the rescue retransmission that `next` returned last; `None` if it returned
    /// something else.
    rescue: Option<u64>,
}

impl Rfc6675 {
    /// Creates the algorithm, with or without PRR.
    pub fn new(reduction: Reduction) -> Self {
        Self { prr: Prr::new(reduction), rescue_rxt: 0, rescue: None }
    }
}

/// IsLost (section 4): returns the position below which every hole is lost. `enough` says whether this many blocks and
/// bytes of them above a hole mean that it is lost.
pub(super) fn lost_below(board: &Scoreboard, enough: impl Fn(u64, u64) -> bool) -> u64 {
    let (mut blocks, mut bytes) = (0, 0);
    for block in board.sacked().descending() {
        blocks += 1;
        bytes += block.end - block.start;
        if enough(blocks, bytes) {
            return block.start;
        }
    }
    board.una()
}

impl Rfc6675 {
    /// Decides about an ACK. Every hole below `lost_below` is lost.
    pub(super) fn decide(
        &mut self,
        signal: Signal,
        recovery: &mut FastRecovery,
        ack: &ProcessedAck<'_>,
        lost_below: u64,
    ) -> Decisions {
        let &ProcessedAck { acked, board, view } = ack;
        self.prr.on_ack(acked, board);
        // Section 5, steps (1) and (2): DupAcks >= DupThresh or IsLost (HighACK + 1).
        let duplicate = matches!(signal, Signal::Duplicate | Signal::Progress) && recovery.duplicates() > 0;
        let begins =
            signal == Signal::Threshold || duplicate && lost_below > board.una() && recovery.may_begin(board.una());
        let step = match signal {
            _ if begins => {
                // Section 5, step (4.3): the segment that is retransmitted now needs no rescue.
                self.rescue_rxt = board.segment_at(board.una()).map_or(view.nxt, |oldest| oldest.end);
                self.rescue = None;
                self.prr.begin(board);
                recovery.enter(view.nxt)
            }
            Signal::Progress => return Decisions::GROW,
            Signal::Recovered => Step::Leave { cwnd_at_most: u64::MAX },
            _ => Step::Stay,
        };
        if lost_below > board.lost_below() {
            self.prr.on_loss();
        }
        Decisions { step, lost_below: recovery.in_fast_recovery().then_some(lost_below), ..Decisions::STAY }
    }
}

impl RecoveryPolicy for Rfc6675 {
    fn on_signal(&mut self, signal: Signal, recovery: &mut FastRecovery, ack: &ProcessedAck<'_>) -> Decisions {
        let threshold = u64::from(recovery.rules().duplicate_threshold);
        let segments_below = (threshold - 1) * u64::from(ack.view.mss);
        let lost_below = lost_below(ack.board, |blocks, bytes| blocks >= threshold || bytes > segments_below);
        self.decide(signal, recovery, ack, lost_below)
    }

    fn next(&mut self, _: &FastRecovery, board: &Scoreboard, window: &Window, view: &View, unsent: bool) -> Next {
        let room = self.prr.room(board.pipe(), window, view.mss);
        let from = board.resent_below();
        self.rescue = None;
        // NextSeg (section 4), rules 1 to 4.
        if let Some(at) = board.first_hole(from, board.lost_below()) {
            return Next::Retransmit { at, room, mark: HighRxt::Advance };
        }
        if unsent {
            return Next::New { room };
        }
        if let Some(at) = board.first_hole(from, board.highest_sacked()) {
            return Next::Retransmit { at, room, mark: HighRxt::Advance };
        }
        self.rescue = board.last_hole().filter(|_| board.una() > self.rescue_rxt);
        match self.rescue {
            Some(at) => Next::Retransmit { at, room, mark: HighRxt::Leave },
            None => Next::New { room },
        }
    }

    fn on_timeout(&mut self, view: &View) {
        self.prr.on_timeout(view.una);
    }

    fn on_sent(&mut self, sent: Block, kind: Kind) {
        self.prr.on_sent(sent);
        if matches!(kind, Kind::Retransmission(_)) && self.rescue == Some(sent.start) {
            // Stands for RecoveryPoint: any position works that is not acknowledged before the
            // recovery ends.
            self.rescue_rxt = u64::MAX;
        }
    }
}
