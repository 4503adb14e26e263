//! Packets that cross two links at once: the second one is fed by the first alone, and idle when they come.
//!
//! Of such a packet it is known as the first link takes it in when it comes to its destination, at the far end of the
//! second. Its arrival there is its only event; all that one link passes on like this stands in one lane, in order, so
//! that a bottleneck with a hundred links behind it has one event pending and not a hundred.
//!
//! At one instant, what comes out of a lane comes behind everything else, while without it the order would depend on when
//! At one instant what comes out of a lane comes in the order of its departures, behind what comes over links. Lanes are made
//! where they save most and leave paths of a few links as they are.

use crate::scenario::Scenario;
use eifel_base::ring::Ring;
use eifel_base::time::Instant;
use eifel_path::parcel::Parcel;

/// So many links that one link alone feeds are worth a lane.
pub const MANY: usize = 8;
/// Slots of the event queue that a lane has: the next arrival, and, in observed runs, the next crossing.
pub const SLOTS_PER_LANE: usize = 2;

/// A packet in a lane.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passage {
    /// When it is at its destination.
    pub arrives: Instant,
    /// When it is between the two links.
    pub crosses: Instant,
    /// The packet.
    pub parcel: Parcel,
    /// The second link.
    pub over: u32,
}

/// What one link passes on to the links behind it.
#[derive(Default)]
pub struct Lane {
    passages: Ring<Passage>,
    /// How many, at the front, have been seen between the links; counted in observed runs.
    crossed: usize,
}

impl Lane {
    /// The earliest instant at which the next packet may arrive: it comes behind all others.
    #[inline]
    pub fn last(&self) -> Instant {
        self.passages.back().map_or(Instant::ZERO, |last| last.arrives)
    }

    /// One more packet, behind all others; the answer is whether it is the only one.
    #[inline]
    pub fn enter(&mut self, passage: Passage) -> bool {
        self.passages.push_back(passage);
        self.passages.len() == 1
    }

    /// The first packet is at its destination; with it, when the one behind it will be.
    #[inline]
    pub fn leave(&mut self) -> Option<(Passage, Instant)> {
        let first = self.passages.pop_front()?;
        self.crossed = self.crossed.saturating_sub(1);
        Some((first, self.passages.front().map_or(Instant::NEVER, |next| next.arrives)))
    }

    /// The packet behind so many others.
    #[inline]
    pub fn ahead(&self, place: usize) -> Option<&Passage> {
        self.passages.get(place)
    }

    /// When a packet is seen next between the links.
    pub fn next_crossing(&self) -> Instant {
        self.passages.get(self.crossed).map_or(Instant::NEVER, |next| next.crosses)
    }

    /// It is seen there.
    pub fn cross(&mut self) -> Option<Passage> {
        let passage = self.passages.get(self.crossed).copied()?;
        self.crossed += 1;
        Some(passage)
    }

    /// Packets in it.
    pub fn len(&self) -> usize {
        self.passages.len()
    }

    /// How many of them have been between the links by `now`.
    pub fn crossed_by(&self, now: Instant) -> usize {
        self.passages.iter().take_while(|passage| passage.crosses <= now).count()
    }
}

/// For each link, the only one that feeds it, where there is one and everything that it carries has arrived at its far
/// end.
pub fn feeders(scenario: &Scenario) -> Vec<Option<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Fed {
        Unused,
        By(usize),
        Otherwise,
    }
    let mut fed = vec![Fed::Unused; scenario.links.len()];
    for path in scenario.flows.iter().flat_map(|flow| [&flow.there, &flow.back]) {
        for (place, &link) in path.iter().enumerate() {
            let feeder = place.checked_sub(1).map(|before| path[before]);
            fed[link] = match (fed[link], feeder) {
                (Fed::Unused, Some(feeder)) if place + 1 == path.len() => Fed::By(feeder),
                (Fed::By(known), Some(feeder)) if place + 1 == path.len() && known == feeder => Fed::By(known),
                _ => Fed::Otherwise,
            };
        }
    }
    fed.into_iter().map(|fed| if let Fed::By(feeder) = fed { Some(feeder) } else { None }).collect()
}
