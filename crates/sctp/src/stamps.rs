//! The timestamp chunk (the SCTP paper, section 4): values to send, echoes by the rules of RFC
//! 7323, and the meaning of received echoes.

use std::collections::VecDeque;

use eifel_base::siphash::Secret;
use eifel_base::steps::Steps;
use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;
use eifel_packet::segment::Timestamps;
use eifel_recovery::association::PathId;
use eifel_recovery::fact::Echo;

/// A tick of the clock. RFC 7323, section 5.4, requires one between a millisecond and a second.
const TICK: Duration = Duration::from_millis(1);
/// A tick of distinct values.
const FINE_TICK: Duration = Duration::from_micros(1);
/// Maximum number of remembered departures, in addition to the number of outstanding chunks.
const MOST_REMEMBERED: u64 = 1024;

/// The source of timestamp values.
#[derive(Clone, Debug)]
enum Values {
    /// A clock with this initial value. It is not 0, because an echo of 0 means that there is none.
    Clock { offset: u32 },
    /// A distinct value for each packet.
    Distinct(Box<Steps>),
}

/// A timestamp value of sent data.
#[derive(Clone, Copy, Debug)]
struct Departure {
    value: Timestamp,
    at: Instant,
    /// The path of all packets with this value; `None` if they used different paths.
    path: Option<PathId>,
}

/// Timestamps of one end.
#[derive(Clone, Debug)]
pub(crate) struct TimestampState {
    values: Values,
    /// TS.Recent: the value to echo.
    recent: u32,
    /// Last.ACK.sent: the first position that the newest SACK's cumulative TSN did not acknowledge.
    acknowledged: u64,
    /// Departures of data, oldest first.
    sent: VecDeque<Departure>,
}

impl TimestampState {
    /// Uses a clock that reads `offset` at time zero.
    pub(crate) fn clock(offset: u32) -> Self {
        Self::new(Values::Clock { offset })
    }

    /// Uses a distinct value for each packet. The values are drawn from `secret` and `drawn`, which
    /// identifies the association.
    pub(crate) fn distinct(secret: Secret, drawn: u64, now: Instant) -> Self {
        let steps = Steps::new(secret, drawn, FINE_TICK.as_nanos(), now, Timestamp(drawn as u32));
        Self::new(Values::Distinct(Box::new(steps)))
    }

    fn new(values: Values) -> Self {
        Self { values, recent: 0, acknowledged: 0, sent: VecDeque::new() }
    }

    /// Returns the value of a packet sent now.
    pub(crate) fn value(&self, now: Instant) -> Timestamp {
        match &self.values {
            Values::Clock { offset } => Timestamp(offset.wrapping_add((now.as_nanos() / TICK.as_nanos()) as u32)),
            Values::Distinct(steps) => steps.value(now),
        }
    }

    /// Returns the chunk of a packet sent now.
    pub(crate) fn chunk(&self, now: Instant) -> Timestamps {
        Timestamps { value: self.value(now).0, echo: self.recent }
    }

    /// Records that the packet sent now has data, and uses `path`. `outstanding` is the number of
    /// unacknowledged chunks before it.
    pub(crate) fn on_data(&mut self, now: Instant, path: PathId, outstanding: u64) {
        if outstanding == 0 {
            // The remembered values then never span half of the number space, however slowly data
            // is sent.
            self.sent.clear();
        }
        let value = self.value(now);
        match self.sent.back_mut() {
            Some(last) if last.value == value => last.path = last.path.filter(|on| *on == path),
            _ => self.sent.push_back(Departure { value, at: now, path: Some(path) }),
        }
        if self.sent.len() as u64 > MOST_REMEMBERED + outstanding {
            self.sent.pop_front();
        }
    }

    /// Records that a packet with the current value was sent.
    pub(crate) fn leave(&mut self, now: Instant) {
        if let Values::Distinct(steps) = &mut self.values {
            let value = steps.value(now);
            steps.leaves(now, value);
        }
    }

    /// Records that a SACK was sent. `next` is the first position that its cumulative TSN does not
    /// acknowledge.
    pub(crate) fn on_sack_sent(&mut self, next: u64) {
        self.acknowledged = next;
    }

    /// Records that a chunk at `position` arrived in a packet with timestamp `value` (RFC 7323,
    /// section 4.3, rule 2). The echo is the timestamp of the oldest unacknowledged packet.
    pub(crate) fn on_arrival(&mut self, position: u64, value: u32) {
        let older = Timestamp(value).precedes(Timestamp(self.recent));
        if position <= self.acknowledged && (self.recent == 0 || !older) {
            self.recent = value;
        }
    }

    /// Returns the meaning of an echo, and the path of the packet with that timestamp. `None` if
    /// the echo has no meaning, or its packet is no longer remembered. A packet without data has a
    /// value too, but no receiver echoes it.
    pub(crate) fn echo(&self, now: Instant, value: u32) -> Option<(Echo, Option<PathId>)> {
        let value = Timestamp(value);
        let index = self.sent.partition_point(|departure| departure.value.precedes(value));
        let found = self.sent.get(index).filter(|departure| departure.value == value);
        match (&self.values, found) {
            (_, Some(departure)) => {
                let age = self.age(now, departure);
                Some((Echo::Known { value, age }, departure.path))
            }
            (Values::Distinct(_), None) if index > 0 && value.0 != 0 => Some((Echo::Forged, None)),
            _ => None,
        }
    }

    /// Returns the age of a timestamp value, in whole ticks for a clock, and at most the time since
    /// its first departure. An overestimated sample would seem to start before the previous one
    /// ended. A timer that takes one sample per round trip would skip it, against rule C4 of RFC
    /// 9260, section 6.3.1.
    fn age(&self, now: Instant, departure: &Departure) -> Duration {
        let since = now.since(departure.at);
        match &self.values {
            Values::Clock { .. } => since.min(TICK * u64::from(self.value(now).0.wrapping_sub(departure.value.0))),
            Values::Distinct(_) => since,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn the_echo_is_that_of_the_oldest_unacknowledged_packet() {
        let mut stamps = TimestampState::clock(1);
        stamps.on_arrival(0, 10);
        stamps.on_arrival(1, 20);
        assert_eq!(stamps.chunk(at(5)), Timestamps { value: 6, echo: 10 });
        stamps.on_sack_sent(2);
        // Position 2 is missing: later positions do not count.
        stamps.on_arrival(3, 30);
        assert_eq!(stamps.recent, 10);
        stamps.on_arrival(2, 25);
        assert_eq!(stamps.recent, 25);
        stamps.on_sack_sent(4);
        stamps.on_arrival(2, 40);
        assert_eq!(stamps.recent, 40, "the copy that comes later");
        stamps.on_arrival(1, 20);
        assert_eq!(stamps.recent, 40, "an older one does not take the clock back");
    }

    #[test]
    fn echoes_name_the_packet_and_its_path() {
        let mut stamps = TimestampState::clock(u32::MAX);
        for (ms, path) in [(0, 0), (0, 0), (7, 1), (9, 0), (9, 1)] {
            stamps.on_data(at(ms), PathId(path), 1);
        }
        let echo = |value: u32| {
            let (echo, path) = stamps.echo(at(20), value)?;
            let Echo::Known { age, .. } = echo else { panic!("{echo:?}") };
            Some((age.as_nanos() / 1_000_000, path))
        };
        assert_eq!(echo(u32::MAX), Some((20, Some(PathId(0)))));
        assert_eq!(echo(6), Some((13, Some(PathId(1)))));
        assert_eq!(echo(8), Some((11, None)));
        assert_eq!([echo(7), echo(500)], [None, None]);
    }

    /// RFC 9260, section 6.3.1, rule C4: each packet is sent when the previous one is acknowledged.
    #[test]
    fn no_echo_is_older_than_its_packet() {
        let mut stamps = TimestampState::clock(1);
        let round_trip = Duration::from_micros(10_400);
        let mut sent = at(0);
        for _ in 0..20 {
            let value = stamps.value(sent).0;
            stamps.on_data(sent, PathId(0), 0);
            let heard = sent + round_trip;
            let Some((Echo::Known { age, .. }, _)) = stamps.echo(heard, value) else { panic!("it has left") };
            assert!(Duration::from_millis(10) <= age && age <= round_trip, "{age:?}");
            sent = heard;
        }
    }

    #[test]
    fn distinct_timestamps_reveal_echoes_of_values_never_sent() {
        let mut stamps = TimestampState::distinct([1, 2], u64::from(u32::MAX), at(0));
        let leave = |stamps: &mut TimestampState, ms, data: Option<usize>| {
            let value = stamps.value(at(ms));
            assert_eq!(stamps.chunk(at(ms)).value, value.0);
            if let Some(path) = data {
                stamps.on_data(at(ms), PathId(path), 1);
            }
            stamps.leave(at(ms));
            value.0
        };
        let first = leave(&mut stamps, 0, Some(0));
        let second = leave(&mut stamps, 0, Some(1));
        let bare = leave(&mut stamps, 0, None);
        let third = leave(&mut stamps, 5, Some(0));
        assert!(first != second && second != third);
        let known = |value: u32, age: u64, path: usize| {
            Some((Echo::Known { value: Timestamp(value), age: Duration::from_millis(age) }, Some(PathId(path))))
        };
        let echo = |value: u32| stamps.echo(at(20), value);
        assert_eq!(
            [echo(first), echo(second), echo(third)],
            [known(first, 20, 0), known(second, 20, 1), known(third, 15, 0)]
        );
        let forged = Some((Echo::Forged, None));
        assert_eq!([echo(bare), echo(third.wrapping_sub(1)), echo(third.wrapping_add(1))], [forged; 3]);
        // A 0 means that there is no echo yet. The other value is older than all remembered ones.
        assert_eq!([echo(0), echo(first.wrapping_sub(1))], [None, None]);
    }

    #[test]
    fn remembered_departures_are_bounded_and_forgotten_after_idle_time() {
        let mut stamps = TimestampState::distinct([1, 2], 7, at(0));
        for ms in 0..3000 {
            stamps.on_data(at(ms), PathId(0), 500);
            stamps.leave(at(ms));
        }
        assert_eq!(stamps.sent.len() as u64, MOST_REMEMBERED + 500);
        let last = stamps.sent.back().unwrap().value.0;
        stamps.on_data(at(9000), PathId(0), 0);
        assert_eq!((stamps.sent.len(), stamps.echo(at(9001), last)), (1, None));
    }
}
