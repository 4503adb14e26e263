//! RFC 3708, section 3.

use eifel_recovery::fact::{Acked, Block};
use eifel_recovery::registry::Choice;

use super::world::{Again, Seen};
use super::{Answer, Naive, compare};

#[derive(Default)]
pub(super) struct Dsack {
    /// The retransmissions of this window.
    window: Vec<Record>,
    /// The retransmissions of the window before, whose DSACKs may be late.
    before: Vec<Block>,
    /// The first position that was unsent at the last retransmission.
    unsent: u64,
    /// Set once data from `unsent` on is acknowledged, to the first position that was unsent at
    /// that time. A DSACK sent before may be overtaken, but it comes before data from this position
    /// on is acknowledged.
    round: Option<u64>,
    asks: bool,
    /// (A.4): the network duplicates packets, so the algorithm is no longer used.
    over: bool,
    /// The highest position that SACK has reported since the scoreboard was empty.
    sacked_up_to: u64,
}

struct Record {
    block: Block,
    /// How often the block was retransmitted.
    resent: u32,
    /// How often a DSACK reported the block.
    duplicates: u32,
}

fn overlap(a: Block, b: Block) -> bool {
    a.start < b.end && b.start < a.end
}

fn within(a: Block, b: Block) -> bool {
    b.start <= a.start && a.end <= b.end
}

impl Naive for Dsack {
    fn sent_again(&mut self, again: &Again, seen: &Seen) {
        if again.by_timer {
            // RFC 2018, section 8.
            self.sacked_up_to = 0;
        }
        if self.over {
            return;
        }
        if again.opens {
            self.before = self.window.drain(..).map(|record| record.block).collect();
            self.asks = true;
        }
        let block = Block { start: again.start(), end: again.end() };
        match self.window.iter_mut().find(|record| record.block.start == block.start) {
            Some(record) => {
                record.resent += 1;
                record.block.end = record.block.end.max(block.end);
            }
            None => self.window.push(Record { block, resent: 1, duplicates: 0 }),
        }
        self.unsent = seen.nxt;
        self.round = None;
    }

    fn acked(&mut self, acked: &Acked, seen: &Seen) -> Answer {
        let una = acked.cumulative - acked.bytes;
        let empty = self.sacked_up_to <= una && acked.sacked_up_to == 0;
        self.sacked_up_to = self.sacked_up_to.max(acked.sacked_up_to);
        let dsack = acked.dsacks.first().copied().filter(|dsack| dsack.start < dsack.end && !self.over);
        if let Some(dsack) = dsack {
            // (A.1): no other news came since the retransmission, so a window of ACKs was lost.
            if self.asks && empty && dsack.start == una {
                self.asks = false;
                return Answer::Genuine;
            }
            // (A.2), and (A.3) with as many duplicates as there were retransmissions. One DSACK may
            // report several segments in a row (RFC 2883).
            let mut known = self.covered_before(dsack);
            for record in self.window.iter_mut().filter(|record| within(record.block, dsack)) {
                known = true;
                record.duplicates = (record.duplicates + 1).min(record.resent);
            }
            // (A.4). A DSACK for a part of a retransmitted segment counts as neither.
            let of_any = |block: &Block| overlap(*block, dsack);
            if !known && !self.window.iter().map(|record| &record.block).any(of_any) && !self.before.iter().any(of_any)
            {
                self.over = true;
            }
        }
        if !self.asks || self.over {
            return Answer::Undecided;
        }
        // (B.1)
        let (resent, duplicates) = self
            .window
            .iter()
            .fold((0, 0), |(resent, duplicates), one| (resent + one.resent, duplicates + one.duplicates));
        if duplicates == resent {
            self.asks = false;
            return Answer::Spurious;
        }
        // (B.2): no conclusion. No DSACK will come a round trip after data sent later than the last
        // retransmission is acknowledged.
        if let Some(round) = self.round {
            if acked.cumulative <= round {
                return Answer::Undecided;
            }
            self.asks = false;
            return if duplicates == 0 { Answer::Genuine } else { Answer::Mixed(duplicates, resent) };
        }
        if acked.cumulative > self.unsent {
            self.round = Some(seen.nxt);
        }
        Answer::Undecided
    }
}

impl Dsack {
    pub(super) fn is_waiting(&self) -> bool {
        self.asks && !self.over
    }

    /// Returns whether every position of `dsack` was retransmitted in the window before.
    fn covered_before(&self, dsack: Block) -> bool {
        (dsack.start..dsack.end).all(|at| self.before.iter().any(|block| block.start <= at && at < block.end))
    }
}

#[test]
fn dsack_agrees_with_a_model_of_rfc_3708() {
    compare(&Choice::named("dsack"), &|_| Box::new(Dsack::default()));
}
