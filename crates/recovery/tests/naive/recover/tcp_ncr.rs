//! RFC 4653, section 3, around RFC 6675.

use std::cell::Cell;

use eifel_recovery::registry::{Choice, Value};

use super::compare_with;
use super::rfc6675::Rfc6675;
use crate::sender::{DUP_THRESH, Left, MSS, Next, Repair, Sender};

#[derive(Clone, Copy, PartialEq, Eq)]
enum ExtendedLimitedTransmit {
    /// Section 3.1: the last ACK of new data contained no SACK information.
    MayBegin,
    UnderWay,
    MayNotBegin,
}

struct TcpNcr {
    rfc6675: Rfc6675,
    careful: bool,
    phase: ExtendedLimitedTransmit,
    flight_size: u64,
    flight_size_prev: Cell<u64>,
    skipped: u64,
    /// Bytes that steps (E.2) to (E.5) still send for the last ACK; `None` before they ran.
    allowed: Cell<Option<u64>>,
    /// Whether the first ACK's segments are still to be sent.
    began: Cell<bool>,
}

impl TcpNcr {
    fn new(careful: bool) -> Self {
        Self {
            rfc6675: Rfc6675::new(),
            careful,
            phase: ExtendedLimitedTransmit::MayBegin,
            flight_size: 0,
            flight_size_prev: Cell::new(0),
            skipped: 0,
            allowed: Cell::new(None),
            began: Cell::new(false),
        }
    }

    /// (I.3) and (E.6): DupThresh = max (LT_F * (FlightSize / SMSS), 3).
    fn set_dup_thresh(&mut self, flight_size: u64) {
        self.flight_size = flight_size;
        let (part, of) = if self.careful { (2, 3) } else { (1, 2) };
        let share = (part * flight_size, of * MSS);
        self.rfc6675.dup_thresh = if share.0 > DUP_THRESH * share.1 { share } else { (DUP_THRESH, 1) };
    }

    fn under_way(&self) -> bool {
        self.phase == ExtendedLimitedTransmit::UnderWay
    }
}

impl Repair for TcpNcr {
    fn by_sack(&self) -> bool {
        true
    }

    fn fresh(&mut self) {
        *self = Self::new(self.careful);
    }

    fn undisturbed(&mut self, sender: &Sender, acked: u64, reports: bool) -> Option<(u64, u64)> {
        use ExtendedLimitedTransmit::{MayBegin, MayNotBegin, UnderWay};
        self.allowed.set(None);
        if !self.under_way() {
            // Outside of it RFC 6675 decides.
            self.rfc6675.dup_thresh = (DUP_THRESH, 1);
        }
        match self.phase {
            UnderWay if acked > 0 => {
                if reports {
                    // (T.4): (I.2) and (I.3), but not (I.1).
                    self.skipped = 0;
                    self.set_dup_thresh(sender.outstanding());
                } else {
                    self.phase = MayBegin;
                    self.rfc6675.dup_thresh = (DUP_THRESH, 1);
                }
                // (T.1), (T.2), with RFC 5681's least ssthresh.
                let before = self.flight_size_prev.get().max(2 * MSS);
                Some((before.min(sender.outstanding() + MSS), before))
            }
            MayBegin if reports => {
                self.phase = UnderWay;
                self.began.set(true);
                // (I.1)
                self.flight_size_prev.set(sender.outstanding());
                // (I.2), (I.3)
                self.skipped = 0;
                self.set_dup_thresh(sender.outstanding());
                None
            }
            MayNotBegin if acked > 0 && !reports => {
                self.phase = MayBegin;
                None
            }
            _ => None,
        }
    }

    fn reaches_threshold(&self, sender: &Sender) -> bool {
        let (threshold, of) = self.rfc6675.dup_thresh;
        sender.duplicates * of >= threshold
    }

    fn begins_early(&self, sender: &Sender) -> bool {
        self.rfc6675.begins_early(sender)
    }

    /// Section 3.4: ssthresh = cwnd = FlightSizePrev / 2, and no more than is outstanding counts.
    fn flight(&self, sender: &Sender) -> Option<u64> {
        self.under_way().then(|| self.flight_size_prev.get().min(sender.outstanding()))
    }

    /// (E.1) to (E.5).
    fn room(&self, sender: &Sender) -> Option<u64> {
        if !self.under_way() {
            return None;
        }
        if self.began.take() {
            // FlightSizePrev may hold data from before a cut. No more than cwnd of it counts.
            self.flight_size_prev.set(self.flight_size_prev.get().min(sender.congest.cwnd));
        }
        if sender.end == sender.nxt {
            return Some(0);
        }
        let allowed = self.allowed.get().unwrap_or_else(|| {
            let (mut pipe, mut skipped, mut segments) = (sender.pipe(), self.skipped, 0);
            while pipe + skipped + MSS <= self.flight_size_prev.get() {
                segments += 1;
                pipe += MSS;
                skipped += if self.careful { MSS } else { 0 };
            }
            segments * MSS
        });
        self.allowed.set(Some(allowed));
        Some(allowed)
    }

    fn sent(&mut self, left: &Left) {
        let len = left.end - left.start;
        if self.under_way() && !left.again {
            // (E.4), (E.6)
            self.skipped += if self.careful { len } else { 0 };
            self.set_dup_thresh(self.flight_size + len);
            self.allowed.set(self.allowed.get().map(|allowed| allowed.saturating_sub(len)));
        }
        self.rfc6675.sent(left);
    }

    /// Section 3.4: DupThresh is held until loss recovery ends.
    fn begin(&mut self, sender: &mut Sender) {
        self.phase = ExtendedLimitedTransmit::MayNotBegin;
        self.rfc6675.begin(sender);
    }

    fn expired(&mut self) {
        self.phase = ExtendedLimitedTransmit::MayNotBegin;
        self.rfc6675.dup_thresh = (DUP_THRESH, 1);
    }

    fn partial(&mut self, sender: &mut Sender, acked: u64) -> bool {
        self.rfc6675.partial(sender, acked)
    }

    fn update(&mut self, sender: &mut Sender) {
        self.rfc6675.update(sender);
    }

    fn next(&self, sender: &Sender, now: u64) -> Next {
        self.rfc6675.next(sender, now)
    }

    fn rescued(&mut self, sender: &Sender) {
        self.rfc6675.rescued(sender);
    }
}

#[test]
fn tcp_ncr_agrees_with_a_model_of_rfc_4653() {
    for (word, careful) in [("careful", true), ("aggressive", false)] {
        let choice = Choice::named("tcp-ncr").with("extended_limited_transmit", Value::Word(word.into()));
        compare_with(&choice, true, &mut TcpNcr::new(careful), &Sender::new);
    }
}
