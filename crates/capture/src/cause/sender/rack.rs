//! When each outstanding segment last left, and which of them RACK may declare lost (RFC 8985).

use crate::result::MOST_REPORTS;
use eifel_base::ranges::Block;
use eifel_base::ring::Ring;
use eifel_base::units::Timestamp;
use std::num::NonZeroU64;

/// Segments remembered. Beyond this number the oldest are forgotten.
const MOST: usize = 1 << 14;

/// An outstanding segment and its last transmission.
#[derive(Clone, Copy, Default, Debug)]
struct Sent {
    start: u64,
    end: u64,
    /// When it last left, in nanoseconds.
    left: u64,
    /// TSval of its retransmission.
    stamp: Option<Timestamp>,
    repeated: bool,
    /// When the ACK came that reported it, in nanoseconds.
    delivered: Option<NonZeroU64>,
}

/// The state of RACK: the last transmissions, and the newest of those that were delivered.
#[derive(Debug, Default)]
pub(super) struct Rack {
    /// In ascending order, without gaps.
    sent: Ring<Sent>,
    /// When the newest delivered transmission left, and the position where it ends.
    newest: (u64, u64),
    /// The round trip of the last delivered transmission, and the shortest one, in nanoseconds.
    round_trip: u64,
    shortest: Option<u64>,
    /// When the last ACK came that reported a delivery, in nanoseconds.
    advanced: u64,
}

/// What RACK knows of a segment if a transmission that left later was delivered. Times in
/// nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Overtaken {
    /// When RACK declares the segment lost, without a reordering window.
    pub(crate) from: u64,
    /// When the last ACK came that reported a delivery.
    pub(crate) advanced: u64,
}

impl Rack {
    /// Returns the state of a sender with nothing outstanding, given the shortest round trip so far.
    pub(super) fn new(shortest: Option<u64>) -> Self {
        Self { shortest, ..Self::default() }
    }

    /// Records new data that leave at `left`.
    pub(super) fn on_sent(&mut self, block: Block, left: u64) {
        if self.sent.len() == MOST {
            self.sent.pop_front();
        }
        self.sent.push_back(Sent { start: block.start, end: block.end, left, ..Sent::default() });
    }

    /// Records a retransmission that leaves at `left` with the timestamp `stamp`.
    pub(super) fn on_retransmission(&mut self, block: Block, left: u64, stamp: Option<Timestamp>) {
        let mut index = self.align(block);
        while let Some(sent) = self.sent.get_mut(index).filter(|sent| sent.start < block.end) {
            (sent.left, sent.stamp, sent.repeated) = (left, stamp, true);
            index += 1;
        }
    }

    /// Handles the delivery of `block`, as an ACK shows that the sender receives at `now`. `echo` is
    /// the timestamp that the ACK echoes, if that names the segment at its front.
    pub(super) fn on_delivered(&mut self, block: Block, now: u64, echo: Option<Timestamp>) {
        let mut index = self.align(block);
        while let Some(sent) = self.sent.get_mut(index).filter(|sent| sent.start < block.end) {
            index += 1;
            if sent.delivered.is_some() {
                continue;
            }
            sent.delivered = NonZeroU64::new(now.max(1));
            let sent = *sent;
            let took = now.saturating_sub(sent.left);
            // The ACK answers an earlier transmission.
            let older = echo.zip(sent.stamp).is_some_and(|(echo, stamp)| echo.precedes(stamp));
            if sent.repeated && (older || self.shortest.is_some_and(|shortest| took < shortest)) {
                continue;
            }
            if !sent.repeated {
                self.shortest = Some(self.shortest.map_or(took, |shortest| shortest.min(took)));
            }
            self.round_trip = took;
            if (sent.left, sent.end) > self.newest {
                self.newest = (sent.left, sent.end);
            }
            self.advanced = now;
        }
    }

    /// Drops the segments below `una`.
    pub(super) fn remove_below(&mut self, una: u64) {
        self.sent.pop_front_while(|sent| sent.end <= una);
    }

    /// Returns when RACK declares the segment at `position` lost; `None` if nothing that left later
    /// was delivered.
    pub(super) fn overtaken(&self, position: u64) -> Option<Overtaken> {
        let sent = self.sent.get(self.index(position)).filter(|sent| sent.start <= position)?;
        let overtaken = self.newest > (sent.left, sent.end);
        overtaken.then_some(Overtaken { from: sent.left + self.round_trip, advanced: self.advanced })
    }

    /// Returns when segments of at most `mss` bytes that left after the data at `position` were reported, in
    /// ascending order, in nanoseconds.
    pub(super) fn reports_above(&self, position: u64, mss: u64) -> Vec<u64> {
        let above = self.index(position) + 1;
        let mut reports = Vec::new();
        for sent in (above..self.sent.len()).map_while(|index| self.sent.get(index)) {
            let Some(at) = sent.delivered else { continue };
            // A capture at the sender may show several segments as one.
            let segments = (sent.end - sent.start).div_ceil(mss.max(1)) as usize;
            reports.extend(std::iter::repeat_n(at.get(), segments.min(MOST_REPORTS - reports.len())));
            if reports.len() == MOST_REPORTS {
                break;
            }
        }
        reports.sort_unstable();
        reports
    }

    fn index(&self, position: u64) -> usize {
        self.sent.partition_point(|sent| sent.end <= position)
    }

    /// Splits segments so that `block` consists of whole ones: a capture at the sender may show
    /// several segments as one. Returns the index of the first of these.
    fn align(&mut self, block: Block) -> usize {
        self.cut(block.start);
        self.cut(block.end);
        self.index(block.start)
    }

    fn cut(&mut self, at: u64) {
        let index = self.index(at);
        let has_room = self.sent.len() < MOST;
        if let Some(sent) = self.sent.get_mut(index).filter(|sent| sent.start < at && has_room) {
            let rest = Sent { start: at, ..*sent };
            sent.end = at;
            self.sent.insert(index + 1, rest);
        }
    }
}
