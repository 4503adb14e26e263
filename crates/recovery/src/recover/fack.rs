//! *Looks at* the forward-most SACK block.
//! *Decides* that all segments missing below that block have left the network, and retransmits them
//! as cwnd allows.
//! *Blind to* reordering: it deems an overtaken segment lost.
//! *From* Mathis and Mahdavi, "Forward Acknowledgement: Refining TCP Congestion Control", sections 3.1 and 3.2;
//! "Responding to Spurious Timeouts in TCP", section III.A.

use super::fast_recovery::{FastRecovery, Signal};
use super::policy::{ProcessedAck, RecoveryPolicy, WithPolicy};
use super::rules::{Follows, RULES, Rules};
use super::{Decisions, Next, Step};
use crate::congest::Window;
use crate::registry::Entry;
use crate::scoreboard::Scoreboard;
use crate::view::View;

pub(super) const ENTRY: Entry = Entry {
    name: "fack",
    summary: "everything below the highest SACK block has left the network",
    source: "Mathis and Mahdavi 1996",
    parameters: RULES,
    ..Entry::recovery(|parameters| {
        // ns-2's FACK has no Limited Transmit.
        let rules = Rules::of_either(parameters);
        let limited_transmit = rules.limited_transmit && rules.follows == Follows::Source;
        Box::new(WithPolicy::new(FastRecovery::new(Rules { limited_transmit, ..rules }), Fack::default()))
    })
};

/// Forward acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fack {
    /// ns-2: the window of this recovery, in bytes. It begins with one segment and grows with each
    /// ACK.
    cwnd: u64,
    /// ns-2: ssthresh in bytes, as of the last call of `next`.
    ssthresh: u64,
}

/// Returns whether snd.fack is more than DupThresh segments ahead of snd.una: the trigger of section 3.2.
fn far_ahead(recovery: &FastRecovery, board: &Scoreboard, view: &View) -> bool {
    let reordering = u64::from(recovery.rules().duplicate_threshold) * u64::from(view.mss);
    board.highest_sacked() - board.una() > reordering
}

impl Fack {
    /// Decides as ns-2 does. Any ACK may begin fast recovery if SACK reports reach far enough
    /// ahead, even below the recovery point. Until fast recovery begins, nothing is sent while SACK
    /// reports are outstanding. It ends once the recovery point is acknowledged and no SACK report
    /// is outstanding.
    fn on_ns2(&mut self, signal: Signal, recovery: &mut FastRecovery, board: &Scoreboard, view: &View) -> Decisions {
        let mss = u64::from(view.mss);
        let reported = board.highest_sacked() > board.una();
        let repairing = recovery.in_fast_recovery() || signal == Signal::Recovered;
        if repairing {
            self.cwnd += if self.cwnd < self.ssthresh { mss } else { mss * mss / self.cwnd };
        }
        let step = match signal {
            Signal::Recovered if !reported => Step::LeaveWith { cwnd: self.cwnd },
            Signal::Recovered => {
                recovery.continue_beyond_point();
                Step::Stay
            }
            _ if !repairing && far_ahead(recovery, board, view) => {
                self.cwnd = mss;
                recovery.enter(view.nxt + 1)
            }
            _ => Step::Stay,
        };
        recovery.suspend(reported && !recovery.in_fast_recovery());
        let grows = signal == Signal::Progress && !reported;
        Decisions {
            step,
            lost_below: recovery.in_fast_recovery().then(|| board.highest_sacked()),
            grows,
            ..Decisions::STAY
        }
    }
}

impl RecoveryPolicy for Fack {
    fn on_signal(&mut self, signal: Signal, recovery: &mut FastRecovery, ack: &ProcessedAck<'_>) -> Decisions {
        let &ProcessedAck { board, view, .. } = ack;
        if recovery.rules().follows == Follows::Ns2 {
            return self.on_ns2(signal, recovery, board, view);
        }
        let step = match signal {
            Signal::Progress => return Decisions::GROW,
            Signal::Recovered => Step::Leave { cwnd_at_most: u64::MAX },
            Signal::Threshold => recovery.enter(view.nxt),
            Signal::Duplicate if far_ahead(recovery, board, view) && recovery.may_begin(board.una()) => {
                recovery.enter(view.nxt)
            }
            Signal::Quiet | Signal::Duplicate | Signal::Partial => Step::Stay,
        };
        Decisions { step, lost_below: recovery.in_fast_recovery().then(|| board.highest_sacked()), ..Decisions::STAY }
    }

    fn next(&mut self, recovery: &FastRecovery, board: &Scoreboard, window: &Window, _: &View, _: bool) -> Next {
        self.ssthresh = window.ssthresh;
        let cwnd = match recovery.rules().follows {
            Follows::Source => window.cwnd,
            Follows::Ns2 => self.cwnd,
        };
        // awnd = snd.nxt - snd.fack + retran_data. This is the scoreboard's pipe, with everything
        // below snd.fack marked as lost.
        let room = cwnd.saturating_sub(board.pipe());
        Next::hole_or_new(board.first_hole(board.resent_below(), board.lost_below()), room)
    }
}
