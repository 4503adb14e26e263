//! The check of a link's counts.

use super::{Link, UnderWay};
use crate::element::Element;
use crate::parcel::{Counts, Tally};
use crate::queue::Queue;
use core::fmt;

impl Link {
    /// Checks that no parcel vanished or appeared, and that all are in order. The cost grows with
    /// the number of parcels inside.
    pub fn check(&self) -> Result<(), Imbalance> {
        let mut inside = Tally::default();
        self.under_way.iter().for_each(|one| inside += &one.parcel);
        self.elements.iter().flat_map(Element::held).for_each(|parcel| inside += parcel);
        if let Queue::Served(served) = &self.queue {
            let before = inside.bytes;
            served.waiting().for_each(|waiting| inside += &waiting.one.parcel);
            let found = inside.bytes - before;
            if found != served.bytes() {
                return Err(Imbalance::Queue { counted: served.bytes(), found });
            }
        }
        let counts = self.counts();
        if counts.inside() != Some(inside) {
            return Err(Imbalance::NotConserved { counts, inside });
        }
        let mut queued: u64 = self.under_way.iter().skip(self.transmitted).map(|one| u64::from(one.parcel.bytes)).sum();
        queued += self.passing.bytes();
        for background in &self.background {
            queued += background.waiting() as u64 * u64::from(background.bytes());
            if let Some((counts, inside)) = background.imbalance() {
                return Err(Imbalance::NotConserved { counts, inside });
            }
        }
        if queued != self.queued_bytes {
            return Err(Imbalance::Queue { counted: self.queued_bytes, found: queued });
        }
        let backwards =
            |pair: (&UnderWay, &UnderWay)| pair.0.departs > pair.1.departs || pair.0.arrives > pair.1.arrives;
        match self.under_way.iter().zip(self.under_way.iter().skip(1)).position(backwards) {
            Some(place) => Err(Imbalance::Order { place }),
            None => Ok(()),
        }
    }
}

/// An invariant of a link that [`Link::check`] found violated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Imbalance {
    /// Offered plus duplicated is not delivered plus dropped plus inside.
    NotConserved {
        counts: Counts,
        /// Parcels inside, counted one by one.
        inside: Tally,
    },
    /// The counted bytes of the queue are wrong.
    Queue { counted: u64, found: u64 },
    /// A parcel leaves or arrives before the one in front of it.
    Order {
        /// Place of the parcel in front, from 0.
        place: usize,
    },
}

impl fmt::Display for Imbalance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotConserved { counts, inside } => write!(f, "{counts:?} does not agree with {inside:?} inside"),
            Self::Queue { counted, found } => write!(f, "{counted} bytes counted in the queue, {found} found"),
            Self::Order { place } => write!(f, "the parcel behind number {place} overtakes it"),
        }
    }
}

impl core::error::Error for Imbalance {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::background::Source;
    use crate::config::LinkConfig;
    use crate::parcel::{Label, Parcel};
    use eifel_base::time::{Duration, Instant};
    use eifel_base::units::Rate;

    /// Makes a link with three parcels of 1000 bytes, the first of which has been transmitted, and
    /// one parcel of background traffic.
    fn link() -> Link {
        let rate = Rate::from_bps(1_000_000).unwrap();
        let mut link = Link::new(&LinkConfig::plain(rate, Duration::from_millis(100)), "link", 1).unwrap();
        let label = || Label { flow: 0, copy: 0, segment: 0, takes_marks: false };
        for handle in 0..3 {
            link.offer(Instant::ZERO, Parcel { handle, bytes: 1000 }, label, &mut Vec::new());
        }
        link.accompany(500);
        struct Once(Instant);
        impl Source for Once {
            fn due(&self) -> Instant {
                self.0
            }
            fn step(&mut self) {
                self.0 = Instant::NEVER;
            }
        }
        link.run_background(0, &mut Once(Instant::ZERO), Instant::ZERO);
        link.count_departures(Instant::from_nanos(8_000_000));
        link.check().unwrap();
        link
    }

    #[test]
    fn a_parcel_lost_or_made_inside_the_link_is_found() {
        let mut lost = link();
        lost.under_way.pop_front();
        assert!(matches!(lost.check(), Err(Imbalance::NotConserved { inside, .. }) if inside.parcels == 2));
        let mut counted_twice = link();
        counted_twice.ledger.offer(&Parcel { handle: 7, bytes: 0 });
        assert!(matches!(counted_twice.check(), Err(Imbalance::NotConserved { .. })));
        let mut too_many = link();
        (0..4).for_each(|handle| too_many.ledger.deliver(&Parcel { handle, bytes: 1 }));
        assert!(matches!(too_many.check(), Err(Imbalance::NotConserved { .. })));
        let mut background = link();
        background.background[0].refuse();
        assert_eq!(background.check(), Ok(()), "what is refused is offered and dropped");
        // The background traffic has lost a parcel that it counted as offered.
        background.background[0].lose_one();
        assert!(matches!(background.check(), Err(Imbalance::NotConserved { .. })));
    }

    #[test]
    fn a_wrong_count_of_the_queues_bytes_is_found() {
        let mut link = link();
        // Two of the three parcels wait, and the parcel of background traffic.
        link.queued_bytes += 1;
        assert_eq!(link.check(), Err(Imbalance::Queue { counted: 2501, found: 2500 }));
        link.queued_bytes -= 1;
        link.transmitted += 1;
        assert_eq!(link.check(), Err(Imbalance::Queue { counted: 2500, found: 1500 }));
    }

    #[test]
    fn a_parcel_that_overtakes_is_found() {
        let mut overtaken = link();
        let first = overtaken.under_way.pop_front().unwrap();
        overtaken.transmitted = 0;
        overtaken.queued_bytes += 1000;
        overtaken.under_way.push_back(first);
        assert_eq!(overtaken.check(), Err(Imbalance::Order { place: 1 }));
        for change in
            [|one: &mut UnderWay| one.departs = Instant::ZERO, |one: &mut UnderWay| one.arrives = Instant::ZERO]
        {
            let mut link = link();
            let mut all: Vec<UnderWay> = std::iter::from_fn(|| link.under_way.pop_front()).collect();
            change(&mut all[2]);
            all.into_iter().for_each(|one| link.under_way.push_back(one));
            assert_eq!(link.check(), Err(Imbalance::Order { place: 1 }));
        }
    }
}
