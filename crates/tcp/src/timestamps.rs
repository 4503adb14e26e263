//! Timestamps (RFC 7323): the clock, the value to echo, and the evaluation of the peer's echoes.

use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;
use eifel_packet::segment::Timestamps;
use eifel_recovery::fact::Echo;
use eifel_recovery::scoreboard::{Scoreboard, SentSegment};

use crate::distinct::Distinct;
use crate::settings::{EchoRule, Stamping, TimestampSettings};
use eifel_base::siphash::Secret;

/// This end's timestamp clock. It caches the current tick, because a division per segment is slow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    granularity: u64,
    offset: u32,
    shown: u32,
    since: u64,
    until: u64,
}

impl Clock {
    pub(crate) fn new(settings: &TimestampSettings) -> Self {
        let granularity = settings.granularity.as_nanos().max(1);
        Self { granularity, offset: settings.offset, shown: settings.offset, since: 0, until: granularity }
    }

    /// Returns the timestamp of `now`.
    #[inline]
    pub(crate) fn value(&mut self, now: Instant) -> Timestamp {
        let now = now.as_nanos();
        if now < self.since || now >= self.until {
            let tick = now / self.granularity;
            self.since = tick * self.granularity;
            self.until = self.since.saturating_add(self.granularity);
            self.shown = self.offset.wrapping_add(tick as u32);
        }
        Timestamp(self.shown)
    }

    /// Returns the time since the clock first read `value`; `None` if it has not yet read it.
    #[inline(always)]
    fn age(&mut self, now: Instant, value: Timestamp) -> Option<Duration> {
        let shown = self.value(now);
        if shown.precedes(value) {
            return None;
        }
        let ticks = shown.0.wrapping_sub(value.0);
        let age = (now.as_nanos() - self.since).saturating_add(u64::from(ticks).saturating_mul(self.granularity));
        Some(Duration::from_nanos(age.min(now.as_nanos())))
    }
}

/// TS.Recent: the peer's timestamp to echo.
#[derive(Clone, Copy, Debug)]
struct Recent {
    value: Timestamp,
    at: Instant,
}

/// A TS.Recent that is older is ignored (RFC 7323, section 5.5).
const OUTDATED: Duration = Duration::from_secs(24 * 24 * 3600);

/// Timestamp state of one end of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Stamps {
    values: Values,
    recent: Option<Recent>,
    rule: EchoRule,
    required: bool,
}

/// The source of TSvals.
#[derive(Clone, Debug)]
enum Values {
    Clock(Clock),
    /// Distinct values, before the first segment is sent.
    Unbegun(Box<Unbegun>),
    Distinct(Box<Distinct>),
}

/// Initial state of distinct values.
#[derive(Clone, Debug)]
struct Unbegun {
    secret: Secret,
    connection: u64,
    clock: Clock,
}

impl Stamps {
    /// Makes the state. `connection` distinguishes this end from other connections with the same
    /// settings.
    pub(crate) fn new(settings: &TimestampSettings, connection: u64) -> Self {
        let clock = Clock::new(settings);
        let values = match settings.stamping {
            Stamping::Clock => Values::Clock(clock),
            Stamping::Distinct { secret } => Values::Unbegun(Box::new(Unbegun { secret, connection, clock })),
        };
        Self { values, recent: None, rule: settings.echo, required: settings.required }
    }

    /// Returns whether segments without the negotiated option are dropped.
    pub(crate) fn are_required(&self) -> bool {
        self.required
    }

    /// Returns the TSval of a segment sent now.
    #[inline]
    pub(crate) fn value(&mut self, now: Instant) -> Timestamp {
        match &mut self.values {
            Values::Clock(clock) => clock.value(now),
            Values::Distinct(distinct) => distinct.value(now),
            Values::Unbegun(_) => self.first_value(now),
        }
    }

    /// Returns the timestamps option of a segment sent now.
    #[inline(always)]
    pub(crate) fn option(&mut self, now: Instant) -> Timestamps {
        Timestamps { value: self.value(now).0, echo: self.echo() }
    }

    #[cold]
    fn first_value(&mut self, now: Instant) -> Timestamp {
        if let Values::Unbegun(unbegun) = &mut self.values {
            let Unbegun { secret, connection, clock } = &mut **unbegun;
            let shown = clock.value(now);
            let distinct = Distinct::new(*secret, *connection, clock.granularity, now, shown);
            self.values = Values::Distinct(Box::new(distinct));
        }
        self.value(now)
    }

    /// Returns the TSval of a segment without data sent now, and records it as sent.
    #[inline(always)]
    pub(crate) fn leaves_now(&mut self, now: Instant) -> Timestamp {
        let value = self.value(now);
        if let Values::Distinct(distinct) = &mut self.values {
            distinct.leaves(now, value);
        }
        value
    }

    /// Returns the TSecr of a segment with ACK; zero until the peer has sent a timestamp.
    #[inline]
    pub(crate) fn echo(&self) -> u32 {
        self.recent.map_or(0, |recent| recent.value.0)
    }

    /// Returns whether a segment with this TSval is old: PAWS (RFC 7323, section 5.3, R1).
    #[inline]
    pub(crate) fn is_old(&self, now: Instant, value: u32) -> bool {
        match self.recent {
            Some(recent) => Timestamp(value).precedes(recent.value) && now.since(recent.at) <= OUTDATED,
            None => false,
        }
    }

    /// Updates TS.Recent from an acceptable segment that begins at or below Last.ACK.sent (R3). So
    /// a delayed acknowledgement echoes the earliest segment, and a duplicate ACK the last one
    /// before the gap.
    #[inline]
    pub(crate) fn accept(&mut self, now: Instant, value: u32, start: u64, last_ack_sent: u64) {
        if start <= last_ack_sent {
            self.recent = Some(Recent { value: Timestamp(value), at: now });
        }
    }

    /// Updates TS.Recent from a duplicate below the cumulative ACK, under
    /// [`EchoRule::OnDuplicates`].
    pub(crate) fn duplicate(&mut self, now: Instant, value: u32) {
        if self.rule == EchoRule::OnDuplicates && !self.is_old(now, value) {
            self.recent = Some(Recent { value: Timestamp(value), at: now });
        }
    }

    /// Records that a segment was sent with `value`. Its data was sent `copies` times before.
    #[inline]
    pub(crate) fn sent(&mut self, now: Instant, copies: u32, value: Timestamp) {
        match (&mut self.values, copies) {
            (Values::Distinct(distinct), 0) => distinct.on_original(now, value),
            (Values::Distinct(distinct), _) => distinct.on_retransmission(now, value),
            (Values::Clock(_) | Values::Unbegun(_), _) => {}
        }
    }

    /// Returns the meaning of a TSecr. `None` if it is older than all outstanding segments, or
    /// newer than the clock. `board` must not have processed the acknowledgement with the TSecr
    /// yet.
    #[inline(always)]
    pub(crate) fn classify_echo(&mut self, now: Instant, echo: u32, board: &Scoreboard) -> Option<Echo> {
        let value = Timestamp(echo);
        match &mut self.values {
            Values::Clock(clock) => {
                let oldest = board.oldest().and_then(SentSegment::stamp).filter(|oldest| !value.precedes(*oldest));
                oldest.and_then(|_| clock.age(now, value)).map(|age| Echo::Known { value, age })
            }
            Values::Distinct(distinct) => distinct.classify_echo(now, value, board),
            Values::Unbegun(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn settings(offset: u32) -> TimestampSettings {
        TimestampSettings { granularity: Duration::from_millis(10), offset, ..TimestampSettings::default() }
    }

    fn stamps(offset: u32) -> Stamps {
        Stamps::new(&settings(offset), 0)
    }

    #[test]
    fn the_clock_ticks_and_wraps() {
        let mut clock = Clock::new(&settings(u32::MAX));
        assert_eq!([0, 9, 10, 25, 9].map(|ms| clock.value(at(ms)).0), [u32::MAX, u32::MAX, 0, 1, u32::MAX]);
        assert_eq!(clock.age(at(25), Timestamp(u32::MAX)), Some(Duration::from_millis(25)));
        assert_eq!(clock.age(at(25), Timestamp(1)), Some(Duration::from_millis(5)));
    }

    #[test]
    fn only_an_echo_between_the_oldest_outstanding_timestamp_and_now_is_valid() {
        let mut stamps = stamps(1000);
        let now = at(200);
        let mut board = Scoreboard::default();
        assert_eq!(stamps.classify_echo(now, 1015, &board), None);
        board.on_new(at(100), 1000, Some(Timestamp(1010)));
        assert_eq!(stamps.classify_echo(now, 1009, &board), None);
        let echo = Echo::Known { value: Timestamp(1010), age: Duration::from_millis(100) };
        assert_eq!(stamps.classify_echo(now, 1010, &board), Some(echo));
        assert!(stamps.classify_echo(now, 1020, &board).is_some());
        assert_eq!(stamps.classify_echo(now, 1021, &board), None);
    }

    #[test]
    fn an_older_timestamp_is_refused_across_the_wrap_until_ts_recent_is_outdated() {
        let mut stamps = stamps(0);
        assert!(!stamps.is_old(at(0), 17));
        stamps.accept(at(0), 5, 1, 1);
        assert!(stamps.is_old(at(1), 4));
        assert!(stamps.is_old(at(1), u32::MAX - 3));
        assert!(!stamps.is_old(at(1), 5));
        assert!(!stamps.is_old(at(1), 1 << 30));
        assert!(stamps.is_old(Instant::ZERO + OUTDATED, 4));
        assert!(!stamps.is_old(Instant::ZERO + OUTDATED + Duration::from_nanos(1), 4));
    }

    #[test]
    fn ts_recent_changes_only_at_or_below_the_last_acknowledgement_sent() {
        let mut stamps = stamps(0);
        stamps.accept(at(0), 5, 1, 1);
        stamps.accept(at(1), 6, 1001, 1);
        assert_eq!(stamps.echo(), 5);
        stamps.accept(at(2), 7, 1001, 1001);
        assert_eq!(stamps.echo(), 7);
    }

    #[test]
    fn a_duplicate_updates_ts_recent_only_in_the_variant() {
        let mut standard = stamps(0);
        standard.accept(at(0), 5, 1, 1);
        standard.duplicate(at(1), 9);
        assert_eq!(standard.echo(), 5);
        let mut variant = Stamps { rule: EchoRule::OnDuplicates, ..standard };
        variant.duplicate(at(1), 4);
        assert_eq!(variant.echo(), 5);
        variant.duplicate(at(1), 9);
        assert_eq!(variant.echo(), 9);
    }
}
