//! Ludwig, chapter 5, sections 5.4.5 and 5.4.6: duplicate ACKs that come after the timeout of their
//! segment begin no fast retransmit. The third duplicate restores the window that a single timeout
//! has cut.

use crate::sender::{DUP_THRESH, Phase, Sender};

/// For the oldest segment: its duplicates before and after its timeout, its timeouts, and the
/// window before the first timeout.
#[derive(Clone, Copy, Default, Debug)]
pub struct Late {
    duplicates: u64,
    timeouts: u64,
    window: (u64, u64),
}

impl Sender {
    /// Returns whether an ACK that is a `duplicate` counts towards a fast retransmit.
    pub fn counts(&mut self, duplicate: bool, acked: u64) -> bool {
        let Some(late) = &mut self.late else { return duplicate };
        if acked > 0 {
            (late.duplicates, late.timeouts) = (0, 0);
        }
        late.duplicates += u64::from(duplicate);
        if late.timeouts == 0 {
            return duplicate;
        }
        if duplicate && late.timeouts == 1 && late.duplicates == DUP_THRESH {
            // As if the timeout had not occurred.
            (self.congest.cwnd, self.congest.ssthresh) = late.window;
            self.phase = Phase::Open;
            self.duplicates = 0;
            self.no_recovery_point();
            self.cut_until = 0;
            for segment in &mut self.segments {
                (segment.lost, segment.resent) = (false, false);
            }
        }
        false
    }

    /// Records that the timer has expired, before anything changes.
    pub fn note_timeout(&mut self) {
        if let Some(late) = &mut self.late {
            late.timeouts += 1;
            if late.timeouts == 1 {
                late.window = (self.congest.cwnd, self.congest.ssthresh);
            }
        }
    }
}
