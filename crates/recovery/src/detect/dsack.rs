//! *Looks at* DSACKs for retransmissions. It keeps a record of each retransmission of the episode.
//! *Decides* spurious once every retransmission has been reported as a duplicate. Otherwise it
//! decides a round trip after the first ACK of data sent later than the last retransmission:
//! genuine without duplicates, mixed with some. By then a DSACK that was overtaken has arrived too.
//! Its parameter can make it wait until the next loss signal instead. If nothing was reported
//! before a DSACK for the oldest segment, a window of ACKs was lost: genuine.
//! *Blind to* anything in time: it decides a round trip after the needless retransmissions. A DSACK
//! is sent only once. If the DSACK or the retransmission is lost, the episode is not found to be
//! spurious. A DSACK for data never retransmitted shows that the network duplicates packets, and
//! disarms the detector for good.
//! *From* RFC 3708, section 3; RFC 2883.

use std::collections::BTreeMap;
use std::mem;

use super::{Detector, Judgement, NeedlessShare, Outcome};
use crate::fact::{Acked, Block, Cause, Fact, Kind, Transmission};
use crate::registry::{Entry, Need, Parameter};
use crate::view::View;
use eifel_base::ranges::Ranges;

pub(super) const ENTRY: Entry = Entry {
    name: "dsack",
    summary: "every retransmission is reported as a duplicate",
    source: "RFC 3708",
    needs: Some(Need::Duplicates),
    parameters: &[Parameter::word(
        "waits",
        "how long it waits for missing DSACKs: a round trip of later data, or until the next loss signal (RFC 3708, \
         B.2), because retransmissions may take a slower path",
        "round-trip",
        &["round-trip", "next-loss"],
    )],
    ..Entry::detector(|parameters| {
        let make: fn() -> Dsack =
            parameters.word("waits", &[("round-trip", Dsack::default), ("next-loss", Dsack::patient)]);
        Box::new(make())
    })
};

/// Detection by the duplicates that the peer reports.
#[derive(Clone, Debug, Default)]
pub struct Dsack {
    state: State,
    /// Whether it waits for duplicates until the next loss signal.
    patient: bool,
    /// The episode's retransmissions, keyed by their first position.
    records: BTreeMap<u64, Record>,
    resent: u32,
    needless: u32,
    /// First position that was unsent at the last retransmission; in state `Overtaken`, at the
    /// first ACK of later data.
    unsent: u64,
    /// Retransmissions of the previous episode, whose DSACKs may be late.
    before: Ranges,
    /// Start of the episode's first retransmission. If it is retransmitted once more, its timer has
    /// expired again.
    first: u64,
    /// First position not acknowledged, as of the last ACK that the detector has seen.
    una: u64,
    /// First position beyond all SACK reports since the last timeout, which empties the scoreboard.
    reported: u64,
}

#[derive(Clone, Debug, Default, PartialEq)]
enum State {
    #[default]
    Idle,
    /// Each retransmission may still be reported as a duplicate.
    Waiting,
    /// Data sent later is acknowledged. An ACK that was overtaken may still report a duplicate.
    Overtaken,
    /// No DSACK is trusted any more.
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
    /// Creates a detector that waits for missing duplicates until the next loss signal. It never
    /// judges an episode genuine because they are missing.
    pub fn patient() -> Self {
        Self { patient: true, ..Self::default() }
    }

    fn on_retransmission(&mut self, transmission: &Transmission, opens: bool, view: &View) {
        if opens {
            self.first = transmission.start;
        }
        if transmission.start == self.first && transmission.kind == Kind::Retransmission(Cause::Timeout) {
            self.reported = 0;
        }
        if self.state == State::Disarmed {
            return;
        }
        if opens {
            self.una = view.una;
            self.before.clear();
            for (start, record) in mem::take(&mut self.records) {
                self.before.insert(Block { start, end: record.end }, |_| ());
            }
            (self.resent, self.needless) = (0, 0);
            self.state = State::Waiting;
        }
        let end = transmission.positions().end;
        let record = self.records.entry(transmission.start).or_insert(Record { end, resent: 0, needless: 0 });
        record.end = record.end.max(end);
        record.resent += 1;
        self.resent += 1;
        self.unsent = view.nxt;
        if self.state == State::Overtaken {
            self.state = State::Waiting;
        }
    }

    fn waits(&self) -> bool {
        matches!(self.state, State::Waiting | State::Overtaken)
    }

    /// Counts a DSACK for each record inside it, but at most once per retransmission.
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
        // The DSACK is for no retransmission, not even for a part of one.
        if !known && !self.overlaps(dsack) {
            self.state = State::Disarmed;
            self.records.clear();
        }
    }

    fn overlaps(&self, block: Block) -> bool {
        let below = self.records.range(..block.end).next_back();
        below.is_some_and(|(_, record)| record.end > block.start) || self.before.covered(block.start, block.end) > 0
    }

    #[inline(never)]
    fn judge(&mut self, acked: &Acked, una: u64, nxt: u64) -> Judgement {
        for &dsack in acked.dsacks.iter().filter(|dsack| dsack.start < dsack.end) {
            // Step A.1.
            if self.waits() && dsack.start == una && self.reported <= una {
                self.state = State::Idle;
                return Judgement::Settled(Outcome::Genuine, "nothing came before the DSACK: ACKs may have been lost");
            }
            self.note(dsack);
        }
        if !self.waits() {
            return Judgement::Undecided;
        }
        if self.needless == self.resent {
            self.state = State::Idle;
            return Judgement::Settled(Outcome::Spurious, "every retransmission has come back as a duplicate");
        }
        // Data that was unsent at the last retransmission was sent after it.
        if acked.cumulative > self.unsent && !self.patient {
            if self.state == State::Waiting {
                (self.state, self.unsent) = (State::Overtaken, nxt);
                return Judgement::Undecided;
            }
            self.state = State::Idle;
            return match self.needless {
                0 => Judgement::Settled(Outcome::Genuine, "later data are acknowledged, and no duplicate is reported"),
                needless => Judgement::Mixed(NeedlessShare { needless, resent: self.resent }),
            };
        }
        Judgement::Undecided
    }
}

impl Detector for Dsack {
    fn is_idle(&self) -> bool {
        !self.waits()
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
                let una = mem::replace(&mut self.una, acked.cumulative);
                if self.waits() || !acked.dsacks.is_empty() {
                    self.judge(acked, una, view.nxt)
                } else {
                    Judgement::Undecided
                }
            }
            Fact::NotProbed(_) => Judgement::Undecided,
        }
    }
}
