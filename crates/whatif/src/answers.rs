//! Determines which sendings were lost, and when the others were acknowledged.
//!
//! *Looks at* the trace, and at the verdicts of the analysis on the retransmissions.
//! *Decides* for each sending whether it arrived, and for most arrived sendings, which ACK they
//! caused.
//! *Blind to* later copies of data that has arrived: nothing shows whether they were lost too.
//! *From* RFC 5681, section 4.2 (when a receiver acknowledges at once) and RFC 2018, section 4 (SACK order).

use std::collections::BTreeSet;

use crate::acks::{self, Report};
use crate::trace::{Heard, Trace};

/// The fate of a sending.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    Arrived,
    Lost,
    /// A copy of data that has arrived, or data that no ACK in the capture covers.
    Unknown,
}

/// The ACK that a sending caused.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Answer {
    /// When the sender received the ACK, in seconds.
    pub at: f64,
    /// Index of the ACK in the trace's `heard`.
    pub heard: usize,
    /// Pieces that this ACK is the first to report.
    pub count: u32,
    /// Whether the receiver sent the ACK at once under any policy, because it reports or closes a
    /// gap.
    pub at_once: bool,
}

/// The results for all sendings, by their indices.
#[derive(Clone, PartialEq, Debug)]
pub struct Answers {
    pub fates: Vec<Fate>,
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
    /// Attributes the ACKs of a trace. `needed` holds the frames of the retransmissions that the analysis calls needed.
    pub fn of(trace: &Trace, needed: &BTreeSet<u64>) -> Self {
        let arrived: Vec<usize> = trace
            .pieces
            .iter()
            .map(|piece| {
                let is_needed = |index: &usize| needed.contains(&trace.sendings[*index].frame);
                // If a retransmission was needed, all sendings before it were lost.
                piece.sendings.iter().rposition(is_needed).unwrap_or(0)
            })
            .collect();
        let mut found = Self {
            fates: vec![Fate::Unknown; trace.sendings.len()],
            causes: vec![None; trace.sendings.len()],
            reported: vec![None; trace.pieces.len()],
            every: 1,
            overtaken: Vec::new(),
            reports: Vec::new(),
        };
        let mut front = Front { una: 0, duplicates: 0, beyond: 0 };
        for (index, heard) in trace.heard.iter().enumerate() {
            found.hear(trace, (index, heard), &mut front, &arrived);
        }
        found.every = acks::usual(&found.reports);
        for (piece, last) in arrived.iter().enumerate() {
            if found.reported[piece].is_some() {
                let sendings = &trace.pieces[piece].sendings;
                sendings[..*last].iter().for_each(|index| found.fates[*index] = Fate::Lost);
                found.fates[sendings[*last]] = Fate::Arrived;
            }
        }
        found
    }

    fn hear(&mut self, trace: &Trace, (index, heard): (usize, &Heard), front: &mut Front, arrived: &[usize]) {
        let pieces = &trace.pieces;
        let sending = |piece: usize| pieces[piece].sendings[arrived[piece]];
        let mut selected: Vec<usize> = Vec::new();
        for block in &heard.sacks {
            let mut piece = pieces.partition_point(|piece| piece.start < block.start);
            while pieces.get(piece).is_some_and(|piece| piece.end <= block.end) {
                if self.reported[piece].is_none() {
                    self.reported[piece] = Some(heard.at);
                    selected.push(piece);
                }
                piece += 1;
            }
        }
        front.beyond = selected.iter().map(|piece| piece + 1).fold(front.beyond, usize::max);
        let una = front.una;
        let (mut next, mut fresh, mut closes) = (una, Vec::new(), front.duplicates > 0 && !trace.sack);
        while pieces.get(next).is_some_and(|piece| piece.end <= heard.cumulative) {
            if self.reported[next].is_none() {
                self.reported[next] = Some(heard.at);
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
            selected.iter().copied().max_by_key(|piece| sending(*piece))
        } else if closes {
            fresh.first().copied().filter(|_| fresh.len() == 1)
        } else {
            fresh.last().copied()
        };
        let count = (selected.len() + fresh.len()) as u32;
        if let Some(piece) = cause {
            let answer = Answer { at: heard.at, heard: index, count, at_once: gap || closes };
            self.causes[sending(piece)] = Some(answer);
        }
        if gap || (count > 0 && !closes) {
            let pieces = if gap { selected.len() as u32 } else { count };
            self.reports.push(Report { at: heard.at, pieces, gap });
        }
        if next > una {
            if !trace.sack && front.duplicates > 0 && pieces[una].sendings.len() == 1 {
                self.overtaken.push((una, front.duplicates));
            }
            (front.una, front.duplicates) = (next, 0);
        } else if una > 0 && pieces[una - 1].end == heard.cumulative {
            front.duplicates += 1;
        }
    }

    /// Returns the ACK of a sending, if the receiver sent it as soon as the sending arrived.
    pub fn exact(&self, sending: usize) -> Option<Answer> {
        self.causes[sending].filter(|answer| answer.at_once || answer.count >= self.every)
    }
}

/// The oldest piece that is not acknowledged, and the duplicate ACKs for it.
struct Front {
    una: usize,
    duplicates: u32,
    /// The first piece beyond all pieces that SACK reported.
    beyond: usize,
}
