//! Records distinct timestamps, [one per transmission](eifel_base::steps): when the outstanding
//! ones were sent, and which values were never sent.

use std::collections::VecDeque;

use eifel_base::siphash::Secret;
use eifel_base::steps::Steps;
use eifel_base::time::Instant;
use eifel_base::units::Timestamp;
use eifel_recovery::fact::Echo;
use eifel_recovery::scoreboard::Scoreboard;

/// Number of retransmissions recorded in addition to the number of originals.
const SPARE_RETRANSMISSIONS: usize = 16;

/// The first transmission of a segment. Its timestamp is on the scoreboard.
#[derive(Clone, Copy, Debug)]
struct Original {
    at: Instant,
    /// The timestamp of the previous transmission. No value between the two was sent.
    after: Timestamp,
}

/// A retransmission.
#[derive(Clone, Copy, Debug)]
struct Retransmission {
    at: Instant,
    value: Timestamp,
    /// The timestamp of the previous transmission, as in [`Original`].
    after: Timestamp,
}

/// Draws timestamps, and distinguishes sent values from values that were never sent.
#[derive(Clone, Debug)]
pub(crate) struct Distinct {
    steps: Steps,
    /// Aligned with the scoreboard at the end: the last entry belongs to the scoreboard's last
    /// segment, and so on backwards.
    originals: VecDeque<Original>,
    /// Recorded retransmissions; `None` if there never was one.
    #[expect(clippy::box_collection, reason = "idle connections have none, and all have to hold the place")]
    again: Option<Box<VecDeque<Retransmission>>>,
}

impl Distinct {
    /// See [`Steps::new`].
    pub(crate) fn new(secret: Secret, connection: u64, granularity: u64, now: Instant, shown: Timestamp) -> Self {
        let steps = Steps::new(secret, connection, granularity, now, shown);
        // An idle connection has only its SYN outstanding.
        Self { steps, originals: VecDeque::with_capacity(1), again: None }
    }

    /// Returns TSval of a segment sent now.
    #[inline]
    pub(crate) fn value(&self, now: Instant) -> Timestamp {
        self.steps.value(now)
    }

    /// Records that a segment was sent with `value`, as returned by [`value`](Self::value). Returns
    /// the previous timestamp.
    #[inline]
    pub(crate) fn leaves(&mut self, now: Instant, value: Timestamp) -> Timestamp {
        self.steps.leaves(now, value)
    }

    /// Records the first transmission of a segment that is on the scoreboard.
    #[inline]
    pub(crate) fn on_original(&mut self, now: Instant, value: Timestamp) {
        let after = self.leaves(now, value);
        self.originals.push_back(Original { at: now, after });
    }

    /// Records a retransmission. A peer may trigger any number of retransmissions, so the oldest
    /// are dropped beyond a limit.
    pub(crate) fn on_retransmission(&mut self, now: Instant, value: Timestamp) {
        let after = self.leaves(now, value);
        let again = self.again.get_or_insert_default();
        if again.len() >= self.originals.len() + SPARE_RETRANSMISSIONS {
            again.pop_front();
        }
        again.push_back(Retransmission { at: now, value, after });
    }

    /// Returns the meaning of an echo. `None` if it is older than all outstanding segments. `board`
    /// must not have processed the acknowledgement with the echo yet.
    #[inline]
    pub(crate) fn classify_echo(&mut self, now: Instant, echo: Timestamp, board: &Scoreboard) -> Option<Echo> {
        while self.originals.len() > board.segments() {
            self.originals.pop_front();
        }
        let oldest = board.oldest()?.stamp()?;
        // The usual case: the oldest outstanding segment is acknowledged.
        if oldest == echo {
            return Some(Echo::Known { value: echo, age: now.since(self.originals.front()?.at) });
        }
        self.classify_other_echo(now, echo, oldest, board)
    }

    #[inline(never)]
    fn classify_other_echo(
        &mut self,
        now: Instant,
        echo: Timestamp,
        oldest: Timestamp,
        board: &Scoreboard,
    ) -> Option<Echo> {
        if let Some(again) = &mut self.again {
            while again.front().is_some_and(|again| again.value.precedes(oldest)) {
                again.pop_front();
            }
        }
        if echo.precedes(oldest) {
            return self.originals.front()?.after.precedes(echo).then_some(Echo::Forged);
        }
        let originals = board.stamped_up_to(echo);
        let sent_again = self.again.as_deref();
        let again = sent_again.map_or(0, |again| again.partition_point(|again| !echo.precedes(again.value)));
        // Timestamps sent directly before the next recorded transmissions. An echo in between was
        // never sent.
        let next = [
            self.originals.get(originals).map(|next| next.after),
            sent_again.and_then(|sent| sent.get(again)).map(|next| next.after),
        ];
        if self.steps.last().precedes(echo) || next.into_iter().flatten().any(|after| after.precedes(echo)) {
            return Some(Echo::Forged);
        }
        // The newest recorded transmission up to the echo. A bare acknowledgement is not recorded,
        // so its echo takes the time of the transmission before it.
        let original = originals.checked_sub(1).map(|place| self.originals[place].at);
        let again = again.checked_sub(1).and_then(|place| sent_again?.get(place)).map(|again| again.at);
        original.max(again).map(|at| Echo::Known { value: echo, age: now.since(at) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_base::time::Duration;
    use eifel_recovery::fact::Ack;

    const MICROSECOND: u64 = 1000;

    fn distinct(secret: Secret) -> Distinct {
        Distinct::new(secret, 0, MICROSECOND, Instant::ZERO, Timestamp(u32::MAX - 100_000))
    }

    fn at(micros: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(micros)
    }

    fn bare(cumulative: u64) -> Ack<'static> {
        Ack { cumulative, sacks: &[], dsacks: &[], echo: None, mark: None, plain: true, ece: false }
    }

    /// A record of everything that was ever sent.
    #[derive(Default)]
    struct Naive {
        /// Timestamp, departure time, and kind of transmission.
        all: Vec<(u32, Instant, What)>,
    }

    #[derive(Clone, Copy, PartialEq, Debug)]
    enum What {
        Original(u64),
        Retransmission,
        Bare,
    }

    impl Naive {
        fn classify_echo(&self, now: Instant, first: u32, echo: u32, una: u64) -> Option<Echo> {
            let place = |value: u32| value.wrapping_sub(first);
            let originals = self.all.iter().filter_map(|&(value, _, what)| match what {
                What::Original(start) => Some((start, value)),
                _ => None,
            });
            let (_, oldest) = originals.clone().rev().find(|&(start, _)| start <= una).or(originals.clone().next())?;
            let exact = self.all.iter().find(|&&(value, ..)| value == echo);
            if exact.is_none() {
                // Nothing is known below the timestamp before the oldest outstanding one.
                let before = self.all.iter().rev().find(|&&(value, ..)| place(value) < place(oldest));
                let forgotten = before.map_or(first, |&(value, ..)| value);
                let known = (1..1 << 31).contains(&echo.wrapping_sub(forgotten));
                return if known { Some(Echo::Forged) } else { None };
            }
            if place(echo) < place(oldest) {
                return None;
            }
            let on_record = |what| what != What::Bare;
            let at = self.all.iter().rev().find(|&&(value, _, what)| place(value) <= place(echo) && on_record(what));
            at.map(|&(_, at, _)| Echo::Known { value: Timestamp(echo), age: now.since(at) })
        }
    }

    /// Compares the record with a complete one. Values around a bare acknowledgement's timestamp
    /// cannot be distinguished from that timestamp. There the two may differ, in the peer's favour.
    #[test]
    fn echoes_are_classified_as_by_a_naive_record() {
        let mut random = 1u64;
        let mut below = |count: u64| {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (random >> 33) % count
        };
        let (mut plausible, mut forged, mut favoured) = (0, 0, 0);
        for connection in 0..200 {
            let mut distinct = distinct([connection, below(1 << 31)]);
            let (first, mut naive) = (distinct.steps.last().0, Naive::default());
            let (mut now, mut una, mut nxt) = (0, 1, 1);
            let mut board = Scoreboard::default();
            board.skip_to(1);
            for _ in 0..200 {
                now += [0, 0, 0, 7, 40_000][below(5) as usize];
                let value = distinct.value(at(now));
                match below(6) {
                    0..=2 => {
                        distinct.on_original(at(now), value);
                        board.on_new(at(now), 1000, Some(value));
                        naive.all.push((value.0, at(now), What::Original(nxt)));
                        nxt += 1000;
                    }
                    3 if una < nxt => {
                        distinct.on_retransmission(at(now), value);
                        naive.all.push((value.0, at(now), What::Retransmission));
                    }
                    4 => {
                        distinct.leaves(at(now), value);
                        naive.all.push((value.0, at(now), What::Bare));
                    }
                    _ if una < nxt => {
                        let recent = 1 + below(20.min(naive.all.len() as u64)) as usize;
                        let sent = naive.all[naive.all.len() - recent].0;
                        let echo = sent.wrapping_add(below(5) as u32).wrapping_sub(2);
                        let expected = naive.classify_echo(at(now), first, echo, una);
                        let believed = distinct.classify_echo(at(now), Timestamp(echo), &board);
                        match (believed, expected) {
                            (Some(Echo::Known { .. }), Some(Echo::Forged)) => favoured += 1,
                            _ => assert_eq!(believed, expected, "{echo}, {una}: {:?}", naive.all),
                        }
                        plausible += u32::from(matches!(believed, Some(Echo::Known { .. })));
                        forged += u32::from(believed == Some(Echo::Forged));
                        una += 1000 * below(((nxt - una) / 1000 + 1).min(3));
                        board.on_ack(&bare(una), false);
                    }
                    _ => {}
                }
            }
        }
        assert!(plausible > 1000 && forged > 1000 && favoured < forged, "{plausible} {forged} {favoured}");
    }

    #[test]
    fn a_peer_that_causes_many_retransmissions_costs_no_memory() {
        let mut distinct = distinct([1, 2]);
        let mut board = Scoreboard::default();
        board.on_new(at(0), 1000, Some(distinct.value(at(0))));
        distinct.on_original(at(0), distinct.value(at(0)));
        for now in 1..10_000 {
            distinct.on_retransmission(at(now), distinct.value(at(now)));
        }
        assert!(distinct.again.as_ref().unwrap().len() <= 1 + SPARE_RETRANSMISSIONS);
        let newest = distinct.steps.last();
        assert_eq!(
            distinct.classify_echo(at(10_000), newest, &board),
            Some(Echo::Known { value: newest, age: Duration::from_micros(1) })
        );
    }
}
