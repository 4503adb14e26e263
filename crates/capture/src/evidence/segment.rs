//! The evidence about one segment or chunk that was sent more than once.

use crate::order::{Original, Transmission};
use crate::result::When;
use eifel_base::ranges::Block;
use eifel_base::units::Timestamp;

/// The longest time by which a network that reorders delays a packet, in nanoseconds.
pub(crate) const REORDERED_WITHIN: u64 = 300_000_000;

/// Round trips below this are mostly queues and the work of hosts, so that the shortest of those
/// that were seen says little, in nanoseconds. Fitted to recordings of Linux on LANs.
pub(crate) const SHORT_ROUND_TRIP: u64 = 2_000_000;

/// The evidence about one segment or chunk that was sent more than once.
#[derive(Clone, Debug)]
pub(crate) struct SegmentEvidence {
    pub(crate) end: u64,
    /// All transmissions in the order in which they passed. The first entry is a placeholder if the
    /// first transmission was not seen.
    pub(crate) transmissions: Vec<Transmission>,
    /// Whether the first transmission was seen.
    pub(crate) original: Original,
    pub(crate) first: FirstTransmission,
    pub(crate) answer: Option<Answered>,
    /// The ACKs that report the segment as a duplicate.
    pub(crate) duplicates: Vec<When>,
    /// The frame of an ACK that reported data above the segment, but not the segment.
    pub(crate) gap: Option<u64>,
    /// The frame of the next ACK of new data. `None` unless it shows that data sent between the
    /// first and the second transmission arrived after the segment.
    pub(crate) in_order: Option<u64>,
    /// The transmission that filled the gap below the segment. `None` unless the ACK of that transmission
    /// covers the segment too, which shows that the segment had arrived before.
    pub(crate) arrived_before: Option<Filled>,
    /// The index of the transmission that filled the gap at the front of the window with the
    /// segment.
    pub(crate) filler: Option<usize>,
    /// Whether the receiver had to reject the first transmission because of its old timestamp (RFC
    /// 7323, section 5).
    pub(crate) refused: bool,
    /// The frame in which a router reports that it dropped the first transmission.
    pub(crate) dropped: Option<u64>,
    pub(crate) without_news: AcksWithoutNews,
}

/// The transmission that filled a gap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filled {
    /// When it left, in nanoseconds.
    pub(crate) sent: u64,
    /// How long the one before it took, in nanoseconds. If it took longer, others may have overtaken it.
    pub(crate) takes: u64,
}

/// What ACKs without news show of a segment. All but the first field are kept without SACK alone.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct AcksWithoutNews {
    /// Whether one came soon after the answer, so that it may answer the original.
    pub(crate) original: bool,
    /// Whether their number leaves none that answers the original.
    pub(crate) settled: bool,
    /// Whether more came soon after the answer than segments had passed.
    pub(crate) doubted: bool,
    /// The index of the transmission that arrived first, as their number shows.
    pub(crate) filled: Option<usize>,
    /// The index of the first transmission that arrived as a duplicate, as their number shows.
    pub(crate) twice: Option<usize>,
}

/// What tells the first transmission of a segment from its retransmissions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstTransmission {
    /// Data behind the segment that passed, if the first transmission did not. These left after it.
    pub(crate) behind: Option<Transmission>,
    /// Its bounds; the segment may be a part of it.
    pub(crate) whole: Block,
    /// The oldest timestamp of the retransmissions within these bounds; `None` without such ones.
    within_whole: Option<Option<Timestamp>>,
    /// The frame in which the receiver reports a duplicate that only it can be.
    pub(crate) reported: Option<u64>,
    /// Whether the receiver had reported that it is missing when it was sent again.
    pub(crate) missed: bool,
    /// Whether an ACK without news may answer it: the receiver got it behind a retransmission of other
    /// data, and refused its old timestamp (RFC 7323, section 5.3). Or none came, because one had come
    /// shortly before.
    pub(crate) may_be_refused: bool,
    /// Whether the receiver may have got it before, though the SACK that showed the gap leaves it out.
    pub(crate) may_be_left_out: bool,
}

/// The first ACK that covers a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Answered {
    pub(crate) when: When,
    /// The timestamp that it echoes, if the segment fills the gap at the front of the window.
    pub(crate) echo: Option<Timestamp>,
    /// When the newest data left that ACKs before it had reported and that were sent once, in nanoseconds.
    pub(crate) newest: u64,
    /// The end of the data that it acknowledges; `None` after the next ACK of new data, and for a
    /// SACK.
    pub(crate) up_to: Option<u64>,
}

impl SegmentEvidence {
    /// Returns the evidence about a segment that ends at `end`, with its first transmission.
    pub(crate) fn new(end: u64, first: Transmission) -> Self {
        Self {
            end,
            transmissions: vec![first],
            original: if first.missing { Original::Unseen } else { Original::Seen },
            first: FirstTransmission {
                behind: None,
                whole: Block { start: first.start, end },
                within_whole: None,
                reported: None,
                missed: false,
                may_be_refused: false,
                may_be_left_out: false,
            },
            answer: None,
            duplicates: Vec::new(),
            gap: None,
            in_order: None,
            arrived_before: None,
            filler: None,
            refused: false,
            dropped: None,
            without_news: AcksWithoutNews::default(),
        }
    }

    /// Returns whether a transmission is known to have left after data behind the segment. Then it is
    /// no original.
    pub(crate) fn is_sent_after(&self, sent: &Transmission) -> bool {
        self.first.behind.is_some_and(|behind| behind.precedes(sent))
    }

    /// Records a retransmission of `block`, of which this segment is a part.
    pub(super) fn on_bounds(&mut self, block: Block, stamp: Option<Timestamp>) {
        let FirstTransmission { whole, within_whole, .. } = &mut self.first;
        if whole.start <= block.start && block.end <= whole.end {
            within_whole.get_or_insert(stamp);
        }
    }

    /// Records that the receiver reports `block` as a duplicate, in an ACK that covers it. A report has
    /// the bounds of the segment that arrived; a card of the receiver may have joined several. If it
    /// echoes an older timestamp than theirs, none of them had arrived.
    pub(super) fn on_report(&mut self, block: Block, echo: Option<Timestamp>, frame: u64) {
        let older = |stamp: Option<Timestamp>| echo.zip(stamp).is_some_and(|(echo, stamp)| echo.precedes(stamp));
        let joined = self.first.within_whole.is_some_and(|stamp| !older(stamp));
        if block == self.first.whole && !joined && self.original == Original::Seen {
            self.first.reported.get_or_insert(frame);
        }
    }

    /// Records an ACK without news that echoes `echo`. Returns whether it may refuse the original.
    pub(super) fn on_ack_without_news(&mut self, echo: Timestamp) -> bool {
        let may_be_refused = self.answer.is_none() && self.is_older_than(echo);
        self.first.may_be_refused |= may_be_refused;
        may_be_refused
    }

    /// Returns whether the original passed with a timestamp older than `echo`. A receiver that has echoed
    /// this refuses it.
    pub(super) fn is_older_than(&self, echo: Timestamp) -> bool {
        let older = self.transmissions[0].stamp().is_some_and(|stamp| stamp.precedes(echo));
        older && self.original == Original::Seen
    }

    /// Returns whether an ACK may still add evidence other than duplicates.
    pub(crate) fn is_open(&self) -> bool {
        self.answer.is_none_or(|answer| answer.up_to.is_some())
    }

    /// Returns the index of the last transmission that an ACK at `now` can answer. The path may be a little faster
    /// than the `shortest` round trip.
    pub(crate) fn latest_that_arrived(&self, now: u64, shortest: u64) -> Option<usize> {
        let soonest = shortest - shortest / 16;
        self.transmissions.iter().rposition(|sent| sent.nanos.saturating_add(soonest) <= now)
    }
}
