//! ACKs of new data that are under way from the capture point to the sender.

use super::half::{Acknowledgement, Half, Setting};
use crate::detectors::Departed;
use eifel_base::ranges::Block;
use eifel_base::ring::Ring;
use eifel_base::units::Timestamp;

/// ACKs remembered. Beyond this number the oldest counts as received.
const MOST: usize = 1024;

/// The capacity that is kept while no ACK waits, in ACKs.
const MOST_KEPT: usize = 16;

/// The fields of an acknowledgement that matter while nothing is missing.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Plain {
    pub(super) nanos: u64,
    pub(super) cumulative: u64,
    pub(super) stamp: Option<Timestamp>,
    /// The timestamp that it echoes.
    pub(super) echo: Option<Timestamp>,
}

/// The ACKs that the sender has not received, and the last one that it has.
#[derive(Clone, Debug, Default)]
pub(super) struct Unheard {
    waiting: Ring<Plain>,
    heard: Plain,
    /// Whether `heard` is set.
    has_heard: bool,
    /// The sender's last echo, if it alone shows that the sender has not received the waiting ACKs.
    settled: Option<Timestamp>,
}

/// Returns whether a sender has received an ACK when it sends at `now` and echoes `echo`. The ACK
/// passed at `passed` with timestamp `stamp`. The echo decides; without timestamps, the round trip
/// to the sender does.
pub(super) fn is_heard(passed: u64, stamp: Option<Timestamp>, now: u64, echo: Option<Timestamp>, trip: u64) -> bool {
    match (echo, stamp) {
        (Some(echo), Some(stamp)) => !echo.precedes(stamp),
        _ => passed + trip <= now,
    }
}

impl Unheard {
    /// Returns the state of a sender that has received the ACK of everything below `una`, which
    /// passed at `passed`, but none of `waiting`.
    pub(super) fn after(una: u64, passed: u64, waiting: impl Iterator<Item = Plain>) -> Self {
        let heard = Plain { nanos: passed, cumulative: una, stamp: None, echo: None };
        let mut unheard = Self { waiting: Ring::default(), heard, has_heard: true, settled: None };
        waiting.for_each(|plain| unheard.on_ack(plain));
        unheard
    }

    #[inline]
    pub(super) fn on_ack(&mut self, ack: Plain) {
        self.settled = None;
        if self.waiting.len() == MOST
            && let Some(first) = self.waiting.pop_front()
        {
            (self.heard, self.has_heard) = (first, true);
        }
        self.waiting.push_back(ack);
    }

    /// Reads the number of waiting ACKs.
    pub(super) fn touch(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// Reads a field of the first waiting ACK.
    pub(super) fn touch_first(&self) -> u64 {
        self.waiting.front().map_or(0, |plain| plain.nanos)
    }

    /// Returns whether a segment with this echo tells nothing new, like the other segments of a
    /// train.
    #[inline(always)]
    pub(super) fn has_settled(&self, echo: Option<Timestamp>) -> bool {
        self.settled.is_some() && self.settled == echo
    }

    /// Handles a segment that the sender sends at `now` with the echo `echo`. Returns the end of
    /// the last ACK that it has received for certain. An ACK is certain if the echo is newer than
    /// its timestamp, because other ACKs may carry an equal one.
    #[inline]
    pub(super) fn on_data(&mut self, now: u64, echo: Option<Timestamp>, trip: u64) -> Option<u64> {
        let certain = |ack: &Plain| ack.stamp?.precedes(echo?).then_some(ack.cumulative);
        let mut heard = certain(&self.heard);
        let last = self.waiting.pop_front_while(|first| {
            let gone = is_heard(first.nanos, first.stamp, now, echo, trip);
            if gone {
                heard = certain(first).or(heard);
            }
            gone
        });
        if let Some(last) = last {
            (self.heard, self.has_heard) = (last, true);
        }
        self.settled = echo.filter(|_| self.waiting.front().is_none_or(|first| first.stamp.is_some()));
        if self.waiting.is_empty() && self.waiting.capacity() > MOST_KEPT {
            self.waiting = Ring::default();
        }
        heard
    }

    /// Returns the last ACK that the sender has received, if any ACK has waited so far.
    pub(super) fn last_heard(&self) -> Option<&Plain> {
        self.has_heard.then_some(&self.heard)
    }

    /// Returns the data that the waiting ACKs cover, one departure per ACK: the sender still counts
    /// the data as outstanding. No record says when the data passed. The time is the latest
    /// possible one: before the ACK left the receiver, and before the data that are outstanding
    /// here passed. The timestamp is the ACK's echo, which is that of its first data (RFC 7323,
    /// section 4.3).
    pub(super) fn answered(&self, half: &Half, setting: &Setting) -> impl Iterator<Item = Departed> {
        let trip = setting.receiver().unwrap_or(0);
        let latest = half.out.iter().next().map_or(u64::MAX, |first| first.nanos);
        let mut una = self.last_heard().map_or(half.una, |heard| heard.cumulative);
        self.waiting.iter().filter_map(move |plain| {
            let len = plain.cumulative.checked_sub(una).filter(|len| *len > 0)?;
            una = plain.cumulative;
            let nanos = plain.nanos.saturating_sub(trip).min(latest);
            Some(Departed { nanos, len: len as u32, stamp: plain.echo })
        })
    }

    /// Returns the waiting ACKs as full acknowledgements, each with the timestamp that it echoes.
    /// Only the detectors get that timestamp: the models undo nothing because of an ACK from before
    /// the trouble.
    pub(super) fn waiting(&self, setting: &Setting) -> impl Iterator<Item = (Acknowledgement, Option<Timestamp>)> {
        let frame = setting.when.frame;
        let full = move |plain: &Plain| Acknowledgement {
            when: super::When { nanos: plain.nanos, frame },
            cumulative: plain.cumulative,
            advances: true,
            sacks: [Block { start: 0, end: 0 }; 4],
            count: 0,
            dsack: None,
            echo: None,
            stamp: plain.stamp,
            plain: true,
        };
        self.waiting.iter().map(move |plain| (full(plain), plain.echo))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(cumulative: u64, stamp: u32) -> Plain {
        Plain { nanos: cumulative, cumulative, stamp: Some(Timestamp(stamp)), echo: None }
    }

    #[test]
    fn an_ack_is_heard_for_certain_once_a_newer_timestamp_is_echoed() {
        let mut unheard = Unheard::default();
        [ack(1000, 7), ack(2000, 7), ack(3000, 8), ack(4000, 9)].into_iter().for_each(|ack| unheard.on_ack(ack));
        let echoed = [6, 7, 8, 8, 9].map(|echo| unheard.on_data(0, Some(Timestamp(echo)), 0));
        assert_eq!(echoed, [None, None, Some(2000), None, Some(3000)]);
        assert_eq!(unheard.last_heard().map(|last| last.cumulative), Some(4000));
        // Without timestamps, nothing is certain.
        assert_eq!(unheard.on_data(u64::MAX, None, 0), None);
    }

    #[test]
    fn an_echo_is_looked_at_again_once_another_ack_waits() {
        let mut unheard = Unheard::default();
        unheard.on_ack(ack(1000, 7));
        unheard.on_data(0, Some(Timestamp(7)), 0);
        assert_eq!([Some(7), Some(8), None].map(|echo| unheard.has_settled(echo.map(Timestamp))), [true, false, false]);
        unheard.on_ack(ack(2000, 7));
        assert!(!unheard.has_settled(Some(Timestamp(7))));
        // Without a timestamp, the time shows when the sender receives an ACK.
        unheard.on_ack(Plain { stamp: None, ..ack(3000, 7) });
        assert_eq!(unheard.on_data(0, Some(Timestamp(7)), 0), None);
        assert!(!unheard.has_settled(Some(Timestamp(7))));
        unheard.on_data(3000, Some(Timestamp(7)), 0);
        assert!(unheard.has_settled(Some(Timestamp(7))));
    }

    #[test]
    fn one_ack_takes_memory_for_one() {
        let mut unheard = Unheard::default();
        unheard.on_ack(ack(1000, 7));
        assert_eq!(unheard.waiting.capacity(), 1);
    }

    #[test]
    fn memory_for_those_that_wait_is_given_back() {
        let mut unheard = Unheard::default();
        (0..=MOST as u64).for_each(|end| unheard.on_ack(ack(end, 7)));
        assert_eq!((unheard.waiting.len(), unheard.waiting.capacity()), (MOST, MOST));
        unheard.on_data(0, Some(Timestamp(8)), 0);
        assert_eq!(unheard.waiting.capacity(), 0);
    }
}
