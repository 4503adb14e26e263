//! The other end's acknowledgements of a stream.

use super::{HALF, Stream};
use crate::order::{CapturePoint, NewAck, Transmission};
use crate::result::When;
use eifel_base::ranges::Block;
use eifel_base::units::Timestamp;
use eifel_packet::segment::{Flags, Segment, Timestamps};
use eifel_packet::seq::{Seq, unwrap};

/// Receivers' windows count as no smaller than this, in bytes: their scale may be unknown.
pub(super) const LEAST_WINDOW: u32 = 1 << 20;

/// An acknowledgement, with positions unwrapped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledgement {
    pub(crate) when: When,
    pub(crate) cumulative: u64,
    /// Whether it acknowledges new data.
    pub(crate) advances: bool,
    pub(crate) reports: Reports,
    pub(crate) echo: Option<Timestamp>,
    pub(crate) stamp: Option<Timestamp>,
    /// Whether it has no payload, SYN or FIN, and an unchanged window.
    pub(crate) plain: bool,
    /// Whether it has no payload, SYN or FIN, and is not sent for its window: Linux announces a larger
    /// one by itself only if it is twice the last (`tcp_cleanup_rbuf`).
    pub(crate) answers: bool,
}

/// The SACK blocks and the DSACK of an ACK.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Reports {
    /// The blocks that are reported; empty blocks fill the rest.
    pub(crate) sacks: [Block; 4],
    pub(crate) count: usize,
    pub(crate) dsack: Option<Block>,
}

impl Reports {
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0 && self.dsack.is_none()
    }

    pub(crate) fn sacks(&self) -> &[Block] {
        &self.sacks[..self.count]
    }
}

impl Acknowledgement {
    /// Returns an ACK of new data without SACK blocks.
    pub(crate) fn of_new(ack: &NewAck, frame: u64, plain: bool) -> Self {
        let &NewAck { nanos, cumulative, stamp, echo } = ack;
        let (when, reports) = (When { nanos, frame }, Reports::default());
        Self { when, cumulative, advances: true, reports, echo, stamp, plain, answers: plain }
    }
}

/// An ACK that is no loss sign, in a direction that is idle or whose repairs are acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct QuietAck {
    pub(crate) cumulative: u64,
    /// Whether it has no payload, SYN or FIN.
    pub(crate) bare: bool,
    /// Whether it is bare and the window is unchanged.
    pub(crate) plain: bool,
    /// The window in bytes, and its unscaled field.
    pub(crate) window: (u32, u16),
}

impl Stream {
    /// Returns an ACK without SACK blocks as a quiet one. Returns `None` for an ACK of unseen data,
    /// and for a duplicate ACK if `watched` or after another.
    #[inline(always)]
    pub(crate) fn quiet(&self, ack: Seq, bare: bool, window: (u32, u16), watched: bool) -> Option<QuietAck> {
        let plain = bare && (self.window, self.window_field) == window;
        let cumulative = unwrap(self.una, self.initial?, ack);
        let repeats = plain && cumulative == self.una && self.nxt > self.una && (watched || self.duplicates > 0);
        let is_usual = cumulative <= self.nxt && !repeats && (cumulative >= self.una || !self.may_extend_below());
        is_usual.then_some(QuietAck { cumulative, bare, plain, window })
    }

    /// Returns whether the ACK on a segment with data repeats the last ACK while nothing is
    /// outstanding.
    #[inline(always)]
    pub(crate) fn repeats_last(&self, ack: Seq, window: (u32, u16)) -> bool {
        let Some(initial) = self.initial else { return false };
        let repeats = ack.0.wrapping_sub(initial.0) == self.una as u32 && (self.window, self.window_field) == window;
        repeats && self.una == self.nxt
    }

    /// Takes the window of an ACK, and counts the ACK. Returns whether the ACK is plain.
    #[inline(always)]
    pub(crate) fn on_window(&mut self, bare: bool, window: (u32, u16)) -> bool {
        let plain = bare && (self.window, self.window_field) == window;
        (self.window, self.window_field) = window;
        self.counts.acks += u64::from(bare);
        plain
    }

    /// Records an ACK of new data on its way to a remote sender.
    #[inline(always)]
    pub(crate) fn note_in_transit(&mut self, cumulative: u64, stamps: Option<Timestamps>, point: &CapturePoint) {
        if !point.is_next_to_sender() && cumulative > self.una {
            let (stamp, echo) = stamp_and_echo(stamps);
            self.order.on_ack(NewAck { nanos: point.when.nanos, cumulative, stamp, echo });
        }
    }

    /// Returns the position of a segment's ACK. Returns `None` if the stream is not known yet.
    pub(crate) fn position_of_ack(&self, segment: &Segment) -> Option<u64> {
        Some(unwrap(self.una, self.initial?, segment.ack))
    }

    /// Returns whether an ACK is of data that the end cannot have sent (RFC 9293, section 3.10.7.3): of
    /// more than its SYN before that is acknowledged, or beyond the receiver's `window`. It belongs to
    /// an older connection.
    pub(crate) fn was_never_sent(&self, cumulative: u64, window: u32) -> bool {
        let beyond = || cumulative - self.una > u64::from(window.max(self.window).max(LEAST_WINDOW));
        cumulative > self.nxt && (self.is_opening() || beyond())
    }

    /// Returns whether a segment acknowledges data of this stream that no ACK covers yet, or the last
    /// ones.
    pub(crate) fn is_acked_by(&self, segment: &Segment) -> bool {
        self.position_of_ack(segment).is_some_and(|ack| (self.una..=self.nxt).contains(&ack))
    }

    /// Handles an ACK of data that were never seen: passes over them.
    pub(crate) fn on_ack_of_unseen(&mut self, cumulative: u64, when: When) -> Option<u32> {
        (cumulative > self.nxt && cumulative - self.nxt <= HALF).then(|| self.pass_over(cumulative, when))
    }

    /// Counts a duplicate ACK that is no loss sign.
    #[inline(always)]
    pub(crate) fn on_old_quiet(&mut self, ack: &QuietAck, point: &CapturePoint) {
        if ack.cumulative == self.una && self.nxt > self.una {
            self.duplicates += u32::from(ack.plain);
            self.last_ack = point.when.nanos;
        }
    }

    /// Moves `una` to the end of an ACK of new data.
    #[inline(always)]
    pub(crate) fn advance(&mut self, cumulative: u64, unseen: bool, point: &CapturePoint) {
        if !point.is_next_to_sender() {
            self.order.on_ack_end(cumulative, point.when.nanos);
        }
        self.una = cumulative;
        self.duplicates = 0;
        self.last_ack = point.when.nanos;
        self.timer_since = point.when.nanos;
        self.last_advance = point.when;
        self.last_new.on_ack(unseen);
    }

    /// Returns the round trip of the newest segment that an ACK covers, in nanoseconds, if that was
    /// sent once. Adds it to the smoothed round trip if it is a `sample`.
    #[inline(always)]
    pub(crate) fn round_trip(&mut self, newest: Option<Transmission>, now: u64, sample: bool) -> Option<u64> {
        let took = now.saturating_sub(newest.filter(Transmission::is_only_one)?.nanos);
        if sample {
            self.estimate.sample(took);
        }
        Some(took)
    }

    /// Adds a round trip that a timestamp shows, in nanoseconds.
    pub(crate) fn sample(&mut self, nanos: u64) {
        self.estimate.sample(nanos);
    }

    /// Returns whether an ACK with this window is no mere update of the window.
    pub(crate) fn answers(&self, bare: bool, window: u32) -> bool {
        bare && u64::from(window) < 2 * self.window().max(1)
    }

    /// Unwraps the SACK blocks and separates a DSACK from them (RFC 2883, section 4). The ACK is
    /// `plain`, and `answers` a packet.
    pub(crate) fn read(
        &self,
        segment: &Segment,
        cumulative: u64,
        (plain, answers): (bool, bool),
        when: When,
    ) -> Option<Acknowledgement> {
        let initial = self.initial?;
        let mut reports = Reports::default();
        let blocks = segment.options.sack.as_slice();
        let position = |seq| unwrap(cumulative, initial, seq);
        for (index, (left, right)) in blocks.iter().enumerate() {
            let block = Block { start: position(*left), end: position(*right) };
            if block.start >= block.end || block.end > self.nxt {
                continue;
            }
            let second = blocks.get(1).map(|(left, right)| (position(*left), position(*right)));
            let inside = second.is_some_and(|(start, end)| start <= block.start && block.end <= end);
            if index == 0 && (block.end <= cumulative || inside) {
                reports.dsack = Some(block);
            } else if block.start > cumulative {
                reports.sacks[reports.count] = block;
                reports.count += 1;
            }
        }
        let (stamp, echo) = stamp_and_echo(segment.options.timestamps);
        let advances = cumulative > self.una;
        Some(Acknowledgement { when, cumulative, advances, reports, echo, stamp, plain, answers })
    }
}

/// Returns whether a segment has no payload, SYN or FIN.
pub(crate) fn is_bare(segment: &Segment) -> bool {
    segment.payload_len == 0 && !segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::FIN)
}

/// Returns the TSval and the TSecr of the timestamps option.
#[inline(always)]
pub(crate) fn stamp_and_echo(stamps: Option<Timestamps>) -> (Option<Timestamp>, Option<Timestamp>) {
    (stamps.map(|stamps| Timestamp(stamps.value)), stamps.map(|stamps| Timestamp(stamps.echo)))
}
