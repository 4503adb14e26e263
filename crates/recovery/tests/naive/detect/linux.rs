//! Linux 6.18's rules for an undo, by its variables: `undo_marker`, `undo_retrans`, `retrans_stamp`, `high_seq`.

use eifel_recovery::fact::{Acked, Block, Cause, Echo, Refusal};
use eifel_recovery::registry::Choice;

use super::world::{Again, MSS, Seen};
use super::{Answer, Naive, compare};

#[derive(Clone, Copy, PartialEq, Eq)]
enum CaState {
    Open,
    Recovery,
    Loss,
}

struct Linux {
    ca_state: CaState,
    frto: bool,
    /// Whether new data was asked for, which clears `frto` if none leaves.
    asked: bool,
    high_seq: u64,
    undo_marker: Option<u64>,
    /// When the state last became Open at the end of a repair.
    opened: Option<u64>,
    /// -1 before the first retransmission.
    undo_retrans: i64,
    /// The TSval, if there is one, of the first retransmission.
    retrans_stamp: Option<Option<u32>>,
    tlp_high_seq: Option<u64>,
    retransmits: u32,
    total_retrans: u64,
    dsack_dups: u64,
    /// Segments that were retransmitted, and whether a retransmission is in flight.
    resent: Vec<(Block, bool)>,
    sacked: Vec<Block>,
}

/// Returns the parts of `block` that lie in none of `others`.
fn without(block: Block, others: &[Block]) -> Vec<Block> {
    let mut parts = vec![block];
    for other in others {
        parts = parts
            .into_iter()
            .flat_map(|part| {
                let below = Block { start: part.start, end: part.end.min(other.start) };
                let above = Block { start: part.start.max(other.end), end: part.end };
                if other.start >= part.end || other.end <= part.start { vec![part] } else { vec![below, above] }
            })
            .filter(|part| part.start < part.end)
            .collect();
    }
    parts
}

impl Linux {
    fn retrans_out(&self) -> usize {
        self.resent.iter().filter(|(_, out)| *out).count()
    }

    fn any_retrans_done(&self, una: u64) -> bool {
        self.retrans_out() > 0 || self.resent.iter().any(|(block, _)| block.start <= una)
    }

    fn init_undo(&mut self, una: u64) {
        let count = self.retrans_out() as i64 + i64::from(self.tlp_high_seq.is_some());
        self.undo_marker = Some(una);
        self.undo_retrans = if count == 0 { -1 } else { count };
    }

    fn packet_delayed(&self, acked: &Acked, sack: bool) -> bool {
        match self.retrans_stamp {
            None => sack || acked.cumulative < self.high_seq,
            Some(None) => false,
            Some(Some(stamp)) => match acked.echo {
                Some(Echo::Known { value, .. }) => (stamp.wrapping_sub(value.0) as i32) > 0,
                _ => false,
            },
        }
    }

    fn may_undo(&self, acked: &Acked, sack: bool) -> bool {
        self.undo_marker.is_some() && (self.undo_retrans == 0 || self.packet_delayed(acked, sack))
    }

    fn undo(&mut self) -> Answer {
        if self.undo_marker.take().is_some() { Answer::Spurious } else { Answer::Undecided }
    }

    fn clean(&mut self, una: u64, now: u64) {
        self.resent.retain(|(block, _)| block.end > una);
        for (block, _) in &mut self.resent {
            block.start = block.start.max(una);
        }
        if self.ca_state == CaState::Open && self.opened != Some(now) && !self.any_retrans_done(una) {
            self.retrans_stamp = None;
        }
    }

    fn after_repair(&mut self, acked: &Acked, seen: &Seen) {
        if seen.sack || acked.cumulative > self.high_seq {
            self.ca_state = CaState::Open;
            self.opened = Some(seen.now);
        } else if !self.any_retrans_done(acked.cumulative) {
            self.retrans_stamp = None;
        }
    }

    fn try_undo_loss(&mut self, acked: &Acked, by_frto: bool, seen: &Seen) -> Answer {
        self.retransmits = 0;
        if !seen.sack && acked.cumulative == self.high_seq {
            if !self.any_retrans_done(acked.cumulative) {
                self.retrans_stamp = None;
            }
        } else if by_frto || seen.sack {
            self.ca_state = CaState::Open;
            self.opened = Some(seen.now);
        }
        self.undo()
    }

    fn count_dsack(&mut self, acked: &Acked, una: u64) {
        let Some(dsack) = acked.dsacks.first().filter(|dsack| dsack.start < dsack.end) else { return };
        let mut segments = (dsack.end - dsack.start).div_ceil(MSS) as i64;
        self.dsack_dups += segments as u64;
        if self.dsack_dups > self.total_retrans {
            return;
        }
        if segments == 1 && self.tlp_high_seq == Some(dsack.end) && acked.cumulative >= dsack.end {
            self.tlp_high_seq = None;
        }
        if self.undo_marker.is_none_or(|marker| dsack.end <= marker) || self.undo_retrans <= 0 {
            return;
        }
        if dsack.end > una {
            let inside = |block: &Block| dsack.start <= block.start && block.end <= dsack.end;
            segments = self.resent.iter().filter(|(block, _)| inside(block)).count() as i64;
        }
        self.undo_retrans = (self.undo_retrans - segments).max(0);
    }

    /// Returns FLAG_ORIG_SACK_ACKED.
    fn delivers_original(&mut self, acked: &Acked, una: u64, sack: bool) -> bool {
        let resent: Vec<_> = self.resent.iter().map(|(block, _)| *block).collect();
        let blocks = if sack && acked.sacked > 0 { acked.sacks } else { &[] };
        let mut original = false;
        for &block in [Block { start: una, end: acked.cumulative }].iter().chain(blocks) {
            for part in without(block, &self.sacked) {
                let part = Block { start: part.start, end: part.end.min(self.high_seq) };
                original |= part.start < part.end && !without(part, &resent).is_empty();
            }
            self.sacked.push(block);
        }
        let filled = resent.iter().any(|block| block.start < acked.cumulative);
        for (block, out) in &mut self.resent {
            *out &= !without(*block, &self.sacked).is_empty();
        }
        original && (sack || !filled)
    }
}

impl Naive for Linux {
    fn signalled(&mut self, again: &Again, seen: &Seen) {
        self.clean(seen.una, seen.now);
        if again.cause == Cause::FastRetransmit {
            self.init_undo(seen.una);
            self.ca_state = CaState::Recovery;
        } else {
            let new_recovery = self.ca_state == CaState::Open;
            self.resent.iter_mut().for_each(|(_, out)| *out = false);
            if new_recovery || self.high_seq <= seen.una || self.ca_state == CaState::Loss && self.retransmits == 0 {
                self.init_undo(seen.una);
            }
            self.ca_state = CaState::Loss;
            self.frto = new_recovery || self.retransmits > 0;
            self.asked = false;
            self.retransmits += 1;
        }
        self.high_seq = seen.nxt;
        self.tlp_high_seq = None;
    }

    fn sent_again(&mut self, again: &Again, seen: &Seen) {
        self.total_retrans += 1;
        let probe = self.ca_state == CaState::Open && !again.opens && again.end() == seen.nxt;
        match self.resent.iter_mut().find(|(block, _)| block.start == again.start()) {
            Some((_, out)) => *out |= !probe,
            None => self.resent.push((Block { start: again.start(), end: again.end() }, !probe)),
        }
        if probe {
            self.tlp_high_seq = Some(again.end());
            return;
        }
        self.retrans_stamp.get_or_insert(again.stamp.map(|stamp| stamp.0));
        self.undo_retrans = self.undo_retrans.max(0) + 1;
    }

    fn acked(&mut self, acked: &Acked, seen: &Seen) -> Answer {
        let una = acked.cumulative - acked.bytes;
        let (sack, advanced) = (seen.sack, acked.bytes > 0);
        if advanced {
            self.retransmits = 0;
        }
        self.count_dsack(acked, una);
        let original = self.delivers_original(acked, una, sack);
        if self.tlp_high_seq.is_some_and(|end| {
            let pure = !advanced && acked.sacked_up_to == 0 && acked.dsacks.is_empty();
            acked.cumulative > end || acked.cumulative == end && pure
        }) {
            self.tlp_high_seq = None;
        }
        self.clean(acked.cumulative, seen.now);
        let recovered = acked.cumulative >= self.high_seq;
        match self.ca_state {
            CaState::Open if self.undo_retrans == 0 => self.undo(),
            CaState::Open => Answer::Undecided,
            CaState::Recovery if recovered => {
                let answer = if self.may_undo(acked, sack) { self.undo() } else { Answer::Undecided };
                self.after_repair(acked, seen);
                answer
            }
            CaState::Recovery if advanced && self.undo_marker.is_some() && self.packet_delayed(acked, sack) => {
                if self.retrans_out() > 0 {
                    return Answer::Probe;
                }
                self.ca_state = CaState::Open;
                if !self.any_retrans_done(acked.cumulative) {
                    self.retrans_stamp = None;
                }
                self.undo()
            }
            CaState::Recovery if self.undo_marker.is_some() && self.undo_retrans == 0 => {
                self.ca_state = CaState::Open;
                self.undo()
            }
            CaState::Recovery => Answer::Undecided,
            CaState::Loss if advanced && self.may_undo(acked, sack) => self.try_undo_loss(acked, false, seen),
            CaState::Loss if self.frto && original && !(self.asked && seen.nxt <= self.high_seq) => {
                self.try_undo_loss(acked, true, seen)
            }
            CaState::Loss => {
                if self.asked && seen.nxt <= self.high_seq {
                    self.frto = false;
                }
                if self.frto && seen.nxt > self.high_seq {
                    let dupack = acked.duplicate || !advanced && !acked.dsacks.is_empty();
                    self.frto = acked.sacked == 0 && !dupack;
                } else if self.frto && advanced && !recovered {
                    self.high_seq = seen.nxt;
                    self.asked = true;
                    return Answer::Probe;
                }
                if !recovered {
                    return Answer::Undecided;
                }
                let answer = if self.may_undo(acked, sack) { self.undo() } else { Answer::Undecided };
                self.after_repair(acked, seen);
                answer
            }
        }
    }

    fn not_probed(&mut self, refusal: Refusal) -> Answer {
        if self.ca_state == CaState::Loss {
            self.frto &= refusal == Refusal::Watches;
        }
        Answer::Undecided
    }
}

#[test]
fn linux_agrees_with_a_model_of_its_variables() {
    compare(&Choice::named("linux"), &|_| {
        Box::new(Linux {
            ca_state: CaState::Open,
            frto: false,
            asked: false,
            high_seq: 0,
            undo_marker: None,
            opened: None,
            undo_retrans: -1,
            retrans_stamp: None,
            tlp_high_seq: None,
            retransmits: 0,
            total_retrans: 0,
            dsack_dups: 0,
            resent: Vec::new(),
            sacked: Vec::new(),
        })
    });
}
