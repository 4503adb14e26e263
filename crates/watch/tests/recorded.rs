//! Facts that a kernel told while the box between two namespaces knew the truth: a delay spike, where
//! one of nine retransmissions was needless, and a path that reorders, where all four were.

use eifel_capture::result::{Confidence, Verdict};
use eifel_testkit::random::Random;
use eifel_watch::{Cause, Judged, Observations};

/// Each record behind its length, of two bytes.
const FACTS: &[u8] = include_bytes!("spike_and_reordering.facts");

/// Where the bytes of a fact have its kind, and its number in the observation.
const KIND: usize = 20;
const NUMBER: usize = 16;
const RETRANSMITTED: u8 = 3;
const STATE: u8 = 5;
const END: u8 = 6;

fn records() -> Vec<Vec<u8>> {
    let (mut rest, mut records) = (FACTS, Vec::new());
    while let Some((length, behind)) = rest.split_first_chunk::<2>() {
        let (record, next) = behind.split_at(u16::from_le_bytes(*length).into());
        records.push(record.to_vec());
        rest = next;
    }
    records
}

fn judged<'a>(records: impl IntoIterator<Item = &'a Vec<u8>>) -> Vec<Judged> {
    let (mut observations, mut judged) = (Observations::new(0), Vec::new());
    records.into_iter().for_each(|record| observations.take(record, &mut judged));
    observations.finish_all(&mut judged);
    judged
}

#[test]
fn recorded_facts_are_judged_as_the_box_knows_them() {
    let judged = judged(&records());
    let summary = |one: &Judged| (one.cause, one.verdict, one.confidence);
    let of = |port: u16| judged.iter().filter(move |one| one.remote.port() == port).map(summary).collect::<Vec<_>>();
    let ports: std::collections::BTreeSet<u16> = judged.iter().map(|one| one.remote.port()).collect();
    let all: Vec<_> = ports.into_iter().map(of).collect();
    let [spike, reordering] = &all[..] else { panic!("{all:?}") };
    assert_eq!(spike.len(), 9, "{spike:?}");
    // The first had waited for RACK's timer.
    let needed = |cause| (cause, Verdict::Needed, Confidence::Likely);
    assert_eq!(spike[..8], [&[needed(Cause::RackTimer)][..], &[needed(Cause::Fast); 7]].concat());
    assert_eq!((spike[8].0, spike[8].1), (Cause::Tlp, Verdict::Spurious));
    assert_eq!(reordering[..], [(Cause::Fast, Verdict::Spurious, Confidence::Certain); 4]);
}

/// The recording is older than what the timer is computed from.
#[test]
fn round_trips_and_timer_are_those_of_the_socket() {
    /// Where a fact has `srtt_us`, and what follows it.
    const SRTT: usize = 80;
    let mut records = records();
    for record in records.iter_mut().filter(|record| record[KIND] == RETRANSMITTED) {
        let [srtt, variation] = [40_000_u32, 200_000].map(u32::to_ne_bytes);
        record[SRTT..SRTT + 9].copy_from_slice(&[&srtt[..], &variation, &[1]].concat());
    }
    let all = judged(&records);
    for one in &all {
        let trigger = one.replayed.trigger.as_ref().unwrap();
        assert_eq!((trigger.smoothed_ms, trigger.variation_ms), (Some(40.0), Some(200.0)));
        // Two round trips, and what Linux adds.
        assert_eq!(trigger.timer_ms, (one.cause == Cause::Tlp).then_some(82.0));
        assert_eq!(one.replayed.f_rto, None);
        assert!(trigger.rtt_min_ms.is_some_and(|trip| trip > 0.0), "{one:?}");
    }
    let fast = all.iter().filter(|one| one.cause == Cause::Fast && one.verdict == Verdict::Spurious);
    let reports =
        fast.map(|one| one.replayed.trigger.as_ref().and_then(|trigger| trigger.reports_ms.as_ref()).map(Vec::len));
    assert!(
        reports.clone().count() > 0 && reports.clone().all(|count| count.is_some_and(|count| count >= 3)),
        "{:?}",
        reports.collect::<Vec<_>>()
    );
}

/// The first retransmission of the path that reorders, as if the timer had expired: the ACK of its delayed original
/// comes next.
#[test]
fn a_timeout_has_its_timer_and_the_word_of_f_rto() {
    const CA_STATE: usize = 21;
    const FLAGS: usize = 23;
    const RETRANSMITS: usize = 76;
    const SRTT: usize = 80;
    let mut records = records();
    let last = records[records.len() - 1][..8].to_vec();
    let first = records.iter_mut().find(|one| one[KIND] == RETRANSMITTED && one[..8] == last).unwrap();
    (first[CA_STATE], first[FLAGS], first[RETRANSMITS]) = (4, first[FLAGS] | 2, 1);
    let [srtt, variation] = [40_000_u32, 200_000].map(u32::to_ne_bytes);
    first[SRTT..SRTT + 9].copy_from_slice(&[&srtt[..], &variation, &[1]].concat());
    let all = judged(&records);
    let timeouts: Vec<_> = all.iter().filter(|one| one.cause == Cause::Rto).collect();
    let [timeout] = &timeouts[..] else { panic!("{all:?}") };
    assert_eq!(timeout.replayed.trigger.as_ref().and_then(|trigger| trigger.timer_ms), Some(480.0));
    assert!(timeout.replayed.f_rto.is_some(), "{timeout:?}");
}

#[test]
fn an_observation_with_a_hole_is_undecidable() {
    let records = records();
    let mut random = Random(1);
    let mut tried = 0;
    while tried < 50 {
        let left_out = random.below(records.len() as u64) as usize;
        let (kind, number) = (records[left_out][KIND], &records[left_out][NUMBER..NUMBER + 4]);
        // Without a beginning there is no observation; what has no number may be missing unnoticed, but
        // for the kernel's note at the end.
        if [1, RETRANSMITTED, END].contains(&kind) || number == [0; 4] || records[left_out][..8] != records[0][..8] {
            continue;
        }
        tried += 1;
        let rest = records.iter().enumerate().filter(|(index, _)| *index != left_out).map(|(_, record)| record);
        let all = judged(rest);
        // The spike's connection was observed twice.
        let undecidable = all.iter().filter(|one| one.verdict == Verdict::Undecidable).collect::<Vec<_>>();
        assert!([1, 8].contains(&undecidable.len()), "without record {left_out}: {undecidable:?}");
        assert!(undecidable.iter().all(|one| one.reason.contains("are missing")), "{undecidable:?}");
    }
}

#[test]
fn a_hole_long_after_a_repair_leaves_its_verdicts() {
    const NANOS: usize = 8;
    let mut records = records();
    let verdicts = |records: &[Vec<u8>]| judged(records).iter().map(|one| one.verdict).collect::<Vec<_>>();
    let before = verdicts(&records);
    // Another fact five seconds after the end of an observation, and the end after ten: in between one is missing.
    let end = records.iter().rposition(|one| one[KIND] == END).unwrap();
    let later = |kind: u8, seconds: u64, steps: u32| {
        let mut record = records[end].clone();
        let number = |bytes: &[u8]| u32::from_ne_bytes(bytes.try_into().unwrap());
        let nanos = u64::from_ne_bytes(record[NANOS..NANOS + 8].try_into().unwrap()) + seconds * 1_000_000_000;
        let number = number(&record[NUMBER..NUMBER + 4]) + steps;
        record[KIND] = kind;
        record[NANOS..NANOS + 8].copy_from_slice(&nanos.to_ne_bytes());
        record[NUMBER..NUMBER + 4].copy_from_slice(&number.to_ne_bytes());
        record
    };
    let (state, over) = (later(STATE, 5, 0), later(END, 10, 2));
    records.splice(end..=end, [state, over]);
    assert_eq!(verdicts(&records), before);
    // The same hole, but before the ACKs.
    let first = records.iter().position(|one| one[..8] == records[end][..8] && one[KIND] == RETRANSMITTED).unwrap();
    records.remove(first + 1);
    assert_ne!(verdicts(&records), before);
}

#[test]
fn what_the_socket_shows_to_be_missing_is_a_hole_and_is_counted() {
    /// Where a fact has the retransmissions that were not told of, and `snd_una`.
    const MISSED: usize = 78;
    const UNA: usize = 24;
    let mut records = records();
    let mut socket: Vec<&mut Vec<u8>> = records.iter_mut().filter(|one| one[KIND] == RETRANSMITTED).collect();
    let counts = |records: &[Vec<u8>]| {
        let (mut observations, mut judged) = (Observations::new(0), Vec::new());
        records.iter().for_each(|record| observations.take(record, &mut judged));
        observations.finish_all(&mut judged);
        let undecidable = judged.iter().filter(|one| one.reason.contains("are missing")).count();
        (observations.counts.facts_dropped, observations.counts.retransmissions_dropped, undecidable)
    };
    socket[2][MISSED..MISSED + 2].copy_from_slice(&3_u16.to_ne_bytes());
    assert_eq!(counts(&records), (3, 3, 8));
    // One segment more is acknowledged than any ACK said.
    let fact = records.iter_mut().find(|one| one[KIND] == RETRANSMITTED).unwrap();
    fact[MISSED..MISSED + 2].fill(0);
    let una = u32::from_ne_bytes(fact[UNA..UNA + 4].try_into().unwrap());
    fact[UNA..UNA + 4].copy_from_slice(&una.wrapping_add(1448).to_ne_bytes());
    assert_eq!(counts(&records), (4, 3, 8));
}

#[test]
fn the_end_of_a_watch_judges_what_is_observed_then() {
    let without_ends = records().into_iter().filter(|record| record[KIND] != END).collect::<Vec<_>>();
    assert_eq!(judged(&without_ends).len(), judged(&records()).len());
}

#[test]
fn thousands_of_connections_that_all_retransmit_are_judged() {
    const CONNECTIONS: u64 = 2000;
    let records = records();
    let spike: Vec<&Vec<u8>> = records.iter().filter(|record| record[..8] == records[0][..8]).collect();
    let (mut observations, mut judged) = (Observations::new(0), Vec::new());
    for record in spike {
        // All of them at once.
        for socket in 0..CONNECTIONS {
            let record = [&socket.to_ne_bytes()[..], &record[8..]].concat();
            observations.take(&record, &mut judged);
        }
    }
    observations.finish_all(&mut judged);
    assert_eq!((judged.len() as u64, observations.counts.connections), (9 * CONNECTIONS, CONNECTIONS));
    let spurious = judged.iter().filter(|one| one.verdict == Verdict::Spurious);
    assert_eq!(spurious.count() as u64, CONNECTIONS);
}

#[test]
fn no_bytes_make_it_panic() {
    let records = records();
    let mut random = Random(2);
    for _ in 0..200 {
        let broken: Vec<Vec<u8>> = records
            .iter()
            .take(200)
            .map(|record| {
                let mut record = record.clone();
                if random.coin() {
                    let at = random.below(record.len() as u64) as usize;
                    record[at] = random.below(256) as u8;
                    record.truncate(record.len() - usize::from(random.below(50) == 0));
                }
                record
            })
            .collect();
        judged(&broken);
    }
    let random_bytes: Vec<Vec<u8>> =
        (0..2000).map(|_| (0..random.below(200)).map(|_| random.below(256) as u8).collect()).collect();
    assert!(judged(&random_bytes).is_empty());
}
