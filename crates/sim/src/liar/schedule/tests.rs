//! Answers of a scheduled liar, arrival by arrival.

use super::*;
use eifel_packet::ip::Ecn;
use eifel_packet::segment::Options;

const BASE: u32 = u32::MAX - 1500;

fn data(number: u64, stamp: u32) -> Segment {
    Segment {
        source_port: 1,
        destination_port: 2,
        seq: wrap(1000 * number, Seq(BASE)),
        ack: Seq(0),
        flags: Flags::ACK,
        window: 0,
        options: Options { timestamps: Some(Timestamps { value: stamp, echo: 0 }), ..Options::default() },
        payload_len: 1000,
        ecn: Ecn::NotEct,
    }
}

/// Builds the honest acknowledgement of everything below segment `number`.
fn ack(number: u64, sack: &[(u64, u64)]) -> Segment {
    let mut segment = data(0, 7);
    segment.payload_len = 0;
    segment.ack = wrap(1000 * number, Seq(BASE));
    for &(left, right) in sack {
        segment.options.sack.push(wrap(1000 * left, Seq(BASE)), wrap(1000 * right, Seq(BASE)));
    }
    segment
}

fn position(segment: &Segment) -> u64 {
    unwrap(0, Seq(BASE), segment.ack)
}

/// The first data is lost, so other data arrives first. The missing data below it is not
/// acknowledged.
#[test]
fn a_first_chunk_that_never_arrived_is_not_acknowledged() {
    let one_more = Answer { number: Number::OneMore, ..Answer::default() };
    let mut lie = Scheduled::new(Schedule { tables: [[one_more; 5]; 2] });
    lie.begins(Seq(BASE));
    assert!(lie.alter(&mut ack(0, &[])), "nothing has arrived");
    lie.observe(&data(1, 1), false);
    assert_eq!(lie.occasion, Occasion::AboveGap);
    let mut told = ack(0, &[(1, 2)]);
    assert!(lie.alter(&mut told));
    assert_eq!(told, ack(0, &[(1, 2)]));
    lie.observe(&data(0, 2), true);
    assert_eq!((lie.occasion, lie.complete), (Occasion::LastRepair, 2000));
}

#[test]
fn each_arrival_is_told_from_the_others() {
    let mut lie = Scheduled::new(Schedule::default());
    let occasions = [0, 1, 3, 4, 3, 7, 2, 2, 6, 5].map(|number| {
        lie.observe(&data(number, number as u32), false);
        lie.occasion
    });
    use Occasion::*;
    assert_eq!(occasions, [InOrder, InOrder, AboveGap, AboveGap, Again, AboveGap, Repair, Again, Repair, LastRepair]);
    assert_eq!(lie.complete, 8000);
}

#[test]
fn the_liar_that_acknowledges_one_less_answers_for_it_when_all_is_repaired() {
    let one_less = Answer { number: Number::OneLess, ..Answer::default() };
    let silent = Answer { withheld: true, ..Answer::default() };
    let answers = [
        one_less,
        Answer { number: Number::Same, ..Answer::default() },
        silent,
        silent,
        Answer { echoed: Echoed::FirstUnacknowledged, duplicates: Duplicates::Hidden, ..Answer::default() },
    ];
    let mut lie = Scheduled::new(Schedule { tables: [answers, answers] });
    for number in 0..3 {
        lie.observe(&data(number, 10 + number as u32), false);
    }
    let mut said = ack(3, &[]);
    assert!(lie.alter(&mut said));
    assert_eq!((position(&said), said.options.timestamps.unwrap().echo), (2000, 0));
    // Segment 3 is lost. Segments 2 and 3 are retransmitted, although 2 has arrived.
    lie.observe(&data(4, 14), false);
    let mut said = ack(3, &[(4, 5)]);
    assert!(lie.alter(&mut said));
    assert_eq!((position(&said), said.options.sack.len()), (2000, 1));
    lie.observe(&data(2, 20), true);
    assert!(!lie.alter(&mut ack(3, &[(2, 3), (4, 5)])));
    lie.observe(&data(3, 21), true);
    let mut said = ack(5, &[]);
    assert!(lie.alter(&mut said));
    assert_eq!((position(&said), said.options.timestamps.unwrap().echo), (5000, 12));
}

#[test]
fn an_acknowledgement_never_falls_behind_the_last_nor_runs_ahead_of_the_truth() {
    let answers = [Answer { number: Number::OneMore, ..Answer::default() }; 5];
    let mut lie = Scheduled::new(Schedule { tables: [answers, answers] });
    for number in 0..4 {
        lie.observe(&data(number, 0), false);
    }
    for expected in [1000, 2000, 3000, 4000, 4000] {
        let mut said = ack(4, &[]);
        assert!(lie.alter(&mut said));
        assert_eq!(position(&said), expected);
    }
}

/// Segments 0 to 3 and 5 have arrived; 4 is missing.
#[test]
fn a_gap_is_invented_above_the_first_segment_that_is_not_acknowledged() {
    let told = |answer: Answer, honest: &[(u64, u64)]| {
        let mut lie = Scheduled::new(Schedule { tables: [[answer; 5]; 2] });
        for number in [0, 1, 2, 3, 5] {
            lie.observe(&data(number, 0), false);
        }
        let mut said = ack(4, honest);
        assert!(lie.alter(&mut said));
        let at = |seq| unwrap(0, Seq(BASE), seq) / 1000;
        let blocks: Vec<(u64, u64)> = said.options.sack.as_slice().iter().map(|&(l, r)| (at(l), at(r))).collect();
        (position(&said) / 1000, blocks)
    };
    let invents = Answer { gaps: Gaps::Invented, ..Answer::default() };
    let one_more = Answer { number: Number::OneMore, ..invents };
    assert_eq!(told(one_more, &[(5, 6)]), (1, vec![(2, 4), (5, 6)]));
    assert_eq!(told(one_more, &[]), (1, vec![(2, 4)]));
    let duplicate = Answer { duplicates: Duplicates::Invented, ..one_more };
    assert_eq!(told(duplicate, &[(5, 6)]), (1, vec![(5, 6), (2, 4), (5, 6)]));
    // No data has arrived in order after the denied segment, or no segment is denied.
    assert_eq!(told(Answer { number: Number::OneLess, ..invents }, &[(5, 6)]), (3, vec![(5, 6)]));
    assert_eq!(told(invents, &[(5, 6)]), (4, vec![(5, 6)]));
    assert_eq!(told(Answer { gaps: Gaps::Hidden, ..one_more }, &[(5, 6)]), (1, vec![]));
}

/// Returns the answers to segments that arrive in this order: the number of acknowledged segments,
/// or `None` without an acknowledgement.
fn answered(schedule: Schedule, order: &[u64]) -> Vec<Option<u64>> {
    let mut lie = Scheduled::new(schedule);
    let mut answers = Vec::new();
    for &number in order {
        lie.observe(&data(number, 0), false);
        let mut said = ack(lie.complete / 1000, &[]);
        answers.push(lie.alter(&mut said).then(|| position(&said) / 1000));
    }
    answers
}

#[test]
fn only_the_last_of_several_equal_arrivals_is_answered() {
    let mut schedule = Schedule::default();
    schedule.tables[0][Occasion::InOrder as usize].every = 3;
    let expected = [None, None, Some(3), None, Some(4), Some(6), None, None, Some(9)];
    // Segment 4 comes after 5. Then the count starts again.
    assert_eq!(answered(schedule, &[0, 1, 2, 3, 5, 4, 6, 7, 8]), expected);
}

#[test]
fn a_schedule_changes_its_table_with_the_arrival_after_a_turn() {
    let mut schedule = Schedule::default();
    let [honest, silent] = &mut schedule.tables;
    honest[Occasion::AboveGap as usize].turns = true;
    silent.iter_mut().for_each(|answer| answer.withheld = true);
    silent[Occasion::LastRepair as usize].turns = true;
    // 2 opens a gap and turns to the silent table. 3 and 1 get no answer. 1 turns back for 4.
    assert_eq!(answered(schedule, &[0, 2, 3, 1, 4]), [Some(1), Some(1), None, None, Some(5)]);
}

#[test]
fn a_duplicate_is_hidden_or_invented_beside_what_is_reported() {
    let report = |duplicates| {
        let answers = [Answer { duplicates, ..Answer::default() }; 5];
        let mut lie = Scheduled::new(Schedule { tables: [answers, answers] });
        for number in [0, 1, 3] {
            lie.observe(&data(number, 0), false);
        }
        let mut said = ack(2, &[(0, 1), (3, 4)]);
        lie.alter(&mut said);
        let blocks = said.options.sack.as_slice().to_vec();
        blocks.into_iter().map(|(left, _)| unwrap(0, Seq(BASE), left) / 1000).collect::<Vec<u64>>()
    };
    assert_eq!(report(Duplicates::True), [0, 3]);
    assert_eq!(report(Duplicates::Hidden), [3]);
    assert_eq!(report(Duplicates::Invented), [3, 3]);
}
