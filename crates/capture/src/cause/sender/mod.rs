//! A model of the sender: models of stacks that receive everything that it sent and received.
//!
//! Away from the sender, a capture shows the sender's reactions late, by the round trip from the
//! capture point to the sender and back. So ACKs wait here for that time before the models receive
//! them. All events are then in the order in which the sender saw them.

mod rack;
mod receive;
#[cfg(test)]
mod tests;
mod triggers;

use std::collections::VecDeque;

use super::detectors::{Departure, EpisodeDetectors, SenderState};
use super::model::{AckReceived, Explained, Models, Retransmitted};
use super::suspected::SuspectedLosses;
use crate::order::{AcksInTransit, CapturePoint, NewAck, Silence};
use crate::result::{DetectorVerdict, Trigger, When};
use crate::stream::{Acknowledgement, Data, Reports, Stream};
use eifel_base::ranges::{Block, Ranges};
use eifel_base::ring::Ring;
use eifel_base::units::Timestamp;
use eifel_recovery::view::Negotiated;
pub(crate) use rack::Overtaken;
use rack::Rack;
pub(crate) use triggers::Triggers;

/// ACKs that may be under way to the sender. Beyond this number the oldest counts as received.
const MOST_WAITING: usize = 4096;
/// Without SACK, the number of duplicate ACKs that reports a loss.
const DUPLICATES: u32 = 3;
/// Ranges kept.
const MOST_RANGES: usize = 1 << 16;

/// The sender as it saw itself: after the ACKs that it had received.
#[derive(Debug, Default)]
pub(crate) struct SenderModel {
    models: Models,
    una: u64,
    nxt: u64,
    sacked: Ranges,
    /// The positions that were sent more than once.
    retransmitted: Ranges,
    duplicates: u32,
    last_ack: u64,
    last_sent: u64,
    silence: Silence,
    /// The timestamp that the sender's last segment echoes.
    echo: Option<Timestamp>,
    /// Whether the last segment that left was a retransmission.
    follows_another: bool,
    /// Whether the last retransmission was of data reported missing, or followed a repair of them.
    suspected_lost: bool,
    suspected: SuspectedLosses,
    /// With SACK only.
    rack: Option<Rack>,
    timer_since: u64,
    waiting: Ring<Waiting>,
    /// The [`Reports`] of the waiting ACKs that have any, in order.
    reports: VecDeque<Reports>,
    /// The sender's last echo, if it alone shows that the sender has not received the waiting ACKs.
    last_echo: Option<Timestamp>,
    /// Whether data never passed here: then the path loses segments before the capture point, however
    /// near the sender is.
    missed_data: bool,
    detectors: EpisodeDetectors,
}

/// An ACK that the sender has not received. Few ACKs have reports, so these are stored separately.
#[derive(Clone, Copy, Default, Debug)]
struct Waiting {
    /// When the sender receives it, as far as is known, and the earliest time at which it can, in
    /// nanoseconds.
    due: u64,
    soonest: u64,
    when: When,
    cumulative: u64,
    plain: bool,
    sack: bool,
    reports: bool,
    stamp: Option<Timestamp>,
    /// The timestamp that it echoes for the models, and the one for the detectors.
    echo: Option<Timestamp>,
    detector_echo: Option<Timestamp>,
}

impl Waiting {
    /// Returns the ACK with its reports. Whether it advances depends on what the sender knows then.
    fn with(&self, reports: Option<Reports>) -> Acknowledgement {
        let &Self { when, cumulative, plain, stamp, echo, .. } = self;
        let reports = reports.unwrap_or_default();
        Acknowledgement { when, cumulative, advances: false, reports, echo, stamp, plain, answers: plain }
    }
}

impl SenderModel {
    /// Starts the model at a loss sign, with the current state of `stream`.
    pub(crate) fn wake(&mut self, stream: &Stream, point: &CapturePoint) {
        let trip = point.reaction_delay();
        let in_transit = stream.order.acks_in_transit().filter(|acks| acks.iter().next().is_some());
        let received = in_transit.and_then(AcksInTransit::last_received);
        let before = self.una;
        self.una = received.map_or(stream.una, |ack| ack.cumulative);
        self.nxt = stream.nxt;
        self.sacked.remove_below(self.una, |_| {});
        self.retransmitted.remove_below(self.una, |_| {});
        let received_since = AckReceived {
            now: point.when.nanos,
            una: self.una,
            nxt: self.nxt,
            advances: self.una > before,
            duplicate: false,
            original_below: None,
            echo: None,
            sacks: Reports::default().sacks,
            dsack: None,
            sack: point.sack,
        };
        self.models.on_ack(&received_since);
        self.last_ack = stream.last_ack + trip;
        self.last_sent = stream.last_sent;
        self.silence = Silence::new(stream.round_trip_estimate(point.sender_rtt()).map(|(smoothed, _)| smoothed));
        self.missed_data |= stream.out.iter().any(|sent| sent.missing);
        self.note_sent(stream);
        self.timer_since = stream.timer_since + trip;
        (self.follows_another, self.suspected_lost) = (false, false);
        let state = SenderState {
            now: point.when.nanos,
            una: self.una,
            round_trip: point.round_trip(),
            negotiated: Negotiated { mss: stream.largest.max(1), sack: point.sack, timestamps: stream.is_stamped() },
            sctp: false,
        };
        let una = self.una;
        let under_way = stream.out.iter().filter(|sent| sent.end() > una).map(|sent| Departure {
            nanos: sent.nanos,
            len: (sent.end() - sent.start.max(una)) as u32,
            stamp: (stream.is_stamped() && !sent.missing).then_some(sent.stamp),
        });
        let passed = in_transit.into_iter().flat_map(|acks| answered(acks, stream, point));
        let (mut rack, mut start) = (point.sack.then(|| Rack::new(point.round_trip_at_least())), una);
        let record = |departure: &Departure| {
            let block = Block { start, end: start + u64::from(departure.len) };
            start = block.end;
            if let Some(rack) = &mut rack {
                rack.on_sent(block, departure.nanos);
            }
        };
        self.detectors.start(&state, passed.chain(under_way).inspect(record));
        self.rack = rack;
        for ack in in_transit.into_iter().flat_map(AcksInTransit::iter) {
            // Only the detectors get the echo: the models undo nothing because of an earlier ACK.
            let older = Acknowledgement::of_new(&NewAck { echo: None, ..*ack }, point.when.frame, true);
            self.on_ack_with(&older, ack.echo, point);
        }
        // ACKs that waited before the loss sign have no reports.
        match self.waiting.back().map(|last| last.with(None)) {
            None => {
                self.duplicates = stream.duplicates;
                self.suspected.begin(stream.una, stream.duplicates);
            }
            Some(last) => (0..stream.duplicates).for_each(|_| self.on_ack(&last, point)),
        }
        if let Some(ack) = received {
            let due = ack.nanos + trip;
            (self.last_ack, self.timer_since) = (due, due);
        }
    }

    /// Notes when the outstanding data left.
    fn note_sent(&mut self, stream: &Stream) {
        let mut before = None;
        for sent in stream.out.iter().filter(|sent| !sent.missing) {
            self.silence.on_sent(sent.nanos);
            if let Some(before) = before.replace(sent.nanos) {
                self.models.triggers.on_new(sent.nanos, self.last_ack.max(before), self.silence.smoothed);
            }
        }
    }

    /// Returns whether all models know that everything is repaired, and no reports are waiting.
    pub(crate) fn is_repaired(&self) -> bool {
        self.models.are_open() && self.reports.is_empty()
    }

    /// Puts the model to rest after everything is repaired, and the detectors too. Returns the
    /// ACKs that the sender has not received.
    pub(crate) fn go_idle(&mut self) -> AcksInTransit {
        self.detectors.stop();
        self.rack = None;
        let waiting = std::mem::take(&mut self.waiting);
        self.last_echo = None;
        let trip = waiting.front().map_or(0, |first| first.due - first.when.nanos);
        let plain = |one: &Waiting| {
            let &Waiting { when, cumulative, stamp, detector_echo: echo, .. } = one;
            NewAck { nanos: when.nanos, cumulative, stamp, echo }
        };
        AcksInTransit::after(self.una, self.last_ack.saturating_sub(trip), waiting.iter().map(plain))
    }

    /// Handles a segment of new data.
    #[inline(always)]
    pub(crate) fn on_new(&mut self, data: &Data) {
        // The other segments of a train carry the same echo and tell nothing new.
        if self.last_echo.is_none() || self.last_echo != data.echo {
            self.receive_until(data.left, data.echo);
        }
        self.on_sent(data.left, data.len);
        self.echo = data.echo;
        if let Some(detectors) = &mut self.detectors.current {
            detectors.on_new(&Departure { nanos: data.left, len: data.len, stamp: data.stamp });
        }
    }

    /// Handles data that never passed here. They must have left before the data that follow them.
    pub(crate) fn on_unseen(&mut self, when: When, len: u32) {
        self.missed_data = true;
        self.on_sent(when.nanos, len);
        if let Some(detectors) = &mut self.detectors.current {
            detectors.on_new(&Departure { nanos: when.nanos, len, stamp: None });
        }
    }

    #[inline]
    fn on_sent(&mut self, now: u64, len: u32) {
        if self.una == self.nxt {
            self.timer_since = now;
        } else {
            self.models.triggers.on_new(now, self.last_sent.max(self.last_ack), self.silence.smoothed);
        }
        if self.follows_another {
            self.on_new_behind_retransmission();
        }
        let block = Block { start: self.nxt, end: self.nxt + u64::from(len) };
        if let Some(rack) = &mut self.rack {
            rack.on_sent(block, now);
        }
        self.nxt = block.end;
        self.last_sent = now;
        self.silence.on_sent(now);
        self.follows_another = false;
    }

    #[inline(never)]
    fn on_new_behind_retransmission(&mut self) {
        let Self { models, sacked, .. } = self;
        models.on_new(|position| sacked.containing(position).map_or(position, |block| block.end));
    }

    pub(crate) fn detector_verdicts(&self, episode: u32) -> Vec<DetectorVerdict> {
        self.detectors.verdicts(episode)
    }

    /// Ends the capture. Delivers the ACKs that are still waiting.
    pub(crate) fn finish(&mut self) {
        while !self.waiting.is_empty() {
            self.receive_next();
        }
        self.detectors.stop();
    }

    /// Asks each model for the cause of a retransmission. Returns the loss episode that it belongs
    /// to.
    pub(crate) fn on_retransmission(
        &mut self,
        block: Block,
        data: &Data,
        stream: &Stream,
        point: &CapturePoint,
    ) -> Option<u32> {
        let now = data.left;
        self.receive_until(now, data.echo);
        self.suspected.on_retransmission(block.start, self.nxt);
        self.suspected_lost = self.suspected.covers(block.start) || self.follows_another && self.suspected_lost;
        let estimate = stream.round_trip_estimate(point.sender_rtt());
        self.silence.smoothed = estimate.map(|(smoothed, _)| smoothed);
        self.silence.on_sent(now);
        let exact = point.is_next_to_sender() || stream.order.has_fine_clock();
        let earliest = if exact { now } else { self.silence.earliest(now).max(self.last_ack.min(now)) };
        let timer_from = if exact { self.timer_since } else { self.silence.earliest_before(self.timer_since) };
        let reported = self.sacked.highest().is_some_and(|highest| highest > block.start);
        let resent = Retransmitted {
            now,
            earliest,
            ack_place: stream.order.ack_place(block.start).received(point.sender_rtt().unwrap_or(0)),
            silence_before: stream.order.silence_before(block.start, point.round_trip_at_least().unwrap_or(0)),
            start: block.start,
            end: block.end,
            una: self.una,
            nxt: self.nxt,
            last_ack: self.last_ack,
            last_sent: self.last_sent,
            timer_set: (timer_from, self.timer_since),
            estimate,
            missing: reported || !point.sack && self.duplicates >= DUPLICATES && block.start <= self.una,
            suspected_lost: self.suspected_lost,
            in_gap: self.suspected.shows(block.start),
            echo_is_new: data.echo.zip(self.echo).map(|(echo, before)| before.precedes(echo)),
            duplicates: (!point.sack).then_some(self.duplicates),
            duplicates_passed: self.duplicates + self.waiting.len() as u32,
            segments: stream.out.len(),
            stamp: data.stamp,
            may_be_unseen: !point.is_next_to_sender() || self.missed_data,
            repeated: self.retransmitted.containing(block.start).is_some(),
            reported: self.sacked.containing(block.start).is_some(),
            overtaken: self.rack.as_ref().and_then(|rack| rack.overtaken(block.start)),
            follows_another: self.follows_another,
        };
        let cause = self.models.explain(&resent);
        self.models.triggers.add(&resent, stream.largest, point.round_trip_at_least());
        if let Some(rack) = &mut self.rack {
            rack.on_retransmission(block, now, data.stamp);
        }
        if self.retransmitted.count() < MOST_RANGES {
            self.retransmitted.add(block);
        }
        self.last_sent = now;
        self.follows_another = true;
        self.echo = data.echo;
        self.detectors.on_retransmission(now, block, cause, data.stamp)
    }

    #[inline]
    pub(crate) fn on_ack(&mut self, ack: &Acknowledgement, point: &CapturePoint) {
        self.on_ack_with(ack, ack.echo, point);
    }

    #[inline(always)]
    fn on_ack_with(&mut self, ack: &Acknowledgement, detector_echo: Option<Timestamp>, point: &CapturePoint) {
        let &Acknowledgement { when, cumulative, reports, echo, stamp, plain, .. } = ack;
        let (trip, sack) = (point.reaction_delay(), point.sack);
        let due = when.nanos + trip;
        if self.waiting.len() == MOST_WAITING {
            self.receive_next();
        }
        self.last_echo = None;
        if !reports.is_empty() {
            self.reports.push_back(reports);
        }
        // The shortest round trip that was seen may be a little longer than the shortest one of the
        // path.
        let soonest = due - trip / 16;
        self.waiting.push_back(Waiting {
            due,
            soonest,
            when,
            cumulative,
            plain,
            sack,
            reports: !reports.is_empty(),
            stamp,
            echo,
            detector_echo,
        });
    }

    /// Returns the name of the model that explains the retransmissions best, and its explanations.
    pub(crate) fn explained(&self) -> (&'static str, Vec<Explained>) {
        self.models.explained()
    }

    /// Returns what made each of these retransmissions leave, in their order.
    pub(crate) fn triggers(&self) -> impl Iterator<Item = &Trigger> {
        self.models.triggers.iter()
    }
}

/// Returns the data that ACKs in transit cover, one departure per ACK: the sender still counts the
/// data as outstanding. No record says when the data passed. The time is the latest possible one:
/// before the ACK left the receiver, and before the data that are outstanding here passed. The
/// timestamp is the ACK's echo, which is that of its first data (RFC 7323, section 4.3).
fn answered(acks: &AcksInTransit, stream: &Stream, point: &CapturePoint) -> impl Iterator<Item = Departure> {
    let trip = point.receiver_rtt().unwrap_or(0);
    let latest = stream.out.iter().next().map_or(u64::MAX, |first| first.nanos);
    let mut una = acks.last_received().map_or(stream.una, |received| received.cumulative);
    acks.iter().filter_map(move |ack| {
        let len = ack.cumulative.checked_sub(una).filter(|len| *len > 0)?;
        una = ack.cumulative;
        let nanos = ack.nanos.saturating_sub(trip).min(latest);
        Some(Departure { nanos, len: len as u32, stamp: ack.echo })
    })
}
