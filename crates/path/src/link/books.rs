//! Whether a link's books are right.

use super::{Link, UnderWay};
use crate::element::Element;
use crate::parcel::{Counts, Tally};
use core::fmt;

impl Link {
    /// Whether the books are right: nothing lost or made on the way, and everything in order. Its cost grows with what
    /// is inside.
    pub fn check(&self) -> Result<(), Imbalance> {
        let mut inside = Tally::default();
        self.under_way.iter().for_each(|one| inside += &one.parcel);
        self.elements.iter().flat_map(Element::held).for_each(|parcel| inside += parcel);
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

/// What [`Link::check`] found wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Imbalance {
    /// Offered and duplicated is not delivered, dropped and inside.
    NotConserved {
        /// As counted.
        counts: Counts,
        /// What really is inside.
        inside: Tally,
    },
    /// The bytes of the queue are not those counted.
    Queue {
        /// Bytes counted.
        counted: u64,
        /// Bytes there.
        found: u64,
    },
    /// A parcel leaves or arrives before the one in front of it.
    Order {
        /// Place of the one in front, from 0.
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
