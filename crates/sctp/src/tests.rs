//! Compares the receiving side with naive models. Chunks arrive in any order, in duplicate, or not
//! at all. The tests compare the TSNs of SACKs, the delivered messages, and the bytes in use in the
//! receive buffer.

use std::collections::{BTreeMap, BTreeSet};

use eifel_base::time::{Duration, Instant};
use eifel_packet::sctp::{self, DataFlags};
use eifel_packet::seq::Seq;

use crate::packet::Data;
use crate::reassembly::Reassembly;
use crate::tracker::Tracker;

const INITIAL: u32 = u32::MAX - 20;

/// A random number generator: SplitMix64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) % bound
    }
}

/// A fragment of a message.
#[derive(Clone, Debug)]
struct Fragment {
    stream: u16,
    ssn: u16,
    unordered: bool,
    begins: bool,
    ends: bool,
    text: String,
}

/// Cuts random messages of three streams into chunks. A chunk's position is its index in the list.
fn fragments(dice: &mut Dice, messages: u64) -> Vec<Fragment> {
    let mut found = Vec::new();
    let mut numbers = [0u16; 3];
    for message in 0..messages {
        let stream = dice.below(3) as u16;
        let unordered = dice.below(4) == 0;
        let ssn = numbers[usize::from(stream)];
        if !unordered {
            numbers[usize::from(stream)] += 1;
        }
        let count = 1 + dice.below(4);
        for index in 0..count {
            let text = format!("{message}.{index};");
            found.push(Fragment { stream, ssn, unordered, begins: index == 0, ends: index + 1 == count, text });
        }
    }
    found
}

/// Returns the messages that are complete and deliverable, computed afresh from all arrived chunks.
fn deliverable(all: &[Fragment], arrived: &BTreeSet<usize>) -> BTreeSet<(u16, String)> {
    let mut complete: BTreeMap<usize, (&Fragment, String)> = BTreeMap::new();
    for start in arrived.iter().copied().filter(|start| all[*start].begins) {
        let mut text = String::new();
        let mut at = start;
        while arrived.contains(&at) {
            text += &all[at].text;
            if all[at].ends {
                complete.insert(start, (&all[start], text));
                break;
            }
            at += 1;
        }
    }
    let ordered = |stream: u16, ssn: u16| {
        complete.values().any(|(piece, _)| !piece.unordered && (piece.stream, piece.ssn) == (stream, ssn))
    };
    let may = |piece: &Fragment| piece.unordered || (0..=piece.ssn).all(|ssn| ordered(piece.stream, ssn));
    complete.values().filter(|(piece, _)| may(piece)).map(|(piece, text)| (piece.stream, text.clone())).collect()
}

/// Returns the SACK's cumulative TSN and gaps, computed chunk by chunk.
fn sack(arrived: &BTreeSet<usize>) -> (u32, Vec<(u16, u16)>) {
    let next = (0..).find(|position| !arrived.contains(position)).unwrap_or(0);
    let mut gaps: Vec<(u16, u16)> = Vec::new();
    for distance in arrived.iter().filter(|position| **position > next).map(|position| (position - next + 1) as u16) {
        match gaps.last_mut().filter(|(_, end)| end + 1 == distance) {
            Some((_, end)) => *end = distance,
            None => gaps.push((distance, distance)),
        }
    }
    (INITIAL.wrapping_add(next as u32).wrapping_sub(1), gaps)
}

/// Returns the bytes in use: chunks of incomplete messages and complete messages, each counted as
/// at least 64 bytes.
fn held(all: &[Fragment], arrived: &BTreeSet<usize>, taken: &BTreeSet<(u16, String)>) -> usize {
    let cost = |len: usize| len.max(64);
    let mut sum = 0;
    let mut start = 0;
    while start < all.len() {
        let end = (start..all.len()).find(|at| all[*at].ends).unwrap_or(all.len() - 1) + 1;
        let here: Vec<usize> = (start..end).filter(|at| arrived.contains(at)).collect();
        if here.len() == end - start {
            let text: String = all[start..end].iter().map(|piece| piece.text.as_str()).collect();
            sum += if taken.contains(&(all[start].stream, text.clone())) { 0 } else { cost(text.len()) };
        } else {
            sum += here.iter().map(|at| cost(all[*at].text.len())).sum::<usize>();
        }
        start = end;
    }
    sum
}

#[test]
fn the_receiver_agrees_with_naive_models() {
    for seed in 0..400 {
        let mut dice = Dice(seed);
        let all = fragments(&mut dice, 12);
        let (mut tracker, mut reassembly) = (Tracker::new(Seq(INITIAL)), Reassembly::default());
        let (mut arrived, mut taken, mut duplicates) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        let mut low = 0;
        while arrived.len() < all.len() {
            // Chunks near the lowest missing one, to cause reordering, loss that is repaired later,
            // and duplicates.
            while arrived.contains(&low) {
                low += 1;
            }
            let position =
                (low as u64 + dice.below(9)).saturating_sub(dice.below(3)).min(all.len() as u64 - 1) as usize;
            let piece = &all[position];
            let tsn = Seq(INITIAL.wrapping_add(position as u32));
            let mut flags = DataFlags(0);
            for (set, flag) in [
                (piece.begins, DataFlags::BEGINNING),
                (piece.ends, DataFlags::ENDING),
                (piece.unordered, DataFlags::UNORDERED),
            ] {
                flags = if set { flags.with(flag) } else { flags };
            }
            let payload = piece.text.as_bytes();
            let data = sctp::Data { flags, tsn, stream: piece.stream, ssn: piece.ssn, ppid: [0; 4], payload };
            let case = format!("seed {seed}, chunk {position}");
            match tracker.check(tsn, false) {
                Some(new) => {
                    assert!(arrived.insert(position), "{case}");
                    assert_eq!(new, position as u64, "{case}");
                    tracker.accept(new);
                    reassembly.insert(new, &Data::new(&data, None), payload).unwrap();
                }
                None => {
                    assert!(arrived.contains(&position), "{case}");
                    duplicates.push(tsn.0);
                }
            }
            tracker.end_packet(Instant::ZERO, 2, Duration::ZERO);
            if dice.below(3) == 0 {
                while let Some(message) = reassembly.take() {
                    let text = String::from_utf8(message.bytes).unwrap();
                    assert!(taken.insert((message.stream, text)), "{case}: delivered twice");
                }
                assert_eq!(taken, deliverable(&all, &arrived), "{case}");
                assert_eq!(reassembly.held(), held(&all, &arrived, &taken), "{case}");
            }
            if dice.below(4) == 0 {
                let (cumulative, gaps) = sack(&arrived);
                assert_eq!(tracker.cumulative().0, cumulative, "{case}");
                let mut written = Vec::new();
                let count = tracker.take(1000, &mut written);
                let reported = written.split_off(count);
                let pair = |[a, b, c, d]: [u8; 4]| (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
                assert_eq!(written.into_iter().map(pair).collect::<Vec<_>>(), gaps, "{case}");
                duplicates.truncate(20);
                let reported: Vec<u32> = reported.into_iter().map(u32::from_be_bytes).collect();
                assert_eq!(reported, std::mem::take(&mut duplicates), "{case}");
            }
        }
    }
}
