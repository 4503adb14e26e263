//! Compares RACK-TLP over the ledger with RFC 8985's pseudocode over a list of chunks.

use super::super::Size;
use super::super::ledger::PathNews;
use super::*;
use crate::fact::{Block, Covered};
use crate::registry::Value;
use crate::rtt::RoundTrips;
use proptest::prelude::*;

const PATH: PathId = PathId(0);
const SIZE: Size = Size { data: 84, wire: 100 };
/// Nanoseconds of a millisecond. All times here are in nanoseconds.
const MS: u64 = 1_000_000;
const MIN_RTT: u64 = 100 * MS;
const SRTT: u64 = 120 * MS;
const DUP_THRESH: u32 = 3;
const MAX_ACK_DELAY: u64 = 200 * MS;

fn length(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

/// A chunk as section 5.2 of the RFC describes a segment.
#[derive(Clone, Copy, Debug)]
struct Segment {
    xmit_ts: u64,
    retransmitted: bool,
    lost: bool,
    sacked: bool,
    opens_packet: bool,
}

/// The variables of section 5.3, and all chunks that are not acknowledged in order.
#[derive(Debug)]
struct Naive {
    una: u64,
    segments: Vec<Segment>,
    xmit: Option<(u64, u64)>,
    rtt: u64,
    min_rtt: u64,
    fack: u64,
    reordering_seen: bool,
    reo_wnd_mult: u64,
    reo_wnd_persist: u32,
    dsack_round: Option<u64>,
    timeout: Option<u64>,
    /// Fast recovery or RTO recovery ends here.
    recovery: Option<u64>,
    /// The first position beyond the highest chunk that was ever deemed lost. A loss above a
    /// recovery's end begins the next one.
    lost_below: u64,
    end_seq: Option<u64>,
    is_retrans: bool,
    progress: u64,
    pto_expired: Option<u64>,
}

impl Naive {
    fn nxt(&self) -> u64 {
        self.una + self.segments.len() as u64
    }

    fn reo_wnd(&self) -> u64 {
        let reported = self.segments.iter().filter(|one| one.sacked && one.opens_packet).count();
        if !self.reordering_seen && (self.recovery.is_some() || reported >= DUP_THRESH as usize) {
            return 0;
        }
        (self.reo_wnd_mult * self.min_rtt / 4).min(SRTT)
    }

    /// Section 6.2, steps 1 to 4, and TLP_process_ack. Returns whether the probe repaired a loss.
    fn on_sack(&mut self, now: u64, sack: &Sack<'_>) -> bool {
        let exits = self.recovery.take_if(|point| sack.cumulative >= *point).is_some();
        let probes = |block: &Block| self.is_retrans && self.end_seq == Some(block.end);
        let of_probe = sack.duplicates.iter().any(probes);
        let una = self.una;
        let reports = |position: u64| {
            position < sack.cumulative || sack.blocks.iter().any(|block| (block.start..block.end).contains(&position))
        };
        let covered = |(index, one): (usize, &Segment)| (una + index as u64, *one);
        let all: Vec<(u64, Segment)> = self.segments.iter().enumerate().map(covered).collect();
        let passed = all.iter().rfind(|(position, _)| *position < sack.cumulative);
        if passed.is_some() {
            self.progress = now;
        }
        if let Some((_, one)) = passed.filter(|(_, one)| !one.retransmitted) {
            self.min_rtt = self.min_rtt.min(now - one.xmit_ts);
        }
        let news: Vec<_> = all.iter().filter(|(position, one)| !one.sacked && reports(*position)).collect();
        let key = |one: &(u64, Segment)| (one.1.xmit_ts, one.0 + 1);
        let latest = |again: bool| news.iter().filter(|one| one.1.retransmitted == again).map(|one| key(one)).max();
        // Of the retransmitted chunks only the one sent last is tested, as in a connection.
        let again = latest(true).filter(|(sent, _)| now - sent >= self.min_rtt);
        if let Some(best) = latest(false).max(again) {
            self.rtt = now - best.0;
            self.xmit = self.xmit.max(Some(best));
        }
        self.reordering_seen |= news.iter().any(|(position, one)| !one.retransmitted && position + 1 < self.fack);
        self.fack = news.iter().map(|(position, _)| position + 1).max().unwrap_or(0).max(self.fack);
        for (index, one) in self.segments.iter_mut().enumerate() {
            one.sacked |= reports(una + index as u64);
            one.lost &= !one.sacked;
        }
        self.segments.drain(..(sack.cumulative - una) as usize);
        self.una = sack.cumulative;
        let dsack = !sack.duplicates.is_empty() && !of_probe;
        if self.dsack_round.is_some_and(|round| self.una >= round) {
            self.dsack_round = None;
        }
        if dsack && self.dsack_round.is_none() {
            self.dsack_round = Some(self.nxt());
            self.reo_wnd_mult += 1;
            self.reo_wnd_persist = 16;
        } else if exits {
            self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
            if self.reo_wnd_persist == 0 {
                self.reo_wnd_mult = 1;
            }
        }
        let Some(end_seq) = self.end_seq.filter(|end| self.una >= *end) else { return false };
        if !self.is_retrans || of_probe {
            self.end_seq = None;
        } else if self.una > end_seq {
            self.end_seq = None;
            return true;
        }
        false
    }

    /// RACK_detect_loss.
    fn detect(&mut self, now: u64) {
        self.timeout = None;
        let Some(rack) = self.xmit else { return };
        let wait = self.rtt + self.reo_wnd();
        for (index, one) in self.segments.iter_mut().enumerate() {
            let end = self.una + index as u64 + 1;
            if one.sacked || one.lost || rack <= (one.xmit_ts, end) {
                continue;
            }
            if one.xmit_ts + wait <= now {
                one.lost = true;
                self.lost_below = self.lost_below.max(end);
            } else {
                self.timeout = self.timeout.max(Some(one.xmit_ts + wait));
            }
        }
        if self.lost_below > self.una && self.recovery.is_none() {
            self.recovery = Some(self.nxt());
            self.end_seq = None;
        }
    }

    /// RACK_mark_losses_on_RTO, and section 7.1.
    fn on_timeout(&mut self, now: u64) {
        self.recovery = Some(self.nxt());
        (self.timeout, self.end_seq) = (None, None);
        let wait = self.rtt + self.reo_wnd();
        let mut first = true;
        for one in self.segments.iter_mut().filter(|one| !one.sacked && !one.lost) {
            one.lost = std::mem::take(&mut first) || one.xmit_ts + wait <= now;
        }
    }

    /// TLP_calc_PTO, without the bound by the RTO.
    fn probe_at(&self) -> Option<u64> {
        let under_way: Vec<_> = self.segments.iter().filter(|one| !one.lost && !one.sacked).collect();
        let begins = under_way.last()?.xmit_ts.max(self.progress);
        let sacked = self.segments.iter().any(|one| one.sacked);
        if self.recovery.is_some() || sacked || self.pto_expired == Some(begins) {
            return None;
        }
        let alone = under_way.iter().skip(1).all(|one| !one.opens_packet);
        Some(begins + 2 * SRTT + if alone { MAX_ACK_DELAY } else { 0 })
    }

    fn lost(&self) -> Vec<u64> {
        let lost = self.segments.iter().enumerate().filter(|(_, one)| one.lost);
        lost.map(|(index, _)| self.una + index as u64).collect()
    }
}

/// An event. Shares of the outstanding chunks are in 255ths.
#[derive(Clone, Debug)]
enum Step {
    Wait(u64),
    /// A packet of new chunks.
    New(u8),
    Sack {
        advance: u8,
        blocks: Vec<(u8, u8)>,
        duplicate: Option<u8>,
    },
    /// Retransmits this number of lost chunks, the lowest first.
    Resend(u8),
    /// Waits for the timer in place of T3-rtx, unless there is none.
    Alarm,
    Timeout,
}

fn step() -> impl Strategy<Value = Step> {
    let blocks = prop::collection::vec((any::<u8>(), any::<u8>()), 0..3);
    prop_oneof![
        3 => (0..80u64).prop_map(Step::Wait),
        6 => (1..4u8).prop_map(Step::New),
        8 => (prop_oneof![2 => Just(0), 1 => 0..120u8], blocks, prop::option::weighted(0.15, any::<u8>()))
            .prop_map(|(advance, blocks, duplicate)| Step::Sack { advance, blocks, duplicate }),
        4 => (1..5u8).prop_map(Step::Resend),
        3 => Just(Step::Alarm),
        1 => Just(Step::Timeout),
    ]
}

/// Both, side by side.
struct Pair {
    now: u64,
    ledger: Ledger,
    by_time: Box<RackTlp>,
    naive: Naive,
    /// Round-trip samples, which allow one probe each.
    samples: u64,
}

impl Pair {
    fn new() -> Self {
        let choice = Choice::named(RACK_TLP).with("max_ack_delay_ms", Value::Duration(length(MAX_ACK_DELAY)));
        let mut ledger = Ledger::new(3, true);
        ledger.add_path();
        let naive = Naive {
            una: 0,
            segments: Vec::new(),
            xmit: None,
            rtt: 0,
            min_rtt: MIN_RTT,
            fack: 0,
            reordering_seen: false,
            reo_wnd_mult: 1,
            reo_wnd_persist: 16,
            dsack_round: None,
            timeout: None,
            recovery: None,
            lost_below: 0,
            end_seq: None,
            is_retrans: false,
            progress: 0,
            pto_expired: None,
        };
        let by_time = RackTlp::chosen(&choice).expect("the registry's own").expect("it is named");
        Self { now: 1000 * MS, ledger, by_time, naive, samples: 0 }
    }

    fn view(&self) -> View {
        let mut round_trips = RoundTrips::new(true);
        round_trips.on_unambiguous(Some(length(MIN_RTT)));
        (0..self.samples).for_each(|_| round_trips.on_sample(length(SRTT)));
        round_trips.on_smoothed(Some(length(SRTT)));
        let (una, nxt) = (self.ledger.una(), self.ledger.nxt());
        View { now: at(self.now), una, nxt, mss: 1000, sack: true, round_trips }
    }

    /// Marks what was found, and begins recovery.
    fn detect(&mut self) {
        let view = self.view();
        let found = self.by_time.detect(&self.ledger, PATH, &view);
        for &position in &found.lost {
            self.ledger.mark_one(position, Cause::FastRetransmit);
        }
        if self.by_time.lost_below > view.una && self.by_time.phase == Phase::Open {
            self.by_time.phase = Phase::FastRecovery { point: view.nxt };
            self.by_time.tlp.forget();
        }
        self.naive.detect(self.now);
    }

    fn sack(&mut self, cumulative: u64, blocks: &[Block], duplicates: &[Block]) {
        let sack = Sack { cumulative, blocks, duplicates, echo: None, echo_of: None, mark: None };
        let mut news = [PathNews::default()];
        let taken = self.ledger.on_sack(cumulative, blocks, &mut news);
        let acked = Acked {
            cumulative,
            bytes: news[0].passed,
            sacked: news[0].sacked,
            highest: news[0].highest,
            sacked_up_to: taken.reported_up_to,
            sacks: blocks,
            dsacks: duplicates,
            ..Acked::default()
        };
        assert!(!taken.reneged, "no report is withdrawn");
        let needless = !duplicates.is_empty() && !self.by_time.tlp.is_answered_by_dsack(&acked);
        let (delivery, view) = (self.ledger.delivery(PATH), self.view());
        let repaired = self.by_time.on_sack(&acked, &delivery, needless, &view);
        assert_eq!(repaired, self.naive.on_sack(self.now, &sack));
        self.detect();
        self.samples += 1;
    }

    fn take(&mut self, step: &Step) {
        let (una, nxt) = (self.ledger.una(), self.ledger.nxt());
        let place = |share: u8| una + (nxt - una) * u64::from(share) / 256;
        match step {
            Step::Wait(millis) => self.now += millis * MS,
            Step::New(chunks) => {
                for number in 0..*chunks {
                    self.ledger.on_new(at(self.now), PATH, SIZE, None);
                    let segment = Segment {
                        xmit_ts: self.now,
                        retransmitted: false,
                        lost: false,
                        sacked: false,
                        opens_packet: number == 0,
                    };
                    self.naive.segments.push(segment);
                }
                self.ledger.end_packet();
            }
            Step::Sack { advance, blocks, duplicate } => {
                let cumulative = place(*advance);
                // Reports are kept, as an honest receiver does.
                let sacked = (cumulative..nxt).filter(|position| {
                    let known = self.naive.segments[(position - una) as usize].sacked;
                    let chosen = |&(a, b): &(u8, u8)| (place(a.min(b))..=place(a.max(b))).contains(position);
                    known || *position > cumulative && blocks.iter().any(chosen)
                });
                let sacked: Vec<u64> = sacked.collect();
                let cumulative = (cumulative..).find(|position| !sacked.contains(position)).unwrap_or(cumulative);
                let ranges = sacked.iter().filter(|position| **position > cumulative).copied().collect::<Vec<_>>();
                let ranges = ranges.chunk_by(|a, b| a + 1 == *b);
                let blocks: Vec<_> = ranges.map(|one| Block { start: one[0], end: one[one.len() - 1] + 1 }).collect();
                let duplicate = duplicate.map(|share| u64::from(share) * nxt / 256);
                let duplicates: Vec<_> = duplicate.map(|start| Block { start, end: start + 1 }).into_iter().collect();
                self.sack(cumulative, &blocks, if nxt > 0 { &duplicates } else { &[] });
            }
            Step::Resend(most) => {
                for _ in 0..*most {
                    let Some(position) = self.ledger.marked_from(0) else { break };
                    self.ledger.on_retransmission(at(self.now), position, PATH);
                    self.by_time.resent.on_retransmission(at(self.now), position);
                    let one = &mut self.naive.segments[(position - una) as usize];
                    (one.xmit_ts, one.retransmitted, one.lost) = (self.now, true, false);
                }
            }
            Step::Alarm => self.alarm(),
            Step::Timeout => {
                if self.ledger.oldest(PATH).is_some() {
                    for position in self.by_time.on_timeout(&self.ledger, PATH, &self.view()) {
                        self.ledger.mark_one(position, Cause::Timeout);
                    }
                    self.naive.on_timeout(self.now);
                }
            }
        }
    }

    fn alarm(&mut self) {
        match self.by_time.alarm(&self.ledger, PATH, &self.view(), true) {
            Alarm::None => {}
            Alarm::Reordering(due) => {
                self.now = self.now.max(due.as_nanos());
                self.detect();
            }
            Alarm::Probe(due) => {
                self.now = self.now.max(due.as_nanos());
                self.by_time.tlp.on_alarm(self.ledger.tail(PATH), &self.view());
                let begins = self.naive.segments.iter().rfind(|one| !one.lost && !one.sacked).map(|one| one.xmit_ts);
                self.naive.pto_expired = begins.max(Some(self.naive.progress));
                if self.by_time.tlp.is_due() {
                    assert_eq!(self.naive.end_seq, None, "one probe at a time");
                    let position = self.ledger.newest(PATH).expect("something is under way");
                    assert_eq!(position + 1, self.ledger.nxt(), "the highest chunk of all");
                    self.ledger.on_probe(at(self.now), position);
                    self.by_time.resent.on_retransmission(at(self.now), position);
                    self.by_time.tlp.on_sent(at(self.now), position + 1, true);
                    let one = self.naive.segments.last_mut().expect("something is under way");
                    (one.xmit_ts, one.retransmitted) = (self.now, true);
                    (self.naive.end_seq, self.naive.is_retrans) = (Some(position + 1), true);
                    self.naive.pto_expired = Some(self.now);
                }
            }
        }
    }

    fn compare(&self) {
        let marked: Vec<u64> = self.ledger.marked().collect();
        assert_eq!(marked, self.naive.lost());
        let alarm = match (self.naive.timeout, self.naive.probe_at()) {
            (Some(due), _) => Alarm::Reordering(at(due)),
            (None, Some(due)) => Alarm::Probe(at(due)),
            (None, None) => Alarm::None,
        };
        assert_eq!(self.by_time.alarm(&self.ledger, PATH, &self.view(), true), alarm);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_the_pseudocode_of_rfc_8985(steps in prop::collection::vec(step(), 1..80)) {
        let mut pair = Pair::new();
        for step in &steps {
            pair.take(step);
            pair.compare();
        }
    }
}

/// A lost retransmission is found without a walk over those that are under way before it.
#[test]
fn a_sack_costs_the_same_in_a_long_recovery() {
    let mut costs = Vec::new();
    for chunks in [100, 1000] {
        let mut pair = Pair::new();
        for _ in 0..chunks {
            pair.take(&Step::New(1));
        }
        pair.now += 200 * MS;
        // All but the last are lost, and leave again one by one.
        let nxt = pair.ledger.nxt();
        pair.sack(0, &[Block { start: nxt - 1, end: nxt }], &[]);
        pair.take(&Step::Alarm);
        assert_eq!(pair.naive.lost().len() as u64, nxt - 1);
        for _ in 0..chunks {
            pair.now += MS;
            pair.take(&Step::Resend(1));
        }
        pair.now += 200 * MS;
        pair.sack(1, &[Block { start: nxt - 1, end: nxt }], &[]);
        let before = pair.ledger.lookups();
        pair.now += MS;
        let (mut news, blocks) = ([PathNews::default()], [Block { start: nxt - 1, end: nxt }]);
        pair.ledger.on_sack(2, &blocks, &mut news);
        pair.by_time.detect(&pair.ledger, PATH, &pair.view());
        costs.push(pair.ledger.lookups() - before);
    }
    assert!(costs[1] <= costs[0] + 2, "{costs:?}");
}

/// A duplicate TSN widens the window to two quarters of 100 ms. RACK.rtt is 100 ms.
#[test]
fn sixteen_recoveries_without_a_duplicate_reset_the_window() {
    let mut pair = Pair::new();
    let mut waits = Vec::new();
    for recovery in 0..=16 {
        pair.take(&Step::New(1));
        let nxt = pair.ledger.nxt();
        if recovery > 0 {
            pair.by_time.phase = Phase::FastRecovery { point: nxt };
            pair.naive.recovery = Some(nxt);
        }
        pair.now += 100 * MS;
        pair.sack(nxt, &[], if recovery == 0 { &[Block { start: 0, end: 1 }] } else { &[] });
        pair.compare();
        waits.push(pair.by_time.wait(&pair.ledger, PATH, &pair.view()).as_nanos() / MS);
    }
    assert_eq!(waits, [[150; 16].as_slice(), &[125]].concat());
}

#[test]
fn a_delivery_is_the_chunk_of_its_path() {
    let mut ledger = Ledger::new(3, true);
    (0..2).for_each(|_| ledger.add_path());
    for (millis, path) in [(1, 0), (2, 1), (3, 0)] {
        ledger.on_new(at(millis), PathId(path), SIZE, None);
        ledger.end_packet();
    }
    let mut news = [PathNews::default(); 2];
    ledger.on_sack(0, &[Block { start: 1, end: 3 }], &mut news);
    let found = [0, 1].map(|path| ledger.delivery(PathId(path)));
    let original = |end, millis| Some(Covered { end, copies: 0, last_sent: at(millis) });
    assert_eq!(found.map(|one| one.delivered.original), [original(3, 3), original(2, 2)]);
    assert_eq!(found.map(|one| one.highest), [3, 2]);
    assert_eq!([0, 1].map(|path| ledger.reported_packets(PathId(path))), [1, 1]);
}
