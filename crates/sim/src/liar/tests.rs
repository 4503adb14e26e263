//! Each lie alters the acknowledgements of random arrivals. A golden file holds digests of the
//! results.

use super::schedule::{Answer, Duplicates, Echoed, Gaps, Number};
use super::*;
use eifel_packet::segment::{SackBlocks, Timestamps};
use eifel_testkit::{digest, golden};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Sequence numbers wrap in these tests.
const BASE: u32 = u32::MAX - 20_000;
const LEN: u32 = 1000;
const ARRIVALS: u64 = 400;

/// An honest receiver of segments, which are identified by their numbers.
#[derive(Default)]
struct Receiver {
    arrived: BTreeSet<u64>,
}

impl Receiver {
    fn next(&self) -> u64 {
        (0..).find(|number| !self.arrived.contains(number)).unwrap()
    }

    /// Returns the acknowledgement of a segment that arrives. Its blocks report a duplicate first,
    /// then the run that contains the segment.
    fn takes(&mut self, number: u64, stamp: u32) -> Segment {
        let again = !self.arrived.insert(number);
        let next = self.next();
        let mut blocks = SackBlocks::EMPTY;
        let mut push = |(from, to): (u64, u64)| {
            if blocks.len() < 3 {
                blocks.push(at(from), at(to));
            }
        };
        if again {
            push((number, number + 1));
        }
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for &above in self.arrived.range(next..) {
            match runs.last_mut() {
                Some((_, to)) if *to == above => *to += 1,
                _ => runs.push((above, above + 1)),
            }
        }
        runs.sort_by_key(|&(from, to)| (!(from..to).contains(&number), from));
        runs.into_iter().for_each(&mut push);
        let flags = if again { Flags::ACK.with(Flags::ANSWERS_SENT_AGAIN) } else { Flags::ACK };
        let mut segment = Segment { ack: at(next), flags, ..Segment::EMPTY };
        segment.options.timestamps = Some(Timestamps { value: 1, echo: stamp });
        segment.options.sack = blocks;
        segment
    }
}

fn at(number: u64) -> Seq {
    Seq(BASE.wrapping_add(number as u32 * LEN))
}

/// Draws a number below a bound.
fn below(stream: &mut Stream, bound: u64) -> u64 {
    (stream.unit() * bound as f64) as u64
}

/// Lets a liar answer arrivals with losses, repairs, reordering and duplicates. Returns its
/// acknowledgements as text.
fn told(kind: Kind, seed: u64) -> String {
    let mut stream = Stream::new(seed, &["arrivals"]);
    let mut liar = Liar::<()>::new(kind, Stream::new(seed, &["liar"]));
    let (mut receiver, mut sent, mut said) = (Receiver::default(), 0, String::new());
    liar.begins(at(0));
    for stamp in 0..ARRIVALS as u32 {
        let number = match below(&mut stream, 10) {
            0 => sent + 1 + below(&mut stream, 3),
            1 => below(&mut stream, sent + 1),
            2..4 => receiver.next(),
            _ => sent,
        };
        sent = sent.max(number + 1);
        let mut data = Segment { seq: at(number), payload_len: LEN, flags: Flags::ACK, ..Segment::EMPTY };
        data.options.timestamps = Some(Timestamps { value: 3 * stamp, echo: 0 });
        liar.observe(&data);
        let mut answer = receiver.takes(number, 3 * stamp);
        let leaves = liar.alter(&mut answer);
        let Segment { ack, flags, .. } = answer;
        let options = (answer.options.timestamps, answer.options.sack.as_slice());
        writeln!(said, "{number} {leaves:?} {ack:?} {flags:?} {options:?}").unwrap();
    }
    said
}

fn drawn(stream: &mut Stream) -> Schedule {
    let mut answer = || Answer {
        number: Number::ALL[below(stream, 4) as usize],
        echoed: Echoed::ALL[below(stream, 5) as usize],
        duplicates: Duplicates::ALL[below(stream, 3) as usize],
        gaps: Gaps::ALL[below(stream, 3) as usize],
        denies_mark: below(stream, 2) == 0,
        withheld: below(stream, 8) == 0,
        held_ms: 50 * below(stream, 3) as u32,
        every: 1 + below(stream, 2) as u8,
        turns: below(stream, 3) == 0,
    };
    Schedule { tables: [(); 2].map(|()| [(); 5].map(|()| answer())) }
}

#[test]
fn the_lies_match_the_golden_file() {
    let mut text = String::new();
    for name in Kind::NAMES {
        if let Some(kind) = Kind::named(name) {
            writeln!(text, "{name}: {} {}", digest(told(kind, 1)), digest(told(kind, 2))).unwrap();
        }
    }
    for seed in 0..40 {
        let schedule = drawn(&mut Stream::new(seed, &["schedule"]));
        writeln!(text, "schedule {seed}: {}", digest(told(Kind::Scheduled(schedule), seed))).unwrap();
    }
    golden!("lies.txt", text);
}

/// Only even segments arrive, so there is a gap before each. The forged echo for the retransmission
/// of segment 1 is the TSval after the oldest remembered gap.
#[test]
fn a_forged_echo_forgets_the_oldest_gap() {
    const MOST: u32 = 1024;
    let segment = |number: u32| {
        let mut segment = Segment { seq: at(u64::from(number)), payload_len: LEN, ..Segment::EMPTY };
        segment.options.timestamps = Some(Timestamps { value: number, echo: 0 });
        segment
    };
    for (gaps, oldest) in [(1, 1), (MOST - 1, 1), (MOST, 1), (MOST + 1, 2), (MOST + 9, 10)] {
        let mut lie = forged_echo::ForgedEcho::default();
        (0..=gaps).for_each(|gap| lie.observe(&segment(2 * gap), false));
        lie.observe(&segment(1), true);
        let mut answer = segment(0);
        answer.ack = at(0);
        assert!(lie.alter(&mut answer));
        assert_eq!(answer.options.timestamps.map(|stamps| stamps.echo), Some(2 * oldest), "{gaps} gaps");
    }
}

/// The TSval of segment `n` is `n`, and each odd segment is missing. The guess for a segment is
/// wrong if its gap is forgotten.
#[test]
fn a_guessed_echo_forgets_the_oldest_gap() {
    const MOST: u32 = 1024;
    let segment = |number: u32| {
        let mut segment = Segment { seq: at(u64::from(number)), payload_len: LEN, ..Segment::EMPTY };
        segment.options.timestamps = Some(Timestamps { value: number, echo: 0 });
        segment
    };
    for (gaps, forgotten) in [(1, 0), (MOST, 0), (MOST + 1, 1), (MOST + 9, 9)] {
        let mut lie = guessed_echo::GuessedEcho::default();
        (0..=gaps).for_each(|gap| lie.observe(&segment(2 * gap), false));
        for gap in 0..gaps.min(20) {
            lie.observe(&segment(2 * gap + 1), true);
            let mut answer = segment(0);
            answer.ack = at(0);
            assert!(lie.alter(&mut answer));
            let echo = answer.options.timestamps.map(|stamps| stamps.echo);
            assert_eq!(echo == Some(2 * gap + 1), gap >= forgotten, "{gap} of {gaps}: {echo:?}");
        }
    }
}

/// If the first unacknowledged segment is forgotten, the liar sends the honest echo, 77.
#[test]
fn a_schedule_remembers_a_bounded_number_of_segments() {
    const MOST: u64 = 4096;
    let answer = Answer { echoed: Echoed::FirstUnacknowledged, ..Answer::default() };
    for (segments, echo) in [(1, 5), (MOST, 5), (MOST + 1, 77)] {
        let kind = Kind::Scheduled(Schedule { tables: [[answer; 5]; 2] });
        let mut liar = Liar::<()>::new(kind, Stream::new(1, &["liar"]));
        liar.begins(at(0));
        let mut segment = Segment { payload_len: LEN, flags: Flags::ACK, ..Segment::EMPTY };
        for number in 0..segments {
            segment.seq = at(number);
            segment.options.timestamps = Some(Timestamps { value: 5 + number as u32, echo: 0 });
            liar.observe(&segment);
        }
        let mut told = Segment { ack: at(segments), flags: Flags::ACK, ..Segment::EMPTY };
        told.options.timestamps = Some(Timestamps { value: 1, echo: 77 });
        liar.alter(&mut told);
        assert_eq!(told.options.timestamps.map(|stamps| stamps.echo), Some(echo), "{segments}");
    }
}
