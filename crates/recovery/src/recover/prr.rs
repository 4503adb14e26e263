//! Proportional Rate Reduction: fast recovery sends data in proportion to deliveries, so that the
//! flight falls to ssthresh over a whole round trip (RFC 6937, section 3; RFC 9937, section 6).
//!
//! PRR composes with algorithms that know pipe from SACK. During recovery cwnd equals ssthresh;
//! PRR's own limit is kept apart from it.

use crate::congest::Window;
use crate::fact::{Acked, Block};
use crate::registry::{Parameter, Parameters};
use crate::scoreboard::Scoreboard;

/// How the flight falls to ssthresh.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduction {
    /// Nothing is sent until pipe is below ssthresh (RFC 6675).
    AtOnce,
    /// Data is sent in proportion to deliveries.
    Proportional,
}

pub(super) const REDUCTION: Parameter = Parameter::word(
    "reduction",
    "how the flight falls to ssthresh in fast recovery: nothing is sent until it has, or data is sent in proportion \
     to deliveries (PRR, RFC 6937 and RFC 9937)",
    "at-once",
    &["at-once", "prr"],
);

pub(super) const AFTER_ECE: Parameter = Parameter::word(
    "after_echo",
    "how the flight falls to ssthresh after ECN-Echo, if SACK is in use: nothing is sent until it has (RFC 3168), or \
     data is sent in proportion to deliveries, as after a loss (Linux)",
    "at-once",
    &["at-once", "prr"],
);

impl Reduction {
    /// Reads the word of `parameter`.
    pub(super) fn of(parameters: &Parameters, parameter: &Parameter) -> Self {
        parameters.word(parameter.name, &[("at-once", Self::AtOnce), ("prr", Self::Proportional)])
    }
}

/// The reduction of a window in recovery.
#[derive(Clone, Debug)]
pub struct Prr {
    /// `None` for [`Reduction::AtOnce`], so that idle connections without PRR hold no memory for
    /// it.
    variables: Option<Box<Variables>>,
}

/// PRR's variables, in bytes.
#[derive(Clone, Debug, Default)]
struct Variables {
    /// Bytes ever delivered, as of the last ACK.
    total: u64,
    /// DeliveredData of the last ACK; 0 if an alarm has fired since.
    heard: u64,
    /// DeliveredData of the last ACK that delivered anything.
    latest: u64,
    /// RecoverFS: the part of the flight that could still be delivered when recovery began.
    recover_fs: u64,
    /// prr_delivered.
    delivered: u64,
    /// prr_out.
    out: u64,
    /// PRR's cwnd: pipe plus SndCnt. [`Prr::room`] computes it once per ACK, before anything is
    /// sent; `None` until then.
    limit: Option<u64>,
    /// SafeACK (RFC 9937): the last ACK acknowledges new data and reports no further loss.
    safe_ack: bool,
}

impl Prr {
    /// Creates PRR, or a stand-in without state for [`Reduction::AtOnce`].
    pub fn new(reduction: Reduction) -> Self {
        Self { variables: (reduction == Reduction::Proportional).then(Box::default) }
    }

    /// Returns whether nothing is sent until pipe is below ssthresh.
    pub fn is_at_once(&self) -> bool {
        self.variables.is_none()
    }

    /// Processes an ACK, before recovery decides about it.
    pub fn on_ack(&mut self, acked: &Acked, board: &Scoreboard) {
        let Some(prr) = &mut self.variables else { return };
        let total = board.una() + board.sacked_bytes();
        // The driver does not show ACKs of new data while recovery is quiet. Nothing was SACKed
        // then.
        let before = prr.total.max(acked.cumulative - acked.bytes);
        prr.heard = total.saturating_sub(before);
        prr.total = total;
        // An ACK that delivers nothing allows nothing (RFC 9937, section 6.2).
        if prr.heard == 0 {
            return;
        }
        prr.latest = prr.heard;
        prr.delivered += prr.latest;
        prr.limit = None;
        prr.safe_ack = acked.bytes > 0;
    }

    /// Records that an alarm has fired, which reports no delivery.
    pub fn on_alarm(&mut self) {
        if let Some(prr) = &mut self.variables {
            prr.heard = 0;
        }
    }

    /// Forgets SACKed data after a timeout, because it may be delivered once more.
    pub fn on_timeout(&mut self, una: u64) {
        if let Some(prr) = &mut self.variables {
            prr.total = una;
        }
    }

    /// Begins recovery, at the last ACK or at an alarm after it. Data sent until now does not count
    /// in prr_out. Data SACKed before that ACK will not be delivered in this recovery (RFC 9937,
    /// section 6.1).
    pub fn begin(&mut self, board: &Scoreboard) {
        let Some(prr) = &mut self.variables else { return };
        prr.recover_fs = board.outstanding() - board.sacked_bytes() + prr.heard;
        prr.latest = prr.heard;
        (prr.delivered, prr.out) = (prr.heard, 0);
        prr.limit = None;
        prr.safe_ack = false;
    }

    /// Records that the last ACK reports a further loss.
    pub fn on_loss(&mut self) {
        if let Some(prr) = &mut self.variables {
            prr.safe_ack = false;
        }
    }

    /// Counts `sent` in prr_out.
    pub fn on_sent(&mut self, sent: Block) {
        if let Some(prr) = &mut self.variables {
            prr.out += sent.end - sent.start;
        }
    }

    /// Returns cwnd as PRR defines it: `pipe`, in bytes, plus SndCnt.
    pub fn cwnd(&self, pipe: u64, window: &Window, mss: u32) -> u64 {
        let Some(prr) = &self.variables else { return window.cwnd };
        prr.limit.unwrap_or_else(|| pipe + prr.snd_cnt(pipe, window.ssthresh, mss))
    }

    /// Returns how many bytes may be sent now, with `pipe` bytes in flight. After each ACK it must
    /// be called before anything is sent.
    pub fn room(&mut self, pipe: u64, window: &Window, mss: u32) -> u64 {
        let cwnd = self.cwnd(pipe, window, mss);
        if let Some(prr) = &mut self.variables {
            prr.limit = Some(cwnd);
        }
        cwnd.saturating_sub(pipe)
    }
}

impl Variables {
    /// Returns SndCnt (RFC 9937, section 6.2).
    fn snd_cnt(&self, pipe: u64, ssthresh: u64, mss: u32) -> u64 {
        if pipe > ssthresh {
            let share = u128::from(self.delivered) * u128::from(ssthresh);
            return share.div_ceil(u128::from(self.recover_fs.max(1))).saturating_sub(u128::from(self.out)) as u64;
        }
        let safe = if self.safe_ack { u64::from(mss) } else { 0 };
        (self.delivered.saturating_sub(self.out).max(self.latest) + safe).min(ssthresh - pipe)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Ack;
    use eifel_base::time::Instant;

    #[test]
    fn data_sent_before_the_alarm_that_opens_recovery_does_not_count() {
        let mut prr = Prr::new(Reduction::Proportional);
        prr.on_sent(Block { start: 1, end: 5001 });
        prr.begin(&Scoreboard::default());
        // Nothing has been delivered, so nothing may be sent below ssthresh. The first
        // retransmission is owed separately.
        assert_eq!(prr.room(1000, &Window { cwnd: 2500, ssthresh: 2500 }, 1000), 0);
    }

    /// 10 000 bytes were outstanding when recovery began. 4000 were delivered since, 1000 of them
    /// by the last ACK.
    fn under_way(out: u64) -> Variables {
        Variables { recover_fs: 10_000, delivered: 4000, latest: 1000, out, safe_ack: true, ..Variables::default() }
    }

    fn prr(variables: Variables) -> Prr {
        Prr { variables: Some(Box::new(variables)) }
    }

    /// Above ssthresh, SndCnt is a share of the delivered bytes. At ssthresh it is 0.
    #[test]
    fn above_ssthresh_prr_sends_in_proportion_to_deliveries() {
        assert_eq!([5000, 5001, 6000].map(|pipe| under_way(500).snd_cnt(pipe, 5000, 1000)), [0, 1500, 1500]);
        assert_eq!(under_way(2500).snd_cnt(6000, 5000, 1000), 0);
    }

    /// Below ssthresh, SndCnt is the delivered bytes less the bytes sent since. An ACK that reports
    /// no further loss adds a segment.
    #[test]
    fn below_ssthresh_prr_grows_as_slow_start() {
        assert_eq!(under_way(1500).snd_cnt(4000, 9000, 1000), 3500);
        let mut told_of_a_loss = prr(under_way(1500));
        told_of_a_loss.on_loss();
        assert_eq!(told_of_a_loss.room(4000, &Window { cwnd: 9000, ssthresh: 9000 }, 1000), 2500);
        // SndCnt is at least the bytes that the last ACK delivered, and it stops at ssthresh.
        assert_eq!(under_way(4000).snd_cnt(4000, 9000, 1000), 2000);
        assert_eq!(under_way(0).snd_cnt(8000, 9000, 1000), 1000);
    }

    /// After a timeout, bytes that were SACKed before it count as delivered when they are
    /// acknowledged.
    #[test]
    fn a_timeout_forgets_what_was_delivered_above_una() {
        let mut prr = prr(Variables { total: 9000, ..Variables::default() });
        prr.on_timeout(1000);
        let mut board = Scoreboard::default();
        board.on_new(Instant::ZERO, 3000, None);
        let ack = Ack { cumulative: 3000, sacks: &[], dsacks: &[], echo: None, mark: None, plain: true, ece: false };
        let acked = board.on_ack(&ack, true);
        prr.on_ack(&Acked { bytes: 2000, ..acked }, &board);
        // All 2000, and a segment: the ACK acknowledges new data.
        assert_eq!(prr.room(0, &Window { cwnd: 9000, ssthresh: 9000 }, 1000), 3000);
    }

    /// Segments sent after an ACK use up the ACK's room only because pipe grows.
    #[test]
    fn the_limit_stays_until_the_next_ack() {
        let window = Window { cwnd: 9000, ssthresh: 9000 };
        let mut prr = prr(under_way(1500));
        assert_eq!(prr.room(4000, &window, 1000), 3500);
        prr.on_sent(Block { start: 1, end: 2001 });
        assert_eq!(prr.room(6000, &window, 1000), 1500);
        // Recomputed after both segments were sent, SndCnt would be larger.
        assert_eq!(under_way(3500).snd_cnt(6000, 9000, 1000), 2000);
    }
}
