//! Counts deliveries. Without SACK a duplicate ACK stands for one segment, which a later ACK does not
//! deliver again (RFC 6937, section 3, DeliveredData).

use crate::fact::Acked;
use crate::scoreboard::Scoreboard;
use crate::view::View;

/// The deliveries that duplicate ACKs have reported, until a cumulative ACK covers them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Duplicated {
    bytes: u64,
    /// First position that was unsent at the last duplicate ACK. All these deliveries lie below it.
    below: u64,
}

impl Duplicated {
    /// No deliveries, as after a timeout.
    pub const NOTHING: Self = Self { bytes: 0, below: 0 };

    /// Returns the bytes that an ACK has newly delivered. `board` has taken the ACK in; `before` is
    /// `una` plus the SACKed bytes before it.
    pub fn newly_delivered(&mut self, acked: &Acked<'_>, before: u64, board: &Scoreboard, view: &View) -> u64 {
        if view.sack {
            return (board.una() + board.sacked_bytes()).saturating_sub(before);
        }
        let mss = u64::from(view.mss);
        if acked.duplicate {
            // The segment that the duplicate ACK asks for has not arrived.
            let most = board.outstanding().saturating_sub(mss);
            *self = Self { bytes: (self.bytes + mss).min(most), below: board.nxt() };
        }
        // A cumulative ACK delivers the segment that was asked for. Duplicate ACKs stood for the
        // others.
        let known = self.bytes.min(acked.bytes.saturating_sub(mss));
        self.bytes -= known;
        if board.una() >= self.below || self.bytes == 0 {
            *self = Self::NOTHING;
        }
        acked.bytes - known
    }
}
