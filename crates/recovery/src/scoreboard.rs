//! What is outstanding, which of it the peer has reported, what is deemed lost, and what was sent again.
//!
//! Sent segments stand in a ring. What was reported, lost and repeated is kept as ranges and two marks instead of as a
//! state of each segment, so that an ACK, a timeout and an undo cost the same however many segments are outstanding:
//!
//! ```text
//!  una            resent_below            lost_below                    nxt
//!   |  sent again, | deemed lost, to be    |  believed to be under way   |
//!   |  under way   | sent again            |                             |
//! ```
//!
//! Positions that the peer has reported by SACK are taken out of all three. Bytes under way, RFC 6675's pipe
//! (section 4), are the first and the third part. Where `resent_below` lies beyond `lost_below`, what is between was sent
//! again without being deemed lost: both copies may be under way, and both count.

use crate::fact::{Ack, Acked, Block, Covered, Delivered};
use crate::recover::HighRxt;
use eifel_base::ranges::Ranges;
use eifel_base::ring::Ring;
use eifel_base::time::Instant;
use eifel_base::units::Timestamp;

/// A segment that was sent and is not yet acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sent {
    start: u64,
    len: u32,
    copies: u32,
    last_sent: Instant,
    /// TSval that it carried when it was sent for the first time.
    stamp: Option<Timestamp>,
}

impl Sent {
    /// First position.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// First position beyond.
    pub fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }

    /// TSval of the first time.
    pub fn stamp(&self) -> Option<Timestamp> {
        self.stamp
    }

    /// How often it was sent, less one.
    pub fn copies(&self) -> u32 {
        self.copies
    }

    /// When it was sent last.
    pub fn last_sent(&self) -> Instant {
        self.last_sent
    }

    /// What lies below `cumulative` is acknowledged.
    fn cut(&mut self, cumulative: u64) {
        let cut = cumulative.saturating_sub(self.start);
        self.start += cut;
        self.len -= cut as u32;
    }

    fn covered(&self) -> Covered {
        Covered { end: self.end(), copies: self.copies, last_sent: self.last_sent }
    }
}

/// A position below which something holds, and how much below it the peer has reported by SACK.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    at: u64,
    sacked_below: u64,
}

impl Mark {
    fn count(&mut self, gap: Block) {
        self.sacked_below += gap.end.min(self.at).saturating_sub(gap.start);
    }

    fn discount(&mut self, gone: Block) {
        self.sacked_below -= gone.end.min(self.at).saturating_sub(gone.start);
    }

    fn raise(&mut self, to: u64, sacked: &Ranges) {
        if to > self.at {
            if !sacked.is_empty() {
                self.sacked_below += sacked.covered(self.at, to);
            }
            self.at = to;
        }
    }

    fn move_to(&mut self, to: u64, sacked: &Ranges) {
        self.raise(to, sacked);
        self.sacked_below -= sacked.covered(to, self.at);
        self.at = to;
    }
}

impl Delivered {
    fn note(&mut self, segment: &Sent) {
        let covered = segment.covered();
        let latest = if covered.copies == 0 { &mut self.original } else { &mut self.again };
        if latest.is_none_or(|known| (known.last_sent, known.end) < (covered.last_sent, covered.end)) {
            *latest = Some(covered);
        }
        if covered.copies == 0 {
            self.lowest_original = Some(self.lowest_original.map_or(covered.end, |lowest| lowest.min(covered.end)));
        }
    }
}

/// The sender's record of what is outstanding. All lengths in bytes.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    sent: Ring<Sent>,
    una: u64,
    nxt: u64,
    sacked: Ranges,
    sacked_bytes: u64,
    lost: Mark,
    resent: Mark,
    /// Where `lost` was last raised to by a decision. It stays there when an undo takes `lost` back: to count what was
    /// reported anew after each would cost as much as there are reports, and a peer can bring about an undo with every
    /// second ACK.
    counted: Mark,
    /// What this ACK has delivered, where that is asked for.
    delivered: Option<Delivered>,
    /// TSval of the first sending of the segment that was acknowledged last.
    before: Option<Timestamp>,
}

impl Scoreboard {
    /// First position not acknowledged.
    pub fn una(&self) -> u64 {
        self.una
    }

    /// First position never sent.
    pub fn nxt(&self) -> u64 {
        self.nxt
    }

    /// RFC 5681's FlightSize: sent and not cumulatively acknowledged.
    pub fn outstanding(&self) -> u64 {
        self.nxt - self.una
    }

    /// What the peer has reported by SACK; never `una`, which the peer asks for.
    pub fn sacked(&self) -> &Ranges {
        &self.sacked
    }

    /// Bytes that the peer has reported by SACK.
    pub fn sacked_bytes(&self) -> u64 {
        self.sacked_bytes
    }

    /// First position beyond the highest SACK block, or `una`.
    pub fn highest_sacked(&self) -> u64 {
        self.sacked.highest().unwrap_or(self.una)
    }

    /// Everything below, unless reported, is deemed lost.
    pub fn lost_below(&self) -> u64 {
        self.lost.at
    }

    /// RFC 6675's HighRxt: everything below, unless reported, was sent again since it was deemed lost.
    pub fn resent_below(&self) -> u64 {
        self.resent.at
    }

    /// RFC 6675's pipe (section 4): what is believed to be under way.
    pub fn pipe(&self) -> u64 {
        let believed = self.nxt - self.lost.at - (self.sacked_bytes - self.lost.sacked_below);
        let again = self.resent.at - self.una - self.resent.sacked_below;
        believed + again
    }

    /// The first position from `from` on that the peer has not reported, if it lies below `below`.
    pub fn first_hole(&self, from: u64, below: u64) -> Option<u64> {
        let hole = self.sacked.containing(from).map_or(from, |range| range.end);
        (hole < below).then_some(hole)
    }

    /// The part of a sent segment that begins at `position` and is to be sent again: up to the segment's end or to
    /// what the peer has reported.
    pub fn segment_at(&self, position: u64) -> Option<Block> {
        let segment = self.segment(position)?;
        let mut end = segment.end();
        if let Some(next) = self.sacked.from(position).next() {
            end = end.min(next.start);
        }
        Some(Block { start: position, end })
    }

    /// Segments from `from` on that the peer has not reported whole, in ascending order.
    pub fn unreported(&self, from: u64) -> impl Iterator<Item = &Sent> {
        let mut at = from;
        std::iter::from_fn(move || {
            let segment = self.segment(self.first_hole(at, self.nxt)?)?;
            at = segment.end();
            Some(segment)
        })
    }

    /// The segment that holds `position`.
    pub fn segment(&self, position: u64) -> Option<&Sent> {
        self.sent.get(index_of(&self.sent, position)?)
    }

    /// The segment that was sent for the first time the latest.
    pub fn newest(&self) -> Option<&Sent> {
        self.sent.back()
    }

    /// The segment that has been outstanding the longest.
    pub fn oldest(&self) -> Option<&Sent> {
        self.sent.front()
    }

    /// When the segment that has been under way the longest was sent; `None` if it is deemed lost and not yet sent again.
    pub fn under_way_since(&self) -> Option<Instant> {
        let deemed_lost = self.lost.at > self.una && self.resent.at <= self.una;
        self.sent.front().filter(|_| !deemed_lost).map(Sent::last_sent)
    }

    /// The last part that the peer has not reported of the highest segment that it has not reported whole.
    pub fn last_hole(&self) -> Option<u64> {
        let top = self.sacked.descending().next();
        let end = top.filter(|range| range.end == self.nxt).map_or(self.nxt, |range| range.start);
        let segment = self.segment(end.checked_sub(1)?)?;
        Some(self.sacked.containing(segment.start()).map_or(segment.start(), |range| range.end))
    }

    /// Bytes outstanding that were sent, and only once, later than `instant`.
    pub fn sent_since(&self, instant: Instant) -> u64 {
        // What was sent again stands at the front; behind it the times ascend. Where a segment among the latest was sent again
        // too, no order tells the two parts apart, and those before it may count as older.
        let first = self.sent.partition_point(|segment| segment.copies > 0 || segment.last_sent <= instant);
        self.sent.get(first).map_or(0, |segment| self.nxt - segment.start)
    }

    /// What the last ACK has newly delivered; `None` where loss recovery does not ask for it.
    pub fn delivered(&self) -> Option<&Delivered> {
        self.delivered.as_ref()
    }

    /// Segments outstanding.
    pub fn segments(&self) -> usize {
        self.sent.len()
    }

    /// From now on each ACK says what it has delivered.
    pub fn follow_deliveries(&mut self) {
        self.delivered = Some(Delivered::default());
    }

    /// Counts positions below `position` as sent and acknowledged: there was no handshake.
    pub fn skip_to(&mut self, position: u64) {
        debug_assert!(self.sent.is_empty());
        (self.una, self.nxt) = (position, position);
        (self.lost.at, self.resent.at, self.counted.at) = (position, position, position);
    }

    /// Takes note that a segment of `len` positions left for the first time, with TSval `stamp`.
    #[inline]
    pub fn on_new(&mut self, now: Instant, len: u32, stamp: Option<Timestamp>) {
        self.sent.push_back(Sent { start: self.nxt, len, copies: 0, last_sent: now, stamp });
        self.nxt += u64::from(len);
    }

    /// Notes that `block` was sent again; returns how often its segment had been sent before, and the TSval of the first
    /// time, if neither of its neighbours carried the same.
    pub fn on_retransmission(&mut self, now: Instant, block: Block, mark: HighRxt) -> (u32, Option<Timestamp>) {
        let Some(index) = index_of(&self.sent, block.start) else { return (0, None) };
        let below = match index.checked_sub(1) {
            Some(below) => self.sent.get(below).and_then(Sent::stamp),
            None => self.before,
        };
        let above = self.sent.get(index + 1).and_then(Sent::stamp);
        let Some(segment) = self.sent.get_mut(index) else { return (0, None) };
        segment.copies += 1;
        segment.last_sent = now;
        let own = segment.stamp.filter(|_| segment.stamp != below && segment.stamp != above);
        let again = (segment.copies, own);
        if mark == HighRxt::Advance {
            self.resent.raise(block.end, &self.sacked);
        }
        again
    }

    /// Takes an acceptable ACK in.
    pub fn on_ack<'a>(&mut self, ack: &Ack<'a>, sack: bool) -> Acked<'a> {
        let outstanding = self.outstanding() > 0;
        let bytes = ack.cumulative - self.una;
        if let Some(delivered) = &mut self.delivered {
            *delivered = Delivered::default();
        }
        let highest = if bytes > 0 { self.advance(ack.cumulative) } else { None };
        let (mut sacked, mut sacked_up_to) = (0, 0);
        if sack {
            for &block in ack.sacks {
                sacked += self.report(block);
                sacked_up_to = block.end.max(sacked_up_to);
            }
        }
        let news = !sack || sacked > 0 || ack.sacks.is_empty() && ack.dsacks.is_empty();
        Acked {
            cumulative: ack.cumulative,
            bytes,
            sacked,
            duplicate: bytes == 0 && outstanding && ack.plain && news,
            highest,
            sacked_up_to,
            dsacks: ack.dsacks,
            echo: ack.echo,
            mark: ack.mark,
            ece: ack.ece,
            all: self.una == self.nxt,
        }
    }

    /// Whether nothing is deemed lost and nothing reported, and nobody asks what an ACK delivers.
    pub(crate) fn is_quiet(&self) -> bool {
        self.sacked.is_empty() && self.lost.at == self.una && self.delivered.is_none()
    }

    /// Takes in an acknowledgement of new data without SACK blocks while the board [is quiet](Self::is_quiet). Returns the
    /// highest segment that is now covered to its end.
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
        self.before = highest.stamp;
        Some(highest.covered())
    }

    /// Everything below `position` is deemed lost from now on.
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

    /// After a timeout everything is deemed lost, and what the peer reported no longer counts: it may have reneged
    /// (RFC 2018, section 8).
    pub fn mark_all_lost(&mut self) {
        self.sacked.clear();
        self.sacked_bytes = 0;
        self.lost = Mark { at: self.nxt, sacked_below: 0 };
        self.resent = Mark { at: self.una, sacked_below: 0 };
        self.counted = self.resent;
    }

    /// Nothing is lost after all: all that is outstanding is under way again.
    pub fn mark_none_lost(&mut self) {
        self.lost = Mark { at: self.una, sacked_below: 0 };
        self.resent = self.lost;
    }

    /// Returns the highest segment that is now covered to its end.
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
                delivered.note(first);
            }
            highest = self.sent.pop_front();
        }
        if !self.sacked.is_empty() {
            // A peer that asks for what it had reported has reneged (RFC 2018, section 8): the report is void.
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
        self.before = highest.stamp;
        Some(highest.covered())
    }

    /// `una` moves on. All marks stand at or above it, and nothing reported lies below it, so raising them counts nothing.
    #[inline]
    fn raise_marks(&mut self, cumulative: u64) {
        self.una = cumulative;
        self.lost.at = self.lost.at.max(cumulative);
        self.resent.at = self.resent.at.max(cumulative);
        self.counted.at = self.counted.at.max(cumulative);
    }

    fn report(&mut self, block: Block) -> u64 {
        // A block that was never sent, is inverted, contradicts the cumulative acknowledgement, or would split the record
        // finer than segments were sent is a misbehaving peer's: it is worth nothing, and must not cost memory.
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
                    .for_each(|one| delivered.note(one));
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

/// Where the segment stands that holds `position`.
fn index_of(sent: &Ring<Sent>, position: u64) -> Option<usize> {
    let (first, last) = (sent.front()?, sent.back()?);
    let outstanding = last.end() - first.start;
    if position < first.start || position >= last.end() {
        return None;
    }
    // Retransmissions mostly begin at the front.
    if first.end() > position {
        return Some(0);
    }
    // Segments are mostly of one size: where they all are, this is the one, without a search through cold memory.
    let share = u128::from(position - first.start) * sent.len() as u128 / u128::from(outstanding);
    let guess = share as usize;
    if sent.get(guess).is_some_and(|segment| (segment.start..segment.end()).contains(&position)) {
        return Some(guess);
    }
    Some(sent.partition_point(|segment| segment.end() <= position))
}

#[cfg(test)]
mod tests;
