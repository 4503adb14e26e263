//! The state of a direction from its first loss sign on.
//!
//! A direction is idle once all its retransmissions are acknowledged and two windows have passed
//! without a loss sign. It then costs as little as one without losses, until the next sign. Its
//! results are kept.

use super::recent_packets::RecentPackets;
use crate::cause::{DirectionId, InFlight, PathMtu, Retransmissions, SenderModel};
use crate::evidence::{Acknowledged, Evidence, Part, REORDERED_WITHIN, is_nearer};
use crate::order::{CapturePoint, Follows, Transmission};
use crate::result::{Cause, Cost, Counts, Number, Retransmission, Vantage, When};
use crate::stream::{Acknowledgement, Data, Stream};
use crate::verdict::{Circumstances, Row, Shown};
use eifel_base::ranges::Block;
use eifel_packet::seq::Seq;

/// The number of windows without a loss sign after which a direction may become idle.
const WINDOWS: u32 = 2;

/// The network makes copies within this time, in nanoseconds, or within half a round trip.
const COPIED_WITHIN: u64 = 8_000_000;
/// A path with more copies than this is known to make them.
const COPIES: u64 = 3;

/// Whether packets have to be examined for a loss.
#[derive(Clone, Copy, Default, Debug)]
enum Activity {
    /// The last loss sign came at `since`, in nanoseconds. Since then `windows` windows were
    /// acknowledged. The current window ends at position `until`.
    Active { since: u64, until: u64, windows: u32 },
    /// Everything is repaired.
    #[default]
    Idle,
}

/// The retransmissions of one direction, and the state that judges them.
#[derive(Debug, Default)]
pub(crate) struct LossState {
    activity: Activity,
    pub(crate) retransmissions: Retransmissions,
    pub(crate) model: SenderModel,
    pub(crate) path_mtu: PathMtu,
    pub(crate) recent: RecentPackets,
    /// Copies of data that the network made.
    pub(crate) copies: u64,
    /// The longest time by which a segment passed after data sent later, in nanoseconds.
    pub(crate) latest: Option<u64>,
    /// The number of a SYN that differs from the stream's initial one.
    pub(crate) other_initial: Option<Seq>,
    /// Data that were acknowledged before they passed, from the first that has not passed yet.
    unseen: Block,
    acknowledged: Acknowledged,
}

impl LossState {
    /// Returns the state at the first loss sign.
    pub(crate) fn after(stream: &Stream) -> Self {
        let mut state = Self { recent: RecentPackets::of(stream), ..Self::default() };
        if stream.duplicates > 0 {
            let when = When { nanos: stream.last_ack, frame: 0 };
            state.retransmissions.evidence.receiver_reports.on_duplicate_ack(stream.una, (when, None));
        }
        state
    }

    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        matches!(self.activity, Activity::Idle)
    }

    /// Records a loss sign after everything below `nxt` was sent.
    pub(crate) fn on_loss_sign(&mut self, nxt: u64, point: &CapturePoint) {
        self.activity = Activity::Active { since: point.when.nanos, until: nxt, windows: 0 };
    }

    /// Leaves the idle state, if in it.
    pub(crate) fn wake(&mut self, stream: &Stream, point: &CapturePoint) {
        if self.is_idle() {
            self.model.wake(stream, point);
            self.on_loss_sign(stream.nxt, point);
        }
    }

    /// Handles an ACK of new data without a loss sign. Becomes idle if it may.
    pub(crate) fn on_progress(&mut self, stream: &mut Stream, point: &CapturePoint) {
        let Activity::Active { since, until, windows } = self.activity else { return };
        if stream.una < until {
            return;
        }
        self.activity = Activity::Active { since, until: stream.nxt, windows: windows + 1 };
        // Away from the sender, windows seen here are shorter than round trips, and the path may
        // hold packets.
        let least = if point.is_next_to_sender() { 0 } else { REORDERED_WITHIN };
        let rested = point.when.nanos.saturating_sub(since)
            >= point.round_trip().map_or(REORDERED_WITHIN, |trip| least.max(trip * 2));
        let repaired = || self.retransmissions.evidence.is_complete() && self.model.is_repaired();
        if rested && windows + 1 >= WINDOWS && repaired() {
            stream.order.set_acks_in_transit(self.model.go_idle());
            self.activity = Activity::Idle;
            self.retransmissions.evidence.end_counting(stream.una);
        }
    }

    /// Handles a segment of new data.
    #[inline(always)]
    pub(crate) fn on_new(&mut self, start: u64, data: &Data, flight: u64, now: u64) {
        if !self.is_idle() {
            let data = *data;
            self.model.on_new(&data);
            let block = Block { start, end: start + u64::from(data.len) };
            self.retransmissions.evidence.count_sent(block, now, data.stamp);
        }
        self.recent.add(data, now);
        let Retransmissions { flight: watch, evidence, .. } = &mut self.retransmissions;
        watch.on_new(now, || flight.saturating_sub(evidence.sacked.covered(0, u64::MAX)));
    }

    /// Handles data of length `len` that never passed.
    pub(crate) fn on_unseen(&mut self, len: u32, point: &CapturePoint) {
        if !self.is_idle() {
            self.model.on_unseen(point.when, len);
        }
    }

    /// Handles an ACK of data that have not passed.
    pub(crate) fn on_ack_of_unseen(&mut self, block: Block) {
        let start = if self.unseen.end == block.start { self.unseen.start } else { block.start };
        self.unseen = Block { start, end: block.end };
    }

    /// Returns whether a segment follows directly, by position and identification, on the data before those
    /// that were acknowledged unseen. Then it is an original, and the capture has its ACK before it.
    fn is_shown_late(&mut self, block: Block, data: &Data) -> bool {
        let follows =
            data.follows == Follows::Directly && block.start == self.unseen.start && block.end <= self.unseen.end;
        if follows {
            self.unseen.start = block.end;
        }
        follows
    }

    /// Handles a segment that is sent again without a loss.
    pub(crate) fn on_probe(
        &mut self,
        stream: &mut Stream,
        (block, cause): (Block, Cause),
        data: &Data,
        point: &CapturePoint,
    ) {
        self.on_loss_sign(stream.nxt, point);
        // A SYN and a probe repeat the oldest position, a FIN the newest.
        let place = if cause == Cause::RepeatedFin { stream.out.len().saturating_sub(1) } else { 0 };
        let original = stream.out.get(place).copied().filter(|sent| sent.start == block.start);
        let part = self.repeat(original, block, data, point);
        if let Some(sent) = stream.out.get_mut(place).filter(|_| original.is_some()) {
            sent.copies = sent.copies.saturating_add(1);
        }
        if cause == Cause::Syn {
            stream.counts.retransmissions += u64::from(data.payload > 0);
            stream.counts.bytes_again += u64::from(data.payload);
        }
        self.add(stream, (block, vec![part]), (Some(cause), None), data, point);
    }

    /// Returns whether a segment without an identification is a copy that the network made: an equal one
    /// passed so shortly before that the sender cannot have sent the data again.
    pub(crate) fn is_untimely(&self, stream: &Stream, start: u64, data: &Data, point: &CapturePoint) -> bool {
        if point.vantage() == Vantage::Sender {
            // No network lies before the capture point.
            return false;
        }
        let evidence = &self.retransmissions.evidence;
        let (now, shortest) = (point.when.nanos, point.round_trip().unwrap_or(0));
        let reaction = evidence.reaction(stream, (start, data.echo), point);
        let Some(since) = self.recent.since(data, now) else { return false };
        if data.stamp.is_some() && stream.order.has_shorter_ticks(&reaction, now) {
            return true;
        }
        // On a path that copies packets and keeps their order, two equal ones come together.
        if self.copies > COPIES.max(stream.counts.reordered) && since < shortest / 2 {
            return true;
        }
        // What makes a sender repeat an original takes a round trip, unless the path holds or overtakes packets.
        let keeps_order = stream.counts.reordered == 0 && !stream.order.is_after_silence(now, shortest);
        if keeps_order && since < shortest / 2 && !evidence.segments.contains_key(&start) {
            return true;
        }
        let Some(timer) = reaction.timer else { return false };
        let last = evidence.segments.get(&start).and_then(|one| one.transmissions.last());
        let since = last.map_or(since, |last| since.min(now.saturating_sub(last.nanos)));
        // What is lost shortly before it was sent may have been lost together with others.
        let undisturbed = evidence.receiver_reports.last_loss_sign + since + timer < now;
        since < timer.min(COPIED_WITHIN.max(shortest / 2)) && undisturbed
    }

    /// Handles a segment whose positions `block` were sent before, or passed over as not seen.
    pub(crate) fn on_repeated_data(&mut self, stream: &mut Stream, block: Block, data: &Data, point: &CapturePoint) {
        self.on_loss_sign(stream.nxt, point);
        self.recent.add(data, point.when.nanos);
        self.retransmissions.evidence.begin_counting(stream, stream.duplicates, point);
        self.retransmissions.evidence.count_sent(block, point.when.nanos, data.stamp);
        let evidence = &mut self.retransmissions.evidence;
        let is_missed = stream.duplicates > 0 || !evidence.sacked.is_empty();
        let by_message = self.path_mtu.explains(block, data, stream, (is_missed, point.sender_rtt()));
        let mut parts = Vec::new();
        if self.is_shown_late(block, data) {
            stream.counts.bytes_not_seen -= block.end - block.start;
            return;
        }
        let evidence = &mut self.retransmissions.evidence;
        if block.start < stream.una {
            let passing = passing(block, data, point);
            let is_original = block.end <= stream.una && self.acknowledged.is_original(&passing, stream.out.get(0));
            if is_original || evidence.accept_late_original(&passing, stream, point) {
                stream.counts.reordered += 1;
                return;
            }
            let acked = Block { end: block.end.min(stream.una), ..block };
            parts.push(self.repeat(None, acked, data, point));
        }
        let open = Block { start: block.start.max(stream.una), end: block.end };
        let before = stream.out.bounds(open);
        if open.start < open.end {
            let mut index = stream.out.align(open.start, open.end);
            while let Some(sent) = stream.out.get(index).copied().filter(|sent| sent.start < open.end) {
                let block = Block { start: sent.start, end: sent.end() };
                if sent.missing && sent.copies == 1 {
                    stream.counts.bytes_not_seen -= u64::from(sent.len);
                }
                let passing = (&passing(block, data, point), data.echo);
                if self.retransmissions.evidence.accept_original(stream, index, passing, point) {
                    stream.counts.reordered += 1;
                    // The sender may be known to count later.
                    if let Some(original) = stream.out.get_mut(index).filter(|_| sent.missing) {
                        original.number = data.number;
                    }
                    // A segment that was passed over has the time of the data behind it.
                    let late = sent.missing.then(|| point.when.nanos.saturating_sub(sent.nanos));
                    self.latest = self.latest.max(late);
                } else {
                    let sent = stream.out.get(index).copied().unwrap_or(sent);
                    self.retransmissions.evidence.record_lost_behind(&sent, stream, point.sack);
                    parts.push(self.repeat(Some(sent), block, data, point));
                    if let Some(sent) = stream.out.get_mut(index) {
                        sent.copies = sent.copies.saturating_add(1);
                    }
                }
                index += 1;
            }
        }
        if parts.is_empty() {
            return;
        }
        self.retransmissions.evidence.on_bounds(&parts, block, before, data.stamp);
        stream.counts.retransmissions += 1;
        stream.counts.bytes_again += u64::from(data.payload.min((block.end - block.start) as u32));
        let (known, episode) = match by_message {
            true => (Some(Cause::PathMtu), None),
            false => (None, self.model.on_retransmission(block, data, stream, point)),
        };
        self.add(stream, (block, parts), (known, episode), data, point);
    }

    /// Records one more transmission of a segment.
    fn repeat(&mut self, first: Option<Transmission>, block: Block, data: &Data, point: &CapturePoint) -> Part {
        let dropped = self.path_mtu.report(block.start);
        self.retransmissions.evidence.add(first, (block, &passing(block, data, point)), dropped, point)
    }

    fn add(
        &mut self,
        stream: &Stream,
        (block, parts): (Block, Vec<Part>),
        (known, episode): (Option<Cause>, Option<u32>),
        data: &Data,
        point: &CapturePoint,
    ) {
        let above = Block { start: block.start.max(stream.una), end: block.end };
        let Evidence { receiver_reports: reports, echoed, .. } = &self.retransmissions.evidence;
        let newer = data.stamp.zip(*echoed).is_some_and(|(stamp, echoed)| echoed.precedes(stamp));
        let mut arrived = reports.arrived(stream.acknowledged(block.end), above, newer, point.when.nanos);
        if let Some(arrived) = arrived.as_mut().filter(|arrived| !arrived.by_sack) {
            arrived.unseen = stream.was_acked_unseen(block.start) && !self.acknowledged.has_seen(block.start);
        }
        let row = Row { when: point.when, block, payload: data.payload, known, episode, parts, arrived };
        // Without SACK, each duplicate ACK reports a segment.
        let reported = if point.sack {
            self.retransmissions.evidence.sacked.covered(stream.una, stream.nxt)
        } else {
            u64::from(stream.duplicates) * u64::from(stream.largest)
        };
        let outstanding = Block { start: stream.una, end: stream.nxt };
        let flight = InFlight::new(outstanding, reported, stream.window(), u64::from(stream.largest));
        self.retransmissions.add(row, data.left, flight);
    }

    /// Handles an ACK of new data that is no loss sign, after all repairs were acknowledged.
    /// Returns the newest segment that it covers.
    pub(crate) fn on_repaired_ack(
        &mut self,
        stream: &mut Stream,
        ack: &Acknowledgement,
        point: &CapturePoint,
    ) -> Option<Transmission> {
        let block = Block { start: stream.una, end: ack.cumulative };
        let (newest, unseen) = stream.out.pop_below(ack.cumulative, |sent| self.acknowledged.add(sent));
        stream.advance(ack.cumulative, unseen, point);
        self.retransmissions.flight.on_ack(
            ack.when.nanos,
            ack.cumulative,
            stream.flight(),
            point.round_trip().unwrap_or(0),
        );
        self.retransmissions.evidence.on_repaired(block, ack, point);
        self.model.on_ack(ack, point);
        self.on_progress(stream, point);
        newest
    }

    /// Handles an ACK that needs the full path. Returns the newest segment that it newly covers.
    pub(crate) fn on_ack(
        &mut self,
        stream: &mut Stream,
        ack: &Acknowledgement,
        point: &CapturePoint,
    ) -> Option<Transmission> {
        let evidence = &mut self.retransmissions.evidence;
        let before = stream.duplicates.saturating_sub(u32::from(!ack.advances));
        evidence.begin_counting(stream, before, point);
        evidence.begin_ack(stream.duplicates);
        let mut newest = None;
        if ack.advances {
            let block = Block { start: stream.una, end: ack.cumulative };
            let (last, unseen) = evidence.take_acked(stream, ack.cumulative, point, &mut self.acknowledged);
            newest = last;
            stream.advance(ack.cumulative, unseen, point);
            evidence.on_advance(stream, block, ack, point);
            let (flight, trip) = (stream.flight(), point.round_trip().unwrap_or(0));
            self.retransmissions.flight.on_ack(ack.when.nanos, ack.cumulative, flight, trip);
        }
        self.retransmissions.evidence.on_report(stream, ack, point);
        self.model.on_ack(ack, point);
        if !ack.advances || !ack.reports.is_empty() {
            self.on_loss_sign(stream.nxt, point);
        } else {
            self.on_progress(stream, point);
        }
        newest
    }

    /// Adds the retransmissions with their verdicts to the report. `midstream` is when the capture began, in
    /// nanoseconds, if it shows no handshake. Returns the name of the model that explains them best.
    pub(crate) fn finish(
        &mut self,
        (point, una, midstream, counts): (&CapturePoint, u64, Option<u64>, &Counts),
        id: &DirectionId<impl Fn(u64) -> Number>,
        (into, cost): (&mut Vec<Retransmission>, &mut Cost),
    ) -> Option<&'static str> {
        self.model.finish();
        let (model, named) = self.model.explained();
        let explained = self.retransmissions.explained(named.into_iter().zip(self.model.triggers()));
        self.retransmissions.evidence.end_counting(una);
        let evidence = &self.retransmissions.evidence;
        let shortest = point.receiver_rtt().unwrap_or(0);
        let reports = evidence.reports || point.sack && !evidence.is_silent();
        let circumstances = Circumstances {
            at_receiver: point.vantage() == Vantage::Receiver && !evidence.lost_behind,
            at_sender: point.is_known_next_to_sender(),
            sack: point.sack,
            order: evidence.path_order(),
            silent: evidence.is_silent(),
            reports,
            would_report: reports,
            copies: self.retransmissions.may_report_copies(counts.bytes),
            nearer: is_nearer(evidence.segments.values().map(|one| &**one), shortest),
            shortest,
            shown: Shown {
                lossy: counts.bytes_not_seen > 0,
                until: point.when.nanos,
                midstream,
                place: point.vantage(),
            },
        };
        let detector_verdicts = |episode| self.model.detector_verdicts(episode);
        self.retransmissions.finish(&explained, (&circumstances, point.vantage()), id, detector_verdicts, (into, cost));
        (!explained.is_empty()).then_some(model)
    }
}

/// Returns the record of the part `block` of a segment that passes now.
fn passing(block: Block, data: &Data, point: &CapturePoint) -> Transmission {
    let sent = Transmission::new(block.start, (block.end - block.start) as u32, point.when.nanos, data.stamp);
    Transmission { number: if data.numbered { data.number } else { 0 }, ..sent }
}
