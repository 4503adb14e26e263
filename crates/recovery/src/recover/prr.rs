//! Proportional Rate Reduction: in fast recovery data leaves in proportion to what is delivered, so that the flight comes
//! down to ssthresh over the whole round trip (RFC 6937, section 3; RFC 9937, section 6).
//!
//! It composes with algorithms that know pipe from SACK. What it lets go is not in cwnd, which stands at ssthresh.

use crate::congest::Window;
use crate::fact::{Acked, Transmission};
use crate::scoreboard::Scoreboard;

/// How the flight comes down to ssthresh.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduction {
    /// Nothing goes until pipe is below ssthresh (RFC 6675).
    AtOnce,
    /// In proportion to what is delivered.
    Proportional,
}

/// PRR's variables, in bytes.
#[derive(Clone, Debug)]
pub struct Prr {
    reduction: Reduction,
    /// Everything that was ever delivered, as of the last ACK.
    total: u64,
    /// DeliveredData of the last ACK.
    latest: u64,
    /// RecoverFS: FlightSize when recovery began.
    recover_fs: u64,
    /// prr_delivered.
    delivered: u64,
    /// prr_out.
    out: u64,
    /// What of it has left since the last ACK.
    out_since: u64,
    ack: Quality,
}

/// SafeACK (RFC 9937).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Quality {
    /// It acknowledges new data and tells of no further loss.
    Safe,
    Unsafe,
}

impl Prr {
    /// Reduces so.
    pub fn new(reduction: Reduction) -> Self {
        Self { reduction, total: 0, latest: 0, recover_fs: 0, delivered: 0, out: 0, out_since: 0, ack: Quality::Unsafe }
    }

    /// An ACK, before what it means for recovery is known.
    pub fn on_ack(&mut self, acked: &Acked, board: &Scoreboard) {
        let total = board.una() + board.sacked_bytes();
        self.latest = total.saturating_sub(self.total);
        self.total = total;
        self.delivered += self.latest;
        self.out_since = 0;
        self.ack = if acked.bytes > 0 { Quality::Safe } else { Quality::Unsafe };
    }

    /// Recovery begins, with the ACK taken in last or with an alarm after it: what has left until now is none of its own.
    pub fn begin(&mut self, board: &Scoreboard) {
        self.recover_fs = board.outstanding();
        (self.delivered, self.out, self.out_since) = (self.latest, 0, 0);
        self.ack = Quality::Unsafe;
    }

    /// The ACK taken in last tells of a further loss.
    pub fn on_loss(&mut self) {
        self.ack = Quality::Unsafe;
    }

    /// Something has left.
    pub fn on_sent(&mut self, transmission: &Transmission) {
        self.out += u64::from(transmission.len);
        self.out_since += u64::from(transmission.len);
    }

    /// How many bytes may go now, of which `pipe` are under way.
    pub fn room(&self, pipe: u64, window: &Window, mss: u32) -> u64 {
        if self.reduction == Reduction::AtOnce {
            return window.cwnd.saturating_sub(pipe);
        }
        // SndCnt is found once for an ACK; what has left since counts against it.
        let at_ack = pipe.saturating_sub(self.out_since);
        let ssthresh = window.ssthresh;
        let out = self.out - self.out_since;
        let count = if at_ack > ssthresh {
            let share = u128::from(self.delivered) * u128::from(ssthresh);
            share.div_ceil(u128::from(self.recover_fs.max(1))).saturating_sub(u128::from(out)) as u64
        } else {
            let safe = if self.ack == Quality::Safe { u64::from(mss) } else { 0 };
            (self.delivered.saturating_sub(out).max(self.latest) + safe).min(ssthresh - at_ack)
        };
        count.saturating_sub(self.out_since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::{Kind, TxId};

    #[test]
    fn what_left_before_an_alarm_opens_recovery_does_not_count() {
        let mut prr = Prr::new(Reduction::Proportional);
        prr.on_sent(&Transmission { id: TxId(0), start: 1, len: 5000, kind: Kind::New, copy: 0 });
        prr.begin(&Scoreboard::default());
        // Nothing has been delivered: below ssthresh, nothing goes for it; the first retransmission is owed besides.
        assert_eq!(prr.room(1000, &Window { cwnd: 2500, ssthresh: 2500 }, 1000), 0);
    }
}
