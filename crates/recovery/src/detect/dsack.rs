//! *Looks at* DSACKs for what was sent again: each retransmission of the episode has its record.
//! *Decides* spurious once every retransmission has come back as a duplicate; when data sent after the last of them are
//! acknowledged first, it decides genuine, or mixed if some have come back. A first sign of life that is a DSACK for the
//! oldest segment tells of a window of lost ACKs: genuine.
//! *Blind to* what is in time: it speaks a round trip after the needless retransmissions. A DSACK is sent once: where its
//! ACK is lost, or the retransmission was, the verdict is lost too. A DSACK for something never sent again tells of a
//! network that duplicates, and disarms it for good.
//! *From* RFC 3708, section 3; RFC 2883.

use std::collections::BTreeMap;

use super::{Detector, Judgement, Outcome, Share};
use crate::fact::{Acked, Block, Cause, Fact, Kind, Transmission};
use crate::view::View;
use eifel_base::ranges::Ranges;

/// Detection by duplicates that the peer reports.
#[derive(Clone, Debug, Default)]
pub struct Dsack {
    stage: Stage,
    /// By first position.
    records: BTreeMap<u64, Record>,
    resent: u32,
    needless: u32,
    /// First position that was unsent at the last retransmission.
    unsent: u64,
    /// What the episode before has sent again: its DSACKs may be late.
    before: Ranges,
    /// What the retransmission that opened the episode begins with: sent once more, its timer has expired again.
    first: u64,
    /// First position beyond what SACK has reported since a timeout has emptied the scoreboard.
    reported: u64,
}

#[derive(Clone, Debug, Default, PartialEq)]
enum Stage {
    #[default]
    Idle,
    /// Waits for a DSACK for each retransmission.
    Waiting,
    /// Trusts no DSACK any more.
    Disarmed,
}

/// Retransmissions of one block in this episode.
#[derive(Clone, Debug)]
struct Record {
    end: u64,
    resent: u32,
    needless: u32,
}

impl Dsack {
    fn on_retransmission(&mut self, transmission: &Transmission, opens: bool, view: &View) {
        if opens {
            self.first = transmission.start;
        }
        if transmission.start == self.first && transmission.kind == Kind::Retransmission(Cause::Timeout) {
            self.reported = 0;
        }
        if self.stage == Stage::Disarmed {
            return;
        }
        if opens {
            self.before.clear();
            for (start, record) in std::mem::take(&mut self.records) {
                self.before.insert(Block { start, end: record.end }, |_| ());
            }
            (self.resent, self.needless) = (0, 0);
            self.stage = Stage::Waiting;
        }
        let end = transmission.start + u64::from(transmission.len);
        let record = self.records.entry(transmission.start).or_insert(Record { end, resent: 0, needless: 0 });
        record.end = record.end.max(end);
        record.resent += 1;
        self.resent += 1;
        self.unsent = view.nxt;
    }

    /// Counts a DSACK for each record that lies in it, and no more often than the record was sent again.
    fn note(&mut self, dsack: Block) {
        let mut known = self.before.covers(dsack);
        for (_, record) in self.records.range_mut(dsack.start..dsack.end) {
            if record.end <= dsack.end {
                known = true;
                if record.needless < record.resent {
                    record.needless += 1;
                    self.needless += 1;
                }
            }
        }
        // A part of a retransmission was needless, or nothing of the kind was ever sent.
        if !known && !self.overlaps(dsack) {
            self.stage = Stage::Disarmed;
            self.records.clear();
        }
    }

    fn overlaps(&self, block: Block) -> bool {
        let below = self.records.range(..block.end).next_back();
        below.is_some_and(|(_, record)| record.end > block.start) || self.before.covered(block.start, block.end) > 0
    }

    #[inline(never)]
    fn judge(&mut self, acked: &Acked) -> Judgement {
        for &dsack in acked.dsacks.iter().filter(|dsack| dsack.start < dsack.end) {
            // Step A.1.
            let una = acked.cumulative - acked.bytes;
            if self.stage == Stage::Waiting && dsack.start == una && self.reported <= una {
                self.stage = Stage::Idle;
                return Judgement::Settled(Outcome::Genuine, "nothing came before the DSACK: ACKs may have been lost");
            }
            self.note(dsack);
        }
        if self.stage != Stage::Waiting {
            return Judgement::Undecided;
        }
        if self.needless == self.resent {
            self.stage = Stage::Idle;
            return Judgement::Settled(Outcome::Spurious, "every retransmission has come back as a duplicate");
        }
        // What was unsent at the last retransmission left after it.
        if acked.cumulative > self.unsent {
            self.stage = Stage::Idle;
            return match self.needless {
                0 => Judgement::Settled(Outcome::Genuine, "later data are acknowledged, and no duplicate is reported"),
                needless => Judgement::Mixed(Share { needless, resent: self.resent }),
            };
        }
        Judgement::Undecided
    }
}

impl Detector for Dsack {
    fn is_idle(&self) -> bool {
        self.stage != Stage::Waiting
    }

    #[inline]
    fn observe(&mut self, fact: &Fact<'_>, view: &View) -> Judgement {
        match fact {
            Fact::Retransmitted { transmission, opens, .. } => {
                self.on_retransmission(transmission, *opens, view);
                Judgement::Undecided
            }
            Fact::Acked(acked) => {
                self.reported = self.reported.max(acked.sacked_up_to);
                if self.stage == Stage::Waiting || !acked.dsacks.is_empty() {
                    self.judge(acked)
                } else {
                    Judgement::Undecided
                }
            }
            Fact::NotProbed(_) | Fact::ForgedEcho => Judgement::Undecided,
        }
    }
}
