//! SACK options that cannot be true: blocks that were never sent, are inverted or wrapped, lie
//! below the cumulative ACK, or cut through segments.

use eifel_packet::segment::{Flags, Options, SackBlocks, Segment};
use eifel_packet::seq::{Seq, wrap};

use crate::Attack;
use crate::draw::Draw;
use crate::trial::Trial;
use crate::victim::{ISS, Victim, segment, settings};

pub(super) const ATTACK: Attack = Attack {
    name: "t10-lying-sack",
    summary: "random SACK blocks: never sent, inverted, wrapped, below the acknowledgement, parts of segments",
    source: "RFC 2018, section 8; RFC 2883, section 4; CVE-2019-11477",
    defence: "each block is judged by itself, what cannot be true is counted and ignored",
    run,
};

/// ACKs for each connection.
const ACKS: u64 = 200;
/// The most bytes outstanding. The naive model holds one bit per byte.
const BYTES: u64 = 120;

fn run(trial: &mut Trial) {
    let blocks = trial.times(100_000_000, 1_000_000);
    let mut draw = Draw::new(1, ATTACK.name);
    let (mut given, mut differing) = (0, 0);
    while given < blocks {
        let (told, wrong) = connection(&mut draw);
        given += told;
        differing += wrong;
    }
    trial.counted("blocks", "blocks", given as f64, crate::trial::Limit::AtLeast(blocks as f64));
    trial.exactly("ACKs after which the scoreboard is not the naive model's", "ACKs", differing, 0);
}

/// A naive scoreboard with one bit per outstanding byte; bit 0 is the first byte.
struct Naive {
    una: u64,
    reported: u128,
    ignored: u64,
}

impl Naive {
    /// Applies an option literally as RFC 2018 and RFC 2883 describe it. `segments` segments are
    /// outstanding up to `nxt`.
    fn take(&mut self, cumulative: u64, option: &[(Seq, Seq)], nxt: u64, segments: u32) {
        self.reported >>= cumulative - self.una;
        // A peer that reported bytes right above its acknowledgement has reneged.
        self.reported &= self.reported.wrapping_add(1);
        self.una = cumulative;
        let position = |seq: Seq| {
            let distance = i64::from(seq.0.wrapping_sub(wrap(cumulative, ISS).0) as i32);
            let position = cumulative as i64 + distance;
            if position < 0 { position + (1 << 32) } else { position }
        };
        let blocks: Vec<(i64, i64)> = option.iter().map(|&(left, right)| (position(left), position(right))).collect();
        for (index, &(left, right)) in blocks.iter().enumerate() {
            let sent = left < right && right <= nxt as i64;
            let duplicate = index == 0
                && (right <= cumulative as i64 || blocks.get(1).is_some_and(|&(l, r)| l <= left && right <= r));
            if !sent || !duplicate && left <= cumulative as i64 {
                self.ignored += 1;
            } else if !duplicate && self.pieces() <= segments {
                let len = (right - left) as u32;
                let ones = if len >= 128 { u128::MAX } else { (1 << len) - 1 };
                self.reported |= ones << (left as u64 - cumulative);
            }
        }
    }

    fn pieces(&self) -> u32 {
        (self.reported & !(self.reported << 1)).count_ones()
    }
}

/// Returns the number of blocks sent to one connection, and of ACKs after which it differs from the
/// model.
fn connection(draw: &mut Draw) -> (u64, u64) {
    let mut victim = Victim::open(&settings(), 64_000);
    let mut naive = Naive { una: 1, reported: 0, ignored: 0 };
    let (mut told, mut wrong) = (0, 0);
    for _ in 0..ACKS {
        // Segments of one to eight bytes.
        while victim.connection.end() - victim.connection.engine().una() < BYTES - 8 {
            victim.connection.write_counted(draw.between(1, 9));
            victim.sends();
        }
        let (una, nxt) = (victim.connection.engine().una(), victim.connection.engine().nxt());
        let cumulative = if draw.chance(0.1) { draw.between(una, nxt.min(una + 20) + 1) } else { una };
        let option = option(draw, cumulative, nxt);
        told += option.len() as u64;
        let segments = |victim: &Victim| victim.connection.engine().scoreboard().segments() as u32;
        let forged = segment(Flags::ACK, 1, cumulative);
        // The cumulative ACK takes effect before the blocks.
        victim.gets(&segment(Flags::ACK, 1, cumulative));
        naive.take(cumulative, &[], nxt, 0);
        let outstanding = segments(&victim);
        victim.gets(&Segment { options: Options { sack: option, ..Options::default() }, ..forged });
        if nxt > cumulative {
            naive.take(cumulative, option.as_slice(), nxt, outstanding);
        }
        wrong += u64::from(differs(&victim, &naive));
        victim.sends();
    }
    (told, wrong)
}

fn differs(victim: &Victim, naive: &Naive) -> bool {
    let board = victim.connection.engine().scoreboard();
    let reported = board.sacked().ascending().fold(0u128, |all, block| {
        let ones = (1u128 << (block.end - block.start)) - 1;
        all | ones << (block.start - naive.una)
    });
    reported != naive.reported
        || board.sacked_bytes() != u64::from(naive.reported.count_ones())
        || victim.connection.counts().ignored_sack_blocks != naive.ignored
}

/// Draws one to four blocks. Most edges lie near the outstanding bytes, some anywhere.
fn option(draw: &mut Draw, cumulative: u64, nxt: u64) -> SackBlocks {
    let mut option = SackBlocks::EMPTY;
    let edge = |draw: &mut Draw| match draw.below(16) {
        0 => Seq(draw.any()),
        1 => wrap(cumulative + (1 << 31), ISS),
        _ => Seq(wrap(cumulative, ISS).0.wrapping_add(draw.below(nxt - cumulative + 8) as u32).wrapping_sub(4)),
    };
    for _ in 0..draw.between(1, 5) {
        let (one, other) = (edge(draw), edge(draw));
        // Most blocks are not inverted.
        let inverted = (other.0.wrapping_sub(one.0) as i32) < 0;
        let (left, right) = if inverted && draw.chance(0.9) { (other, one) } else { (one, other) };
        option.push(left, right);
    }
    option
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares a scoreboard and a naive model that agree, then changes one fact of the model at a
    /// time.
    #[test]
    fn a_changed_fact_of_the_model_is_noticed() {
        let mut victim = Victim::open(&settings(), 64_000);
        victim.connection.write_counted(40);
        victim.sends();
        victim.connection.write_counted(8);
        victim.sends();
        let (una, nxt) = (victim.connection.engine().una(), victim.connection.engine().nxt());
        let mut option = SackBlocks::EMPTY;
        option.push(wrap(nxt - 8, ISS), wrap(nxt, ISS));
        // A block that was never sent.
        option.push(wrap(nxt + 8, ISS), wrap(nxt + 9, ISS));
        let told = Segment { options: Options { sack: option, ..Options::default() }, ..segment(Flags::ACK, 1, una) };
        victim.gets(&told);
        let mut naive = Naive { una, reported: 0, ignored: 0 };
        naive.take(una, option.as_slice(), nxt, victim.connection.engine().scoreboard().segments() as u32);
        assert!(!differs(&victim, &naive) && naive.ignored == 1 && naive.reported.count_ones() == 8);
        let (reported, ignored) = (naive.reported, naive.ignored);
        for (reported, ignored) in [(reported >> 1, ignored), (reported | 1, ignored), (reported, 0), (0, ignored)] {
            assert!(differs(&victim, &Naive { una, reported, ignored }), "{reported:b} {ignored}");
        }
    }

    /// Like the scoreboard, the model refuses blocks once it holds more pieces than segments.
    #[test]
    fn the_model_accepts_sack_blocks_up_to_one_per_segment() {
        let block = |left: u64| (wrap(left, ISS), wrap(left + 1, ISS));
        let taken = |segments| {
            let mut naive = Naive { una: 1, reported: 0, ignored: 0 };
            naive.take(1, &[3, 5, 7, 9].map(block), 100, segments);
            (naive.pieces(), naive.ignored)
        };
        assert_eq!([0, 1, 2, 3, 4].map(taken), [(1, 0), (2, 0), (3, 0), (4, 0), (4, 0)]);
    }
}
