//! Acknowledgements that a liar holds back for a time.

use std::collections::BTreeMap;

use eifel_base::time::Instant;

/// The most acknowledgements held. A further one leaves at once.
const MOST: usize = 4096;

/// The acknowledgements held back.
#[derive(Debug)]
pub(crate) struct Held<T> {
    /// Keyed by the time to leave, then by the order in which they were held.
    waiting: BTreeMap<(Instant, u64), T>,
    /// Acknowledgements held so far.
    count: u64,
}

impl<T> Default for Held<T> {
    fn default() -> Self {
        Self { waiting: BTreeMap::new(), count: 0 }
    }
}

impl<T> Held<T> {
    pub(crate) fn hold(&mut self, until: Instant, what: T) {
        let until = if self.waiting.len() < MOST { until } else { Instant::ZERO };
        self.waiting.insert((until, self.count), what);
        self.count += 1;
    }

    /// Returns when the next acknowledgement leaves; [`Instant::NEVER`] if none is held.
    pub(crate) fn next(&self) -> Instant {
        self.waiting.first_key_value().map_or(Instant::NEVER, |((until, _), _)| *until)
    }

    /// Removes and returns the next acknowledgement if its time has come. At equal times, returns
    /// the one held first.
    pub(crate) fn take(&mut self, now: Instant) -> Option<T> {
        (self.next() <= now).then(|| self.waiting.pop_first().map(|(_, what)| what)).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_base::time::Duration;

    #[test]
    fn held_acknowledgements_leave_at_their_times_and_in_order() {
        let at = |ms: u64| Instant::ZERO + Duration::from_millis(ms);
        let mut held = Held::default();
        for (until, name) in [(30, "a"), (10, "b"), (30, "c"), (20, "d")] {
            held.hold(at(until), name);
        }
        assert_eq!((held.next(), held.take(at(9))), (at(10), None));
        assert_eq!((held.take(at(10)), held.take(at(10)), held.next()), (Some("b"), None, at(20)));
        assert_eq!([30; 4].map(|ms| held.take(at(ms))), [Some("d"), Some("a"), Some("c"), None]);
        assert_eq!(held.next(), Instant::NEVER);
    }

    #[test]
    fn an_acknowledgement_beyond_the_limit_leaves_at_once() {
        let mut held = Held::default();
        for number in 0..=MOST {
            held.hold(Instant::NEVER, number);
        }
        assert_eq!((held.take(Instant::ZERO), held.take(Instant::ZERO)), (Some(MOST), None));
    }
}
