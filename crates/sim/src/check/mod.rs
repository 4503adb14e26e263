//! Checkers: laws that hold whatever a scenario does, verified after each event. A broken one is a fault of this
//! program, and panics.

pub mod flight;
pub mod links;
pub mod reading;
#[cfg(test)]
mod tests;

use crate::clock::queue::EventQueue;
use crate::endpoint::Endpoint;
use crate::oracle::Oracle;
use crate::slab::Packet;
use eifel_base::time::Instant;
use flight::Flight;
use links::{Links, UnderWay};
use reading::Reading;

/// All checkers of a run.
pub struct Checkers {
    now: Instant,
    flights: Vec<Flight>,
    readings: Vec<Reading>,
    links: Links,
}

impl Checkers {
    /// Checkers for so many flows, and for links with these limits.
    pub fn new(flows: usize, links: Links) -> Self {
        let flights = vec![Flight::default(); 2 * flows];
        Self { now: Instant::ZERO, flights, readings: vec![Reading::default(); 2 * flows], links }
    }

    /// After an input to a connection.
    ///
    /// # Panics
    /// When a law is broken.
    pub fn after_input(&mut self, now: Instant, endpoint: &Endpoint, other: &Endpoint) {
        let place = 2 * endpoint.flow as usize + endpoint.end.index();
        self.flights[place].check(now, endpoint);
        self.readings[place].check(now, endpoint, other);
    }

    /// After an event: time, and the books of the link that it was on, if any.
    ///
    /// # Panics
    /// When a law is broken.
    pub fn after_event(&mut self, now: Instant, queue: &EventQueue, link: Option<usize>, under_way: &UnderWay<'_>) {
        assert!(self.now <= now, "time went back from {:?} to {now:?}", self.now);
        assert!(queue.peek().is_none_or(|(next, _)| next >= now), "an event is due before {now:?}, in the past");
        self.now = now;
        self.links.after_event(now, link, under_way);
    }

    /// A proxy withholds a packet: whatever data it carries has arrived.
    ///
    /// # Panics
    /// When a law is broken.
    pub fn withheld(&self, now: Instant, packet: &Packet, oracle: &Oracle) {
        let end = packet.start + u64::from(packet.positions);
        let needless = packet.positions == 0 || oracle.has_all_below(packet.flow, packet.sender, end);
        assert!(needless, "at {now:?}: a proxy withholds data that has not arrived: {packet:?}");
    }

    /// When the run is over.
    ///
    /// # Panics
    /// When a law is broken.
    pub fn finish(&mut self, now: Instant, under_way: &UnderWay<'_>) {
        self.links.all(now, under_way);
    }
}
