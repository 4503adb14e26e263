//! The sender's record of outstanding data: the parts that were SACKed, that are deemed lost, and
//! that were retransmitted.
//!
//! Sent segments are kept in a ring. SACK reports are kept as ranges. Losses and retransmissions
//! are kept as two marks, not as a state of each segment. So an ACK, a timeout and an undo cost the
//! same for any number of segments:
//!
//! ```text
//!  una            resent_below            lost_below                    nxt
//!   |  sent again, | deemed lost, to be    |  believed to be under way   |
//!   |  under way   | sent again            |                             |
//! ```
//!
//! Positions that the peer has reported by SACK belong to none of the three parts. The pipe of RFC
//! 6675, section 4, is the first part and the third. If `resent_below` lies beyond `lost_below`,
//! the positions between were retransmitted without being deemed lost. Both copies may be in the
//! network, and both count in the pipe.

mod mark;
mod sent_segment;

pub use sent_segment::SentSegment;

use crate::fact::{Ack, Acked, Block, Covered, Delivered};
use crate::recover::HighRxt;
use eifel_base::ranges::Ranges;
use eifel_base::ring::Ring;
use eifel_base::time::Instant;
use eifel_base::units::Timestamp;
use mark::Mark;
use sent_segment::index_of;

/// The sender's record of outstanding data. All lengths are in bytes.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    sent: Ring<SentSegment>,
    una: u64,
    nxt: u64,
    sacked: Ranges,
    sacked_bytes: u64,
    lost: Mark,
    resent: Mark,
    /// The position to which [`mark_lost_below`](Self::mark_lost_below) last raised `lost`. An undo
    /// resets `lost` but not this mark. Otherwise each undo would cost a recount of all SACK
    /// reports, and a peer can cause an undo with every second ACK.
    counted: Mark,
    /// The segments that the last ACK delivered; `None` if loss recovery does not use them.
    delivered: Option<Box<Delivered>>,
    /// Largest reordering so far, in bytes: see [`overtaken_by`](Self::overtaken_by).
    overtaken_by: u64,
    /// TSval of the first transmission of the segment acknowledged last.
    before: Option<Timestamp>,
}

impl Scoreboard {
    /// Returns the first position not acknowledged.
    pub fn una(&self) -> u64 {
        self.una
    }

    /// Returns the first position never sent.
    pub fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Returns RFC 5681's FlightSize: bytes sent and not cumulatively acknowledged.
    pub fn outstanding(&self) -> u64 {
        self.nxt - self.una
    }

    /// Returns the ranges that the peer has reported by SACK. They never contain `una`.
    pub fn sacked(&self) -> &Ranges {
        &self.sacked
    }

    /// Returns the bytes that the peer has reported by SACK.
    pub fn sacked_bytes(&self) -> u64 {
        self.sacked_bytes
    }

    /// Returns the first position beyond the highest SACK block, or `una` without SACK blocks.
    pub fn highest_sacked(&self) -> u64 {
        self.sacked.highest().unwrap_or(self.una)
    }

    /// Returns the position below which everything is marked lost, unless reported by SACK.
    pub fn lost_below(&self) -> u64 {
        self.lost.at
    }

    /// Returns RFC 6675's HighRxt: since it was marked lost, everything below was retransmitted,
    /// unless reported by SACK.
    pub fn resent_below(&self) -> u64 {
        self.resent.at
    }

    /// Returns RFC 6675's pipe (section 4): the bytes believed to be in the network.
    pub fn pipe(&self) -> u64 {
        let believed = self.nxt - self.lost.at - (self.sacked_bytes - self.lost.sacked_below);
        let again = self.resent.at - self.una - self.resent.sacked_below;
        believed + again
    }

    /// Returns the first position at or above `from` that the peer has not reported; `None` if it
    /// is not below `below`.
    pub fn first_hole(&self, from: u64, below: u64) -> Option<u64> {
        let hole = self.sacked.containing(from).map_or(from, |range| range.end);
        (hole < below).then_some(hole)
    }

    /// Returns the part of a sent segment to retransmit from `position` on. It ends at the
    /// segment's end, or at the next position that the peer has reported.
    pub fn segment_at(&self, position: u64) -> Option<Block> {
        let segment = self.segment(position)?;
        let mut end = segment.end();
        if let Some(next) = self.sacked.from(position).next()
            && next.start > position
        {
            end = end.min(next.start);
        }
        Some(Block { start: position, end })
    }

    /// Returns the segments at or above `from` that the peer has not reported in full, in ascending
    /// order.
    pub fn unreported(&self, from: u64) -> impl Iterator<Item = &SentSegment> {
        let mut at = from;
        std::iter::from_fn(move || {
            let segment = self.segment(self.first_hole(at, self.nxt)?)?;
            at = segment.end();
            Some(segment)
        })
    }

    /// Returns the segment that contains `position`.
    pub fn segment(&self, position: u64) -> Option<&SentSegment> {
        self.sent.get(index_of(&self.sent, position)?)
    }

    /// Returns the segment with the highest positions.
    pub fn newest(&self) -> Option<&SentSegment> {
        self.sent.back()
    }

    /// Returns the segment with the lowest positions.
    pub fn oldest(&self) -> Option<&SentSegment> {
        self.sent.front()
    }

    /// Returns when the oldest segment was last sent; `None` if it is marked lost and not yet
    /// retransmitted.
    pub fn under_way_since(&self) -> Option<Instant> {
        let deemed_lost = self.lost.at > self.una && self.resent.at <= self.una;
        self.sent.front().filter(|_| !deemed_lost).map(SentSegment::last_sent)
    }

    /// Returns the start of the last hole: the last unreported part of the highest segment that the
    /// peer has not reported in full.
    pub fn last_hole(&self) -> Option<u64> {
        let top = self.sacked.descending().next();
        let end = top.filter(|range| range.end == self.nxt).map_or(self.nxt, |range| range.start);
        let segment = self.segment(end.checked_sub(1)?)?;
        Some(self.sacked.containing(segment.start()).map_or(segment.start(), |range| range.end))
    }

    /// Returns the outstanding bytes that were sent only once, and later than `instant`.
    pub fn sent_since(&self, instant: Instant) -> u64 {
        // Retransmitted segments lie at the front, and behind them the times ascend. If a segment
        // further up was retransmitted too, the order is broken. Then segments below it may be
        // counted as older than `instant`.
        let first = self.sent.partition_point(|segment| segment.copies > 0 || segment.last_sent <= instant);
        self.sent.get(first).map_or(0, |segment| self.nxt - segment.start)
    }

    /// Returns the segments that the last ACK newly delivered; `None` if loss recovery does not use
    /// them.
    pub fn delivered(&self) -> Option<&Delivered> {
        self.delivered.as_deref()
    }

    /// Returns the largest reordering so far, in bytes. It extends from the start of a segment sent
    /// only once to the end of a higher segment delivered before it. 0 if loss recovery does not
    /// use deliveries.
    pub fn overtaken_by(&self) -> u64 {
        self.overtaken_by
    }

    /// Returns how many outstanding segments were first sent with TSval `stamp` or an earlier one.
    /// TSvals must be ascending.
    pub fn stamped_up_to(&self, stamp: Timestamp) -> usize {
        self.sent.partition_point(|sent| sent.stamp().is_none_or(|own| !stamp.precedes(own)))
    }

    /// Returns the number of segments outstanding.
    pub fn segments(&self) -> usize {
        self.sent.len()
    }

    /// Starts to record which segments each ACK delivers.
    pub fn follow_deliveries(&mut self) {
        self.delivered = Some(Box::default());
    }

    /// Marks the positions below `position` as sent and acknowledged, where no handshake was
    /// recorded.
    pub fn skip_to(&mut self, position: u64) {
        debug_assert!(self.sent.is_empty());
        (self.una, self.nxt) = (position, position);
        (self.lost.at, self.resent.at, self.counted.at) = (position, position, position);
    }

    /// Records that a new segment of `len` positions was sent, with TSval `stamp`.
    #[inline]
    pub fn on_new(&mut self, now: Instant, len: u32, stamp: Option<Timestamp>) {
        self.sent.push_back(SentSegment::new(self.nxt, len, now, stamp));
        self.nxt += u64::from(len);
    }

    /// Records that `block` was retransmitted. Returns how often its segment was sent before. Also
    /// returns the TSval of the segment's first transmission, unless a neighbouring segment carried
    /// the same TSval.
    pub fn on_retransmission(&mut self, now: Instant, block: Block, mark: HighRxt) -> (u32, Option<Timestamp>) {
        let Some(index) = index_of(&self.sent, block.start) else { return (0, None) };
        let below = match index.checked_sub(1) {
            Some(below) => self.sent.get(below).and_then(SentSegment::stamp),
            None => self.before,
        };
        let above = self.sent.get(index + 1).and_then(SentSegment::stamp);
        let Some(segment) = self.sent.get_mut(index) else { return (0, None) };
        segment.copies += 1;
        segment.last_sent = now;
        let stamp = segment.stamp();
        let own = stamp.filter(|_| stamp != below && stamp != above);
        let again = (segment.copies, own);
        if mark == HighRxt::Advance {
            self.resent.raise(block.end, &self.sacked);
        }
        again
    }

    /// Processes an acceptable ACK; `sack` says whether SACK was negotiated.
    pub fn on_ack<'a>(&mut self, ack: &Ack<'a>, sack: bool) -> Acked<'a> {
        let outstanding = self.outstanding() > 0;
        let bytes = ack.cumulative - self.una;
        let highest_before = if self.delivered.is_some() { self.highest_sacked() } else { 0 };
        if let Some(delivered) = &mut self.delivered {
            **delivered = Delivered::default();
        }
        let highest = match bytes {
            0 => None,
            _ if self.is_quiet() => self.on_quiet_ack(ack.cumulative),
            _ => self.advance(ack.cumulative),
        };
        let (mut sacked, mut sacked_up_to) = (0, 0);
        if sack {
            for &block in ack.sacks {
                sacked += self.report(block);
                sacked_up_to = block.end.max(sacked_up_to);
            }
        }
        if let Some(lowest) = self.delivered.as_ref().and_then(|delivered| delivered.lowest_original)
            && lowest.end < highest_before
        {
            self.overtaken_by = self.overtaken_by.max(highest_before - lowest.start);
        }
        let news = !sack || sacked > 0 || ack.sacks.is_empty() && ack.dsacks.is_empty();
        Acked {
            cumulative: ack.cumulative,
            bytes,
            sacked,
            originals: None,
            duplicate: bytes == 0 && outstanding && ack.plain && news,
            highest,
            sacked_up_to,
            sacks: ack.sacks,
            dsacks: ack.dsacks,
            echo: ack.echo,
            mark: ack.mark,
            ece: ack.ece,
            all: self.una == self.nxt,
        }
    }

    /// Returns whether nothing is marked lost or reported by SACK, and loss recovery does not use
    /// deliveries.
    pub(crate) fn is_quiet(&self) -> bool {
        self.sacked.is_empty() && self.lost.at == self.una && self.delivered.is_none()
    }

    /// Processes an ACK of new data without SACK blocks while the board [is quiet](Self::is_quiet).
    /// Returns the highest segment that is now covered to its end.
    #[inline(always)]
    pub(crate) fn on_quiet_ack(&mut self, cumulative: u64) -> Option<Covered> {
        let highest = self.sent.pop_front_while(|first| first.end() <= cumulative);
        if let Some(first) = self.sent.get_mut(0)
            && first.start < cumulative
        {
            first.cut(cumulative);
        }
        self.raise_marks(cumulative);
        let highest = highest?;
        self.before = highest.stamp();
        Some(highest.covered())
    }

    /// Marks everything below `position` lost.
    pub fn mark_lost_below(&mut self, position: u64) {
        let position = position.min(self.nxt);
        if position <= self.lost.at {
            return;
        }
        if self.counted.at < self.lost.at {
            self.counted = self.lost;
        }
        self.counted.move_to(position, &self.sacked);
        self.lost = self.counted;
    }

    /// Marks everything lost after a timeout, and discards all SACK reports: the peer may have
    /// reneged (RFC 2018, section 8).
    pub fn mark_all_lost(&mut self) {
        self.sacked.clear();
        self.sacked_bytes = 0;
        self.lost = Mark { at: self.nxt, sacked_below: 0 };
        self.resent = Mark { at: self.una, sacked_below: 0 };
        self.counted = self.resent;
    }

    /// Removes all loss marks: outstanding data that is not SACKed counts as in the network.
    pub fn mark_none_lost(&mut self) {
        self.lost = Mark { at: self.una, sacked_below: 0 };
        self.resent = self.lost;
    }

    /// Advances `una`. Returns the highest segment that is now covered to its end.
    fn advance(&mut self, cumulative: u64) -> Option<Covered> {
        let mut highest = None;
        while let Some(first) = self.sent.get_mut(0) {
            if first.end() > cumulative {
                first.cut(cumulative);
                break;
            }
            if let Some(delivered) = &mut self.delivered
                && !self.sacked.covers(Block { start: first.start, end: first.end() })
            {
                delivered.note(first.start, first.covered());
            }
            highest = self.sent.pop_front();
        }
        if !self.sacked.is_empty() {
            // A peer that has reported the position right at its cumulative ACK has reneged (RFC
            // 2018, section 8). The report is void.
            let void = self.sacked.containing(cumulative).map_or(cumulative, |range| range.end);
            let (lost, resent, counted) = (&mut self.lost, &mut self.resent, &mut self.counted);
            let total = &mut self.sacked_bytes;
            self.sacked.remove_below(void, |gone| {
                lost.discount(gone);
                resent.discount(gone);
                counted.discount(gone);
                *total -= gone.end - gone.start;
            });
        }
        self.raise_marks(cumulative);
        let highest = highest?;
        self.before = highest.stamp();
        Some(highest.covered())
    }

    /// Advances `una`, and the marks with it. Nothing below it is reported, so their counts stay.
    #[inline]
    fn raise_marks(&mut self, cumulative: u64) {
        self.una = cumulative;
        self.lost.at = self.lost.at.max(cumulative);
        self.resent.at = self.resent.at.max(cumulative);
        self.counted.at = self.counted.at.max(cumulative);
    }

    /// Processes a SACK block. Returns the bytes that it newly reports.
    fn report(&mut self, block: Block) -> u64 {
        // Only a misbehaving peer reports data never sent, an inverted block, or a block that
        // contradicts the cumulative ACK. Nor does an honest peer split the record finer than
        // segments were sent. The block is ignored, and must not cost memory.
        let possible = self.una < block.start && block.start < block.end && block.end <= self.nxt;
        if !possible || self.sacked.count() > self.sent.len() {
            return 0;
        }
        let (lost, resent, counted) = (&mut self.lost, &mut self.resent, &mut self.counted);
        let (sent, delivered) = (&self.sent, &mut self.delivered);
        let mut new = 0;
        self.sacked.insert(block, |gap| {
            if let Some(delivered) = delivered {
                let first = index_of(sent, gap.start).unwrap_or(sent.len());
                sent.iter_from(first)
                    .take_while(|segment| segment.end() <= gap.end)
                    .for_each(|one| delivered.note(one.start, one.covered()));
            }
            lost.count(gap);
            resent.count(gap);
            counted.count(gap);
            new += gap.end - gap.start;
        });
        self.sacked_bytes += new;
        new
    }
}

#[cfg(test)]
mod tests;
