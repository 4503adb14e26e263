//! *Looks at* duplicate ACKs for the segment whose timer has expired.
//! *Decides* that no duplicate begins a fast retransmit any more. At the duplicate that would have
//! begun one, after a single timeout, it calls the timeout spurious: the response may undo it, and
//! sending continues as if the timer had not expired.
//! *Blind to* the reason why the timer was early. The loss that the duplicates report does not
//! reduce the window.
//! *From* Ludwig, chapter 5, sections 5.4.5 and 5.4.6.

use super::{Attention, Decisions, Next, Recovery, Resume, Step};
use crate::congest::Window;
use crate::fact::{Acked, Block, Cause, Kind};
use crate::registry::{Parameter, Parameters};
use crate::scoreboard::Scoreboard;
use crate::view::View;
use eifel_base::time::Instant;

/// A setting of the recoveries that only count duplicate ACKs.
pub(super) const LATE: Parameter = Parameter::switch(
    "suppress_late_fast_retransmit",
    "the duplicate ACK that would begin a fast retransmit calls the timeout spurious if the timer came first (Ludwig, 5.4.6)",
    false,
);

/// Builds `inner`, wrapped if [`LATE`] is set.
pub(super) fn around(inner: impl Recovery + 'static, parameters: &Parameters) -> Box<dyn Recovery> {
    if !parameters.switch("suppress_late_fast_retransmit") {
        return Box::new(inner);
    }
    let threshold = parameters.integer("duplicate_threshold") as u32;
    Box::new(LateFastRetransmit { inner: Box::new(inner), threshold, duplicates: 0, timeouts: 0 })
}

/// Keeps duplicate ACKs from competing with a timeout, around a recovery that counts them.
#[derive(Clone, Debug)]
pub struct LateFastRetransmit {
    inner: Box<dyn Recovery>,
    threshold: u32,
    /// Duplicates for the oldest segment, before its timeout and after.
    duplicates: u32,
    /// Timeouts of the oldest segment.
    timeouts: u32,
}

impl Recovery for LateFastRetransmit {
    fn on_ack(&mut self, acked: &Acked, board: &Scoreboard, view: &View) -> Decisions {
        if acked.bytes > 0 {
            (self.duplicates, self.timeouts) = (0, 0);
        }
        self.duplicates += u32::from(acked.duplicate);
        if self.timeouts == 0 || !acked.duplicate {
            return self.inner.on_ack(acked, board, view);
        }
        let decisions = self.inner.on_ack(&Acked { duplicate: false, ..*acked }, board, view);
        if self.timeouts > 1 || self.duplicates != self.threshold {
            return decisions;
        }
        Decisions { step: Step::SpuriousTimeout, ..decisions }
    }

    fn on_timeout(&mut self, view: &View) {
        self.timeouts += 1;
        self.inner.on_timeout(view);
    }

    fn on_spurious(&mut self, cause: Cause) -> Resume {
        self.inner.on_spurious(cause)
    }

    fn attention(&self) -> Attention {
        match self.inner.attention() {
            Attention::Quiet if self.duplicates > 0 || self.timeouts > 0 => Attention::EachAck,
            attention => attention,
        }
    }

    fn on_sent(&mut self, now: Instant, sent: Block, kind: Kind) {
        self.inner.on_sent(now, sent, kind);
    }

    fn next(&mut self, board: &Scoreboard, window: &Window, view: &View, unsent: bool) -> Next {
        self.inner.next(board, window, view, unsent)
    }
}
