//! Checkers: laws that hold in every scenario, verified after each event. A broken law is a fault
//! of the simulator, so a checker panics.

pub mod association;
pub mod checked;
pub mod flight;
pub mod links;
mod positions;
pub mod reading;
pub mod sending;
#[cfg(test)]
mod tests;

use crate::clock::queue::EventQueue;
use crate::oracle::Oracle;
use crate::packet::Packet;
use crate::scenario::{Scenario, Traffic};
use association::Ledger;
use checked::{CheckedAssociation, CheckedConnection, place};
use eifel_base::time::Instant;
use eifel_packet::segment::Segment;
use eifel_recovery::engine::Transmission;
use eifel_tcp::Settings;
use flight::Flight;
use links::{Links, UnderWay};
use reading::Reading;
use sending::SendingSettings;

pub struct Checkers {
    now: Instant,
    flights: Vec<Flight>,
    readings: Vec<Reading>,
    ledgers: Vec<Ledger>,
    settings: Vec<SendingSettings>,
    links: Links,
}

impl Checkers {
    /// Creates checkers for a scenario's flows and links.
    pub fn new(scenario: &Scenario) -> Self {
        let ends = 2 * scenario.flows.len();
        let links = Links::new(scenario.links.iter().map(|link| &link.config.queue));
        let settings = scenario.flows.iter().flat_map(|flow| match &flow.traffic {
            Traffic::Stream { connection, .. } => {
                [&connection.settings, &connection.answering_settings].map(SendingSettings::from)
            }
            Traffic::Messages { .. } | Traffic::Datagrams(_) => [SendingSettings::from(&Settings::default()); 2],
        });
        Self {
            now: Instant::ZERO,
            flights: vec![Flight::default(); ends],
            readings: vec![Reading::default(); ends],
            ledgers: vec![Ledger::default(); ends],
            settings: settings.collect(),
            links,
        }
    }

    /// Checks `end` after an input to its connection. `other` is the other end of the flow.
    ///
    /// # Panics
    /// Panics when a law is broken.
    pub fn after_input(&mut self, now: Instant, end: CheckedConnection<'_>, other: CheckedConnection<'_>) {
        let place = place(end.flow, end.end);
        self.flights[place].check(now, end);
        self.readings[place].check(now, end, other);
        self.settings[place].check_rest(now, end);
    }

    /// Checks a segment that an end has just sent.
    ///
    /// # Panics
    /// Panics when a law is broken.
    pub fn leaves(&self, now: Instant, end: CheckedConnection<'_>, sent: Option<&Transmission>, segment: &Segment) {
        self.settings[place(end.flow, end.end)].check_segment(now, end, sent, segment);
    }

    /// Checks both ends after an input to an association.
    ///
    /// # Panics
    /// Panics when a law is broken.
    pub fn after_packet(&mut self, now: Instant, ends: [CheckedAssociation<'_>; 2]) {
        for (end, other) in [(ends[0], ends[1]), (ends[1], ends[0])] {
            self.ledgers[place(end.flow, end.end)].check(now, end, other);
        }
    }

    /// Checks after an event: time must not go back, and the counts of the event's link must add
    /// up.
    ///
    /// # Panics
    /// Panics when a law is broken.
    pub fn after_event(&mut self, now: Instant, queue: &EventQueue, link: Option<usize>, under_way: &UnderWay<'_>) {
        assert!(self.now <= now, "time went back from {:?} to {now:?}", self.now);
        assert!(queue.peek().is_none_or(|(next, _)| next >= now), "an event is due before {now:?}, in the past");
        self.now = now;
        self.links.after_event(now, link, under_way);
    }

    /// Checks that all data of a packet that a proxy withholds has already arrived.
    ///
    /// # Panics
    /// Panics when a law is broken.
    pub fn withheld(&self, now: Instant, packet: &Packet, oracle: &Oracle) {
        let end = packet.start + u64::from(packet.positions);
        let needless = packet.positions == 0 || oracle.has_all_below(packet.flow, packet.sender, end);
        assert!(needless, "at {now:?}: a proxy withholds data that has not arrived: {packet:?}");
    }

    /// Checks all links at the end of a run.
    ///
    /// # Panics
    /// Panics when a law is broken.
    pub fn finish(&mut self, now: Instant, under_way: &UnderWay<'_>) {
        self.links.all(now, under_way);
    }
}
