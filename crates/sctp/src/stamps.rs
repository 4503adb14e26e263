//! The timestamp chunk (the SCTP paper, section 4): what leaves, what is echoed by RFC 7323's rules, and what echoes say.

use std::collections::VecDeque;

use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;
use eifel_packet::segment::Timestamps;
use eifel_recovery::association::PathId;
use eifel_recovery::fact::Echo;

/// A tick of the clock: RFC 7323, section 5.4, wants one between a millisecond and a second.
const TICK: Duration = Duration::from_millis(1);
/// The most ticks of which it is remembered on which path packets left.
const MOST_REMEMBERED: usize = 4096;

/// One end's timestamps.
#[derive(Clone, Debug)]
pub(crate) struct Stamps {
    /// The clock's first value, so that 0 says that nothing is echoed.
    offset: u32,
    /// TS.Recent: what is echoed.
    recent: u32,
    /// Last.ACK.sent: the first position that the newest SACK did not acknowledge in order.
    acknowledged: u64,
    /// Values with which data left, and the path, where all of a tick left on one; the newest last.
    sent: VecDeque<(u32, Option<PathId>)>,
}

impl Stamps {
    pub(crate) fn new(offset: u32) -> Self {
        Self { offset, recent: 0, acknowledged: 0, sent: VecDeque::new() }
    }

    /// The clock's value.
    pub(crate) fn value(&self, now: Instant) -> u32 {
        let ticks = now.as_nanos() / TICK.as_nanos();
        self.offset.wrapping_add(ticks as u32)
    }

    /// The chunk of a packet that leaves now.
    pub(crate) fn chunk(&self, now: Instant) -> Timestamps {
        Timestamps { value: self.value(now), echo: self.recent }
    }

    /// Data leaves on a path.
    pub(crate) fn on_data(&mut self, now: Instant, path: PathId) {
        let value = self.value(now);
        match self.sent.back_mut() {
            Some((last, on)) if *last == value => *on = on.filter(|on| *on == path),
            _ => self.sent.push_back((value, Some(path))),
        }
        if self.sent.len() > MOST_REMEMBERED {
            self.sent.pop_front();
        }
    }

    /// A SACK leaves; `next` is the first position that it does not acknowledge in order.
    pub(crate) fn on_sack_sent(&mut self, next: u64) {
        self.acknowledged = next;
    }

    /// A chunk at `position` arrived in a packet with timestamp `value` (RFC 7323, section 4.3, rule 2): what is echoed is
    /// that of the oldest packet that is not acknowledged.
    pub(crate) fn on_arrival(&mut self, position: u64, value: u32) {
        let older = Timestamp(value).precedes(Timestamp(self.recent));
        if position <= self.acknowledged && (self.recent == 0 || !older) {
            self.recent = value;
        }
    }

    /// Returns an echo's meaning, and the path of the packet with that timestamp; `None` if none was sent, or too long ago.
    pub(crate) fn echo(&self, now: Instant, value: u32) -> Option<(Echo, Option<PathId>)> {
        let index = self.sent.partition_point(|(sent, _)| Timestamp(*sent).precedes(Timestamp(value)));
        let (_, path) = self.sent.get(index).filter(|(sent, _)| *sent == value)?;
        let ticks = self.value(now).wrapping_sub(value);
        Some((Echo::Known { value: Timestamp(value), age: TICK * u64::from(ticks) }, *path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn the_oldest_unacknowledged_packet_is_echoed_and_a_late_original_before_its_copy() {
        let mut stamps = Stamps::new(1);
        stamps.on_arrival(0, 10);
        stamps.on_arrival(1, 20);
        assert_eq!(stamps.chunk(at(5)), Timestamps { value: 6, echo: 10 });
        stamps.on_sack_sent(2);
        // Position 2 is missing: what comes beyond it does not count.
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
        let mut stamps = Stamps::new(u32::MAX);
        stamps.on_data(at(0), PathId(0));
        stamps.on_data(at(0), PathId(0));
        stamps.on_data(at(7), PathId(1));
        stamps.on_data(at(9), PathId(0));
        stamps.on_data(at(9), PathId(1));
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
}
