//! *Alters* the echo of an acknowledgement that answers a retransmission: it shows a guess of the
//! original's timestamp, from the segments before and after the gap. *Against* Eifel's safe variant
//! (RFC 3522, section 3.4), if each segment has its own timestamp.

use std::collections::VecDeque;

use eifel_packet::segment::{Segment, Timestamps};
use eifel_packet::seq::Seq;

use super::{Lie, after, is_before};

/// The most gaps remembered.
const MOST_GAPS: usize = 1024;

/// A missing range, and the TSvals around it.
struct Gap {
    begin: Seq,
    end: Seq,
    before: u32,
    after: u32,
}

impl Gap {
    /// Guesses the TSval of the missing segment at `seq`, as if TSvals were spread evenly.
    fn guess(&self, seq: Seq, len: u32) -> u32 {
        let missing = u64::from(self.end.0.wrapping_sub(self.begin.0) / len.max(1));
        let place = u64::from(seq.0.wrapping_sub(self.begin.0) / len.max(1)) + 1;
        let between = u64::from(self.after.wrapping_sub(self.before));
        self.before.wrapping_add((between * place / (missing + 1)) as u32)
    }
}

#[derive(Default)]
pub(super) struct GuessedEcho {
    /// In order.
    gaps: VecDeque<Gap>,
    /// The end of the newest original, and its TSval.
    newest: Option<(Seq, u32)>,
    /// The guessed echo of the next acknowledgement.
    guessed: Option<u32>,
}

impl Lie for GuessedEcho {
    fn observe(&mut self, segment: &Segment, again: bool) {
        let Some(Timestamps { value, .. }) = segment.options.timestamps else { return };
        if again {
            let gap = self.gaps.iter().find(|gap| is_before(segment.seq, gap.end));
            self.guessed = gap.map(|gap| gap.guess(segment.seq, segment.payload_len));
            return;
        }
        if let Some((begin, before)) = self.newest.filter(|(end, _)| is_before(*end, segment.seq)) {
            if self.gaps.len() == MOST_GAPS {
                self.gaps.pop_front();
            }
            self.gaps.push_back(Gap { begin, end: segment.seq, before, after: value });
        }
        self.newest = Some((after(segment), value));
    }

    fn alter(&mut self, segment: &mut Segment) -> bool {
        while self.gaps.front().is_some_and(|gap| is_before(gap.end, segment.ack)) {
            self.gaps.pop_front();
        }
        if let (Some(guessed), Some(stamps)) = (self.guessed.take(), &mut segment.options.timestamps) {
            stamps.echo = guessed;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_packet::segment::Options;

    #[test]
    fn what_is_missing_is_taken_to_be_evenly_spread() {
        let gap = Gap { begin: Seq(u32::MAX), end: Seq(2999), before: u32::MAX, after: 39 };
        assert_eq!(gap.guess(Seq(u32::MAX), 1000), 9);
        assert_eq!(gap.guess(Seq(999), 1000), 19);
        assert_eq!(Gap { end: Seq(999), ..gap }.guess(Seq(u32::MAX), 1000), 19);
    }

    /// Segments 1 and 2 of four are missing, and then are retransmitted. The guess spreads their
    /// timestamps evenly between the neighbours. Only the first ACK after a retransmission carries
    /// it.
    #[test]
    fn the_echo_of_a_retransmission_is_guessed_from_its_neighbours() {
        let segment = |number: u32, value: u32| {
            let stamps = Timestamps { value, echo: 0 };
            Segment { seq: Seq(1 + 1000 * number), payload_len: 1000, options: stamped(stamps), ..Segment::EMPTY }
        };
        let said = |lie: &mut GuessedEcho, ack: u32| {
            let mut ack =
                Segment { ack: Seq(ack), options: stamped(Timestamps { value: 5, echo: 7 }), ..Segment::EMPTY };
            assert!(lie.alter(&mut ack), "each ACK is sent");
            ack.options.timestamps.map(|stamps| stamps.echo)
        };
        let mut lie = GuessedEcho::default();
        lie.observe(&segment(0, 100), false);
        assert_eq!(said(&mut lie, 1001), Some(7), "nothing is missing");
        lie.observe(&segment(3, 130), false);
        assert_eq!(said(&mut lie, 1001), Some(7), "what is missing has not come again");
        lie.observe(&segment(1, 999), true);
        assert_eq!([said(&mut lie, 2001), said(&mut lie, 2001)], [Some(110), Some(7)]);
        lie.observe(&segment(2, 999), true);
        assert_eq!(said(&mut lie, 4001), Some(120));
        lie.observe(&segment(2, 999), true);
        assert_eq!(said(&mut lie, 4001), Some(7), "the gap is closed");
    }

    /// Segments 1 and 3 of five are missing, and then are retransmitted.
    #[test]
    fn of_two_gaps_the_one_that_the_retransmission_fills_is_guessed_from() {
        let mut lie = GuessedEcho::default();
        for (number, value) in [(0, 100), (2, 120), (4, 150)] {
            let options = stamped(Timestamps { value, echo: 0 });
            lie.observe(&Segment { seq: Seq(1 + 1000 * number), payload_len: 1000, options, ..Segment::EMPTY }, false);
        }
        for (number, guess) in [(1, 110), (3, 135)] {
            let options = stamped(Timestamps { value: 999, echo: 0 });
            lie.observe(&Segment { seq: Seq(1 + 1000 * number), payload_len: 1000, options, ..Segment::EMPTY }, true);
            assert_eq!(lie.guessed, Some(guess));
        }
    }

    fn stamped(stamps: Timestamps) -> Options {
        Options { timestamps: Some(stamps), ..Options::default() }
    }
}
