//! One direction of an association: the DATA chunks of one end, and the other end's SACK reports.

use std::collections::{BTreeMap, VecDeque};

use super::rows::Row;
use super::witness::Witness;
use crate::attribute::Sending;
use crate::decode::sctp::Sack;
use crate::flow::{Counts, Flight, When};
use crate::sender::Cause;
use crate::verdict::{Answered, Original, Repeated};
use eifel_base::ranges::{Block, Ranges};
use eifel_packet::seq::{Seq, unwrap};

/// The number of outstanding chunks remembered, and the number of retransmitted ones.
const MOST_REMEMBERED: usize = 1 << 16;
/// The position at which a direction without a captured handshake starts. Chunks from before the
/// capture have lower positions.
const MIDSTREAM: u64 = 1 << 32;
/// If the round trip to the sender is shorter than this, in nanoseconds, chunks pass here when they
/// leave.
const NEXT_TO: u64 = 1_000_000;
/// The time within which a sender reacts to a SACK, in nanoseconds.
const AT_ONCE: u64 = 4_000_000;
/// Until a round trip is known, chunks that are late by less than this, in nanoseconds, count as
/// reordered.
const REORDERED_WITHIN: u64 = 3_000_000;
/// The smallest timeout, in nanoseconds: stacks go below the RTO.Min of RFC 9260, section 16.
const RTO_AT_LEAST: u64 = 200_000_000;

/// The time of a packet, and the shortest round trips from here to the receiver and to the sender,
/// in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) when: When,
    pub(super) receiver: Option<u64>,
    pub(super) sender: Option<u64>,
}

/// A chunk that was sent and is not covered by a cumulative TSN.
#[derive(Clone, Copy, Debug)]
struct Sent {
    when: When,
    /// Bytes of user data; 0 if the chunk was not seen.
    len: u16,
    copies: u16,
    /// Whether it was never seen: lost before the capture point, late, or not captured.
    missing: bool,
}

/// One direction of an association.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    pub(super) initial: Option<Seq>,
    /// The first position not acknowledged.
    una: u64,
    out: VecDeque<Sent>,
    sacked: Ranges,
    pub(super) repeated: BTreeMap<u64, Repeated>,
    active: Vec<u64>,
    pub(super) rows: Vec<Row>,
    /// While repair after a timeout goes on: the first position that was unsent when the timer
    /// expired.
    loss_below: Option<u64>,
    estimate: Option<(u64, u64)>,
    last_sack: When,
    last_sent: u64,
    timer_since: u64,
    /// The frame of the last retransmission, and its cause.
    last_again: (u64, Option<Cause>),
    /// Outstanding bytes that no SACK has reported.
    under_way: u64,
    pub(super) flight: Flight,
    pub(super) witness: Witness,
    pub(super) counts: Counts,
}

impl Chunks {
    fn nxt(&self) -> u64 {
        self.una + self.out.len() as u64
    }

    /// Sets the initial TSN from the handshake.
    pub(super) fn begin(&mut self, tsn: Seq) {
        if self.counts.segments == 0 {
            self.initial = Some(tsn);
            self.una = 0;
        }
    }

    fn position(&mut self, tsn: Seq) -> u64 {
        match self.initial {
            Some(initial) => unwrap(self.nxt(), initial, tsn),
            None => {
                self.initial = Some(Seq(tsn.0.wrapping_sub(MIDSTREAM as u32)));
                self.una = MIDSTREAM;
                MIDSTREAM
            }
        }
    }

    /// Handles a DATA chunk.
    pub(super) fn on_data(&mut self, tsn: Seq, len: u16, place: &Place) {
        let position = self.position(tsn);
        let nxt = self.nxt();
        self.counts.segments += 1;
        self.counts.bytes += u64::from(len);
        if position >= nxt {
            if position - nxt >= MOST_REMEMBERED as u64 {
                return;
            }
            for _ in nxt..position {
                self.push(Sent { when: place.when, len: 0, copies: 1, missing: true }, place);
            }
            self.push(Sent { when: place.when, len, copies: 1, missing: false }, place);
            self.last_sent = place.when.nanos;
            self.flight.on_new(place.when.nanos, self.under_way);
        } else {
            self.on_again(position, len, place);
        }
    }

    fn push(&mut self, sent: Sent, place: &Place) {
        if self.out.len() == MOST_REMEMBERED
            && let Some(forgotten) = self.out.pop_front()
        {
            self.under_way = self.under_way.saturating_sub(u64::from(forgotten.len));
            self.una += 1;
        }
        self.out.push_back(sent);
        self.under_way += u64::from(sent.len);
        self.witness.on_new(sent.len, place);
    }

    fn on_again(&mut self, position: u64, len: u16, place: &Place) {
        let sent = position.checked_sub(self.una).and_then(|index| self.out.get_mut(index as usize));
        if Self::came_late(sent.as_deref().copied(), self.repeated.get_mut(&position), place) {
            self.counts.reordered += 1;
            if let Some(sent) = sent {
                self.under_way += u64::from(len - sent.len.min(len));
                (sent.missing, sent.when, sent.len) = (false, place.when, len);
            }
            return;
        }
        if self.repeated.len() >= MOST_REMEMBERED {
            self.repeated.pop_first();
        }
        let first = sent.map(|sent| {
            sent.copies = sent.copies.saturating_add(1);
            *sent
        });
        let acknowledged = (position < self.una).then_some(self.last_sack.frame).filter(|frame| *frame > 0);
        let gap = self.sacked.highest().is_some_and(|highest| highest > position + 1).then_some(place.when.frame);
        let one = self.repeated.entry(position).or_insert_with(|| Repeated {
            end: position + 1,
            sendings: vec![Sending { nanos: first.map_or(0, |first| first.when.nanos), stamp: None }],
            original: if first.is_some_and(|first| first.missing) { Original::Unseen } else { Original::Seen },
            answer: None,
            duplicates: Vec::new(),
            gap: None,
            in_order: None,
            there_before: None,
            filler: None,
            refused: false,
            dropped: None,
            doubted: false,
            neighbour: None,
        });
        one.gap = one.gap.or(gap);
        one.sendings.push(Sending { nanos: place.when.nanos, stamp: None });
        let index = one.sendings.len() - 1;
        if one.answer.is_none() && index == 1 {
            self.active.push(position);
        }
        let cause = self.cause(position, place);
        self.last_again = (place.when.frame, Some(cause));
        self.last_sent = place.when.nanos;
        self.counts.retransmissions += 1;
        self.counts.bytes_again += u64::from(len);
        self.flight.on_again(place.when.nanos, self.rows.len(), position + 1, self.under_way);
        let under_way = self.out.iter().map(|sent| (sent.when.nanos, sent.len));
        let episode = self.witness.on_again((position, cause), self.una, under_way, place);
        self.rows.push(Row { when: place.when, position, len, index, cause, episode, acknowledged });
    }

    /// Returns whether this is the first sending of a chunk that was passed over, or that passed
    /// only as a retransmission so far. Marks a repeated chunk if so.
    fn came_late(sent: Option<Sent>, one: Option<&mut Repeated>, place: &Place) -> bool {
        let within = place.receiver.map_or(REORDERED_WITHIN, |trip| (trip + place.sender.unwrap_or(0)) / 2);
        let soon = |nanos: u64| place.when.nanos.saturating_sub(nanos) < within;
        match (sent, one) {
            (_, Some(one)) if one.original == Original::Unseen => {
                let late = one.sendings.get(1).is_some_and(|again| soon(again.nanos));
                if late {
                    one.original = Original::Late { frame: place.when.frame };
                }
                late
            }
            (Some(sent), None) => sent.missing && soon(sent.when.nanos),
            _ => false,
        }
    }

    /// Returns why a chunk is sent again: RFC 9260, sections 6.3.3 and 7.2.4.
    fn cause(&mut self, position: u64, place: &Place) -> Cause {
        if let (frame, Some(cause)) = self.last_again
            && frame == place.when.frame
        {
            // Chunks bundled in one packet have one cause.
            return cause;
        }
        let now = place.when.nanos;
        let trip = place.sender.unwrap_or(0);
        let near = trip < NEXT_TO;
        let (smoothed, variation) = self.estimate.unwrap_or((RTO_AT_LEAST, 0));
        let patience = if near { AT_ONCE } else { smoothed.max(AT_ONCE) };
        let clocked = now.saturating_sub(self.last_sack.nanos + trip) <= patience;
        let missing = self.sacked.highest().is_some_and(|highest| highest > position + 1);
        let rto = (smoothed + 4 * variation).max(RTO_AT_LEAST);
        let waited = now.saturating_sub(self.timer_since.max(self.last_sent) + trip) >= rto / 4 * 3;
        let lowest = self.una >= position || self.sacked.covers(Block { start: self.una, end: position });
        let in_loss = self.loss_below.is_some_and(|high| position < high);
        let cause = match () {
            () if waited && lowest && !clocked => Cause::Rto,
            () if in_loss && !(missing && clocked) => Cause::Loss,
            () if missing => Cause::Fast,
            () if waited => Cause::Rto,
            () if in_loss => Cause::Loss,
            () => Cause::Unknown,
        };
        if cause == Cause::Rto {
            self.loss_below = Some(self.nxt());
        }
        cause
    }

    /// Handles a SACK. Returns the round trip of the newest chunk that it covers, in nanoseconds,
    /// if that chunk was sent once.
    pub(super) fn on_sack(&mut self, sack: &Sack<'_>, place: &Place) -> Option<u64> {
        let initial = self.initial?;
        let cumulative = unwrap(self.una, initial, sack.cumulative) + 1;
        self.counts.acks += 1;
        if cumulative > self.nxt() + MOST_REMEMBERED as u64 {
            return None;
        }
        self.last_sack = place.when;
        self.witness.on_sack(sack, (cumulative, initial), place);
        for tsn in sack.duplicates() {
            let position = unwrap(self.una, initial, tsn);
            if let Some(one) = self.repeated.get_mut(&position) {
                one.duplicates.push(place.when);
            }
        }
        let mut newest = self.advance(cumulative, place);
        for (first, last) in sack.gaps() {
            let base = cumulative - 1;
            // A SACK that was overtaken may report chunks that are acknowledged by now.
            let block = Block { start: (base + u64::from(first)).max(self.una), end: base + u64::from(last) + 1 };
            if first > 0 && block.start < block.end && block.end <= self.nxt() {
                let (una, out, under_way) = (self.una, &self.out, &mut self.under_way);
                self.sacked.insert(block, |gap| {
                    newest = out.get((gap.end - 1 - una) as usize).copied().or(newest);
                    let news = out.range((gap.start - una) as usize..(gap.end - una) as usize);
                    *under_way = under_way.saturating_sub(news.map(|sent| u64::from(sent.len)).sum());
                });
            }
        }
        let highest = self.sacked.highest();
        for position in &self.active {
            let Some(one) = self.repeated.get_mut(position).filter(|one| one.answer.is_none()) else { continue };
            if self.sacked.containing(*position).is_some() {
                one.answer = Some(Answered { when: place.when, echo: None, up_to: None });
            } else if one.gap.is_none() && highest.is_some_and(|highest| highest > position + 1) {
                one.gap = Some(place.when.frame);
            }
        }
        let repeated = &self.repeated;
        self.active.retain(|position| repeated.get(position).is_some_and(|one| one.answer.is_none()));
        if self.loss_below.is_some_and(|high| self.una >= high) {
            self.loss_below = None;
        }
        let sent = newest.filter(|sent| !sent.missing && sent.copies == 1)?;
        let took = place.when.nanos.saturating_sub(sent.when.nanos);
        self.estimate = Some(match self.estimate {
            None => (took, took / 2),
            Some((smoothed, variation)) => ((7 * smoothed + took) / 8, (3 * variation + smoothed.abs_diff(took)) / 4),
        });
        Some(took)
    }

    /// Acknowledges everything below `cumulative`. Returns the newest chunk that was not reported
    /// before.
    fn advance(&mut self, cumulative: u64, place: &Place) -> Option<Sent> {
        let mut newest = None;
        while self.una < cumulative {
            match self.out.pop_front() {
                Some(sent) if self.sacked.containing(self.una).is_none() => {
                    self.under_way = self.under_way.saturating_sub(u64::from(sent.len));
                    newest = Some(sent);
                }
                Some(_) => {}
                None => {
                    // Acknowledged but never seen.
                    self.counts.bytes_not_seen += 1;
                }
            }
            self.una += 1;
            self.timer_since = place.when.nanos;
        }
        self.sacked.remove_below(self.una, |_| {});
        let round_trip = place.receiver.unwrap_or(0) + place.sender.unwrap_or(0);
        self.flight.on_ack(place.when.nanos, self.una, self.under_way, round_trip);
        for position in &self.active {
            if let Some(one) = self.repeated.get_mut(position)
                && *position < self.una
                && one.answer.is_none()
            {
                one.answer = Some(Answered { when: place.when, echo: None, up_to: None });
            }
        }
        newest
    }

    /// Handles SHUTDOWN or FORWARD TSN: everything up to `cumulative` is acknowledged or abandoned.
    pub(super) fn give_up(&mut self, cumulative: Seq, place: &Place) {
        let Some(initial) = self.initial else { return };
        let cumulative = unwrap(self.una, initial, cumulative) + 1;
        if cumulative > self.una && cumulative <= self.nxt() {
            self.advance(cumulative, place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::End;

    #[test]
    fn no_more_chunks_are_remembered_than_there_is_room_for() {
        const LEN: u16 = 100;
        let mut chunks = Chunks::default();
        chunks.begin(Seq(7));
        let place = |frame: u64| Place { when: When { nanos: frame, frame }, receiver: None, sender: None };
        let most = MOST_REMEMBERED as u64;
        (0..most).for_each(|number| chunks.on_data(Seq(7 + number as u32), LEN, &place(number + 1)));
        assert_eq!((chunks.una, chunks.nxt(), chunks.under_way), (0, most, most * u64::from(LEN)));
        (most..most + 5).for_each(|number| chunks.on_data(Seq(7 + number as u32), LEN, &place(number + 1)));
        assert_eq!((chunks.una, chunks.nxt(), chunks.under_way), (5, most + 5, most * u64::from(LEN)));
        // A chunk so far ahead that no other chunk would be remembered beside it is ignored.
        chunks.on_data(Seq((7 + 2 * most + 5) as u32), LEN, &place(most + 6));
        assert_eq!(chunks.nxt(), most + 5);
        chunks.on_data(Seq((7 + 2 * most + 4) as u32), LEN, &place(most + 7));
        assert_eq!((chunks.una, chunks.nxt(), chunks.under_way), (most + 5, 2 * most + 5, u64::from(LEN)));
        assert_eq!(chunks.counts.segments, most + 7);
    }
    #[test]
    fn a_chunk_that_was_forgotten_begins_anew() {
        let mut chunks = Chunks::default();
        chunks.begin(Seq(7));
        let most = MOST_REMEMBERED as u64;
        let mut frame = 0;
        let mut leaves = |chunks: &mut Chunks, number: u64| {
            frame += 1;
            let place = Place { when: When { nanos: 400_000_000 * frame, frame }, receiver: None, sender: None };
            chunks.on_data(Seq(7 + number as u32), 9, &place);
        };
        [0, 0, 0]
            .into_iter()
            .chain((1..most).flat_map(|number| [number; 2]))
            .for_each(|number| leaves(&mut chunks, number));
        assert_eq!((chunks.repeated.len() as u64, chunks.repeated[&0].sendings.len()), (most, 3));
        [most, most, 0].iter().for_each(|number| leaves(&mut chunks, *number));
        // The lowest one is forgotten.
        assert_eq!((chunks.repeated.len() as u64, chunks.repeated.contains_key(&1)), (most, false));
        let place = Place { when: When::default(), receiver: None, sender: None };
        let mut found = Vec::new();
        chunks.finish(&place, (0, End::Client), &mut found);
        let reasons = [0, 1, 2, most as usize + 2].map(|number| (found[number].copy, found[number].reason));
        let (open, forgotten) =
            ("no acknowledgement covers it in the capture", "too much was sent again to remember it all");
        assert_eq!(reasons, [(2, open), (3, forgotten), (2, forgotten), (2, open)]);
    }
}
