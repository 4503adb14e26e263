//! Overlapping segments with different content. The bytes that the application reads must not
//! depend on the copy that a host keeps. Otherwise an attacker can deceive a monitor on the path.

use eifel_tcp::Settings;
use eifel_tcp::settings::ReceiveKind;

use crate::Attack;
use crate::draw::Draw;
use crate::trial::Trial;
use crate::victim::{Victim, data, settings};

pub(super) const ATTACK: Attack = Attack {
    name: "t15-overlap",
    summary: "segments that overlap with different content",
    source: "Ptacek and Newsham 1998; RFC 9293, section 3.10.7.4",
    defence: "the byte received first stays",
    run,
};

const BYTES: usize = 6;
/// The number of runs of bytes. The trial tries all of them.
const SEGMENTS: usize = BYTES * (BYTES + 1) / 2;

fn run(trial: &mut Trial) {
    let (tried, wrong) = all_small();
    trial.exactly("small worlds: three overlapping segments in any order", "worlds", tried, (SEGMENTS as u64).pow(3));
    trial.exactly("of them with another byte than the first", "worlds", wrong, 0);
    let runs = trial.times(100_000, 2_000);
    trial.exactly("random runs with another byte than the first", "runs", random(runs), 0);
}

/// Tries every combination of three runs over a few bytes. Returns how many it tried, and how many
/// were wrong.
fn all_small() -> (u64, u64) {
    let segments: Vec<(usize, usize)> =
        (0..BYTES).flat_map(|start| (start + 1..=BYTES).map(move |end| (start, end))).collect();
    let (mut tried, mut wrong) = (0, 0);
    for &first in &segments {
        for &second in &segments {
            for &third in &segments {
                tried += 1;
                wrong += u64::from(!keeps_first(&[first, second, third, (0, BYTES)], BYTES));
            }
        }
    }
    (tried, wrong)
}

fn random(runs: u64) -> u64 {
    let mut draw = Draw::new(1, ATTACK.name);
    let wrong = (0..runs).filter(|_| {
        let bytes = draw.between(50, 2000) as usize;
        let mut segments: Vec<(usize, usize)> = (0..draw.between(3, 60))
            .map(|_| {
                let start = draw.below(bytes as u64) as usize;
                (start, (start + 1 + draw.below(300) as usize).min(bytes))
            })
            .collect();
        segments.push((0, bytes));
        !keeps_first(&segments, bytes)
    });
    wrong.count() as u64
}

/// Delivers the segments, each filled with its number. Returns whether each byte comes from the
/// first segment that delivered it. Reads in between, so that later segments also overlap bytes
/// already read.
fn keeps_first(segments: &[(usize, usize)], bytes: usize) -> bool {
    let held = Settings { receive: ReceiveKind::Held, ..settings() };
    let mut victim = Victim::open(&held, 64_000);
    let mut expected: Vec<Option<u8>> = vec![None; bytes];
    let mut read = Vec::new();
    for (number, &(start, end)) in segments.iter().enumerate() {
        let content = vec![number as u8; end - start];
        let segment = data(1 + start as u64, (end - start) as u32, 1);
        victim.connection.handle_segment(victim.now, &segment, &content);
        victim.sends();
        for byte in &mut expected[start..end] {
            byte.get_or_insert(number as u8);
        }
        let mut into = [0; 64];
        let count = victim.connection.read(&mut into);
        read.extend_from_slice(&into[..count]);
    }
    let mut rest = vec![0; bytes];
    let count = victim.connection.read(&mut rest);
    read.extend_from_slice(&rest[..count]);
    read.len() == bytes && read.iter().zip(&expected).all(|(&got, &first)| Some(got) == first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_incomplete_stream_fails_the_check() {
        assert!(keeps_first(&[(0, 4), (2, 8)], 8));
        assert!(!keeps_first(&[(0, 4)], 5), "the last byte never came");
        assert!(!keeps_first(&[(0, 4), (5, 8)], 8), "the byte before the last three never came");
    }
}
