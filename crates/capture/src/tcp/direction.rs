//! Applies acknowledgements to a direction.

use super::half::{Acknowledgement, Half, Setting};
use super::sent::Sent;
use super::unheard::Plain;
use eifel_base::ranges::Block;
use eifel_base::units::Timestamp;
use eifel_packet::segment::{Flags, Segment, Timestamps};
use eifel_packet::seq::{Seq, unwrap};

/// Half of the sequence space.
const HALF: u64 = 1 << 31;

/// An ACK in a direction without open trouble that is no sign of trouble itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Quiet {
    cumulative: u64,
    /// Whether it has no payload, SYN or FIN.
    bare: bool,
    /// Whether it is bare and the window is unchanged.
    plain: bool,
    /// The window in bytes, and its unscaled field.
    window: (u32, u16),
}

impl Half {
    /// Returns an ACK without SACK blocks as a quiet one; `None` if it needs the full path.
    #[inline(always)]
    pub(super) fn quiet(&self, ack: Seq, bare: bool, window: (u32, u16)) -> Option<Quiet> {
        let plain = bare && (self.window, self.window_field) == window;
        let cumulative = unwrap(self.una, self.initial?, ack);
        let repeats =
            plain && cumulative == self.una && self.nxt > self.una && (self.trouble.is_some() || self.duplicates > 0);
        let quiet = cumulative <= self.nxt && !repeats && (self.is_calm() || self.is_mended(cumulative));
        quiet.then_some(Quiet { cumulative, bare, plain, window })
    }

    /// Returns whether the ACK on a segment with data changes nothing: it repeats the last ACK,
    /// nothing is outstanding, and there was never trouble.
    #[inline(always)]
    pub(super) fn has_heard(&self, ack: Seq, window: (u32, u16)) -> bool {
        let Some(initial) = self.initial else { return false };
        let repeats = ack.0.wrapping_sub(initial.0) == self.una as u32 && (self.window, self.window_field) == window;
        repeats && self.una == self.nxt && self.trouble.is_none()
    }

    /// Handles a quiet ACK. Returns the round trip as [`on_ack`](Self::on_ack) does.
    #[inline(always)]
    pub(super) fn on_quiet(&mut self, ack: Quiet, stamps: Option<Timestamps>, setting: &Setting) -> Option<u64> {
        let Quiet { cumulative, bare, plain, window } = ack;
        (self.window, self.window_field) = window;
        self.counts.acks += u64::from(bare);
        if let Some(trouble) = &mut self.trouble
            && let Some(stamps) = stamps
        {
            trouble.echoed = Some(Timestamp(stamps.echo));
        }
        if !self.is_calm() {
            // The slow path takes a copy. So `setting` needs no address, and its fields stay in
            // registers on the usual path.
            let setting = *setting;
            return self.on_mended_ack(cumulative, plain, stamps, &setting);
        }
        if !setting.is_next_to_sender() && cumulative > self.una {
            let stamp = stamps.map(|stamps| Timestamp(stamps.value));
            let echo = stamps.map(|stamps| Timestamp(stamps.echo));
            self.away().unheard.on_ack(Plain { nanos: setting.when.nanos, cumulative, stamp, echo });
        }
        self.on_quiet_ack(cumulative, plain, setting)
    }

    /// Handles the ACK on a segment from the receiver. `window` is the advertised window in bytes.
    /// Returns the round trip of the newest segment that it covers, in nanoseconds, if that was
    /// sent once.
    #[inline]
    pub(super) fn on_ack(&mut self, segment: &Segment, window: u32, setting: &Setting) -> Option<u64> {
        let initial = self.initial?;
        let bare = segment.payload_len == 0 && !segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::FIN);
        let cumulative = unwrap(self.una, initial, segment.ack);
        if cumulative > self.nxt && cumulative - self.nxt <= HALF {
            self.counts.bytes_not_seen += cumulative - self.nxt;
            self.pass_over(cumulative, setting.when);
        }
        let window = (window, segment.window);
        if segment.options.sack.is_empty()
            && let Some(quiet) = self.quiet(segment.ack, bare, window)
        {
            let took = self.on_quiet(quiet, segment.options.timestamps, setting);
            self.out.shrink();
            return took;
        }
        let plain = bare && (self.window, self.window_field) == window;
        (self.window, self.window_field) = window;
        self.counts.acks += u64::from(bare);
        if cumulative > self.nxt {
            return None;
        }
        if let Some(trouble) = &mut self.trouble
            && let Some(stamps) = segment.options.timestamps
        {
            trouble.echoed = Some(Timestamp(stamps.echo));
        }
        if cumulative + HALF < self.una {
            return None;
        }
        self.on_troubled_ack(segment, cumulative, plain, setting)
    }

    /// Handles an ACK of new data after all repairs were acknowledged, with the result of
    /// [`on_troubled_ack`](Self::on_troubled_ack).
    #[inline(never)]
    fn on_mended_ack(
        &mut self,
        cumulative: u64,
        plain: bool,
        stamps: Option<Timestamps>,
        setting: &Setting,
    ) -> Option<u64> {
        let when = setting.when;
        let mut original: Option<u64> = None;
        let newest = self.out.pop_below(cumulative, |sent| {
            // No outstanding segment is a repair, so a segment that was sent once is an original.
            if sent.copies == 1 && !sent.missing {
                original = Some(sent.end());
            }
        });
        self.advance(cumulative, setting);
        let mut trouble = self.trouble.take()?;
        trouble.flight.on_ack(when.nanos, cumulative, self.nxt - cumulative, setting.round_trip().unwrap_or(0));
        trouble.on_mended(original, when);
        let stamp = stamps.map(|stamps| Timestamp(stamps.value));
        let echo = stamps.map(|stamps| Timestamp(stamps.echo));
        trouble.replica.on_ack(
            &Acknowledgement {
                when,
                cumulative,
                advances: true,
                sacks: [Block { start: 0, end: 0 }; 4],
                count: 0,
                dsack: None,
                echo,
                stamp,
                plain,
            },
            setting,
        );
        self.settle(&mut trouble, setting);
        self.trouble = Some(trouble);
        let took = when.nanos.saturating_sub(newest.filter(|sent| !sent.missing && sent.copies == 1)?.nanos);
        self.sample(took);
        Some(took)
    }

    #[inline(always)]
    fn on_quiet_ack(&mut self, cumulative: u64, plain: bool, setting: &Setting) -> Option<u64> {
        let now = setting.when.nanos;
        if cumulative <= self.una {
            if cumulative == self.una && self.nxt > self.una {
                self.duplicates += u32::from(plain);
                self.last_ack = now;
            }
            return None;
        }
        let newest = self.out.pop_below(cumulative, |_| {});
        self.advance(cumulative, setting);
        if let Some(trouble) = &mut self.trouble {
            trouble.flight.on_ack(now, cumulative, self.nxt - cumulative, setting.round_trip().unwrap_or(0));
        }
        let took = now.saturating_sub(newest.filter(|sent| !sent.missing && sent.copies == 1)?.nanos);
        self.sample(took);
        Some(took)
    }

    #[inline(always)]
    fn advance(&mut self, cumulative: u64, setting: &Setting) {
        if !setting.is_next_to_sender() {
            self.note_boundary(cumulative, setting.when.nanos);
        }
        self.una = cumulative;
        self.duplicates = 0;
        self.last_ack = setting.when.nanos;
        self.timer_since = setting.when.nanos;
        self.last_advance = setting.when;
    }

    #[inline(never)]
    fn note_boundary(&mut self, cumulative: u64, nanos: u64) {
        self.away().boundaries.on_ack(cumulative, nanos);
    }

    #[cold]
    #[inline(never)]
    fn on_troubled_ack(&mut self, segment: &Segment, cumulative: u64, plain: bool, setting: &Setting) -> Option<u64> {
        let ack = self.read(segment, cumulative, plain, setting)?;
        self.begin(setting);
        let advances = ack.advances;
        let old = cumulative < self.una;
        if !advances && !old && self.nxt > self.una && (plain || ack.count > 0) {
            self.duplicates += 1;
        }
        self.last_ack = setting.when.nanos;
        let mut newest: Option<Sent> = None;
        let mut trouble = self.trouble.take()?;
        let mut popped = trouble.popped.reused(self.duplicates);
        if advances {
            let before = self.una;
            newest = self.out.pop_below(cumulative, |sent| popped.note(sent, &trouble, setting));
            self.advance(cumulative, setting);
            trouble.on_advance(self, Block { start: before, end: cumulative }, &ack, &popped, setting);
        }
        trouble.on_report(self, &ack, setting);
        trouble.replica.on_ack(&ack, setting);
        if !advances || ack.count > 0 || ack.dsack.is_some() {
            trouble.stir(self.nxt, setting);
        } else {
            self.settle(&mut trouble, setting);
        }
        self.out.shrink();
        let reported_before = popped.reported_before;
        trouble.popped = popped;
        self.trouble = Some(trouble);
        let took = setting.when.nanos.saturating_sub(newest.filter(|sent| !sent.missing && sent.copies == 1)?.nanos);
        // Data that SACK reported long before are no sample for the smoothed round trip. They still
        // bound the shortest one: it is no longer than the time they took.
        if ack.count == 0 && !reported_before {
            self.sample(took);
        }
        Some(took)
    }

    /// Unwraps the SACK blocks and separates a DSACK from them (RFC 2883, section 4).
    fn read(&self, segment: &Segment, cumulative: u64, plain: bool, setting: &Setting) -> Option<Acknowledgement> {
        let initial = self.initial?;
        let (mut sacks, mut count, mut dsack) = ([Block { start: 0, end: 0 }; 4], 0, None);
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
                dsack = Some(block);
            } else if block.start > cumulative {
                sacks[count] = block;
                count += 1;
            }
        }
        let echo = segment.options.timestamps.map(|stamps| Timestamp(stamps.echo));
        let stamp = segment.options.timestamps.map(|stamps| Timestamp(stamps.value));
        let advances = cumulative > self.una;
        Some(Acknowledgement { when: setting.when, cumulative, advances, sacks, count, dsack, echo, stamp, plain })
    }
}
