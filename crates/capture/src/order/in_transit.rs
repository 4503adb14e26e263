//! ACKs of new data that are under way from the capture point to the sender.

use eifel_base::ring::Ring;
use eifel_base::units::Timestamp;

/// ACKs remembered. Beyond this number the oldest counts as received.
const MOST: usize = 1024;

/// The capacity that is kept while no ACK waits, in ACKs.
const MOST_KEPT: usize = 16;

/// The fields of an acknowledgement that matter while nothing is missing.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct NewAck {
    pub(crate) nanos: u64,
    pub(crate) cumulative: u64,
    pub(crate) stamp: Option<Timestamp>,
    pub(crate) echo: Option<Timestamp>,
}

/// The ACKs that the sender has not received, and the last one that it has.
#[derive(Clone, Debug, Default)]
pub(crate) struct AcksInTransit {
    waiting: Ring<NewAck>,
    received: NewAck,
    /// Whether `received` is set.
    has_any: bool,
    /// The sender's last echo, if it alone shows that the sender has not received the waiting ACKs.
    last_echo: Option<Timestamp>,
}

/// Returns whether a sender has received an ACK when it sends at `now` and echoes `echo`. The ACK
/// passed at `passed` with timestamp `stamp`. The echo decides; without timestamps, the round trip
/// to the sender does.
pub(crate) fn has_received(
    passed: u64,
    stamp: Option<Timestamp>,
    now: u64,
    echo: Option<Timestamp>,
    trip: u64,
) -> bool {
    match (echo, stamp) {
        (Some(echo), Some(stamp)) => !echo.precedes(stamp),
        _ => passed + trip <= now,
    }
}

impl AcksInTransit {
    /// Returns the state of a sender that has received the ACK of everything below `una`, which
    /// passed at `passed`, but none of `waiting`.
    pub(crate) fn after(una: u64, passed: u64, waiting: impl Iterator<Item = NewAck>) -> Self {
        let received = NewAck { nanos: passed, cumulative: una, stamp: None, echo: None };
        let mut acks = Self { waiting: Ring::default(), received, has_any: true, last_echo: None };
        waiting.for_each(|ack| acks.on_ack(ack));
        acks
    }

    #[inline]
    pub(crate) fn on_ack(&mut self, ack: NewAck) {
        self.last_echo = None;
        if self.waiting.len() == MOST
            && let Some(first) = self.waiting.pop_front()
        {
            (self.received, self.has_any) = (first, true);
        }
        self.waiting.push_back(ack);
    }

    /// Reads the number of waiting ACKs.
    pub(crate) fn touch(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// Reads a field of the first waiting ACK.
    pub(crate) fn touch_first(&self) -> u64 {
        self.waiting.front().map_or(0, |ack| ack.nanos)
    }

    /// Returns whether a segment with this echo tells nothing new, like the other segments of a
    /// train.
    #[inline(always)]
    pub(crate) fn repeats_echo(&self, echo: Option<Timestamp>) -> bool {
        self.last_echo.is_some() && self.last_echo == echo
    }

    /// Handles a segment that the sender sends at `now` with the echo `echo`. Returns the end of
    /// the last ACK that it has received for certain. An ACK is certain if the echo is newer than
    /// its timestamp, because other ACKs may carry an equal one.
    #[inline]
    pub(crate) fn on_data(&mut self, now: u64, echo: Option<Timestamp>, trip: u64) -> Option<u64> {
        let certain = |ack: &NewAck| ack.stamp?.precedes(echo?).then_some(ack.cumulative);
        let mut received = certain(&self.received);
        let last = self.waiting.pop_front_while(|first| {
            let gone = has_received(first.nanos, first.stamp, now, echo, trip);
            if gone {
                received = certain(first).or(received);
            }
            gone
        });
        if let Some(last) = last {
            (self.received, self.has_any) = (last, true);
        }
        self.last_echo = echo.filter(|_| self.waiting.front().is_none_or(|first| first.stamp.is_some()));
        if self.waiting.is_empty() && self.waiting.capacity() > MOST_KEPT {
            self.waiting = Ring::default();
        }
        received
    }

    /// Returns the last ACK that the sender has received, if any ACK has waited so far.
    pub(crate) fn last_received(&self) -> Option<&NewAck> {
        self.has_any.then_some(&self.received)
    }

    /// Returns the ACKs that the sender has not received, in the order in which they passed.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &NewAck> {
        self.waiting.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(cumulative: u64, stamp: u32) -> NewAck {
        NewAck { nanos: cumulative, cumulative, stamp: Some(Timestamp(stamp)), echo: None }
    }

    #[test]
    fn an_echo_newer_than_an_acks_timestamp_proves_its_receipt() {
        let mut acks = AcksInTransit::default();
        [ack(1000, 7), ack(2000, 7), ack(3000, 8), ack(4000, 9)].into_iter().for_each(|ack| acks.on_ack(ack));
        let echoed = [6, 7, 8, 8, 9].map(|echo| acks.on_data(0, Some(Timestamp(echo)), 0));
        assert_eq!(echoed, [None, None, Some(2000), None, Some(3000)]);
        assert_eq!(acks.last_received().map(|last| last.cumulative), Some(4000));
        // Without timestamps, nothing is certain.
        assert_eq!(acks.on_data(u64::MAX, None, 0), None);
    }

    #[test]
    fn a_repeated_echo_counts_again_after_another_ack() {
        let mut acks = AcksInTransit::default();
        acks.on_ack(ack(1000, 7));
        acks.on_data(0, Some(Timestamp(7)), 0);
        assert_eq!([Some(7), Some(8), None].map(|echo| acks.repeats_echo(echo.map(Timestamp))), [true, false, false]);
        acks.on_ack(ack(2000, 7));
        assert!(!acks.repeats_echo(Some(Timestamp(7))));
        // Without a timestamp, the time shows when the sender receives an ACK.
        acks.on_ack(NewAck { stamp: None, ..ack(3000, 7) });
        assert_eq!(acks.on_data(0, Some(Timestamp(7)), 0), None);
        assert!(!acks.repeats_echo(Some(Timestamp(7))));
        acks.on_data(3000, Some(Timestamp(7)), 0);
        assert!(acks.repeats_echo(Some(Timestamp(7))));
    }

    #[test]
    fn the_queue_of_one_ack_has_room_for_one() {
        let mut acks = AcksInTransit::default();
        acks.on_ack(ack(1000, 7));
        assert_eq!(acks.waiting.capacity(), 1);
    }

    #[test]
    fn an_empty_queue_of_acks_frees_its_memory() {
        let mut acks = AcksInTransit::default();
        (0..=MOST as u64).for_each(|end| acks.on_ack(ack(end, 7)));
        assert_eq!((acks.waiting.len(), acks.waiting.capacity()), (MOST, MOST));
        acks.on_data(0, Some(Timestamp(8)), 0);
        assert_eq!(acks.waiting.capacity(), 0);
    }
}
