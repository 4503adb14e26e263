//! *Looks at* duplicate ACKs and SACK blocks.
//! *Decides* to repair the holes below the highest block while pipe, a count of the bytes under way, is below cwnd.
//! *Blind to* which segments have left the network: it counts segments that the receiver lacks as
//! still in flight. Large holes therefore leave no room to send, and end in a timeout.
//! *From* Fall and Floyd, "Simulation-based Comparisons of Tahoe, Reno, and SACK TCP", section 3, and ns-2's Sack1;
//! "Responding to Spurious Timeouts in TCP", section III.A.

use super::fast_recovery::{FastRecovery, Signal};
use super::policy::{ProcessedAck, RecoveryPolicy, WithPolicy};
use super::rules::{Follows, RULES, Rules};
use super::{Decisions, Next, Step};
use crate::congest::Window;
use crate::fact::{Block, Kind};
use crate::registry::Entry;
use crate::scoreboard::Scoreboard;
use crate::view::View;

pub(super) const ENTRY: Entry = Entry {
    name: "reno-sack",
    summary: "fills holes within a pipe estimated by counting ACKs",
    source: "Fall and Floyd 1996",
    parameters: RULES,
    ..Entry::recovery(|parameters| {
        Box::new(WithPolicy::new(FastRecovery::new(Rules::of_either(parameters)), RenoSack::default()))
    })
};

/// Counts the flight of a fast recovery that learns of holes from SACK.
#[derive(Clone, Debug, Default)]
pub struct RenoSack {
    pipe: Pipe,
}

/// Bytes estimated to be in flight, by counting ACKs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Pipe(u64);

impl Pipe {
    /// Begins fast recovery with the outstanding bytes, less a segment for each duplicate. ns-2
    /// does not count the fast retransmit.
    pub(super) fn begin(recovery: &FastRecovery, board: &Scoreboard, mss: u32) -> Self {
        let uncounted = u32::from(recovery.rules().follows == Follows::Ns2);
        let left = u64::from(recovery.duplicates() + uncounted) * u64::from(mss);
        Self(board.outstanding().saturating_sub(left))
    }

    /// Subtracts one segment: a duplicate says that one has left the network.
    pub(super) fn on_duplicate(&mut self, mss: u32) {
        self.0 = self.0.saturating_sub(u64::from(mss));
    }

    /// Subtracts two segments: a partial ACK says that an original and its retransmission have left
    /// the network.
    pub(super) fn on_partial(&mut self, mss: u32) {
        self.0 = self.0.saturating_sub(2 * u64::from(mss));
    }

    /// Adds the bytes of `sent`.
    pub(super) fn on_sent(&mut self, sent: Block) {
        self.0 += sent.end - sent.start;
    }

    /// Returns how many bytes may be sent under `cwnd`.
    pub(super) fn room(self, cwnd: u64) -> u64 {
        cwnd.saturating_sub(self.0)
    }
}

impl RecoveryPolicy for RenoSack {
    fn on_signal(&mut self, signal: Signal, recovery: &mut FastRecovery, ack: &ProcessedAck<'_>) -> Decisions {
        let &ProcessedAck { board, view, .. } = ack;
        match signal {
            Signal::Quiet => {}
            Signal::Progress => return Decisions::GROW,
            Signal::Duplicate => self.pipe.on_duplicate(view.mss),
            Signal::Threshold => {
                self.pipe = Pipe::begin(recovery, board, view.mss);
                return Decisions { step: recovery.enter(view.nxt), ..Decisions::STAY };
            }
            Signal::Partial => self.pipe.on_partial(view.mss),
            Signal::Recovered => {
                return Decisions { step: Step::Leave { cwnd_at_most: u64::MAX }, ..Decisions::STAY };
            }
        }
        Decisions::STAY
    }

    fn next(&mut self, _: &FastRecovery, board: &Scoreboard, window: &Window, view: &View, _: bool) -> Next {
        let room = FastRecovery::room(self.pipe.room(window.cwnd), board, window, view);
        Next::hole_or_new(board.first_hole(board.resent_below(), board.highest_sacked()), room)
    }

    fn on_sent(&mut self, sent: Block, _: Kind) {
        self.pipe.on_sent(sent);
    }
}
