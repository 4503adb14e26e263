//! One direction of an association: the DATA chunks of one end, and the other end's SACK reports.

use std::collections::VecDeque;

use super::detector_feed::DetectorFeed;
use crate::cause::{DirectionId, InFlight, Retransmissions};
use crate::evidence::{Answered, PathOrder};
use crate::frame::decode::sctp::Sack;
use crate::order::{AT_ONCE, CapturePoint, Reaction, SendOrder, Smoothed, Transmission};
use crate::result::{Cause, Cost, Counts, End, Number, Retransmission, Vantage, When};
use crate::stream::MIDSTREAM;
use crate::verdict::{Circumstances, Row, Shown};
use eifel_base::ranges::Block;
use eifel_packet::seq::{Seq, unwrap, wrap};

/// The number of outstanding chunks remembered, and the number of retransmitted ones.
const MOST_REMEMBERED: usize = 1 << 16;
/// The smallest timeout, in nanoseconds: stacks go below the RTO.Min of RFC 9260, section 16.
const RTO_AT_LEAST: u64 = 200_000_000;

/// The smallest timeout that stacks can be set to, in nanoseconds.
const LEAST_TIMEOUT: u64 = 10_000_000;

/// One direction of an association.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    pub(crate) initial: Option<Seq>,
    /// The first position not acknowledged.
    una: u64,
    out: VecDeque<Transmission>,
    order: SendOrder,
    retransmissions: Retransmissions,
    /// While repair after a timeout goes on: the first position that was unsent when the timer
    /// expired.
    loss_below: Option<u64>,
    estimate: Smoothed,
    last_sack: When,
    last_sent: u64,
    timer_since: u64,
    /// The frame of the last retransmission, and its cause.
    last_again: (u64, Option<Cause>),
    /// Outstanding bytes that no SACK has reported.
    under_way: u64,
    pub(crate) detectors: DetectorFeed,
    pub(crate) counts: Counts,
}

impl Chunks {
    fn nxt(&self) -> u64 {
        self.una + self.out.len() as u64
    }

    /// Sets the initial TSN from the handshake.
    pub(crate) fn begin(&mut self, tsn: Seq) {
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
    pub(crate) fn on_data(&mut self, tsn: Seq, len: u16, point: &CapturePoint) {
        let position = self.position(tsn);
        let nxt = self.nxt();
        self.counts.segments += 1;
        self.counts.bytes += u64::from(len);
        if position >= nxt {
            if position - nxt >= MOST_REMEMBERED as u64 {
                return;
            }
            for _ in nxt..position {
                self.push(Transmission::missing(self.nxt(), 0, point.when.nanos), point);
            }
            self.push(Transmission::new(position, len.into(), point.when.nanos, None), point);
            self.last_sent = point.when.nanos;
            self.retransmissions.flight.on_new(point.when.nanos, || self.under_way);
        } else {
            self.on_repeated_data(position, len, point);
        }
    }

    fn push(&mut self, sent: Transmission, point: &CapturePoint) {
        if self.out.len() == MOST_REMEMBERED
            && let Some(forgotten) = self.out.pop_front()
        {
            self.under_way = self.under_way.saturating_sub(u64::from(forgotten.len));
            self.una += 1;
        }
        self.out.push_back(sent);
        self.under_way += u64::from(sent.len);
        self.detectors.on_new(sent.len as u16, point);
    }

    fn on_repeated_data(&mut self, position: u64, len: u16, point: &CapturePoint) {
        let passing = Transmission::new(position, len.into(), point.when.nanos, None);
        let evidence = &mut self.retransmissions.evidence;
        let smoothed = self.estimate.get().map(|(smoothed, _)| smoothed + point.sender_rtt().unwrap_or(0));
        let reacts = |prompted| Reaction::new(prompted, (point.round_trip_at_least(), 0), smoothed, false);
        let reaction = reacts(evidence.was_prompted(position, None, point));
        let sent = position.checked_sub(self.una).and_then(|index| self.out.get_mut(index as usize));
        let overtaken = |sent: &Transmission| sent.missing && self.order.is_reordered(&passing, sent, None, &reaction);
        let within = reacts(false).takes_at_least;
        let late = evidence.accept_late((&passing, position + 1), point.when.frame, within, |_, _| false)
            || !evidence.segments.contains_key(&position) && sent.as_deref().is_some_and(overtaken);
        if late {
            self.counts.reordered += 1;
            if let Some(sent) = sent {
                self.under_way += u64::from(passing.len - sent.len.min(passing.len));
                *sent = Transmission { copies: sent.copies, ..passing };
            }
            return;
        }
        let first = sent.map(|sent| {
            sent.copies = sent.copies.saturating_add(1);
            *sent
        });
        let block = Block { start: position, end: position + 1 };
        let acknowledged = Some(self.last_sack).filter(|sack| position < self.una && sack.frame > 0);
        let above = Block { start: position.max(self.una), ..block };
        let arrived = evidence.receiver_reports.arrived(acknowledged, above, false, point.when.nanos);
        let part = evidence.add(first, (block, &passing), None, point);
        let cause = self.cause(position, point);
        self.last_again = (point.when.frame, Some(cause));
        self.last_sent = point.when.nanos;
        self.counts.retransmissions += 1;
        self.counts.bytes_again += u64::from(len);
        let under_way = self.out.iter().map(|sent| (sent.nanos, sent.len as u16));
        let episode = self.detectors.on_retransmission((position, cause), self.una, under_way, point);
        let (known, payload) = (Some(cause), u32::from(len));
        let row = Row { when: point.when, block, payload, known, episode, parts: vec![part], arrived };
        let flight = InFlight { bytes: self.under_way, until: self.nxt(), shows_window: true, shows_dip: true };
        self.retransmissions.add(row, point.when.nanos, flight);
    }

    /// Returns why a chunk is sent again: RFC 9260, sections 6.3.3 and 7.2.4.
    fn cause(&mut self, position: u64, point: &CapturePoint) -> Cause {
        if let (frame, Some(cause)) = self.last_again
            && frame == point.when.frame
        {
            // Chunks bundled in one packet have one cause.
            return cause;
        }
        let now = point.when.nanos;
        let trip = point.sender_rtt().unwrap_or(0);
        let (smoothed, variation) = self.estimate.get().unwrap_or((RTO_AT_LEAST, 0));
        let patience = if point.is_next_to_sender() { AT_ONCE } else { smoothed.max(AT_ONCE) };
        let clocked = now.saturating_sub(self.last_sack.nanos + trip) <= patience;
        let missing = self.retransmissions.evidence.sacked.highest().is_some_and(|highest| highest > position + 1);
        let rto = (smoothed + 4 * variation).max(RTO_AT_LEAST);
        let waited = now.saturating_sub(self.timer_since.max(self.last_sent) + trip) >= rto / 4 * 3;
        let lowest = self.una >= position
            || self.retransmissions.evidence.sacked.covers(Block { start: self.una, end: position });
        let in_loss = self.loss_below.is_some_and(|high| position < high);
        // Nothing but the timer prompts a sender that no SACK has reached. Its smallest timeout may be
        // far below the recommended one, but not below a round trip.
        let unprompted = lowest && !clocked;
        let running = now.saturating_sub(self.timer_began(position) + trip);
        let round_trip = self.estimate.get().map_or(LEAST_TIMEOUT, |(smoothed, _)| smoothed.max(LEAST_TIMEOUT));
        let cause = match () {
            () if waited && unprompted => Cause::Rto,
            () if in_loss && !(missing && clocked) => Cause::Loss,
            () if unprompted && running >= round_trip => Cause::Rto,
            () if missing => Cause::Fast,
            () if waited => Cause::Rto,
            () if in_loss => Cause::Loss,
            () if unprompted && now.saturating_sub(self.last_sent + trip) >= LEAST_TIMEOUT => Cause::Rto,
            () => Cause::Unknown,
        };
        if cause == Cause::Rto {
            self.loss_below = Some(self.nxt());
        }
        cause
    }

    /// Returns when the timer of a chunk began, if the chunk is the lowest outstanding one: with the
    /// chunk, or with the last SACK that acknowledged others. A chunk that was sent again before has
    /// the time of the last transmission of all.
    fn timer_began(&self, position: u64) -> u64 {
        let sent = position.checked_sub(self.una).and_then(|index| self.out.get(index as usize));
        let sent = sent.filter(|sent| sent.copies == 2 && !sent.missing).map_or(self.last_sent, |sent| sent.nanos);
        self.timer_since.max(sent)
    }

    /// Handles a SACK. Returns the round trip of the newest chunk that it covers, in nanoseconds,
    /// if that chunk was sent once.
    pub(crate) fn on_sack(&mut self, sack: &Sack<'_>, point: &CapturePoint) -> Option<u64> {
        let initial = self.initial?;
        let cumulative = unwrap(self.una, initial, sack.cumulative) + 1;
        self.counts.acks += 1;
        if cumulative > self.nxt() + MOST_REMEMBERED as u64 {
            return None;
        }
        self.last_sack = point.when;
        if cumulative < self.una {
            self.retransmissions.evidence.receiver_reports.on_old_ack(point.when.frame);
        }
        self.detectors.on_sack(sack, (cumulative, initial), point);
        for tsn in sack.duplicates() {
            let start = unwrap(self.una, initial, tsn);
            self.retransmissions.evidence.on_duplicate(Block { start, end: start + 1 }, point.when);
        }
        let mut newest = self.advance(cumulative, point);
        for (first, last) in sack.gaps() {
            let base = cumulative - 1;
            // A SACK that was overtaken may report chunks that are acknowledged by now.
            let block = Block { start: (base + u64::from(first)).max(self.una), end: base + u64::from(last) + 1 };
            if first > 0 && block.start < block.end && block.end <= self.nxt() {
                self.retransmissions.evidence.receiver_reports.on_block(self.una, block, (point.when, None));
                let (una, out, under_way) = (self.una, &self.out, &mut self.under_way);
                self.retransmissions.evidence.sacked.insert(block, |gap| {
                    newest = out.get((gap.end - 1 - una) as usize).copied().or(newest);
                    let news = out.range((gap.start - una) as usize..(gap.end - una) as usize);
                    *under_way = under_way.saturating_sub(news.map(|sent| u64::from(sent.len)).sum());
                });
            }
        }
        self.report(point);
        if self.loss_below.is_some_and(|high| self.una >= high) {
            self.loss_below = None;
        }
        let sent = newest.filter(Transmission::is_only_one)?;
        let took = point.when.nanos.saturating_sub(sent.nanos);
        self.estimate.sample(took);
        Some(took)
    }

    /// Updates the evidence after the gap reports of a SACK.
    fn report(&mut self, point: &CapturePoint) {
        let evidence = &mut self.retransmissions.evidence;
        let highest = evidence.sacked.highest();
        let (segments, sacked) = (&mut evidence.segments, &evidence.sacked);
        evidence.active.retain(|position| {
            let Some(one) = segments.get_mut(position).filter(|one| one.answer.is_none()) else { return false };
            if sacked.containing(*position).is_some() {
                one.answer = Some(Answered { when: point.when, echo: None, newest: 0, up_to: None });
            } else if one.gap.is_none() && highest.is_some_and(|highest| highest > position + 1) {
                one.gap = Some(point.when.frame);
            }
            one.answer.is_none()
        });
    }

    /// Acknowledges everything below `cumulative`. Returns the newest chunk that was not reported
    /// before.
    fn advance(&mut self, cumulative: u64, point: &CapturePoint) -> Option<Transmission> {
        let mut newest = None;
        while self.una < cumulative {
            match self.out.pop_front() {
                Some(sent) if self.retransmissions.evidence.sacked.containing(self.una).is_none() => {
                    self.under_way = self.under_way.saturating_sub(u64::from(sent.len));
                    self.counts.bytes_not_seen += u64::from(sent.missing && sent.copies == 1);
                    newest = Some(sent);
                }
                Some(sent) => self.counts.bytes_not_seen += u64::from(sent.missing && sent.copies == 1),
                None => {
                    // Acknowledged but never seen.
                    self.counts.bytes_not_seen += 1;
                }
            }
            self.una += 1;
            self.timer_since = point.when.nanos;
        }
        self.retransmissions.evidence.sacked.remove_below(self.una, |_| {});
        let round_trip = point.receiver_rtt().unwrap_or(0) + point.sender_rtt().unwrap_or(0);
        self.retransmissions.flight.on_ack(point.when.nanos, self.una, self.under_way, round_trip);
        let evidence = &mut self.retransmissions.evidence;
        for position in evidence.active.iter().filter(|position| **position < self.una) {
            if let Some(one) = evidence.segments.get_mut(position).filter(|one| one.answer.is_none()) {
                one.answer = Some(Answered { when: point.when, echo: None, newest: 0, up_to: None });
            }
        }
        newest
    }

    /// Handles SHUTDOWN or FORWARD TSN: everything up to `cumulative` is acknowledged or abandoned.
    pub(crate) fn abandon(&mut self, cumulative: Seq, point: &CapturePoint) {
        let Some(initial) = self.initial else { return };
        let cumulative = unwrap(self.una, initial, cumulative) + 1;
        if cumulative > self.una && cumulative <= self.nxt() {
            self.advance(cumulative, point);
        }
    }

    /// Adds the retransmissions with their verdicts to `into`. Returns their cost.
    pub(crate) fn finish(
        &mut self,
        (point, began): (&CapturePoint, u64),
        (connection, sender): (u64, End),
        into: &mut Vec<Retransmission>,
    ) -> Cost {
        let mut cost = Cost::default();
        let circumstances = Circumstances {
            order: PathOrder::Unknown,
            at_receiver: point.vantage() == Vantage::Receiver,
            at_sender: point.vantage() == Vantage::Sender,
            sack: true,
            silent: false,
            reports: true,
            would_report: self.retransmissions.evidence.reports,
            copies: self.retransmissions.may_report_copies(self.counts.segments),
            nearer: false,
            shortest: point.receiver_rtt().unwrap_or(0),
            shown: Shown {
                lossy: self.counts.bytes_not_seen > 0,
                until: point.when.nanos,
                midstream: (self.una >= MIDSTREAM).then_some(began),
                place: point.vantage(),
            },
        };
        let initial = self.initial.unwrap_or_default();
        let id = DirectionId { connection, sender, number: |position| Number::Tsn(wrap(position, initial).0) };
        self.detectors.finish();
        let explained = self.retransmissions.explained([]);
        let detector_verdicts = |episode| self.detectors.verdicts(episode);
        self.retransmissions.finish(
            &explained,
            (&circumstances, point.vantage()),
            &id,
            detector_verdicts,
            (into, &mut cost),
        );
        cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::RoundTrip;

    /// Returns a capture point without any round trips.
    fn at(when: When) -> CapturePoint {
        let unknown = RoundTrip::default().stored();
        CapturePoint { when, to_receiver: unknown, to_sender: unknown, sack: true }
    }

    #[test]
    fn outstanding_chunks_beyond_the_limit_are_forgotten() {
        const LEN: u16 = 100;
        let mut chunks = Chunks::default();
        chunks.begin(Seq(7));
        let point = |frame: u64| at(When { nanos: frame, frame });
        let most = MOST_REMEMBERED as u64;
        (0..most).for_each(|number| chunks.on_data(Seq(7 + number as u32), LEN, &point(number + 1)));
        assert_eq!((chunks.una, chunks.nxt(), chunks.under_way), (0, most, most * u64::from(LEN)));
        (most..most + 5).for_each(|number| chunks.on_data(Seq(7 + number as u32), LEN, &point(number + 1)));
        assert_eq!((chunks.una, chunks.nxt(), chunks.under_way), (5, most + 5, most * u64::from(LEN)));
        // A chunk so far ahead that no other chunk would be remembered beside it is ignored.
        chunks.on_data(Seq((7 + 2 * most + 5) as u32), LEN, &point(most + 6));
        assert_eq!(chunks.nxt(), most + 5);
        chunks.on_data(Seq((7 + 2 * most + 4) as u32), LEN, &point(most + 7));
        assert_eq!((chunks.una, chunks.nxt(), chunks.under_way), (most + 5, 2 * most + 5, u64::from(LEN)));
        assert_eq!(chunks.counts.segments, most + 7);
    }

    #[test]
    fn the_evidence_of_a_forgotten_chunk_starts_again() {
        let mut chunks = Chunks::default();
        chunks.begin(Seq(7));
        let most = MOST_REMEMBERED as u64;
        let mut frame = 0;
        let mut leaves = |chunks: &mut Chunks, number: u64| {
            frame += 1;
            let point = at(When { nanos: 400_000_000 * frame, frame });
            chunks.on_data(Seq(7 + number as u32), 9, &point);
        };
        [0, 0, 0]
            .into_iter()
            .chain((1..most).flat_map(|number| [number; 2]))
            .for_each(|number| leaves(&mut chunks, number));
        assert_eq!(
            (
                chunks.retransmissions.evidence.segments.len() as u64,
                chunks.retransmissions.evidence.segments[&0].transmissions.len()
            ),
            (most, 3)
        );
        [most, most, 0].iter().for_each(|number| leaves(&mut chunks, *number));
        // The lowest one is forgotten.
        assert_eq!(
            (
                chunks.retransmissions.evidence.segments.len() as u64,
                chunks.retransmissions.evidence.segments.contains_key(&1)
            ),
            (most, false)
        );
        let point = at(When::default());
        let mut found = Vec::new();
        chunks.finish((&point, 0), (0, End::Client), &mut found);
        let reasons = [0, 1, 2, most as usize + 2].map(|number| (found[number].copy, found[number].reason));
        let (open, forgotten) =
            ("no acknowledgement covers it in the capture", "too many retransmissions to remember them all");
        assert_eq!(reasons, [(2, open), (3, forgotten), (2, forgotten), (2, open)]);
    }
}
