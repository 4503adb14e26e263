//! *Looks at* duplicate and partial ACKs.
//! *Decides* to retransmit one segment a round trip: a partial ACK says that the next segment is lost too.
//! *Blind to* SACK: several losses take a round trip each.
//! *From* RFC 6582, section 3.2, the Impatient variant of section 4: only the first partial ACK restarts the timer.

use super::fast_recovery::{FastRecovery, Signal};
use super::late_fast_retransmit::LATE;
use super::policy::{ProcessedAck, RecoveryPolicy, WithPolicy};
use super::rules::{
    BELOW_SPURIOUS_POINT, BUGFIX, DUPLICATE_THRESHOLD, FOLLOWS, Follows, LIMITED_TRANSMIT, RESUME, Rules,
};
use super::{Decisions, Next, Step, late_fast_retransmit};
use crate::congest::Window;
use crate::fact::Acked;
use crate::registry::Entry;
use crate::scoreboard::Scoreboard;
use crate::view::View;

pub(super) const ENTRY: Entry = Entry {
    name: "newreno",
    summary: "a retransmission for each partial ACK",
    source: "RFC 6582",
    parameters: &[DUPLICATE_THRESHOLD, LIMITED_TRANSMIT, BUGFIX, BELOW_SPURIOUS_POINT, RESUME, FOLLOWS, LATE],
    ..Entry::recovery(|parameters| {
        let newreno = WithPolicy::new(FastRecovery::new(Rules::of_either(parameters)), NewReno::default());
        late_fast_retransmit::around(newreno, parameters)
    })
};

/// Loss recovery without SACK (RFC 6582).
#[derive(Clone, Debug, Default)]
pub struct NewReno {
    /// Whether this recovery has seen a partial ACK.
    partial_seen: bool,
    /// The bytes that duplicates have added to cwnd, less the bytes that partial ACKs have
    /// subtracted.
    inflation: i64,
    /// ns-2: cwnd in bytes, as of the last call of `next`.
    cwnd: u64,
    /// ns-2: the bytes that partial ACKs have subtracted from cwnd for good.
    taken: u64,
}

impl NewReno {
    /// Handles a partial acknowledgement (step 3).
    fn on_partial(&mut self, recovery: &mut FastRecovery, acked: &Acked, mss: i64) -> Decisions {
        recovery.force_retransmit();
        self.inflation -= acked.bytes as i64;
        if acked.bytes as i64 >= mss {
            self.inflation += mss;
        }
        if recovery.rules().follows == Follows::Ns2 && self.inflation < mss {
            self.taken += (mss - self.inflation) as u64;
            self.inflation = mss;
        }
        let restarts_timer = !self.partial_seen;
        self.partial_seen = true;
        Decisions { restarts_timer, ..Decisions::STAY }
    }
}

impl RecoveryPolicy for NewReno {
    fn on_signal(&mut self, signal: Signal, recovery: &mut FastRecovery, ack: &ProcessedAck<'_>) -> Decisions {
        let &ProcessedAck { acked, board, view } = ack;
        let mss = i64::from(view.mss);
        match signal {
            Signal::Quiet => Decisions::STAY,
            Signal::Progress => Decisions::GROW,
            Signal::Duplicate => {
                if recovery.in_fast_recovery() {
                    // No more segments can have left the network than were outstanding.
                    self.inflation = (self.inflation + mss).min(mss * board.segments() as i64);
                }
                Decisions::STAY
            }
            Signal::Threshold => {
                *self = Self { inflation: mss * i64::from(recovery.duplicates()), ..Self::default() };
                Decisions { step: recovery.enter(view.nxt), ..Decisions::STAY }
            }
            Signal::Partial => self.on_partial(recovery, acked, mss),
            // ns-2 uses option 2, less the bytes that partial ACKs have subtracted, and the window
            // grows at once.
            Signal::Recovered if recovery.rules().follows == Follows::Ns2 => {
                let cwnd_at_most = self.cwnd.saturating_sub(self.taken).max(u64::from(view.mss));
                Decisions { step: Step::Leave { cwnd_at_most }, ..Decisions::GROW }
            }
            // Step 3, full acknowledgements, option 1: no burst at the end.
            Signal::Recovered => {
                let flight = board.outstanding().max(u64::from(view.mss));
                Decisions { step: Step::Leave { cwnd_at_most: flight + u64::from(view.mss) }, ..Decisions::STAY }
            }
        }
    }

    fn next(&mut self, recovery: &FastRecovery, board: &Scoreboard, window: &Window, view: &View, _: bool) -> Next {
        self.cwnd = window.cwnd;
        let inflated = window.cwnd.saturating_sub(self.taken).saturating_add_signed(self.inflation);
        let room = FastRecovery::room(inflated.saturating_sub(board.outstanding()), board, window, view);
        // Step 3, and RFC 5681, section 3.2, step 5: one new segment per ACK. ns-2 sends two.
        let segments = match recovery.rules().follows {
            Follows::Source => 1,
            Follows::Ns2 => 2,
        };
        Next::New { room: room.min(segments * u64::from(view.mss)) }
    }
}
