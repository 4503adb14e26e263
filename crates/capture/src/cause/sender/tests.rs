//! Compares the model with a naive one. The naive one stores every position separately, handles
//! every ACK in full, and checks with every segment for received ACKs.

use std::collections::BTreeSet;

use super::*;
use crate::order::RoundTrip;
use eifel_packet::seq::Seq;
use proptest::prelude::*;

const MS: u64 = 1_000_000;
const TRIP: u64 = 160 * MS;

#[derive(Clone, Debug)]
enum Step {
    /// New data of this length leave.
    New {
        after: u64,
        len: u32,
        echo: Option<u32>,
    },
    /// Data leave again that start this far below the end.
    Again {
        after: u64,
        back: u64,
        len: u64,
        echo: Option<u32>,
    },
    Ack {
        after: u64,
        ahead: u64,
        blocks: Vec<(u64, u64)>,
        dsack: bool,
        plain: bool,
        stamp: Option<u32>,
    },
}

/// The state that an ACK changes.
struct Naive {
    models: Models,
    suspected: SuspectedLosses,
    silence: Silence,
    una: u64,
    nxt: u64,
    sacked: BTreeSet<u64>,
    retransmitted: BTreeSet<u64>,
    duplicates: u32,
    last_ack: u64,
    last_sent: u64,
    timer_since: u64,
    echo: Option<Timestamp>,
    follows_another: bool,
    suspected_lost: bool,
    waiting: Vec<Acknowledgement>,
    /// The segments in the order in which they first left, with SACK only.
    segments: Vec<Segment>,
    /// Of the delivered transmissions: when the newest left and where it ends, the round trip of the
    /// last one, the shortest round trip, and when the last one arrived.
    newest: (u64, u64),
    round_trip: u64,
    shortest: Option<u64>,
    advanced: u64,
}

struct Segment {
    block: Block,
    left: u64,
    stamp: Option<Timestamp>,
    repeated: bool,
    delivered: bool,
}

impl Naive {
    fn receive_until(&mut self, now: u64, echo: Option<Timestamp>, sack: bool) {
        while let Some(first) = self.waiting.first().copied() {
            let due = first.when.nanos + TRIP;
            let ack = match (echo, first.stamp) {
                (Some(echo), Some(stamp)) => echo.0 >= stamp.0,
                _ => due - TRIP / 16 <= now,
            };
            if !ack {
                return;
            }
            self.waiting.remove(0);
            let una = self.una;
            self.on_ack(&first, due, sack);
            // The last segment left before this ACK arrived, if echoes tell.
            let soonest = if echo.is_some() && first.stamp.is_some() { self.last_sent } else { 0 };
            self.last_ack = self.last_ack.max(soonest).min(now);
            if self.una != una {
                self.timer_since = self.timer_since.max(soonest).min(now);
            }
        }
    }

    fn on_ack(&mut self, ack: &Acknowledgement, due: u64, sack: bool) {
        self.suspected.on_ack(ack, self.nxt, sack, self.sacked.last().map(|last| last + 1));
        let by_sack =
            ack.reports.sacks().iter().filter(|block| block.start > self.una).flat_map(|block| block.start..block.end);
        let by_sack: BTreeSet<u64> = by_sack.filter(|position| !self.sacked.contains(position)).collect();
        let mut covered = by_sack.clone();
        covered.extend((self.una..ack.cumulative).filter(|position| !self.sacked.contains(position)));
        let lowest = covered.iter().find(|position| !self.retransmitted.contains(position)).copied();
        let advances = ack.cumulative > self.una;
        let repeats = ack.cumulative == self.una;
        let duplicate = repeats && (ack.plain || !by_sack.is_empty());
        if sack {
            self.deliver(&covered.difference(&by_sack).copied().collect(), due, ack.echo);
            let mut rest = by_sack.clone();
            for block in ack.reports.sacks() {
                let (mine, others) = rest.iter().partition(|at| (block.start..block.end).contains(*at));
                rest = others;
                self.deliver(&mine, due, None);
            }
        }
        self.sacked.extend(&by_sack);
        if advances {
            self.una = ack.cumulative;
            self.segments.retain(|one| one.block.end > ack.cumulative);
            self.sacked = self.sacked.split_off(&self.una);
            self.retransmitted = self.retransmitted.split_off(&self.una);
            self.duplicates = 0;
            self.timer_since = due;
        }
        self.duplicates += u32::from(duplicate);
        self.last_ack = due;
        let ack = AckReceived {
            now: due,
            una: self.una,
            nxt: self.nxt,
            advances,
            duplicate: duplicate || sack && !by_sack.is_empty(),
            original_below: lowest,
            echo: ack.echo,
            sacks: ack.reports.sacks,
            dsack: ack.reports.dsack,
            sack,
        };
        self.models.on_ack(&ack);
    }

    /// Splits the segment around `at` in two.
    fn cut(&mut self, at: u64) {
        let place = self.segments.iter().position(|one| one.block.start < at && at < one.block.end);
        if let Some(place) = place {
            let rest =
                Segment { block: Block { start: at, end: self.segments[place].block.end }, ..self.segments[place] };
            self.segments[place].block.end = at;
            self.segments.insert(place + 1, rest);
        }
    }

    /// Marks the segments with a position in `covered` as delivered at `now`.
    fn deliver(&mut self, covered: &BTreeSet<u64>, now: u64, echo: Option<Timestamp>) {
        let is_edge =
            |at: &u64| covered.contains(at) != at.checked_sub(1).is_some_and(|before| covered.contains(&before));
        covered.iter().flat_map(|at| [*at, at + 1]).filter(is_edge).for_each(|at| self.cut(at));
        for one in self.segments.iter_mut().filter(|one| !one.delivered) {
            if covered.range(one.block.start..one.block.end).next().is_none() {
                continue;
            }
            one.delivered = true;
            let took = now.saturating_sub(one.left);
            if one.repeated && matches!((echo, one.stamp), (Some(echo), Some(stamp)) if echo.precedes(stamp)) {
                continue;
            }
            if one.repeated && self.shortest.is_some_and(|shortest| took < shortest) {
                continue;
            }
            if !one.repeated {
                self.shortest = Some(self.shortest.unwrap_or(took).min(took));
            }
            self.newest = self.newest.max((one.left, one.block.end));
            (self.round_trip, self.advanced) = (took, now);
        }
    }

    fn overtaken(&self, position: u64) -> Option<Overtaken> {
        let one = self.segments.iter().find(|one| (one.block.start..one.block.end).contains(&position))?;
        let overtaken = self.newest > (one.left, one.block.end);
        overtaken.then(|| Overtaken { from: one.left + self.round_trip, advanced: self.advanced })
    }

    fn resent(&mut self, now: u64, block: Block, echo: Option<Timestamp>, point: &CapturePoint) -> Retransmitted {
        self.suspected.on_retransmission(block.start, self.nxt);
        self.suspected_lost = self.suspected.covers(block.start) || self.follows_another && self.suspected_lost;
        self.silence.on_sent(now);
        let above = self.sacked.range(block.start..).next().is_some();
        Retransmitted {
            now,
            earliest: self.silence.earliest(now).max(self.last_ack.min(now)),
            ack_place: crate::order::AckPlace::Unknown,
            silence_before: None,
            start: block.start,
            end: block.end,
            una: self.una,
            nxt: self.nxt,
            last_ack: self.last_ack,
            last_sent: self.last_sent,
            timer_set: (self.silence.earliest_before(self.timer_since), self.timer_since),
            estimate: None,
            missing: above || !point.sack && self.duplicates >= 3 && block.start <= self.una,
            suspected_lost: self.suspected_lost,
            in_gap: self.suspected.shows(block.start),
            echo_is_new: echo.zip(self.echo).map(|(echo, before)| echo.0 > before.0),
            duplicates: (!point.sack).then_some(self.duplicates),
            duplicates_passed: self.duplicates + self.waiting.len() as u32,
            segments: 0,
            stamp: Some(Timestamp(now as u32)),
            may_be_unseen: true,
            repeated: self.retransmitted.contains(&block.start),
            reported: self.sacked.contains(&block.start),
            overtaken: self.overtaken(block.start),
            follows_another: self.follows_another,
        }
    }
}

fn positions(ranges: &Ranges) -> BTreeSet<u64> {
    ranges.ascending().flat_map(|block| block.start..block.end).collect()
}

fn compare(model: &SenderModel, naive: &Naive) {
    assert_eq!((model.una, model.nxt, model.duplicates), (naive.una, naive.nxt, naive.duplicates));
    assert_eq!((model.last_ack, model.timer_since), (naive.last_ack, naive.timer_since));
    assert_eq!(
        (model.last_sent, model.follows_another, model.echo),
        (naive.last_sent, naive.follows_another, naive.echo)
    );
    assert_eq!(positions(&model.sacked), naive.sacked);
    assert_eq!(positions(&model.retransmitted), naive.retransmitted);
    assert_eq!(model.waiting.len(), naive.waiting.len());
    assert_eq!(format!("{:?}", model.suspected), format!("{:?}", naive.suspected));
    assert_eq!(format!("{:?}", model.models.stacks), format!("{:?}", naive.models.stacks));
}

fn run(sack: bool, steps: Vec<Step>) {
    let mut model = SenderModel { rack: sack.then(|| Rack::new(None)), ..SenderModel::default() };
    let mut naive = Naive {
        models: Models::default(),
        suspected: SuspectedLosses::default(),
        silence: Silence::default(),
        una: 0,
        nxt: 0,
        sacked: BTreeSet::new(),
        retransmitted: BTreeSet::new(),
        duplicates: 0,
        last_ack: 0,
        last_sent: 0,
        timer_since: 0,
        echo: None,
        follows_another: false,
        suspected_lost: false,
        waiting: Vec::new(),
        segments: Vec::new(),
        newest: (0, 0),
        round_trip: 0,
        shortest: None,
        advanced: 0,
    };
    let mut trip = RoundTrip::default();
    trip.sample(TRIP);
    let stream = Stream::default();
    let mut now = 0;
    for step in steps {
        let (Step::New { after, .. } | Step::Again { after, .. } | Step::Ack { after, .. }) = step;
        now += after * MS;
        let when = When { nanos: now, frame: 1 };
        let point = CapturePoint { when, to_receiver: RoundTrip::default().stored(), to_sender: trip.stored(), sack };
        let data = |len, echo: Option<u32>| Data {
            seq: Seq(0),
            len,
            payload: len,
            syn: false,
            answers: false,
            follows: crate::order::Follows::Unknown,
            stamp: Some(Timestamp(now as u32)),
            identification: 0,
            number: 0,
            numbered: false,
            echo: echo.map(Timestamp),
            left: now,
        };
        match step {
            Step::New { len, echo, .. } => {
                let data = data(len, echo);
                model.on_new(&data);
                naive.receive_until(now, data.echo, sack);
                if naive.una == naive.nxt {
                    naive.timer_since = now;
                }
                if naive.follows_another {
                    let Naive { models, sacked, .. } = &mut naive;
                    models.on_new(|from| (from..).find(|at| !sacked.contains(at)).unwrap_or(from));
                }
                let block = Block { start: naive.nxt, end: naive.nxt + u64::from(len) };
                if sack {
                    naive.segments.push(Segment { block, left: now, stamp: None, repeated: false, delivered: false });
                }
                naive.nxt = block.end;
                naive.silence.on_sent(now);
                (naive.last_sent, naive.follows_another, naive.echo) = (now, false, data.echo);
            }
            Step::Again { back, len, echo, .. } => {
                let start = naive.nxt.saturating_sub(back);
                let block = Block { start, end: (start + len).min(naive.nxt) };
                if block.start == block.end {
                    continue;
                }
                let data = data((block.end - block.start) as u32, echo);
                model.on_retransmission(block, &data, &stream, &point);
                naive.receive_until(now, data.echo, sack);
                let resent = naive.resent(now, block, data.echo, &point);
                naive.models.explain(&resent);
                naive.cut(block.start);
                naive.cut(block.end);
                let again = |one: &&mut Segment| one.block.start < block.end && block.start < one.block.end;
                for one in naive.segments.iter_mut().filter(again) {
                    (one.left, one.stamp, one.repeated) = (now, data.stamp, true);
                }
                naive.retransmitted.extend(block.start..block.end);
                (naive.last_sent, naive.follows_another, naive.echo) = (now, true, data.echo);
            }
            Step::Ack { ahead, blocks, dsack, plain, stamp, .. } => {
                let una = naive.waiting.last().map_or(naive.una, |last| last.cumulative);
                // A late ACK is older than the one before it.
                let cumulative = (una + ahead).saturating_sub(1).min(naive.nxt);
                let dsack = dsack.then_some(Block { start: 0, end: 1 }).filter(|_| sack);
                let mut reports = Reports { dsack, ..Reports::default() };
                for (gap, len) in blocks.iter().filter(|_| sack) {
                    let start = cumulative + gap;
                    let end = (start + len).min(naive.nxt);
                    if start < end {
                        reports.sacks[reports.count] = Block { start, end };
                        reports.count += 1;
                    }
                }
                let ack = Acknowledgement {
                    when,
                    cumulative,
                    advances: cumulative > una,
                    reports,
                    echo: stamp.map(|stamp| Timestamp(stamp * 40)),
                    stamp: stamp.map(Timestamp),
                    plain,
                    answers: plain,
                };
                model.on_ack(&ack, &point);
                naive.waiting.push(ack);
            }
        }
        compare(&model, &naive);
    }
    model.finish();
    naive.receive_until(u64::MAX, None, sack);
    compare(&model, &naive);
}

fn step() -> impl Strategy<Value = Step> {
    let after = prop_oneof![Just(0), 1..20_u64, Just(150), Just(400), Just(1100)];
    let stamp = prop_oneof![1 => Just(None), 3 => (1..12_u32).prop_map(Some)];
    let blocks = prop::collection::vec((1..9_u64, 1..5_u64), 0..4);
    let ahead = prop_oneof![1 => Just(0), 3 => Just(1), 3 => 2..9_u64];
    prop_oneof![
        4 => (after.clone(), 1..6_u32, stamp.clone()).prop_map(|(after, len, echo)| Step::New { after, len, echo }),
        2 => (after.clone(), 1..16_u64, 1..5_u64, stamp.clone())
            .prop_map(|(after, back, len, echo)| Step::Again { after, back, len, echo }),
        5 => (after, ahead, blocks, prop::bool::weighted(0.2), prop::bool::weighted(0.8), stamp)
            .prop_map(|(after, ahead, blocks, dsack, plain, stamp)| Step::Ack { after, ahead, blocks, dsack, plain, stamp }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn the_sender_model_equals_a_naive_one_that_stores_every_position(
        sack in prop::bool::weighted(0.7),
        steps in prop::collection::vec(step(), 1..70),
    ) {
        run(sack, steps);
    }
}

#[test]
fn an_ack_does_not_report_data_again_that_sack_reported() {
    let block = |start, end| Block { start, end };
    let ack = |cumulative, sacks: &[Block]| {
        let mut reports = Reports { count: sacks.len(), ..Reports::default() };
        reports.sacks[..sacks.len()].copy_from_slice(sacks);
        Acknowledgement {
            when: When::default(),
            cumulative,
            advances: cumulative > 0,
            reports,
            echo: None,
            stamp: None,
            plain: true,
            answers: true,
        }
    };
    let mut model = SenderModel { nxt: 50, ..SenderModel::default() };
    model.retransmitted.add(block(0, 10));
    assert_eq!(model.report(&ack(0, &[block(10, 30)]), false, 0), (Some(10), 20));
    // The first segment was sent again; the next two were reported by SACK.
    assert_eq!(model.report(&ack(30, &[]), true, 0), (None, 0));
    assert_eq!(model.report(&ack(40, &[]), true, 0), (Some(30), 0));
}
