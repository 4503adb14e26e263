//! One direction of a TCP connection: the data that one end sends, and the other end's
//! acknowledgements.
//!
//! While data arrive in order, a direction is its [`Stream`]. At the first loss sign it gets a
//! [`LossState`], which reads the stream.

use super::loss_state::LossState;
use crate::cause::reported;
use crate::evidence::Known;
use crate::frame::decode::TooBig;
use crate::order::{CapturePoint, Follows, NewAck};
use crate::result::When;
use crate::stream::{Acknowledgement, Arrival, Data, HALF, QuietAck, Stream, is_bare, stamp_and_echo};
use eifel_base::ranges::Block;
use eifel_base::units::Timestamp;
use eifel_packet::segment::{Segment, Timestamps};
use eifel_packet::seq::Seq;

#[derive(Debug, Default)]
pub(crate) struct Direction {
    pub(crate) stream: Stream,
    pub(crate) losses: Option<Box<LossState>>,
}

impl Direction {
    /// Returns whether there was no loss sign, or everything is repaired since.
    #[inline]
    fn is_idle(&self) -> bool {
        self.losses.as_ref().is_none_or(|losses| losses.is_idle())
    }

    /// Returns the loss state at a loss sign, active.
    fn woken(&mut self, point: &CapturePoint) -> (&mut Stream, &mut LossState) {
        let Self { stream, losses } = self;
        let losses = losses.get_or_insert_with(|| Box::new(LossState::after(stream)));
        losses.wake(stream, point);
        (stream, losses)
    }

    /// Returns how long ago the newest data of the ACK at `when` passed, in nanoseconds, if they passed more than once;
    /// 0 if they did not pass at all. `None` if the ACK covers no new data.
    pub(crate) fn repeated_took(&self, when: When) -> Option<u64> {
        let una = self.stream.una;
        self.stream.acknowledged(una).filter(|ack| ack.frame == when.frame)?;
        let segments = self.losses.as_ref().map(|losses| &losses.retransmissions.evidence.segments);
        let newest = segments.and_then(|segments| segments.range(..una).next_back());
        let sent = newest.filter(|(_, newest)| newest.end == una).and_then(|(_, newest)| newest.transmissions.last());
        Some(sent.map_or(0, |sent| when.nanos.saturating_sub(sent.nanos)))
    }

    /// Records what is known without packets, once there is a loss state that asks.
    pub(crate) fn knows(&mut self, known: Known, sack: bool) {
        if let Some(losses) = &mut self.losses {
            losses.retransmissions.evidence.knows(known, sack);
        }
    }

    /// Handles a segment with data, a SYN or a FIN.
    #[inline(always)]
    pub(crate) fn on_data(&mut self, data: &Data, point: &CapturePoint) {
        let start = self.stream.on_segment(data);
        if !point.is_next_to_sender() && self.is_idle() && !self.stream.order.repeats_echo(data.echo) {
            self.stream.order.on_data(data.left, data.echo, point.sender_rtt().unwrap_or(0));
        }
        if start == self.stream.nxt {
            self.on_new(start, data, point);
        } else {
            // The slow path takes a copy. So `data` needs no address, and its fields stay in
            // registers on the usual path.
            let (data, point) = (*data, *point);
            if self.is_copy(start, &data, &point) {
                return;
            }
            self.on_other(start, &data, &point);
        }
        self.stream.last_sent = data.left;
        self.stream.order.on_passed((data.seq, data.len, data.stamp));
    }

    #[inline(always)]
    fn on_new(&mut self, start: u64, data: &Data, point: &CapturePoint) {
        self.stream.on_new(start, data, point);
        if let Some(losses) = &mut self.losses {
            losses.on_new(start, data, self.stream.flight(), point.when.nanos);
        }
    }

    /// Returns whether a segment is a copy that the network made, and takes it back if so.
    #[cold]
    #[inline(never)]
    fn is_copy(&mut self, start: u64, data: &Data, point: &CapturePoint) -> bool {
        let has_copy =
            |losses: &LossState| losses.recent.has(data) || losses.is_untimely(&self.stream, start, data, point);
        let known = start < self.stream.nxt
            && !data.syn
            && (data.follows == Follows::Itself || self.losses.as_deref().is_some_and(has_copy));
        // A sender repeats its newest data when a timer expires, or behind a repair of older data. A FIN alone passes on
        // an idle direction, whose pauses are not known.
        let (now, newest) = (point.when.nanos, start + u64::from(data.len) == self.stream.nxt);
        let known = known
            || newest
                && data.payload > 0
                && self.stream.order.repeats_last((data.seq, data.len, data.stamp))
                && self.stream.order.is_without_pause(now.saturating_sub(1), now);
        let is_copy = known || data.numbered && self.stream.out.has_copy_of(start, data.len, data.number);
        if !is_copy {
            return false;
        }
        let (stream, losses) = self.woken(point);
        losses.copies += 1;
        stream.counts.segments -= u64::from(data.payload > 0);
        stream.counts.bytes -= u64::from(data.payload);
        true
    }

    /// Handles a segment that does not start at `nxt`.
    #[cold]
    #[inline(never)]
    fn on_other(&mut self, start: u64, data: &Data, point: &CapturePoint) {
        let (end, nxt) = (start + u64::from(data.len), self.stream.nxt);
        let block = Block { start, end: end.min(nxt) };
        match self.stream.arrival(start, data, point.when) {
            Arrival::Ignored => {}
            Arrival::Ahead => {
                self.stream.order.on_jump(nxt, data.left);
                let len = self.stream.pass_over(start, point.when);
                self.on_unseen(len, point);
                self.on_new(start, data, point);
            }
            Arrival::Probe(cause) => {
                let (stream, losses) = self.woken(point);
                losses.on_probe(stream, (block, cause), data, point);
            }
            Arrival::Repeated => {
                let (stream, losses) = self.woken(point);
                losses.on_repeated_data(stream, block, data, point);
                if end > nxt {
                    // The segment carries new data too.
                    let rest = Data { len: (end - nxt) as u32, payload: 0, identification: 0, ..*data };
                    self.on_new(nxt, &rest, point);
                }
            }
        }
    }

    fn on_unseen(&mut self, len: u32, point: &CapturePoint) {
        if let Some(losses) = &mut self.losses {
            losses.on_unseen(len, point);
        }
    }

    /// Handles a router's report that it dropped a segment.
    pub(crate) fn on_too_big(&mut self, message: &TooBig, point: &CapturePoint) {
        let Some((sent, most)) = reported(&self.stream, message) else { return };
        let (stream, losses) = self.woken(point);
        losses.path_mtu.on_message(&sent, most, (stream.una, stream.nxt), point.when);
    }

    /// Records how many identifications an ACK `skips`: these ACKs were lost. `None` if it does not show.
    #[inline(always)]
    pub(crate) fn on_numbered_ack(&mut self, skips: Option<u32>, when: When) {
        if skips != Some(0)
            && let Some(losses) = self.losses.as_mut().filter(|losses| !losses.is_idle())
            && (skips.is_some() || losses.retransmissions.evidence.is_counting())
        {
            losses.retransmissions.evidence.on_missing_acks(when.nanos, skips);
        }
    }

    /// Returns an ACK without SACK blocks as a quiet one; `None` if it needs the full path.
    #[inline(always)]
    pub(crate) fn quiet(&self, ack: Seq, bare: bool, window: (u32, u16)) -> Option<QuietAck> {
        let quiet = self.stream.quiet(ack, bare, window, self.losses.is_some())?;
        (self.is_idle() || self.is_repaired(quiet.cumulative)).then_some(quiet)
    }

    /// Returns whether an ACK up to `cumulative` covers new data and tells nothing about repairs.
    #[inline]
    fn is_repaired(&self, cumulative: u64) -> bool {
        let una = self.stream.una;
        // The ACK may be of another SYN than the stream's.
        let repaired =
            |losses: &LossState| losses.other_initial.is_none() && losses.retransmissions.evidence.is_repaired(una);
        cumulative > una && self.losses.as_deref().is_some_and(repaired)
    }

    /// Returns whether the ACK on a segment with data changes nothing: it repeats the last ACK,
    /// nothing is outstanding, and there was never a loss sign.
    #[inline(always)]
    pub(crate) fn ignores(&self, ack: Seq, window: (u32, u16)) -> bool {
        self.stream.repeats_last(ack, window) && self.losses.is_none()
    }

    /// Handles a quiet ACK. Returns the round trip as [`on_ack`](Self::on_ack) does.
    #[inline(always)]
    pub(crate) fn on_quiet(&mut self, ack: QuietAck, stamps: Option<Timestamps>, point: &CapturePoint) -> Option<u64> {
        self.stream.on_window(ack.bare, ack.window);
        self.note_echo(stamps);
        if !self.is_idle() {
            // The slow path takes a copy. So `point` needs no address, and its fields stay in
            // registers on the usual path.
            let point = *point;
            return self.on_repaired_ack(&ack, stamps, &point);
        }
        self.stream.note_in_transit(ack.cumulative, stamps, point);
        if ack.cumulative <= self.stream.una {
            self.stream.on_old_quiet(&ack, point);
            return None;
        }
        let (newest, unseen) = self.stream.out.pop_below(ack.cumulative, |_| {});
        self.stream.advance(ack.cumulative, unseen, point);
        let now = point.when.nanos;
        if let Some(losses) = &mut self.losses {
            let (flight, trip) = (self.stream.flight(), point.round_trip().unwrap_or(0));
            losses.retransmissions.flight.on_ack(now, ack.cumulative, flight, trip);
        }
        self.stream.round_trip(newest, now, true)
    }

    /// Handles an ACK of new data after all repairs were acknowledged.
    #[inline(never)]
    fn on_repaired_ack(&mut self, ack: &QuietAck, stamps: Option<Timestamps>, point: &CapturePoint) -> Option<u64> {
        let losses = self.losses.as_mut()?;
        let (stamp, echo) = stamp_and_echo(stamps);
        let new = NewAck { nanos: point.when.nanos, cumulative: ack.cumulative, stamp, echo };
        let ack = Acknowledgement::of_new(&new, point.when.frame, ack.plain);
        let newest = losses.on_repaired_ack(&mut self.stream, &ack, point);
        self.stream.round_trip(newest, point.when.nanos, true)
    }

    #[inline(always)]
    fn note_echo(&mut self, stamps: Option<Timestamps>) {
        if let Some(losses) = &mut self.losses
            && let Some(stamps) = stamps
        {
            losses.retransmissions.evidence.echoed = Some(Timestamp(stamps.echo));
        }
    }

    /// Handles the ACK on a segment from the receiver. `window` is the advertised window in bytes.
    /// Returns the round trip of the newest segment that it covers, in nanoseconds, if that was
    /// sent once.
    #[inline]
    pub(crate) fn on_ack(&mut self, segment: &Segment, window: u32, point: &CapturePoint) -> Option<u64> {
        self.choose_initial(segment.ack);
        let cumulative = self.stream.position_of_ack(segment)?;
        if self.stream.was_never_sent(cumulative, window) {
            return None;
        }
        if cumulative < self.stream.una {
            self.stream.extend_below(cumulative, point.when);
        }
        let sent = self.stream.nxt;
        if let Some(len) = self.stream.on_ack_of_unseen(cumulative, point.when) {
            self.on_unseen(len, point);
            self.woken(point).1.on_ack_of_unseen(Block { start: sent, end: cumulative });
        }
        let (bare, window) = (is_bare(segment), (window, segment.window));
        if segment.options.sack.is_empty()
            && let Some(quiet) = self.quiet(segment.ack, bare, window)
        {
            let took = self.on_quiet(quiet, segment.options.timestamps, point);
            self.stream.out.shrink();
            return took;
        }
        let answers = self.stream.answers(bare, window.0);
        let plain = self.stream.on_window(bare, window);
        if cumulative > self.stream.nxt {
            return None;
        }
        self.note_echo(segment.options.timestamps);
        if cumulative + HALF < self.stream.una {
            return None;
        }
        self.on_full_ack(segment, cumulative, (plain, answers), point)
    }

    /// Takes the initial sequence number that an ACK shows, if the end has sent a SYN with another one
    /// too.
    #[inline]
    fn choose_initial(&mut self, ack: Seq) {
        if let Some(losses) = &mut self.losses
            && let Some(other) = losses.other_initial
            && self.stream.is_opening()
            && ack.0.wrapping_sub(other.0) == 1
        {
            losses.other_initial = self.stream.initial.replace(other);
        }
    }

    /// Handles a SYN with another sequence number than the one before it. RFC 9293, section 3.10.7.4: the
    /// other end takes the first that arrives, and then acknowledges that one.
    #[cold]
    #[inline(never)]
    pub(crate) fn on_other_syn(&mut self, seq: Seq, point: &CapturePoint) {
        if self.stream.is_opening() {
            self.woken(point).1.other_initial = Some(seq);
        }
    }

    #[cold]
    #[inline(never)]
    fn on_full_ack(
        &mut self,
        segment: &Segment,
        cumulative: u64,
        kind: (bool, bool),
        point: &CapturePoint,
    ) -> Option<u64> {
        let ack = self.stream.read(segment, cumulative, kind, point.when)?;
        let (stream, losses) = self.woken(point);
        let repeats = cumulative == stream.una && stream.nxt > stream.una;
        if repeats && (ack.plain || ack.reports.count > 0) {
            stream.duplicates += 1;
        }
        stream.last_ack = point.when.nanos;
        let reported = losses.retransmissions.evidence.round_trip(stream, &ack);
        let newest = losses.on_ack(stream, &ack, point);
        stream.out.shrink();
        // Data that had waited for others are no sample for the smoothed round trip. They still bound
        // the shortest one: it is no longer than the time they took.
        let evidence = &losses.retransmissions.evidence;
        let sample = ack.reports.count == 0 && evidence.is_timely();
        if let Some(took) = evidence.filler_took() {
            stream.sample(took);
        }
        let took = stream.round_trip(newest, point.when.nanos, sample);
        let shortest = took.into_iter().chain(reported).min();
        if let Some(took) = shortest {
            losses.retransmissions.evidence.on_round_trip(point.when.nanos, took);
        }
        shortest
    }
}
