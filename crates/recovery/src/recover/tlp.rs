//! TLP's part of RACK-TLP: a tail loss probe two round trips after the last progress (RFC 8985, section 7).

use crate::fact::Acked;
use crate::scoreboard::Scoreboard;
use crate::view::View;
use eifel_base::time::{Duration, Instant};

/// PTO while there is no SRTT (section 7.2).
const UNKNOWN: Duration = Duration::from_secs(1);

/// The state of the tail loss probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TailProbe {
    /// No probe is due or in flight.
    None,
    /// The probe is sent next, regardless of the window.
    Due,
    /// The probe was sent as new data, up to `end`.
    New { end: u64 },
    /// The probe was a retransmission of the highest segment, which ends at `end`.
    Retransmission { end: u64 },
}

/// What TLP asks of the outstanding data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tail {
    /// When the highest segment was last sent.
    pub(crate) sent: Instant,
    /// Whether FlightSize is one segment.
    pub(crate) alone: bool,
    /// Whether anything is SACKed.
    pub(crate) reported: bool,
}

impl Tail {
    /// Returns the tail of a connection's scoreboard; `None` if nothing is outstanding.
    pub(crate) fn of(board: &Scoreboard) -> Option<Self> {
        let sent = board.newest()?.last_sent();
        Some(Self { sent, alone: board.segments() == 1, reported: !board.sacked().is_empty() })
    }
}

/// TLP's variables.
#[derive(Clone, Debug)]
pub(crate) struct Tlp {
    probe: TailProbe,
    /// TLP.max_ack_delay.
    max_ack_delay: Duration,
    /// When new data was last acknowledged.
    progress: Instant,
    /// The number of round-trip samples when the last probe became due. The next probe needs a
    /// newer sample, or SRTT may be out of date.
    samples: u64,
    /// From when the PTO counted that expired last, or when its probe was sent. Another one begins with
    /// new data or its ACK.
    expired: Option<Instant>,
}

impl Tlp {
    pub(crate) fn new(max_ack_delay: Duration) -> Self {
        Self { probe: TailProbe::None, max_ack_delay, progress: Instant::ZERO, samples: 0, expired: None }
    }

    /// Returns when a probe is due: one PTO after new data was last sent or acknowledged (section
    /// 7.2). The driver sends it at the RTO if that comes first. Returns `None` if the PTO is not
    /// armed. It is also armed while a probe is in flight: it then sends nothing but restarts the RTO.
    pub(crate) fn alarm(&self, tail: Option<Tail>, view: &View) -> Option<Instant> {
        let begins = self.begins(tail)?;
        let Tail { alone, reported, .. } = tail?;
        // Section 7.3: behind a PTO only the RTO.
        if self.is_due() || self.expired == Some(begins) || !view.sack || reported {
            return None;
        }
        let pto = match view.round_trips.smoothed() {
            Some(srtt) if alone => srtt * 2 + self.max_ack_delay,
            Some(srtt) => srtt * 2,
            None => UNKNOWN,
        };
        Some(begins + pto)
    }

    /// Returns from when a PTO counts. `None` if nothing is outstanding.
    fn begins(&self, tail: Option<Tail>) -> Option<Instant> {
        Some(tail?.sent.max(self.progress))
    }

    /// Marks the probe as due, because the alarm has fired. It is skipped while another one is in flight,
    /// and without a round-trip sample since the last one (section 7.3).
    pub(crate) fn on_alarm(&mut self, tail: Option<Tail>, view: &View) {
        self.expired = self.begins(tail);
        if self.probe == TailProbe::None && view.round_trips.taken() > self.samples {
            (self.probe, self.samples) = (TailProbe::Due, view.round_trips.taken());
        }
    }

    /// Returns whether the probe is sent next.
    pub(crate) fn is_due(&self) -> bool {
        self.probe == TailProbe::Due
    }

    /// Records that the probe was sent, up to `end`. `again` is true for a retransmission of the
    /// highest segment and false for new data.
    pub(crate) fn on_sent(&mut self, now: Instant, end: u64, again: bool) {
        self.expired = Some(now);
        self.probe = if again { TailProbe::Retransmission { end } } else { TailProbe::New { end } };
    }

    /// Returns whether the ACK carries a DSACK for a probe that was a retransmission.
    pub(crate) fn is_answered_by_dsack(&self, acked: &Acked) -> bool {
        matches!(self.probe, TailProbe::Retransmission { end } if acked.dsacks.iter().any(|dsack| dsack.end == end))
    }

    /// Processes an ACK as TLP_process_ack does (section 7.4.2). Returns whether the probe has
    /// repaired a loss.
    pub(crate) fn on_ack(&mut self, acked: &Acked, now: Instant) -> bool {
        if acked.bytes > 0 {
            self.progress = now;
        }
        let (TailProbe::New { end } | TailProbe::Retransmission { end }) = self.probe else {
            // New data was acknowledged, so a probe that is due is no longer needed.
            if acked.bytes > 0 {
                self.probe = TailProbe::None;
            }
            return false;
        };
        if acked.cumulative < end {
            return false;
        }
        if matches!(self.probe, TailProbe::New { .. }) || self.is_answered_by_dsack(acked) {
            // New data repairs nothing. A DSACK says that original and probe have both arrived.
            self.probe = TailProbe::None;
        } else if acked.cumulative > end {
            self.probe = TailProbe::None;
            return true;
        } else if acked.bytes == 0 && acked.sacked_up_to == 0 && acked.dsacks.is_empty() {
            // A duplicate ACK without SACK: original and probe have both arrived.
            self.probe = TailProbe::None;
        }
        false
    }

    /// Ends probing, at a timeout or when fast recovery begins.
    pub(crate) fn forget(&mut self) {
        self.probe = TailProbe::None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::Block;
    use crate::rtt::RoundTrips;

    /// An ACK of `bytes` new bytes.
    fn acked(cumulative: u64, bytes: u64) -> Acked<'static> {
        Acked { cumulative, bytes, duplicate: bytes == 0, ..Acked::default() }
    }

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// A view with one round-trip sample, before the timer has computed an SRTT.
    fn view(sack: bool) -> View {
        let mut round_trips = RoundTrips::new(false);
        round_trips.on_new(at(0), 1001);
        round_trips.on_ack(at(0), &acked(1001, 1000));
        View { now: at(0), una: 1, nxt: 3001, mss: 1000, sack, round_trips }
    }

    fn tlp() -> Tlp {
        Tlp::new(Duration::ZERO)
    }

    #[test]
    fn an_ack_of_new_data_cancels_a_probe_that_is_due() {
        let mut tlp = tlp();
        tlp.on_alarm(None, &view(true));
        assert!(!tlp.on_ack(&acked(1001, 0), at(1)));
        assert!(tlp.is_due());
        assert!(!tlp.on_ack(&acked(2001, 1000), at(1)));
        assert!(!tlp.is_due());
    }

    /// Only a retransmission can repair a loss.
    #[test]
    fn a_probe_of_new_data_repairs_nothing() {
        let mut tlp = tlp();
        tlp.on_sent(at(0), 5001, false);
        assert!(!tlp.on_ack(&acked(6001, 1000), at(1)));
        assert_eq!(tlp.probe, TailProbe::None);

        tlp.on_sent(at(0), 5001, true);
        assert!(!tlp.on_ack(&acked(5000, 1000), at(1)));
        assert!(!tlp.on_ack(&acked(5001, 1), at(1)));
        assert_eq!(tlp.probe, TailProbe::Retransmission { end: 5001 }, "it may still be either");
        assert!(tlp.on_ack(&acked(6001, 1000), at(1)));
    }

    #[test]
    fn only_a_dsack_of_the_probe_shows_that_original_and_probe_arrived() {
        let blocks = [4001, 5001].map(|end| [Block { start: end - 1000, end }]);
        let dsack = |end: u64| Acked { dsacks: &blocks[usize::from(end == 5001)], ..acked(6001, 1000) };
        let mut tlp = tlp();
        tlp.on_sent(at(0), 5001, false);
        assert!(!tlp.is_answered_by_dsack(&dsack(5001)), "new data");
        tlp.on_sent(at(0), 5001, true);
        assert!(!tlp.is_answered_by_dsack(&dsack(4001)));
        assert!(tlp.is_answered_by_dsack(&dsack(5001)));
        assert!(tlp.clone().on_ack(&dsack(4001), at(1)));
        assert!(!tlp.on_ack(&dsack(5001), at(1)));
        assert_eq!(tlp.probe, TailProbe::None);
    }

    /// Section 7.3, condition 1: the PTO of data sent behind a probe in flight sends no second one.
    #[test]
    fn there_is_one_probe_at_a_time() {
        let mut board = Scoreboard::default();
        board.skip_to(1);
        board.on_new(at(5), 1000, None);
        let mut tlp = tlp();
        tlp.on_sent(at(1005), 1001, true);
        board.on_new(at(1010), 1000, None);
        assert_eq!(tlp.alarm(Tail::of(&board), &view(true)), Some(at(2010)));
        tlp.on_alarm(Tail::of(&board), &view(true));
        assert!(!tlp.is_due());
        assert_eq!(tlp.probe, TailProbe::Retransmission { end: 1001 });
    }

    /// Without an SRTT the alarm fires one second after the newest segment was sent or new data was
    /// acknowledged. There is none after a probe, without SACK, or with SACKed data.
    #[test]
    fn the_alarm_counts_from_the_last_transmission_or_ack() {
        let mut board = Scoreboard::default();
        board.skip_to(1);
        (0..3).for_each(|_| board.on_new(at(5), 1000, None));
        let mut tlp = tlp();
        assert_eq!(tlp.alarm(Tail::of(&board), &view(true)), Some(at(1005)));
        tlp.on_ack(&acked(1, 0), at(20));
        assert_eq!(tlp.alarm(Tail::of(&board), &view(true)), Some(at(1005)), "a duplicate is none");
        tlp.on_ack(&acked(1001, 1000), at(30));
        assert_eq!(tlp.alarm(Tail::of(&board), &view(true)), Some(at(1030)));
        assert_eq!(tlp.alarm(Tail::of(&board), &view(false)), None);
        tlp.on_alarm(Tail::of(&board), &view(true));
        assert!(tlp.is_due());
        tlp.on_sent(at(30), 3001, true);
        tlp.forget();
        assert_eq!(tlp.alarm(Tail::of(&board), &view(true)), None, "the RTO is next");
        board.on_new(at(40), 1000, None);
        assert_eq!(tlp.alarm(Tail::of(&board), &view(true)), Some(at(1040)));
        tlp.on_alarm(Tail::of(&board), &view(true));
        assert!(!tlp.is_due(), "no sample since the last probe");
        let tlp = Tlp::new(Duration::ZERO);
        let sacks = [Block { start: 2001, end: 3001 }];
        let report = crate::fact::Ack {
            cumulative: 1,
            sacks: &sacks,
            dsacks: &[],
            echo: None,
            mark: None,
            plain: true,
            ece: false,
        };
        board.on_ack(&report, true);
        assert_eq!(tlp.alarm(Tail::of(&board), &view(true)), None);
    }
}
