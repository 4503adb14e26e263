//! Determines which transmissions were lost, and when the others were acknowledged.
//!
//! *Looks at* the trace, and at the verdicts of the analysis on the retransmissions.
//! *Decides* for each transmission whether it arrived, and for most arrived transmissions, which ACK they
//! caused.
//! *Blind to* later copies of data that has arrived: nothing shows whether they were lost too.
//! *From* RFC 5681, section 4.2 (when a receiver acknowledges at once) and RFC 2018, section 4 (SACK order).

use std::collections::BTreeSet;

use crate::acks::{self, Report};
use crate::trace::{ReceivedAck, Trace};

/// The outcome of a transmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PacketOutcome {
    Arrived,
    Lost,
    /// A copy of data that has arrived, or data that no ACK in the capture covers.
    Unknown,
}

/// The ACK that a transmission caused.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Answer {
    /// When the sender received the ACK, in seconds.
    pub at: f64,
    /// Index of the ACK in the trace's `acks`.
    pub ack: usize,
    /// Pieces that this ACK is the first to report.
    pub count: u32,
    /// Whether the receiver sent the ACK at once under any policy, because it reports or closes a
    /// gap.
    pub at_once: bool,
}

/// The results for all transmissions, by their indices.
#[derive(Clone, PartialEq, Debug)]
pub struct Answers {
    pub outcomes: Vec<PacketOutcome>,
    pub causes: Vec<Option<Answer>>,
    /// When each piece was first reported to the sender.
    pub reported: Vec<Option<f64>>,
    /// Number of full segments after which the receiver sends an ACK.
    pub every: u32,
    /// Pieces that arrived after data sent later, and how many segments overtook each. Duplicate
    /// ACKs show them if there is no SACK.
    pub overtaken: Vec<(usize, u32)>,
    /// The ACKs that reported pieces.
    pub reports: Vec<Report>,
}

impl Answers {
    /// Attributes the ACKs of a trace. `needed` holds the frames of the retransmissions that the
    /// analysis calls needed.
    pub fn of(trace: &Trace, needed: &BTreeSet<u64>) -> Self {
        let arrived: Vec<usize> = trace
            .pieces
            .iter()
            .map(|piece| {
                let is_needed = |index: &usize| needed.contains(&trace.transmissions[*index].frame);
                // If a retransmission was needed, all transmissions before it were lost.
                piece.transmissions.iter().rposition(is_needed).unwrap_or(0)
            })
            .collect();
        let mut found = Self {
            outcomes: vec![PacketOutcome::Unknown; trace.transmissions.len()],
            causes: vec![None; trace.transmissions.len()],
            reported: vec![None; trace.pieces.len()],
            every: 1,
            overtaken: Vec::new(),
            reports: Vec::new(),
        };
        let missing = missing(trace);
        let mut front = OldestUnacked { una: 0, duplicates: 0, beyond: 0 };
        for (index, ack) in trace.acks.iter().enumerate() {
            found.on_ack(trace, (index, ack), &mut front, &arrived, missing.get(index).copied());
        }
        found.every = acks::usual(&found.reports);
        for (piece, last) in arrived.iter().enumerate() {
            if found.reported[piece].is_some() {
                let transmissions = &trace.pieces[piece].transmissions;
                transmissions[..*last].iter().for_each(|index| found.outcomes[*index] = PacketOutcome::Lost);
                found.outcomes[transmissions[*last]] = PacketOutcome::Arrived;
            }
        }
        found
    }

    fn on_ack(
        &mut self,
        trace: &Trace,
        (index, ack): (usize, &ReceivedAck),
        front: &mut OldestUnacked,
        arrived: &[usize],
        missing: Option<u32>,
    ) {
        let pieces = &trace.pieces;
        let transmission = |piece: usize| pieces[piece].transmissions[arrived[piece]];
        let mut selected: Vec<usize> = Vec::new();
        for block in &ack.sacks {
            let mut piece = pieces.partition_point(|piece| piece.start < block.start);
            while pieces.get(piece).is_some_and(|piece| piece.end <= block.end) {
                if self.reported[piece].is_none() {
                    self.reported[piece] = Some(ack.at);
                    selected.push(piece);
                }
                piece += 1;
            }
        }
        front.beyond = selected.iter().map(|piece| piece + 1).fold(front.beyond, usize::max);
        let una = front.una;
        let (mut next, mut fresh, mut closes) = (una, Vec::new(), front.duplicates > 0 && !trace.sack);
        while pieces.get(next).is_some_and(|piece| piece.end <= ack.cumulative) {
            if self.reported[next].is_none() {
                self.reported[next] = Some(ack.at);
                fresh.push(next);
            } else {
                closes = true;
            }
            next += 1;
        }
        // A receiver that holds data beyond a gap acknowledges at once a segment that fills the
        // beginning of the gap.
        closes |= front.beyond > next;
        let gap = !selected.is_empty();
        let cause = if gap {
            selected.iter().copied().max_by_key(|piece| transmission(*piece))
        } else if closes {
            fresh.first().copied().filter(|_| fresh.len() == 1)
        } else {
            fresh.last().copied()
        };
        let count = (selected.len() + fresh.len()) as u32;
        if let Some(piece) = cause {
            let answer = Answer { at: ack.at, ack: index, count, at_once: gap || closes };
            self.causes[transmission(piece)] = Some(answer);
        }
        if gap || (count > 0 && !closes) {
            let pieces = if gap { selected.len() as u32 } else { count };
            self.reports.push(Report { at: ack.at, pieces, gap, missing });
        }
        if next > una {
            if !trace.sack && front.duplicates > 0 && pieces[una].transmissions.len() == 1 {
                self.overtaken.push((una, front.duplicates));
            }
            (front.una, front.duplicates) = (next, 0);
        } else if una > 0 && pieces[una - 1].end == ack.cumulative {
            front.duplicates += 1;
        }
    }

    /// Returns the ACK of a transmission, if the receiver sent it as soon as the transmission
    /// arrived.
    pub fn exact(&self, transmission: usize) -> Option<Answer> {
        self.causes[transmission].filter(|answer| answer.at_once || answer.count >= self.every)
    }
}

/// Returns how many of the receiver's packets are missing before each ACK. Returns nothing if the
/// receiver does not number its packets.
fn missing(trace: &Trace) -> Vec<u32> {
    if !trace.numbers_acks() {
        return Vec::new();
    }
    let mut numbers: Vec<u32> = trace.acks.iter().map(|ack| ack.number).filter(|number| *number > 0).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let before = |number: &u32| match numbers.binary_search(number) {
        // A late ACK is missing nowhere: it stands in its place.
        Ok(place) if place > 0 => number - numbers[place - 1] - 1,
        _ => 0,
    };
    trace.acks.iter().map(|ack| before(&ack.number)).collect()
}

/// The oldest piece that is not acknowledged, and the duplicate ACKs for it.
struct OldestUnacked {
    una: usize,
    duplicates: u32,
    /// The first piece beyond all pieces that SACK reported.
    beyond: usize,
}
