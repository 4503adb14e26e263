//! RFC 8985, sections 6 and 7, with the deviation of docs/reference/deviations.md: a timeout deems everything
//! lost.

use eifel_recovery::fact::Cause;
use eifel_recovery::registry::{Choice, Value};

use super::compare_with;
use super::prr::Prr;
use crate::congest::reno::ALWAYS;
use crate::sender::{DUP_THRESH, Left, MSS, Next, Phase, Repair, Segment, Sender};

const REO_WND_PERSIST: u64 = 16;
const MAX_ACK_DELAY: u64 = 200_000_000;

/// An ACK; times in nanoseconds.
pub struct Heard {
    pub now: u64,
    pub acked: u64,
    pub flight: u64,
    pub duplicate: bool,
    /// Segments newly ACKed or SACKed.
    pub delivered: Vec<Segment>,
    /// The end of its highest SACK block.
    pub reported: Option<u64>,
    pub dsack: Option<(u64, u64)>,
    pub echoed_at: Option<u64>,
}

/// The per-connection variables of section 5.3.
#[derive(Default)]
pub struct RackTlp {
    prr: Option<Prr>,
    /// RACK.xmit_ts and RACK.end_seq.
    segment: Option<(u64, u64)>,
    rtt: u64,
    /// RACK.min_RTT, whose window step 1 leaves open: when this period of 150 s began, its smallest
    /// round trip, and the smallest of the period before.
    periods: Option<(u64, u64, Option<u64>)>,
    fack: u64,
    reordering_seen: bool,
    reo_wnd_mult: u64,
    reo_wnd_persist: u64,
    dsack_round: Option<u64>,
    /// When the reordering timer expires.
    timeout: Option<u64>,
    /// The starts of retransmissions that were lost again, in the order of sending.
    lost_again: Vec<u64>,
    /// When congestion control last learned of a loss.
    told_at: u64,
    end_seq: Option<u64>,
    is_retrans: bool,
    probe_due: bool,
    /// The number of RTT samples at the last probe.
    samples: u64,
    /// The last time that new data was acknowledged.
    progress: u64,
    /// From when the PTO counted that expired last, or when its probe was sent.
    expired: Option<u64>,
}

impl RackTlp {
    fn new(prr: Option<Prr>) -> Self {
        Self { prr, reo_wnd_mult: 1, reo_wnd_persist: REO_WND_PERSIST, ..Self::default() }
    }

    pub fn on_ack(&mut self, sender: &mut Sender, heard: &Heard) {
        let phase = sender.phase;
        if heard.acked > 0 {
            (sender.duplicates, sender.limited) = (0, 0);
            match phase {
                Phase::FastRecovery { point } | Phase::AfterTimeout { point } if sender.una >= point => {
                    sender.phase = Phase::Open;
                }
                _ => {}
            }
        } else if heard.duplicate {
            sender.duplicates += 1;
        }
        let dsack_of_probe =
            self.is_retrans && self.end_seq.is_some_and(|end| heard.dsack.is_some_and(|(_, dsack)| dsack == end));
        let repaired = self.tlp_process_ack(sender, heard, dsack_of_probe);
        self.rack_update(sender, heard);
        if let Some(prr) = &mut self.prr
            && heard.acked > 0
        {
            prr.advances();
        }
        let exits = phase != Phase::Open && sender.phase == Phase::Open;
        self.update_reo_wnd(sender, heard.dsack.is_some() && !dsack_of_probe, exits);
        let entered = self.detect_and_follow(sender, heard.now);
        // RFC 5681: outside of fast recovery the window grows, but not on the ACK that begins or
        // ends fast recovery.
        let was_open = !matches!(phase, Phase::FastRecovery { .. });
        if repaired && !entered && (was_open || !exits) {
            // Section 7.4.2: congestion control reacts as to a fast recovery.
            let flight = sender.count(sender.outstanding());
            sender.congest.loss(Cause::FastRetransmit, flight, sender.congest.cwnd, false, &ALWAYS);
        } else if heard.acked > 0 && was_open && !entered {
            sender.congest.ack(heard.acked, heard.flight, &ALWAYS);
        }
    }

    /// Section 6.2, step 1.
    fn update_min_rtt(&mut self, sender: &Sender, now: u64) {
        const PERIOD: u64 = 150_000_000_000;
        let Some(turn) = sender.turn else { return };
        self.periods = Some(match self.periods {
            None => (now, sender.shortest.map_or(turn, |shortest| shortest.min(turn)), None),
            Some((began, this, last)) if now - began < PERIOD => (began, this.min(turn), last),
            Some((began, this, _)) if now - began < 2 * PERIOD => (now, turn, Some(this)),
            Some(_) => (now, turn, None),
        });
    }

    fn min_rtt(&self, sender: &Sender) -> Option<u64> {
        self.periods.map_or(sender.shortest, |(_, this, last)| Some(last.map_or(this, |last| this.min(last))))
    }

    /// Section 6.2, steps 1 to 3.
    fn rack_update(&mut self, sender: &Sender, heard: &Heard) {
        self.update_min_rtt(sender, heard.now);
        let min_rtt = self.min_rtt(sender).unwrap_or(0);
        let passes = |one: &&Segment| {
            let rtt = heard.now - one.last_sent;
            // Half a round trip for the granularity of the peer's clock.
            let echo_is_older = heard.echoed_at.is_some_and(|at| heard.now - at > rtt + min_rtt / 2);
            one.copies == 0 || !echo_is_older && rtt >= min_rtt
        };
        // Among the retransmitted segments, the one sent last is checked.
        let latest = |again: bool| {
            let of = heard.delivered.iter().filter(|one| (one.copies > 0) == again);
            of.max_by_key(|one| (one.last_sent, one.end)).filter(passes)
        };
        let best = latest(false).into_iter().chain(latest(true)).max_by_key(|one| (one.last_sent, one.end));
        if let Some(one) = best {
            self.rtt = heard.now - one.last_sent;
            if self.segment.is_none_or(|segment| (one.last_sent, one.end) > segment) {
                self.segment = Some((one.last_sent, one.end));
            }
        }
        if heard.delivered.iter().any(|one| one.copies == 0 && one.end < self.fack) {
            self.reordering_seen = true;
        }
        self.fack = self.fack.max(sender.una).max(heard.reported.unwrap_or(0));
    }

    /// Updates the reordering window's multiplier (step 4).
    fn update_reo_wnd(&mut self, sender: &Sender, dsack: bool, exits: bool) {
        if self.dsack_round.is_some_and(|round| sender.una >= round) {
            self.dsack_round = None;
        }
        if self.dsack_round.is_none() && dsack {
            self.dsack_round = Some(sender.nxt);
            self.reo_wnd_mult += 1;
            self.reo_wnd_persist = REO_WND_PERSIST;
        } else if exits {
            self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
            if self.reo_wnd_persist == 0 {
                self.reo_wnd_mult = 1;
            }
        }
    }

    /// Returns the reordering window (step 4).
    fn reo_wnd(&self, sender: &Sender) -> u64 {
        if !self.reordering_seen {
            let sacked: u64 = sender.segments.iter().filter(|one| one.sacked).map(Segment::len).sum();
            if sender.phase != Phase::Open || sacked > (DUP_THRESH - 1) * MSS {
                return 0;
            }
        }
        let Some(min_rtt) = self.min_rtt(sender) else { return 0 };
        let window = self.reo_wnd_mult * min_rtt / 4;
        sender.timer.srtt.map_or(window, |srtt| window.min(srtt as u64))
    }

    /// Finds lost segments (step 5). Returns whether fast recovery has begun.
    fn detect_and_follow(&mut self, sender: &mut Sender, now: u64) -> bool {
        self.timeout = None;
        self.lost_again.retain(|&start| sender.segments.iter().any(|one| one.start == start && !one.sacked));
        let (mut found, mut again, mut below) = (false, None, 0);
        if let Some(segment) = self.segment {
            let wait = self.rtt + self.reo_wnd(sender);
            let mut again_waits = false;
            let mut waits = false;
            for index in self.by_xmit_ts(sender) {
                let one = sender.segments[index];
                let lost_now = one.lost && !one.resent || self.lost_again.contains(&one.start);
                if one.sacked || lost_now || (one.last_sent, one.end) >= segment {
                    continue;
                }
                let first_time = !one.lost;
                if one.last_sent + wait > now {
                    // The timer waits for the first retransmission that is not overdue.
                    if first_time || !again_waits {
                        self.timeout = self.timeout.max(Some(one.last_sent + wait));
                    }
                    if first_time { waits = true } else { again_waits = true }
                } else if first_time && !waits {
                    (found, below) = (true, one.end);
                } else if !first_time && !again_waits {
                    self.lost_again.push(one.start);
                    (found, again) = (true, Some(one.last_sent));
                }
            }
        }
        self.follow(sender, now, (found, again, below))
    }

    fn by_xmit_ts(&self, sender: &Sender) -> Vec<usize> {
        let mut order: Vec<usize> = (0..sender.segments.len()).collect();
        order.sort_by_key(|&index| (sender.segments[index].last_sent, sender.segments[index].end));
        order
    }

    fn follow(&mut self, sender: &mut Sender, now: u64, (found, again, below): (bool, Option<u64>, u64)) -> bool {
        let repairing = |sender: &Sender| matches!(sender.phase, Phase::FastRecovery { .. });
        // Section 9.3, unless PRR handles it.
        if repairing(sender) && self.prr.is_none() && again.is_some_and(|sent| sent >= self.told_at) {
            self.told_at = now;
            let flight = sender.outstanding().min(sender.congest.cwnd);
            sender.congest.loss(Cause::FastRetransmit, flight, sender.congest.cwnd, false, &ALWAYS);
        }
        let known = sender.phase == Phase::Open && sender.segments.first().is_some_and(|first| first.lost);
        let entered = (found || known) && sender.una >= sender.recover && !repairing(sender);
        if entered {
            self.end_seq = None;
            self.told_at = now;
            self.enter(sender, now);
        }
        if repairing(sender) {
            for one in sender.segments.iter_mut().take_while(|one| one.start < below) {
                one.lost = true;
            }
            let inflight = self.pipe(sender);
            if let Some(prr) = &mut self.prr {
                prr.update(sender, inflight, found);
            }
        }
        entered
    }

    fn enter(&mut self, sender: &mut Sender, now: u64) {
        sender.phase = Phase::FastRecovery { point: sender.nxt };
        (sender.recover, sender.cut_until) = (sender.nxt, sender.nxt);
        // A loss above the last recovery point was already retransmitted.
        sender.owed = !sender.segments[0].resent;
        let flight = sender.begin_loss(sender.outstanding() - sender.limited);
        sender.congest.loss(Cause::FastRetransmit, flight, sender.congest.cwnd, false, &ALWAYS);
        if let Some(prr) = &mut self.prr {
            prr.begin(sender);
        }
        sender.start_timer(now);
    }

    /// Returns pipe without retransmissions that were lost again.
    fn pipe(&self, sender: &Sender) -> u64 {
        let again = sender.segments.iter().filter(|one| self.lost_again.contains(&one.start));
        sender.pipe() - again.map(Segment::len).sum::<u64>()
    }

    /// Section 7.4.2. Returns whether the probe has repaired a loss.
    fn tlp_process_ack(&mut self, sender: &Sender, heard: &Heard, dsack_of_probe: bool) -> bool {
        if heard.acked > 0 {
            self.progress = heard.now;
            self.probe_due = false;
        }
        let Some(end_seq) = self.end_seq.filter(|&end| sender.una >= end) else { return false };
        if !self.is_retrans || dsack_of_probe {
            self.end_seq = None;
        } else if sender.una > end_seq {
            self.end_seq = None;
            return true;
        } else if heard.acked == 0 && heard.reported.is_none() && heard.dsack.is_none() {
            self.end_seq = None;
        }
        false
    }

    /// Returns when the recovery's own timer expires: the reordering timer, or the PTO of sections
    /// 7.2 and 7.3.
    pub fn alarm(&self, sender: &Sender) -> Option<u64> {
        if self.timeout.is_some() {
            return self.timeout;
        }
        let newest = sender.segments.last()?;
        let sacked = sender.segments.iter().any(|one| one.sacked);
        let begins = newest.last_sent.max(self.progress);
        if sender.phase != Phase::Open || sacked || self.probe_due || self.expired == Some(begins) {
            return None;
        }
        let pto = match sender.timer.srtt {
            Some(srtt) if sender.segments.len() == 1 => 2 * srtt as u64 + MAX_ACK_DELAY,
            Some(srtt) => 2 * srtt as u64,
            None => 1_000_000_000,
        };
        Some(begins + pto)
    }

    /// Handles the expiry of a timer. Returns whether it was the recovery's own timer, and not the
    /// retransmission timer.
    pub fn ring(&mut self, sender: &mut Sender, now: u64) -> bool {
        let Some(alarm) = self.alarm(sender) else { return false };
        let rto = sender.deadline.unwrap_or(u64::MAX);
        if self.timeout.is_some() {
            if alarm > now || rto <= alarm {
                return false;
            }
            if let Some(prr) = &mut self.prr {
                prr.heard(0);
            }
            self.detect_and_follow(sender, now);
            return true;
        }
        // TLP_calc_PTO: the probe replaces the timeout, if the timeout comes first.
        self.expired = sender.segments.last().map(|newest| newest.last_sent.max(self.progress));
        // Section 7.3: with a probe in flight or without a new sample, the probe is skipped.
        if self.end_seq.is_none() && sender.samples > self.samples {
            // It is sent at once, and begins no PTO.
            (self.probe_due, self.samples, self.expired) = (true, sender.samples, Some(now));
        }
        sender.start_timer(now);
        true
    }

    /// Returns the next transmission, if it differs from any sender's outside of fast recovery.
    pub fn next_by_time(&self, sender: &Sender) -> Option<Next> {
        if self.probe_due {
            // Section 7.3: new data, or the highest segment.
            let highest = sender.segments.len() - 1;
            return Some(if sender.end > sender.nxt { Next::New(MSS) } else { Next::Once(highest, u64::MAX) });
        }
        let repairing = matches!(sender.phase, Phase::FastRecovery { .. });
        if !repairing && self.lost_again.is_empty() {
            return None;
        }
        let cwnd = self.prr.as_ref().filter(|_| repairing).map_or(sender.congest.cwnd, |prr| prr.cwnd);
        let room = cwnd.saturating_sub(self.pipe(sender));
        if repairing && sender.owed {
            return Some(Next::Owed(0));
        }
        let again = self.lost_again.first();
        if let Some(index) = again.and_then(|&start| sender.segments.iter().position(|one| one.start == start)) {
            return Some(Next::Once(index, room));
        }
        let lost = sender.segments.iter().position(|one| one.lost && !one.resent && !one.sacked);
        Some(lost.map_or(Next::New(room), |index| Next::Again(index, room)))
    }
}

impl Repair for RackTlp {
    fn by_time(&mut self) -> Option<&mut RackTlp> {
        Some(self)
    }

    fn fresh(&mut self) {
        *self = Self::new(self.prr.as_ref().map(|_| Prr::default()));
    }

    fn heard(&mut self, _: &Sender, delivered: u64) {
        if let Some(prr) = &mut self.prr {
            prr.heard(delivered);
        }
    }

    fn sent(&mut self, left: &Left) {
        if let Some(prr) = &mut self.prr {
            prr.sent(left.end - left.start);
        }
        if self.probe_due {
            (self.probe_due, self.end_seq, self.is_retrans) = (false, Some(left.end), left.again);
        } else if left.again {
            self.lost_again.retain(|&start| start != left.start);
        }
    }

    /// Section 7.1, and everything is deemed lost.
    fn expired(&mut self) {
        (self.timeout, self.end_seq, self.probe_due) = (None, None, false);
        self.lost_again.clear();
    }

    fn begin(&mut self, _: &mut Sender) {}

    fn partial(&mut self, _: &mut Sender, _: u64) -> bool {
        true
    }

    fn next(&self, _: &Sender, _: u64) -> Next {
        Next::New(0)
    }
}

#[test]
fn rack_tlp_agrees_with_a_model_of_rfc_8985() {
    compare_with(&Choice::named("rack-tlp"), true, &mut RackTlp::new(None), &Sender::new);
    let choice = Choice::named("rack-tlp").with("reduction", Value::Word("prr".into()));
    compare_with(&choice, true, &mut RackTlp::new(Some(Prr::default())), &Sender::new);
}
