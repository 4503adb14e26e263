//! *Looks at* the forward-most SACK block.
//! *Decides* that all segments missing below that block have left the network, and retransmits them
//! as cwnd allows.
//! *Blind to* reordering: it deems an overtaken segment lost. With `off_when_reordered`, it acts as NewReno-SACK once a
//! fast retransmit was judged spurious.
//! *From* Mathis and Mahdavi, "Forward Acknowledgement: Refining TCP Congestion Control", sections 3.1 and 3.2;
//! "Responding to Spurious Timeouts in TCP", section III.A.

use super::fast_recovery::{FastRecovery, Signal};
use super::newreno_sack::{NewRenoSack, Restarts, When};
use super::policy::{ProcessedAck, RecoveryPolicy, WithPolicy};
use super::rules::{
    BELOW_SPURIOUS_POINT, BUGFIX, DUPLICATE_THRESHOLD, FOLLOWS, Follows, LIMITED_TRANSMIT, RESUME, Rules,
};
use super::{Decisions, Next, Step};
use crate::congest::Window;
use crate::fact::{Block, Cause, Kind};
use crate::registry::{Entry, Parameter};
use crate::scoreboard::Scoreboard;
use crate::view::View;

pub(super) const ENTRY: Entry = Entry {
    name: "fack",
    summary: "everything below the highest SACK block has left the network",
    source: "Mathis and Mahdavi 1996",
    parameters: &[
        DUPLICATE_THRESHOLD,
        LIMITED_TRANSMIT,
        BUGFIX,
        BELOW_SPURIOUS_POINT,
        RESUME,
        FOLLOWS,
        Parameter::switch(
            "off_when_reordered",
            "after a fast retransmit that was judged spurious, newreno-sack decides (Linux 2.4 switched FACK off then)",
            false,
        ),
    ],
    ..Entry::recovery(|parameters| {
        // ns-2's FACK has no Limited Transmit.
        let rules = Rules::of_either(parameters);
        let limited_transmit = rules.limited_transmit && rules.follows == Follows::Source;
        let recovery = FastRecovery::new(Rules { limited_transmit, ..rules });
        Box::new(WithPolicy::new(recovery, Fack::new(parameters.switch("off_when_reordered"))))
    })
};

/// Forward acknowledgement.
#[derive(Clone, Debug)]
pub struct Fack {
    /// ns-2: the window of this recovery, in bytes. It begins with one segment and grows with each
    /// ACK.
    cwnd: u64,
    /// ns-2: ssthresh in bytes, as of the last call of `next`.
    ssthresh: u64,
    off: Off,
}

/// What reordering does to FACK.
#[derive(Clone, Debug)]
enum Off {
    /// Nothing.
    Never,
    /// It switches FACK off, once it is seen.
    WhenReordered,
    /// FACK is off, and this decides.
    Now(NewRenoSack),
}

/// Returns whether snd.fack is more than DupThresh segments ahead of snd.una: the trigger of section 3.2.
fn far_ahead(recovery: &FastRecovery, board: &Scoreboard, view: &View) -> bool {
    let reordering = u64::from(recovery.rules().duplicate_threshold) * u64::from(view.mss);
    board.highest_sacked() - board.una() > reordering
}

impl Fack {
    /// Creates the algorithm. `off_when_reordered` is the parameter.
    pub fn new(off_when_reordered: bool) -> Self {
        let off = if off_when_reordered { Off::WhenReordered } else { Off::Never };
        Self { cwnd: 0, ssthresh: 0, off }
    }

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
        if let Off::Now(instead) = &mut self.off {
            return instead.on_signal(signal, recovery, ack);
        }
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

    fn next(
        &mut self,
        recovery: &FastRecovery,
        board: &Scoreboard,
        window: &Window,
        view: &View,
        unsent: bool,
    ) -> Next {
        if let Off::Now(instead) = &mut self.off {
            return instead.next(recovery, board, window, view, unsent);
        }
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

    fn on_timeout(&mut self, view: &View) {
        if let Off::Now(instead) = &mut self.off {
            instead.on_timeout(view);
        }
    }

    /// The undo ends fast recovery, so NewReno-SACK begins with the next one.
    fn on_spurious(&mut self, cause: Cause) {
        match &mut self.off {
            Off::WhenReordered if cause == Cause::FastRetransmit => {
                self.off = Off::Now(NewRenoSack::new(When::Always, Restarts::Every));
            }
            Off::Now(instead) => instead.on_spurious(cause),
            Off::WhenReordered | Off::Never => {}
        }
    }

    fn on_sent(&mut self, sent: Block, kind: Kind) {
        if let Off::Now(instead) = &mut self.off {
            instead.on_sent(sent, kind);
        }
    }
}
