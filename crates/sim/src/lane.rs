//! Packets that cross two links with one event: only the first link feeds the second, which is idle
//! when they come.
//!
//! When the first link accepts such a packet, its arrival at the far end of the second is known.
//! That arrival is its only event. All packets that a link passes on like this wait in one lane, in
//! order. So a bottleneck with a hundred links behind it has one pending event instead of a
//! hundred.
//!
//! At the same instant, packets of a lane come in the order of their departures, after packets that
//! come over links. Lanes exist where they save most; paths of a few links have none.

use crate::scenario::Scenario;
use eifel_base::ring::Ring;
use eifel_base::time::Instant;
use eifel_path::parcel::Parcel;

/// Links fed by one link alone that make a lane worth having.
pub const MANY: usize = 8;
/// Slots of the event queue for each lane: the next arrival, and the next crossing in observed
/// runs.
pub const SLOTS_PER_LANE: usize = 2;

#[derive(Clone, Copy, Debug, Default)]
pub struct Passage {
    /// Time at its destination.
    pub arrives: Instant,
    /// Time between the two links.
    pub crosses: Instant,
    pub parcel: Parcel,
    /// Index of the second link.
    pub over: u32,
}

/// The packets that one link passes on to the links behind it.
#[derive(Default)]
pub struct Lane {
    passages: Ring<Passage>,
    /// Number of packets, from the front, that were seen between the links; counted in observed
    /// runs.
    crossed: usize,
}

impl Lane {
    /// Returns the arrival of the last packet: the next one arrives after all others.
    #[inline]
    pub fn last(&self) -> Instant {
        self.passages.back().map_or(Instant::ZERO, |last| last.arrives)
    }

    /// Adds a packet behind all others. Returns whether it is the only one.
    #[inline]
    pub fn enter(&mut self, passage: Passage) -> bool {
        self.passages.push_back(passage);
        self.passages.len() == 1
    }

    /// Removes the first packet, which is at its destination. Returns it with the arrival of the
    /// next one.
    #[inline]
    pub fn leave(&mut self) -> Option<(Passage, Instant)> {
        let first = self.passages.pop_front()?;
        self.crossed = self.crossed.saturating_sub(1);
        Some((first, self.passages.front().map_or(Instant::NEVER, |next| next.arrives)))
    }

    /// Returns the packet at this place from the front.
    #[inline]
    pub fn ahead(&self, place: usize) -> Option<&Passage> {
        self.passages.get(place)
    }

    /// Returns the time at which a packet is next between the links.
    pub fn next_crossing(&self) -> Instant {
        self.passages.get(self.crossed).map_or(Instant::NEVER, |next| next.crosses)
    }

    /// Notes the next packet between the links, and returns it.
    pub fn cross(&mut self) -> Option<Passage> {
        let passage = self.passages.get(self.crossed).copied()?;
        self.crossed += 1;
        Some(passage)
    }

    /// Returns the number of packets in the lane.
    pub fn len(&self) -> usize {
        self.passages.len()
    }

    /// Returns the number of packets that have passed between the links by `now`.
    pub fn crossed_by(&self, now: Instant) -> usize {
        self.passages.iter().take_while(|passage| passage.crosses <= now).count()
    }
}

/// Returns the only feeder of each link. A link has none if several links feed it, or if some packets
/// of its feeder do not arrive at the far end.
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
