//! *Looks at* duplicate ACKs.
//! *Decides* to retransmit the oldest segment at the third duplicate, and to end fast recovery at the first ACK of new
//! data.
//! *Blind to* SACK, and to a second loss in the same window: each loss needs three duplicates of its own, or a timeout.
//! *From* RFC 5681, section 3.2; the bugfix setting follows RFC 2582, section 3 and its note on
//! multiple fast retransmits.

use super::fast_recovery::{FastRecovery, Signal};
use super::late_fast_retransmit::LATE;
use super::policy::{ProcessedAck, RecoveryPolicy, WithPolicy};
use super::rules::{BELOW_SPURIOUS_POINT, BUGFIX, DUPLICATE_THRESHOLD, FOLLOWS, LIMITED_TRANSMIT, RESUME, Rules};
use super::{Decisions, Next, Step, late_fast_retransmit};
use crate::congest::Window;
use crate::registry::Entry;
use crate::scoreboard::Scoreboard;
use crate::view::View;

pub(super) const ENTRY: Entry = Entry {
    name: "reno",
    summary: "fast retransmit and fast recovery",
    source: "RFC 5681",
    parameters: &[DUPLICATE_THRESHOLD, LIMITED_TRANSMIT, BUGFIX, BELOW_SPURIOUS_POINT, RESUME, FOLLOWS, LATE],
    ..Entry::recovery(|parameters| {
        late_fast_retransmit::around(WithPolicy::new(FastRecovery::new(Rules::of_either(parameters)), Reno), parameters)
    })
};

/// Fast retransmit and fast recovery.
#[derive(Clone, Debug)]
pub struct Reno;

impl RecoveryPolicy for Reno {
    fn on_signal(&mut self, signal: Signal, recovery: &mut FastRecovery, ack: &ProcessedAck<'_>) -> Decisions {
        let &ProcessedAck { view, .. } = ack;
        match signal {
            Signal::Quiet | Signal::Duplicate => Decisions::STAY,
            Signal::Progress => Decisions::GROW,
            Signal::Threshold => Decisions { step: recovery.enter(view.nxt), ..Decisions::STAY },
            // RFC 5681, section 3.2, step 6: any ACK of new data deflates the window and ends fast recovery.
            Signal::Partial | Signal::Recovered => {
                recovery.leave();
                Decisions { step: Step::Leave { cwnd_at_most: u64::MAX }, ..Decisions::STAY }
            }
        }
    }

    fn next(&mut self, recovery: &FastRecovery, board: &Scoreboard, window: &Window, view: &View, _: bool) -> Next {
        // RFC 5681, section 3.2, step 4: each duplicate says that a segment has left the network. More duplicates than
        // outstanding segments are forged.
        let left = u64::from(recovery.duplicates()).min(board.segments() as u64);
        let inflated = window.cwnd + left * u64::from(view.mss);
        Next::New { room: FastRecovery::room(inflated.saturating_sub(board.outstanding()), board, window, view) }
    }
}
